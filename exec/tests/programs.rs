//! Whole programs: control flow, parallel copies, calls, data.

mod common;

use common::{engine, run, shown};
use regraft_exec::value::{Array, ElementType, Val};
use regraft_exec::{Engine, to_json};

const POW: &str = "
func @f(%1: f64, %2: i64) -> f64 {
^1:
  br ^2(%2, 1.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt 0, %3
  br %5, ^3, ^4
^3:
  %6: i64 = arith.sub %3, 1
  %7: f64 = arith.mul %4, %1
  br ^2(%6, %7)
^4:
  return %4
}";

#[test]
fn pow_of_the_irtools_documentation() {
    assert_eq!(run(POW, &[5.0.into(), 3i64.into()]), "125.0");
    assert_eq!(run(POW, &[5.0.into(), 0i64.into()]), "1.0");
    assert_eq!(run(POW, &[2.0.into(), 10i64.into()]), "1024.0");
}

#[test]
fn gcd() {
    let text = "
func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(%1, %2)
^2(%a: i64, %b: i64):
  %c: bool = arith.eq %b, 0
  br %c, ^4, ^3
^3:
  %r: i64 = arith.rem %a, %b
  br ^2(%b, %r)
^4:
  return %a
}";
    assert_eq!(run(text, &[85i64.into(), 391i64.into()]), "17");
}

#[test]
fn swapped_and_rotated_parameters_are_copied_at_once() {
    let swap = "
func @f(%1: i64, %2: i64, %3: i64) -> tuple<i64, i64> {
^1:
  br ^2(%1, %2, %3)
^2(%a: i64, %b: i64, %n: i64):
  %go: bool = arith.gt %n, 0
  br %go, ^3, ^4
^3:
  %m: i64 = arith.sub %n, 1
  br ^2(%b, %a, %m)
^4:
  %r: tuple<i64, i64> = core.tuple %a, %b
  return %r
}";
    for n in 0..6i64 {
        let want = if n % 2 == 0 { "(10, 20)" } else { "(20, 10)" };
        assert_eq!(run(swap, &[10i64.into(), 20i64.into(), n.into()]), want);
    }
    // The same with values that are no scalars, and on both edges of a branch.
    let rotate = "
func @f(%1: any, %2: any, %3: any, %4: i64) -> any {
^1:
  br ^2(%1, %2, %3, %4)
^2(%a: any, %b: any, %c: any, %n: i64):
  %m: i64 = arith.sub %n, 1
  %go: bool = arith.ge %m, 0
  br %go, ^2(%b, %c, %a, %m), ^3(%c, %a, %b)
^3(%x: any, %y: any, %z: any):
  %r: tuple<any, any, any> = core.tuple %y, %z, %x
  return %r
}";
    for n in 0..7usize {
        let items = ["1", "2.5", "\"x\""];
        let at = |i: usize| items[(i + n) % 3];
        let want = format!("({}, {}, {})", at(0), at(1), at(2));
        let args: [Val; 4] = [1i64.into(), 2.5.into(), "x".into(), (n as i64).into()];
        assert_eq!(run(rotate, &args), want);
    }
}

#[test]
fn irreducible_control_flow() {
    // Two blocks that jump into each other, entered at either.
    let text = "
func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(%2), ^3(%2)
^2(%a: i64):
  %b: i64 = arith.sub %a, 1
  br ^3(%b)
^3(%c: i64):
  %d: i64 = arith.sub %c, 10
  %e: bool = arith.gt %d, 0
  br %e, ^2(%d), ^4
^4:
  return %d
}";
    // From ^2: 25, 24, 14, 13, 3, 2, -8. From ^3: 25, 15, 14, 4, 3, -7.
    assert_eq!(run(text, &[true.into(), 25i64.into()]), "-8");
    assert_eq!(run(text, &[false.into(), 25i64.into()]), "-7");
}

#[test]
fn switches_on_scalars_symbols_and_dynamic_values() {
    let text = "
func @f(%1: i64) -> str {
^1:
  switch %1, ^2, -1: ^3, 7: ^4(\"seven\"), 1000: ^4(\"thousand\")
^2:
  return \"default\"
^3:
  return \"minus one\"
^4(%2: str):
  return %2
}
func @g(%1: any) -> i64 {
^1:
  switch %1, ^2, :a: ^3, :b: ^4
^2:
  return 0
^3:
  return 1
^4:
  return 2
}";
    let mut e = engine(text);
    for (x, want) in [(-1i64, "minus one"), (7, "seven"), (1000, "thousand"), (8, "default")] {
        assert_eq!(shown(&mut e, "f", &[x.into()]), format!("{want:?}"));
    }
    let symbol = |name| Val::Sym(e.ctx().symbol(name));
    let (a, b, c) = (symbol("a"), symbol("b"), symbol("c"));
    assert_eq!(shown(&mut e, "g", &[a]), "1");
    assert_eq!(shown(&mut e, "g", &[b]), "2");
    assert_eq!(shown(&mut e, "g", &[c]), "0");
    assert_eq!(shown(&mut e, "g", &[3.5.into()]), "0");
}

#[test]
fn calls_of_functions_closures_and_splats() {
    let text = "
struct @Adder {x: i64} call @add_to
func @add_to(%1: @Adder, %2: i64) -> i64 {
^1:
  %3: i64 = data.getfield %1, :x
  %4: i64 = arith.add %3, %2
  return %4
}
func @twice(%1: any, %2: any) -> any {
^1:
  %3 = core.apply %1, %2
  %4 = core.apply %1, %3
  return %4
}
func @fact(%1: i64) -> i64 {
^1:
  %2: bool = arith.le %1, 1
  br %2, ^2, ^3
^2:
  return 1
^3:
  %3: i64 = arith.sub %1, 1
  %4: i64 = call @fact(%3)
  %5: i64 = arith.mul %1, %4
  return %5
}
func @f(%1: i64) -> any {
^1:
  %2: @Adder = data.new 10
  %3 = call @twice(%2, %1)
  %4: i64 = core.typeassert %3
  %5 = call @twice(@fact, 3)
  %6: tuple<fn<@fact>, i64> = core.tuple @fact, 5
  %8 = core.splat @twice, %6
  %9 = call @any_to_any(%4)
  %10: tuple<i64, any, any, any> = core.tuple %4, %5, %8, %9
  return %10
}
func @any_to_any(%1: any) -> any {
^1:
  return %1
}";
    // 1 + 10 + 10; fact(fact(3)) = 720; fact(fact(5)) wraps around, as 120! has 2^116 in it: 0.
    assert_eq!(run(text, &[1i64.into()]), "(21, 720, 0, 21)");
}

#[test]
fn calling_what_cannot_be_called_says_so() {
    let text = "
func @g(%1: i64) -> i64 {
^1:
  return %1
}
func @f(%1: any, %2: any) -> any {
^1:
  %3 = core.apply %1, %2
  return %3
}";
    let mut e = engine(text);
    let g = Val::Func(e.ctx().symbol("g"));
    assert_eq!(shown(&mut e, "f", &[g.clone(), 1i64.into()]), "1");
    let wrong = shown(&mut e, "f", &[g, 1.0.into()]);
    assert_eq!(wrong, "MethodError: argument 1 of @g is of type f64, expected i64");
    let wrong = shown(&mut e, "f", &[2.0.into(), 1i64.into()]);
    assert_eq!(wrong, "MethodError: a value of type Float64 cannot be called");
    let error = e.call("ff", &[]).expect_err("there is none");
    assert_eq!(error.message(), "there is no function @ff");
    assert_eq!(error.to_diagnostic().help_text(), Some("did you mean @f?"));
    let error = e.call("f", &[]).expect_err("two are needed");
    assert_eq!(error.message(), "@f takes 2 arguments, found 0");
}

#[test]
fn dynamic_arithmetic_has_the_semantics_of_typed() {
    let text = "
func @f(%1: any, %2: any) -> any {
^1:
  %3 = arith.add %1, %2
  %4: bool = arith.lt %1, %2
  %5: tuple<any, bool> = core.tuple %3, %4
  return %5
}";
    assert_eq!(run(text, &[1i64.into(), 2i64.into()]), "(3, true)");
    assert_eq!(run(text, &[i8::MAX.into(), 1i8.into()]), "(-128, false)");
    assert_eq!(run(text, &[1.5f32.into(), 2.0f32.into()]), "(3.5f0, true)");
    assert_eq!(
        run(text, &[1i64.into(), 2.0.into()]),
        "TypeError: `arith.add` does not work on i64, f64"
    );
}

#[test]
fn arrays_are_column_major_and_checked() {
    let text = "
func @f(%1: i64, %2: i64) -> any {
^1:
  %a: array<f64, 2> = mem.alloc 2, 3
  %s1: unit = mem.store %a, 5.0, %1, %2
  %x: f64 = mem.load %a, 2, 1
  %y: f64 = mem.load %a, 2
  %n: i64 = mem.length %a
  %d: tuple<i64, i64> = mem.shape %a
  %r: tuple<array<f64, 2>, f64, f64, i64, tuple<i64, i64>> = core.tuple %a, %x, %y, %n, %d
  return %r
}";
    assert_eq!(
        run(text, &[2i64.into(), 1i64.into()]),
        "([0.0 0.0 0.0; 5.0 0.0 0.0], 5.0, 5.0, 6, (2, 3))"
    );
    assert_eq!(
        run(text, &[3i64.into(), 1i64.into()]),
        "BoundsError: attempt to access 2×3 array<f64, 2> at index [3, 1]"
    );
    assert_eq!(
        run(text, &[1i64.into(), 0i64.into()]),
        "BoundsError: attempt to access 2×3 array<f64, 2> at index [1, 0]"
    );
}

#[test]
fn vectors_grow_and_shrink() {
    let text = "
func @f() -> any {
^1:
  %a: array<i64, 1> = mem.array 1, 2
  %1: unit = mem.push %a, 3
  %2: i64 = mem.pop %a
  %3: unit = mem.resize %a, 4
  %b: array<i64, 1> = mem.copy %a
  %4: unit = mem.fill_in_place %a, 7
  %5: unit = mem.copyto %a, %b
  %6: unit = mem.store %b, 9, 4
  %s: array<sym, 1> = mem.alloc 1
  %7: unit = mem.push %s, :x
  %r: tuple<array<i64, 1>, array<i64, 1>, i64, array<sym, 1>> = core.tuple %a, %b, %2, %s
  return %r
}
func @undefined() -> sym {
^1:
  %s: array<sym, 1> = mem.alloc 1
  %x: sym = mem.load %s, 1
  return %x
}
func @empty() -> i64 {
^1:
  %s: array<i64, 1> = mem.alloc 0
  %x: i64 = mem.pop %s
  return %x
}";
    let mut e = engine(text);
    assert_eq!(shown(&mut e, "f", &[]), "([1, 2, 0, 0], [1, 2, 0, 9], 3, [#undef, :x])");
    assert!(shown(&mut e, "undefined", &[]).starts_with("UndefRefError"));
    assert_eq!(shown(&mut e, "empty", &[]), "ArgumentError: the array must not be empty");
}

#[test]
fn structs_named_tuples_and_refs() {
    let text = "
struct @P {x: f64, y: i64}
mutable struct @C {count: i64, next: any}
func @f() -> any {
^1:
  %p: @P = data.new 1.0, 2
  %q: @P = data.new 1.0, 2
  %c: @C = data.new_object 1, nothing
  %d: @C = data.new_object 1, nothing
  %1: unit = data.setfield %c, :count, 5
  %2: i64 = data.getfield %c, 1
  %n: {a: f64, b: i64} = data.named 1.0, 2
  %3: bool = core.same %p, %q
  %4: bool = core.same %c, %d
  %5: bool = data.hasfield %n, :b
  %6: i64 = data.fieldcount %p
  %r: ref<i64> = mem.ref_new 1
  %7: unit = mem.ref_set %r, 8
  %8: i64 = mem.ref_get %r
  %t: tuple<@P, @C, {a: f64, b: i64}, i64, bool, bool, bool, i64, i64> = core.tuple %p, %c, %n, %2, %3, %4, %5, %6, %8
  return %t
}
func @missing(%1: any) -> any {
^1:
  %2 = data.getfield %1, :count
  return %2
}";
    let mut e = engine(text);
    assert_eq!(
        shown(&mut e, "f", &[]),
        "(P(1.0, 2), C(5, nothing), (a = 1.0, b = 2), 5, true, false, true, 2, 8)"
    );
    let named = Val::named(e.ctx(), [("counts", 1i64.into())]);
    let error = e.call("missing", &[named]).expect_err("no such field");
    assert_eq!(error.message(), "FieldError: type {counts: i64} has no field `count`");
    assert_eq!(error.to_diagnostic().help_text(), Some("did you mean `counts`?"));
}

#[test]
fn output_is_kept_and_printed_as_julia_does() {
    let text = "
func @f() -> str {
^1:
  %1: unit = core.println \"x = \", 1.0, \" \", 2.5f32, \" \", :sym, \" \", true, \" \", nothing
  %2: tuple<f32, str> = core.tuple 1.0f32, \"a\\\"b\"
  %3: unit = core.print %2
  %4: str = core.string \"n=\", 3
  return %4
}";
    let mut e = engine(text);
    assert_eq!(shown(&mut e, "f", &[]), "\"n=3\"");
    assert_eq!(e.take_output(), "x = 1.0 2.5 sym true nothing\n(1.0f0, \"a\\\"b\")");
}

#[test]
fn values_show_as_in_julia_and_as_json() {
    let ctx = regraft_dialects::context();
    let array = |items: &[f64], dims: &[usize]| Val::from(Array::of(items, dims).expect("it fits"));
    let show = |value: &Val| regraft_exec::show_string(&ctx, value);
    let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let cases: Vec<(Val, &str, &str)> = vec![
        (array(&six[..2], &[2]), "[1.0, 2.0]", "[1.0, 2.0]"),
        (array(&six[..4], &[2, 2]), "[1.0 3.0; 2.0 4.0]", "[[1.0, 2.0], [3.0, 4.0]]"),
        (array(&six[..2], &[1, 2]), "[1.0 2.0]", "[[1.0], [2.0]]"),
        (array(&six[..2], &[2, 1]), "[1.0; 2.0;;]", "[[1.0, 2.0]]"),
        (
            array(&six, &[1, 2, 3]),
            "[1.0 2.0;;; 3.0 4.0;;; 5.0 6.0]",
            "[[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]]]",
        ),
        (array(&[], &[0]), "Float64[]", "[]"),
        (array(&[], &[0, 3]), "Matrix{Float64}(undef, 0, 3)", "[]"),
        (Array::vector(&[true, false]).into(), "Bool[1, 0]", "[true, false]"),
        (Array::vector(&[1.0f32]).into(), "Float32[1.0]", "[1.0]"),
        (Array::vector(&[1i64, -2]).into(), "[1, -2]", "[1, -2]"),
        (Array::vector(&[1i32]).into(), "Int32[1]", "[1]"),
        (Val::tuple([1.0.into()]), "(1.0,)", "[1.0]"),
        (Val::tuple([]), "()", "[]"),
        (Val::named(&ctx, [("a", 1i64.into())]), "(a = 1,)", "{\"a\": 1}"),
        (f64::NAN.into(), "NaN", "\"NaN\""),
        (f64::NEG_INFINITY.into(), "-Inf", "\"-Inf\""),
        (1e20.into(), "1.0e20", "1e20"),
        (Val::from("a$b\n"), "\"a\\$b\\n\"", "\"a$b\\n\""),
        (Val::Sym(ctx.symbol("a b")), "Symbol(\"a b\")", "\"a b\""),
        (Val::Sym(ctx.symbol("+")), ":+", "\"+\""),
        (
            Val::Type(ctx.array_type(regraft_ir::Type::F64, 2)),
            "Matrix{Float64}",
            "\"!array<f64, 2>\"",
        ),
    ];
    for (value, shown, json) in cases {
        assert_eq!(show(&value), shown);
        assert_eq!(to_json(&ctx, &value), json);
    }
}

#[test]
fn elements_do_not_repeat_the_type_that_their_array_has_said() {
    let ctx = regraft_dialects::context();
    let array = |items: Vec<Val>| {
        let dims = [items.len()];
        Val::from(
            Array::of_values(ElementType::of(&ctx, items[0].type_of(&ctx)), &items, &dims)
                .expect("it fits"),
        )
    };
    let any = |items: Vec<Val>| {
        let dims = [items.len()];
        Val::from(Array::of_values(ElementType::ANY, &items, &dims).expect("it fits"))
    };
    let singles = || Val::from(Array::vector(&[1.0f32, 2.5]));
    for (value, shown) in [
        (array(vec![singles()]), "Vector{Float32}[[1.0, 2.5]]"),
        (array(vec![Array::vector::<f32>(&[]).into()]), "Vector{Float32}[[]]"),
        (array(vec![Array::vector::<f64>(&[]).into()]), "[Float64[]]"),
        (array(vec![any(vec![1i64.into()])]), "Vector{Any}[[1]]"),
        (any(vec![any(vec![1i64.into()]), singles()]), "Any[Any[1], Float32[1.0, 2.5]]"),
        (array(vec![Val::tuple([true.into(), 1.0f32.into()])]), "Tuple{Bool, Float32}[(1, 1.0)]"),
        (array(vec![Val::named(&ctx, [("a", true.into())])]), "@NamedTuple{a::Bool}[(a = 1,)]"),
        (Val::tuple([true.into(), 1.0f32.into()]), "(true, 1.0f0)"),
    ] {
        assert_eq!(regraft_exec::show_string(&ctx, &value), shown);
    }
}

#[test]
fn loop_variables_that_are_written_in_place_do_not_disturb_each_other() {
    // Each of these would go wrong if an instruction wrote to the register of a parameter that
    // somebody still reads, or if two did.
    let both_edges = "
func @f(%1: i64, %2: bool) -> i64 {
^1:
  br ^2(%1)
^2(%p: i64):
  %a: i64 = arith.add %p, 1
  %b: i64 = arith.add %p, 100
  %done: bool = arith.gt %p, 50
  br %done, ^3(%p), ^4
^4:
  %c: i64 = arith.add %p, 1
  %d: i64 = arith.add %p, 10
  br %2, ^2(%c), ^2(%d)
^3(%r: i64):
  %s: i64 = arith.sub %r, %a
  %t: i64 = arith.add %s, %b
  return %t
}";
    // Leaves with p = 51: 51 - 52 + 151; with p = 60: 60 - 61 + 160.
    assert_eq!(run(both_edges, &[0i64.into(), true.into()]), "150");
    assert_eq!(run(both_edges, &[0i64.into(), false.into()]), "159");
    // The inner loop reads %base each time; %down, which only one of its exits passes to %base, is
    // computed before the other one goes round.
    let nested = "
func @f(%1: i64) -> i64 {
^1:
  br ^2(%1, 0)
^2(%base: i64, %rounds: i64):
  %more: bool = arith.lt %rounds, 45
  br %more, ^3, ^6
^3:
  br ^4(0, %rounds)
^4(%i: i64, %r: i64):
  %at: i64 = arith.sub %base, %i
  %down: i64 = arith.sub %at, 1
  %next: i64 = arith.add %i, 1
  %s: i64 = arith.add %r, %at
  %again: bool = arith.lt %i, 2
  br %again, ^4(%next, %s), ^2(%down, %s)
^6:
  return %rounds
}";
    // 9 + 8 + 7, 6 + 5 + 4, 3 + 2 + 1.
    assert_eq!(run(nested, &[9i64.into()]), "45");
    let fibonacci = "
func @f(%1: i64) -> i64 {
^1:
  br ^2(%1, 0, 1)
^2(%n: i64, %a: i64, %b: i64):
  %m: i64 = arith.sub %n, 1
  %c: i64 = arith.add %a, %b
  %go: bool = arith.gt %n, 1
  br %go, ^2(%m, %b, %c), ^3
^3:
  return %b
}";
    assert_eq!(run(fibonacci, &[10i64.into()]), "55");
    let twice = "
func @f(%1: i64) -> tuple<i64, i64, i64> {
^1:
  br ^2(%1, 0, 0, 7)
^2(%n: i64, %a: i64, %b: i64, %old: i64):
  %go: bool = arith.gt %n, 0
  br %go, ^3, ^4
^3:
  %m: i64 = arith.sub %n, 1
  %x: i64 = arith.add %a, %m
  br ^2(%m, %x, %x, %a)
^4:
  %r: tuple<i64, i64, i64> = core.tuple %a, %b, %old
  return %r
}";
    // The sums of 2, 1, 0, and the one before the last.
    assert_eq!(run(twice, &[3i64.into()]), "(3, 3, 3)");
    assert_eq!(run(twice, &[2i64.into()]), "(1, 1, 1)");
    assert_eq!(run(twice, &[1i64.into()]), "(0, 0, 0)");
}

#[test]
fn mixed_edges_box_and_convert_before_scalars_move() {
    let text = "
func @f(%1: i64, %2: f64) -> any {
^1:
  br ^2(%1, %2, :start, 3)
^2(%a: i64, %x: f64, %y: any, %n: i64):
  %m: i64 = arith.sub %n, 1
  %b: i64 = arith.add %a, 1
  %z: f64 = arith.mul %x, 2.0
  %go: bool = arith.gt %m, 0
  br %go, ^2(%b, %z, %a, %m), ^3
^3:
  %r: tuple<i64, f64, any> = core.tuple %a, %x, %y
  return %r
}";
    assert_eq!(run(text, &[1i64.into(), 1.0.into()]), "(3, 4.0, 2)");
}
