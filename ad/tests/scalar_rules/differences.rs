//! Rules against central differences with Richardson extrapolation, at points where the op is
//! smooth; and `f32` against `f64`.

use super::*;

/// The derivative of `f` at `x` by central differences with Richardson extrapolation (Ridders'
/// method: the entry of the table whose neighbours agree best), and an estimate of its error.
fn difference(f: impl Fn(f64) -> f64, x: f64) -> (f64, f64) {
    let mut h = 0.02 * x.abs().max(0.05);
    let mut row: Vec<f64> = Vec::new();
    let (mut best, mut error) = (f64::NAN, f64::INFINITY);
    for i in 0..10 {
        let mut next = vec![(f(x + h) - f(x - h)) / (2.0 * h)];
        let mut factor = 1.0;
        for j in 0..i {
            factor *= 2.0;
            next.push((next[j] * factor * factor - row[j]) / (factor * factor - 1.0));
            let estimate = (next[j + 1] - next[j]).abs().max((next[j + 1] - row[j]).abs());
            if estimate <= error {
                (best, error) = (next[j + 1], estimate);
            }
        }
        row = next;
        h /= 2.0;
    }
    (best, error)
}

/// Points at which an op is smooth; at least one for each side of its kinks.
fn points(op: Op) -> Vec<Vec<f64>> {
    let one = |xs: &[f64]| xs.iter().map(|&x| vec![x]).collect::<Vec<_>>();
    let two = |xs: &[[f64; 2]]| xs.iter().map(|x| x.to_vec()).collect::<Vec<_>>();
    match op {
        m::SQRT | m::LOG | m::LOG2 | m::LOG10 => one(&[0.3, 1.7, 40.0]),
        m::CBRT => one(&[-2.5, 0.3, 9.0]),
        m::LOG1P => one(&[-0.6, 0.2, 8.0]),
        m::ASIN | m::ACOS | m::ATANH | m::ERFINV => one(&[-0.7, 0.2, 0.93]),
        m::ACOSH => one(&[1.2, 3.0, 50.0]),
        m::ERFCINV => one(&[0.2, 0.9, 1.6]),
        m::TAN => one(&[-1.1, 0.3, 1.2]),
        m::GAMMA => one(&[-1.5, 0.4, 3.3, 9.5]),
        m::LOGGAMMA => one(&[0.4, 3.3, 20.0]),
        m::LOGABSGAMMA => one(&[-0.5, 0.4, 3.3]),
        m::DIGAMMA => one(&[-0.5, 0.4, 3.3, 12.0]),
        m::BESSELY0 | m::BESSELY1 | m::BESSELK0X | m::BESSELK1X => one(&[0.3, 1.7, 9.0]),
        m::SINC => one(&[-2.3, -0.06, 0.04, 0.09, 0.11, 0.7, 5.5]),
        arith::FLOOR | arith::CEIL | arith::ROUND | arith::TRUNC => one(&[-1.3, 0.3, 2.7]),
        arith::ADD | arith::SUB | arith::MUL | arith::MULZ => two(&[[1.3, -0.7], [-20.0, 3.0]]),
        arith::FDIV => two(&[[1.3, -0.7], [-20.0, 3.0]]),
        arith::MAX | arith::MIN => two(&[[1.3, -0.7], [-0.7, 1.3]]),
        arith::COPYSIGN => two(&[[1.3, -0.7], [1.3, 0.7], [-1.3, -0.7], [-1.3, 0.7]]),
        arith::FREM | arith::FLOOR_MOD => {
            two(&[[7.3, 2.1], [-7.3, 2.1], [7.3, -2.1], [-7.3, -2.1], [0.3, 5.0]])
        }
        m::ATAN2 => two(&[[1.3, 0.7], [1.3, -0.7], [-1.3, 0.7], [0.2, 5.0]]),
        m::POW => two(&[[1.3, 2.7], [0.4, -1.5], [3.0, 0.5], [7.0, 3.0]]),
        m::POWI => two(&[[1.3, 3.0], [-0.4, -2.0], [2.5, 1.0], [2.5, 0.0], [0.9, 12.0]]),
        m::POLYGAMMA => two(&[[1.3, 2.0], [-0.4, 2.0], [2.5, 3.0], [12.0, 0.0], [0.9, 5.0]]),
        m::HYPOT => two(&[[1.3, -0.7], [-3.0, 4.0]]),
        m::BETA | m::LOGBETA => two(&[[1.3, 0.7], [4.5, 2.5]]),
        arith::FMA => vec![vec![1.3, -0.7, 2.0]],
        _ => one(&[-1.3, 0.3, 2.2]),
    }
}

#[test]
fn rules_agree_with_differences() {
    for (op, name, count) in ops() {
        for point in points(op) {
            assert_eq!(point.len(), count, "{name}");
            for position in 0..count {
                if takes_order(op) && position == 1 {
                    continue;
                }
                let by_rule = partial(op, position, &arguments(op, &point));
                let at = |x: f64| {
                    let mut moved = point.clone();
                    moved[position] = x;
                    value(op, &arguments(op, &moved), Type::F64).unwrap()
                };
                let (measured, error) = difference(at, point[position]);
                let far = (by_rule - measured).abs();
                let scale = measured.abs().max(by_rule.abs()).max(1e-3);
                assert!(
                    far <= 10.0 * error + 1e-9 * scale && far <= 1e-8 * scale,
                    "{name} by operand {position} at {point:?}: the rule says {by_rule}, \
                     differences {measured} +- {error:e}"
                );
            }
        }
    }
}

/// The two types have the same rules, so that they differ by rounding alone.
#[test]
fn f32_agrees_with_f64() {
    for (op, name, count) in ops() {
        for point in points(op) {
            let point: Vec<f64> = point.iter().map(|&x| f64::from(x as f32)).collect();
            for position in 0..count {
                if takes_order(op) && position == 1 {
                    continue;
                }
                let args = arguments(op, &point);
                let wide = partial(op, position, &args);
                let how = How { ty: Type::F32, ..PLAIN };
                let narrow = run(&context(), op, position, &args, how).0.unwrap();
                let far = (wide - narrow).abs();
                assert!(
                    far <= 2e-5 * wide.abs().max(0.05),
                    "{name} by operand {position} at {point:?}: {narrow} as f32, {wide} as f64"
                );
            }
        }
    }
}

/// Inverses have inverse derivatives.
#[test]
fn inverses() {
    let pairs = [
        (m::EXP, m::LOG),
        (m::EXP2, m::LOG2),
        (m::EXP10, m::LOG10),
        (m::EXPM1, m::LOG1P),
        (m::SIN, m::ASIN),
        (m::TAN, m::ATAN),
        (m::SINH, m::ASINH),
        (m::TANH, m::ATANH),
        (m::ERF, m::ERFINV),
        (m::ERFC, m::ERFCINV),
    ];
    for (f, inverse) in pairs {
        for x in [-0.9, 0.1, 0.8] {
            let y = value(f, &args(&[x]), Type::F64).unwrap();
            let product = partial(f, 0, &args(&[x])) * partial(inverse, 0, &args(&[y]));
            assert!((product - 1.0).abs() < 1e-13, "{f:?} at {x}: {product}");
        }
    }
}

/// A seed multiplies, whatever it is.
#[test]
fn products_are_linear_in_the_seed() {
    for (op, name, count) in ops() {
        for point in points(op) {
            for position in 0..count {
                if takes_order(op) && position == 1 {
                    continue;
                }
                let args = arguments(op, &point);
                let one = partial(op, position, &args);
                for strong_zero in [false, true] {
                    let how = How { seed: -2.5, strong_zero, ..PLAIN };
                    let product = run(&context(), op, position, &args, how).0.unwrap();
                    let far = (product + 2.5 * one).abs();
                    assert!(far <= 1e-15 * 2.5 * one.abs(), "{name} at {point:?}: {product} {one}");
                }
            }
        }
    }
}
