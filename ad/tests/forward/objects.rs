//! Programs of tuples, structs, arrays and refs.

use super::*;

#[test]
fn tuples_and_named_tuples() {
    let text = "
func @f(%x: f64, %t: tuple<i64, f64>) -> {a: f64, b: tuple<i64, f64>, c: i64} {
^1:
  %1: f64 = core.get %t, 2
  %2: f64 = arith.mul %1, %x
  %3: i64 = core.get %t, 1
  %4: tuple<i64, f64> = core.tuple 3, %2
  %5: {a: f64, b: tuple<i64, f64>, c: i64} = data.named %2, %4, %3
  %6: tuple<i64, f64> = data.getfield %5, :b
  %7: f64 = core.get %6, 2
  %8: {a: f64, b: tuple<i64, f64>, c: i64} = data.named %7, %t, 1
  return %8
}";
    check(text, &[0.7.into(), Val::tuple([4i64.into(), 1.3.into()])]);
}

#[test]
fn an_element_whose_index_is_not_known() {
    let text = "
func @f(%t: tuple<f64, f64, f64>, %n: i64) -> f64 {
^1:
  %1: f64 = data.getfield %t, %n
  %2: f64 = math.exp %1
  return %2
}";
    let t = Val::tuple([0.3.into(), 0.4.into(), 0.5.into()]);
    check(text, &[t.clone(), 2i64.into()]);
    check(text, &[t, 3i64.into()]);
}

#[test]
fn parts_of_types_that_are_not_known() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  %1: tuple<f64, i64, f64> = core.tuple %x, 7, 2.0
  %2 = data.getfield %1, %n
  %3: bool = core.isa %2, !f64
  br %3, ^2, ^3
^2:
  %4: f64 = core.typeassert %2
  %5: f64 = arith.mul %4, %x
  return %5
^3:
  return 0.0
}";
    for n in 1..4i64 {
        check(text, &[0.7.into(), n.into()]);
    }
}

#[test]
fn immutable_structs_and_closures() {
    let text = "
struct @Scale { factor: f64, n: i64 } call @scale
func @scale(%self: @Scale, %x: f64) -> f64 {
^1:
  %1: f64 = core.get %self, 1
  %2: f64 = arith.mul %1, %x
  return %2
}
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: @Scale = data.new %x, 3
  %2: f64 = core.apply %1, %y
  %3: f64 = core.apply %1, 2.0
  %4: f64 = core.apply @id, %3
  %5: f64 = arith.mul %2, %4
  return %5
}
func @id(%x: f64) -> f64 {
^1:
  return %x
}";
    check(text, &[0.7.into(), 1.3.into()]);
}

const SUM: &str = "
func @f(%a: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %a
  br ^2(1, 0.0)
^2(%i: i64, %acc: f64):
  %1: bool = arith.le %i, %n
  br %1, ^3, ^4
^3:
  %2: f64 = mem.load %a, %i
  %3: f64 = arith.mul %2, %2
  %4: f64 = arith.add %acc, %3
  %5: i64 = arith.add %i, 1
  br ^2(%5, %4)
^4:
  return %acc
}";

#[test]
fn a_sum_over_an_array() {
    check(SUM, &[vector(&[1.0, 2.0, 3.5])]);
    check(SUM, &[vector(&[])]);
}

#[test]
fn an_array_that_is_changed() {
    let text = "
func @f(%a: array<f64, 1>, %x: f64) -> unit {
^1:
  %1: f64 = mem.load %a, 1
  %2: f64 = arith.mul %1, %x
  mem.store %a, %2, 2
  mem.store %a, 4.0, 3
  mem.push %a, %x
  %3: f64 = mem.load %a, 2
  mem.push %a, %3
  %4: f64 = mem.pop %a
  %5: f64 = math.sin %4
  mem.store %a, %5, 1
  mem.resize %a, 6
  return nothing
}";
    check(text, &[vector(&[1.0, 2.0, 3.5]), 0.7.into()]);
}

#[test]
fn the_same_array_twice() {
    let text = "
func @f(%a: array<f64, 1>, %b: array<f64, 1>) -> f64 {
^1:
  %1: f64 = mem.load %a, 1
  %2: f64 = arith.mul %1, 3.0
  mem.store %b, %2, 1
  %3: f64 = mem.load %a, 1
  %4: f64 = arith.mul %3, %1
  return %4
}";
    let a = vector(&[1.5, 2.0]);
    for width in [1, 2] {
        Run::new(text, &[true, true], width).check(&[a.clone(), a.clone()]);
    }
    check(text, &[a, vector(&[3.0, 4.0])]);
}

/// An object that is passed as constant gets a shadow if something active is stored in it.
#[test]
fn work_arrays() {
    let text = "
func @f(%x: f64, %work: array<f64, 1>, %other: array<f64, 1>) -> f64 {
^1:
  mem.store %work, %x, 1
  %1: f64 = mem.load %work, 1
  %2: f64 = mem.load %other, 1
  %3: f64 = arith.mul %1, %1
  %4: f64 = arith.mul %3, %2
  return %4
}";
    check(text, &[0.7.into(), vector(&[0.0]), vector(&[3.0])]);
    // Without a shadow, for nothing active is ever in it.
    assert_eq!(made(text, &[true, false, false], 1).matches("ad.zero").count(), 1);
}

/// Two of them may be one.
#[test]
fn work_arrays_that_are_the_same() {
    let text = "
func @f(%x: f64, %a: array<f64, 1>, %b: array<f64, 1>) -> f64 {
^1:
  mem.store %a, %x, 1
  %1: f64 = mem.load %b, 1
  %2: f64 = math.sin %1
  %3: f64 = arith.mul %2, %x
  mem.store %b, %3, 2
  %4: f64 = mem.load %a, 2
  return %4
}";
    let a = vector(&[0.0, 0.0]);
    Run::new(text, &[true, false, false], 1).check(&[0.7.into(), a.clone(), a]);
}

#[test]
fn a_work_array_in_a_call() {
    let text = "
func @put(%a: array<f64, 1>, %x: f64) -> array<f64, 1> {
^1:
  mem.store %a, %x, 1
  return %a
}
func @f(%x: f64, %work: array<f64, 1>) -> f64 {
^1:
  %1: array<f64, 1> = call @put(%work, %x)
  %2: f64 = mem.load %work, 1
  mem.store %1, %2, 2
  %3: f64 = mem.load %work, 2
  return %3
}";
    check(text, &[0.7.into(), vector(&[0.0, 0.0])]);
}

#[test]
fn arrays_of_many_kinds() {
    let text = "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: array<f64, 2> = mem.alloc 2, 2
  mem.store %1, %x, 1, 2
  %2: array<f64, 1> = mem.fill %y, 4
  mem.copyto %1, %2
  %3: f64 = mem.load %1, 1, 2
  %4: array<f64, 1> = mem.array %x, 2.0, %3
  %5: array<f64, 1> = mem.copy %4
  mem.fill_in_place %4, 0.0
  %6: f64 = mem.load %5, 1
  %7: f64 = mem.load %4, 3
  %8: f64 = mem.load %5, 3
  %9: f64 = arith.mul %6, %8
  %10: f64 = arith.add %9, %7
  %11: ref<f64> = mem.ref_new %10
  %12: f64 = mem.ref_get %11
  %13: f64 = math.sin %12
  mem.ref_set %11, %13
  %14: f64 = mem.ref_get %11
  return %14
}";
    check(text, &[0.7.into(), 1.3.into()]);
}

#[test]
fn arrays_of_arrays_share_their_elements() {
    let text = "
func @f(%x: f64, %a: array<f64, 1>) -> f64 {
^1:
  %1: array<array<f64, 1>, 1> = mem.array %a, %a
  %2: array<array<f64, 1>, 1> = mem.copy %1
  %3: array<f64, 1> = mem.load %2, 2
  mem.store %3, %x, 1
  %4: array<f64, 1> = mem.load %1, 1
  %5: f64 = mem.load %4, 1
  %6: f64 = mem.load %a, 2
  %7: f64 = arith.mul %5, %6
  return %7
}";
    check(text, &[0.7.into(), vector(&[1.5, 2.5])]);
}

#[test]
fn arrays_of_tuples_and_of_integers() {
    let text = "
func @f(%x: f64, %n: array<i64, 1>) -> f64 {
^1:
  %1: tuple<f64, i64> = core.tuple %x, 2
  %2: array<tuple<f64, i64>, 1> = mem.fill %1, 2
  %3: i64 = mem.load %n, 1
  %4: tuple<f64, i64> = mem.load %2, %3
  %5: f64 = core.get %4, 1
  %6: tuple<f64, i64> = core.tuple 3.0, 2
  mem.store %2, %6, %3
  %7: tuple<f64, i64> = mem.load %2, %3
  %8: f64 = core.get %7, 1
  %9: f64 = arith.mul %5, %8
  return %9
}";
    check(text, &[0.7.into(), Val::from(Array::vector(&[2i64]))]);
}

#[test]
fn arrays_that_change_places_in_a_loop() {
    let text = "
func @f(%a: array<f64, 1>, %n: i64) -> f64 {
^1:
  %b: array<f64, 1> = mem.alloc 1
  br ^2(%a, %b, %n)
^2(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64):
  %4: f64 = mem.load %1, 1
  %5: f64 = math.sin %4
  mem.store %2, %5, 1
  %6: i64 = arith.sub %3, 1
  %7: bool = arith.lt 0, %6
  br %7, ^2(%2, %1, %6), ^3
^3:
  %8: f64 = mem.load %a, 1
  %9: f64 = mem.load %b, 1
  %10: f64 = arith.mul %8, %9
  return %10
}";
    check(text, &[vector(&[0.7]), 4i64.into()]);
}

const CELL: &str = "
mutable struct @Cell { x: f64, n: i64, y: f64 }
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: @Cell = data.new_object %x, 3, 2.0
  call @step(%1, %y)
  call @step(%1, %y)
  %2: f64 = data.getfield %1, :x
  %3: f64 = data.getfield %1, 3
  %4: f64 = arith.mul %2, %3
  return %4
}
func @step(%c: @Cell, %y: f64) -> unit {
^1:
  %1: f64 = data.getfield %c, :x
  %2: f64 = arith.mul %1, %y
  data.setfield %c, :x, %2
  data.setfield %c, 2, 4
  %3: f64 = data.getfield %c, :y
  %4: f64 = arith.add %3, %2
  data.setfield %c, :y, %4
  return nothing
}";

#[test]
fn mutable_structs() {
    check(CELL, &[0.7.into(), 1.3.into()]);
}

#[test]
fn mutable_structs_that_contain_others() {
    let text = "
mutable struct @Node { x: f64, next: any }
func @f(%x: f64) -> f64 {
^1:
  %1: @Node = data.new_object %x, nothing
  %2: @Node = data.new_object 2.0, %1
  data.setfield %1, :next, %2
  %3 = data.getfield %2, :next
  %4: @Node = core.typeassert %3
  %5: f64 = data.getfield %4, :x
  %6: f64 = arith.mul %5, %5
  data.setfield %4, :x, %6
  %7: f64 = data.getfield %1, :x
  %8 = data.getfield %1, :next
  %9: @Node = core.typeassert %8
  data.setfield %9, :x, %7
  %10: f64 = data.getfield %2, :x
  %11: f64 = arith.mul %10, %x
  return %11
}";
    check(text, &[1.3.into()]);
}

#[test]
fn refs_of_what_is_not_known() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  %10 = core.convert 1.0
  %1: ref<any> = mem.ref_new %10
  %2 = core.convert %x
  mem.ref_set %1, %2
  %3 = mem.ref_get %1
  %4: f64 = core.typeassert %3
  mem.ref_set %1, 3
  %5 = mem.ref_get %1
  %6: i64 = core.typeassert %5
  %7: f64 = arith.int_to_float %6
  %8: f64 = arith.mul %4, %7
  %9: f64 = arith.mul %8, %x
  return %9
}";
    check(text, &[1.3.into()]);
}

#[test]
fn global_arrays_keep_their_shadows() {
    let text = "
func @init() -> unit {
^1:
  %1: array<f64, 1> = mem.fill 0.0, 1
  core.set_global :state, %1
  return nothing
}
func @put(%x: f64) -> unit {
^1:
  %1: array<f64, 1> = core.global :state
  mem.store %1, %x, 1
  return nothing
}
func @f(%x: f64) -> f64 {
^1:
  call @init()
  call @put(%x)
  %1: array<f64, 1> = core.global :state
  %2: f64 = mem.load %1, 1
  %3: f64 = arith.mul %2, %x
  call @put(2.0)
  %4: f64 = mem.load %1, 1
  %5: f64 = arith.mul %3, %4
  return %5
}";
    let mut run = Run::new(text, &[true], 1);
    let pair = run.call("f.jvp", &[3.0.into(), 1.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(18.0, 12.0)");
}

#[test]
fn tuples_that_are_known_in_part() {
    let text = "
func @pair(%x: f64) -> any {
^1:
  %1: tuple<f64, i64, array<f64, 1>> = core.tuple %x, 2, %2
  %3 = core.convert %1
  return %3
}
func @f(%x: f64) -> f64 {
^1:
  %1 = call @pair(%x)
  %2: tuple<any, any, any> = core.typeassert %1
  %3 = core.get %2, 1
  %4: f64 = core.typeassert %3
  %5 = core.get %2, 3
  %6: array<f64, 1> = core.typeassert %5
  %7: f64 = mem.load %6, 1
  %8: f64 = arith.mul %4, %7
  return %8
}"
    .replace("^1:\n  %1: tuple", "^1:\n  %2: array<f64, 1> = mem.array %x, 3.0\n  %1: tuple");
    check(&text, &[0.7.into()]);
}

#[test]
fn structs_that_contain_themselves() {
    let text = "
struct @Tree { x: f64, rest: array<@Tree, 1> }
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: array<@Tree, 1> = mem.alloc 0
  %2: @Tree = data.new %x, %1
  %3: array<@Tree, 1> = mem.array %2, %2
  %4: @Tree = data.new %y, %3
  %5: f64 = call @product(%4)
  return %5
}
func @product(%t: @Tree) -> f64 {
^1:
  %1: f64 = core.get %t, 1
  %2: array<@Tree, 1> = data.getfield %t, :rest
  %3: i64 = mem.length %2
  br ^2(1, %1)
^2(%i: i64, %acc: f64):
  %4: bool = arith.le %i, %3
  br %4, ^3, ^4
^3:
  %5: @Tree = mem.load %2, %i
  %6: f64 = call @product(%5)
  %7: f64 = arith.mul %acc, %6
  %8: i64 = arith.add %i, 1
  br ^2(%8, %7)
^4:
  return %acc
}";
    check(text, &[0.7.into(), 1.3.into()]);
}

#[test]
fn what_is_passed_as_any() {
    let text = "
func @put(%cell: ref<any>, %v: any) -> any {
^1:
  %1 = mem.ref_get %cell
  mem.ref_set %cell, %v
  return %1
}
func @f(%x: f64) -> f64 {
^1:
  %1 = core.convert nothing
  %2: ref<any> = mem.ref_new %1
  %3 = call @put(%2, %x)
  %4 = call @put(%2, 3)
  %5 = call @put(%2, 2.0)
  %6: f64 = core.typeassert %4
  %7 = mem.ref_get %2
  %8: f64 = core.typeassert %7
  %9: f64 = arith.mul %6, %8
  %10: f64 = arith.mul %9, %x
  return %10
}";
    check(text, &[0.7.into()]);
}

#[test]
fn arrays_of_single_precision() {
    let text = "
func @f(%a: array<f32, 1>) -> f32 {
^1:
  %1: f32 = mem.load %a, 1
  %2: f32 = arith.mul %1, %1
  mem.store %a, %2, 1
  return %2
}";
    let mut run = Run::new(text, &[true], 1);
    let (a, da) = (Val::from(Array::vector(&[3.0f32])), Val::from(Array::vector(&[2.0f32])));
    let pair = run.call("f.jvp", &[a.clone(), da.clone()]);
    assert_eq!(show_string(&run.ctx, &pair), "(9.0f0, 12.0f0)");
    assert_eq!(show_string(&run.ctx, &Val::tuple([a, da])), "(Float32[9.0], Float32[12.0])");
}
