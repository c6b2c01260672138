//! Sine, cosine and tangent.
//!
//! An angle is `k * pi / 16 + r`, by the method of Cody and Waite with pi in three parts, or by that of Payne and
//! Hanek for large angles, one at a time. A table holds the sines of multiples of `pi / 16`, and polynomials give
//! sine and cosine of `r`. Errors are at most .53 units in the last place.

use crate::double::{Double, SHIFT, polynomial, product, sum_ordered};
use crate::exp::TINY;
use crate::lanes::{Lanes, SIGN};
use crate::large_angle;
use crate::tables::trigonometric::*;

/// Angles below this are reduced in lanes.
const PLAIN: f64 = 4_194_304.0;

/// An angle: `sixteenths * pi / 16 + r + low`.
struct Angle<L> {
    /// A whole number in the low bits.
    sixteenths: L,
    r: L,
    low: L,
}

impl<L: Lanes> Angle<L> {
    /// Of an angle below [`PLAIN`].
    #[inline(always)]
    fn new(x: L) -> Self {
        let sixteenths = x.fma(L::splat(SIXTEENTHS), L::splat(SHIFT));
        let k = sixteenths - L::splat(SHIFT);
        // Exact, and so is the product with the middle of pi, which has 28 bits.
        let most = k.fma(L::splat(-SIXTEENTH), x);
        let middle = k * L::splat(SIXTEENTH_MIDDLE);
        let r = most - middle;
        let low = k.fma(L::splat(-SIXTEENTH_LOW), (most - r) - middle);
        Self { sixteenths, r, low }
    }

    /// The sine of the angle and `turn` sixteenths of pi, but for its sign, which is the second.
    #[inline(always)]
    fn sine(&self, turn: u64) -> (Double<L>, L) {
        let at = if turn == 0 { self.sixteenths } else { self.sixteenths.add_bits(L::bits(turn)) };
        let (sine, cosine) = (look_up(&SINES, &SINES_LOW, at), look_up(&COSINES, &COSINES_LOW, at));
        // The table holds half a circle.
        (self.small().turned(sine, cosine), at.shl::<59>().sign())
    }

    /// The sine and the cosine of the angle.
    #[inline(always)]
    fn sine_and_cosine(&self) -> [L; 2] {
        let at = self.sixteenths;
        let (sine, cosine) = (look_up(&SINES, &SINES_LOW, at), look_up(&COSINES, &COSINES_LOW, at));
        let small = self.small();
        // cos(a + r) = sin(a') + cos(a') * -r, where the sine of a' is the cosine of a, and its cosine the sine.
        let minus = L::bits(SIGN);
        let back = Small { r: small.r.xor(minus), of_sine: small.of_sine.xor(minus), ..small };
        let sign = at.shl::<59>().sign();
        let (of_sine, of_cosine) = (small.turned(sine, cosine), back.turned(cosine, sine));
        [of_sine.rounded().xor(sign), of_cosine.rounded().xor(sign)]
    }

    /// The angle but for its sixteenths.
    #[inline(always)]
    fn small(&self) -> Small<L> {
        let square = self.r * self.r;
        let of_sine = (self.r * square).fma(polynomial(&SINE, square), self.low);
        let of_cosine = square * square.fma(polynomial(&COSINE, square), L::splat(-0.5));
        Small { r: self.r, of_sine, of_cosine }
    }

    #[inline(always)]
    fn rounded_sine(&self, turn: u64) -> L {
        let (sine, sign) = self.sine(turn);
        sine.rounded().xor(sign)
    }

    #[inline(always)]
    fn tangent(&self) -> L {
        let ((sine, sign), (cosine, other)) = (self.sine(0), self.sine(8));
        sine.normal().over(cosine.normal()).rounded().xor(sign.xor(other))
    }
}

/// A small angle: `sin(r) = r + of_sine`, `cos(r) = 1 + of_cosine`.
#[derive(Clone, Copy)]
struct Small<L> {
    r: L,
    of_sine: L,
    of_cosine: L,
}

impl<L: Lanes> Small<L> {
    /// The sine of the sum of this and an angle `a`: `sin(a) + cos(a) * r` and small terms.
    #[inline(always)]
    fn turned(&self, sine: Double<L>, cosine: Double<L>) -> Double<L> {
        let linear = product(cosine.high, self.r);
        let most = sum_ordered(sine.high, linear.high);
        let low = cosine.high.fma(self.of_sine, sine.high.fma(self.of_cosine, most.low));
        let table_low = cosine.low.fma(self.r, sine.low);
        Double { high: most.high, low: low + (linear.low + table_low) }
    }
}

/// The numbers of two tables at the low bits of each lane.
#[inline(always)]
fn look_up<L: Lanes>(high: &'static [f64; 16], low: &'static [f64; 16], at: L) -> Double<L> {
    Double { high: L::look_up(high, at), low: L::look_up(low, at) }
}

impl<L: Lanes<Mask = bool> + Into<f64> + From<f64>> Angle<L> {
    /// Of a finite angle that is not below [`PLAIN`].
    #[inline(always)]
    fn large(x: f64) -> Self {
        let (sixteenths, part) = large_angle::reduce(x);
        let high: L = part.high.into();
        let r = product(high, L::splat(SIXTEENTH));
        let low = L::splat(SIXTEENTH).fma(part.low.into(), r.low);
        let r = sum_ordered(r.high, high.fma(L::splat(SIXTEENTH_REST), low));
        Self { sixteenths: L::bits(sixteenths), r: r.high, low: r.low }
    }
}

/// The sine of an angle in radians; NaN if it is infinite.
#[inline(always)]
pub fn sin<L: Lanes>(x: L) -> L {
    let tiny = x.abs().lt(L::splat(TINY));
    let plain = L::select(tiny, x, Angle::new(x).rounded_sine(0));
    plain.replace(x.abs().not_lt(L::splat(PLAIN)), [x], |[x]| {
        large(x, |angle| angle.rounded_sine(0))
    })
}

/// The cosine of an angle in radians; NaN if it is infinite.
#[inline(always)]
pub fn cos<L: Lanes>(x: L) -> L {
    let plain = Angle::new(x).rounded_sine(8);
    plain.replace(x.abs().not_lt(L::splat(PLAIN)), [x], |[x]| {
        large(x, |angle| angle.rounded_sine(8))
    })
}

/// The sine and the cosine of an angle in radians; NaN if it is infinite.
///
/// They have the bits of [`sin`] and [`cos`], from one reduction of the angle and one evaluation of the polynomials.
#[inline(always)]
pub fn sincos<L: Lanes>(x: L) -> [L; 2] {
    let tiny = x.abs().lt(L::splat(TINY));
    let [sine, cosine] = Angle::new(x).sine_and_cosine();
    let huge = x.abs().not_lt(L::splat(PLAIN));
    let sine = L::select(tiny, x, sine);
    [
        sine.replace(huge, [x], |[x]| large(x, |angle| angle.rounded_sine(0))),
        cosine.replace(huge, [x], |[x]| large(x, |angle| angle.rounded_sine(8))),
    ]
}

/// The tangent of an angle in radians; NaN if it is infinite.
#[inline(always)]
pub fn tan<L: Lanes>(x: L) -> L {
    let tiny = x.abs().lt(L::splat(TINY));
    let plain = L::select(tiny, x, Angle::new(x).tangent());
    plain.replace(x.abs().not_lt(L::splat(PLAIN)), [x], |[x]| large(x, |angle| angle.tangent()))
}

#[inline(always)]
fn large<L: Lanes<Mask = bool> + Into<f64> + From<f64>>(x: L, f: impl Fn(Angle<L>) -> L) -> L {
    let of: f64 = x.into();
    if of.is_finite() { f(Angle::large(of)) } else { (of * 0.0).into() }
}
