//! `cse`.

use regraft_passes::transforms::cse::Cse;
use regraft_passes::{FunctionPass, Options, Setting};

use crate::{check, check_unchanged, check_with};

#[test]
fn whole_expressions_are_found_with_operands_in_either_order() {
    check::<Cse>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.mul %1, %2
  %4: i64 = arith.sub %3, 1
  %5: i64 = arith.mul %2, %1
  %6: i64 = arith.sub %5, 1
  %7: i64 = arith.add %4, %6
  return %7
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.mul %1, %2
  %4: i64 = arith.sub %3, 1
  %7: i64 = arith.add %4, %4
  return %7
}
",
    );
}

#[test]
fn operands_of_what_does_not_commute_have_an_order() {
    check_unchanged::<Cse>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.sub %1, %2
  %4: i64 = arith.sub %2, %1
  %5: i64 = arith.mul %3, %4
  return %5
}
",
    );
}

#[test]
fn an_expression_of_one_arm_is_not_there_in_the_other_but_in_what_follows_that_arm() {
    // In ^3 the expression is computed anew, and then found from ^4, which ^3 dominates.
    check::<Cse>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.add %2, 5
  return %3
^3:
  %4: i64 = arith.add %2, 5
  br %1, ^4, ^5
^4:
  %5: i64 = arith.add %2, 5
  return %5
^5:
  return 0
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.add %2, 5
  return %3
^3:
  %4: i64 = arith.add %2, 5
  br %1, ^4, ^5
^4:
  return %4
^5:
  return 0
}
",
    );
}

#[test]
fn the_join_of_two_arms_sees_neither() {
    check_unchanged::<Cse>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.add %2, 5
  br ^4(%3)
^3:
  %4: i64 = arith.add %2, 5
  br ^4(%4)
^4(%5: i64):
  %6: i64 = arith.add %2, 5
  %7: i64 = arith.mul %5, %6
  return %7
}
",
    );
}

const BEFORE_THE_LOOP: &str = "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, %1
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.mul %1, %1
  %5: i64 = arith.add %3, %4
  %6: i64 = arith.mul %1, %1
  %7: bool = arith.lt %5, %6
  br %7, ^2(%5), ^3
^3:
  return %2
}
";

#[test]
fn an_expression_before_a_loop_is_found_from_within() {
    check::<Cse>(
        BEFORE_THE_LOOP,
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, %1
  br ^2(0)
^2(%3: i64):
  %5: i64 = arith.add %3, %2
  %7: bool = arith.lt %5, %2
  br %7, ^2(%5), ^3
^3:
  return %2
}
",
    );
}

#[test]
fn the_local_scope_ends_with_the_block() {
    let mut options = Options::defaults(Cse::OPTIONS);
    options.set(&Cse::OPTIONS[0], Setting::Text("local".into())).unwrap();
    check_with::<Cse>(
        &options,
        BEFORE_THE_LOOP,
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, %1
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.mul %1, %1
  %5: i64 = arith.add %3, %4
  %7: bool = arith.lt %5, %4
  br %7, ^2(%5), ^3
^3:
  return %2
}
",
    );
}

#[test]
fn what_traps_has_trapped_before() {
    check::<Cse>(
        "func @f(%1: i64, %2: any) -> any {
^1:
  %3: i64 = arith.div 1, %1
  %4: any = arith.add %2, %3
  %5: i64 = arith.div 1, %1
  %6: any = arith.add %2, %5
  %7: any = arith.mul %4, %6
  return %7
}
",
        "func @f(%1: i64, %2: any) -> any {
^1:
  %3: i64 = arith.div 1, %1
  %4: any = arith.add %2, %3
  %7: any = arith.mul %4, %4
  return %7
}
",
    );
}

#[test]
fn constants_are_the_same_only_bit_for_bit() {
    check_unchanged::<Cse>(
        "func @f(%1: f64) -> f64 {
^1:
  %2: f64 = arith.copysign %1, 0.0
  %3: f64 = arith.copysign %1, -0.0
  %4: f64 = arith.add %2, %3
  return %4
}
",
    );
}

#[test]
fn the_type_of_the_result_counts() {
    check_unchanged::<Cse>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i8 = arith.wrap %1
  %3: i16 = arith.wrap %1
  %4: i64 = arith.sext %2
  %5: i64 = arith.sext %3
  %6: i64 = arith.add %4, %5
  return %6
}
",
    );
}

#[test]
fn effects_reads_and_new_objects_are_left_alone() {
    check_unchanged::<Cse>(
        "func @f(%1: ref<i64>) -> i64 {
^1:
  %2: i64 = mem.ref_get %1
  %3: unit = mem.ref_set %1, 1
  %4: i64 = mem.ref_get %1
  %5: ref<i64> = mem.ref_new 0
  %6: ref<i64> = mem.ref_new 0
  %7: bool = core.same %5, %6
  %8: unit = core.print %7
  %9: unit = core.print %7
  %10: i64 = arith.add %2, %4
  return %10
}
",
    );
}

#[test]
fn unreachable_blocks_are_left_alone() {
    check_unchanged::<Cse>(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 3
  return %2
^2:
  %3: i64 = arith.mul %1, 3
  br ^2
}
",
    );
}
