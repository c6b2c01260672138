//! Elementary functions.
//!
//! They are those of `regraft-math`, whose bits are the same on every machine and in vectors, and
//! which are correctly rounded but for a few results in a thousand. Inverses of hyperbolic functions
//! and the complementary error function are those of `libm` (a port of musl's). For `f32` they are
//! computed in 64 bits and rounded, which is the correctly rounded result but for rare ties.
//!
//! ```
//! use regraft_dialects::semantics::math::{hypot, sqrt};
//!
//! assert_eq!(hypot(3.0, 4.0), 5.0);
//! assert!(sqrt(-1.0).is_err());
//! ```

use std::f64::consts::PI;

use regraft_math as elementary;

use super::{Float, Number, Trap};
use crate::ir::Type;

/// The low part of pi: `PI + PI_LOW` is pi to 107 bits.
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

#[cold]
fn domain<T: Float, R>(function: &'static str, x: T) -> Result<R, Trap> {
    Err(Trap::Domain { function, value: Number::Float(x.wide()) })
}

/// Functions that are defined everywhere.
macro_rules! total {
    ($($(#[$doc:meta])* $name:ident = $f:expr;)*) => {
        $($(#[$doc])*
        #[inline]
        pub fn $name<T: Float>(x: T) -> T {
            T::round_from($f(x.wide()))
        })*
    };
}

/// Functions that trap where the second expression does not hold. It holds for NaN.
macro_rules! partial {
    ($($(#[$doc:meta])* $name:ident = $f:expr, if $holds:expr;)*) => {
        $($(#[$doc])*
        ///
        /// # Errors
        /// [`Trap::Domain`] where it is not defined as a real number.
        #[inline]
        pub fn $name<T: Float>(x: T) -> Result<T, Trap> {
            let wide = x.wide();
            #[allow(clippy::redundant_closure_call, reason = "it is an expression in `x`")]
            if $holds(wide) { Ok(T::round_from($f(wide))) } else { domain(stringify!($name), x) }
        })*
    };
}

total! {
    /// [`math::CBRT`](crate::math::CBRT).
    cbrt = elementary::cbrt;
    /// [`math::EXP`](crate::math::EXP).
    exp = elementary::exp;
    /// [`math::EXP2`](crate::math::EXP2).
    exp2 = elementary::exp2;
    /// [`math::EXP10`](crate::math::EXP10).
    exp10 = elementary::exp10;
    /// [`math::EXPM1`](crate::math::EXPM1).
    expm1 = elementary::expm1;
    /// [`math::ATAN`](crate::math::ATAN).
    atan = elementary::atan;
    /// [`math::SINH`](crate::math::SINH).
    sinh = elementary::sinh;
    /// [`math::COSH`](crate::math::COSH).
    cosh = elementary::cosh;
    /// [`math::TANH`](crate::math::TANH).
    tanh = elementary::tanh;
    /// [`math::ASINH`](crate::math::ASINH).
    asinh = libm::asinh;
    /// [`math::SINC`](crate::math::SINC).
    sinc = sinc_wide;
    /// [`math::ERF`](crate::math::ERF).
    erf = elementary::erf;
    /// [`math::ERFC`](crate::math::ERFC).
    erfc = libm::erfc;
}

// The negated comparisons hold for NaN.
#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is in every domain")]
mod partial {
    use super::{Float, Trap, cospi_wide, domain, elementary, sinpi_wide};

    partial! {
        /// [`math::LOG`](crate::math::LOG).
        log = elementary::log, if |x: f64| !(x < 0.0);
        /// [`math::LOG2`](crate::math::LOG2).
        log2 = elementary::log2, if |x: f64| !(x < 0.0);
        /// [`math::LOG10`](crate::math::LOG10).
        log10 = elementary::log10, if |x: f64| !(x < 0.0);
        /// [`math::LOG1P`](crate::math::LOG1P).
        log1p = elementary::log1p, if |x: f64| !(x < -1.0);
        /// [`math::SIN`](crate::math::SIN).
        sin = elementary::sin, if |x: f64| !x.is_infinite();
        /// [`math::COS`](crate::math::COS).
        cos = elementary::cos, if |x: f64| !x.is_infinite();
        /// [`math::TAN`](crate::math::TAN).
        tan = elementary::tan, if |x: f64| !x.is_infinite();
        /// [`math::ASIN`](crate::math::ASIN).
        asin = elementary::asin, if |x: f64| !(x.abs() > 1.0);
        /// [`math::ACOS`](crate::math::ACOS).
        acos = elementary::acos, if |x: f64| !(x.abs() > 1.0);
        /// [`math::ACOSH`](crate::math::ACOSH).
        acosh = libm::acosh, if |x: f64| !(x < 1.0);
        /// [`math::ATANH`](crate::math::ATANH).
        atanh = libm::atanh, if |x: f64| !(x.abs() > 1.0);
        /// [`math::SINPI`](crate::math::SINPI).
        sinpi = sinpi_wide, if |x: f64| !x.is_infinite();
        /// [`math::COSPI`](crate::math::COSPI).
        cospi = cospi_wide, if |x: f64| !x.is_infinite();
    }
}

pub use partial::*;

/// [`math::SQRT`](crate::math::SQRT).
///
/// # Errors
/// [`Trap::Domain`] if `x` is negative.
#[inline]
pub fn sqrt<T: Float>(x: T) -> Result<T, Trap> {
    if x < T::ZERO { domain("sqrt", x) } else { Ok(x.sqrt()) }
}

/// [`math::ATAN2`](crate::math::ATAN2).
#[inline]
pub fn atan2<T: Float>(y: T, x: T) -> T {
    T::round_from(elementary::atan2(y.wide(), x.wide()))
}

/// [`math::HYPOT`](crate::math::HYPOT).
#[inline]
pub fn hypot<T: Float>(x: T, y: T) -> T {
    T::round_from(elementary::hypot(x.wide(), y.wide()))
}

/// [`math::POW`](crate::math::POW).
///
/// # Errors
/// [`Trap::Domain`] if `x` is negative and `y` is finite and not whole.
#[inline]
pub fn pow<T: Float>(x: T, y: T) -> Result<T, Trap> {
    if x < T::ZERO && y.isfinite() && y.trunc() != y {
        return domain("the power to a fraction", x);
    }
    Ok(T::round_from(elementary::pow(x.wide(), y.wide())))
}

/// [`math::POWI`](crate::math::POWI).
///
/// Powers by squaring, with what each product loses kept in a second float, as in Julia's
/// `pow_body` (`base/math.jl`), which gives the same bits where there is a fused
/// multiply-add. O(log n), and at most 15 squarings.
pub fn powi<T: Float>(x: T, n: i64) -> T {
    let wide = x.wide();
    if n == 0 {
        return T::round_from(1.0);
    }
    if n == 1 {
        return x;
    }
    if n == 3 {
        return x * x * x;
    }
    if n == -2 {
        let inverse = T::round_from(1.0) / x;
        return inverse * inverse;
    }
    if T::TYPE == Type::F32 && n < 0 {
        return T::round_from(powi_wide(1.0 / wide, n.saturating_neg()));
    }
    T::round_from(powi_wide(wide, n))
}

fn powi_wide(x: f64, n: i64) -> f64 {
    if !(-(1 << 12)..=3 << 13).contains(&n) {
        return elementary::pow(x.abs(), n as f64).copysign(if n % 2 == 0 { 1.0 } else { x });
    }
    let (mut x, mut n, mut x_low) = (x, n, 0.0);
    if n < 0 {
        let inverse = 1.0 / x;
        if x.is_finite() {
            x_low = -x.mul_add(inverse, -1.0) * inverse;
        }
        x = inverse;
        n = -n;
    }
    let (mut y, mut y_low) = (1.0f64, 0.0f64);
    while n > 1 {
        if n & 1 == 1 {
            let error = y.mul_add(x_low, x * y_low);
            (y, y_low) = two_product(x, y);
            y_low += error;
        }
        let error = x * 2.0 * x_low;
        (x, x_low) = two_product(x, x);
        x_low += error;
        n >>= 1;
    }
    let error = y.mul_add(x_low, x * y_low);
    if x.is_finite() && error.is_finite() { x.mul_add(y, error) } else { x * y }
}

/// A product and what rounding took from it.
fn two_product(x: f64, y: f64) -> (f64, f64) {
    let product = x * y;
    (product, x.mul_add(y, -product))
}

/// Takes a finite float apart into `2 * k + n / 2 + rest` with `n` in `-2..=2` and `rest` in
/// `[-1/4, 1/4]`, exactly.
fn half_turns(x: f64) -> (i32, f64) {
    let turn = libm::remainder(x, 2.0);
    let halves = (2.0 * turn).round_ties_even();
    (halves as i32, turn - 0.5 * halves)
}

/// `sin(pi * x)` and `cos(pi * x)` for small `x`, with pi to twice the precision.
fn sin_cos_pi(x: f64) -> (f64, f64) {
    let angle = PI * x;
    let low = PI.mul_add(x, -angle) + PI_LOW * x;
    let (sin, cos) = (elementary::sin(angle), elementary::cos(angle));
    (sin + low * cos, cos - low * sin)
}

pub(super) fn sinpi_wide(x: f64) -> f64 {
    if x.trunc() == x {
        return 0.0f64.copysign(x);
    }
    let (halves, rest) = half_turns(x);
    let (sin, cos) = sin_cos_pi(rest);
    match halves {
        0 => sin,
        1 => cos,
        -1 => -cos,
        _ => -sin,
    }
}

pub(super) fn cospi_wide(x: f64) -> f64 {
    let (halves, rest) = half_turns(x);
    let (sin, cos) = sin_cos_pi(rest);
    match halves {
        _ if rest == 0.0 && halves.abs() == 1 => 0.0,
        0 => cos,
        1 => -sin,
        -1 => sin,
        _ => -cos,
    }
}

fn sinc_wide(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        sinpi_wide(x) / (PI * x)
    }
}
