//! Elements of arrays of every scalar type, and conversions of scalars.

mod common;

use common::run;
use regraft_exec::value::Val;

/// Stores and loads an element by one index and by two.
fn through_an_array(ty: &str, value: &str, i: i64) -> [String; 2] {
    let one = format!(
        "
func @f(%i: i64) -> tuple<{ty}, i64> {{
^1:
  %a: array<{ty}, 1> = mem.alloc 3
  %s: unit = mem.store %a, {value}, %i
  %x: {ty} = mem.load %a, %i
  %n: i64 = mem.length %a
  %r: tuple<{ty}, i64> = core.tuple %x, %n
  return %r
}}"
    );
    // The element is loaded by its number in memory: column by column.
    let two = format!(
        "
func @f(%i: i64) -> tuple<{ty}, {ty}> {{
^1:
  %a: array<{ty}, 2> = mem.alloc 2, 3
  %s: unit = mem.store %a, {value}, 2, %i
  %x: {ty} = mem.load %a, 2, %i
  %k: i64 = arith.mul %i, 2
  %y: {ty} = mem.load %a, %k
  %r: tuple<{ty}, {ty}> = core.tuple %x, %y
  return %r
}}"
    );
    [run(&one, &[Val::I64(i)]), run(&two, &[Val::I64(i)])]
}

#[test]
fn elements_of_every_scalar_type_are_stored_and_loaded() {
    for (ty, value, shown) in [
        ("bool", "true", "true"),
        ("i8", "-128i8", "-128"),
        ("i16", "-32768i16", "-32768"),
        ("i32", "-2147483648i32", "-2147483648"),
        ("i64", "-9223372036854775808", "-9223372036854775808"),
        ("f32", "-0.5f32", "-0.5f0"),
        ("f64", "-0.0", "-0.0"),
    ] {
        for i in 1..=3 {
            let expected = [format!("({shown}, 3)"), format!("({shown}, {shown})")];
            assert_eq!(through_an_array(ty, value, i), expected, "{ty}");
        }
    }
}

#[test]
fn elements_that_are_not_there_are_errors() {
    for (ty, value) in [("bool", "true"), ("i64", "1"), ("f64", "1.0")] {
        for i in [0, 4, -1, i64::MIN, i64::MAX] {
            for error in through_an_array(ty, value, i) {
                assert!(error.starts_with("BoundsError"), "{ty} at {i}: {error}");
            }
        }
    }
}

#[test]
fn conversions_of_scalars_keep_the_number() {
    let convert = |from: &str, to: &str, x: Val| {
        let text = format!(
            "func @f(%x: {from}) -> {to} {{\n^1:\n  %y: {to} = core.convert %x\n  return %y\n}}"
        );
        run(&text, &[x])
    };
    assert_eq!(convert("bool", "i64", Val::Bool(true)), "1");
    assert_eq!(convert("bool", "f64", Val::Bool(false)), "0.0");
    assert_eq!(convert("i8", "i64", Val::I8(-3)), "-3");
    assert_eq!(convert("i32", "f64", Val::I32(i32::MIN)), "-2.147483648e9");
    // Halfway between two floats: to even.
    assert_eq!(convert("i64", "f64", Val::I64((1 << 53) + 1)), "9.007199254740992e15");
    // What may not fit stays checked.
    assert_eq!(convert("f64", "i64", Val::F64(3.0)), "3");
    assert!(convert("f64", "i64", Val::F64(0.5)).starts_with("InexactError"));
    assert!(convert("i64", "i8", Val::I64(300)).starts_with("InexactError"));
}
