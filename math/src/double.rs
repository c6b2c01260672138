//! Sums and products with what rounding took from them, and polynomials.
//!
//! The algorithms are those of Dekker (1971) and Knuth; products use a fused multiply-add.

use crate::lanes::Lanes;

/// A number as a float and a smaller one that adds to it.
#[derive(Clone, Copy, Debug)]
pub struct Double<L> {
    /// The number, rounded or nearly so.
    pub high: L,
    /// The low part: the error of the high one.
    pub low: L,
}

impl<L: Lanes> Double<L> {
    /// The sum of its parts, of which the first is not smaller than the second: the nearest float first.
    #[inline(always)]
    pub fn normal(self) -> Self {
        sum_ordered(self.high, self.low)
    }

    /// The quotient of two, both normal, to about 100 bits.
    #[inline(always)]
    pub fn over(self, by: Self) -> Self {
        self.times_inverse(by, L::splat(1.0) / by.high)
    }

    /// The quotient of two, both normal, the second with its inverse to 40 bits or more.
    #[inline(always)]
    pub fn times_inverse(self, by: Self, inverse: L) -> Self {
        let high = self.high * inverse;
        let rest = (-high).fma(by.high, self.high) + (-high).fma(by.low, self.low);
        Self { high, low: rest * inverse }
    }

    /// The difference to a greater one, both normal.
    #[inline(always)]
    pub fn subtracted_from(self, greater: (f64, f64)) -> Self {
        let most = L::splat(greater.0);
        let high = most - self.high;
        let low = ((most - high) - self.high) + (L::splat(greater.1) - self.low);
        Self { high, low }
    }

    /// The float nearest to it, or nearly so.
    #[inline(always)]
    pub fn rounded(self) -> L {
        self.high + self.low
    }
}

/// A sum where the first is not smaller than the second, or zero.
#[inline(always)]
pub fn sum_ordered<L: Lanes>(x: L, y: L) -> Double<L> {
    let high = x + y;
    Double { high, low: (x - high) + y }
}

/// A sum.
#[inline(always)]
pub fn sum<L: Lanes>(x: L, y: L) -> Double<L> {
    let high = x + y;
    let of_y = high - x;
    Double { high, low: (x - (high - of_y)) + (y - of_y) }
}

/// A product.
#[inline(always)]
pub fn product<L: Lanes>(x: L, y: L) -> Double<L> {
    let high = x * y;
    Double { high, low: x.fma(y, -high) }
}

/// The value of a polynomial, its even and its odd powers apart, so that they are computed at the same time.
#[inline(always)]
pub fn polynomial<L: Lanes, const N: usize>(coefficients: &[f64; N], x: L) -> L {
    let square = x * x;
    x.fma(every_second(coefficients, 1, square), every_second(coefficients, 0, square))
}

/// The polynomial with every second coefficient of some, from the one at `first`.
#[inline(always)]
fn every_second<L: Lanes, const N: usize>(coefficients: &[f64; N], first: usize, x: L) -> L {
    let mut at = N - 1 - (N - 1 - first) % 2;
    let mut value = L::splat(coefficients[at]);
    while at > first {
        at -= 2;
        value = value.fma(x, L::splat(coefficients[at]));
    }
    value
}

/// `1.5 * 2^52`: a number that is added to this is rounded to a whole one, which is in the low bits of the sum.
pub const SHIFT: f64 = 6_755_399_441_055_744.0;

/// `2^exponent`, for exponents of normal floats.
#[inline(always)]
pub fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `x * 2^exponent` for `x` between 1/2 and 4, rounded once where it is subnormal too.
pub fn scale(x: Double<f64>, exponent: i64) -> f64 {
    let half = exponent / 2;
    let twice = |x: f64| x * power_of_two(half) * power_of_two(exponent - half);
    let most = x.high + x.low;
    if exponent > -1021 || most * power_of_two((exponent + 1022).max(-60)) >= 1.0 {
        return twice(most);
    }
    // Beside this number, which is greater, a float has the bits that the result may have.
    let beside = power_of_two((-1022 - exponent).min(60));
    let sum = beside + x.high;
    let rest = ((beside - sum) + x.high) + x.low;
    twice((sum + rest) - beside)
}
