//! Tests of types by native code.

mod common;

use common::{leaves_nothing, run_both as run};
use regraft_exec::Val;
use regraft_exec::value::Array;

/// Tests whether a value is of a type, then goes on with it as one of that type.
fn text(ty: &str) -> String {
    format!(
        "
struct @P {{ x: f64, y: i64 }}
struct @Q {{ x: f64, y: i64 }}
struct @Empty {{}}
mutable struct @M {{ x: f64 }}
func @f(%1: i64, %v: any) -> any {{
^1:
  switch %1, ^6, 1: ^2, 2: ^3, 3: ^4, 4: ^5
^2:
  %2: @P = data.new 1.5, 2
  br ^7(%2)
^3:
  %3: @Q = data.new 1.5, 2
  br ^7(%3)
^4:
  %4: @M = data.new_object 2.5
  br ^7(%4)
^5:
  %5: @Empty = data.new
  br ^7(%5)
^6:
  br ^7(%v)
^7(%x: any):
  %6: bool = core.isa %x, !{ty}
  %7: {ty} = core.typeassert %x
  %8: tuple<bool, {ty}> = core.tuple %6, %7
  %9: any = core.convert %8
  return %9
}}"
    )
}

#[test]
fn structs_are_told_by_their_types() {
    let others = [
        Val::Unit,
        Val::Bool(true),
        Val::I64(3),
        Val::F64(0.5),
        Val::str("text"),
        Val::tuple([Val::F64(1.5), Val::I64(2)]),
        Array::vector(&[1.5, 2.0]).into(),
    ];
    for (number, ty) in (1i64..).zip(["@P", "@Q", "@M", "@Empty"]) {
        let text = text(ty);
        for made in 1i64..=4 {
            let outcome = run(&text, &[made.into(), Val::Unit]);
            assert_eq!(outcome.starts_with("(true, "), made == number, "{ty}: {outcome}");
            assert_eq!(outcome.contains("TypeError"), made != number, "{ty}: {outcome}");
        }
        for other in &others {
            let outcome = run(&text, &[5i64.into(), other.clone()]);
            assert!(outcome.contains("TypeError"), "{ty}: {outcome}");
        }
        leaves_nothing(&text, &[number.into(), Val::Unit]);
    }
}
