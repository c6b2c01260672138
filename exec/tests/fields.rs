//! Fields of typed code, which have instructions of their own, agree with fields of code that
//! knows no types.

mod common;

use regraft_exec::{Engine, Val, show_string};

const OBJECTS: &str = r#"
mutable struct @All { a: bool, b: i8, c: i16, d: i32, e: i64, f: f32, g: f64, h: any, s: str }
func @make() -> @All {
^1:
  %1: @All = data.new_object false, 1i8, 2i16, 3i32, 4, 5.0f32, 6.0, 7, "eight"
  return %1
}
func @scalars(%x: @All) -> any {
^1:
  %1: bool = data.getfield %x, :a
  %2: i8 = data.getfield %x, :b
  %3: i16 = data.getfield %x, 3
  %4: i32 = data.getfield %x, :d
  %5: i64 = data.getfield %x, :e
  %6: f32 = data.getfield %x, :f
  %7: f64 = data.getfield %x, 7
  %8 = data.getfield %x, :h
  %9: str = data.getfield %x, :s
  %10 = core.tuple %1, %2, %3, %4, %5, %6, %7, %8, %9
  return %10
}
func @dynamic(%x) -> any {
^1:
  %1 = data.getfield %x, :a
  %2 = data.getfield %x, :b
  %3 = data.getfield %x, 3
  %4 = data.getfield %x, :d
  %5 = data.getfield %x, :e
  %6 = data.getfield %x, :f
  %7 = data.getfield %x, 7
  %8 = data.getfield %x, :h
  %9 = data.getfield %x, :s
  %10 = core.tuple %1, %2, %3, %4, %5, %6, %7, %8, %9
  return %10
}
func @set(%x: @All, %a: bool, %b: i8, %d: i32, %g: f64, %s: str) -> unit {
^1:
  data.setfield %x, :a, %a
  data.setfield %x, :b, %b
  data.setfield %x, 4, %d
  data.setfield %x, :g, %g
  data.setfield %x, :h, %g
  data.setfield %x, :s, %s
  return nothing
}
func @set_any(%x: @All, %s) -> unit {
^1:
  data.setfield %x, :s, %s
  return nothing
}
func @out_of_range(%x: @All) -> any {
^1:
  %1 = data.getfield %x, 10
  return %1
}
func @refs(%r: ref<f64>, %q: ref<any>, %x: f64) -> any {
^1:
  %1: f64 = mem.ref_get %r
  %2 = mem.ref_get %q
  mem.ref_set %r, %x
  mem.ref_set %q, %x
  %3: f64 = mem.ref_get %r
  %4 = mem.ref_get %q
  %5 = core.tuple %1, %2, %3, %4
  return %5
}
func @values(%x: {a: i32, b: str}, %t: tuple<bool, f32>) -> any {
^1:
  %1: i32 = data.getfield %x, :a
  %2: str = data.getfield %x, :b
  %3: bool = core.get %t, 1
  %4: f32 = data.getfield %t, 2
  %5 = core.tuple %1, %2, %3, %4
  return %5
}
"#;

#[test]
fn typed_fields_are_those_of_dynamic_code() {
    let mut engine = common::engine(OBJECTS);
    let object = engine.call("make", &[]).unwrap();
    let first = "(false, 1, 2, 3, 4, 5.0f0, 6.0, 7, \"eight\")";
    for function in ["scalars", "dynamic"] {
        assert_eq!(common::shown(&mut engine, function, std::slice::from_ref(&object)), first);
    }
    let set =
        [object.clone(), true.into(), Val::I8(-1), Val::I32(-3), Val::F64(-6.5), Val::str("other")];
    engine.call("set", &set).unwrap();
    let then = "(true, -1, 2, -3, 4, 5.0f0, -6.5, -6.5, \"other\")";
    for function in ["scalars", "dynamic"] {
        assert_eq!(common::shown(&mut engine, function, std::slice::from_ref(&object)), then);
    }
    engine.call("set_any", &[object.clone(), Val::str("x")]).unwrap();
    let error = engine.call("set_any", &[object.clone(), Val::I64(1)]).unwrap_err().message();
    assert!(error.starts_with("TypeError") && error.contains("str"), "{error}");
    let error = engine.call("out_of_range", &[object]).unwrap_err().message();
    assert!(error.starts_with("BoundsError"), "{error}");
}

#[test]
fn refs_and_values_have_fields_too() {
    let mut engine = common::engine(OBJECTS);
    let r = Val::reference(regraft_ir::Type::F64, Val::F64(1.0));
    let q = Val::reference(regraft_ir::Type::ANY, Val::str("a"));
    let refs = engine.call("refs", &[r, q, Val::F64(2.5)]).unwrap();
    assert_eq!(show_string(engine.ctx(), &refs), "(1.0, \"a\", 2.5, 2.5)");
    let named = Val::named(engine.ctx(), [("a", Val::I32(3)), ("b", Val::str("c"))]);
    let tuple = Val::tuple([Val::Bool(true), Val::F32(0.5)]);
    assert_eq!(common::shown(&mut engine, "values", &[named, tuple]), "(3, \"c\", true, 0.5f0)");
}
