//! Names, operators and literals as Julia shows them.

use std::fmt::Write as _;

/// The precedence of assignments.
pub(super) const ASSIGNMENT: i8 = 1;
/// The precedence of `*`.
pub(super) const TIMES: i8 = 12;
/// The precedence of `^`.
pub(super) const POWER: i8 = 15;
/// The precedence of `::`.
pub(super) const DECLARATION: i8 = 16;

/// Binary operators by precedence, loosest first, with the number that Julia gives it.
const LEVELS: [(i8, &[&str]); 15] = [
    (ASSIGNMENT, &["=", ":=", "~", "$=", "≔", "⩴", "≕"]),
    (2, &["=>"]),
    (3, &["?"]),
    (4, &["-->", "<--", "<-->", "→", "←", "↔", "⇒", "⇐", "⇔", "↦", "⟶", "⟵", "⟹", "↪", "↠"]),
    (5, &["||"]),
    (6, &["&&"]),
    (7, COMPARISONS),
    (8, &["<|"]),
    (9, &["|>"]),
    (10, &[":", "..", "…", "⁝", "⋮", "⋱", "⋰", "⋯"]),
    (11, &["+", "-", "|", "¦", "⊕", "⊖", "⊞", "⊟", "++", "∪", "∨", "⊔", "±", "∓", "⊻", "⊽", "∔"]),
    (TIMES, PRODUCTS),
    (13, &["//"]),
    (14, &["<<", ">>", ">>>"]),
    (POWER, &["^", "↑", "↓", "⇑", "⇓", "⟰", "⟱"]),
];

const COMPARISONS: &[&str] = &[
    "in", "isa", ">", "<", ">=", "≥", "<=", "≤", "==", "===", "≡", "!=", "≠", "!==", "≢", "<:",
    ">:", "∈", "∉", "∋", "∌", "⊆", "⊈", "⊂", "⊄", "⊊", "⊇", "⊉", "⊃", "⊅", "⊋", "∝", "∥", "≈", "≉",
    "∼", "≃", "≅", "≪", "≫", "≺", "≻", "⪯", "⪰", "⊑", "⊒", "⊢", "⊨", "⟂",
];

const PRODUCTS: &[&str] = &[
    "*", "/", "÷", "%", "&", "·", "⋅", "∘", "×", "\\", "∩", "∧", "⊗", "⊘", "⊙", "⊚", "⊛", "⊠", "⊡",
    "⊓", "∗", "∙", "⋆", "⋄", "⋇", "⊼", "⨝", "⟕", "⟖", "⟗", "▷", "⨳", "⦸", "⨉", "⨯",
];

/// The operators of assignments that update: `+` of `+=`.
const UPDATES: [&str; 15] =
    ["+", "-", "*", "/", "//", "\\", "^", "&", "|", "÷", "%", ">>>", ">>", "<<", "⊻"];

/// Operators that are written with one operand without brackets around themselves.
const UNARY: [&str; 10] = ["+", "-", "!", "¬", "~", "<:", ">:", "√", "∛", "∜"];

/// Symbols that are written in brackets behind a `:`.
const BRACKETED: [&str; 7] = [":", "::", ":=", "=", "==", "===", "=>"];

/// Returns whether an operator may be written with one operand.
pub(super) fn is_unary(name: &str) -> bool {
    UNARY.contains(&name)
}

/// Returns whether a symbol is written in brackets behind a `:`.
pub(super) fn is_bracketed(name: &str) -> bool {
    BRACKETED.contains(&name)
}

/// Returns whether it is an assignment that updates: `+=`, `.*=`.
fn is_update(name: &str) -> bool {
    let name = name.strip_prefix('.').unwrap_or(name);
    name.strip_suffix('=').is_some_and(|op| UPDATES.contains(&op))
}

/// Returns whether a name is an operator that is syntax, and no function.
fn is_syntactic(name: &str) -> bool {
    let undotted = match name {
        "." | "..." | "->" | "$" | "::" | "?" | "'" | ":=" => return true,
        _ => name.strip_prefix('.').unwrap_or(name),
    };
    matches!(undotted, "=" | "&&" | "||" | "-->") || is_update(name)
}

/// The precedence of a binary operator as Julia counts it; 0 of what is none.
pub(super) fn precedence(name: &str) -> i8 {
    match name {
        "::" => return DECLARATION,
        "." => return 17,
        _ if is_update(name) => return ASSIGNMENT,
        _ => {}
    }
    let find = |op: &str| LEVELS.iter().find(|(_, ops)| ops.contains(&op)).map(|&(level, _)| level);
    let is_dotted =
        |rest: &str| !rest.starts_with('.') && !matches!(rest, ":" | "in" | "isa" | "?");
    let undotted = || name.strip_prefix('.').filter(|rest| is_dotted(rest));
    find(name).or_else(|| undotted().and_then(find)).unwrap_or(0)
}

/// Returns whether a head with two arguments is an operator between them.
pub(super) fn is_infix_head(head: &str) -> bool {
    is_tight_head(head)
        || matches!(head, "=" | ".=" | "&&" | "||" | ".&&" | ".||" | "<:" | ">:" | "-->" | "$=")
        || matches!(head, ":=" | "≔" | "⩴" | "≕")
        || is_update(head)
}

/// Returns whether such an operator has no blanks around it.
pub(super) fn is_tight_head(head: &str) -> bool {
    matches!(head, ":" | "->" | "::")
}

/// Returns whether a name is an operator of any kind.
pub(super) fn is_operator(name: &str) -> bool {
    let undotted = name.strip_prefix('.').unwrap_or(name);
    precedence(name) > 0
        || is_syntactic(name)
        || (is_unary(undotted) && !undotted.is_empty())
        || name == "where"
}

/// Returns whether a character may begin an identifier.
fn begins_identifier(c: char) -> bool {
    const SYMBOLS: &str = "_∂∇∞∅∑∏∫∬∭∮∆∀∃⊤⊥∠°€£¥";
    c.is_alphabetic() || SYMBOLS.contains(c) || ('\u{1f300}'..='\u{1faff}').contains(&c)
}

/// Returns whether a character may stand within an identifier.
fn continues_identifier(c: char) -> bool {
    let is_mark = matches!(c, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}');
    begins_identifier(c) || c.is_numeric() || is_mark || "!′″‴⁗⁺⁻⁼⁽⁾₊₋₌₍₎".contains(c)
}

/// Returns whether a name is written without quotes. Keywords are, as in Julia.
pub(super) fn is_identifier(name: &str) -> bool {
    name.chars().next().is_some_and(begins_identifier)
        && name.chars().all(continues_identifier)
        && !matches!(name, "true" | "false")
}

/// Returns whether a name stands for itself in code: an identifier, or an operator that is a
/// function.
pub(super) fn is_valid(name: &str) -> bool {
    is_identifier(name) || (is_operator(name) && !is_syntactic(name))
}

/// Appends a name in code: `x`, `+`, `var"a b"`.
pub(super) fn write_name(out: &mut String, name: &str) {
    if is_valid(name) {
        out.push_str(name);
    } else {
        out.push_str("var");
        write_string(out, name);
    }
}

/// Appends the name of a macro, or another name: `@m`, `@var"#"`, `x`.
pub(super) fn write_macro_name(out: &mut String, name: &str) {
    match name.strip_prefix('@') {
        Some(rest) => {
            out.push('@');
            write_name(out, rest);
        }
        None => write_name(out, name),
    }
}

/// Appends a symbol as a value: `:x`, `:+`, `:(=)`, `Symbol("a b")`.
pub(super) fn write_symbol(out: &mut String, name: &str) {
    if is_bracketed(name) {
        let _ = write!(out, ":({name})");
    } else if is_identifier(name) || (is_operator(name) && name != "'") {
        let _ = write!(out, ":{name}");
    } else {
        out.push_str("Symbol(");
        write_string(out, name);
        out.push(')');
    }
}

/// Appends a string literal.
pub(super) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    write_escaped(out, text);
    out.push('"');
}

/// Appends a text with escapes.
pub(super) fn write_escaped(out: &mut String, text: &str) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        match c {
            '"' | '\\' | '$' => out.extend(['\\', c]),
            '\u{7}'..='\r' => {
                let names = ["\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r"];
                out.push_str(names[c as usize - 7]);
            }
            '\u{1b}' => out.push_str("\\e"),
            '\0' if !next.is_some_and(|c| c.is_digit(8)) => out.push_str("\\0"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            _ if c.is_control() => {
                let width = if next.is_some_and(|c| c.is_ascii_hexdigit()) { 4 } else { 2 };
                let _ = write!(out, "\\u{:0width$x}", c as u32);
            }
            _ => out.push(c),
        }
    }
}

/// Appends a text between quotes of a string that knows no escapes but `\"`.
pub(super) fn write_raw(out: &mut String, text: &str) {
    let mut backslashes = 0;
    for c in text.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                out.extend(std::iter::repeat_n('\\', backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        out.push(c);
    }
    out.extend(std::iter::repeat_n('\\', backslashes));
}

/// Appends a number of 64 bits.
pub(super) fn write_float(out: &mut String, value: f64) {
    if value.is_finite() {
        write_digits(out, &format!("{value:e}"), "e", "");
    } else {
        out.push_str(special(value));
    }
}

/// Appends a number of 32 bits.
pub(super) fn write_float32(out: &mut String, value: f32) {
    if value.is_finite() {
        write_digits(out, &format!("{value:e}"), "f", "f0");
    } else {
        let _ = write!(out, "{}32", special(value.into()));
    }
}

fn special(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value < 0.0 => "-Inf",
        _ => "Inf",
    }
}

/// Appends a number, given as digits and exponent: `1.5e3` is `1500.0`. `mark` begins an exponent,
/// `end` stands behind a number without one.
fn write_digits(out: &mut String, text: &str, mark: &str, end: &str) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let shift: i32 = exponent.parse().unwrap_or(0);
    out.push_str(sign);
    if !(-4..6).contains(&shift) {
        let fraction = if fraction.is_empty() { "0" } else { fraction };
        let _ = write!(out, "{whole}.{fraction}{mark}{shift}");
        return;
    }
    let digits = format!("{whole}{fraction}");
    let point = shift + 1;
    if point <= 0 {
        let _ = write!(out, "0.{}{digits}{end}", "0".repeat(point.unsigned_abs() as usize));
        return;
    }
    let padded = format!("{digits:0<width$}", width = point as usize + 1);
    let (whole, fraction) = padded.split_at(point as usize);
    let _ = write!(out, "{whole}.{fraction}{end}");
}
