//! Which values are found to be equal, and which are not.

use regraft_passes::transforms::gvn::Gvn;

use super::{check, check_unchanged};

#[test]
fn order_of_operands_and_direction_of_comparisons_do_not_count() {
    check::<Gvn>(
        "func @f(%1: f64, %2: f64) -> bool {
^1:
  %3: f64 = arith.mul %1, %2
  %4: f64 = arith.mul %2, %1
  %5: bool = arith.lt %3, %1
  %6: bool = arith.gt %1, %4
  %7: bool = arith.le %3, %1
  %8: bool = arith.ge %1, %3
  %9: bool = arith.and %5, %6
  %10: bool = arith.and %7, %8
  %11: bool = arith.xor %9, %10
  return %11
}
",
        "func @f(%1: f64, %2: f64) -> bool {
^1:
  %3: f64 = arith.mul %1, %2
  %5: bool = arith.lt %3, %1
  %7: bool = arith.le %3, %1
  %9: bool = arith.and %5, %5
  %10: bool = arith.and %7, %7
  %11: bool = arith.xor %9, %10
  return %11
}
",
    );
}

#[test]
fn constants_of_different_bits_differ() {
    check_unchanged::<Gvn>(
        "func @f(%1: f64) -> f64 {
^1:
  %2: f64 = arith.mul %1, 0.0
  %3: f64 = arith.mul %1, -0.0
  %4: f64 = arith.add %2, %3
  return %4
}
",
    );
}

#[test]
fn a_parameter_is_what_all_edges_pass() {
    check::<Gvn>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %2, 1
  br %1, ^2, ^3
^2:
  %4: i64 = arith.add %2, 1
  %5: i64 = arith.mul %2, 2
  %6: i64 = arith.mul %2, 2
  br ^4(%3, %5, %6, 7)
^3:
  %7: i64 = arith.mul %2, 3
  br ^4(%3, %7, %7, 7)
^4(%8: i64, %9: i64, %10: i64, %11: i64):
  %12: i64 = arith.add %8, %9
  %13: i64 = arith.add %10, %11
  %14: i64 = arith.sub %12, %13
  return %14
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %2, 1
  br %1, ^2, ^3
^2:
  %5: i64 = arith.mul %2, 2
  br ^4(%5)
^3:
  %7: i64 = arith.mul %2, 3
  br ^4(%7)
^4(%9: i64):
  %12: i64 = arith.add %3, %9
  %13: i64 = arith.add %9, 7
  %14: i64 = arith.sub %12, %13
  return %14
}
",
    );
}

#[test]
fn counters_that_run_in_step_are_one() {
    check::<Gvn>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0, 0)
^2(%2: i64, %3: i64, %4: i64):
  %5: i64 = arith.add %2, 1
  %6: i64 = arith.add %3, 1
  %7: i64 = arith.add %4, 2
  %8: bool = arith.lt %5, %1
  br %8, ^2(%5, %6, %7), ^3
^3:
  %9: i64 = arith.add %6, %7
  return %9
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %4: i64):
  %5: i64 = arith.add %2, 1
  %7: i64 = arith.add %4, 2
  %8: bool = arith.lt %5, %1
  br %8, ^2(%5, %7), ^3
^3:
  %9: i64 = arith.add %5, %7
  return %9
}
",
    );
}

#[test]
fn a_load_gives_what_was_stored_or_loaded_before() {
    check::<Gvn>(
        "func @f(%1: array<f64, 1>, %2: f64, %3: i64) -> f64 {
^1:
  %4: unit = mem.store %1, %2, %3
  %5: f64 = mem.load %1, %3
  %6: i64 = arith.add %3, 1
  %7: f64 = mem.load %1, %6
  %8: unit = mem.store %1, 1.0, %3
  %9: f64 = mem.load %1, %6
  %10: f64 = arith.add %5, %7
  %11: f64 = arith.add %10, %9
  return %11
}
",
        "func @f(%1: array<f64, 1>, %2: f64, %3: i64) -> f64 {
^1:
  %4: unit = mem.store %1, %2, %3
  %6: i64 = arith.add %3, 1
  %7: f64 = mem.load %1, %6
  %8: unit = mem.store %1, 1.0, %3
  %10: f64 = arith.add %2, %7
  %11: f64 = arith.add %10, %7
  return %11
}
",
    );
}

#[test]
fn a_store_that_may_be_to_the_same_place_is_in_the_way() {
    // Another index, or another array that may be the same one.
    check_unchanged::<Gvn>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64, %4: i64) -> f64 {
^1:
  %5: f64 = mem.load %1, %3
  mem.store %1, 1.0, %4
  %7: f64 = mem.load %1, %3
  mem.store %2, 2.0, %3
  %9: f64 = mem.load %1, %3
  %10: f64 = arith.add %5, %7
  %11: f64 = arith.add %10, %9
  return %11
}
",
    );
}

#[test]
fn objects_of_other_types_and_new_ones_are_elsewhere() {
    check::<Gvn>(
        "func @f(%1: array<f64, 1>, %2: array<i64, 1>, %3: i64) -> f64 {
^1:
  %4: f64 = mem.load %1, %3
  %5: unit = mem.store %2, 5, %3
  %6: array<f64, 1> = mem.array 1.0
  %7: unit = mem.store %6, 2.0, 1
  %8: f64 = mem.load %1, %3
  %9: f64 = mem.load %6, 1
  %10: i64 = mem.length %6
  %11: f64 = arith.add %4, %8
  %12: f64 = arith.add %11, %9
  %13: i64 = arith.add %10, %3
  %14: unit = core.println %13
  return %12
}
",
        "func @f(%1: array<f64, 1>, %2: array<i64, 1>, %3: i64) -> f64 {
^1:
  %4: f64 = mem.load %1, %3
  %5: unit = mem.store %2, 5, %3
  %6: array<f64, 1> = mem.array 1.0
  %7: unit = mem.store %6, 2.0, 1
  %11: f64 = arith.add %4, %4
  %12: f64 = arith.add %11, 2.0
  %13: i64 = arith.add 1, %3
  %14: unit = core.println %13
  return %12
}
",
    );
}

#[test]
fn a_loop_that_stores_makes_memory_anew_and_one_that_does_not_leaves_it() {
    check::<Gvn>(
        "func @f(%1: ref<i64>, %2: i64) -> i64 {
^1:
  %3: i64 = mem.ref_get %1
  br ^2(0)
^2(%4: i64):
  %5: i64 = mem.ref_get %1
  %6: i64 = arith.add %4, %5
  %7: bool = arith.lt %6, %2
  br %7, ^2(%6), ^3
^3:
  %8: i64 = mem.ref_get %1
  br ^4(0)
^4(%9: i64):
  %10: i64 = mem.ref_get %1
  %11: i64 = arith.add %10, %9
  %12: unit = mem.ref_set %1, %11
  %13: bool = arith.lt %11, %2
  br %13, ^4(%11), ^5
^5:
  %14: i64 = mem.ref_get %1
  %15: i64 = arith.add %3, %8
  %16: i64 = arith.add %14, %15
  return %16
}
",
        "func @f(%1: ref<i64>, %2: i64) -> i64 {
^1:
  %3: i64 = mem.ref_get %1
  br ^2(0)
^2(%4: i64):
  %6: i64 = arith.add %4, %3
  %7: bool = arith.lt %6, %2
  br %7, ^2(%6), ^3
^3:
  br ^4(0)
^4(%9: i64):
  %10: i64 = mem.ref_get %1
  %11: i64 = arith.add %10, %9
  %12: unit = mem.ref_set %1, %11
  %13: bool = arith.lt %11, %2
  br %13, ^4(%11), ^5
^5:
  %15: i64 = arith.add %3, %3
  %16: i64 = arith.add %11, %15
  return %16
}
",
    );
}

#[test]
fn what_does_not_dominate_is_computed_again() {
    check_unchanged::<Gvn>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.mul %2, 3
  br ^4(%3)
^3:
  br ^4(1)
^4(%4: i64):
  %5: i64 = arith.mul %2, 3
  %6: i64 = arith.add %4, %5
  return %6
}
",
    );
}

#[test]
fn the_shape_of_a_shadow_is_known() {
    check::<Gvn>(
        "func @f(%1: array<f64, 2>) -> i64 {
^1:
  %2: array<f64, 2> = ad.zero %1
  %3: array<f64, 2> = ad.copy %2
  ad.accumulate %2, %3
  %5: i64 = mem.size %1, 1
  %6: i64 = mem.size %2, 1
  %7: i64 = mem.size %3, 1
  %8: i64 = arith.add %5, %6
  %9: i64 = arith.add %8, %7
  return %9
}
",
        "func @f(%1: array<f64, 2>) -> i64 {
^1:
  %2: array<f64, 2> = ad.zero %1
  %3: array<f64, 2> = ad.copy %2
  ad.accumulate %2, %3
  %5: i64 = mem.size %1, 1
  %8: i64 = arith.add %5, %5
  %9: i64 = arith.add %8, %5
  return %9
}
",
    );
}

#[test]
fn the_shape_of_a_new_array_or_a_copy_is_known() {
    check::<Gvn>(
        "func @f(%1: array<f64, 2>, %2: i64, %3: i64) -> i64 {
^1:
  %4: array<f64, 2> = mem.alloc %2, %3
  %5: i64 = mem.size %4, 2
  %6: tuple<i64, i64> = mem.shape %4
  %7: i64 = core.get %6, 1
  %8: array<f64, 2> = mem.copy %1
  %9: i64 = mem.size %1, 1
  %10: i64 = mem.size %8, 1
  %11: array<f64, 1> = mem.alloc %2
  %12: i64 = mem.length %11
  %13: unit = mem.push %11, 1.0
  %14: i64 = mem.length %11
  %15: i64 = arith.add %5, %7
  %16: i64 = arith.add %9, %10
  %17: i64 = arith.add %12, %14
  %18: i64 = arith.add %15, %16
  %19: i64 = arith.add %17, %18
  return %19
}
",
        "func @f(%1: array<f64, 2>, %2: i64, %3: i64) -> i64 {
^1:
  %4: array<f64, 2> = mem.alloc %2, %3
  %6: tuple<i64, i64> = mem.shape %4
  %8: array<f64, 2> = mem.copy %1
  %9: i64 = mem.size %1, 1
  %11: array<f64, 1> = mem.alloc %2
  %13: unit = mem.push %11, 1.0
  %14: i64 = mem.length %11
  %15: i64 = arith.add %3, %2
  %16: i64 = arith.add %9, %9
  %17: i64 = arith.add %2, %14
  %18: i64 = arith.add %15, %16
  %19: i64 = arith.add %17, %18
  return %19
}
",
    );
}

#[test]
fn a_new_array_is_no_argument_and_no_other_new_array() {
    check::<Gvn>(
        "func @f(%1: array<f64, 1>, %2: i64, %3: bool) -> tuple<bool, bool, bool, bool> {
^1:
  %4: array<f64, 1> = mem.alloc %2
  %5: array<f64, 1> = mem.alloc %2
  %6: bool = core.same %1, %4
  %7: bool = core.same %4, %5
  br %3, ^2(%4), ^2(%5)
^2(%8: array<f64, 1>):
  %9: bool = core.same %8, %1
  %10: bool = core.same %8, %4
  %11: tuple<bool, bool, bool, bool> = core.tuple %6, %7, %9, %10
  return %11
}
",
        "func @f(%1: array<f64, 1>, %2: i64, %3: bool) -> tuple<bool, bool, bool, bool> {
^1:
  %4: array<f64, 1> = mem.alloc %2
  %5: array<f64, 1> = mem.alloc %2
  br %3, ^2(%4), ^2(%5)
^2(%8: array<f64, 1>):
  %9: bool = core.same %8, %1
  %10: bool = core.same %8, %4
  %11: tuple<bool, bool, bool, bool> = core.tuple false, false, %9, %10
  return %11
}
",
    );
}

#[test]
fn what_may_be_a_number_may_be_the_same_although_it_is_no_object() {
    check_unchanged::<Gvn>(
        "func @f(%1: any, %2: any) -> tuple<bool, bool> {apart=2} {
^1:
  %3: bool = core.same %1, %2
  %4: bool = core.same 3, %1
  %5: tuple<bool, bool> = core.tuple %3, %4
  return %5
}
",
    );
}

#[test]
fn what_is_added_and_subtracted_again_cancels_out() {
    check::<Gvn>(
        "func @f(%1: i64, %2: f64) -> tuple<i64, i64, i64, f64> {
^1:
  %3: i64 = arith.sub %1, 1
  %4: i64 = arith.add 1, %3
  %5: i64 = arith.add %4, 9223372036854775807
  %6: i64 = arith.sub %5, 9223372036854775807
  %7: i64 = arith.add %3, 2
  %8: f64 = arith.sub %2, 1.0
  %9: f64 = arith.add %8, 1.0
  %10: tuple<i64, i64, i64, f64> = core.tuple %4, %6, %7, %9
  return %10
}
",
        "func @f(%1: i64, %2: f64) -> tuple<i64, i64, i64, f64> {
^1:
  %3: i64 = arith.sub %1, 1
  %5: i64 = arith.add %1, 9223372036854775807
  %7: i64 = arith.add %3, 2
  %8: f64 = arith.sub %2, 1.0
  %9: f64 = arith.add %8, 1.0
  %10: tuple<i64, i64, i64, f64> = core.tuple %1, %1, %7, %9
  return %10
}
",
    );
}
