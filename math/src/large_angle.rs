//! The reduction of large angles by sixteenths of pi.
//!
//! Payne and Hanek, "Radian reduction for trigonometric functions" (SIGNUM Newsletter 18, 1983): of the product
//! with `16 / pi`, only the bits that count are computed.

use crate::double::{Double, power_of_two};
use crate::lanes::SIGN;
use crate::tables::trigonometric::INVERSE;

/// Returns a whole number of sixteenths of pi, up to multiples of 32, and the rest of the angle in sixteenths, to 106
/// bits. The angle is finite and not below `2^11`.
#[inline(never)]
pub fn reduce(x: f64) -> (u64, Double<f64>) {
    let bits = x.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    // The lowest bit of the mantissa is 2^place. Bits of `16 / pi` that give multiples of 32 with it do not count.
    let place = (bits >> 52 & 0x7ff) as i64 - 1075;
    let from = place.max(0) as usize;
    let word = |i: usize| {
        let (at, bit) = (from / 64 + i, from % 64);
        ((u128::from(INVERSE[at]) << 64 | u128::from(INVERSE[at + 1])) >> (64 - bit)) as u64
    };
    // The product, as a fraction of 32.
    let mut fraction = [word(0), word(1), word(2), word(3)];
    let mut carry = 0;
    for part in fraction.iter_mut().rev() {
        let product = u128::from(*part) * u128::from(mantissa) + carry;
        (*part, carry) = (product as u64, product >> 64);
    }
    let mut above = carry as u64;
    for part in &mut fraction {
        let shifted = (u128::from(above) << 64 | u128::from(*part)) >> (-place).max(0);
        (above, *part) = (*part, shifted as u64);
    }
    let [a, b, c, d] = fraction.map(u128::from);
    // The nearest whole number; what is left is signed.
    let sixteenths = (((a >> 58) + 1) >> 1) as u64;
    let (low, high) = ((c << 64 | d) << 5, (a << 64 | b) << 5 | c >> 59);
    let up = high >> 127 == 1;
    let (high, low) =
        if up { (!high + u128::from(low == 0), low.wrapping_neg()) } else { (high, low) };
    let zeros = high.leading_zeros();
    let high = if zeros == 0 { high } else { high << zeros | low >> (128 - zeros) };
    let part = |bits: u128, place: i64| bits as f64 * power_of_two(place - i64::from(zeros));
    let rest = Double { high: part(high >> 75, -53), low: part(high << 53 >> 75, -106) };
    let flip = |x: f64, flipped: bool| if flipped { -x } else { x };
    let negative = bits & SIGN != 0;
    let rest =
        Double { high: flip(rest.high, up != negative), low: flip(rest.low, up != negative) };
    (if negative { sixteenths.wrapping_neg() } else { sixteenths }, rest)
}
