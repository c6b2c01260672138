//! The Julia subset: trees are compared with what Julia's own parser makes of the same text,
//! written by hand as S-expressions.

use std::sync::Arc;

use regraft_syntax::julia::{Options, Parsed, parse};

#[path = "julia/calls.rs"]
mod calls;
#[path = "julia/colours.rs"]
mod colours;
#[path = "julia/errors.rs"]
mod errors;
#[path = "julia/functions.rs"]
mod functions;
#[path = "julia/literals.rs"]
mod literals;
#[path = "julia/matrices.rs"]
mod matrices;
#[path = "julia/mutations.rs"]
mod mutations;
#[path = "julia/precedence.rs"]
mod precedence;
#[path = "julia/statements.rs"]
mod statements;
#[path = "julia/unsupported.rs"]
mod unsupported;

fn read(text: &str) -> (Parsed, String) {
    let ctx = regraft_ir::Context::new(Arc::default());
    let parsed = parse(&ctx, "test.jl", text, Options::default());
    let tree = parsed.ast.to_sexpr(&ctx);
    (parsed, tree)
}

/// The tree of a text without errors.
fn tree(text: &str) -> String {
    let (parsed, tree) = read(text);
    assert!(parsed.errors.is_empty(), "{text}\n{:?}", parsed.errors);
    assert!(!parsed.incomplete);
    tree
}

/// The tree of a text that is read as data first.
fn tree_by_data(text: &str) -> String {
    let ctx = regraft_ir::Context::new(Arc::default());
    let options = Options { code: true, ..Options::default() };
    let parsed = parse(&ctx, "test.jl", text, options);
    let mut ast = parsed.ast;
    let mut lines: Vec<String> =
        parsed.errors.iter().map(|error| format!("× {}", error.message())).collect();
    for form in ast.statements().to_vec() {
        lines.push(match ast.interpret(&ctx, form) {
            Ok(id) => ast.sexpr_of(&ctx, id),
            Err(errors) => regraft_ir::render_all(&errors, false),
        });
    }
    lines.join("\n")
}

/// A tree without what code that is data has more of, such as blocks of one statement.
fn plain(tree: &str) -> String {
    let mut out: Vec<String> = vec![String::new()];
    let mut rest = tree;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '(' => {
                out.push(String::new());
                rest = &rest[1..];
                continue;
            }
            ')' => {
                let inner = out.pop().unwrap_or_default();
                let made = match inner.strip_prefix("block ") {
                    Some(only) if is_one(only) => only.to_owned(),
                    _ if inner == "return NOTHING" => "(return)".to_owned(),
                    _ => format!("({inner})"),
                };
                out.last_mut().expect("brackets match").push_str(&made);
                rest = &rest[1..];
                continue;
            }
            '"' => 2 + rest[1..].replace("\\\\", "__").replace("\\\"", "__").find('"').unwrap_or(0),
            c => c.len_utf8(),
        };
        let last = out.last_mut().expect("there is one");
        // The text of what is shown is that of the source, or the code as it is printed.
        last.push_str(if last.ends_with("#show ") && c == '"' { "text" } else { &rest[..end] });
        rest = &rest[end..];
    }
    out.concat()
}

/// Returns whether there is one expression in a text.
fn is_one(text: &str) -> bool {
    let mut depth = 0;
    !text.is_empty()
        && text.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c != ' ' || depth > 0
        })
}

/// Checks the trees of texts, in pairs. Code that is read as data, and then interpreted, gives the same.
fn check(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let (parsed, tree) = read(text);
        if tree != *expected || !parsed.errors.is_empty() {
            wrong += &format!("{text}\n  is       {tree}\n  expected {expected}\n");
            wrong += &regraft_ir::render_all(&parsed.errors, false);
        }
        let by_data = tree_by_data(text);
        if plain(&by_data) != plain(expected) {
            wrong += &format!("{text}\n  as data  {by_data}\n  expected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The messages of the errors, each with the text that it points at.
fn messages(text: &str) -> Vec<(String, String)> {
    let (parsed, _) = read(text);
    let text_of = |d: &regraft_ir::Diagnostic| {
        d.labels().first().map_or("", |label| &text[label.span.clone()]).to_owned()
    };
    parsed.errors.iter().map(|d| (d.message().to_owned(), text_of(d))).collect()
}

/// Checks that each text has just one error, with this message, at this piece of it.
fn check_errors(cases: &[(&str, &str, &str)]) {
    let mut wrong = String::new();
    for (text, message, at) in cases {
        let found = messages(text);
        if found != [((*message).to_owned(), (*at).to_owned())] {
            wrong += &format!("{text}\n  gives    {found:?}\n  expected {message:?} at {at:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
