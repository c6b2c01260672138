//! Derivatives at kinks and at the edges of domains, as they are promised.

use super::*;

const INF: f64 = f64::INFINITY;

#[track_caller]
fn is(op: Op, xs: &[f64], expected: &[f64]) {
    for (position, &expected) in expected.iter().enumerate() {
        let found = partial(op, position, &args(xs));
        let same = found == expected || found.is_nan() && expected.is_nan();
        assert!(same, "by operand {position}: {found}, expected {expected}");
    }
}

#[track_caller]
fn zero_gives_zero(op: Op, xs: &[f64]) {
    for position in 0..xs.len() {
        assert_eq!(of_zero(op, position, &args(xs)), 0.0, "by operand {position}");
    }
}

#[test]
fn abs_at_0_is_0() {
    is(arith::ABS, &[0.0], &[0.0]);
    is(arith::ABS, &[-0.0], &[0.0]);
    is(arith::ABS, &[-3.0], &[-1.0]);
    is(arith::ABS, &[-INF], &[-1.0]);
}

#[test]
fn of_a_tie_max_takes_the_second_and_min_the_first() {
    is(arith::MAX, &[2.0, 2.0], &[0.0, 1.0]);
    is(arith::MIN, &[2.0, 2.0], &[1.0, 0.0]);
    is(arith::MAX, &[0.0, -0.0], &[0.0, 1.0]);
    is(arith::MIN, &[0.0, -0.0], &[1.0, 0.0]);
}

#[test]
fn max_and_min_are_not_spoilt_by_the_other_operand() {
    is(arith::MAX, &[1.0, -INF], &[1.0, 0.0]);
    is(arith::MIN, &[1.0, INF], &[1.0, 0.0]);
    let how = How { seed: INF, ..PLAIN };
    assert_eq!(run(&context(), arith::MAX, 1, &args(&[1.0, 0.0]), how).0.unwrap(), 0.0);
}

#[test]
fn roots_at_0_are_infinite_but_0_for_a_zero() {
    for op in [m::SQRT, m::CBRT] {
        is(op, &[0.0], &[INF]);
        zero_gives_zero(op, &[0.0]);
    }
}

#[test]
fn powers_of_0() {
    is(m::POW, &[0.0, 3.0], &[0.0, 0.0]);
    is(m::POW, &[0.0, 1.0], &[1.0, 0.0]);
    is(m::POW, &[0.0, 0.5], &[INF, 0.0]);
    is(m::POW, &[0.0, 0.0], &[0.0, -INF]);
    zero_gives_zero(m::POW, &[0.0, 0.5]);
    zero_gives_zero(m::POW, &[0.0, 0.0]);
    zero_gives_zero(m::POW, &[0.0, -1.0]);
}

#[test]
fn powers_with_exponent_0_and_of_negative_numbers() {
    is(m::POW, &[5.0, 0.0], &[0.0, 5.0f64.ln()]);
    is(m::POW, &[-2.0, 3.0], &[12.0, -8.0 * 2.0f64.ln()]);
    is(m::POW, &[-2.0, 0.0], &[0.0, 2.0f64.ln()]);
}

#[test]
fn whole_powers() {
    let by_x = |x: f64, n: i64| partial(m::POWI, 0, &[x.into(), n.into()]);
    assert_eq!(by_x(0.0, 0), 0.0);
    assert_eq!(by_x(0.0, 1), 1.0);
    assert_eq!(by_x(0.0, 2), 0.0);
    assert_eq!(by_x(2.0, -1), -0.25);
    assert_eq!(by_x(-3.0, 3), 27.0);
    assert_eq!(by_x(INF, 0), 0.0);
}

/// Either factor may be the zero, and the other one infinite.
#[test]
fn a_zero_wins_over_an_infinity() {
    let of = |op: Op, position: usize, xs: &[f64], seed: f64| {
        run(&context(), op, position, &arguments(op, xs), How { seed, ..PLAIN }).0.unwrap()
    };
    for seed in [INF, -INF, f64::NAN] {
        assert_eq!(of(m::POWI, 0, &[0.0, 2.0], seed), 0.0);
        assert_eq!(of(m::POWI, 0, &[3.0, 0.0], seed), 0.0);
        assert_eq!(of(m::POW, 0, &[0.0, 2.0], seed), 0.0);
        assert_eq!(of(m::POW, 1, &[0.0, 2.0], seed), 0.0);
        assert_eq!(of(m::EXP, 0, &[-INF], seed), 0.0);
        assert_eq!(of(m::TANH, 0, &[800.0], seed), 0.0);
        assert_eq!(of(m::ATAN, 0, &[INF], seed), 0.0);
        assert_eq!(of(m::ERFC, 0, &[800.0], seed), 0.0);
        assert_eq!(of(arith::FDIV, 1, &[1.0, INF], seed), 0.0);
    }
    for (op, xs) in [(arith::FDIV, [INF, 2.0]), (arith::FDIV, [1.0, 0.0])] {
        assert_eq!(of(op, 1, &xs, 0.0), 0.0);
    }
    for op in [m::EXP, m::EXP2, m::EXP10, m::EXPM1] {
        assert_eq!(of(op, 0, &[2000.0], 0.0), 0.0);
    }
    for op in [m::LOG, m::LOG2, m::LOG10] {
        assert_eq!(of(op, 0, &[0.0], 0.0), 0.0);
    }
    // A product is what IEEE 754 makes of it.
    assert!(of(arith::MUL, 0, &[1.0, 0.0], INF).is_nan());
    assert!(of(arith::MUL, 0, &[1.0, INF], 0.0).is_nan());
    assert_eq!(value(arith::MULZ, &args(&[0.0, -INF]), Type::F64).ok(), Some(0.0));
    assert_eq!(value(arith::MULZ, &args(&[2.0, -3.0]), Type::F64).ok(), Some(-6.0));
    assert!(value(arith::MULZ, &args(&[2.0, f64::NAN]), Type::F64).unwrap().is_nan());
}

#[test]
fn hypot_at_the_origin_is_0() {
    is(m::HYPOT, &[0.0, 0.0], &[0.0, 0.0]);
    is(m::HYPOT, &[1e-200, 0.0], &[1.0, 0.0]);
    is(m::HYPOT, &[3e300, 4e300], &[0.6, 0.8]);
}

#[test]
fn atan2_at_the_origin_is_nan_but_0_for_a_zero() {
    is(m::ATAN2, &[0.0, 0.0], &[f64::NAN, f64::NAN]);
    zero_gives_zero(m::ATAN2, &[0.0, 0.0]);
    // Squares would overflow and underflow.
    is(m::ATAN2, &[0.0, 1e200], &[1e-200, -0.0]);
    is(m::ATAN2, &[0.0, 1e-200], &[1e200, -0.0]);
}

#[test]
fn inverse_functions_at_the_ends_of_their_domains() {
    is(m::ASIN, &[1.0], &[INF]);
    is(m::ASIN, &[-1.0], &[INF]);
    is(m::ACOS, &[1.0], &[-INF]);
    is(m::ACOS, &[-1.0], &[-INF]);
    is(m::ACOSH, &[1.0], &[INF]);
    for (op, x) in [(m::ASIN, 1.0), (m::ASIN, -1.0), (m::ACOS, 1.0), (m::ACOSH, 1.0)] {
        zero_gives_zero(op, &[x]);
    }
    is(m::ATANH, &[1.0], &[INF]);
    is(m::ERFINV, &[1.0], &[INF]);
    is(m::ERFCINV, &[0.0], &[-INF]);
    is(m::ACOSH, &[1e300], &[1e-300]);
    is(m::ASINH, &[-1e300], &[1e-300]);
}

#[test]
fn bessel_functions_at_0() {
    is(m::BESSELJ0, &[0.0], &[-0.0]);
    is(m::BESSELJ1, &[0.0], &[0.5]);
    is(m::BESSELI0, &[0.0], &[0.0]);
    is(m::BESSELI1, &[0.0], &[0.5]);
}

#[test]
fn logarithms_of_0_are_infinite() {
    is(m::LOG, &[0.0], &[INF]);
    is(m::LOG2, &[0.0], &[INF]);
    is(m::LOG10, &[0.0], &[INF]);
    is(m::LOG1P, &[-1.0], &[INF]);
}

#[test]
fn exponentials_far_out() {
    is(m::EXP, &[-INF], &[0.0]);
    is(m::EXP, &[INF], &[INF]);
    is(m::EXPM1, &[-INF], &[0.0]);
    // `expm1(x) + 1` would be 0.
    let found = partial(m::EXPM1, 0, &args(&[-50.0]));
    assert_eq!(found, value(m::EXP, &args(&[-50.0]), Type::F64).unwrap());
    is(m::TANH, &[INF], &[0.0]);
    is(m::TANH, &[-400.0], &[0.0]);
    is(m::ERF, &[-INF], &[0.0]);
}

#[test]
fn copysign_has_the_signs_of_both() {
    is(arith::COPYSIGN, &[3.0, -1.0], &[-1.0, 0.0]);
    is(arith::COPYSIGN, &[-3.0, -1.0], &[1.0, 0.0]);
    is(arith::COPYSIGN, &[0.0, -0.0], &[-1.0, 0.0]);
    is(arith::COPYSIGN, &[0.0, 0.0], &[1.0, 0.0]);
}

#[test]
fn steps_are_0_at_the_jumps_too() {
    for op in [arith::FLOOR, arith::CEIL, arith::ROUND, arith::TRUNC] {
        for x in [-1.0, 0.0, 0.5, 2.0, INF] {
            is(op, &[x], &[0.0]);
        }
    }
}

#[test]
fn remainders_by_their_quotient() {
    is(arith::FREM, &[7.5, 2.0], &[1.0, -3.0]);
    is(arith::FREM, &[-7.5, 2.0], &[1.0, 3.0]);
    is(arith::FLOOR_MOD, &[-7.5, 2.0], &[1.0, 4.0]);
    is(arith::FLOOR_MOD, &[7.5, -2.0], &[1.0, 4.0]);
    is(arith::FREM, &[6.0, 2.0], &[1.0, -3.0]);
    is(arith::FREM, &[3.0, INF], &[1.0, 0.0]);
    // `x / y` rounds to 10, although 0.1 fits into 1.0 only nine times.
    is(arith::FREM, &[1.0, 0.1], &[1.0, -9.0]);
}

#[test]
fn sinc_near_and_far() {
    is(m::SINC, &[0.0], &[0.0]);
    is(m::SINC, &[INF], &[0.0]);
    // The derivative is -pi^2 x / 3 up to third order.
    let near = partial(m::SINC, 0, &args(&[1e-8]));
    assert!((near + std::f64::consts::PI.powi(2) / 3.0 * 1e-8).abs() < 1e-22);
    // Both formulas meet at 0.1.
    let (below, above) = (0.1f64.next_down(), 0.1);
    let (below, above) =
        (partial(m::SINC, 0, &args(&[below])), partial(m::SINC, 0, &args(&[above])));
    assert!((below - above).abs() < 1e-14, "{below} {above}");
}

#[test]
fn gamma_functions_at_whole_numbers() {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-14 * expected.abs();
    assert!(near(partial(m::GAMMA, 0, &args(&[1.0])), -EULER));
    assert!(near(partial(m::LOGGAMMA, 0, &args(&[2.0])), 1.0 - EULER));
    assert!(near(partial(m::DIGAMMA, 0, &args(&[1.0])), std::f64::consts::PI.powi(2) / 6.0));
    // beta(x, 1) = 1 / x
    assert!(near(partial(m::BETA, 0, &args(&[2.0, 1.0])), -0.25));
}

/// Floats that show what goes wrong.
const EDGES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.1,
    1.5,
    -1.5,
    5e-324,
    -1e-310,
    1e-20,
    1e16,
    -1e16,
    1e300,
    -1e300,
    1.7e308,
    INF,
    -INF,
    f64::NAN,
];

/// Every choice of that many edges.
fn choices(count: usize) -> Vec<Vec<f64>> {
    (0..count).fold(vec![Vec::new()], |choices, _| {
        let with = |choice: &Vec<f64>, x: f64| choice.iter().copied().chain([x]).collect();
        choices.iter().flat_map(|choice| EDGES.iter().map(move |&x| with(choice, x))).collect()
    })
}

#[test]
fn where_an_op_does_not_trap_its_derivative_does_not_either() {
    let ctx = context();
    for (op, name, count) in ops() {
        for choice in choices(count) {
            let xs = arguments(op, &choice);
            if value(op, &xs, Type::F64).is_err() {
                continue;
            }
            for position in 0..count.min(if takes_order(op) { 1 } else { 3 }) {
                let (product, _) = run(&ctx, op, position, &xs, PLAIN);
                assert!(product.is_ok(), "{name} by operand {position} at {choice:?}: {product:?}");
            }
        }
    }
}

#[test]
fn with_strong_zero_a_zero_gives_zero_everywhere() {
    let ctx = context();
    let how = How { seed: 0.0, strong_zero: true, ..PLAIN };
    for (op, name, count) in ops() {
        for choice in choices(count) {
            let xs = arguments(op, &choice);
            if value(op, &xs, Type::F64).is_err() {
                continue;
            }
            for position in 0..count.min(if takes_order(op) { 1 } else { 3 }) {
                let (product, _) = run(&ctx, op, position, &xs, how);
                assert_eq!(product.ok(), Some(0.0), "{name} by operand {position} at {choice:?}");
            }
        }
    }
}
