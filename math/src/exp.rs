//! Exponentials: `exp`, `exp2`, `exp10`, `expm1`.
//!
//! Tang's method ("Table-driven implementation of the exponential function", ACM TOMS 15, 1989): the argument
//! is `k * ln(2) / 16 + r`, a table holds the powers of two to sixteenths, and a polynomial gives `exp(r) - 1`,
//! which is so small that its error hardly counts. Errors are at most .54 units in the last place.

use crate::double::{Double, SHIFT, polynomial, product, scale, sum, sum_ordered};
use crate::lanes::Lanes;
use crate::tables::exponential::*;

/// Arguments below this in size have powers that are normal floats.
const PLAIN: f64 = 708.0;

/// `2^(steps / 16) * (1 + r + rest)`.
pub struct Power<L> {
    /// The whole number `steps` in the low bits.
    steps: L,
    r: L,
    rest: L,
}

impl<L: Lanes> Power<L> {
    /// Of `2^(steps / 16) * exp(r)`, with what is to be added to `r`.
    #[inline(always)]
    fn new(steps: L, r: L, low: L) -> Self {
        let q = r.fma(polynomial(&REST, r), L::splat(0.5));
        Self { steps, r, rest: (r * r).fma(q, low) }
    }

    #[inline(always)]
    fn e(x: L) -> Self {
        let steps = x.fma(L::splat(STEPS), L::splat(SHIFT));
        let k = steps - L::splat(SHIFT);
        // The first difference is exact.
        let r = k.fma(L::splat(-STEP_LOW), k.fma(L::splat(-STEP), x));
        Self::new(steps, r, L::look_up(&TAILS, steps))
    }

    /// `exp(x)` for a number that is given to twice the precision, to about 65 bits.
    #[inline(always)]
    pub fn exact(x: Double<L>) -> Self {
        let steps = x.high.fma(L::splat(STEPS), L::splat(SHIFT));
        let k = steps - L::splat(SHIFT);
        let r = k.fma(L::splat(-STEP), x.high);
        let r = sum_ordered(r, k.fma(L::splat(-STEP_LOW), x.low));
        let tail = L::look_up(&TAILS, steps);
        Self::new(steps, r.high, r.high.fma(tail, r.low + tail))
    }

    /// `exp(x)` for `x` that is not positive, to about 60 bits of what it is less than 1.
    #[inline(always)]
    pub fn below_one(x: L) -> Self {
        let steps = x.fma(L::splat(STEPS), L::splat(SHIFT));
        let k = steps - L::splat(SHIFT);
        let r = k.fma(L::splat(-STEP), x);
        // Where the product with `k` is not below the last bit of `r`, the power is small.
        let tail = L::look_up(&TAILS, steps);
        Self::new(steps, r, r.fma(tail, k.fma(L::splat(-STEP_LOW), tail)))
    }

    #[inline(always)]
    fn two(x: L) -> Self {
        // Rounds to sixteenths; what is below them in the sum is its whole number of these.
        let steps = x + L::splat(SHIFT / 16.0);
        let part = x - (steps - L::splat(SHIFT / 16.0));
        let r = product(part, L::splat(LN_2));
        Self::new(steps, r.high, part.fma(L::splat(LN_2_LOW), r.low) + L::look_up(&TAILS, steps))
    }

    #[inline(always)]
    fn ten(x: L) -> Self {
        let steps = x.fma(L::splat(STEPS_10), L::splat(SHIFT));
        let k = steps - L::splat(SHIFT);
        let part = k.fma(L::splat(-STEP_10_LOW), k.fma(L::splat(-STEP_10), x));
        let r = part.fma(L::splat(LN_10), part * L::splat(LN_10_LOW));
        Self::new(steps, r, L::look_up(&TAILS, steps))
    }

    /// `2^(steps / 16)`, for powers that are normal floats.
    #[inline(always)]
    fn scale(&self) -> L {
        let exponent = self.steps.and(L::bits(!15)).shl::<48>();
        L::look_up(&POWERS, self.steps).add_bits(exponent)
    }

    /// The power, if it is a normal float.
    #[inline(always)]
    pub fn plain(&self) -> L {
        let scale = self.scale();
        scale.fma(self.r + self.rest, scale)
    }

    /// The power to twice the precision.
    #[inline(always)]
    pub fn double(&self) -> Double<L> {
        let scale = self.scale();
        self.with(Double { high: scale, low: L::splat(0.0) }, scale)
    }

    /// The power less 1, to twice the precision.
    #[inline(always)]
    pub fn less_one(&self) -> Double<L> {
        let scale = self.scale();
        self.with(sum(scale, L::splat(-1.0)), scale)
    }

    /// The power, which is at most 1, less 1, to twice the precision.
    #[inline(always)]
    pub fn small_less_one(&self) -> Double<L> {
        let scale = self.scale();
        self.with(sum_ordered(L::splat(-1.0), scale), scale)
    }

    /// The sum of a number and `scale * (r + rest)`. The number is zero or greater than this.
    #[inline(always)]
    fn with(&self, whole: Double<L>, scale: L) -> Double<L> {
        let of_r = product(scale, self.r);
        let most = sum_ordered(whole.high, of_r.high);
        let low = scale.fma(self.rest, of_r.low + (whole.low + most.low));
        Double { high: most.high, low }.normal()
    }
}

impl<L: Lanes<Mask = bool> + Into<f64> + From<f64>> Power<L> {
    /// The power times `2^more`, rounded once whatever its size.
    #[inline(always)]
    pub fn scaled(self, more: i64) -> f64 {
        let bits: f64 = self.steps.into();
        // The sign of the number is the bit below those of `SHIFT` that never change.
        let steps = ((bits.to_bits() << 13) as i64) >> 13;
        let one = Self { steps: L::bits(bits.to_bits() & 15), ..self }.double();
        scale(Double { high: one.high.into(), low: one.low.into() }, (steps >> 4) + more)
    }
}

/// Returns `inf`, 0 or NaN for arguments of exponentials that are above, below, or no number.
#[inline(always)]
fn outside(x: f64, least: f64, most: f64) -> Option<f64> {
    if x > most {
        Some(f64::INFINITY)
    } else if x < least {
        Some(0.0)
    } else {
        x.is_nan().then_some(x + x)
    }
}

macro_rules! power {
    ($(#[$doc:meta])* $name:ident = $of:expr, $plain:expr, $least:expr, $most:expr) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<L: Lanes>(x: L) -> L {
            $of(x).plain().replace(x.abs().not_lt(L::splat($plain)), [x], |[x]| {
                outside(x.into(), $least, $most).unwrap_or_else(|| $of(x).scaled(0)).into()
            })
        }
    };
}

/// `exp(x)` to about 65 bits.
#[inline(always)]
pub fn exact<L: Lanes>(x: L) -> Power<L> {
    Power::exact(Double { high: x, low: L::splat(0.0) })
}

power! {
    /// `e` to the power `x`.
    exp = Power::e, PLAIN, -745.2, 709.8
}

power! {
    /// 2 to the power `x`.
    exp2 = Power::two, 1022.0, -1075.1, 1024.1
}

power! {
    /// 10 to the power `x`.
    exp10 = Power::ten, 307.0, -323.7, 308.3
}

/// `exp(x) - 1`.
#[inline(always)]
pub fn expm1<L: Lanes>(x: L) -> L {
    let plain = exact(x).less_one().rounded();
    let tiny = x.abs().lt(L::splat(1e-17));
    L::select(tiny, x, plain).replace(x.abs().not_lt(L::splat(PLAIN)), [x], |[x]| {
        let of: f64 = x.into();
        outside(of, -700.0, 709.8)
            .map_or_else(|| exact(x).scaled(0), |power| power - f64::from(of < 0.0))
            .into()
    })
}

/// Below this, odd functions with slope 1 at 0 are their argument, as far as floats go.
pub const TINY: f64 = 3e-9;
