//! Arc tangents, sines and cosines.
//!
//! All are the angle of a point, of whose coordinates `a` is not greater than `b`. The angle of `(b, a)` is that
//! of 0, 1/2 or 1, whichever is near, and a rest whose tangent is at most 1/4, for which there is a polynomial.
//! Quotients are computed to twice the precision. Errors are at most .55 units in the last place.

use crate::double::{Double, polynomial, product, sum_ordered};
use crate::exp::TINY;
use crate::lanes::Lanes;
use crate::tables::inverse_trigonometric::*;

/// The arc tangent of `a / b` for `0 <= a <= b`, which are neither huge nor tiny.
#[inline(always)]
fn angle<L: Lanes>(a: Double<L>, b: Double<L>) -> Double<L> {
    let zero = L::splat(0.0);
    let four = a.high * L::splat(4.0);
    let (is_zero, below_one) = (four.lt(b.high), four.lt(b.high * L::splat(3.0)));
    // Constants of 1/2 and of 1; those of 0 are 0.
    macro_rules! of {
        ($half:expr, $one:expr) => {
            L::select(is_zero, zero, L::select(below_one, L::splat($half), L::splat($one)))
        };
    }
    let near = of!(0.5, 1.0);
    // tan(x - y) = (tan(x) - tan(y)) / (1 + tan(x) * tan(y)); the numerator's high part is exact.
    let over = Double { high: (-near).fma(b.high, a.high), low: (-near).fma(b.low, a.low) };
    let under = near.fma(a.high, b.high);
    let under_low = near.fma(a.high, b.high - under) + near.fma(a.low, b.low);
    let q = over.over(Double { high: under, low: under_low });
    let square = q.high * q.high;
    let low = (-q.low).fma(square, q.low + of!(HALF_LOW, ONE_LOW));
    let low = (q.high * square).fma(polynomial(&ARC, square), low);
    let most = sum_ordered(of!(HALF, ONE), q.high);
    Double { high: most.high, low: most.low + low }
}

/// The angle of a point in the first quadrant: of `b` right and `a` up.
#[inline(always)]
fn quadrant<L: Lanes>(a: Double<L>, b: Double<L>) -> Double<L> {
    let steep = b.high.lt(a.high);
    let angle = angle(select(steep, b, a), select(steep, a, b));
    select(steep, angle.subtracted_from((RIGHT, RIGHT_LOW)), angle)
}

#[inline(always)]
fn select<L: Lanes>(mask: L::Mask, x: Double<L>, y: Double<L>) -> Double<L> {
    Double { high: L::select(mask, x.high, y.high), low: L::select(mask, x.low, y.low) }
}

#[inline(always)]
fn single<L: Lanes>(high: L) -> Double<L> {
    Double { high, low: L::splat(0.0) }
}

/// The arc tangent.
#[inline(always)]
pub fn atan<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let most = L::splat(1e20);
    let size = L::select(most.lt(size), most, size);
    let angle = quadrant(single(size), single(L::splat(1.0))).rounded();
    L::select(size.lt(L::splat(TINY)), x, angle.or(x.sign()))
}

/// The angle of the point `(x, y)` for any `x` and `y`.
#[inline(always)]
pub fn atan2<L: Lanes>(y: L, x: L) -> L {
    let (up, right) = (y.abs(), x.abs());
    let (least, most) = (L::splat(1e-150), L::splat(1e150));
    let unusual = L::either(
        L::either(up.not_lt(most), right.not_lt(most)),
        L::either(up.lt(least), right.lt(least)),
    );
    let angle = quadrant(single(up), single(right));
    let angle = flipped(angle, x.lt(L::splat(0.0))).or(y.sign());
    angle.replace(unusual, [y, x], |[y, x]| special::<L::Lane>(y.into(), x.into()).into())
}

/// The angle, or, where the point is on the left, that which makes two right ones with it.
#[inline(always)]
fn flipped<L: Lanes>(angle: Double<L>, left: L::Mask) -> L {
    L::select(left, angle.subtracted_from((STRAIGHT, STRAIGHT_LOW)).rounded(), angle.rounded())
}

/// The angle of a point near an axis, far away, or near the origin.
#[inline(always)]
fn special<L: Lanes<Mask = bool> + Into<f64> + From<f64>>(y: f64, x: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    let (mut up, mut right, left) = (y.abs(), x.abs(), x.is_sign_negative());
    if up.is_infinite() && right.is_infinite() {
        (up, right) = (1.0, 1.0);
    }
    let angle = if up == 0.0 || up / right < 1e-20 {
        if left { STRAIGHT } else { up / right.max(f64::from_bits(1)) }
    } else if right == 0.0 || right / up < 1e-20 {
        RIGHT
    } else {
        // Within 2^70 of each other: a power of two brings both to where nothing is lost.
        let scale =
            if up > 1.0 { f64::from_bits(0x1ff0 << 48) } else { f64::from_bits(0x5ff0 << 48) };
        let angle = quadrant::<L>(single((up * scale).into()), single((right * scale).into()));
        flipped(angle, left).into()
    };
    angle.copysign(y)
}

/// `sqrt(1 - x^2)`, for `x` within -1 and 1; NaN for others.
#[inline(always)]
fn other_side<L: Lanes>(x: L) -> Double<L> {
    let square = product(x, x);
    let rest = sum_ordered(L::splat(1.0), -square.high);
    let root = rest.high.sqrt();
    let low = (-root).fma(root, rest.high) + (rest.low - square.low);
    let low = low * (L::splat(0.5) / root);
    Double { high: root, low: L::select(L::splat(0.0).lt(root), low, L::splat(0.0)) }
}

/// The arc sine; NaN outside -1 and 1.
#[inline(always)]
pub fn asin<L: Lanes>(x: L) -> L {
    let angle = quadrant(single(x.abs()), other_side(x)).rounded();
    L::select(x.abs().lt(L::splat(TINY)), x, angle.or(x.sign()))
}

/// The arc cosine; NaN outside -1 and 1.
#[inline(always)]
pub fn acos<L: Lanes>(x: L) -> L {
    flipped(quadrant(other_side(x), single(x.abs())), x.lt(L::splat(0.0)))
}
