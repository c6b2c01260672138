//! Powers: `exp(y * log(x))` with the logarithm to about 68 bits.
//!
//! The logarithm is that of `log`, with 128 rows in the table, so that `r` is small and two terms of the series
//! to twice the precision are enough. Errors are at most .53 units in the last place.

use crate::double::{Double, polynomial, product, sum_ordered};
use crate::exp::Power;
use crate::lanes::Lanes;
use crate::log::Parts;
use crate::tables::logarithm::{TWO_E, TWO_E_LOW};
use crate::tables::power::*;

/// The logarithm of a normal positive float times `2^more`.
#[inline(always)]
fn logarithm<L: Lanes>(x: L, more: f64) -> Double<L> {
    let parts = Parts::new::<45>(x, START);
    let k = parts.k + L::splat(more);
    let row = parts.row.and(L::bits(127));
    let ratio = product(parts.z, L::gather(&INVERSES, row));
    let r = ratio.high - L::splat(1.0);
    let square = product(r, r);
    let half = L::splat(-0.5);
    let head = sum_ordered(k.fma(L::splat(TWO_E), L::gather(&HEADS, row)), r);
    let most = sum_ordered(head.high, square.high * half);
    let tail = k.fma(L::splat(TWO_E_LOW), L::gather(&TAILS, row));
    let tail = (tail + ratio.low.fma(square.high - r, ratio.low)) + square.low * half;
    let tail = (square.high * r).fma(polynomial(&REST, r), tail + (head.low + most.low));
    sum_ordered(most.high, tail)
}

/// `exp(y * log)`.
#[inline(always)]
fn power<L: Lanes>(y: L, log: Double<L>) -> (L, Power<L>) {
    let exponent = product(y, log.high);
    let low = y.fma(log.low, exponent.low);
    (exponent.high, Power::exact(Double { high: exponent.high, low }))
}

/// `x` to the power `y`, as in IEEE 754; NaN if `x` is negative and `y` is finite and not whole.
#[inline(always)]
pub fn pow<L: Lanes>(x: L, y: L) -> L {
    let (exponent, power) = power(y, logarithm(x, 0.0));
    let unusual = L::either(x.lt(L::splat(f64::MIN_POSITIVE)), x.not_lt(L::splat(f64::INFINITY)));
    let unusual = L::either(unusual, exponent.abs().not_lt(L::splat(708.0)));
    power.plain().replace(unusual, [x, y], |[x, y]| special::<L::Lane>(x.into(), y.into()).into())
}

/// A power of, or to, what is not usual.
#[inline(always)]
fn special<L: Lanes<Mask = bool> + Into<f64> + From<f64>>(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    let (size, whole, odd) = (x.abs(), y.trunc() == y, (y * 0.5).trunc() != y * 0.5);
    let negative = x.is_sign_negative() && whole && odd && y.is_finite();
    let signed = |power: f64| if negative { -power } else { power };
    if y.is_infinite() {
        return if size == 1.0 {
            1.0
        } else if (size > 1.0) == (y > 0.0) {
            f64::INFINITY
        } else {
            0.0
        };
    }
    if size == 0.0 || size.is_infinite() {
        return signed(if (size == 0.0) == (y > 0.0) { 0.0 } else { f64::INFINITY });
    }
    if x < 0.0 && !whole {
        return f64::NAN;
    }
    let (scaled, more) = if size < f64::MIN_POSITIVE {
        (size * 18_014_398_509_481_984.0, -54.0)
    } else {
        (size, 0.0)
    };
    let log = logarithm::<L>(scaled.into(), more);
    let about = y * log.high.into();
    signed(if about > 710.0 {
        f64::INFINITY
    } else if about < -746.0 {
        0.0
    } else {
        power(y.into(), log).1.scaled(0)
    })
}
