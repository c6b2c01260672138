//! Loops that leave other loops as a whole.

use super::Pass;
use crate::{check, check_unchanged};

/// The sum of a Kronecker product: `s += a[i, j] * b[k, l]`, with the sum over `b` in the middle.
const KRON: &str = "func @kron_sum(%a: array<f64, 2>, %b: array<f64, 2>) -> f64 {
^1:
  %11: i64 = mem.size %a, 2
  %12: i64 = arith.max %11, 0
  br ^2(0, 0.0)
^2(%3: i64, %s: f64):
  %13: bool = arith.ge %3, %12
  br %13, ^13, ^3
^3:
  %j: i64 = arith.add %3, 1
  %15: i64 = mem.size %a, 1
  %16: i64 = arith.max %15, 0
  br ^4(0, %s)
^4(%5: i64, %s.1: f64):
  %17: bool = arith.ge %5, %16
  br %17, ^12, ^5
^5:
  %i: i64 = arith.add %5, 1
  %19: i64 = mem.size %b, 2
  %20: i64 = arith.max %19, 0
  br ^6(0, 0.0)
^6(%7: i64, %t: f64):
  %21: bool = arith.ge %7, %20
  br %21, ^11, ^7
^7:
  %l: i64 = arith.add %7, 1
  %23: i64 = mem.size %b, 1
  %24: i64 = arith.max %23, 0
  br ^8(0, %t)
^8(%9: i64, %t.1: f64):
  %25: bool = arith.ge %9, %24
  br %25, ^10, ^9
^9:
  %k: i64 = arith.add %9, 1
  %27: f64 = mem.load %b, %k, %l
  %28: f64 = arith.add %t.1, %27
  br ^8(%k, %28)
^10:
  br ^6(%l, %t.1)
^11:
  %31: f64 = mem.load %a, %i, %j
  %32: f64 = arith.mul %31, %t
  %33: f64 = arith.add %s.1, %32
  br ^4(%i, %33)
^12:
  br ^2(%j, %s.1)
^13:
  return %s
}
";

#[test]
fn the_inner_sum_of_a_kronecker_product_is_computed_once() {
    check::<Pass>(
        KRON,
        "func @kron_sum(%a: array<f64, 2>, %b: array<f64, 2>) -> f64 {
^1:
  %11: i64 = mem.size %a, 2
  %12: i64 = arith.max %11, 0
  %15: i64 = mem.size %a, 1
  %16: i64 = arith.max %15, 0
  %19: i64 = mem.size %b, 2
  %20: i64 = arith.max %19, 0
  %23: i64 = mem.size %b, 1
  %24: i64 = arith.max %23, 0
  %45: bool = arith.ge 0, %12
  %46: bool = arith.ge 0, %16
  %47: f64 = core.undef
  br %45, ^14(%47), ^15
^15:
  br %46, ^14(%47), ^6(0, 0.0)
^6(%7: i64, %t: f64):
  %21: bool = arith.ge %7, %20
  br %21, ^14(%t), ^7
^7:
  %l: i64 = arith.add %7, 1
  br ^8(0, %t)
^8(%9: i64, %t.1: f64):
  %25: bool = arith.ge %9, %24
  br %25, ^10, ^9
^9:
  %k: i64 = arith.add %9, 1
  %27: f64 = mem.load %b, %k, %l
  %28: f64 = arith.add %t.1, %27
  br ^8(%k, %28)
^10:
  br ^6(%l, %t.1)
^14(%44: f64):
  br ^2(0, 0.0)
^2(%3: i64, %s: f64):
  %13: bool = arith.ge %3, %12
  br %13, ^13, ^3
^3:
  %j: i64 = arith.add %3, 1
  br ^4(0, %s)
^4(%5: i64, %s.1: f64):
  %17: bool = arith.ge %5, %16
  br %17, ^12, ^5
^5:
  %i: i64 = arith.add %5, 1
  br ^11
^11:
  %31: f64 = mem.load %a, %i, %j
  %32: f64 = arith.mul %31, %44
  %33: f64 = arith.add %s.1, %32
  br ^4(%i, %33)
^12:
  br ^2(%j, %s.1)
^13:
  return %s
}
",
    );
}

#[test]
fn a_loop_that_always_runs_leaves_without_a_test() {
    check::<Pass>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  br ^3(1, 0)
^3(%4: i64, %5: i64):
  %6: i64 = arith.mul %4, 3
  %7: i64 = arith.add %5, 1
  %8: bool = arith.lt %7, %1
  br %8, ^3(%6, %7), ^4
^4:
  %9: i64 = arith.add %3, %6
  %10: i64 = arith.add %2, 1
  %11: bool = arith.lt %10, %1
  br %11, ^2(%10, %9), ^5
^5:
  return %9
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^3(1, 0)
^3(%4: i64, %5: i64):
  %6: i64 = arith.mul %4, 3
  %7: i64 = arith.add %5, 1
  %8: bool = arith.lt %7, %1
  br %8, ^3(%6, %7), ^6
^6:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  br ^4
^4:
  %9: i64 = arith.add %3, %6
  %10: i64 = arith.add %2, 1
  %11: bool = arith.lt %10, %1
  br %11, ^2(%10, %9), ^5
^5:
  return %9
}
",
    );
}

#[test]
fn a_loop_stays_if_output_or_a_trap_comes_before_it_or_its_memory_changes() {
    let with = |before: &str, after: &str| {
        format!(
            "func @f(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> f64 {{
^1:
  br ^2(0, 0.0)
^2(%4: i64, %5: f64):
{before}  br ^3(0, 0.0)
^3(%6: i64, %7: f64):
  %8: i64 = arith.add %6, 1
  %9: f64 = mem.load %1, %8
  %10: f64 = arith.add %7, %9
  %11: bool = arith.lt %8, %3
  br %11, ^3(%8, %10), ^4
^4:
{after}  %12: f64 = arith.add %5, %10
  %13: i64 = arith.add %4, 1
  %14: bool = arith.lt %13, %3
  br %14, ^2(%13, %12), ^5
^5:
  return %12
}}
"
        )
    };
    check_unchanged::<Pass>(&with("  core.println %4\n", ""));
    check_unchanged::<Pass>(&with("  %15: i64 = arith.div %3, %4\n", ""));
    check_unchanged::<Pass>(&with("", "  mem.store %2, 1.0, 1\n"));
}

#[test]
fn two_loops_leave_the_same_loop_with_the_same_test() {
    // Found by generation: the second one has another block in front of the outer loop than when
    // it was planned.
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^9
^3:
  %6: i64 = arith.add %3, 1
  %7: bool = arith.lt %2, 0
  br %7, ^10, ^11
^10:
  br ^4(0, 1.0)
^4(%8: i64, %9: f64):
  %10: f64 = arith.mul %9, 2.0
  %11: i64 = arith.sub %8, 1
  %12: bool = arith.lt %2, %11
  br %12, ^4(%11, %10), ^5
^5:
  br ^8(%10)
^11:
  br ^6(0, 1.0)
^6(%13: i64, %14: f64):
  %15: f64 = arith.mul %14, 3.0
  %16: i64 = arith.add %13, 1
  %17: bool = arith.lt %16, %2
  br %17, ^6(%16, %15), ^7
^7:
  br ^8(%15)
^8(%18: f64):
  %19: f64 = arith.add %4, %18
  br ^2(%6, %19)
^9:
  return %4
}
",
        "func @f(%1: i64, %2: i64) -> f64 {
^1:
  %7: bool = arith.lt %2, 0
  %21: bool = arith.lt 0, %1
  %22: f64 = core.undef
  br %21, ^13, ^12(%22)
^13:
  br %7, ^12(%22), ^6(0, 1.0)
^6(%13: i64, %14: f64):
  %15: f64 = arith.mul %14, 3.0
  %16: i64 = arith.add %13, 1
  %17: bool = arith.lt %16, %2
  br %17, ^6(%16, %15), ^12(%15)
^12(%20: f64):
  %24: bool = arith.lt 0, %1
  %25: f64 = core.undef
  br %24, ^15, ^14(%25)
^15:
  br %7, ^4(0, 1.0), ^14(%25)
^4(%8: i64, %9: f64):
  %10: f64 = arith.mul %9, 2.0
  %11: i64 = arith.sub %8, 1
  %12: bool = arith.lt %2, %11
  br %12, ^4(%11, %10), ^14(%10)
^14(%23: f64):
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^9
^3:
  %6: i64 = arith.add %3, 1
  br %7, ^10, ^11
^10:
  br ^5
^5:
  br ^8(%23)
^11:
  br ^7
^7:
  br ^8(%20)
^8(%18: f64):
  %19: f64 = arith.add %4, %18
  br ^2(%6, %19)
^9:
  return %4
}
",
    );
}

#[test]
fn a_use_in_an_unreachable_block_is_not_after_the_loop() {
    check_unchanged::<Pass>(
        "func @f(%n: i64) -> unit {
^1:
  br ^2
^2:
  br false, ^3, ^6
^3:
  br ^4(0)
^4(%i: i64):
  %j: i64 = arith.add %i, 1
  br false, ^2, ^5
^5:
  %m: i64 = arith.mul %j, %n
  br ^4(0)
^7:
  %q: i64 = arith.add %m, 1
  br ^4(0)
^6:
  return nothing
}
",
    );
}

#[test]
fn a_loop_leaves_with_what_is_used_after_it_and_an_unreachable_block_uses_the_rest() {
    check::<Pass>(
        "func @f(%n: i64, %x: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %a: bool = arith.lt %i, %n
  br %a, ^3, ^7
^3:
  br ^4(0)
^4(%j: i64):
  %b: bool = arith.lt %j, %x
  br %b, ^5, ^6
^5:
  %m: i64 = arith.mul %j, %j
  %k: i64 = arith.add %j, 1
  br ^4(%k)
^8:
  %q: i64 = arith.add %m, %j
  br ^5
^6:
  %s: i64 = arith.add %i, %j
  br ^2(%s)
^7:
  return %i
}
",
        "func @f(%n: i64, %x: i64) -> i64 {
^1:
  %12: bool = arith.lt 0, %n
  %13: i64 = core.undef
  br %12, ^4(0), ^9(%13)
^4(%j: i64):
  %b: bool = arith.lt %j, %x
  br %b, ^5, ^9(%j)
^5:
  %m: i64 = arith.mul %j, %j
  %k: i64 = arith.add %j, 1
  br ^4(%k)
^9(%11: i64):
  br ^2(0)
^2(%i: i64):
  %a: bool = arith.lt %i, %n
  br %a, ^3, ^7
^3:
  br ^6
^8:
  %q: i64 = arith.add %m, %11
  br ^5
^6:
  %s: i64 = arith.add %i, %11
  br ^2(%s)
^7:
  return %i
}
",
    );
}
