//! Numbers and texts by the specifiers of C's `printf`.

use crate::value::Val;

/// A specifier: `%-8.3f`.
struct Specifier {
    left: bool,
    plus: bool,
    space: bool,
    zeros: bool,
    other: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

/// The most columns and digits.
const MAX_WIDTH: usize = 1 << 16;

/// A value as a specifier says; `shown` is what `print` makes of a value that is no number.
///
/// # Errors
/// If the specifier is none, or does not fit the value.
pub(super) fn format(specifier: &str, value: &Val, shown: String) -> Result<String, String> {
    let wrong = || format!("`{specifier}` is no format specifier");
    let spec = Specifier::parse(specifier).ok_or_else(wrong)?;
    let wide = matches!(value, Val::Struct(_)).then(|| Wide::read(&shown)).flatten();
    let text = match (spec.letter, value) {
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o', _) if let Some(Wide { negative, size }) = wide => {
            let digits = match spec.letter {
                'x' => spec.prefixed("0x", &format!("{size:x}")),
                'X' => spec.prefixed("0X", &format!("{size:X}")),
                'o' => spec.prefixed("0", &format!("{size:o}")),
                _ => size.to_string(),
            };
            spec.signed(negative, digits)
        }
        ('d' | 'i' | 'u', &Val::I64(x)) => spec.signed(x < 0, x.unsigned_abs().to_string()),
        ('d' | 'i' | 'u', &Val::F64(x)) if x.fract() == 0.0 && x.abs() < 1e18 => {
            spec.signed(x < 0.0, format!("{:.0}", x.abs()))
        }
        ('x', &Val::I64(x)) => {
            spec.signed(x < 0, spec.prefixed("0x", &format!("{:x}", x.unsigned_abs())))
        }
        ('X', &Val::I64(x)) => {
            spec.signed(x < 0, spec.prefixed("0X", &format!("{:X}", x.unsigned_abs())))
        }
        ('o', &Val::I64(x)) => {
            spec.signed(x < 0, spec.prefixed("0", &format!("{:o}", x.unsigned_abs())))
        }
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G', &(Val::I64(_) | Val::F64(_))) => {
            spec.float(match *value {
                Val::I64(x) => x as f64,
                Val::F64(x) => x,
                _ => f64::NAN,
            })
        }
        ('s' | 'c', &Val::I64(x)) => spec.cut(x.to_string()),
        ('s' | 'c', &Val::F64(x)) => spec.cut(format!("{x:?}")),
        ('s' | 'c', _) => spec.cut(shown),
        _ => return Err(format!("the format specifier `{specifier}` does not fit {shown}")),
    };
    Ok(spec.padded(text))
}

/// A number of more than one word, by its decimal text.
struct Wide {
    negative: bool,
    size: u128,
}

impl Wide {
    fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-');
        let size = digits.unwrap_or(text).parse().ok()?;
        Some(Self { negative: digits.is_some(), size })
    }
}

impl Specifier {
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('%')?;
        let flags = rest.len() - rest.trim_start_matches(['-', '+', ' ', '0', '#']).len();
        let has = |flag| rest[..flags].contains(flag);
        let (left, plus, space, zeros, other) = (has('-'), has('+'), has(' '), has('0'), has('#'));
        rest = &rest[flags..];
        let (width, mut rest) = number(rest);
        let mut precision = None;
        if let Some(after) = rest.strip_prefix('.') {
            let (digits, after) = number(after);
            precision = Some(digits);
            rest = after;
        }
        let rest = rest.trim_start_matches(['l', 'h', 'z', 'j', 't', 'L']);
        let mut letters = rest.chars();
        let letter = letters.next().filter(|_| letters.next().is_none())?;
        (width <= MAX_WIDTH && precision.is_none_or(|digits| digits <= MAX_WIDTH)).then_some(Self {
            left,
            plus,
            space,
            zeros,
            other,
            width,
            precision,
            letter,
        })
    }

    fn prefixed(&self, prefix: &str, digits: &str) -> String {
        if self.other { format!("{prefix}{digits}") } else { digits.to_owned() }
    }

    /// A number with its sign, and zeros where they are wanted.
    fn signed(&self, negative: bool, digits: String) -> String {
        let sign = match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let is_integer = "diuxXo".contains(self.letter);
        let wanted = match self.precision {
            Some(digits) if is_integer => digits,
            _ if self.zeros && !self.left => self.width.saturating_sub(sign.len()),
            _ => 0,
        };
        let zeros = "0".repeat(wanted.saturating_sub(digits.len()));
        format!("{sign}{zeros}{digits}")
    }

    fn float(&self, x: f64) -> String {
        if !x.is_finite() {
            let word = if x.is_nan() { "NaN" } else { "Inf" };
            let plain = Self { zeros: false, ..*self };
            return plain.signed(x < 0.0, word.to_owned());
        }
        let precision = self.precision.unwrap_or(6);
        let size = x.abs();
        let digits = match self.letter {
            'e' | 'E' => scientific(size, precision),
            'g' | 'G' => general(size, precision.max(1), self.other),
            _ => format!("{size:.precision$}"),
        };
        let digits = if self.letter.is_uppercase() { digits.to_uppercase() } else { digits };
        self.signed(x.is_sign_negative(), digits)
    }

    fn cut(&self, text: String) -> String {
        match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        }
    }

    fn padded(&self, text: String) -> String {
        let blanks = " ".repeat(self.width.saturating_sub(text.chars().count()));
        if self.left { text + &blanks } else { blanks + &text }
    }
}

/// The number that a text begins with (0 if with none), and the rest.
fn number(text: &str) -> (usize, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (text[..digits].parse().unwrap_or(if digits == 0 { 0 } else { usize::MAX }), &text[digits..])
}

/// `1.500000e+00`
fn scientific(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// The shorter of both forms with so many digits, without zeros at the end.
fn general(size: f64, precision: usize, zeros: bool) -> String {
    let text = scientific(size, precision - 1);
    let exponent: i32 =
        text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let trimmed = |text: &str| {
        if zeros || !text.contains('.') {
            text.to_owned()
        } else {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    if exponent < -4 || exponent >= precision as i32 {
        match text.split_once('e') {
            Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
            None => text,
        }
    } else {
        let digits = (precision as i32 - 1 - exponent).max(0) as usize;
        trimmed(&format!("{size:.digits$}"))
    }
}
