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

/// Checks the trees of texts, in pairs.
fn check(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let (parsed, tree) = read(text);
        if tree != *expected || !parsed.errors.is_empty() {
            wrong += &format!("{text}\n  is       {tree}\n  expected {expected}\n");
            wrong += &regraft_ir::render_all(&parsed.errors, false);
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
