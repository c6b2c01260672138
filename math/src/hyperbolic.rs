//! Hyperbolic sine, cosine and tangent, of exponentials to twice the precision.
//!
//! Errors are at most .55 units in the last place.

use crate::double::{Double, polynomial, sum_ordered};
use crate::exp::{Power, TINY, exact};
use crate::lanes::Lanes;
use crate::tables::hyperbolic::INVERSE;

/// Below this, the exponential is a normal float.
const PLAIN: f64 = 708.0;

/// The hyperbolic tangent: `m / (m + 2)` where `m` is `exp(2 x) - 1`, for negative `x`.
#[inline(always)]
pub fn tanh<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let most = L::splat(22.0);
    let near = L::select(most.lt(size), most, size);
    let m = Power::below_one(near * L::splat(-2.0)).small_less_one();
    let under = sum_ordered(L::splat(2.0), m.high);
    let under = Double { high: under.high, low: under.low + m.low };
    let quotient = m.times_inverse(under, inverse(under.high)).rounded();
    L::select(size.lt(L::splat(TINY)), x, quotient.abs().or(x.sign()))
}

/// The inverse of a number from 1 to 2, to 40 bits: by a polynomial and two steps of Newton's, which take less
/// time than a division of vectors.
#[inline(always)]
fn inverse<L: Lanes>(x: L) -> L {
    let mut inverse = polynomial(&INVERSE, x);
    for _ in 0..2 {
        inverse = (-x).fma(inverse, L::splat(2.0)) * inverse;
    }
    inverse
}

/// The hyperbolic sine: `(m + m / (m + 1)) / 2` where `m` is `exp(x) - 1`, for positive `x`.
#[inline(always)]
pub fn sinh<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let m = exact(size).less_one();
    let power = crate::double::sum(m.high, L::splat(1.0));
    let quotient = m.over(Double { high: power.high, low: power.low + m.low }.normal());
    let most = sum_ordered(m.high, quotient.high);
    let twice = most.high + (most.low + (m.low + quotient.low));
    let sine = L::select(size.lt(L::splat(TINY)), x, (twice * L::splat(0.5)).or(x.sign()));
    sine.replace(size.not_lt(L::splat(PLAIN)), [x], |[x]| {
        let of: f64 = x.into();
        half_power::<L::Lane>(of.abs()).copysign(of).into()
    })
}

/// The hyperbolic cosine: `(p + 1 / p) / 2` where `p` is `exp(x)`, for positive `x`.
#[inline(always)]
pub fn cosh<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let power = exact(size).double();
    let inverse = Double { high: L::splat(1.0), low: L::splat(0.0) }.over(power);
    let most = sum_ordered(power.high, inverse.high);
    let twice = most.high + (most.low + (power.low + inverse.low));
    (twice * L::splat(0.5)).replace(size.not_lt(L::splat(PLAIN)), [size], |[size]| {
        half_power::<L::Lane>(size.into()).into()
    })
}

/// Half of `exp(x)` for large `x`.
#[inline(always)]
fn half_power<L: Lanes<Mask = bool> + Into<f64> + From<f64>>(x: f64) -> f64 {
    if x < 711.0 { exact::<L>(x.into()).scaled(-1) } else { x * f64::INFINITY }
}
