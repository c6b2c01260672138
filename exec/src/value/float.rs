//! Floats as Julia prints them: the shortest digits that read back, fixed from `0.0001` up to
//! below `1.0e6`, else with an exponent.

use std::fmt::{self, Write};

/// Writes a double: `4.0`, `0.1`, `1.0e6`, `1.0e-5`, `NaN`, `-Inf`.
pub(crate) fn write_f64(out: &mut dyn Write, x: f64) -> fmt::Result {
    if !x.is_finite() {
        return out.write_str(non_finite(x));
    }
    write_digits(out, x.is_sign_negative(), &format!("{:e}", x.abs()), 'e', "")
}

/// Writes a single: `1.0f0` and `1.0f-5` if `typed`, as `show` does; `1.0` and `1.0e-5` else.
pub(crate) fn write_f32(out: &mut dyn Write, x: f32, typed: bool) -> fmt::Result {
    if !x.is_finite() {
        out.write_str(non_finite(f64::from(x)))?;
        return out.write_str(if typed { "32" } else { "" });
    }
    let (exponent, suffix) = if typed { ('f', "f0") } else { ('e', "") };
    write_digits(out, x.is_sign_negative(), &format!("{:e}", x.abs()), exponent, suffix)
}

pub(super) fn non_finite(x: f64) -> &'static str {
    if x.is_nan() {
        "NaN"
    } else if x > 0.0 {
        "Inf"
    } else {
        "-Inf"
    }
}

/// Writes a number that `{:e}` has given the shortest digits of, such as `1.25e-7`.
fn write_digits(
    out: &mut dyn Write,
    negative: bool,
    scientific: &str,
    exponent_char: char,
    suffix: &str,
) -> fmt::Result {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (lead, tail) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if negative {
        out.write_char('-')?;
    }
    if (-4..6).contains(&exponent) {
        if exponent < 0 {
            out.write_str("0.")?;
            for _ in 1..-exponent {
                out.write_char('0')?;
            }
            out.write_str(lead)?;
            out.write_str(tail)?;
        } else {
            let whole = exponent as usize;
            out.write_str(lead)?;
            if tail.len() > whole {
                out.write_str(&tail[..whole])?;
                out.write_char('.')?;
                out.write_str(&tail[whole..])?;
            } else {
                out.write_str(tail)?;
                for _ in tail.len()..whole {
                    out.write_char('0')?;
                }
                out.write_str(".0")?;
            }
        }
        return out.write_str(suffix);
    }
    let tail = if tail.is_empty() { "0" } else { tail };
    write!(out, "{lead}.{tail}{exponent_char}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f64_text(x: f64) -> String {
        let mut out = String::new();
        write_f64(&mut out, x).unwrap();
        out
    }

    #[test]
    fn doubles_print_as_in_julia() {
        // What Julia 1.10 prints for these.
        let cases = [
            (4.0, "4.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.3333333333333333"),
            (100000.0, "100000.0"),
            (999999.5, "999999.5"),
            (1e6, "1.0e6"),
            (1234567.0, "1.234567e6"),
            (123456.789, "123456.789"),
            (0.0001, "0.0001"),
            (0.00012, "0.00012"),
            (0.00001, "1.0e-5"),
            (1.5e-5, "1.5e-5"),
            (1e20, "1.0e20"),
            (5e-324, "5.0e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ];
        for (x, text) in cases {
            assert_eq!(f64_text(x), text);
        }
    }

    #[test]
    fn singles_print_as_in_julia() {
        let cases = [
            (1.0f32, "1.0f0", "1.0"),
            (0.1, "0.1f0", "0.1"),
            (1e-5, "1.0f-5", "1.0e-5"),
            (1e10, "1.0f10", "1.0e10"),
            (f32::NAN, "NaN32", "NaN"),
            (f32::NEG_INFINITY, "-Inf32", "-Inf"),
        ];
        for (x, shown, printed) in cases {
            let (mut show, mut print) = (String::new(), String::new());
            write_f32(&mut show, x, true).unwrap();
            write_f32(&mut print, x, false).unwrap();
            assert_eq!((show.as_str(), print.as_str()), (shown, printed));
        }
    }
}
