//! Values, objects and elements in native code: what is made is let go, and what is changed is no other's.

mod common;

use common::{module, nothing_stays, run_both as run};
use regraft_exec::value::{Array, Val, collect_cycles, live_containers};
use regraft_exec::{Engine, EngineKind, ErrorKind, Interpreter, Limits};
use regraft_ir::Module;

fn native(module: &Module) -> Interpreter {
    common::native(module, EngineKind::Cranelift)
}

/// A call of `@f`, which works.
fn call(engine: &mut Interpreter, args: &[Val]) {
    engine.call("f", args).expect("it works");
}

#[test]
fn values_and_objects_are_counted_and_let_go() {
    let text = "
mutable struct @Node { x: f64, next: any }
func @f(%1: i64) -> f64 {
^1:
  %2: @Node = data.new_object 1.0, nothing
  br ^2(0, %2)
^2(%3: i64, %4: @Node):
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^4
^3:
  %6: f64 = data.getfield %4, :x
  %7: f64 = arith.mul %6, 1.5
  %8: any = core.convert %4
  %9: @Node = data.new_object %7, %8
  %10: unit = data.setfield %9, :x, %7
  %11: i64 = arith.add %3, 1
  br ^2(%11, %9)
^4:
  %12: f64 = data.getfield %4, :x
  return %12
}";
    assert_eq!(run(text, &[3i64.into()]), "3.375");
    nothing_stays(native(&module(text)), |engine| call(engine, &[10i64.into()]));
}

#[test]
fn values_of_others_are_made_and_let_go() {
    let text = "
struct @P { x: f64, y: any }
struct @Wide { a: i64, b: f64, c: any, d: bool, e: f32 }
func @f(%1: i64, %2: f64) -> any {
^1:
  %3: any = core.convert nothing
  br ^2(0, %3)
^2(%4: i64, %5: any):
  %6: bool = arith.lt %4, %1
  br %6, ^3, ^4
^3:
  %7: @P = data.new %2, %5
  %8: any = core.convert %7
  %9: tuple<any, any, any> = core.tuple %8, %5, %8
  %10: any = core.convert %9
  %11: @Wide = data.new %4, %2, %10, true, 2.5f32
  %12: any = core.convert %11
  %13: ref<any> = mem.ref_new %12
  %14: any = core.convert %13
  %15: {a: any, b: i64, c: any, d: any, e: f64} = data.named %14, 7, \"text\", nothing, %2
  %16: any = core.convert %15
  %17: i64 = arith.add %4, 1
  br ^2(%17, %16)
^4:
  return %5
}";
    let args = |n: i64| [n.into(), 1.5.into()];
    let one = "(a = Base.RefValue{Any}(Wide(0, 1.5, (P(1.5, nothing), nothing, P(1.5, nothing)), \
               true, 2.5f0)), b = 7, c = \"text\", d = nothing, e = 1.5)";
    assert_eq!(run(text, &args(1)), one);
    run(text, &args(3));
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let engine = common::native(&module(text), kind);
        nothing_stays(engine, |engine| call(engine, &args(6)));
    }
    let mut engine = native(&module(text));
    engine.set_limits(Limits { memory: 1 << 20, ..Limits::default() });
    let error = engine.call("f", &args(100_000)).expect_err("there is no memory for it");
    assert_eq!(*error.kind(), ErrorKind::Memory);
}

/// Loads and stores of elements that are no scalars. Columns of a matrix of vectors change places, one element may be undefined,
/// and the last use of an array is a load or a store.
#[test]
fn elements_that_are_values_are_loaded_and_stored() {
    let text = "
func @f(%n: i64, %i: i64, %j: i64) -> f64 {
^1:
  %all: array<array<f64, 1>, 2> = mem.alloc 2, 2
  %a: array<f64, 1> = mem.array 1.0
  %b: array<f64, 1> = mem.array 2.0, 3.0
  %any: array<any, 1> = mem.alloc 3
  mem.store %all, %a, 1, 1
  mem.store %all, %b, 2, 2
  mem.store %all, %b, 3
  mem.store %any, %b, 1
  mem.store %any, 0.5, 2
  mem.store %any, nothing, 3
  br ^2(0, 0.0)
^2(%k: i64, %s: f64):
  %end: bool = arith.ge %k, %n
  br %end, ^4, ^3
^3:
  %x: array<f64, 1> = mem.load %all, 2, 2
  %y: array<f64, 1> = mem.load %all, 1, 1
  mem.store %all, %x, 1, 1
  mem.store %all, %y, 4
  %new: array<f64, 1> = mem.copy %x
  mem.store %all, %new, 1, 2
  %u: any = mem.load %any, 1
  mem.store %any, %new, 1
  mem.store %any, %u, 3
  %z: f64 = mem.load %new, 1
  %t: f64 = arith.add %s, %z
  %k2: i64 = arith.add %k, 1
  br ^2(%k2, %t)
^4:
  %last: array<f64, 1> = mem.load %all, %i, %j
  %first: f64 = mem.load %last, 1
  %r: f64 = arith.add %s, %first
  return %r
}";
    let args = |n: i64, i: i64, j: i64| [n.into(), i.into(), j.into()];
    // The second vector and the first one are in the last place in turns: 2 + 1 + 2, and the 1 that is there then.
    for (given, says) in [
        (args(3, 2, 2), "6.0"),
        (args(4, 2, 2), "8.0"),
        (args(0, 1, 2), "2.0"),
        (args(0, 2, 2), "2.0"),
        (args(0, 2, 1), "UndefRefError"),
        (args(0, 3, 1), "BoundsError"),
        (args(0, 1, 0), "BoundsError"),
    ] {
        let said = run(text, &given);
        assert!(said.contains(says), "{given:?}: {said}");
    }
    nothing_stays(native(&module(text)), |engine| {
        call(engine, &args(5, 2, 2));
        engine.call("f", &args(0, 2, 1)).expect_err("there is no element");
    });
}

/// Loads whose results nobody uses: of the array's last use, of an element that is not defined, and of one that is not there.
#[test]
fn elements_that_nobody_uses_are_looked_for() {
    let text = "
func @f(%n: i64, %i: i64) -> i64 {
^1:
  %all: array<array<f64, 1>, 1> = mem.alloc 2
  %a: array<f64, 1> = mem.array 1.0
  mem.store %all, %a, 1
  br ^2(0)
^2(%k: i64):
  %end: bool = arith.ge %k, %n
  br %end, ^4, ^3
^3:
  %1: array<f64, 1> = mem.load %all, 1
  %2: array<f64, 1> = mem.load %all, %i
  %k2: i64 = arith.add %k, 1
  br ^2(%k2)
^4:
  %3: array<f64, 1> = mem.load %all, %i
  return %k
}";
    for (n, i, says) in [
        (3i64, 1i64, "3"),
        (0, 1, "0"),
        (1, 2, "UndefRefError"),
        (0, 2, "UndefRefError"),
        (0, 3, "BoundsError"),
    ] {
        let said = run(text, &[n.into(), i.into()]);
        assert!(said.contains(says), "{n}, {i}: {said}");
    }
    nothing_stays(native(&module(text)), |engine| call(engine, &[5i64.into(), 1i64.into()]));
}

/// An element is changed in place if nobody else holds it: here two places hold one value at first, a matrix gets some, and a
/// parameter keeps one.
#[test]
fn what_somebody_else_holds_is_not_changed_with_an_element() {
    let text = "
struct @P { x: f64, n: i64 }
func @f(%n: i64) -> tuple<@P, @P, @P, @P, @P> {
^1:
  %all: array<@P, 1> = mem.alloc 2
  %kept: array<@P, 2> = mem.alloc 1, 2
  %p: @P = data.new 1.0, 10
  mem.store %all, %p, 1
  mem.store %all, %p, 2
  br ^2(0, %p)
^2(%k: i64, %q: @P):
  %end: bool = arith.ge %k, %n
  br %end, ^6, ^3
^3:
  %k2: i64 = arith.add %k, 1
  %old: @P = mem.load %all, 2 {inbounds=true}
  %x: f64 = core.get %old, 1
  %m: i64 = core.get %old, 2
  %y: f64 = arith.mul %x, 2.0
  %l: i64 = arith.add %m, 1
  %new: @P = data.new %y, %l
  mem.store %all, %new, 2 {inbounds=true}
  %second: bool = arith.eq %k, 1
  br %second, ^4, ^5(%q)
^4:
  mem.store %kept, %new, 1, 1
  br ^5(%new)
^5(%r: @P):
  %fourth: bool = arith.eq %k, 3
  br %fourth, ^7, ^2(%k2, %r)
^7:
  %e: @P = mem.load %all, 2
  mem.store %kept, %e, 1, 2
  br ^2(%k2, %r)
^6:
  %a: @P = mem.load %all, 1
  %b: @P = mem.load %all, 2
  %c: @P = mem.load %kept, 1, 1
  %d: @P = mem.load %kept, 1, 2
  %t: tuple<@P, @P, @P, @P, @P> = core.tuple %q, %a, %b, %c, %d
  return %t
}";
    let all = "(P(4.0, 12), P(1.0, 10), P(64.0, 16), P(4.0, 12), P(16.0, 14))";
    assert_eq!(run(text, &[6i64.into()]), all);
    nothing_stays(native(&module(text)), |engine| call(engine, &[6i64.into()]));
}

/// Scalars of several types are appended, with room for them and without, to the last use of a vector too, and taken off again.
#[test]
fn scalars_are_appended() {
    let text = "
func @f(%n: i64) -> tuple<f64, i64, i64, i64, f64> {
^1:
  %x: array<f64, 1> = mem.alloc 0
  %b: array<bool, 1> = mem.array true
  %k: array<i8, 1> = mem.alloc 0
  %s: array<f32, 1> = mem.alloc 0
  br ^2(0)
^2(%i: i64):
  %end: bool = arith.ge %i, %n
  br %end, ^6(0.0, 0, 1), ^3
^3:
  %i2: i64 = arith.add %i, 1
  %a: f64 = core.convert %i
  mem.push %x, %a
  %odd: i64 = arith.rem %i, 2
  %is_odd: bool = arith.eq %odd, 1
  mem.push %b, %is_odd
  %j: i8 = arith.wrap %i
  mem.push %k, %j
  %c: f32 = core.convert %i
  mem.push %s, %c
  %third: i64 = arith.rem %i, 3
  %is_third: bool = arith.eq %third, 2
  br %is_third, ^4, ^2(%i2)
^4:
  %last: f64 = mem.pop %x
  mem.push %x, %last
  %gone: i8 = mem.pop %k
  mem.push %k, %gone
  br ^2(%i2)
^6(%t: f64, %odds: i64, %p: i64):
  %over: bool = arith.gt %p, %n
  br %over, ^8, ^7
^7:
  %y: f64 = mem.load %x, %p
  %t2: f64 = arith.add %t, %y
  %p2: i64 = arith.add %p, 1
  %o: bool = mem.load %b, %p2
  %o1: i64 = core.convert %o
  %odds2: i64 = arith.add %odds, %o1
  br ^6(%t2, %odds2, %p2)
^8:
  %l: i64 = mem.length %k
  %m: i8 = mem.load %k, %l
  %m1: i64 = core.convert %m
  %q: f32 = mem.pop %s
  %q1: f64 = core.convert %q
  mem.push %s, 1.0f32
  %r: tuple<f64, i64, i64, i64, f64> = core.tuple %t, %odds, %l, %m1, %q1
  return %r
}";
    assert_eq!(run(text, &[100i64.into()]), "(4950.0, 50, 100, 99, 99.0)");
    assert_eq!(run(text, &[1i64.into()]), "(0.0, 0, 1, 0, 0.0)");
    nothing_stays(native(&module(text)), |engine| call(engine, &[20i64.into()]));
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = common::native(&module(text), kind);
        engine.set_limits(Limits { memory: 1 << 20, ..Limits::default() });
        let error =
            engine.call("f", &[1_000_000i64.into()]).expect_err("there is no memory for it");
        assert_eq!(*error.kind(), ErrorKind::Memory);
    }
}

/// A vector gets other memory for its elements by a call before an error, which says what is there then.
#[test]
fn elements_are_elsewhere_after_a_call_that_comes_before_an_error() {
    let text = "
func @grow(%x: array<f64, 1>) -> unit {
^1:
  mem.resize %x, 100000
  mem.store %x, 7.5, 50000
  return nothing
}
func @f(%n: i64) -> f64 {
^1:
  %x: array<f64, 1> = mem.array 1.0, 2.0
  br ^2(0, 0.0)
^2(%k: i64, %s: f64):
  %end: bool = arith.ge %k, %n
  br %end, ^4, ^3
^3:
  %k2: i64 = arith.add %k, 1
  %a: f64 = mem.load %x, %k2
  %t: f64 = arith.add %s, %a
  %many: bool = arith.gt %t, 2.5
  br %many, ^5, ^2(%k2, %t)
^4:
  return %s
^5:
  call @grow(%x)
  %b: f64 = mem.load %x, 50000
  %l: i64 = mem.length %x
  %c: str = core.string \"there are \", %l, \" and \", %b
  core.throw %c
  unreachable
}";
    assert_eq!(run(text, &[1i64.into()]), "1.0");
    let said = run(text, &[2i64.into()]);
    assert!(said.contains("there are 100000 and 7.5"), "{said}");
}

/// The content of a ref is changed in place if nobody else holds it: here another ref does at first, and a parameter keeps the
/// value that is made in the second iteration.
#[test]
fn what_somebody_else_holds_is_not_changed_with_a_ref() {
    let text = "
func @f(%n: i64) -> tuple<f64, i64, f64, i64, f64, i64> {
^1:
  %c: {x: f64, n: i64} = data.named 1.0, 10
  %r: ref<{x: f64, n: i64}> = mem.ref_new %c
  %q: ref<{x: f64, n: i64}> = mem.ref_new %c
  br ^2(0, %c)
^2(%k: i64, %kept: {x: f64, n: i64}):
  %end: bool = arith.ge %k, %n
  br %end, ^6, ^3
^3:
  %old: {x: f64, n: i64} = mem.ref_get %r
  %x: f64 = core.get %old, 1
  %m: i64 = core.get %old, 2
  %y: f64 = arith.mul %x, 2.0
  %l: i64 = arith.add %m, 1
  %new: {x: f64, n: i64} = data.named %y, %l
  mem.ref_set %r, %new
  %k2: i64 = arith.add %k, 1
  %second: bool = arith.eq %k, 1
  br %second, ^2(%k2, %new), ^2(%k2, %kept)
^6:
  %a: {x: f64, n: i64} = mem.ref_get %r
  %b: {x: f64, n: i64} = mem.ref_get %q
  %a1: f64 = core.get %a, 1
  %a2: i64 = core.get %a, 2
  %b1: f64 = core.get %b, 1
  %b2: i64 = core.get %b, 2
  %k1: f64 = core.get %kept, 1
  %k3: i64 = core.get %kept, 2
  %all: tuple<f64, i64, f64, i64, f64, i64> = core.tuple %a1, %a2, %b1, %b2, %k1, %k3
  return %all
}";
    assert_eq!(run(text, &[0i64.into()]), "(1.0, 10, 1.0, 10, 1.0, 10)");
    assert_eq!(run(text, &[1i64.into()]), "(2.0, 11, 1.0, 10, 1.0, 10)");
    assert_eq!(run(text, &[5i64.into()]), "(32.0, 15, 1.0, 10, 4.0, 12)");
    nothing_stays(native(&module(text)), |engine| call(engine, &[5i64.into()]));
}

/// A matrix of vectors is filled by a call, and by an instruction between loads and stores, and copied to.
#[test]
fn elements_stay_where_they_are_when_all_are_set() {
    let text = "
func @fill(%1: array<array<f64, 1>, 2>, %2: array<f64, 1>) -> unit {
^1:
  mem.fill_in_place %1, %2
  return nothing
}
func @f(%n: i64) -> f64 {
^1:
  %all: array<array<f64, 1>, 2> = mem.alloc 1, 3
  %other: array<array<f64, 1>, 2> = mem.alloc 1, 3
  %list: array<array<f64, 1>, 1> = mem.alloc 3
  %a: array<f64, 1> = mem.array 1.0
  %b: array<f64, 1> = mem.array 2.0
  mem.fill_in_place %other, %a
  br ^2(0, 0.0)
^2(%k: i64, %s: f64):
  %end: bool = arith.ge %k, %n
  br %end, ^4, ^3
^3:
  call @fill(%all, %b)
  %x: array<f64, 1> = mem.load %all, 1, 2
  mem.store %all, %a, 1, 2
  %y: array<f64, 1> = mem.load %all, 1, 2
  mem.fill_in_place %list, %y
  mem.store %list, %x, 3
  %z: array<f64, 1> = mem.load %list, 1
  mem.copyto %all, %other
  %w: array<f64, 1> = mem.load %all, 3
  %v: array<f64, 1> = mem.load %list, 3
  %x1: f64 = mem.load %x, 1
  %y1: f64 = mem.load %y, 1
  %z1: f64 = mem.load %z, 1
  %w1: f64 = mem.load %w, 1
  %v1: f64 = mem.load %v, 1
  %1: f64 = arith.add %s, %x1
  %2: f64 = arith.add %1, %y1
  %3: f64 = arith.add %2, %z1
  %4: f64 = arith.add %3, %w1
  %t: f64 = arith.add %4, %v1
  %k2: i64 = arith.add %k, 1
  br ^2(%k2, %t)
^4:
  return %s
}";
    // 2 + 1 + 1 + 1 + 2.
    assert_eq!(run(text, &[1i64.into()]), "7.0");
    assert_eq!(run(text, &[1_000i64.into()]), "7000.0");
    nothing_stays(native(&module(text)), |engine| call(engine, &[5i64.into()]));
}

#[test]
fn types_of_values_are_tested() {
    let text = "
struct @P { x: f64 }
mutable struct @M { x: f64 }
func @tests(%1: any) -> any {
^1:
  %2: bool = core.isa %1, !unit
  %3: bool = core.isa %1, !i64
  %4: bool = core.isa %1, !f64
  %5: bool = core.isa %1, !str
  %6: bool = core.isa %1, !array<f64, 1>
  %7: bool = core.isa %1, !tuple<i64, f64>
  %8: bool = core.isa %1, !@P
  %9: bool = core.isa %1, !@M
  %10: bool = core.same %1, nothing
  %11: tuple<bool, bool, bool, bool, bool, bool, bool, bool, bool> = core.tuple %2, %3, %4, %5, %6, %7, %8, %9, %10
  %12: any = core.convert %11
  return %12
}
func @asserts(%1: any) -> f64 {
^1:
  %2: @P = core.typeassert %1
  %3: f64 = core.get %2, 1
  return %3
}
func @f(%1: any, %2: i64) -> any {
^1:
  %3: @P = data.new 1.5
  %4: @M = data.new_object 2.5
  %5: any = core.convert %3
  %6: any = core.convert %4
  switch %2, ^4(%1), 0: ^2, 1: ^3(%5), 2: ^3(%6), 3: ^4(%5), 4: ^4(%6)
^2:
  br ^3(%1)
^3(%7: any):
  %8: any = call @tests(%7)
  return %8
^4(%9: any):
  %10: f64 = call @asserts(%9)
  %11: any = core.convert %10
  return %11
}";
    let tests = |value: Val| run(text, &[value, 0i64.into()]);
    let shown = |at: Option<usize>, is_nothing: bool| {
        let flags: Vec<String> =
            (0..9).map(|i| (Some(i) == at || is_nothing && i == 8).to_string()).collect();
        format!("({})", flags.join(", "))
    };
    assert_eq!(tests(Val::Unit), shown(Some(0), true));
    assert_eq!(tests(1i64.into()), shown(Some(1), false));
    assert_eq!(tests(f64::NAN.into()), shown(Some(2), false));
    assert_eq!(tests("text".into()), shown(Some(3), false));
    assert_eq!(tests(Array::vector(&[1.0]).into()), shown(Some(4), false));
    assert_eq!(tests(Array::vector(&[1i64]).into()), shown(None, false));
    assert_eq!(tests(Val::tuple([1i64.into(), 2.0.into()])), shown(Some(5), false));
    assert_eq!(tests(Val::tuple([1i64.into(), 2i64.into()])), shown(None, false));
    assert_eq!(tests(true.into()), shown(None, false));
    assert_eq!(run(text, &[Val::Unit, 1i64.into()]), shown(Some(6), false));
    assert_eq!(run(text, &[Val::Unit, 2i64.into()]), shown(Some(7), false));
    assert_eq!(run(text, &[Val::Unit, 3i64.into()]), "1.5");
    for (value, case) in [(Val::Unit, 4i64), (Val::Unit, 5), (1.5.into(), 5), ("x".into(), 5)] {
        let error = run(text, &[value, case.into()]);
        assert!(error.contains("TypeError") && error.ends_with(" at %2 at %10"), "{error}");
    }
}

#[test]
fn cycles_of_objects_that_were_changed_are_found() {
    let text = "
mutable struct @Node { x: f64, next: any }
func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^3, ^4
^3:
  %4: @Node = data.new_object 1.0, nothing
  %5: any = core.convert %4
  %6: @Node = data.new_object 2.0, %5
  %7: any = core.convert %6
  %8: ref<any> = mem.ref_new %7
  %9: tuple<ref<any>, i64> = core.tuple %8, %2
  %10: any = core.convert %9
  %11: unit = data.setfield %4, :next, %10
  %12: any = core.convert nothing
  %13: ref<any> = mem.ref_new %12
  %14: any = core.convert %13
  %15: unit = mem.ref_set %13, %14
  %16: i64 = arith.add %2, 1
  br ^2(%16)
^4:
  return %2
}";
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let mut engine = Interpreter::new(&module(text));
        engine.set_engine(kind).expect("there is a back end for this machine");
        // Each round leaves two cycles, one of an object that was changed and one of a ref.
        engine.call("f", &[10i64.into()]).expect("it works");
        assert_eq!(live_containers(), 20, "{kind:?}");
        assert_eq!(collect_cycles(), 40, "{kind:?}");
        assert_eq!(live_containers(), 0, "{kind:?}");
        // Many take no more memory than is allowed.
        engine.set_limits(Limits { memory: 8 << 20, ..Limits::default() });
        engine.call("f", &[200_000i64.into()]).expect("it works");
        collect_cycles();
    }
}

#[test]
fn one_of_two_values_is_selected_and_the_other_let_go() {
    // The longest of new vectors, by lengths 1, 2, 0, 1, 2; what is selected is changed, and not what was selected before.
    let text = "
func @f(%2: i64) -> any {
^1:
  %1: array<f64, 1> = mem.array 1.0
  br ^2(%1, 0)
^2(%3: array<f64, 1>, %4: i64):
  %5: bool = arith.lt %4, %2
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %4, 1
  %7: i64 = arith.mod %6, 3
  %8: array<f64, 1> = mem.fill 2.5, %7
  %9: i64 = mem.length %3
  %10: bool = arith.gt %7, %9
  %11: array<f64, 1> = core.select %10, %8, %3
  %12: array<f64, 1> = core.select %10, %11, %11
  %13: f64 = mem.load %12, 1
  %14: f64 = arith.add %13, 1.0
  %15: unit = mem.store %12, %14, 1
  br ^2(%12, %6)
^4:
  %16: tuple<array<f64, 1>, array<f64, 1>> = core.tuple %1, %3
  return %16
}";
    assert_eq!(run(text, &[5i64.into()]), "([2.0], [6.5, 2.5])");
    for kind in [EngineKind::Interpreter, EngineKind::Cranelift] {
        let engine = common::native(&module(text), kind);
        nothing_stays(engine, |engine| call(engine, &[5i64.into()]));
    }
}
