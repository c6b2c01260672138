//! Differences between two states of a function or module, as unified diffs of their text.
//!
//! Numbers are stable (a pass never renumbers what it does not rebuild), so that the lines of
//! untouched instructions are equal and a line diff shows what a pass did. Where a pass did
//! renumber, `diff_renumbered` shows the old state under the new numbers.
//!
//! O((lines + changes) log lines) in ordinary cases; the algorithm (Myers, with bounded search)
//! may give a longer diff than necessary where nearly everything differs, but never takes
//! quadratic time.
//!
//! ```
//! use regraft_passes::diff_text;
//!
//! assert_eq!(diff_text("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
//! ```

use std::fmt::Write;

use regraft_ir::{Block, Function, Module, Renumbering, Value};
use similar::TextDiff;

/// The number of unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Returns what changed in a function: a unified diff without file names, empty if nothing changed.
pub fn diff_functions(before: &Function, after: &Function) -> String {
    diff_text(&before.to_string(), &after.to_string())
}

/// As [`diff_functions`], where the pass gave numbers anew: what is old is shown under its new
/// number, and under its old number with a `~` if it is gone.
pub(crate) fn diff_renumbered(before: &Function, after: &Function, map: &Renumbering) -> String {
    diff_text(&renumbered_text(before, map), &after.to_string())
}

/// Returns what changed in a module: one unified diff for each function that changed, in the order
/// of `after`, under the name of the function; functions that are gone come last.
pub fn diff_modules(before: &Module, after: &Module) -> String {
    let mut out = String::new();
    let types = diff_text(&struct_text(before), &struct_text(after));
    if !types.is_empty() {
        let _ = write!(out, "--- types\n+++ types\n{types}");
    }
    for f in after.functions() {
        let old = before.function(f.name_str()).map(Function::to_string).unwrap_or_default();
        write_section(&mut out, f.name_str(), &old, &f.to_string());
    }
    for f in before.functions().filter(|f| after.function(f.name_str()).is_none()) {
        write_section(&mut out, f.name_str(), &f.to_string(), "");
    }
    out
}

/// The difference of two texts: unified, with three lines of context, without file names.
pub fn diff_text(before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).missing_newline_hint(false).to_string()
}

fn write_section(out: &mut String, name: &str, before: &str, after: &str) {
    let diff = diff_text(before, after);
    if diff.is_empty() {
        return;
    }
    let side = |text: &str| if text.is_empty() { "nothing".to_owned() } else { format!("@{name}") };
    let _ = write!(out, "--- {}\n+++ {}\n{diff}", side(before), side(after));
}

/// The struct types of a module, one a line.
fn struct_text(module: &Module) -> String {
    let ctx = module.ctx();
    let mut out = String::new();
    for &(id, _) in module.structs() {
        let def = ctx.struct_def(id);
        let kind = if def.mutable { "mutable struct" } else { "struct" };
        let _ = write!(out, "{kind} @{} {{", ctx.str(def.name));
        for (i, &(name, ty)) in def.fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}{}: {}", ctx.str(name), ctx.type_text(ty));
        }
        out.push_str("}\n");
    }
    out
}

/// The text of `f` with all numbers mapped.
fn renumbered_text(f: &Function, map: &Renumbering) -> String {
    let value = |v: Value| map.value(v).map(Value::number);
    let block = |b: Block| map.block(b).map(Block::number);
    map_numbers(&f.to_string(), |sigil, number| match sigil {
        '%' => f.value_by_number(number).and_then(value),
        _ => f.block_by_number(number).and_then(block),
    })
}

/// Maps what stands behind `%` and `^` in a printed function; what is not mapped gets a `~`.
/// String literals and names are left alone.
fn map_numbers(text: &str, map: impl Fn(char, u32) -> Option<u32>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '^', '"', '#']) {
        let sigil = char::from(rest.as_bytes()[at]);
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = match sigil {
            '"' => string_len(rest),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            _ => 1 + rest[1..].bytes().take_while(u8::is_ascii_digit).count(),
        };
        let token = &rest[..len];
        rest = &rest[len..];
        match token[1..].parse::<u32>() {
            Ok(number) if matches!(sigil, '%' | '^') => match map(sigil, number) {
                Some(new) => {
                    let _ = write!(out, "{sigil}{new}");
                }
                None => {
                    let _ = write!(out, "{token}~");
                }
            },
            _ => out.push_str(token),
        }
    }
    out.push_str(rest);
    out
}

/// The length of the string literal that `text` starts with, quotes included.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(diff_text("a\nb\n", "a\nb\n"), "");
    }

    #[test]
    fn a_changed_line_stands_between_its_neighbours() {
        let diff = diff_text("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
        assert_eq!(diff, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    }

    #[test]
    fn numbers_are_mapped_outside_of_strings_names_and_comments() {
        let map = |sigil, n| (sigil == '%' && n < 10).then_some(n + 1);
        let text = "%1: str = f %9, %acc, %10, \"%1 \\\" %2\", ^3 # %1\n%2";
        let mapped = "%2: str = f %10, %acc, %10~, \"%1 \\\" %2\", ^3~ # %1\n%3";
        assert_eq!(map_numbers(text, map), mapped);
    }
}
