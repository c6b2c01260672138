//! `text`: strings.

use std::cell::RefCell;

use regex::Regex;
use regraft_ir::Type;
use rustc_hash::FxHashMap;

use super::context::EvalCx;
use super::format;
use crate::error::Trap;
use crate::value::{Array, ElementType, Val};

/// The regular expressions that are kept ready.
const MAX_REGEXES: usize = 256;

thread_local! {
    static REGEXES: RefCell<FxHashMap<Box<str>, Regex>> = RefCell::default();
}

fn argument(message: impl Into<String>) -> Trap {
    Trap::new("ArgumentError", message)
}

/// The offset of an index from 1, if it is in the text or just behind it.
fn offset(text: &str, index: i64) -> Option<usize> {
    let at = usize::try_from(index.checked_sub(1)?).ok()?;
    (at <= text.len()).then_some(at)
}

pub(super) fn length(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(text)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::I64(text.as_str().len() as i64))
}

pub(super) fn byte(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(text), Val::I64(index)] = args else { return Err(cx.wrong_types(args)) };
    let text = text.as_str();
    let byte = offset(text, *index).and_then(|at| text.as_bytes().get(at));
    Ok(Val::I64(byte.map_or(-1, |&byte| byte.into())))
}

pub(super) fn char_at(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(text), Val::I64(index)] = args else { return Err(cx.wrong_types(args)) };
    let text = text.as_str();
    let code = match offset(text, *index).filter(|&at| at < text.len()) {
        None => -1,
        Some(at) => match text.get(at..) {
            None => -2,
            Some(rest) => rest.chars().next().map_or(-1, |c| u32::from(c).cast_signed()),
        },
    };
    Ok(Val::I32(code))
}

pub(super) fn slice(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(text), Val::I64(first), Val::I64(last)] = args else {
        return Err(cx.wrong_types(args));
    };
    if last < first {
        return Ok(Val::str(""));
    }
    let text = text.as_str();
    let end = usize::try_from(*last).ok();
    let part = offset(text, *first).zip(end).and_then(|(start, end)| text.get(start..end));
    let Some(part) = part else {
        let length = text.len();
        let message =
            format!("the bytes {first} to {last} of a text of {length} are no whole characters");
        return Err(argument(message));
    };
    cx.host.reserve(part.len())?;
    Ok(Val::str(part))
}

pub(super) fn find(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(text), Val::Str(part), Val::I64(from)] = args else {
        return Err(cx.wrong_types(args));
    };
    let text = text.as_str();
    let at = offset(text, (*from).max(1)).and_then(|start| {
        let start = text.ceil_char_boundary(start);
        text[start..].find(part.as_str()).map(|at| start + at)
    });
    Ok(Val::I64(at.map_or(0, |at| at as i64 + 1)))
}

pub(super) fn find_last(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(text), Val::Str(part), Val::I64(from)] = args else {
        return Err(cx.wrong_types(args));
    };
    let (text, part) = (text.as_str(), part.as_str());
    let at = usize::try_from(*from - 1).ok().and_then(|start| {
        let end = start.saturating_add(part.len()).min(text.len());
        text[..text.floor_char_boundary(end)].rfind(part)
    });
    Ok(Val::I64(at.map_or(0, |at| at as i64 + 1)))
}

pub(super) fn compare(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(a), Val::Str(b)] = args else { return Err(cx.wrong_types(args)) };
    Ok(Val::I64(a.as_str().cmp(b.as_str()) as i64))
}

pub(super) fn of_char(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::I32(code)] = args else { return Err(cx.wrong_types(args)) };
    let c = char::from_u32(code.cast_unsigned())
        .ok_or_else(|| argument(format!("{code:#x} is the code of no character")))?;
    Ok(Val::str(c.encode_utf8(&mut [0; 4])))
}

pub(super) fn join(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Array(parts)] = args else { return Err(cx.wrong_types(args)) };
    let mut out = String::new();
    for at in 0..parts.len() {
        let Some(Val::Str(part)) = parts.get(at) else { return Err(cx.wrong_types(args)) };
        cx.host.reserve(out.len() + part.as_str().len())?;
        out.push_str(part.as_str());
    }
    Ok(Val::str(out))
}

pub(super) fn change(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Sym(how), Val::Str(text)] = args else { return Err(cx.wrong_types(args)) };
    let text = text.as_str();
    cx.host.reserve(text.len())?;
    Ok(Val::str(match cx.ctx.str(*how) {
        "lower" => text.chars().flat_map(char::to_lowercase).collect(),
        "upper" => text.chars().map(in_upper_case).collect(),
        "title" => titled(text),
        "escape" => escaped(text),
        "reverse" => text.chars().rev().collect(),
        how => return Err(argument(format!("there is no form `{how}` of a text"))),
    }))
}

/// A character as another one in upper case; itself if several ones stand for it.
fn in_upper_case(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
}

/// A text with each word beginning in upper case.
fn titled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut within = false;
    for c in text.chars() {
        if within {
            out.extend(c.to_lowercase());
        } else {
            out.push(in_upper_case(c));
        }
        within = c.is_alphanumeric();
    }
    out
}

/// A text as it stands in a literal, without the quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' | '$' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1b}' => out.push_str("\\e"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn class(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::I32(code)] = args else { return Err(cx.wrong_types(args)) };
    let Some(c) = char::from_u32(code.cast_unsigned()) else { return Ok(Val::I64(0)) };
    let is_punctuation = |c: char| {
        c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c)
            || ('\u{2010}'..='\u{2027}').contains(&c)
            || ('\u{2030}'..='\u{205e}').contains(&c) && c != '\u{2044}' && c != '\u{2052}'
            || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '、' | '。')
    };
    let bits = [
        c.is_alphabetic() && !c.is_numeric(),
        c.is_ascii_digit(),
        c.is_whitespace(),
        c.is_uppercase(),
        c.is_lowercase(),
        is_punctuation(c),
        c.is_control(),
        c.is_numeric(),
    ];
    Ok(Val::I64(bits.iter().enumerate().map(|(at, &bit)| i64::from(bit) << at).sum()))
}

pub(super) fn number(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Sym(how), Val::Str(text), Val::I64(base)] = args else {
        return Err(cx.wrong_types(args));
    };
    let text = text.as_str().trim();
    let how = cx.ctx.str(*how);
    if how == "float" {
        return Ok(float(text).map_or(Val::Unit, Val::F64));
    }
    let base = u32::try_from(*base).ok().filter(|base| (2..=36).contains(base));
    let base = base.ok_or_else(|| argument("a base is from 2 to 36"))?;
    let (digits, base) = digits(text, base);
    Ok(match how {
        "int128" => words(i128::from_str_radix(&digits, base).ok().map(i128::cast_unsigned)),
        "uint128" => words(u128::from_str_radix(&digits, base).ok()),
        _ => i64::from_str_radix(&digits, base).map_or(Val::Unit, Val::I64),
    })
}

/// The low and the high word of a number.
fn words(number: Option<u128>) -> Val {
    number.map_or(Val::Unit, |bits| {
        Val::tuple([bits as u64, (bits >> 64) as u64].map(|word| Val::I64(word.cast_signed())))
    })
}

fn float(text: &str) -> Option<f64> {
    let plain = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_word = ["inf", "infinity", "nan"].iter().any(|word| plain.eq_ignore_ascii_case(word));
    let is_number = plain.bytes().all(|b| b.is_ascii_digit() || b".eEfF+-".contains(&b))
        && plain.bytes().any(|b| b.is_ascii_digit());
    if !is_word && !is_number {
        return None;
    }
    text.replace(['f', 'F'], if is_word { "f" } else { "e" }).parse().ok()
}

/// The digits of a whole number with its sign, and the base that they are in; no digits if it is none.
fn digits(text: &str, base: u32) -> (String, u32) {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits.trim_start()),
        None => ("", text.strip_prefix('+').unwrap_or(text).trim_start()),
    };
    if digits.starts_with(['+', '-']) {
        return (String::new(), base);
    }
    let prefixed = |prefix| digits.strip_prefix(prefix);
    let (digits, base) = match (prefixed("0x"), prefixed("0b"), prefixed("0o")) {
        (Some(digits), _, _) if base == 10 || base == 16 => (digits, 16),
        (_, Some(digits), _) if base == 10 || base == 2 => (digits, 2),
        (_, _, Some(digits)) if base == 10 || base == 8 => (digits, 8),
        _ => (digits, base),
    };
    (format!("{sign}{digits}"), base)
}

pub(super) fn format(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(specifier), value] = args else { return Err(cx.wrong_types(args)) };
    let shown = match value {
        Val::I64(_) | Val::F64(_) => String::new(),
        value => cx.texts().print(value),
    };
    let text = format::format(specifier.as_str(), value, shown).map_err(argument)?;
    cx.host.reserve(text.len())?;
    Ok(Val::str(text))
}

/// Does something with a regular expression, which is made once.
fn with_regex<T>(pattern: &str, act: impl FnOnce(&Regex) -> T) -> Result<T, Trap> {
    REGEXES.with_borrow_mut(|known| {
        if !known.contains_key(pattern) {
            let regex = Regex::new(pattern).map_err(|error| {
                let text = error.to_string();
                let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
                Trap::new("ErrorException", format!("the regular expression is wrong: {why}"))
            })?;
            if known.len() >= MAX_REGEXES {
                known.clear();
            }
            known.insert(pattern.into(), regex);
        }
        Ok(act(&known[pattern]))
    })
}

pub(super) fn find_match(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(pattern), Val::Str(text), Val::I64(from)] = args else {
        return Err(cx.wrong_types(args));
    };
    let text = text.as_str();
    let Some(start) = offset(text, *from).filter(|&at| text.is_char_boundary(at)) else {
        return Ok(Val::Unit);
    };
    with_regex(pattern.as_str(), |regex| {
        let Some(found) = regex.captures_at(text, start) else { return Ok(Val::Unit) };
        let ends = found.iter().flat_map(|group| match group {
            Some(part) => [part.start() as i64 + 1, part.end() as i64],
            None => [0, -1],
        });
        vector(Type::I64, &ends.map(Val::I64).collect::<Vec<_>>())
    })?
}

pub(super) fn group_names(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let [Val::Str(pattern)] = args else { return Err(cx.wrong_types(args)) };
    with_regex(pattern.as_str(), |regex| {
        let names = regex.capture_names().skip(1);
        vector(Type::STR, &names.map(|name| Val::str(name.unwrap_or(""))).collect::<Vec<_>>())
    })?
}

fn vector(element: Type, values: &[Val]) -> Result<Val, Trap> {
    let made = Array::of_values(ElementType::builtin(element), values, &[values.len()]);
    made.map(Val::from).map_err(|_| argument("the array cannot be made"))
}
