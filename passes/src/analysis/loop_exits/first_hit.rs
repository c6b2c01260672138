//! The first time that a counter which wraps around comes into a range.
//!
//! The least `i >= 0` with `low <= (step * i mod m) <= high` is found as in Euclid's algorithm:
//! if no multiple of `step` below `m` is in the range, then the number of times that the counter
//! went around is the solution of a smaller problem of the same kind, modulo `step`.
//! O(log m) steps, since `step` is at most half of `m` each time.

/// The least `i` such that `start + i * step` is in the circular range from `first` to `last`
/// (both included, going up from `first`), all modulo 2^`bits`. `None` if it never is.
pub(super) fn first_hit(bits: u32, start: u64, step: u64, first: u64, last: u64) -> Option<u64> {
    let m = 1u128 << bits;
    let mask = (m - 1) as u64;
    let low = first.wrapping_sub(start) & mask;
    let high = last.wrapping_sub(start) & mask;
    // The range, seen from the start, goes through it.
    if low > high || low == 0 {
        return Some(0);
    }
    // There are 2^`bits` numbers, so that the answer is smaller.
    solve((step & mask).into(), m, low.into(), high.into()).map(|i| i as u64)
}

/// The least `i` with `low <= (step * i mod m) <= high`, where `low <= high < m`, `step < m`.
fn solve(step: u128, m: u128, low: u128, high: u128) -> Option<u128> {
    if low == 0 {
        return Some(0);
    }
    if step == 0 {
        return None;
    }
    if 2 * step > m {
        // Count down instead of up.
        return solve(m - step, m, m - high, m - low);
    }
    let i = low.div_ceil(step);
    if i * step <= high {
        return Some(i);
    }
    // `low <= step * i - m * around <= high`, and no multiple of `step` is between the two.
    let around = solve((step - m % step) % step, step, low % step, high % step)?;
    Some((low + m * around).div_ceil(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_counters_of_five_bits_agree_with_counting() {
        for step in 0..32 {
            for start in 0..32u64 {
                for first in 0..32u64 {
                    for last in 0..32u64 {
                        let inside = |x: u64| {
                            (x.wrapping_sub(first) & 31) <= (last.wrapping_sub(first) & 31)
                        };
                        let counted = (0..32).find(|&i| inside((start + i * step) & 31));
                        let found = first_hit(5, start, step, first, last);
                        assert_eq!(found, counted, "{start} by {step} into {first}..={last}");
                    }
                }
            }
        }
    }

    #[test]
    fn large_moduli_do_not_overflow() {
        // 3 * i = 1 modulo 2^64.
        assert_eq!(first_hit(64, 0, 3, 1, 1), Some(0xaaaa_aaaa_aaaa_aaab));
        // An even number is never 1.
        assert_eq!(first_hit(64, 0, 6, 1, 1), None);
        assert_eq!(first_hit(64, 1, 0, 0, 0), None);
        assert_eq!(first_hit(64, 5, 0, 4, 6), Some(0));
        let low = u64::MAX - 1;
        assert_eq!(first_hit(64, 0, 1, low, low), Some(low));
        // Down to the greatest number is one step.
        assert_eq!(first_hit(64, 0, u64::MAX, 1 << 63, u64::MAX), Some(1));
    }
}
