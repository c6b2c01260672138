//! Floats: comparisons, extremes, rounding, remainders.

use regraft_dialects::arith;
use regraft_ir::{Constant, Op};

use crate::{eval, eval_f64};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Compares bit for bit, but takes any NaN for any other.
#[track_caller]
fn assert_is(found: f64, want: f64) {
    assert!(
        found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()),
        "found {found:?}, expected {want:?}"
    );
}

fn check(op: Op, table: &[(f64, f64, f64)]) {
    for &(x, y, want) in table {
        assert_is(eval_f64(op, &[x, y]).unwrap(), want);
        // The numbers of the tables are exact in 32 bits, or infinite, or NaN.
        let narrow = [(x as f32).into(), (y as f32).into()];
        assert_is(eval(op, &narrow).unwrap().as_float().unwrap(), f64::from(want as f32));
    }
}

#[test]
fn min_and_max_propagate_nan_and_order_zeros() {
    check(
        arith::MIN,
        &[
            (1.0, 2.0, 1.0),
            (2.0, 1.0, 1.0),
            (0.0, -0.0, -0.0),
            (-0.0, 0.0, -0.0),
            (-0.0, -0.0, -0.0),
            (0.0, 0.0, 0.0),
            (NAN, 1.0, NAN),
            (-INF, NAN, NAN),
            (INF, -INF, -INF),
        ],
    );
    check(
        arith::MAX,
        &[
            (1.0, 2.0, 2.0),
            (2.0, 1.0, 2.0),
            (0.0, -0.0, 0.0),
            (-0.0, 0.0, 0.0),
            (-0.0, -0.0, -0.0),
            (NAN, 1.0, NAN),
            (INF, NAN, NAN),
            (INF, -INF, INF),
        ],
    );
}

#[test]
fn comparisons_with_nan_are_false_but_for_ne() {
    for (x, y) in [(NAN, 1.0), (1.0, NAN), (NAN, NAN)] {
        for op in [arith::EQ, arith::LT, arith::LE, arith::GT, arith::GE] {
            assert_eq!(eval(op, &[x.into(), y.into()]), Ok(false.into()));
        }
        assert_eq!(eval(arith::NE, &[x.into(), y.into()]), Ok(true.into()));
    }
    for (op, want) in [(arith::EQ, true), (arith::LT, false), (arith::LE, true)] {
        assert_eq!(eval(op, &[(-0.0).into(), 0.0.into()]), Ok(want.into()));
    }
}

#[test]
fn division_is_that_of_ieee() {
    check(
        arith::FDIV,
        &[(1.0, 0.0, INF), (1.0, -0.0, -INF), (0.0, 0.0, NAN), (-6.0, 4.0, -1.5), (1.0, INF, 0.0)],
    );
}

#[test]
fn remainders_have_the_sign_of_the_dividend_or_of_the_divisor() {
    check(
        arith::FREM,
        &[
            (7.5, 2.0, 1.5),
            (-7.5, 2.0, -1.5),
            (7.5, -2.0, 1.5),
            (-4.0, 2.0, -0.0),
            (1.0, INF, 1.0),
            (INF, 1.0, NAN),
            (1.0, 0.0, NAN),
        ],
    );
    check(
        arith::FLOOR_MOD,
        &[
            (7.5, 2.0, 1.5),
            (-7.5, 2.0, 0.5),
            (7.5, -2.0, -0.5),
            (-7.5, -2.0, -1.5),
            (-4.0, 2.0, 0.0),
            (4.0, -2.0, -0.0),
            (1.0, 0.0, NAN),
            // Julia: mod(-1.0, Inf) is Inf, by the same addition as everywhere.
            (-1.0, INF, INF),
        ],
    );
}

#[test]
fn rounding_keeps_the_sign_of_zero_and_takes_ties_to_even() {
    let table = [
        // x, floor, ceil, round, trunc
        (0.5, [0.0, 1.0, 0.0, 0.0]),
        (-0.5, [-1.0, -0.0, -0.0, -0.0]),
        (1.5, [1.0, 2.0, 2.0, 1.0]),
        (2.5, [2.0, 3.0, 2.0, 2.0]),
        (-2.5, [-3.0, -2.0, -2.0, -2.0]),
        (-0.0, [-0.0, -0.0, -0.0, -0.0]),
        (INF, [INF, INF, INF, INF]),
        (NAN, [NAN, NAN, NAN, NAN]),
        (
            4503599627370495.5,
            [4503599627370495.0, 4503599627370496.0, 4503599627370496.0, 4503599627370495.0],
        ),
    ];
    for (x, want) in table {
        let ops = [arith::FLOOR, arith::CEIL, arith::ROUND, arith::TRUNC];
        for (op, want) in ops.into_iter().zip(want) {
            assert_is(eval_f64(op, &[x]).unwrap(), want);
        }
    }
}

#[test]
fn fma_rounds_once() {
    // (1 + e)(1 - e) is 1 - e^2, which a product alone rounds to 1.
    let e = f64::EPSILON;
    assert_is(eval_f64(arith::FMA, &[1.0 + e, 1.0 - e, -1.0]).unwrap(), -e * e);
    let e = f32::EPSILON;
    let found = eval(arith::FMA, &[(1.0 + e).into(), (1.0 - e).into(), (-1.0f32).into()]);
    assert_eq!(found, Ok((-e * e).into()));
}

#[test]
fn sign_ops_move_the_sign_bit_alone_of_a_nan_too() {
    let nan = Constant::F64(0x7ff0_0000_0000_0123);
    let negative_nan = Constant::F64(0xfff0_0000_0000_0123);
    assert_eq!(eval(arith::NEG, &[nan]), Ok(negative_nan));
    assert_eq!(eval(arith::NEG, &[negative_nan]), Ok(nan));
    assert_eq!(eval(arith::ABS, &[negative_nan]), Ok(nan));
    assert_eq!(eval(arith::COPYSIGN, &[nan, (-1.0).into()]), Ok(negative_nan));
    assert_eq!(eval(arith::SIGNBIT, &[negative_nan]), Ok(true.into()));
    assert_eq!(eval(arith::SIGNBIT, &[(-0.0).into()]), Ok(true.into()));
    assert_eq!(eval(arith::NEG, &[0.0.into()]), Ok((-0.0).into()));
}

#[test]
fn classes_of_floats() {
    for (x, nan, inf, finite) in [
        (NAN, true, false, false),
        (INF, false, true, false),
        (-INF, false, true, false),
        (f64::MAX, false, false, true),
        (5e-324, false, false, true),
    ] {
        assert_eq!(eval(arith::ISNAN, &[x.into()]), Ok(nan.into()));
        assert_eq!(eval(arith::ISINF, &[x.into()]), Ok(inf.into()));
        assert_eq!(eval(arith::ISFINITE, &[x.into()]), Ok(finite.into()));
    }
}
