//! Reading inputs: whether one is whole, and the parts of the arguments of commands.

use std::ops::Range;
use std::sync::Arc;

use regraft_ir::Registry;
use regraft_lang::Completeness;
use regraft_syntax::julia::{Class, tokens};

use super::paste::Paste;

/// Returns whether nothing is to be shown of the value of an input: the last word of it is `;`.
pub(super) fn is_silent(text: &str) -> bool {
    let words = tokens(text);
    let last = words.into_iter().rev().find(|(_, class)| *class != Class::Comment);
    last.is_some_and(|(span, _)| &text[span] == ";")
}

/// Returns whether a name occurs in an input.
pub(super) fn names(text: &str, name: &str) -> bool {
    tokens(text).into_iter().any(|(span, class)| class == Class::Name && &text[span] == name)
}

/// Returns whether an input ends too early, so that it goes on in the next line.
pub(super) fn is_incomplete(ops: &Arc<Registry>, text: &str) -> bool {
    Completeness::of(ops, text) == Completeness::Incomplete
}

/// Returns whether a text of several lines ends where an input may, if it is taken line by line.
pub(super) fn is_whole(ops: &Arc<Registry>, text: &str) -> bool {
    let mut pending = String::new();
    let mut paste = Paste::default();
    for line in text.lines() {
        let Some(line) = paste.input(line, pending.is_empty(), false) else { continue };
        let is_whole = || command(line).is_some() || question(line).is_some();
        if pending.is_empty() && (line.trim().is_empty() || is_whole()) {
            continue;
        }
        pending.push_str(line);
        pending.push('\n');
        if !is_incomplete(ops, &pending) {
            pending.clear();
        }
    }
    pending.is_empty()
}

/// The name of the command that an input begins with, without the colon, and what follows it.
/// Commands are lines that begin with a colon and a letter or `?`.
pub(super) fn command(text: &str) -> Option<(Range<usize>, &str)> {
    let start = text.len() - text.trim_start().len();
    let rest = text[start..].strip_prefix(':')?;
    if !rest.starts_with(|c: char| c.is_alphabetic() || c == '?') {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "?!_-".contains(c)));
    let end = end.unwrap_or(rest.len());
    Some((start + 1..start + 1 + end, rest[end..].trim()))
}

/// Returns the subject of a question for help, if an input begins with `?`.
pub(super) fn question(text: &str) -> Option<&str> {
    text.trim().strip_prefix('?').map(str::trim)
}

/// Splits `foo(1.0) -p fold, dce` into the call and the pipeline, where they are given. A `-p`
/// within brackets or a string belongs to the call.
pub(super) fn call_and_pipeline(text: &str) -> (Option<&str>, Option<&str>) {
    let given = |part: &'_ str| !part.trim().is_empty();
    match pipeline_flag(text) {
        Some(flag) => {
            let call = &text[..flag.start];
            let pipeline = unquoted(text[flag.end..].trim());
            (given(call).then_some(call.trim()), Some(pipeline))
        }
        None => (given(text).then_some(text.trim()), None),
    }
}

/// Finds `-p` as a word of its own, outside of brackets and strings.
pub(super) fn pipeline_flag(text: &str) -> Option<Range<usize>> {
    let (mut depth, mut quoted, mut escaped, mut before) = (0usize, false, false, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '-' if depth == 0 && before.is_whitespace() => {
                for flag in ["-p", "--pipeline"] {
                    let rest = text[at..].strip_prefix(flag);
                    let ends =
                        |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
                    if rest.is_some_and(ends) {
                        return Some(at..at + flag.len());
                    }
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// Without the quotes that a shell would want.
fn unquoted(text: &str) -> &str {
    ['\'', '"']
        .iter()
        .find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_silent_if_its_last_word_is_a_semicolon() {
        for text in ["x;", "x; # c", "f(x) = 1 ; \n", "x; #= a =#", "x;;"] {
            assert!(is_silent(text), "{text}");
        }
        for text in ["x", "x # c;", "\";\"", "x; y", "", "f(;)"] {
            assert!(!is_silent(text), "{text}");
        }
    }

    #[test]
    fn what_ends_too_early_is_not_whole() {
        let ctx = regraft_dialects::context();
        for text in
            ["x", "f(x)\ny", ":ir f(", "", "begin\n 1\nend", "x\n:ir f(\ny", ")", "\"a\nb\""]
        {
            assert!(is_whole(ctx.registry(), text), "{text}");
        }
        for text in ["f(", "function f(x)\n x", "x\n1 +", "begin\n:a", "\"\"\"a", "[1,", "#= c"] {
            assert!(!is_whole(ctx.registry(), text), "{text}");
        }
    }

    #[test]
    fn a_command_is_a_colon_and_a_name_at_the_start() {
        assert_eq!(command("  :ir foo(1) "), Some((3..5, "foo(1)")));
        assert_eq!(command(":opt -p dce"), Some((1..4, "-p dce")));
        assert_eq!(command(":?"), Some((1..2, "")));
        assert_eq!(command(":"), None);
        assert_eq!(command(": a"), None);
        assert_eq!(command("::Int"), None);
        assert_eq!(command("x[:a]"), None);
        assert_eq!(command(""), None);
    }

    #[test]
    fn a_pipeline_follows_the_call() {
        assert_eq!(call_and_pipeline(""), (None, None));
        assert_eq!(call_and_pipeline(" f(1) "), (Some("f(1)"), None));
        assert_eq!(call_and_pipeline("-p dce"), (None, Some("dce")));
        assert_eq!(call_and_pipeline("f(a -p b) -p  dce"), (Some("f(a -p b)"), Some("dce")));
        assert_eq!(call_and_pipeline(r#"f("\" -p ") -p 'a, b'"#).1, Some("a, b"));
        assert_eq!(call_and_pipeline("f(x) --pipeline dce"), (Some("f(x)"), Some("dce")));
        assert_eq!(call_and_pipeline("f(x) -p"), (Some("f(x)"), Some("")));
        assert_eq!(call_and_pipeline("x -pi"), (Some("x -pi"), None));
    }
}
