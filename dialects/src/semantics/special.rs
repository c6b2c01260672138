//! The gamma function and its family, and the inverses of the error functions.
//!
//! `gamma` and `loggamma` are those of `libm`; Bessel and incomplete functions are those of `pxfm`; the others are series and iterations over them,
//! as [`SpecialFunctions.jl`](https://specialfunctions.juliamath.org) has them. As elsewhere,
//! `f32` is computed in 64 bits.
//!
//! ```
//! use regraft_dialects::semantics::special::gamma;
//!
//! assert_eq!(gamma(5.0).unwrap(), 24.0);
//! ```

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

/// [`math::POLYGAMMA`](crate::math::POLYGAMMA).
///
/// `(-1)^(n+1) n!` times the Hurwitz zeta function of `n + 1` (Abramowitz and Stegun 6.4.10), which
/// is a sum whose tail is that of Euler and Maclaurin (23.1.30); below zero by reflection (6.4.7).
/// To about `1e-14` up to order 100; beyond, where powers and factorials go through logarithms, to
/// about `1e-12`, and to the leading term beyond order 1000.
pub fn polygamma<T: Float>(x: T, n: i64) -> T {
    T::round_from(polygamma_wide(x.wide(), n))
}

fn polygamma_wide(x: f64, n: i64) -> f64 {
    match n {
        ..0 => return f64::NAN,
        0 => return digamma_wide(x),
        1 => return trigamma_wide(x),
        2.. => {}
    }
    if x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
    if x <= 0.0 && x.trunc() == x {
        return match (n % 2, x == 0.0) {
            (1, _) => f64::INFINITY,
            (_, true) => f64::NEG_INFINITY.copysign(-x),
            (_, false) => f64::NAN,
        };
    }
    if x > 0.0 {
        return sign * positive_polygamma(x, n);
    }
    if n <= 100 {
        return -positive_polygamma(1.0 - x, n) - PI * cot_derivative(x, n);
    }
    // The terms next to the pole count alone.
    let (nearest, order) = (-x.round(), n as f64 + 1.0);
    let terms = (-40..=40).map(|i| nearest + f64::from(i)).filter(|&k| k >= 0.0).map(|k| {
        let size = libm::exp(log_gamma(order).0 - order * libm::log((x + k).abs()));
        if n % 2 == 0 && x + k < 0.0 { -size } else { size }
    });
    sign * terms.sum::<f64>()
}

/// The polygamma function without its sign, for `x > 0` and `n > 1`.
fn positive_polygamma(x: f64, n: i64) -> f64 {
    let s = n as f64 + 1.0;
    if x == f64::INFINITY {
        return 0.0;
    }
    // The sum relative to its first term, x^-s.
    let sum = if n > 1000 { -1.0 / libm::expm1(-s / x) } else { hurwitz_ratio(x, s) };
    if n > 100 {
        return libm::exp(log_gamma(s).0 - s * libm::log(x) + libm::log(sum));
    }
    // One factor after the other: their products overflow no earlier than the result, or nearly.
    (1..=n).fold(sum / x, |product, k| product * (k as f64 / x))
}

/// `x^s` times the Hurwitz zeta function.
fn hurwitz_ratio(x: f64, s: f64) -> f64 {
    let (mut at, mut sum) = (x, 0.0);
    while at < 12.0 + 1.5 * s {
        sum += libm::pow(x / at, s);
        at += 1.0;
    }
    let square = 1.0 / (at * at);
    // B2/2! s/at + B4/4! s (s+1) (s+2)/at^3 + ...
    let (mut factor, mut tail) = (s / (2.0 * at), 0.0);
    for (i, b) in BERNOULLI.iter().enumerate() {
        tail += b * factor;
        let j = 2.0 * i as f64;
        factor *= (s + j + 1.0) * (s + j + 2.0) / ((j + 3.0) * (j + 4.0)) * square;
    }
    sum + libm::pow(x / at, s) * (at / (s - 1.0) + 0.5 + tail)
}

/// The derivative of order `n` of `cot(pi x)`: a polynomial of the cotangent, as that of the cotangent is
/// `-(1 + cot^2)`.
fn cot_derivative(x: f64, n: i64) -> f64 {
    let mut polynomial = vec![0.0, 1.0];
    for _ in 0..n {
        let mut next = vec![0.0; polynomial.len() + 1];
        for (k, c) in polynomial.iter().enumerate().skip(1) {
            let slope = PI * k as f64 * c;
            next[k - 1] -= slope;
            next[k + 1] -= slope;
        }
        polynomial = next;
    }
    let cot = cospi_wide(x) / sinpi_wide(x);
    polynomial.iter().rev().fold(0.0, |sum, c| sum * cot + c)
}

/// The part of `loggamma(x)` that Stirling's formula leaves, for `x >= 10`.
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

/// Functions of one float, computed in 64 bits.
macro_rules! of_one {
    ($($name:ident, $op:ident = $function:path;)*) => {
        $(
            #[doc = concat!("[`math::", stringify!($op), "`](crate::math::", stringify!($op), ").")]
            pub fn $name<T: Float>(x: T) -> T {
                T::round_from($function(x.wide()))
            }
        )*
    };
}

of_one! {
    erfcx, ERFCX = pxfm::f_erfcx;
    besselj0, BESSELJ0 = pxfm::f_j0;
    besselj1, BESSELJ1 = pxfm::f_j1;
    bessely0, BESSELY0 = pxfm::f_y0;
    bessely1, BESSELY1 = pxfm::f_y1;
    besseli0, BESSELI0 = pxfm::f_i0;
    besseli1, BESSELI1 = pxfm::f_i1;
    besseli0x, BESSELI0X = pxfm::f_i0e;
    besseli1x, BESSELI1X = pxfm::f_i1e;
    besselk0x, BESSELK0X = pxfm::f_k0e;
    besselk1x, BESSELK1X = pxfm::f_k1e;
}

/// [`math::GAMMA_P`](crate::math::GAMMA_P).
pub fn gamma_p<T: Float>(a: T, x: T) -> T {
    let (a, x) = (a.wide(), x.wide());
    T::round_from(if in_domain(&[a]) && x >= 0.0 { pxfm::f_gamma_p(a, x) } else { f64::NAN })
}

/// [`math::GAMMA_Q`](crate::math::GAMMA_Q).
pub fn gamma_q<T: Float>(a: T, x: T) -> T {
    let (a, x) = (a.wide(), x.wide());
    T::round_from(if in_domain(&[a]) && x >= 0.0 { pxfm::f_gamma_q(a, x) } else { f64::NAN })
}

/// [`math::BETA_INC`](crate::math::BETA_INC).
pub fn beta_inc<T: Float>(a: T, b: T, x: T) -> T {
    let (a, b, x) = (a.wide(), b.wide(), x.wide());
    T::round_from(match x {
        _ if !in_domain(&[a, b]) => f64::NAN,
        0.0 | 1.0 => x,
        // The distribution is that of the gamma function here, and `pxfm` would take the logarithm of 0.
        _ if x > 0.0 && 1.0 - x == 1.0 && x > (a + 1.0) / (a + b + 2.0) => {
            pxfm::f_gamma_p(a, (b * x).min(f64::MAX))
        }
        _ if x > 0.0 && x < 1.0 => pxfm::f_betainc_reg(a, b, x),
        _ => f64::NAN,
    })
}

/// Returns whether these may be the parameters of an incomplete function; `pxfm` fails for others.
fn in_domain(parameters: &[f64]) -> bool {
    parameters.iter().all(|p| p.is_finite() && *p > 0.0)
}
