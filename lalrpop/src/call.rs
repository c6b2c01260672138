//! Call expressions with literal arguments, as Julia writes them: `foo(1.0, [1.0 2.0; 3.0 4.0])`.

use std::ops::Range;

use lalrpop_util::ParseError;
use logos::Logos;
use regraft_ir::{Diagnostic, Source};

/// A call of a function with literal arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The place of the name.
    pub span: Range<usize>,
    /// The arguments, with the places where they stand.
    pub arguments: Vec<(Argument, Range<usize>)>,
}

/// A number literal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// `3`, `-0x1f`.
    Int(i64),
    /// `1.0`, `1e-3`, `Inf`, `NaN`.
    Float(f64),
    /// `1.0f0`.
    Float32(f32),
}

/// A literal argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// `nothing`.
    Nothing,
    /// `true`, `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// `Int32(3)`, `Float32(0.5)`.
    Convert(String, Number),
    /// `:name`.
    Symbol(String),
    /// `"text"`.
    Text(String),
    /// `(1, 2.0)`.
    Tuple(Vec<(Argument, Range<usize>)>),
    /// `(a = 1, b = 2.0)`.
    Named(Vec<(String, (Argument, Range<usize>))>),
    /// `[1.0, 2.0]`, `Float64[]`: the name of the element type, if it is given, and the elements.
    Vector(Option<String>, Vec<(Argument, Range<usize>)>),
    /// `[1.0 2.0; 3.0 4.0]`, row by row; one row at least, of one element at least.
    Matrix(Option<String>, Vec<Vec<(Argument, Range<usize>)>>),
}

/// Makes an argument of the rows in brackets. Rows of one element make a vector: `[1; 2]` is
/// `[1, 2]`.
pub(crate) fn rows(element: Option<&str>, rows: Vec<Vec<(Argument, Range<usize>)>>) -> Argument {
    let element = element.map(str::to_owned);
    if rows.iter().all(|row| row.len() == 1) {
        return Argument::Vector(element, rows.into_iter().flatten().collect());
    }
    Argument::Matrix(element, rows)
}

/// The tokens of a call expression.
#[derive(Logos, Clone, PartialEq, Debug)]
#[logos(skip r"[ \t\r\n]+")]
pub(crate) enum Token<'a> {
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("=")]
    Equals,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("nothing")]
    Nothing,
    #[regex(r"-?(0x[0-9a-fA-F]+|[0-9][0-9_]*(\.[0-9]*)?([ef][+-]?[0-9]+)?|\.[0-9]+([ef][+-]?[0-9]+)?|Inf(32)?|NaN(32)?)", |lex| number(lex.slice()), priority = 10)]
    Number(Number),
    #[regex(r"[A-Za-z_][A-Za-z0-9_!.]*", |lex| lex.slice())]
    Name(&'a str),
    #[regex(r":[A-Za-z_][A-Za-z0-9_!]*", |lex| &lex.slice()[1..])]
    Symbol(&'a str),
    #[regex(r#""([^"\\]|\\.)*""#, |lex| unescaped(lex.slice()))]
    Text(String),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(x) => write!(f, "{x}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Float32(x) => write!(f, "{x:?}f0"),
        }
    }
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LeftParen => "`(`",
            Self::RightParen => "`)`",
            Self::LeftBracket => "`[`",
            Self::RightBracket => "`]`",
            Self::Comma => "`,`",
            Self::Semicolon => "`;`",
            Self::Equals => "`=`",
            Self::True => "`true`",
            Self::False => "`false`",
            Self::Nothing => "`nothing`",
            Self::Number(_) => "number",
            Self::Name(_) => "name",
            Self::Symbol(_) => "symbol",
            Self::Text(_) => "string",
        })
    }
}

/// The number that a literal stands for; `None` if it does not fit its type.
fn number(text: &str) -> Option<Number> {
    let number = any_number(text)?;
    let is_infinite = match number {
        Number::Int(_) => false,
        Number::Float(x) => x.is_infinite(),
        Number::Float32(x) => x.is_infinite(),
    };
    (!is_infinite || text.contains("Inf")).then_some(number)
}

/// The same, where a float that is too large is infinite.
fn any_number(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let sign = if negative { -1.0 } else { 1.0 };
    if let Some(hex) = digits.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).ok()?;
        let value = i64::try_from(bits).ok()?;
        return Some(Number::Int(if negative { -value } else { value }));
    }
    let digits: String = digits.chars().filter(|&c| c != '_').collect();
    match digits.as_str() {
        "Inf" => return Some(Number::Float(sign * f64::INFINITY)),
        "NaN" => return Some(Number::Float(f64::NAN)),
        "Inf32" => return Some(Number::Float32(sign as f32 * f32::INFINITY)),
        "NaN32" => return Some(Number::Float32(f32::NAN)),
        _ => {}
    }
    if let Some((mantissa, exponent)) = digits.split_once('f') {
        let value: f32 = format!("{mantissa}e{exponent}").parse().ok()?;
        return Some(Number::Float32(sign as f32 * value));
    }
    if digits.contains(['.', 'e']) {
        return Some(Number::Float(sign * digits.parse::<f64>().ok()?));
    }
    let signed = if negative { format!("-{digits}") } else { digits };
    signed.parse().ok().map(Number::Int)
}

fn unescaped(quoted: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = quoted[1..quoted.len() - 1].chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                c @ ('\\' | '"' | '$') => c,
                _ => return None,
            },
            // In Julia the value of an expression would stand here.
            '$' => return None,
            c => c,
        });
    }
    Some(out)
}

/// The greatest depth to which the brackets of a call nest. The grammar makes a tree, which is
/// walked recursively.
const MAX_NESTING: usize = 100;

/// Parses a call expression.
///
/// # Errors
/// A diagnostic of what is wrong, with the place.
pub fn parse_call(source: &Source) -> Result<Call, Diagnostic> {
    let mut tokens = Vec::new();
    let mut depth = 0usize;
    for (token, span) in Token::lexer(&source.text).spanned() {
        let Ok(token) = token else {
            let text = &source.text[span.clone()];
            let message = format!("`{text}` is no part of a call with literal arguments");
            return Err(Diagnostic::error(message).at(source, span, ""));
        };
        match token {
            Token::LeftParen | Token::LeftBracket => depth += 1,
            Token::RightParen | Token::RightBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            let message = format!("arguments are nested more than {MAX_NESTING} deep");
            return Err(Diagnostic::error(message).at(source, span, ""));
        }
        tokens.push(Ok((span.start, token, span.end)));
    }
    crate::call_grammar::CallParser::new().parse(tokens).map_err(|error| {
        let end = source.text.trim_end().len();
        let (message, span) = match error {
            ParseError::UnrecognizedToken { token: (start, token, end), .. }
            | ParseError::ExtraToken { token: (start, token, end) } => {
                (format!("unexpected {token}"), start..end)
            }
            ParseError::UnrecognizedEof { .. } => ("the call is not complete".to_owned(), end..end),
            ParseError::InvalidToken { location } => ("unexpected text".to_owned(), location..end),
            ParseError::User { error: (start, message, end) } => (message, start..end),
        };
        Diagnostic::error(message)
            .at(source, span, "")
            .help("a call looks like `foo(1.0, 2, [1.0, 2.0], (a = 1, b = true))`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Call, Diagnostic> {
        let ctx = regraft_ir::Context::new(std::sync::Arc::default());
        parse_call(&ctx.add_source("call", text.to_owned()).unwrap())
    }

    fn arguments(text: &str) -> Vec<Argument> {
        let call = parse(&format!("f({text})")).unwrap();
        call.arguments.into_iter().map(|(argument, _)| argument).collect()
    }

    fn strip(items: Vec<(Argument, Range<usize>)>) -> Vec<Argument> {
        items.into_iter().map(|(item, _)| item).collect()
    }

    #[test]
    fn scalars_read_as_julia_reads_them() {
        use Argument::{Bool, Convert, Nothing, Symbol, Text};
        let float = |x| Argument::Number(Number::Float(x));
        let int = |x| Argument::Number(Number::Int(x));
        assert_eq!(
            arguments("1, -2, 1.5, -1e3, 1., .5, 0x1f, 1_000"),
            [
                int(1),
                int(-2),
                float(1.5),
                float(-1000.0),
                float(1.0),
                float(0.5),
                int(31),
                int(1000)
            ]
        );
        assert_eq!(arguments("1.5f0"), [Argument::Number(Number::Float32(1.5))]);
        assert_eq!(
            arguments(r#"true, nothing, :a, "x\ny", Int32(3)"#),
            [
                Bool(true),
                Nothing,
                Symbol("a".into()),
                Text("x\ny".into()),
                Convert("Int32".into(), Number::Int(3))
            ]
        );
        assert_eq!(arguments("-9223372036854775808"), [int(i64::MIN)]);
    }

    #[test]
    fn containers_nest() {
        let Argument::Tuple(items) = &arguments("(1, (2, 3))")[0] else { panic!("no tuple") };
        assert!(matches!(strip(items.clone())[1], Argument::Tuple(_)));
        assert!(matches!(&arguments("(a = 1, b = 2.0)")[0], Argument::Named(f) if f.len() == 2));
        assert!(
            matches!(&arguments("Float64[]")[0], Argument::Vector(Some(t), v) if t == "Float64" && v.is_empty())
        );
        let Argument::Matrix(None, rows) = &arguments("[1.0 -2.0; 3.0 4.0]")[0] else {
            panic!("no matrix")
        };
        assert_eq!(rows.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(arguments("((1))"), arguments("1"));
        let Argument::Vector(None, items) = &arguments("[1; 2]")[0] else { panic!("no vector") };
        assert_eq!(strip(items.clone()), arguments("1, 2"));
        assert!(
            matches!(&arguments("[1 2 3]")[0], Argument::Matrix(None, rows) if rows.len() == 1)
        );
    }

    #[test]
    fn what_is_wrong_is_shown_with_its_place() {
        let error = parse("f(1, $)").unwrap_err();
        assert_eq!(error.labels()[0].span, 5..6);
        assert_eq!(parse("f(1, 2").unwrap_err().message(), "the call is not complete");
        assert_eq!(parse("f(1 2)").unwrap_err().message(), "unexpected number");
        assert!(parse("f(99999999999999999999)").is_err());
        assert!(parse("f(1e400)").is_err() && parse("f(1f39)").is_err());
        assert!(parse("f(\"a$b\")").is_err());
        let error = parse("f(1, x)").unwrap_err();
        assert_eq!(error.message(), "`x` is a name, arguments are literals");
        assert_eq!(error.labels()[0].span, 5..6);
        assert!(parse(&format!("f({})", "(".repeat(100_000))).is_err());
    }
}
