//! Logarithms: `log`, `log2`, `log10`, `log1p`.
//!
//! A number is `2^k * z`; a table holds the inverse of a middle near `z`, and the logarithm of that middle to
//! twice the precision; a polynomial gives the logarithm of `z` over the middle, `1 + r`. The middle of the
//! interval around 1 is 1, so that nothing cancels there. Errors are at most .55 units in the last place.

use crate::double::{Double, polynomial, product, sum, sum_ordered};
use crate::lanes::Lanes;
use crate::tables::logarithm::*;

/// The bits where the first of the sixteen intervals starts.
const START: u64 = 0x3fe6_8000_0000_0000;

/// A float as `2^k * z`, with `z` in the intervals of a table with `2^(52 - SHIFT)` rows.
pub struct Parts<L> {
    /// The row of `z`, in the low bits.
    pub row: L,
    /// The exponent, as a number.
    pub k: L,
    /// `2^-k`, or zero.
    inverse: L,
    /// The rest.
    pub z: L,
}

impl<L: Lanes> Parts<L> {
    /// Takes a normal positive float apart.
    #[inline(always)]
    pub fn new<const SHIFT: u32>(x: L, start: u64) -> Self {
        // 1024 more than the exponent stands above the mantissa.
        let from_start = x.add_bits(L::bits((1024 << 52) - start));
        let exponent = from_start.and(L::bits(0xfff << 52));
        let k = from_start.shr::<52>().or(L::splat(4_503_599_627_370_496.0));
        Self {
            row: from_start.shr::<SHIFT>(),
            k: k - L::splat(4_503_599_627_370_496.0 + 1024.0),
            inverse: L::bits(2047 << 52).sub_bits(exponent),
            z: x.sub_bits(exponent).add_bits(L::bits(1024 << 52)),
        }
    }
}

/// The constants of a base.
struct Base {
    heads: &'static [f64; 16],
    tails: &'static [f64; 16],
    /// The logarithm of 2.
    two: (f64, f64),
    /// The logarithm of e; `None` if it is 1.
    e: Option<(f64, f64)>,
}

const NATURAL: Base = Base { heads: &HEADS_E, tails: &TAILS_E, two: (TWO_E, TWO_E_LOW), e: None };
const BINARY: Base = Base {
    heads: &HEADS_2,
    tails: &TAILS_2,
    two: (TWO_2, TWO_2_LOW),
    e: Some((SCALE_2, SCALE_2_LOW)),
};
const DECIMAL: Base = Base {
    heads: &HEADS_10,
    tails: &TAILS_10,
    two: (TWO_10, TWO_10_LOW),
    e: Some((SCALE_10, SCALE_10_LOW)),
};

/// The logarithm of `x + low`, of which `x` is normal and positive, times `2^more`.
#[inline(always)]
fn logarithm<L: Lanes>(base: &Base, x: L, low: Option<L>, more: f64) -> L {
    let parts = Parts::new::<48>(x, START);
    let k = parts.k + L::splat(more);
    let inverse = L::look_up(&INVERSES, parts.row);
    let ratio = product(parts.z, inverse);
    let r = ratio.high - L::splat(1.0);
    let mut r_low = ratio.low;
    if let Some(low) = low {
        r_low = (low * parts.inverse).fma(inverse, r_low);
    }
    // log(1 + r + r_low) = r + rest.
    let rest = (-r).fma(r_low, r_low);
    let rest = (r * r).fma(r.fma(polynomial(&REST, r), L::splat(-0.5)), rest);
    let head = k.fma(L::splat(base.two.0), L::look_up(base.heads, parts.row));
    let tail = k.fma(L::splat(base.two.1), L::look_up(base.tails, parts.row));
    let (most, tail) = match base.e {
        None => (sum_ordered(head, r), tail + rest),
        Some((scale, scale_low)) => {
            let of_r = product(r, L::splat(scale));
            let low = r.fma(L::splat(scale_low), of_r.low) + tail;
            (sum_ordered(head, of_r.high), rest.fma(L::splat(scale), low))
        }
    };
    most.high + (most.low + tail)
}

/// The logarithm of what is no normal positive float.
#[inline(always)]
fn special<L: Lanes<Mask = bool> + Into<f64> + From<f64>>(base: &Base, x: L) -> L {
    let of: f64 = x.into();
    if of == 0.0 {
        f64::NEG_INFINITY.into()
    } else if of < 0.0 {
        f64::NAN.into()
    } else if of < f64::INFINITY {
        logarithm(base, (of * 18_014_398_509_481_984.0).into(), None, -54.0)
    } else {
        (of + of).into()
    }
}

macro_rules! logarithms {
    ($($(#[$doc:meta])* $name:ident = $base:ident;)*) => {
        $($(#[$doc])*
        #[inline(always)]
        pub fn $name<L: Lanes>(x: L) -> L {
            let outside = L::either(x.lt(L::splat(f64::MIN_POSITIVE)), x.not_lt(L::splat(f64::INFINITY)));
            logarithm(&$base, x, None, 0.0).replace(outside, [x], |[x]| special(&$base, x))
        })*
    };
}

logarithms! {
    /// The natural logarithm; NaN if `x` is negative.
    log = NATURAL;
    /// The logarithm to base 2; NaN if `x` is negative.
    log2 = BINARY;
    /// The logarithm to base 10; NaN if `x` is negative.
    log10 = DECIMAL;
}

/// `log(1 + x)`; NaN if `x` is less than -1.
#[inline(always)]
pub fn log1p<L: Lanes>(x: L) -> L {
    let Double { high, low } = sum(L::splat(1.0), x);
    let plain = logarithm(&NATURAL, high, Some(low), 0.0);
    let tiny = x.abs().lt(L::splat(1e-12));
    let outside =
        L::either(high.lt(L::splat(f64::MIN_POSITIVE)), x.not_lt(L::splat(f64::INFINITY)));
    L::select(tiny, (x * L::splat(-0.5)).fma(x, x), plain).replace(outside, [x], |[x]| {
        let of: f64 = x.into();
        special(&NATURAL, (1.0 + of).into())
    })
}
