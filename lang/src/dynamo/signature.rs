//! The text of a signature as the head of a method.

use std::cell::Cell;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic};
use regraft_syntax::julia::{self, Kind};

use crate::definition::{Item, MethodHead, Space};
use crate::lower::{LowerOptions, lower_statement};

/// Reads a signature such as `profile(f, args...)`, whose names are looked up in a space.
pub(super) fn method_head(
    ctx: &Arc<Context>,
    signature: &str,
    space: Space,
) -> Result<MethodHead, Vec<Diagnostic>> {
    let text = format!("{signature} = nothing");
    let parsed = julia::parse(
        ctx,
        "signature",
        &text,
        julia::Options { prelude: true, ..Default::default() },
    );
    if !parsed.errors.is_empty() {
        return Err(parsed.errors);
    }
    let wrong = |message: &str| {
        let end = signature.len();
        vec![Diagnostic::error(message).at(&parsed.ast.source, 0..end, "")]
    };
    let &[statement] = parsed.ast.statements() else {
        return Err(wrong("expected the signature of one method"));
    };
    if !matches!(parsed.ast.kind(statement), Kind::Function { .. }) {
        return Err(wrong("expected the signature of a method, such as `profile(f, args...)`"));
    }
    let counter = Cell::new(0);
    let is_global = |_| false;
    let options =
        LowerOptions { soft_scope: false, is_global: &is_global, space, counter: &counter };
    match lower_statement(ctx, &parsed.ast, statement, &options)?.pop() {
        Some(Item::Methods(mut methods)) if methods.len() == 1 => {
            methods.pop().map(|method| method.head).ok_or_else(|| wrong("expected a signature"))
        }
        _ => Err(wrong("a dynamo has no default values and takes no arguments by name")),
    }
}
