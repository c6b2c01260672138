//! What may trap, and what is promised not to.

use super::Pass;
use crate::{check, check_unchanged};

#[test]
fn what_may_trap_leaves_if_it_surely_runs_and_stays_if_not() {
    // In the first loop the division always runs; in the second one only if there is an iteration.
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: i64 = arith.div %1, %2
  %6: i64 = arith.add %4, %5
  %7: i64 = arith.add %3, 1
  %8: bool = arith.lt %7, %1
  br %8, ^2(%7, %6), ^3(0, %6)
^3(%9: i64, %10: i64):
  %11: bool = arith.lt %9, %2
  br %11, ^4, ^5
^4:
  %12: i64 = arith.rem %1, %2
  %13: i64 = arith.add %10, %12
  %14: i64 = arith.add %9, 1
  br ^3(%14, %13)
^5:
  return %10
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %5: i64 = arith.div %1, %2
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %6: i64 = arith.add %4, %5
  %7: i64 = arith.add %3, 1
  %8: bool = arith.lt %7, %1
  br %8, ^2(%7, %6), ^3(0, %6)
^3(%9: i64, %10: i64):
  %11: bool = arith.lt %9, %2
  br %11, ^4, ^5
^4:
  %12: i64 = arith.rem %1, %2
  %13: i64 = arith.add %10, %12
  %14: i64 = arith.add %9, 1
  br ^3(%14, %13)
^5:
  return %10
}
",
    );
}

#[test]
fn what_may_trap_does_not_pass_output_a_visible_store_or_another_trap() {
    check_unchanged::<Pass>(
        "func @output(%1: i64, %2: i64) -> unit {
^1:
  br ^2(0)
^2(%3: i64):
  core.println %3
  %4: i64 = arith.div %1, %2
  %5: bool = arith.lt %3, %4
  %6: i64 = arith.add %3, 1
  br %5, ^2(%6), ^3
^3:
  return nothing
}
func @store(%1: i64, %2: i64, %3: ref<i64>) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  mem.ref_set %3, %4
  %5: i64 = arith.div %1, %2
  %6: bool = arith.lt %4, %5
  %7: i64 = arith.add %4, 1
  br %6, ^2(%7), ^3
^3:
  return nothing
}
func @trap(%1: i64, %2: i64) -> unit {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.div %1, %3
  %5: i64 = arith.div %1, %2
  %6: bool = arith.lt %4, %5
  %7: i64 = arith.add %3, 1
  br %6, ^2(%7), ^3
^3:
  return nothing
}
",
    );
}

#[test]
fn a_store_to_a_new_object_does_not_keep_a_trap() {
    // Nobody can look at the ref when the division stops the program; so it is also enough to store
    // what it holds in the end.
    check::<Pass>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: ref<i64> = mem.ref_new 0
  br ^2(0)
^2(%4: i64):
  mem.ref_set %3, %4
  %5: i64 = arith.div %1, %2
  %6: bool = arith.lt %4, %5
  %7: i64 = arith.add %4, 1
  br %6, ^2(%7), ^3
^3:
  %8: i64 = mem.ref_get %3
  return %8
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: ref<i64> = mem.ref_new 0
  %5: i64 = arith.div %1, %2
  br ^2(0)
^2(%4: i64):
  %6: bool = arith.lt %4, %5
  %7: i64 = arith.add %4, 1
  br %6, ^2(%7), ^3
^3:
  %11: unit = mem.ref_set %3, %4
  %8: i64 = mem.ref_get %3
  return %8
}
",
    );
}

#[test]
fn a_promise_moves_before_output_but_not_before_what_may_stop() {
    check::<Pass>(
        "func @f(%1: array<f64, 1>, %2: i64) -> unit {
^1:
  br ^2(0)
^2(%3: i64):
  core.println %3
  %4: f64 = mem.load %1, 1 {inbounds=true}
  core.println %4
  %5: i64 = arith.div %2, %3
  %6: f64 = mem.load %1, 2 {inbounds=true}
  core.println %6
  %7: i64 = arith.add %3, 1
  %8: bool = arith.lt %7, %2
  br %8, ^2(%7), ^3
^3:
  return nothing
}
",
        "func @f(%1: array<f64, 1>, %2: i64) -> unit {
^1:
  %4: f64 = mem.load %1, 1 {inbounds=true}
  br ^2(0)
^2(%3: i64):
  core.println %3
  core.println %4
  %5: i64 = arith.div %2, %3
  %6: f64 = mem.load %1, 2 {inbounds=true}
  core.println %6
  %7: i64 = arith.add %3, 1
  %8: bool = arith.lt %7, %2
  br %8, ^2(%7), ^3
^3:
  return nothing
}
",
    );
}
