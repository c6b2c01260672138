//! `reassociate`.

use regraft_passes::transforms::reassociate::Reassociate;
use regraft_passes::{FunctionPass, Options, Setting};

use crate::{check, check_unchanged, check_with};

#[test]
fn what_is_invariant_comes_first_and_what_is_carried_around_last() {
    check::<Reassociate>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.add %3, %1
  %5: i64 = arith.add %4, 3
  %6: i64 = arith.add %5, %2
  %7: bool = arith.lt %6, 100
  br %7, ^2(%6), ^3
^3:
  return %6
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %8: i64 = arith.add %1, %2
  %9: i64 = arith.add %8, %3
  %6: i64 = arith.add %9, 3
  %7: bool = arith.lt %6, 100
  br %7, ^2(%6), ^3
^3:
  return %6
}
",
    );
}

#[test]
fn constants_meet_and_terms_cancel() {
    check::<Reassociate>(
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, 5
  %4: i64 = arith.sub %3, %2
  %5: i64 = arith.sub 2, %4
  %6: i64 = arith.add %5, %1
  %7: i64 = arith.mul 3, %6
  %8: i64 = arith.mul %7, 7
  return %8
}
",
        "func @f(%1: i64, %2: i64) -> i64 {
^1:
  %6: i64 = arith.sub %2, 3
  %8: i64 = arith.mul %6, 21
  return %8
}
",
    );
}

#[test]
fn sums_with_parts_in_common_have_them_in_the_same_order() {
    check::<Reassociate>(
        "func @f(%1: i64, %2: i64, %3: i64, %4: i64) -> i64 {
^1:
  %5: i64 = arith.add %3, %2
  %6: i64 = arith.add %5, %1
  %7: i64 = arith.add %4, %2
  %8: i64 = arith.add %1, %7
  %9: i64 = arith.xor %6, %8
  return %9
}
",
        "func @f(%1: i64, %2: i64, %3: i64, %4: i64) -> i64 {
^1:
  %10: i64 = arith.add %1, %2
  %6: i64 = arith.add %10, %3
  %11: i64 = arith.add %1, %2
  %8: i64 = arith.add %11, %4
  %9: i64 = arith.xor %6, %8
  return %9
}
",
    );
}

#[test]
fn bits_cancel_or_stay() {
    check::<Reassociate>(
        "func @f(%1: i8, %2: i8, %3: bool) -> i8 {
^1:
  %4: i8 = arith.xor %1, %2
  %5: i8 = arith.xor %4, %1
  %6: i8 = arith.and %5, 12i8
  %7: i8 = arith.and 10i8, %6
  %8: bool = arith.or %3, true
  %9: bool = arith.and %3, %8
  %10: i8 = arith.or %7, %7
  %11: i8 = core.select %9, %10, %1
  return %11
}
",
        "func @f(%1: i8, %2: i8, %3: bool) -> i8 {
^1:
  %7: i8 = arith.and %2, 8i8
  %11: i8 = core.select %3, %7, %1
  return %11
}
",
    );
}

#[test]
fn what_is_used_elsewhere_is_not_taken_apart() {
    check_unchanged::<Reassociate>(
        "func @f(%1: i64, %2: i64, %3: i64) -> i64 {
^1:
  %4: i64 = arith.add %3, %2
  %5: i64 = arith.add %4, %1
  %6: i64 = arith.mul %4, %5
  %7: i64 = arith.sub 5, %6
  %8: i64 = arith.neg %7
  %9: i64 = arith.xor %8, %8
  %10: i64 = arith.sub %1, 1
  %11: i64 = arith.mul %10, %10
  %12: bool = arith.lt %7, %11
  %13: i64 = core.select %12, %8, %4
  return %13
}
"
        .replace("  %9: i64 = arith.xor %8, %8\n", "")
        .as_str(),
    );
}

const FLOATS: &str = "func @f(%1: f64, %2: f64, %3: any) -> f64 {
^1:
  %4: f64 = arith.add %2, 1.0
  %5: f64 = arith.add %4, %1
  %6: f64 = arith.add %5, 0.5
  %7: f64 = arith.sub %6, %2
  %8: any = arith.add %3, 1.0
  %9: any = arith.add %8, 1.0
  %10: unit = core.print %9
  return %7
}
";

#[test]
fn floats_have_an_order_of_their_own() {
    check_unchanged::<Reassociate>(FLOATS);
}

#[test]
fn real_numbers_do_not() {
    let mut options = Options::defaults(Reassociate::OPTIONS);
    options.set(&Reassociate::OPTIONS[0], Setting::Text("fast".into())).unwrap();
    check_with::<Reassociate>(
        &options,
        FLOATS,
        "func @f(%1: f64, %2: f64, %3: any) -> f64 {
^1:
  %7: f64 = arith.add %1, 1.5
  %8: any = arith.add %3, 1.0
  %9: any = arith.add %8, 1.0
  %10: unit = core.print %9
  return %7
}
",
    );
}
