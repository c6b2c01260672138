//! Arrays that keep tuples and structs of scalars unboxed: as a whole, and part by part, by the interpreter and by native code.

mod common;

use common::{leaves_nothing, module, native, run_both as run};
use regraft_exec::value::{Array, ElementType, Storage, Val, egal, live_bytes, same};
use regraft_exec::{Engine, EngineKind, Interpreter, native_engines};
use regraft_ir::Type;

/// Element types with all types of parts, a value of each, and as it is shown.
const ELEMENTS: [(&str, &str, &str); 6] = [
    (
        "tuple<bool, i8, i16, i32>",
        "core.tuple true, -128i8, 32767i16, -2147483648i32",
        "(true, -128, 32767, -2147483648)",
    ),
    (
        "tuple<i64, f32, f64, unit>",
        "core.tuple -9223372036854775808, -0.5f32, -0.0, nothing",
        "(-9223372036854775808, -0.5f0, -0.0, nothing)",
    ),
    ("{a: f64, b: i8}", "data.named 2.5, -1i8", "(a = 2.5, b = -1)"),
    ("@P", "data.new 1.5, 7", "P(1.5, 7)"),
    // In one another, in all ways.
    ("@Line", "data.new %p, %named, -3i8", "Line(P(1.5, 7), (a = (0.5f0, nothing), b = true), -3)"),
    ("tuple<tuple<@P, @P>, @P>", "core.tuple %pair, %p", "((P(1.5, 7), P(1.5, 7)), P(1.5, 7))"),
];

#[test]
fn elements_come_back_as_they_were_stored() {
    for (ty, value, shown) in ELEMENTS {
        let text = format!(
            "
struct @P {{x: f64, n: i64}}
struct @Line {{p: @P, q: {{a: tuple<f32, unit>, b: bool}}, n: i8}}
func @f(%i: i64) -> any {{
^1:
  %p: @P = data.new 1.5, 7
  %pair: tuple<@P, @P> = core.tuple %p, %p
  %inner: tuple<f32, unit> = core.tuple 0.5f32, nothing
  %named: {{a: tuple<f32, unit>, b: bool}} = data.named %inner, true
  %a: array<{ty}, 2> = mem.alloc 2, 3
  %v: {ty} = {value}
  mem.store %a, %v, 2, %i
  %k: i64 = arith.mul %i, 2
  %w: {ty} = mem.load %a, %k
  %b: array<{ty}, 1> = mem.array %w, %v
  %c: array<{ty}, 1> = mem.copy %b
  mem.push %c, %w
  %x: {ty} = mem.pop %c
  mem.resize %c, 4
  mem.copyto %c, %b
  %y: {ty} = mem.load %c, 2
  %d: array<{ty}, 1> = mem.fill %y, 3
  %z: {ty} = mem.load %d, %i
  %same: bool = core.same %z, %x
  %n: i64 = mem.length %c
  %r: tuple<{ty}, bool, i64> = core.tuple %z, %same, %n
  %any: any = core.convert %r
  return %any
}}"
        );
        let want = format!("({shown}, true, 4)");
        for i in 1..=3i64 {
            assert_eq!(run(&text, &[i.into()]), want, "{ty}");
        }
        assert!(run(&text, &[4i64.into()]).starts_with("BoundsError"), "{ty}");
    }
}

#[test]
fn elements_that_were_never_set_are_zeros() {
    let text = "
struct @P {x: f64, n: i64}
func @f() -> tuple<@P, bool, @P, i32> {
^1:
  %a: array<@P, 1> = mem.alloc 2
  %x: @P = mem.load %a, 2
  mem.resize %a, 5
  %y: @P = mem.load %a, 5
  %same: bool = core.same %x, %y
  %b: array<tuple<i32, unit>, 1> = mem.alloc 1
  %z: i32 = mem.load_part %b, 1 {part=1}
  %r: tuple<@P, bool, @P, i32> = core.tuple %x, %same, %y, %z
  return %r
}";
    assert_eq!(run(text, &[]), "(P(0.0, 0), true, P(0.0, 0), 0)");
}

const PARTS: &str = "
func @f(%i: i64, %part: i64) -> any {
^1:
  %a: array<tuple<f64, i32, bool>, 1> = mem.alloc 0
  mem.push_parts %a, 1.5, 7i32, true
  mem.push_parts %a, 2.5, -8i32, false
  mem.push_parts %a, 3.5, 9i32, true
  mem.store_part %a, -4.5, %i {part=1}
  mem.store_part %a, -6i32, %i {part=2}
  mem.store_part %a, false, %i {part=3}
  %x: f64 = mem.last_part %a {part=1}
  %y: i32 = mem.last_part %a {part=2}
  %z: bool = mem.last_part %a {part=3, inbounds=true}
  %last: tuple<f64, i32, bool> = mem.pop %a
  %n: i64 = mem.length %a
  %p: f64 = mem.load_part %a, %part {part=1}
  %q: i32 = mem.load_part %a, %part {part=2}
  %r: bool = mem.load_part %a, %part {part=3}
  %unused: f64 = mem.load_part %a, %part {part=1}
  %all: any = core.tuple %x, %y, %z, %last, %n, %p, %q, %r
  return %all
}";

#[test]
fn the_parts_of_what_is_in_an_element_take_its_place() {
    let text = "
struct @P {x: f64, n: i64}
func @f(%i: i64) -> any {
^1:
  %a: array<tuple<bool, @P, tuple<i8, f32>>, 1> = mem.alloc 2
  mem.push_parts %a, true, 1.5, -7, 3i8, 0.5f32
  mem.store_part %a, 2.5, %i {part=2}
  mem.store_part %a, -4i8, %i {part=4}
  %x: i64 = mem.load_part %a, 3 {part=3}
  %y: f32 = mem.last_part %a {part=5}
  %z: f64 = mem.load_part %a, %i {part=2}
  %whole: tuple<bool, @P, tuple<i8, f32>> = mem.load %a, %i
  %last: tuple<bool, @P, tuple<i8, f32>> = mem.pop %a
  %all: any = core.tuple %x, %y, %z, %whole, %last
  return %all
}";
    let last = "(true, P(1.5, -7), (3, 0.5f0))";
    let set = "(false, P(2.5, 0), (-4, 0.0f0))";
    assert_eq!(run(text, &[1i64.into()]), format!("(-7, 0.5f0, 2.5, {set}, {last})"));
    let set = "(true, P(2.5, -7), (-4, 0.5f0))";
    assert_eq!(run(text, &[3i64.into()]), format!("(-7, 0.5f0, 2.5, {set}, {set})"));
    leaves_nothing(text, &[1i64.into()]);
}

#[test]
fn parts_are_loaded_and_stored_one_by_one() {
    let pair = |i: i64, part: i64| run(PARTS, &[i.into(), part.into()]);
    assert_eq!(pair(1, 1), "(3.5, 9, true, (3.5, 9, true), 2, -4.5, -6, false)");
    assert_eq!(pair(1, 2), "(3.5, 9, true, (3.5, 9, true), 2, 2.5, -8, false)");
    assert_eq!(pair(3, 1), "(-4.5, -6, false, (-4.5, -6, false), 2, 1.5, 7, true)");
    let out = |index: i64| format!("2-element array<tuple<f64, i32, bool>, 1> at index [{index}]");
    assert!(pair(1, 3).contains(&out(3)), "{}", pair(1, 3));
    assert!(pair(1, 0).contains(&out(0)), "{}", pair(1, 0));
    assert!(pair(4, 1).starts_with("BoundsError"), "{}", pair(4, 1));
    leaves_nothing(PARTS, &[1i64.into(), 2i64.into()]);
}

/// Native code appends elements in memory that others have left, and stores integers over longer ones.
#[test]
fn arrays_of_the_same_elements_are_the_same_whoever_stored_them() {
    let text = "
func @f(%n: i64) -> array<{a: bool, b: i8, c: f32, d: unit}, 1> {
^1:
  %a: array<{a: bool, b: i8, c: f32, d: unit}, 1> = mem.alloc 0
  br ^2(0)
^2(%i: i64):
  %1: bool = arith.lt %i, %n
  br %1, ^3, ^4
^3:
  mem.push_parts %a, true, -1i8, -2.5f32, nothing
  %2: i64 = arith.add %i, 1
  mem.store_part %a, false, %2 {part=1}
  mem.store_part %a, 7i8, %2 {part=2}
  br ^2(%2)
^4:
  return %a
}";
    let module = module(text);
    let mut interpreter = Interpreter::new(&module);
    interpreter.set_engine(EngineKind::Interpreter).expect("it is always there");
    for engine in native_engines() {
        let mut native = native(&module, engine);
        for n in [1i64, 3, 4, 5, 100] {
            // Memory that is full of ones goes back just before.
            drop((1..400).map(|words| vec![u64::MAX; words]).collect::<Vec<_>>());
            let [found, want] =
                [&mut native, &mut interpreter].map(|e| e.call("f", &[n.into()]).expect("it runs"));
            assert!(same(&found, &want), "{} of {}", n, native.name());
        }
    }
}

#[test]
fn the_last_part_of_none_is_an_error() {
    let text = |inst: &str| {
        format!(
            "
func @f() -> i64 {{
^1:
  %a: array<tuple<i64, f64>, 1> = mem.alloc 0
  {inst}
  return 1
}}"
        )
    };
    for inst in ["%x: i64 = mem.last_part %a {part=1}", "%x: tuple<i64, f64> = mem.pop %a"] {
        let error = run(&text(inst), &[]);
        assert!(error.starts_with("ArgumentError: the array must not be empty"), "{error}");
    }
}

#[test]
fn an_element_takes_a_word_for_each_part() {
    let ctx = regraft_dialects::context();
    let pair = ElementType::of(&ctx, ctx.tuple_type(&[Type::F64, Type::I64]));
    let before = live_bytes();
    let array = Array::new(pair, &[1000]).expect("it is small");
    let took = live_bytes() - before;
    assert!((16_000..16_200).contains(&took), "{took} bytes");
    let values =
        |x: f64| [Val::tuple([Val::F64(x), Val::I64(1)]), Val::tuple([1.0.into(), 2i64.into()])];
    let of = |x| Val::from(Array::of_values(pair, &values(x), &[2]).expect("they fit"));
    assert!(same(&of(f64::NAN), &of(f64::NAN)) && !same(&of(0.0), &of(-0.0)));
    assert!(!egal(&of(1.0), &of(1.0)), "an array is an object");
    // Nothing but such a tuple is an element.
    let others = [
        Val::tuple([Val::F64(1.0), Val::F64(1.0)]),
        Val::tuple([Val::F64(1.0)]),
        Val::named(&ctx, [("a", Val::F64(1.0)), ("b", Val::I64(1))]),
        Val::F64(1.0),
    ];
    let pairs = ElementType::of(&ctx, ctx.tuple_type(&[pair.ty(), pair.ty()]));
    let nested = Array::new(pairs, &[1]).expect("it is small");
    let one = || Val::tuple([Val::F64(1.0), Val::I64(1)]);
    assert!(nested.set(0, Val::tuple([one(), one()])));
    for other in &others {
        assert!(!nested.set(0, Val::tuple([one(), other.clone()])), "{other:?}");
    }
    for other in others {
        assert!(!array.set(0, other.clone()) && array.push(other.clone()).is_err(), "{other:?}");
        assert!(Array::filled(pair, &[2], &other).is_err(), "{other:?}");
    }
}

#[test]
fn elements_of_other_types_are_values() {
    let ctx = regraft_dialects::context();
    let floats = |count| ctx.tuple_type(&vec![Type::F64; count]);
    let nothing = ctx.tuple_type(&[Type::UNIT]);
    let empty = ctx.tuple_type(&[ctx.tuple_type(&[]), Type::F64]);
    let with_text = ctx.tuple_type(&[floats(2), ctx.tuple_type(&[Type::F64, Type::STR])]);
    let nested = |first, second| ctx.tuple_type(&[floats(first), floats(second)]);
    let deep = (1..9).fold(floats(1), |inner, _| ctx.tuple_type(&[inner]));
    let all = [
        (floats(16), true),
        (floats(17), false),
        (nested(8, 8), true),
        (nested(8, 9), false),
        (deep, false),
        (nothing, false),
        (empty, false),
        (with_text, false),
    ];
    for (ty, unboxed) in all {
        let array = Array::new(ElementType::of(&ctx, ty), &[3]).expect("it is small");
        let ty = ctx.type_text(ty);
        assert_eq!(matches!(array.storage(), Storage::Unboxed(_)), unboxed, "{ty}");
        assert_eq!(array.get(0).is_some(), unboxed, "{ty}: values are not defined yet");
    }
}

/// An argument from Rust may be of another type than the code was made for: nothing is read as what it is not.
#[test]
fn an_array_of_another_type_is_no_argument() {
    let text = "
func @f(%a: array<tuple<f64, f64>, 1>) -> f64 {
^1:
  %x: f64 = mem.load_part %a, 1 {part=1}
  return %x
}";
    let mut engine = Interpreter::new(&module(text));
    let error = engine.call("f", &[Array::vector(&[1.0]).into()]).expect_err("it is another type");
    assert!(error.message().contains("array"), "{}", error.message());
}
