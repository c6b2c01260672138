//! Instructions that leave loops, and those that have to stay.

use super::Pass;
use crate::{check, check_unchanged};

#[test]
fn computations_leave_all_loops_in_which_their_operands_are_the_same() {
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^6
^3:
  br ^4(0, %4)
^4(%6: i64, %7: i64):
  %8: i64 = arith.mul %1, %2
  %9: i64 = arith.mul %8, %3
  %10: i64 = arith.add %7, %9
  %11: i64 = arith.add %6, 1
  %12: bool = arith.lt %11, %1
  br %12, ^4(%11, %10), ^5
^5:
  %13: i64 = arith.add %3, 1
  br ^2(%13, %10)
^6:
  return %4
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %8: i64 = arith.mul %1, %2
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^6
^3:
  %9: i64 = arith.mul %8, %3
  br ^4(0, %4)
^4(%6: i64, %7: i64):
  %10: i64 = arith.add %7, %9
  %11: i64 = arith.add %6, 1
  %12: bool = arith.lt %11, %1
  br %12, ^4(%11, %10), ^5
^5:
  %13: i64 = arith.add %3, 1
  br ^2(%13, %10)
^6:
  return %4
}
",
    );
}

#[test]
fn a_length_leaves_a_loop_that_stores_to_the_array() {
    check::<Pass>(
        "func @f(%1: array<f64, 1>) -> unit {
^1:
  br ^2(0)
^2(%2: i64):
  %3: i64 = mem.length %1
  %4: bool = arith.lt %2, %3
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %2, 1
  mem.store %1, 0.0, %5
  br ^2(%5)
^4:
  return nothing
}
",
        "func @f(%1: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.length %1
  br ^2(0)
^2(%2: i64):
  %4: bool = arith.lt %2, %3
  br %4, ^3, ^4
^3:
  %5: i64 = arith.add %2, 1
  mem.store %1, 0.0, %5
  br ^2(%5)
^4:
  return nothing
}
",
    );
}

#[test]
fn a_length_stays_in_a_loop_that_changes_it_or_may() {
    // The second array may be the first.
    check_unchanged::<Pass>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.length %1
  %5: bool = arith.lt %3, %4
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %3, 1
  mem.push %2, 0.0
  br ^2(%6)
^4:
  return nothing
}
func @g(%1: array<f64, 1>) -> unit {
^1:
  br ^2
^2:
  %2: i64 = mem.length %1
  %3: any = call @unknown()
  %4: bool = arith.lt %2, 9
  br %4, ^2, ^3
^3:
  return nothing
}
",
    );
}

#[test]
fn a_loop_gets_a_preheader_if_something_leaves_it() {
    check::<Pass>(
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  br %2, ^2, ^3
^2:
  br ^4(1)
^3:
  br ^4(2)
^4(%3: i64):
  %4: i64 = arith.mul %1, %1
  %5: i64 = arith.add %3, %4
  %6: bool = arith.lt %5, 100
  br %6, ^4(%5), ^5
^5:
  return %5
}
",
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  br %2, ^2, ^3
^2:
  br ^6(1)
^3:
  br ^6(2)
^6(%7: i64):
  %4: i64 = arith.mul %1, %1
  br ^4(%7)
^4(%3: i64):
  %5: i64 = arith.add %3, %4
  %6: bool = arith.lt %5, 100
  br %6, ^4(%5), ^5
^5:
  return %5
}
",
    );
}

#[test]
fn a_hundred_nested_loops_are_left_at_once() {
    // Each loop runs around the next; what is in the innermost one depends on nothing.
    let (depth, mut text) = (100, String::from("func @f(%a: i64, %b: i64) -> i64 {\n^1:\n"));
    text += "  br ^2(0)\n";
    for d in 1..=depth {
        text += &format!("^{}(%c{d}: i64):\n", d + 1);
        if d < depth {
            text += &format!("  br ^{}(0)\n", d + 2);
        }
    }
    text += "  %square: i64 = arith.mul %a, %a\n  %quotient: i64 = arith.div %square, %b\n";
    for d in (1..=depth).rev() {
        let latch = if d == depth { d + 1 } else { 1000 + d };
        if d < depth {
            text += &format!("^{latch}:\n");
        }
        let exit = if d == 1 { 5000 } else { 1000 + d - 1 };
        text += &format!(
            "  %n{d}: i64 = arith.add %c{d}, 1
  %t{d}: bool = arith.lt %n{d}, %b
  br %t{d}, ^{}(%n{d}), ^{exit}
",
            d + 1
        );
    }
    text += "^5000:\n  return %quotient\n}\n";
    let moved = "  %square: i64 = arith.mul %a, %a\n  %quotient: i64 = arith.div %square, %b\n";
    let after = text.replace(moved, "").replace("^1:\n", &format!("^1:\n{moved}"));
    check::<Pass>(&text, &after);
}
