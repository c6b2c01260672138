//! Conversions at the limits of types.

use regraft_dialects::semantics::{Trap, eval_scalar};
use regraft_dialects::{arith, core};
use regraft_ir::{Constant, Op, Type};

use crate::def;
use Constant::{Bool, I8, I16, I32, I64};

fn f32(x: f32) -> Constant {
    x.into()
}

fn f64(x: f64) -> Constant {
    x.into()
}

fn eval(op: Op, x: Constant, to: Type) -> Result<Constant, Trap> {
    eval_scalar(def(op), &[x], to).unwrap_or_else(|| panic!("{op:?} of {x:?} is not defined"))
}

#[track_caller]
fn inexact(op: Op, x: Constant, to: Type) {
    assert_eq!(eval(op, x, to).map_err(|trap| trap.name()), Err("InexactError"), "{x:?}");
}

#[test]
fn convert_to_integers_takes_equal_numbers_alone() {
    let convert = |x, to| eval(core::CONVERT, x, to).unwrap();
    assert_eq!(convert(I64(127), Type::I8), I8(127));
    assert_eq!(convert(I64(-128), Type::I8), I8(-128));
    assert_eq!(convert(I8(-1), Type::I64), I64(-1));
    assert_eq!(convert(Bool(true), Type::I32), I32(1));
    assert_eq!(convert(f64(-0.0), Type::I64), I64(0));
    assert_eq!(convert(f64(-9_223_372_036_854_775_808.0), Type::I64), I64(i64::MIN));
    assert_eq!(convert(f64(9_223_372_036_854_774_784.0), Type::I64), I64(i64::MAX - 1023));
    assert_eq!(convert(f32(-128.0), Type::I8), I8(-128));
    for (x, to) in [
        (I64(128), Type::I8),
        (I64(-129), Type::I8),
        (I64(1 << 32), Type::I32),
        (f64(1.5), Type::I64),
        (f64(5e-324), Type::I64),
        (f64(9_223_372_036_854_775_808.0), Type::I64),
        (f64(f64::NAN), Type::I64),
        (f64(f64::INFINITY), Type::I64),
        (f32(128.0), Type::I8),
        (f64(f64::NAN), Type::I8),
    ] {
        inexact(core::CONVERT, x, to);
    }
}

#[test]
fn convert_to_bool_takes_zero_and_one_alone() {
    for (x, want) in
        [(I64(0), false), (I8(1), true), (f64(-0.0), false), (f32(1.0), true), (Bool(true), true)]
    {
        assert_eq!(eval(core::CONVERT, x, Type::BOOL), Ok(Bool(want)));
    }
    for x in [I64(2), I64(-1), f64(0.5), f64(f64::NAN)] {
        inexact(core::CONVERT, x, Type::BOOL);
    }
}

#[test]
fn convert_to_floats_rounds_once_with_ties_to_even() {
    let convert = |x, to| eval(core::CONVERT, x, to).unwrap();
    // 2^53 + 1 is a tie, 2^53 + 3 too.
    assert_eq!(convert(I64((1 << 53) + 1), Type::F64), f64(9_007_199_254_740_992.0));
    assert_eq!(convert(I64((1 << 53) + 3), Type::F64), f64(9_007_199_254_740_996.0));
    assert_eq!(convert(I32((1 << 24) + 1), Type::F32), f32(16_777_216.0));
    // Just above a tie between floats of 32 bits, but a tie if rounded to 64 bits first.
    let above_tie = (1i64 << 60) + (1 << 36) + 1;
    assert_eq!(convert(I64(above_tie), Type::F32), f32((1i64 << 60) as f32 + (1i64 << 37) as f32));
    assert_eq!(convert(f64(0.1), Type::F32), f32(0.1));
    assert_eq!(convert(f32(0.1), Type::F64), f64(0.100_000_001_490_116_12));
    assert_eq!(convert(f64(1e300), Type::F32), f32(f32::INFINITY));
    assert_eq!(convert(f64(-1e-300), Type::F32), f32(-0.0));
    let signalling = Constant::F64(0x7ff0_0000_0000_0001);
    assert_eq!(convert(signalling, Type::F64), signalling);
}

#[test]
fn float_to_int_drops_the_fraction_first() {
    let convert = |x, to| eval(arith::FLOAT_TO_INT, x, to).unwrap();
    assert_eq!(convert(f64(127.99), Type::I8), I8(127));
    assert_eq!(convert(f64(-128.99), Type::I8), I8(-128));
    assert_eq!(convert(f64(-0.99), Type::I64), I64(0));
    assert_eq!(convert(f32(-2_147_483_648.0), Type::I32), I32(i32::MIN));
    for (x, to) in [
        (f64(128.0), Type::I8),
        (f64(-129.0), Type::I8),
        (f32(2_147_483_648.0), Type::I32),
        (f64(9_223_372_036_854_775_808.0), Type::I64),
        (f64(f64::NAN), Type::I16),
        (f64(-f64::INFINITY), Type::I16),
    ] {
        inexact(arith::FLOAT_TO_INT, x, to);
    }
}

#[test]
fn saturating_conversions_go_to_the_nearest() {
    let convert = |x, to| eval(arith::FLOAT_TO_INT_SAT, x, to).unwrap();
    assert_eq!(convert(f64(300.0), Type::I8), I8(127));
    assert_eq!(convert(f64(-300.0), Type::I8), I8(-128));
    assert_eq!(convert(f64(-1.9), Type::I8), I8(-1));
    assert_eq!(convert(f64(1e300), Type::I16), I16(32767));
    assert_eq!(convert(f32(f32::INFINITY), Type::I64), I64(i64::MAX));
    assert_eq!(convert(f64(f64::NEG_INFINITY), Type::I64), I64(i64::MIN));
    assert_eq!(convert(f64(f64::NAN), Type::I32), I32(0));
}

#[test]
fn integers_are_cut_and_extended_by_bits() {
    assert_eq!(eval(arith::WRAP, I64(0x1_0000_0080), Type::I8), Ok(I8(-128)));
    assert_eq!(eval(arith::WRAP, I64(-2), Type::BOOL), Ok(Bool(false)));
    assert_eq!(eval(arith::WRAP, I64(3), Type::BOOL), Ok(Bool(true)));
    assert_eq!(eval(arith::SEXT, I8(-1), Type::I64), Ok(I64(-1)));
    assert_eq!(eval(arith::ZEXT, I8(-1), Type::I64), Ok(I64(255)));
    assert_eq!(eval(arith::ZEXT, I32(-1), Type::I64), Ok(I64(0xffff_ffff)));
    assert_eq!(eval(arith::SEXT, Bool(true), Type::I8), Ok(I8(1)));
    assert_eq!(eval(arith::ZEXT, Bool(true), Type::I64), Ok(I64(1)));
    assert_eq!(eval(arith::INT_TO_FLOAT, Bool(true), Type::F64), Ok(f64(1.0)));
    assert_eq!(eval(arith::INT_TO_FLOAT, I8(-3), Type::F32), Ok(f32(-3.0)));
}

#[test]
fn bitcast_keeps_all_bits() {
    assert_eq!(eval(arith::BITCAST, f64(1.0), Type::I64), Ok(I64(0x3ff0_0000_0000_0000)));
    assert_eq!(eval(arith::BITCAST, f32(-0.0), Type::I32), Ok(I32(i32::MIN)));
    let nan = 0x7ff0_0000_0000_0001;
    assert_eq!(eval(arith::BITCAST, I64(nan), Type::F64), Ok(Constant::F64(nan as u64)));
    assert_eq!(eval_scalar(def(arith::BITCAST), &[f64(1.0)], Type::I32), None);
}
