//! Elementary and special functions: accuracy, domains, special values.

#![allow(clippy::approx_constant, clippy::excessive_precision, reason = "tables of digits")]

mod reference;

use reference::{BINARY, POLYGAMMA, UNARY};
use regraft_dialects::math;
use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{Constant, Op, Type};

use crate::{def, eval, eval_f64};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The number of floats between two of them, ends not counted twice; infinite for a NaN.
fn ulps(x: f64, y: f64) -> f64 {
    let place = |x: f64| {
        let bits = x.abs().to_bits() as i64;
        if x.is_sign_negative() { -bits } else { bits }
    };
    if x.is_nan() || y.is_nan() { INF } else { place(x).abs_diff(place(y)) as f64 }
}

/// Describes the value of an op that is off by more than `limit` units; `None` if it is not.
fn check_near(op: Op, args: &[f64], want: f64, limit: f64) -> Option<String> {
    let name = def(op).name;
    let found = match eval_f64(op, args) {
        Ok(found) => found,
        Err(trap) => return Some(format!("{name} of {args:?}: {trap}")),
    };
    let off = ulps(found, want);
    (off > limit)
        .then(|| format!("{name} of {args:?}: found {found:?}, expected {want:?}, off by {off}"))
}

#[test]
fn functions_are_accurate() {
    let unary = UNARY.iter().filter_map(|&(op, x, want, limit)| check_near(op, &[x], want, limit));
    let binary =
        BINARY.iter().filter_map(|&(op, args, want, limit)| check_near(op, &args, want, limit));
    let wrong: Vec<String> = unary.chain(binary).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn narrow_floats_are_rounded_from_wide_ones() {
    for &(op, x, ..) in UNARY {
        let narrow = x as f32;
        let wide = eval_f64(op, &[f64::from(narrow)]);
        if let Ok(Constant::F32(found)) = eval(op, &[narrow.into()]) {
            assert_eq!(found, (wide.unwrap() as f32).to_bits(), "{op:?} of {narrow:?}");
        } else {
            assert!(wide.is_err());
        }
    }
}

#[track_caller]
fn assert_domain_error(op: Op, args: &[f64]) {
    assert_eq!(eval_f64(op, args).map_err(|trap| trap.name()), Err("DomainError"), "{args:?}");
}

#[test]
fn arguments_outside_the_domain_trap_as_in_julia() {
    let tiny = -5e-324;
    for (op, outside) in [
        (math::SQRT, &[-1.0, tiny, -INF] as &[f64]),
        (math::LOG, &[-1.0, tiny, -INF]),
        (math::LOG2, &[-1.0, tiny, -INF]),
        (math::LOG10, &[-1.0, tiny, -INF]),
        (math::LOG1P, &[-1.5, -INF]),
        (math::SIN, &[INF, -INF]),
        (math::COS, &[INF, -INF]),
        (math::TAN, &[INF, -INF]),
        (math::SINPI, &[INF, -INF]),
        (math::COSPI, &[INF, -INF]),
        (math::ASIN, &[1.5, -1.5, INF]),
        (math::ACOS, &[1.5, -1.5, INF]),
        (math::ACOSH, &[0.5, -1.0, -INF]),
        (math::ATANH, &[1.5, -1.5, INF]),
        (math::ERFINV, &[1.5, -1.5]),
        (math::ERFCINV, &[-0.5, 2.5]),
        (math::GAMMA, &[-1.0, -2.0, -INF]),
        (math::LOGGAMMA, &[-0.5, -2.5, -0.0]),
    ] {
        for &x in outside {
            assert_domain_error(op, &[x]);
            // The least float of 64 bits is zero in 32, and so inside.
            assert_eq!(eval(op, &[(x as f32).into()]).is_err(), x != tiny, "{op:?} of {x:?}");
        }
        assert!(eval_f64(op, &[NAN]).unwrap().is_nan(), "{op:?}");
    }
    for args in [[-1.0, 0.5], [-INF, 0.5], [-2.0, -1.5]] {
        assert_domain_error(math::POW, &args);
    }
    assert_domain_error(math::LOGBETA, &[-0.5, 2.0]);
    let trap = eval_f64(math::SQRT, &[-1.0]).unwrap_err();
    assert!(
        trap.to_string().starts_with("DomainError with -1.0:\nsqrt was called with a negative")
    );
}

#[test]
fn ends_of_domains_and_exact_values() {
    for (op, x, want) in [
        (math::SQRT, -0.0, -0.0),
        (math::LOG, 0.0, -INF),
        (math::LOG, -0.0, -INF),
        (math::LOG, 1.0, 0.0),
        (math::LOG2, 8.0, 3.0),
        (math::LOG10, 1000.0, 3.0),
        (math::LOG1P, -1.0, -INF),
        (math::LOG1P, -0.0, -0.0),
        (math::EXP, -INF, 0.0),
        (math::EXP, 710.0, INF),
        (math::EXP, -745.0, 5e-324),
        (math::EXP, 1.0, std::f64::consts::E),
        (math::EXP2, 10.0, 1024.0),
        (math::EXP2, -1074.0, 5e-324),
        (math::EXP10, -310.0, 1e-310),
        (math::SINH, -0.0, -0.0),
        (math::TANH, -0.0, -0.0),
        (math::EXP10, 3.0, 1000.0),
        (math::CBRT, -27.0, -3.0),
        (math::SIN, -0.0, -0.0),
        (math::ATANH, 1.0, INF),
        (math::ACOSH, 1.0, 0.0),
        (math::SINPI, 0.5, 1.0),
        (math::SINPI, 1.0, 0.0),
        (math::SINPI, -1.0, -0.0),
        (math::SINPI, -2.5, -1.0),
        (math::SINPI, 1e300, 0.0),
        (math::COSPI, 0.5, 0.0),
        (math::COSPI, -1.5, 0.0),
        (math::COSPI, 1.0, -1.0),
        (math::COSPI, 3.0, -1.0),
        (math::COSPI, -0.0, 1.0),
        (math::COSPI, 1e300, 1.0),
        (math::SINC, 0.0, 1.0),
        (math::SINC, 2.0, 0.0),
        (math::SINC, INF, 0.0),
        (math::ERF, INF, 1.0),
        (math::ERFC, -INF, 2.0),
        (math::ERFINV, 1.0, INF),
        (math::ERFINV, -1.0, -INF),
        (math::ERFINV, -0.0, -0.0),
        (math::ERFCINV, 0.0, INF),
        (math::ERFCINV, 2.0, -INF),
        (math::ERFCINV, 1.0, 0.0),
        (math::GAMMA, 0.0, INF),
        (math::GAMMA, -0.0, -INF),
        (math::GAMMA, 6.0, 120.0),
        (math::GAMMA, 172.0, INF),
        (math::LOGGAMMA, 0.0, INF),
        (math::LOGGAMMA, -1.0, INF),
        (math::LOGGAMMA, 1.0, 0.0),
        (math::LOGGAMMA, 2.0, 0.0),
        (math::LOGABSGAMMA, -2.0, INF),
        (math::DIGAMMA, 0.0, -INF),
        (math::DIGAMMA, -0.0, INF),
        (math::DIGAMMA, -1.0, NAN),
        (math::DIGAMMA, INF, INF),
        (math::ERFCX, 0.0, 1.0),
        (math::ERFCX, INF, 0.0),
        (math::BESSELJ0, 0.0, 1.0),
        (math::BESSELJ0, INF, 0.0),
        (math::BESSELJ1, 0.0, 0.0),
        (math::BESSELY0, 0.0, -INF),
        (math::BESSELY0, -1.0, NAN),
        (math::BESSELY1, 0.0, -INF),
        (math::BESSELI0, 0.0, 1.0),
        (math::BESSELI1, 0.0, 0.0),
        (math::BESSELI0, INF, INF),
        (math::BESSELI0X, 0.0, 1.0),
        (math::BESSELI1X, 0.0, 0.0),
        (math::BESSELK0X, 0.0, INF),
        (math::BESSELK1X, -1.0, NAN),
        (math::TRIGAMMA, 0.0, INF),
        (math::TRIGAMMA, -3.0, INF),
        (math::TRIGAMMA, INF, 0.0),
    ] {
        let found = eval_f64(op, &[x]).unwrap();
        let same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
        assert!(same, "{op:?} of {x:?}: found {found:?}, expected {want:?}");
    }
    for (op, args, want) in [
        (math::POW, [0.0, 0.0], 1.0),
        (math::POW, [NAN, 0.0], 1.0),
        (math::POW, [1.0, NAN], 1.0),
        (math::POW, [-2.0, 3.0], -8.0),
        (math::POW, [-0.0, -3.0], -INF),
        (math::POW, [-2.0, INF], INF),
        (math::POW, [-INF, 3.0], -INF),
        (math::POW, [1e308, -0.5], 1e-154),
        (math::POW, [2.0, -1074.0], 5e-324),
        (math::POW, [2.0, 0.5], std::f64::consts::SQRT_2),
        (math::HYPOT, [INF, NAN], INF),
        (math::ATAN2, [0.0, -0.0], std::f64::consts::PI),
        (math::ATAN2, [-0.0, 1.0], -0.0),
        (math::BETA, [INF, 1.0], 0.0),
    ] {
        let found = eval_f64(op, &args).unwrap();
        let same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
        assert!(same, "{op:?} of {args:?}: found {found:?}, expected {want:?}");
    }
}

#[test]
fn whole_powers_are_accurate_and_exact_where_they_can_be() {
    let power = |x: f64, n: i64| eval(math::POWI, &[x.into(), n.into()]).unwrap();
    for (x, n, want) in [
        (3.0, 0, 1.0),
        (NAN, 0, 1.0),
        (3.0, 4, 81.0),
        (-3.0, 3, -27.0),
        (2.0, -3, 0.125),
        (2.0, -1074, 5e-324),
        (0.0, -1, INF),
        (-0.0, -3, -INF),
        (-2.0, 1_000_001, -INF),
        (-INF, 3, -INF),
        (INF, -2, 0.0),
        (-1.0, i64::MIN, 1.0),
        (1.5, 2, 2.25),
    ] {
        assert_eq!(power(x, n), Constant::from(want), "{x:?} to the {n}");
    }
    // Against the power of the same float, which is accurate to a unit.
    for x in [1.1, 0.9, -1.7, 1e10, 1e-10, 1.000_001] {
        for n in [-30, -7, -2, 2, 5, 10, 17, 29, 3000, 100_000] {
            let want = libm::pow(x, n as f64);
            let found = power(x, n).as_float().unwrap();
            assert!(ulps(found, want) <= 1.0, "{x:?} to the {n}: {found:?}, {want:?}");
        }
    }
    let narrow = eval(math::POWI, &[1.1f32.into(), 10i64.into()]).unwrap();
    assert_eq!(narrow, Constant::from(libm::pow(f64::from(1.1f32), 10.0) as f32));
}

#[test]
fn inverses_undo() {
    for i in 1..200 {
        let x = f64::from(i) / 200.0;
        let y = eval_f64(math::ERFINV, &[x]).unwrap();
        assert_eq!(check_near(math::ERF, &[y], x, 2.0), None);
        let y = eval_f64(math::ERFCINV, &[x]).unwrap();
        // A unit in `y` is `2 y^2` units or so in `x`.
        assert_eq!(check_near(math::ERFC, &[y], x, 4.0 + 4.0 * y * y), None);
    }
}

#[test]
fn polygamma_functions() {
    for &(n, x, want, units) in POLYGAMMA {
        let args = [Constant::from(x), Constant::from(n)];
        let found = eval_scalar(def(math::POLYGAMMA), &args, Type::F64).unwrap().unwrap();
        let found = found.as_float().unwrap();
        let error = (found - want).abs() / (want.abs() * f64::EPSILON);
        assert!(error <= units, "order {n} at {x:?}: {found:?}, expected {want:?}, off by {error}");
    }
    for (n, x, want) in [
        (2, 0.0, -INF),
        (2, -0.0, INF),
        (2, -1.0, NAN),
        (3, 0.0, INF),
        (3, -4.0, INF),
        (2, INF, 0.0),
        (2, -INF, NAN),
        (-1, 1.0, NAN),
        (i64::MAX, 1.0, INF),
        (500, 0.5, -INF),
    ] {
        let args = [Constant::from(x), Constant::from(n)];
        let found = eval_scalar(def(math::POLYGAMMA), &args, Type::F64).unwrap().unwrap();
        let found = found.as_float().unwrap();
        assert!(found == want || found.is_nan() && want.is_nan(), "{n} at {x:?}: {found:?}");
    }
}
