//! Times as text.

use std::time::Duration;

/// A time to three digits.
pub(crate) fn duration_text(time: Duration) -> String {
    let nanos = time.as_nanos();
    let (unit, scale) = match nanos {
        0..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => ("µs", 1e3),
        1_000_000..1_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let x = nanos as f64 / scale;
    let digits = if x < 10.0 { 2 } else { usize::from(x < 100.0) };
    format!("{x:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_to_three_digits_in_the_unit_that_fits() {
        let text = |nanos| duration_text(Duration::from_nanos(nanos));
        assert_eq!(text(999), "999 ns");
        assert_eq!(text(1_234), "1.23 µs");
        assert_eq!(text(45_678_900), "45.7 ms");
        assert_eq!(text(678_000_000), "678 ms");
        assert_eq!(text(83_000_000_000), "83.0 s");
    }
}
