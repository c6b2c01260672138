//! Numbers and strings as they are written.

use std::borrow::Cow;
use std::fmt::Display;

use regraft_ir::Constant;

/// The constant that a numeral stands for, or what is wrong with it.
pub(crate) fn number(text: &str) -> Result<Constant, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return int(text, negative, &hex[..end], 16, &hex[end..]);
    }
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let suffix = &digits[end..];
    match suffix.bytes().next() {
        None | Some(b'i') => int(text, negative, &digits[..end], 10, suffix),
        Some(b'f') => {
            Err(format!("`{text}` is no number, a float is written `{}.0{suffix}`", &digits[..end]))
        }
        _ => float(text),
    }
}

fn int(
    text: &str,
    negative: bool,
    digits: &str,
    radix: u32,
    suffix: &str,
) -> Result<Constant, String> {
    if digits.is_empty() {
        return Err(invalid(text));
    }
    // A magnitude that does not even fit `u64` is out of range of every type.
    let value = match u64::from_str_radix(digits, radix) {
        Ok(value) if negative => -i128::from(value),
        Ok(value) => i128::from(value),
        Err(_) => i128::MAX,
    };
    fn fit<T: TryFrom<i128>>(
        text: &str,
        value: i128,
        ty: &str,
        range: impl Display,
    ) -> Result<T, String> {
        T::try_from(value)
            .map_err(|_| format!("`{text}` does not fit {ty}, whose range is {range}"))
    }
    Ok(match suffix {
        "" | "i64" => {
            Constant::I64(fit(text, value, "i64", format_args!("{} to {}", i64::MIN, i64::MAX))?)
        }
        "i32" => {
            Constant::I32(fit(text, value, "i32", format_args!("{} to {}", i32::MIN, i32::MAX))?)
        }
        "i16" => Constant::I16(fit(text, value, "i16", "-32768 to 32767")?),
        "i8" => Constant::I8(fit(text, value, "i8", "-128 to 127")?),
        _ => return Err(invalid(text)),
    })
}

fn float(text: &str) -> Result<Constant, String> {
    let (digits, single) = match text.strip_suffix("f32") {
        Some(digits) => (digits, true),
        None => (text.strip_suffix("f64").unwrap_or(text), false),
    };
    if !is_decimal_float(digits) {
        return Err(invalid(text));
    }
    let too_large = |ty: &str| format!("`{text}` is too large for {ty}, infinity is written `inf`");
    if single {
        let value: f32 = digits.parse().map_err(|_| invalid(text))?;
        if value.is_infinite() { Err(too_large("f32")) } else { Ok(value.into()) }
    } else {
        let value: f64 = digits.parse().map_err(|_| invalid(text))?;
        if value.is_infinite() { Err(too_large("f64")) } else { Ok(value.into()) }
    }
}

/// Returns whether it is digits, then maybe a fraction, then maybe an exponent. A minus may come
/// first.
fn is_decimal_float(text: &str) -> bool {
    fn skip_digits(text: &str) -> Option<&str> {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then_some(rest)
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let Some(mut rest) = skip_digits(unsigned) else { return false };
    if let Some(fraction) = rest.strip_prefix('.') {
        let Some(after) = skip_digits(fraction) else { return false };
        rest = after;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let Some(after) = skip_digits(exponent) else { return false };
        rest = after;
    }
    rest.is_empty()
}

fn invalid(text: &str) -> String {
    format!("`{text}` is no number")
}

/// The constant behind a word: truth values, `nothing`, floats that are not finite.
pub(crate) fn word(text: &str) -> Result<Constant, String> {
    Ok(match text {
        "true" => Constant::Bool(true),
        "false" => Constant::Bool(false),
        "nothing" => Constant::Unit,
        "inf" => f64::INFINITY.into(),
        "-inf" => f64::NEG_INFINITY.into(),
        "nan" => f64::NAN.into(),
        "inff32" => f32::INFINITY.into(),
        "-inff32" => f32::NEG_INFINITY.into(),
        "nanf32" => f32::NAN.into(),
        _ => return nan(text),
    })
}

/// `nan(0x7ff8000000000001)`: a NaN with all its bits.
fn nan(text: &str) -> Result<Constant, String> {
    let (body, single) = match text.strip_suffix("f32") {
        Some(body) => (body, true),
        None => (text, false),
    };
    let bits = body
        .strip_prefix("nan(0x")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let constant = bits.and_then(|bits| {
        Some(if single { Constant::F32(u32::try_from(bits).ok()?) } else { Constant::F64(bits) })
    });
    match constant {
        Some(constant) if constant.as_float().is_some_and(f64::is_nan) => Ok(constant),
        _ => {
            let ty = if single { "f32" } else { "f64" };
            Err(format!("`{text}` is no NaN: these are not the bits of a NaN of type {ty}"))
        }
    }
}

/// The string between the quotes of `quoted`, escapes resolved. An error tells the wrong escape
/// by its offset and length in `quoted`.
pub(crate) fn unquote(quoted: &str) -> Result<Cow<'_, str>, (usize, usize)> {
    let body = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    if !body.contains('\\') {
        return Ok(Cow::Borrowed(body));
    }
    let mut out = String::with_capacity(body.len());
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let escape = chars.next().map(|(_, c)| c);
        out.push(match escape {
            Some('\\') => '\\',
            Some('"') => '"',
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('u') => {
                let rest = chars.as_str();
                let hex =
                    rest.strip_prefix('{').and_then(|r| r.split_once('}')).map(|(hex, _)| hex);
                let c = hex
                    .filter(|hex| hex.len() <= 6)
                    .and_then(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?));
                let (Some(hex), Some(c)) = (hex, c) else { return Err((at + 1, 2)) };
                for _ in 0..hex.len() + 2 {
                    chars.next();
                }
                c
            }
            other => return Err((at + 1, 1 + other.map_or(0, char::len_utf8))),
        });
    }
    Ok(Cow::Owned(out))
}

/// The name in `text`, which is plain or in quotes.
pub(crate) fn name(text: &str) -> Result<Cow<'_, str>, (usize, usize)> {
    if text.starts_with('"') { unquote(text) } else { Ok(Cow::Borrowed(text)) }
}

/// The string literal of IR text and of pipelines that reads back as `text`, written as the printer does.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
