//! The gamma function and its family, and the inverses of the error functions.
//!
//! `gamma` and `loggamma` are those of `libm`; the others are series and iterations over them,
//! as [`SpecialFunctions.jl`](https://specialfunctions.juliamath.org) has them. As elsewhere,
//! `f32` is computed in 64 bits.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use super::math::{cospi_wide, sinpi_wide};
use super::{Float, Number, Trap};

/// `log(2 * pi) / 2`.
const HALF_LOG_2PI: f64 = 0.918_938_533_204_672_8;

/// The Bernoulli numbers B2, B4, ...
const BERNOULLI: [f64; 8] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
];

#[cold]
fn domain<T: Float, R>(function: &'static str, x: T) -> Result<R, Trap> {
    Err(Trap::Domain { function, value: Number::Float(x.wide()) })
}

/// [`math::GAMMA`](crate::math::GAMMA).
///
/// # Errors
/// [`Trap::Domain`] at negative whole numbers and `-inf`.
pub fn gamma<T: Float>(x: T) -> Result<T, Trap> {
    let result = libm::tgamma(x.wide());
    if result.is_nan() && !x.isnan() {
        return domain("gamma", x);
    }
    Ok(T::round_from(result))
}

/// The logarithm of the absolute value of the gamma function, and its sign.
fn log_gamma(x: f64) -> (f64, f64) {
    let (log, sign) = libm::lgamma_r(x);
    (log, if sign < 0 { -1.0 } else { 1.0 })
}

/// [`math::LOGGAMMA`](crate::math::LOGGAMMA).
///
/// # Errors
/// [`Trap::Domain`] where the gamma function is negative.
pub fn loggamma<T: Float>(x: T) -> Result<T, Trap> {
    match log_gamma(x.wide()) {
        (_, sign) if sign < 0.0 => domain("loggamma", x),
        (log, _) => Ok(T::round_from(log)),
    }
}

/// [`math::LOGABSGAMMA`](crate::math::LOGABSGAMMA).
pub fn logabsgamma<T: Float>(x: T) -> T {
    T::round_from(log_gamma(x.wide()).0)
}

/// [`math::DIGAMMA`](crate::math::DIGAMMA).
///
/// Abramowitz and Stegun 6.3.7 (reflection), 6.3.6 (recurrence), 6.3.18 (asymptotic series).
pub fn digamma<T: Float>(x: T) -> T {
    T::round_from(digamma_wide(x.wide()))
}

fn digamma_wide(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x.trunc() == x {
            return f64::NAN;
        }
        return digamma_wide(1.0 - x) - PI * cospi_wide(x) / sinpi_wide(x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = BERNOULLI
        .iter()
        .enumerate()
        .rev()
        .fold(0.0, |tail, (i, b)| square * (tail + b / (2 * i + 2) as f64));
    sum + (libm::log(x) - 0.5 * inverse - series)
}

/// [`math::TRIGAMMA`](crate::math::TRIGAMMA).
///
/// Abramowitz and Stegun 6.4.7 (reflection), 6.4.6 (recurrence), 6.4.12 (asymptotic series).
pub fn trigamma<T: Float>(x: T) -> T {
    T::round_from(trigamma_wide(x.wide()))
}

fn trigamma_wide(x: f64) -> f64 {
    if x <= 0.0 {
        if x == f64::NEG_INFINITY {
            return f64::NAN;
        }
        if x.trunc() == x {
            return f64::INFINITY;
        }
        let ratio = PI / sinpi_wide(x);
        return ratio * ratio - trigamma_wide(1.0 - x);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = BERNOULLI.iter().rev().fold(0.0, |tail, b| square * (tail + b));
    sum + (inverse + 0.5 * square + inverse * series)
}

/// What Stirling's formula leaves of `loggamma(x)`, for `x >= 10`.
fn stirling_rest(x: f64) -> f64 {
    let square = 1.0 / (x * x);
    let series = BERNOULLI
        .iter()
        .enumerate()
        .rev()
        .fold(0.0, |tail, (i, b)| square * tail + b / ((2 * i + 1) * (2 * i + 2)) as f64);
    series / x
}

/// The logarithm of the absolute value of the beta function, and its sign.
///
/// For large arguments, Stirling's formula with what cancels left out, as `DLBETA` of SLATEC
/// (Fullerton) has it; otherwise by its definition.
fn log_beta(x: f64, y: f64) -> (f64, f64) {
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    if small >= 10.0 && large.is_finite() {
        let sum = small + large;
        let rest = stirling_rest(small) + stirling_rest(large) - stirling_rest(sum);
        let log = -0.5 * libm::log(large)
            + HALF_LOG_2PI
            + rest
            + (small - 0.5) * libm::log(small / sum)
            + large * libm::log1p(-small / sum);
        return (log, 1.0);
    }
    if small > 0.0 && large >= 10.0 && large.is_finite() {
        let sum = small + large;
        let rest = stirling_rest(large) - stirling_rest(sum);
        let log = log_gamma(small).0 + rest + small - small * libm::log(sum)
            + (large - 0.5) * libm::log1p(-small / sum);
        return (log, 1.0);
    }
    if small > 0.0 && large == f64::INFINITY {
        // The limit.
        return (f64::NEG_INFINITY, 1.0);
    }
    let ((a, a_sign), (b, b_sign)) = (log_gamma(x), log_gamma(y));
    let (c, c_sign) = log_gamma(x + y);
    (a + b - c, a_sign * b_sign * c_sign)
}

/// [`math::BETA`](crate::math::BETA).
pub fn beta<T: Float>(x: T, y: T) -> T {
    let (x, y) = (x.wide(), y.wide());
    if x > 0.0 && y > 0.0 && x + y < 20.0 {
        // Nothing overflows on the way unless the result does.
        let ratio = libm::tgamma(x.max(y)) / libm::tgamma(x + y);
        return T::round_from(libm::tgamma(x.min(y)) * ratio);
    }
    let (log, sign) = log_beta(x, y);
    T::round_from(sign * libm::exp(log))
}

/// [`math::LOGBETA`](crate::math::LOGBETA).
///
/// # Errors
/// [`Trap::Domain`] where the beta function is negative.
pub fn logbeta<T: Float>(x: T, y: T) -> Result<T, Trap> {
    match log_beta(x.wide(), y.wide()) {
        (_, sign) if sign < 0.0 => domain("logbeta", x),
        (log, _) => Ok(T::round_from(log)),
    }
}

/// [`math::ERFINV`](crate::math::ERFINV).
///
/// # Errors
/// [`Trap::Domain`] outside `[-1, 1]`.
pub fn erfinv<T: Float>(x: T) -> Result<T, Trap> {
    let wide = x.wide();
    if wide.abs() > 1.0 {
        return domain("erfinv", x);
    }
    Ok(T::round_from(if wide.abs() <= 0.5 {
        erfinv_near_zero(wide)
    } else {
        // The difference is exact.
        erfcinv_small(1.0 - wide.abs()).copysign(wide)
    }))
}

/// [`math::ERFCINV`](crate::math::ERFCINV).
///
/// # Errors
/// [`Trap::Domain`] outside `[0, 2]`.
pub fn erfcinv<T: Float>(x: T) -> Result<T, Trap> {
    let wide = x.wide();
    if !(0.0..=2.0).contains(&wide) && !wide.is_nan() {
        return domain("erfcinv", x);
    }
    Ok(T::round_from(if wide < 0.5 {
        erfcinv_small(wide)
    } else if wide > 1.5 {
        -erfcinv_small(2.0 - wide)
    } else {
        erfinv_near_zero(1.0 - wide)
    }))
}

/// The inverse of `erf` on `[-1/2, 1/2]`: the series around 0, then Halley's method.
fn erfinv_near_zero(x: f64) -> f64 {
    // The coefficients of the Maclaurin series in (sqrt(pi) x / 2), of which four give at least
    // two digits.
    let z = x / FRAC_2_SQRT_PI;
    let square = z * z;
    let mut y = z * (1.0 + square * (1.0 / 3.0 + square * (7.0 / 30.0 + square * 127.0 / 630.0)));
    for _ in 0..3 {
        let step = (libm::erf(y) - x) / (FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= step / (1.0 + y * step);
    }
    y
}

/// The inverse of `erfc` on `[0, 1/2]`: an asymptotic start, then Halley's method.
fn erfcinv_small(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    // erfc(y) ~ exp(-y^2) / (y sqrt(pi)), once inverted by fixed-point iteration.
    let log = -libm::log(x * PI.sqrt());
    let mut y = log.max(0.25).sqrt();
    y = (log - libm::log(y)).max(0.2).sqrt();
    for _ in 0..6 {
        let step = (x - libm::erfc(y)) / (FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= step / (1.0 + y * step);
    }
    y
}
