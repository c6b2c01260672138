//! `specialize-tangents`.

use regraft_passes::transforms::specialize_tangents::SpecializeTangents;

use crate::{check as check_pass, check_text, check_unchanged as unchanged};

#[track_caller]
fn check(before: &str, after: &str) {
    check_pass::<SpecializeTangents>(before, after);
}

#[track_caller]
fn check_unchanged(text: &str) {
    unchanged::<SpecializeTangents>(text);
}

#[test]
fn parts_of_a_tangent_are_projections() {
    check(
        "func @f(%1: tuple<unit, f64, array<f64, 1>>) -> any {
^1:
  %2: tuple<unit, unit, array<f64, 1>> = ad.shadow %1
  %3: tuple<unit, f64, unit> = ad.cotangent %1
  %4 = core.tuple %2, %3
  return %4
}
",
        "func @f(%1: tuple<unit, f64, array<f64, 1>>) -> any {
^1:
  %5: array<f64, 1> = core.get %1, 3
  %6: tuple<unit, unit, array<f64, 1>> = core.tuple nothing, nothing, %5
  %7: f64 = core.get %1, 2
  %8: tuple<unit, f64, unit> = core.tuple nothing, %7, nothing
  %4: tuple<tuple<unit, unit, array<f64, 1>>, tuple<unit, f64, unit>> = core.tuple %6, %8
  return %4
}
",
    );
}

#[test]
fn parts_that_are_all_there_is_are_the_tangent() {
    check(
        "func @f(%1: array<f64, 1>, %2: {a: f64, b: f32}, %3: f64) -> any {
^1:
  %4: array<f64, 1> = ad.shadow %1
  %5: unit = ad.cotangent %1
  %6: {a: f64, b: f32} = ad.cotangent %2
  %7: {a: unit, b: unit} = ad.shadow %2
  %8: {a: f64, b: f32} = ad.join %7, %6
  %9: f64 = ad.join nothing, %3
  %10: array<f64, 1> = ad.join %4, %5
  %11 = core.tuple %8, %9, %10
  return %11
}
",
        "func @f(%1: array<f64, 1>, %2: {a: f64, b: f32}, %3: f64) -> any {
^1:
  %12: {a: unit, b: unit} = data.named nothing, nothing
  %11: tuple<{a: f64, b: f32}, f64, array<f64, 1>> = core.tuple %2, %3, %1
  return %11
}
",
    );
}

#[test]
fn parts_are_joined_one_by_one() {
    check(
        "func @f(%1: tuple<unit, array<f64, 1>, any>, %2: tuple<f64, unit, any>, %3: tuple<any, unit>) -> any {
^1:
  %4: tuple<f64, array<f64, 1>, any> = ad.join %1, %2
  %5: tuple<unit, unit> = core.tuple nothing, nothing
  %6: tuple<f64, unit> = ad.join %5, %3
  %7 = core.tuple %4, %6
  return %7
}
",
        "func @f(%1: tuple<unit, array<f64, 1>, any>, %2: tuple<f64, unit, any>, %3: tuple<any,
      unit>) -> any {
^1:
  %8: f64 = core.get %2, 1
  %9: array<f64, 1> = core.get %1, 2
  %10: any = core.get %1, 3
  %11: any = core.get %2, 3
  %12 = ad.join %10, %11
  %13: tuple<f64, array<f64, 1>, any> = core.tuple %8, %9, %12
  %5: tuple<unit, unit> = core.tuple nothing, nothing
  %14: any = core.get %3, 1
  %15: f64 = ad.unbox %14
  %16: tuple<f64, unit> = core.tuple %15, nothing
  %7: tuple<tuple<f64, array<f64, 1>, any>, tuple<f64, unit>> = core.tuple %13, %16
  return %7
}
",
    );
}

#[test]
fn cotangents_are_added_number_by_number() {
    check(
        "func @f(%1: f64, %2: f64, %3: tuple<f64, {a: f32, n: unit}>, %4: tuple<f64, {a: f32, n: unit}>, %5: any) -> any {
^1:
  %6: f64 = ad.add %1, %2
  %7: tuple<f64, {a: f32, n: unit}> = ad.add %3, %4
  %8: f64 = ad.add nothing, %6
  %9: any = ad.add %5, nothing
  %10: any = ad.add %5, %8
  %11 = core.tuple %7, %8, %9, %10
  return %11
}
",
        "func @f(%1: f64, %2: f64, %3: tuple<f64, {a: f32, n: unit}>, %4: tuple<f64, {a: f32, n: unit}>,
      %5: any) -> any {
^1:
  %12: f64 = arith.add %1, %2
  %13: f64 = core.get %3, 1
  %14: f64 = core.get %4, 1
  %15: f64 = arith.add %13, %14
  %16: {a: f32, n: unit} = core.get %3, 2
  %17: f32 = core.get %16, 1
  %18: {a: f32, n: unit} = core.get %4, 2
  %19: f32 = core.get %18, 1
  %20: f32 = arith.add %17, %19
  %21: {a: f32, n: unit} = data.named %20, nothing
  %22: tuple<f64, {a: f32, n: unit}> = core.tuple %15, %21
  %10 = ad.add %5, %12
  %11: tuple<tuple<f64, {a: f32, n: unit}>, f64, any, any> = core.tuple %22, %12, %5, %10
  return %11
}
",
    );
}

#[test]
fn a_cotangent_that_is_known_needs_no_box() {
    check(
        "func @f(%1: f64, %2: tuple<any, f64>, %3: any) -> any {
^1:
  %4: f64 = ad.unbox %1
  %5: f64 = ad.unbox nothing
  %6: tuple<f32, {a: f64, n: unit}> = ad.unbox nothing
  %7: tuple<f64, f64> = ad.unbox %2
  %8: f64 = ad.unbox %3
  %9 = core.tuple %4, %5, %6, %7, %8
  return %9
}
",
        "func @f(%1: f64, %2: tuple<any, f64>, %3: any) -> any {
^1:
  %10: {a: f64, n: unit} = data.named 0.0, nothing
  %11: tuple<f32, {a: f64, n: unit}> = core.tuple 0.0f32, %10
  %12: any = core.get %2, 1
  %13: f64 = ad.unbox %12
  %14: f64 = core.get %2, 2
  %15: tuple<f64, f64> = core.tuple %13, %14
  %8: f64 = ad.unbox %3
  %9: tuple<f64, f64, tuple<f32, {a: f64, n: unit}>, tuple<f64, f64>, f64> = core.tuple %1, 0.0,
      %11, %15, %8
  return %9
}
",
    );
}

#[test]
fn zeros_of_numbers_are_zeros() {
    check(
        "struct @P { x: f64, n: i64, a: array<f64, 1> }
func @f(%1: f64, %2: i64, %3: @P, %4: tuple<f32, str>) -> any {
^1:
  %5: f64 = ad.zero %1
  %6: unit = ad.zero %2
  %7: {x: f64, n: unit, a: array<f64, 1>} = ad.zero %3
  %8: tuple<f32, unit> = ad.zero %4
  %9 = core.tuple %5, %6, %7, %8
  return %9
}
",
        "struct @P {x: f64, n: i64, a: array<f64, 1>}

func @f(%1: f64, %2: i64, %3: @P, %4: tuple<f32, str>) -> any {
^1:
  %10: array<f64, 1> = core.get %3, 3
  %11: array<f64, 1> = ad.zero %10
  %12: {x: f64, n: unit, a: array<f64, 1>} = data.named 0.0, nothing, %11
  %13: tuple<f32, unit> = core.tuple 0.0f32, nothing
  %9: tuple<f64, unit, {x: f64, n: unit, a: array<f64, 1>}, tuple<f32, unit>> = core.tuple 0.0,
      nothing, %12, %13
  return %9
}
",
    );
}

#[test]
fn objects_that_may_be_shared_are_not_taken_apart() {
    check_unchanged(
        "mutable struct @C { x: f64 }
func @f(%1: tuple<array<f64, 1>, array<f64, 1>>, %2: tuple<any, f64, any>, %3: @C, %4: any) -> any {
^1:
  %5: tuple<array<f64, 1>, array<f64, 1>> = ad.zero %1
  %6: tuple<any, f64, any> = ad.zero %2
  %7: ref<{x: f64}> = ad.zero %3
  %8: any = ad.zero %4
  %9: tuple<array<f64, 1>, array<f64, 1>> = ad.copy %1
  %10: any = ad.copy %4
  ad.accumulate %5, %9
  ad.accumulate %8, %4
  ad.clear %8
  %14: array<f64, 1> = core.get %1, 1
  %15: array<f64, 1> = core.get %5, 1
  ad.accumulate %15, %14
  %17 = core.tuple %5, %6, %7, %8, %9, %10
  return %17
}
",
    );
}

#[test]
fn copies_of_values_are_the_values() {
    check(
        "func @f(%1: f64, %2: tuple<i64, str>, %3: array<f64, 2>, %4: array<tuple<i64, f64>, 1>, %5: array<any, 1>) -> any {
^1:
  %6: f64 = ad.copy %1
  %7: tuple<i64, str> = ad.copy %2
  %8: array<f64, 2> = ad.copy %3
  %9: array<tuple<i64, f64>, 1> = ad.copy %4
  %10: array<any, 1> = ad.copy %5
  %11 = core.tuple %6, %7, %8, %9, %10
  return %11
}
",
        "func @f(%1: f64, %2: tuple<i64, str>, %3: array<f64, 2>, %4: array<tuple<i64, f64>, 1>, %5: array<
      any, 1>) -> any {
^1:
  %12: array<f64, 2> = mem.copy %3
  %13: array<tuple<i64, f64>, 1> = mem.copy %4
  %10: array<any, 1> = ad.copy %5
  %11: tuple<f64, tuple<i64, str>, array<f64, 2>, array<tuple<i64, f64>, 1>, array<any,
      1>> = core.tuple %1, %2, %12, %13, %10
  return %11
}
",
    );
}

#[test]
fn shadows_without_objects_are_not_updated() {
    check(
        "func @f(%1: tuple<unit, array<f64, 1>>, %2: tuple<f64, array<f64, 1>>, %3: ref<f64>, %4: ref<f64>, %5: tuple<unit, {a: unit}>, %6: tuple<f64, {a: f64}>, %7: tuple<unit, array<f32, 2>, ref<f32>, any>) -> unit {
^1:
  ad.accumulate %1, %2
  ad.accumulate %3, %4
  ad.accumulate %5, %6
  ad.accumulate %1, nothing
  ad.clear %7
  ad.clear %5
  ad.clear %3
  return nothing
}
",
        "func @f(%1: tuple<unit, array<f64, 1>>, %2: tuple<f64, array<f64, 1>>, %3: ref<f64>, %4: ref<f64>,
      %5: tuple<unit, {a: unit}>, %6: tuple<f64, {a: f64}>, %7: tuple<unit, array<f32, 2>, ref<f32>,
      any>) -> unit {
^1:
  %15: array<f64, 1> = core.get %1, 2
  %16: array<f64, 1> = core.get %2, 2
  %17: unit = ad.accumulate %15, %16
  %18: f64 = mem.ref_get %3
  %19: f64 = mem.ref_get %4
  %20: f64 = arith.add %18, %19
  %21: unit = mem.ref_set %3, %20
  %22: array<f32, 2> = core.get %7, 2
  %23: unit = mem.fill_in_place %22, 0.0f32
  %24: ref<f32> = core.get %7, 3
  %25: unit = mem.ref_set %24, 0.0f32
  %26: any = core.get %7, 4
  %27: unit = ad.clear %26
  %28: unit = mem.ref_set %3, 0.0
  return nothing
}
",
    );
}

#[test]
fn what_traps_stays() {
    check_unchanged(
        "func @f(%1: i64, %2: tuple<f64, f64>, %3: tuple<f64>, %4: f32, %5: f64, %6: array<f64, 1>) -> any {
^1:
  %7: any = ad.shadow %1
  %8: any = ad.add %2, %3
  %9: any = ad.add %4, %5
  %10: any = ad.join %6, %5
  %11: f64 = ad.unbox %4
  %12: array<f64, 1> = ad.unbox nothing
  ad.accumulate %2, %3
  %14 = core.tuple %7, %8, %9, %10, %11, %12
  return %14
}
",
    );
}

#[test]
fn a_better_type_than_the_declared_one_reaches_the_users() {
    check_text(
        "specialize-tangents, specialize-getfield",
        "func @f(%1: tuple<unit, array<f64, 1>>, %2: tuple<f64, unit>) -> any {
^1:
  %3: any = ad.join %1, %2
  %4: any = ad.cotangent %3
  %5: any = data.getfield %4, 1
  return %5
}
",
        "func @f(%1: tuple<unit, array<f64, 1>>, %2: tuple<f64, unit>) -> any {
^1:
  %6: f64 = core.get %2, 1
  %7: array<f64, 1> = core.get %1, 2
  %8: tuple<f64, array<f64, 1>> = core.tuple %6, %7
  %9: f64 = core.get %8, 1
  %10: tuple<f64, unit> = core.tuple %9, nothing
  %5: f64 = core.get %10, 1
  return %5
}
",
    );
}
