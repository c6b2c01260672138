//! The square root, and the cube root and the hypotenuse, which are nearly always correctly rounded.

use crate::double::{SHIFT, polynomial, product, sum_ordered};
use crate::lanes::Lanes;
use crate::tables::root::INVERSE;

/// The square root; NaN if `x` is negative.
#[inline(always)]
pub fn sqrt<L: Lanes>(x: L) -> L {
    x.sqrt()
}

/// The cube root, without divisions: by the inverse root of what is left of a power of eight, after Householder.
#[inline(always)]
pub fn cbrt<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let unusual =
        L::either(size.lt(L::splat(f64::MIN_POSITIVE)), size.not_lt(L::splat(f64::INFINITY)));
    plain(size).or(x.sign()).replace(unusual, [x], |[x]| {
        let of: f64 = x.into();
        if of.is_finite() && of != 0.0 {
            // 2^54 is the cube of 2^18.
            let root: f64 = plain::<L::Lane>((of.abs() * 18_014_398_509_481_984.0).into()).into();
            (root / 262_144.0).copysign(of).into()
        } else {
            (of + of).into()
        }
    })
}

#[inline(always)]
fn plain<L: Lanes>(x: L) -> L {
    let exponent = x.shr::<52>().or(L::splat(4_503_599_627_370_496.0))
        - L::splat(4_503_599_627_370_496.0 + 1023.0);
    // A third of it, in the low bits; the exponent of the rest is -1, 0 or 1.
    let third = exponent.fma(L::splat(1.0 / 3.0), L::splat(SHIFT)).shl::<52>();
    let m = x.sub_bits(third).sub_bits(third.add_bits(third));
    let mut inverse = polynomial(&INVERSE, m);
    for _ in 0..2 {
        let e = (-(m * inverse)).fma(inverse * inverse, L::splat(1.0));
        inverse = (inverse * e).fma(e.fma(L::splat(2.0 / 9.0), L::splat(1.0 / 3.0)), inverse);
    }
    let inverse_square = inverse * inverse;
    let root = m * inverse_square;
    let square = product(root, root);
    let error = (-square.low).fma(root, (-square.high).fma(root, m));
    let root = (error * inverse_square).fma(L::splat(1.0 / 3.0), root);
    root.add_bits(third)
}

/// `sqrt(x^2 + y^2)`; infinite if either is, even if the other is NaN.
#[inline(always)]
pub fn hypot<L: Lanes>(x: L, y: L) -> L {
    let (x, y) = (x.abs(), y.abs());
    let swap = x.lt(y);
    let (long, short) = (L::select(swap, y, x), L::select(swap, x, y));
    let unusual = L::either(long.lt(L::splat(1e-120)), long.not_lt(L::splat(1e150)));
    // NaN compares with nothing: as the shorter side it is not found above.
    let unusual = L::either(unusual, short.not_lt(L::splat(1e150)));
    side(long, short).replace(unusual, [long, short], |[long, short]| {
        let (a, b): (f64, f64) = (long.into(), short.into());
        if a.is_infinite() || b.is_infinite() {
            f64::INFINITY.into()
        } else if a.is_nan() || b.is_nan() {
            (a + b).into()
        } else if a == 0.0 {
            0.0.into()
        } else {
            let (scale, back) = if a > 1.0 { (SMALL, LARGE) } else { (LARGE, SMALL) };
            let side: f64 = side::<L::Lane>((a * scale).into(), (b * scale).into()).into();
            (side * back).into()
        }
    })
}

/// `2^600` and its inverse.
const LARGE: f64 = f64::from_bits((1023 + 600) << 52);
const SMALL: f64 = f64::from_bits((1023 - 600) << 52);

#[inline(always)]
fn side<L: Lanes>(long: L, short: L) -> L {
    let (a, b) = (product(long, long), product(short, short));
    let square = sum_ordered(a.high, b.high);
    let low = square.low + (a.low + b.low);
    let root = square.high.sqrt();
    let rest = (-root).fma(root, square.high) + low;
    rest.fma(L::splat(0.5) / root, root)
}
