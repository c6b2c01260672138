//! The lines before a listing: the call that was asked for, or the head of the method.

use std::ops::Range;

use super::exprs::{ExprAt, Exprs};
use super::scan::{closing, in_name, list_items, trim};

/// The facts that are known of the method that a listing is the code of.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) name: Option<String>,
    /// The number of its arguments.
    pub(super) arity: Option<usize>,
    /// Its head, as an expression: `foo(x, y::Float64) where T`.
    pub(super) head: Option<ExprAt>,
    /// The types of its arguments.
    pub(super) types: Option<Vec<ExprAt>>,
    /// Its parameters with their types, apart from the callee.
    pub(super) params: Vec<ExprAt>,
}

impl Header {
    /// Reads a line `julia> …` if it asks for the listing of a call. Others say nothing about one.
    pub(super) fn command(text: &str, line: Range<usize>, exprs: &mut Exprs) -> Option<Self> {
        let piece = &text[line.clone()];
        if let Some(at) = piece.find("@code_") {
            let word = piece[at..].find(' ')?;
            let mut start = line.start + at + word + 1;
            // Options: `optimize=true`.
            while let Some(word) = text[start..line.end].split(' ').next()
                && word.contains('=')
                && !word.contains('(')
                && start + word.len() < line.end
            {
                start += word.len() + 1;
            }
            let (name, inner) = call(text, trim(text, start..line.end))?;
            let arity = Some(list_items(text, inner).len());
            return Some(Self { name: Some(name), arity, ..Self::default() });
        }
        // `code_typed(f, (Float64,))`, `code_ircode_by_type(Tuple{typeof(f), Float64})`,
        // `IR(typeof(f), Float64)`, each perhaps assigned.
        let typed = piece.split_once("> ").map_or(piece, |(_, typed)| typed);
        let typed = typed.split_once(" = ").map_or(typed, |(_, value)| value).trim_start();
        let (function, _) = typed.split_once('(')?;
        let function = function.rsplit_once('.').map_or(function, |(_, name)| name);
        if !SHOWING.contains(&function) {
            return None;
        }
        let open = piece.len() - typed.len() + typed.find('(')?;
        let open = line.start + open;
        let close = closing(text, open, line.end)?;
        let mut items = list_items(text, open + 1..close);
        if let [tuple] = &*items
            && let Some(inner) = within(text, tuple.clone(), "Tuple{", "}")
        {
            items = list_items(text, inner);
        }
        let first = items.first()?.clone();
        let (name, types) = match within(text, first.clone(), "typeof(", ")") {
            Some(name) => (last_name(&text[name])?, items.split_off(1)),
            None => {
                let name = last_name(&text[first])?;
                let types = items.get(1)?.clone();
                let inner = within(text, types.clone(), "Tuple{", "}")
                    .or_else(|| within(text, types, "(", ")"))?;
                let mut types = list_items(text, inner);
                types.retain(|item| !item.is_empty());
                (name, types)
            }
        };
        let types: Vec<ExprAt> = types.into_iter().map(|range| exprs.add(range)).collect();
        Some(Self {
            name: Some(name),
            arity: Some(types.len()),
            types: Some(types),
            ..Self::default()
        })
    }

    /// Reads the head of a method: `foo(x, y::Float64) where T`.
    pub(super) fn head(text: &str, line: Range<usize>, exprs: &mut Exprs) -> Option<Self> {
        let mut line = trim(text, line);
        if text[line.clone()].starts_with("function ") {
            line = trim(text, line.start + 9..line.end);
        }
        // `(p::P)(x)`
        let instance = if text[line.clone()].starts_with('(') {
            Some(line.start..closing(text, line.start, line.end)? + 1)
        } else {
            None
        };
        let (name, inner) = match instance {
            Some(callee) => {
                let close = closing(text, callee.end, line.end)?;
                let inner =
                    (text.as_bytes()[callee.end] == b'(').then_some(callee.end + 1..close)?;
                (text[callee].to_owned(), inner)
            }
            None => call(text, line.clone())?,
        };
        let behind = text[inner.end + 1..line.end].trim_start();
        if !(behind.is_empty() || behind.starts_with("where")) {
            return None;
        }
        let arity = Some(list_items(text, inner).len());
        let head = Some(exprs.add(line));
        Some(Self { name: Some(name), arity, head, ..Self::default() })
    }
}

/// The functions that give listings.
const SHOWING: [&str; 7] = [
    "code_lowered",
    "code_typed",
    "code_ircode",
    "code_ir",
    "code_typed_by_type",
    "code_ircode_by_type",
    "IR",
];

/// The text between two others that a piece begins and ends with.
fn within(text: &str, range: Range<usize>, begin: &str, end: &str) -> Option<Range<usize>> {
    let inner = text[range.clone()].strip_prefix(begin)?.strip_suffix(end)?;
    let start = range.start + begin.len();
    Some(start..start + inner.len())
}

/// The name that is called at the beginning of a piece of text, and the place of its arguments.
pub(super) fn call(text: &str, range: Range<usize>) -> Option<(String, Range<usize>)> {
    let open = range.start + text[range.clone()].find('(')?;
    let close = closing(text, open, range.end)?;
    Some((last_name(&text[range.start..open])?, open + 1..close))
}

/// `f` of `A.B.f`; none if that is not a name, or an operator.
fn last_name(path: &str) -> Option<String> {
    let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
    let name = name.strip_prefix(':').unwrap_or(name);
    let is_name = name.bytes().all(|byte| in_name(byte) || byte == b'!')
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '!');
    let is_operator = name.bytes().all(|byte| b"+-*/\\^%<>=!&|~".contains(&byte));
    (!name.is_empty() && (is_name || is_operator)).then(|| name.to_owned())
}
