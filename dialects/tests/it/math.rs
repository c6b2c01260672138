//! Elementary and special functions: accuracy, domains, special values.

#![allow(clippy::approx_constant, clippy::excessive_precision, reason = "tables of digits")]

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

/// The op, the argument, the value to 17 digits (computed with mpmath), and how many units in
/// the last place the result may be off. More is allowed near a root (`logabsgamma` and `digamma`
/// at some negative arguments), where what cancels leaves few digits, and where the result is
/// the exponential of a large logarithm (`beta`).
#[rustfmt::skip]
const UNARY: &[(Op, f64, f64, f64)] = &[
    (math::SQRT, 2.0, 1.4142135623730951, 0.5),
    (math::SQRT, 1e-300, 1e-150, 0.5),
    (math::SQRT, 0.1, 0.31622776601683794, 0.5),
    (math::SQRT, 1e+300, 1e+150, 0.5),
    (math::SQRT, 3.0, 1.7320508075688772, 0.5),
    (math::CBRT, 2.0, 1.2599210498948732, 1.0),
    (math::CBRT, -2.0, -1.2599210498948732, 1.0),
    (math::CBRT, 1e-300, 1e-100, 1.0),
    (math::CBRT, 0.1, 0.4641588833612779, 1.0),
    (math::CBRT, 27.0, 3.0, 1.0),
    (math::CBRT, -1e+300, -1e+100, 1.0),
    (math::EXP, 1.0, 2.718281828459045, 1.0),
    (math::EXP, -1.0, 0.36787944117144233, 1.0),
    (math::EXP, 0.1, 1.1051709180756477, 1.0),
    (math::EXP, 1e-10, 1.0000000001, 1.0),
    (math::EXP, 700.0, 1.0142320547350045e+304, 1.0),
    (math::EXP, -700.0, 9.85967654375977e-305, 1.0),
    (math::EXP, -745.0, 5e-324, 1.0),
    (math::EXP, 0.5, 1.6487212707001282, 1.0),
    (math::EXP2, 0.5, 1.4142135623730951, 1.0),
    (math::EXP2, -0.5, 0.7071067811865476, 1.0),
    (math::EXP2, 10.0, 1024.0, 1.0),
    (math::EXP2, -1074.0, 5e-324, 1.0),
    (math::EXP2, 1023.5, 1.2711610061536464e+308, 1.0),
    (math::EXP2, 0.1, 1.0717734625362931, 1.0),
    (math::EXP10, 0.5, 3.1622776601683795, 1.0),
    (math::EXP10, -0.5, 0.31622776601683794, 1.0),
    (math::EXP10, 2.0, 100.0, 1.0),
    (math::EXP10, 3.0, 1000.0, 1.0),
    (math::EXP10, 22.0, 1e+22, 1.0),
    (math::EXP10, 0.1, 1.2589254117941673, 1.0),
    (math::EXP10, -300.5, 3.1622776601683794e-301, 1.0),
    (math::EXPM1, 1e-10, 1.00000000005e-10, 1.0),
    (math::EXPM1, -1e-10, -9.999999999500001e-11, 1.0),
    (math::EXPM1, 1.0, 1.7182818284590453, 1.0),
    (math::EXPM1, -1.0, -0.6321205588285577, 1.0),
    (math::EXPM1, 0.1, 0.10517091807564763, 1.0),
    (math::EXPM1, 50.0, 5.184705528587072e+21, 1.0),
    (math::EXPM1, -50.0, -1.0, 1.0),
    (math::LOG, 2.0, 0.6931471805599453, 1.0),
    (math::LOG, 0.1, -2.3025850929940455, 1.0),
    (math::LOG, 1e-300, -690.7755278982137, 1.0),
    (math::LOG, 1e+300, 690.7755278982137, 1.0),
    (math::LOG, 1.0000001, 9.999999505838704e-08, 1.0),
    (math::LOG, 0.9999999, -1.0000000494736474e-07, 1.0),
    (math::LOG2, 3.0, 1.584962500721156, 1.0),
    (math::LOG2, 0.1, -3.321928094887362, 1.0),
    (math::LOG2, 1e-300, -996.5784284662087, 1.0),
    (math::LOG2, 1.0000001, 1.4426949695965583e-07, 1.0),
    (math::LOG2, 1024.0, 10.0, 1.0),
    (math::LOG10, 3.0, 0.47712125471966244, 1.5),
    (math::LOG10, 0.1, -1.0, 1.5),
    (math::LOG10, 1e-300, -300.0, 1.5),
    (math::LOG10, 1.0000001, 4.3429446044209946e-08, 1.5),
    (math::LOG10, 1000.0, 3.0, 1.5),
    (math::LOG10, 1000000000000000.0, 15.0, 1.5),
    (math::LOG1P, 1e-10, 9.999999999500001e-11, 1.0),
    (math::LOG1P, -1e-10, -1.00000000005e-10, 1.0),
    (math::LOG1P, 1.0, 0.6931471805599453, 1.0),
    (math::LOG1P, -0.5, -0.6931471805599453, 1.0),
    (math::LOG1P, 10000000000.0, 23.025850930040455, 1.0),
    (math::SIN, 1.0, 0.8414709848078965, 1.0),
    (math::SIN, -1.0, -0.8414709848078965, 1.0),
    (math::SIN, 3.0, 0.1411200080598672, 1.0),
    (math::SIN, 100.0, -0.5063656411097588, 1.0),
    (math::SIN, 10000000000.0, -0.4875060250875107, 1.0),
    (math::SIN, 1e+300, -0.8178819121159085, 1.0),
    (math::SIN, 0.5, 0.479425538604203, 1.0),
    (math::SIN, 1e-10, 1e-10, 1.0),
    (math::SIN, 3.141592653589793, 1.2246467991473532e-16, 1.0),
    (math::COS, 1.0, 0.5403023058681398, 1.0),
    (math::COS, -1.0, 0.5403023058681398, 1.0),
    (math::COS, 3.0, -0.9899924966004454, 1.0),
    (math::COS, 100.0, 0.8623188722876839, 1.0),
    (math::COS, 10000000000.0, 0.873119622676856, 1.0),
    (math::COS, 1e+300, -0.5753861119575491, 1.0),
    (math::COS, 0.5, 0.8775825618903728, 1.0),
    (math::COS, 1.5707963267948966, 6.123233995736766e-17, 1.0),
    (math::TAN, 1.0, 1.5574077246549023, 1.5),
    (math::TAN, -1.0, -1.5574077246549023, 1.5),
    (math::TAN, 3.0, -0.1425465430742778, 1.5),
    (math::TAN, 100.0, -0.5872139151569291, 1.5),
    (math::TAN, 10000000000.0, -0.5583496378112418, 1.5),
    (math::TAN, 0.5, 0.5463024898437905, 1.5),
    (math::TAN, 1.5707963267948966, 1.633123935319537e+16, 1.5),
    (math::ASIN, 0.5, 0.5235987755982989, 1.0),
    (math::ASIN, -0.5, -0.5235987755982989, 1.0),
    (math::ASIN, 0.1, 0.1001674211615598, 1.0),
    (math::ASIN, 0.99999, 1.5663241871131188, 1.0),
    (math::ASIN, 1e-10, 1e-10, 1.0),
    (math::ASIN, 1.0, 1.5707963267948966, 1.0),
    (math::ACOS, 0.5, 1.0471975511965979, 1.0),
    (math::ACOS, -0.5, 2.0943951023931957, 1.0),
    (math::ACOS, 0.1, 1.4706289056333368, 1.0),
    (math::ACOS, 0.99999, 0.0044721396817777506, 1.0),
    (math::ACOS, -1.0, 3.141592653589793, 1.0),
    (math::ATAN, 0.5, 0.4636476090008061, 1.0),
    (math::ATAN, -0.5, -0.4636476090008061, 1.0),
    (math::ATAN, 10.0, 1.4711276743037347, 1.0),
    (math::ATAN, 10000000000.0, 1.5707963266948965, 1.0),
    (math::ATAN, 1e-10, 1e-10, 1.0),
    (math::SINH, 0.5, 0.5210953054937474, 2.0),
    (math::SINH, -0.5, -0.5210953054937474, 2.0),
    (math::SINH, 1e-05, 1.0000000000166668e-05, 2.0),
    (math::SINH, 10.0, 11013.232874703393, 2.0),
    (math::SINH, 700.0, 5.0711602736750225e+303, 2.0),
    (math::SINH, -700.0, -5.0711602736750225e+303, 2.0),
    (math::COSH, 0.5, 1.1276259652063807, 2.0),
    (math::COSH, -0.5, 1.1276259652063807, 2.0),
    (math::COSH, 1e-05, 1.00000000005, 2.0),
    (math::COSH, 10.0, 11013.232920103323, 2.0),
    (math::COSH, 700.0, 5.0711602736750225e+303, 2.0),
    (math::TANH, 0.5, 0.46211715726000974, 2.0),
    (math::TANH, -0.5, -0.46211715726000974, 2.0),
    (math::TANH, 1e-05, 9.999999999666668e-06, 2.0),
    (math::TANH, 10.0, 0.9999999958776927, 2.0),
    (math::TANH, 0.1, 0.09966799462495582, 2.0),
    (math::ASINH, 0.5, 0.48121182505960347, 2.0),
    (math::ASINH, -0.5, -0.48121182505960347, 2.0),
    (math::ASINH, 1e-05, 9.999999999833334e-06, 2.0),
    (math::ASINH, 10.0, 2.99822295029797, 2.0),
    (math::ASINH, 1e+300, 691.4686750787737, 2.0),
    (math::ACOSH, 1.5, 0.9624236501192069, 2.0),
    (math::ACOSH, 2.0, 1.3169578969248168, 2.0),
    (math::ACOSH, 10.0, 2.993222846126381, 2.0),
    (math::ACOSH, 1e+300, 691.4686750787737, 2.0),
    (math::ACOSH, 1.0001, 0.014142017775251545, 2.0),
    (math::ATANH, 0.5, 0.5493061443340549, 2.0),
    (math::ATANH, -0.5, -0.5493061443340549, 2.0),
    (math::ATANH, 1e-05, 1.0000000000333334e-05, 2.0),
    (math::ATANH, 0.999, 3.8002011672501994, 2.0),
    (math::SINPI, 0.25, 0.7071067811865476, 1.0),
    (math::SINPI, 0.1, 0.30901699437494745, 1.0),
    (math::SINPI, -0.1, -0.30901699437494745, 1.0),
    (math::SINPI, 0.3, 0.8090169943749475, 1.0),
    (math::SINPI, 1.3, -0.8090169943749475, 1.0),
    (math::SINPI, -1.3, 0.8090169943749475, 1.0),
    (math::SINPI, 123456.7, 0.8090169943803217, 1.0),
    (math::SINPI, 1e-10, 3.1415926535897934e-10, 1.0),
    (math::COSPI, 0.25, 0.7071067811865476, 1.0),
    (math::COSPI, 0.1, 0.9510565162951535, 1.0),
    (math::COSPI, -0.1, 0.9510565162951535, 1.0),
    (math::COSPI, 0.3, 0.5877852522924731, 1.0),
    (math::COSPI, 1.3, -0.587785252292473, 1.0),
    (math::COSPI, -1.3, -0.587785252292473, 1.0),
    (math::COSPI, 123456.7, -0.587785252285076, 1.0),
    (math::COSPI, 0.49999, 3.1415926530761636e-05, 1.0),
    (math::SINC, 0.25, 0.9003163161571061, 2.0),
    (math::SINC, 0.1, 0.983631643083466, 2.0),
    (math::SINC, 1.5, -0.2122065907891938, 2.0),
    (math::SINC, -2.3, 0.11196439452184428, 2.0),
    (math::SINC, 1e-10, 1.0, 2.0),
    (math::ERF, 0.1, 0.1124629160182849, 1.0),
    (math::ERF, -0.1, -0.1124629160182849, 1.0),
    (math::ERF, 0.5, 0.5204998778130465, 1.0),
    (math::ERF, 1.0, 0.8427007929497149, 1.0),
    (math::ERF, 2.0, 0.9953222650189527, 1.0),
    (math::ERF, 5.0, 0.9999999999984626, 1.0),
    (math::ERF, 1e-10, 1.1283791670955126e-10, 1.0),
    (math::ERFC, 0.1, 0.887537083981715, 2.0),
    (math::ERFC, -0.1, 1.1124629160182848, 2.0),
    (math::ERFC, 0.5, 0.4795001221869535, 2.0),
    (math::ERFC, 1.0, 0.15729920705028513, 2.0),
    (math::ERFC, 2.0, 0.004677734981047266, 2.0),
    (math::ERFC, 5.0, 1.537459794428035e-12, 2.0),
    (math::ERFC, 20.0, 5.395865611607901e-176, 2.0),
    (math::ERFC, 26.0, 5.663192408856143e-296, 2.0),
    (math::GAMMA, 0.5, 1.772453850905516, 4.0),
    (math::GAMMA, 1.5, 0.886226925452758, 4.0),
    (math::GAMMA, 5.0, 24.0, 4.0),
    (math::GAMMA, 0.1, 9.51350769866873, 4.0),
    (math::GAMMA, -0.5, -3.544907701811032, 4.0),
    (math::GAMMA, -1.5, 2.363271801207355, 4.0),
    (math::GAMMA, 20.5, 5.406242982335075e+17, 4.0),
    (math::GAMMA, 100.1, 1.478454494651475e+156, 4.0),
    (math::GAMMA, 170.5, 5.56209241456e+305, 4.0),
    (math::LOGGAMMA, 0.5, 0.5723649429247001, 4.0),
    (math::LOGGAMMA, 1.5, -0.12078223763524522, 4.0),
    (math::LOGGAMMA, 5.0, 3.1780538303479458, 4.0),
    (math::LOGGAMMA, 0.1, 2.252712651734206, 4.0),
    (math::LOGGAMMA, 100.1, 359.59427178885676, 4.0),
    (math::LOGGAMMA, 10000000000.0, 220258509288.81058, 4.0),
    (math::LOGGAMMA, -1.5, 0.860047015376481, 4.0),
    (math::LOGGAMMA, 1.1, -0.049872441259839764, 4.0),
    (math::LOGABSGAMMA, -0.5, 1.2655121234846454, 8.0),
    (math::LOGABSGAMMA, -2.7, -0.07140708531564569, 16.0),
    (math::LOGABSGAMMA, 0.3, 1.0957979948180756, 8.0),
    (math::DIGAMMA, 0.1, -10.423754940411076, 4.0),
    (math::DIGAMMA, 0.5, -1.9635100260214235, 4.0),
    (math::DIGAMMA, 1.0, -0.5772156649015329, 8.0),
    (math::DIGAMMA, 2.0, 0.42278433509846713, 8.0),
    (math::DIGAMMA, 5.0, 1.5061176684318005, 4.0),
    (math::DIGAMMA, 100.0, 4.600161852738087, 4.0),
    (math::DIGAMMA, -0.5, 0.03648997397857652, 16.0),
    (math::DIGAMMA, -1.3, 2.8825405488661673, 4.0),
    (math::DIGAMMA, 10000000000.0, 23.025850929890456, 4.0),
    (math::DIGAMMA, 1e-10, -10000000000.577215, 4.0),
    (math::DIGAMMA, 10.5, 2.3030010342976865, 4.0),
    (math::TRIGAMMA, 0.1, 101.43329915079275, 4.0),
    (math::TRIGAMMA, 0.5, 4.934802200544679, 4.0),
    (math::TRIGAMMA, 1.0, 1.6449340668482264, 4.0),
    (math::TRIGAMMA, 2.0, 0.6449340668482264, 4.0),
    (math::TRIGAMMA, 5.0, 0.22132295573711533, 4.0),
    (math::TRIGAMMA, 100.0, 0.010050166663333571, 4.0),
    (math::TRIGAMMA, -0.5, 8.934802200544679, 4.0),
    (math::TRIGAMMA, -1.3, 14.53687624413708, 4.0),
    (math::TRIGAMMA, 10000000000.0, 1.00000000005e-10, 4.0),
    (math::TRIGAMMA, 1e-10, 1e+20, 4.0),
    (math::ERFINV, 0.1, 0.08885599049425769, 2.0),
    (math::ERFINV, -0.1, -0.08885599049425769, 2.0),
    (math::ERFINV, 0.5, 0.4769362762044699, 2.0),
    (math::ERFINV, -0.5, -0.4769362762044699, 2.0),
    (math::ERFINV, 0.9, 1.1630871536766743, 2.0),
    (math::ERFINV, 0.999999, 3.458910737275499, 2.0),
    (math::ERFINV, -0.75, -0.8134198475976185, 2.0),
    (math::ERFINV, 1e-10, 8.862269254527581e-11, 2.0),
    (math::ERFINV, 1e-300, 8.86226925452758e-301, 2.0),
    (math::ERFINV, 0.51, 0.4881220505159588, 2.0),
    (math::ERFCINV, 0.1, 1.163087153676674, 2.0),
    (math::ERFCINV, 0.3, 0.7328690779592169, 2.0),
    (math::ERFCINV, 0.5, 0.4769362762044699, 2.0),
    (math::ERFCINV, 0.7, 0.2724627147267544, 2.0),
    (math::ERFCINV, 1.2, -0.17914345462129164, 2.0),
    (math::ERFCINV, 1.5, -0.4769362762044699, 2.0),
    (math::ERFCINV, 1.9, -1.1630871536766738, 2.0),
    (math::ERFCINV, 1e-05, 3.123413274340875, 2.0),
    (math::ERFCINV, 1e-20, 6.601580622355143, 2.0),
    (math::ERFCINV, 1e-100, 15.065574702592645, 2.0),
    (math::ERFCINV, 1e-300, 26.209469960516124, 2.0),
    (math::ERFCX, 0.1, 0.8964569799691267, 2.0),
    (math::ERFCX, 0.7, 0.525930337349441, 2.0),
    (math::ERFCX, 2.5, 0.2108063640611436, 2.0),
    (math::ERFCX, 9.5, 0.05906467835256389, 2.0),
    (math::ERFCX, 40.0, 0.014100335983377814, 2.0),
    (math::ERFCX, 1e-05, 0.9999887163083283, 2.0),
    (math::ERFCX, -0.7, 2.7387021025613167, 2.0),
    (math::ERFCX, -2.5, 1035.814842972623, 2.0),
    (math::BESSELJ0, 0.1, 0.99750156206604, 2.0),
    (math::BESSELJ0, 0.7, 0.8812008886074053, 2.0),
    (math::BESSELJ0, 2.5, -0.048383776468198, 2.0),
    (math::BESSELJ0, 9.5, -0.19392874768742235, 2.0),
    (math::BESSELJ0, 40.0, 0.00736689058423729, 2.0),
    (math::BESSELJ0, 1e-05, 0.999999999975, 2.0),
    (math::BESSELJ0, -0.7, 0.8812008886074053, 2.0),
    (math::BESSELJ0, -2.5, -0.048383776468198, 2.0),
    (math::BESSELJ1, 0.1, 0.049937526036242, 2.0),
    (math::BESSELJ1, 0.7, 0.32899574154005895, 2.0),
    (math::BESSELJ1, 2.5, 0.49709410246427405, 2.0),
    (math::BESSELJ1, 9.5, 0.16126443075752986, 2.0),
    (math::BESSELJ1, 40.0, 0.126038318037585, 2.0),
    (math::BESSELJ1, 1e-05, 4.9999999999375e-06, 2.0),
    (math::BESSELJ1, -0.7, -0.32899574154005895, 2.0),
    (math::BESSELJ1, -2.5, -0.49709410246427405, 2.0),
    (math::BESSELY0, 0.1, -1.5342386513503667, 2.0),
    (math::BESSELY0, 0.7, -0.19066492933739512, 2.0),
    (math::BESSELY0, 2.5, 0.4980703596152319, 2.0),
    (math::BESSELY0, 9.5, 0.17121062620272384, 2.0),
    (math::BESSELY0, 40.0, 0.12593641705826092, 2.0),
    (math::BESSELY0, 1e-05, -7.40316028370197, 2.0),
    (math::BESSELY1, 0.1, -6.4589510947020266, 2.0),
    (math::BESSELY1, 0.7, -1.1032498719076334, 2.0),
    (math::BESSELY1, 2.5, 0.1459181379667858, 2.0),
    (math::BESSELY1, 9.5, 0.20317989938720768, 2.0),
    (math::BESSELY1, 40.0, -0.005793505821549633, 2.0),
    (math::BESSELY1, 1e-05, -63661.97727536548, 2.0),
    (math::BESSELI0, 0.1, 1.0025015629340956, 2.0),
    (math::BESSELI0, 0.7, 1.1263030183068092, 2.0),
    (math::BESSELI0, 2.5, 3.289839144050123, 2.0),
    (math::BESSELI0, 9.5, 1753.4809905273228, 2.0),
    (math::BESSELI0, 40.0, 1.48947747934199e+16, 2.0),
    (math::BESSELI0, 1e-05, 1.000000000025, 2.0),
    (math::BESSELI0, -0.7, 1.1263030183068092, 2.0),
    (math::BESSELI0, -2.5, 3.289839144050123, 2.0),
    (math::BESSELI1, 0.1, 0.050062526047092694, 2.0),
    (math::BESSELI1, 0.7, 0.37187967777700864, 2.0),
    (math::BESSELI1, 2.5, 2.5167162452886984, 2.0),
    (math::BESSELI1, 9.5, 1658.4530777821342, 2.0),
    (math::BESSELI1, 40.0, 1.4707396163259352e+16, 2.0),
    (math::BESSELI1, 1e-05, 5.0000000000625004e-06, 2.0),
    (math::BESSELI1, -0.7, -0.37187967777700864, 2.0),
    (math::BESSELI1, -2.5, -2.5167162452886984, 2.0),
    (math::BESSELI0X, 0.1, 0.9071009257823011, 2.0),
    (math::BESSELI0X, 0.7, 0.5593055265070683, 2.0),
    (math::BESSELI0X, 2.5, 0.27004644161220276, 2.0),
    (math::BESSELI0X, 9.5, 0.13125126081426788, 2.0),
    (math::BESSELI0X, 40.0, 0.06327827987523534, 2.0),
    (math::BESSELI0X, 1e-05, 0.9999900000749996, 2.0),
    (math::BESSELI0X, -0.7, 0.5593055265070683, 2.0),
    (math::BESSELI0X, -2.5, 0.27004644161220276, 2.0),
    (math::BESSELI1X, 0.1, 0.045298446808809324, 2.0),
    (math::BESSELI1X, 0.7, 0.18466998276274732, 2.0),
    (math::BESSELI1X, 2.5, 0.20658464953126657, 2.0),
    (math::BESSELI1X, 9.5, 0.12413824765488178, 2.0),
    (math::BESSELI1X, 40.0, 0.062482229074442064, 2.0),
    (math::BESSELI1X, 1e-05, 4.999950000312499e-06, 2.0),
    (math::BESSELI1X, -0.7, -0.18466998276274732, 2.0),
    (math::BESSELI1X, -2.5, -0.20658464953126657, 2.0),
    (math::BESSELK0X, 0.1, 2.6823261022628944, 2.0),
    (math::BESSELK0X, 0.7, 1.3301236562420558, 2.0),
    (math::BESSELK0X, 2.5, 0.7595486903280996, 2.0),
    (math::BESSELK0X, 9.5, 0.40156513211540534, 2.0),
    (math::BESSELK0X, 40.0, 0.19755558495729816, 2.0),
    (math::BESSELK0X, 1e-05, 11.628973270095617, 2.0),
    (math::BESSELK1X, 0.1, 10.890182683049696, 2.0),
    (math::BESSELK1X, 0.7, 2.1150113128480523, 2.0),
    (math::BESSELK1X, 2.5, 0.900174423907878, 2.0),
    (math::BESSELK1X, 9.5, 0.42219454297695785, 2.0),
    (math::BESSELK1X, 40.0, 0.20000996725443349, 2.0),
    (math::BESSELK1X, 1e-05, 100000.99994435512, 2.0),
];

/// Polygamma functions: order, argument, value, and the units in the last place it may be off by.
#[rustfmt::skip]
const POLYGAMMA: &[(i64, f64, f64, f64)] = &[
    (0, 1.0, -0.5772156649015329, 8.0),
    (1, 1.0, 1.6449340668482264, 4.0),
    (2, 0.1, -2001.8614573783436, 16.0),
    (2, 0.5, -16.82879664423432, 16.0),
    (2, 1.0, -2.4041138063191885, 16.0),
    (2, 5.0, -0.048789732245114494, 16.0),
    (2, 100.0, -0.00010100499983335, 16.0),
    (2, -0.5, -0.82879664423432, 64.0),
    (2, -1.3, 68.54941347116214, 64.0),
    (2, 10000000000.0, -1.0000000001e-20, 16.0),
    (2, 1e-10, -1.9999999999999998e+30, 16.0),
    (3, 1.0, 6.493939402266829, 16.0),
    (3, -2.7, 768.9626351155225, 64.0),
    (4, 0.25, -24584.375388637935, 16.0),
    (5, 12.5, 9.562271597107644e-05, 16.0),
    (10, 1.0, -3630593.311606629, 16.0),
    (10, -3.4, 85517174484.77713, 128.0),
    (20, 2.5, -10709198259.124132, 32.0),
    (50, 0.7, -2.4158770698104964e+72, 64.0),
    (100, 30.0, -626546063.6686132, 128.0),
    (101, 30.0, 2106781739.5112221, 4096.0),
    (150, 200.0, -3.7942152199759047e-85, 16384.0),
    (101, -1.25, 2.4235062493571303e+221, 16384.0),
];

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

/// The same for ops of two operands.
#[rustfmt::skip]
const BINARY: &[(Op, [f64; 2], f64, f64)] = &[
    (math::GAMMA_P, [0.5, 0.2], 0.4729107431344619, 32.0),
    (math::GAMMA_Q, [0.5, 0.2], 0.5270892568655381, 32.0),
    (math::GAMMA_P, [2.5, 1.0], 0.15085496391539036, 32.0),
    (math::GAMMA_Q, [2.5, 1.0], 0.8491450360846097, 32.0),
    (math::GAMMA_P, [2.5, 9.0], 0.9970535954121197, 32.0),
    (math::GAMMA_Q, [2.5, 9.0], 0.0029464045878802906, 32.0),
    (math::GAMMA_P, [10.0, 12.0], 0.7576078383294876, 32.0),
    (math::GAMMA_Q, [10.0, 12.0], 0.24239216167051233, 32.0),
    (math::GAMMA_P, [30.0, 20.0], 0.02181821752555739, 32.0),
    (math::GAMMA_Q, [30.0, 20.0], 0.9781817824744427, 32.0),
    (math::ATAN2, [1.0, 2.0], 0.4636476090008061, 1.0),
    (math::ATAN2, [-1.0, 2.0], -0.4636476090008061, 1.0),
    (math::ATAN2, [1.0, -2.0], 2.677945044588987, 1.0),
    (math::ATAN2, [-1.0, -2.0], -2.677945044588987, 1.0),
    (math::ATAN2, [1e-300, 1e+300], 0.0, 1.0),
    (math::POW, [2.0, 0.5], 1.4142135623730951, 1.0),
    (math::POW, [3.0, -2.0], 0.1111111111111111, 1.0),
    (math::POW, [-3.0, 3.0], -27.0, 1.0),
    (math::POW, [-3.0, -4.0], 0.012345679012345678, 1.0),
    (math::POW, [0.1, 300.0], 1.0000000000000166e-300, 1.0),
    (math::POW, [10.0, 308.0], 1e+308, 1.0),
    (math::POW, [1.0000001, 10000000.0], 2.7182816941320818, 1.0),
    (math::POW, [1e-05, 0.1], 0.31622776601683794, 1.0),
    (math::HYPOT, [3.0, 4.0], 5.0, 1.0),
    (math::HYPOT, [1.0, 1.0], 1.4142135623730951, 1.0),
    (math::HYPOT, [1e+300, 1e+300], 1.4142135623730952e+300, 1.0),
    (math::HYPOT, [1e-300, 1e-300], 1.414213562373095e-300, 1.0),
    (math::HYPOT, [1.0, 1e-05], 1.00000000005, 1.0),
    (math::BETA, [0.5, 0.5], 3.141592653589793, 64.0),
    (math::BETA, [1.0, 2.0], 0.5, 64.0),
    (math::BETA, [2.5, 3.5], 0.03681553890925539, 64.0),
    (math::BETA, [0.1, 10.0], 7.5913800009109895, 64.0),
    (math::BETA, [5.0, 100.0], 2.1747990376949217e-09, 64.0),
    (math::BETA, [200.0, 300.0], 1.6485491608664747e-147, 512.0),
    (math::BETA, [0.5, 1000.0], 0.056056918840616005, 64.0),
    (math::BETA, [30.0, 0.25], 1.5540380702225471, 64.0),
    (math::BETA, [1e-05, 1e-05], 199999.9999671018, 64.0),
    (math::LOGBETA, [0.5, 0.5], 1.1447298858494002, 16.0),
    (math::LOGBETA, [2.5, 3.5], -3.301835269962053, 16.0),
    (math::LOGBETA, [0.1, 10.0], 2.0270133931824375, 16.0),
    (math::LOGBETA, [5.0, 100.0], -19.946329573136683, 16.0),
    (math::LOGBETA, [200.0, 300.0], -337.98011306546465, 16.0),
    (math::LOGBETA, [0.5, 1000.0], -2.8813876965715766, 16.0),
    (math::LOGBETA, [100000.0, 1000000.0], -335104.4969524304, 16.0),
    (math::LOGBETA, [1e-05, 100000000.0], 11.512735486088436, 16.0),
];
