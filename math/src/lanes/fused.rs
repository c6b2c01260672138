//! The fused multiply-add in integers, for CPUs that have none.

use super::SIGN;

/// `x * y + z`, rounded once, to nearest with ties to even.
pub fn fma(x: f64, y: f64, z: f64) -> f64 {
    if !z.is_finite() && x.is_finite() && y.is_finite() {
        return z;
    }
    let simple = |x: f64| x == 0.0 || !x.is_finite();
    if simple(x) || simple(y) {
        return x * y + z;
    }
    if z == 0.0 {
        // A product that underflows keeps its own sign.
        return x * y;
    }
    let ((mx, ex), (my, ey), (mz, ez)) = (parts(x), parts(y), parts(z));
    // Both get their highest bit at 120, below which nothing is lost; sums have room above.
    let (mut product, mut at) = ((u128::from(mx) * u128::from(my)) << 16, ex + ey - 16);
    if product >> 121 != 0 {
        (product, at) = (product >> 1, at + 1);
    }
    let (addend, place) = (u128::from(mz) << 68, ez - 68);
    let (sign, other) = (x.is_sign_negative() != y.is_sign_negative(), z.is_sign_negative());
    let (large, small) = ((product, at, sign), (addend, place, other));
    let product_is_larger = at > place || at == place && product >= addend;
    let (large, small) = if product_is_larger { (large, small) } else { (small, large) };
    let shifted = shift_right(small.0, large.1 - small.1);
    let sum = if sign == other { large.0 + shifted } else { large.0 - shifted };
    if sum == 0 { 0.0 } else { round(sum, large.1, large.2) }
}

/// The mantissa with its highest bit at 52, and the exponent of its lowest.
fn parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits() & !SIGN;
    let (exponent, mantissa) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 {
        let shift = mantissa.leading_zeros() - 11;
        (mantissa << shift, -1074 - shift as i32)
    } else {
        (mantissa | 1 << 52, exponent - 1075)
    }
}

/// Bits shifted right, the lowest set if any set bit was shifted out.
fn shift_right(x: u128, by: i32) -> u128 {
    match by {
        0 => x,
        1..128 => x >> by | u128::from(x << (128 - by) != 0),
        _ => u128::from(x != 0),
    }
}

/// The float nearest to `x * 2^exponent`.
fn round(x: u128, exponent: i32, negative: bool) -> f64 {
    let length = 128 - x.leading_zeros() as i32;
    // The lowest bit of floats of this size.
    let lowest = (exponent + length - 53).max(-1074);
    let mantissa = match lowest - exponent {
        by @ ..=0 => (x << -by) as u64,
        by @ 1..128 => {
            let (kept, half) = ((x >> by) as u64, x >> (by - 1) & 1 == 1);
            let more = x.trailing_zeros() as i32 != by - 1;
            kept + u64::from(half && (more || kept & 1 == 1))
        }
        _ => 0,
    };
    // The highest bit of the mantissa, where it has one, and a carry from rounding count up the exponent.
    let bits = (((lowest + 1074) as u64) << 52) + mantissa;
    f64::from_bits(bits.min(f64::INFINITY.to_bits()) | if negative { SIGN } else { 0 })
}
