//! Branches that become selections.

use regraft_passes::transforms::simplify_cfg::SimplifyCfg;

use crate::{check, check_unchanged};

#[test]
fn a_cheap_branch_becomes_a_selection() {
    check::<SimplifyCfg>(
        "func @neg(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  br %2, ^2, ^3(%1)
^2:
  %3: i64 = arith.neg %1
  br ^3(%3)
^3(%4: i64):
  return %4
}
",
        "func @neg(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  %3: i64 = arith.neg %1
  %5: i64 = core.select %2, %3, %1
  return %5
}
",
    );
}

#[test]
fn a_cheap_diamond_becomes_a_selection_of_what_differs() {
    check::<SimplifyCfg>(
        "func @diamond(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  br %3, ^2, ^3
^2:
  %4: i64 = arith.add %1, 1
  br ^4(%4, %2)
^3:
  %5: i64 = arith.sub %2, 1
  br ^4(%5, %2)
^4(%6: i64, %7: i64):
  %8: i64 = arith.mul %6, %7
  return %8
}
",
        "func @diamond(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  %4: i64 = arith.add %1, 1
  %5: i64 = arith.sub %2, 1
  %9: i64 = core.select %3, %4, %5
  %8: i64 = arith.mul %9, %2
  return %8
}
",
    );
}

#[test]
fn selections_with_constants_are_logic() {
    check::<SimplifyCfg>(
        "func @and(%1: i64, %2: i64) -> bool {
^1:
  %3: bool = arith.lt %1, %2
  br %3, ^2, ^3(false)
^2:
  %4: bool = arith.lt 0, %1
  br ^3(%4)
^3(%5: bool):
  return %5
}
func @or_if(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  br %3, ^3(true), ^2
^2:
  %4: bool = arith.lt 0, %1
  br ^3(%4)
^3(%5: bool):
  br %5, ^4, ^5
^4:
  %6: unit = core.print 1
  return %1
^5:
  return %2
}
func @not(%1: bool) -> bool {
^1:
  br %1, ^2(false), ^2(true)
^2(%2: bool):
  return %2
}
",
        "func @and(%1: i64, %2: i64) -> bool {
^1:
  %3: bool = arith.lt %1, %2
  %4: bool = arith.lt 0, %1
  %6: bool = arith.and %3, %4
  return %6
}
func @or_if(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  %4: bool = arith.lt 0, %1
  %7: bool = arith.or %3, %4
  br %7, ^4, ^5
^4:
  %6: unit = core.print 1
  return %1
^5:
  return %2
}
func @not(%1: bool) -> bool {
^1:
  %3: bool = arith.not %1
  return %3
}
",
    );
}

#[test]
fn what_may_trap_runs_only_where_it_ran() {
    check_unchanged::<SimplifyCfg>(
        "func @traps(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.ne %2, 0
  br %3, ^2, ^3(0)
^2:
  %4: i64 = arith.div %1, %2
  br ^3(%4)
^3(%5: i64):
  return %5
}
func @promise(%1: array<f64, 1>, %2: i64, %3: bool) -> f64 {
^1:
  br %3, ^2, ^3(0.0)
^2:
  %4: f64 = mem.load %1, %2 {inbounds=true}
  br ^3(%4)
^3(%5: f64):
  return %5
}
",
    );
}

#[test]
fn selections_within_each_other() {
    check::<SimplifyCfg>(
        "func @nested(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  br %3, ^2, ^5(%1)
^2:
  %4: bool = arith.lt 0, %1
  br %4, ^3, ^4(0)
^3:
  %5: i64 = arith.sub %1, %2
  br ^4(%5)
^4(%6: i64):
  br ^5(%6)
^5(%7: i64):
  return %7
}
",
        "func @nested(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  %4: bool = arith.lt 0, %1
  %5: i64 = arith.sub %1, %2
  %8: i64 = core.select %4, %5, 0
  %9: i64 = core.select %3, %8, %1
  return %9
}
",
    );
}

#[test]
fn the_conditions_of_a_loop_leave_it_one_by_one() {
    check::<SimplifyCfg>(
        "func @conditions(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: bool = arith.lt %3, %1
  br %4, ^3, ^4(false)
^3:
  %5: bool = arith.lt %3, 7
  br ^4(%5)
^4(%6: bool):
  br %6, ^5, ^6
^5:
  %7: i64 = arith.add %3, 1
  br ^2(%7)
^6:
  return %3
}
",
        "func @conditions(%1: i64, %2: array<i64, 1>) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: bool = arith.lt %3, %1
  br %4, ^3, ^6
^3:
  %5: bool = arith.lt %3, 7
  br %5, ^5, ^6
^5:
  %7: i64 = arith.add %3, 1
  br ^2(%7)
^6:
  return %3
}
",
    );
}

#[test]
fn values_of_different_types_are_not_selected() {
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: bool, %2: f64) -> any {
^1:
  br %1, ^2(1), ^2(%2)
^2(%3: any):
  %4: unit = core.print %3
  return %3
}
",
    );
}

#[test]
fn a_condition_that_may_be_no_bool_is_no_selection() {
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: any) -> i64 {
^1:
  br %1, ^2(1), ^2(2)
^2(%2: i64):
  return %2
}
",
    );
}

#[test]
fn costly_arms_stay() {
    check_unchanged::<SimplifyCfg>(
        "func @f(%1: f64, %2: bool) -> f64 {
^1:
  br %2, ^2, ^3(%1)
^2:
  %3: f64 = math.exp %1
  br ^3(%3)
^3(%4: f64):
  return %4
}
func @g(%1: i64, %2: bool) -> i64 {
^1:
  br %2, ^2, ^3(%1)
^2:
  %3: i64 = arith.mul %1, %1
  %4: i64 = arith.mul %3, %1
  %5: i64 = arith.mul %4, %1
  %6: i64 = arith.mul %5, %1
  br ^3(%6)
^3(%7: i64):
  return %7
}
",
    );
}
