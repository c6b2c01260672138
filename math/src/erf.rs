//! The error function: its series around multiples of 1/64.
//!
//! Its derivatives are its first derivative times Hermite polynomials, so that a table needs its value and its
//! first derivative alone. Errors are at most .53 units in the last place.

use crate::double::{SHIFT, product, sum_ordered};
use crate::lanes::Lanes;
use crate::tables::error::{SLOPES, SLOPES_LOW, VALUES, VALUES_LOW};

const fn padded(table: &[f64; 385]) -> [f64; 512] {
    let mut longer = [0.0; 512];
    let mut i = 0;
    while i < table.len() {
        longer[i] = table[i];
        i += 1;
    }
    longer
}

static VALUE: [f64; 512] = padded(&VALUES);
static VALUE_LOW: [f64; 512] = padded(&VALUES_LOW);
static SLOPE: [f64; 512] = padded(&SLOPES);
static SLOPE_LOW: [f64; 512] = padded(&SLOPES_LOW);

/// The error function.
#[inline(always)]
pub fn erf<L: Lanes>(x: L) -> L {
    let size = x.abs();
    let most = L::splat(6.0);
    let size = L::select(most.lt(size), most, size);
    let steps = size + L::splat(SHIFT / 64.0);
    let r = steps - L::splat(SHIFT / 64.0);
    let d = size - r;
    let row = steps.and(L::bits(511));
    let linear = product(L::gather(&SLOPE, row), d);
    let most = sum_ordered(L::gather(&VALUE, row), linear.high);
    let low =
        L::gather(&SLOPE_LOW, row).fma(d, linear.low) + (most.low + L::gather(&VALUE_LOW, row));
    let low = linear.high.fma(d * series(r, d), low);
    (most.high + low).or(x.sign())
}

/// `((erf(r + d) - erf(r)) / (erf'(r) d) - 1) / d`.
#[inline(always)]
fn series<L: Lanes>(r: L, d: L) -> L {
    let a = r * r;
    // Hermite polynomials over factorials, but for the factor `r` of those of odd order.
    let value = hermite(&[-1.0 / 42.0, 1.0 / 7.0, -2.0 / 21.0, 4.0 / 315.0], a);
    let value = value.fma(d, r * hermite(&[-1.0 / 6.0, 2.0 / 9.0, -2.0 / 45.0], a));
    let value = value.fma(d, hermite(&[0.1, -0.4, 2.0 / 15.0], a));
    let value = value.fma(d, r * hermite(&[0.5, -1.0 / 3.0], a));
    let value = value.fma(d, hermite(&[-1.0 / 3.0, 2.0 / 3.0], a));
    value.fma(d, -r)
}

#[inline(always)]
fn hermite<L: Lanes, const N: usize>(coefficients: &[f64; N], a: L) -> L {
    let mut value = L::splat(coefficients[N - 1]);
    let mut at = N - 1;
    while at > 0 {
        at -= 1;
        value = value.fma(a, L::splat(coefficients[at]));
    }
    value
}
