//! Syntax trees to lowered IR: untyped SSA of generic calls, one function per method.
//!
//! Each statement at top level is lowered by itself, in three steps: `scope` finds which
//! variable each name means, a walk over the tree builds SSA form (`ssa`), and `finish` makes
//! a function of it. Nothing is looked up in the world: names that are no local variables stay
//! names.
//!
//! Beyond what the ops say, lowered code follows these conventions:
//! - `call @f(…)` looks `f` up from the space of the method; `call @Base.f(…)` is the one of the
//!   prelude, whatever the program defines. `core.global :"Base.f"` likewise. What syntax stands for
//!   (`x[i]` is `getindex`) is found in the prelude, too: it is written so only where the text
//!   defines a name of its own that would be found instead.
//! - A captured variable is read by `call @getfield(%self, :x)` where the function begins.
//! - The parts of a `try` are closures. Where control leaves them other than by their end, they note
//!   the way out in a ref: see `try_catch`.
//! - `new(…)` in an inner constructor is `call @#new(T, …)`.
//! - A name that may have no value is checked by `call @#check_defined(flag, :x)`.
//!
//! O(size of the text).

use std::sync::Arc;

use regraft_ir::{Context, Diagnostic};
use regraft_syntax::julia::{Ast, ExprId};

use crate::definition::Item;
use context::{Code, Constructed, Indexed, Label, Loop, Lower, in_text_order};

mod assign;
mod blocks;
mod broadcast;
mod call;
mod closure;
mod comprehension;
mod condition;
mod context;
mod control;
mod deferred_body;
mod define;
mod expr;
mod finish;
mod inner;
mod iterate;
mod jump;
mod keywords;
mod names;
mod narrow;
mod options;
mod param;
mod phis;
mod quote;
mod scope;
mod ssa;
mod structs;
mod top;
mod try_catch;
mod types;
mod variable;

pub use deferred_body::{DeferredBody, Library, Statement};
pub use options::LowerOptions;

/// Lowers one statement at top level, in which macros have been expanded.
///
/// O(size of the statement).
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn lower_statement(
    ctx: &Arc<Context>,
    ast: &Ast,
    statement: ExprId,
    options: &LowerOptions<'_>,
) -> Result<Vec<Item>, Vec<Diagnostic>> {
    let mut lower = Lower::new(ctx, ast, options);
    lower.is_expanded = true;
    let items = lower.items(&[statement]);
    if lower.errors.is_empty() { Ok(items) } else { Err(in_text_order(lower.errors)) }
}

/// Lowers a text, statement by statement.
///
/// O(size of the text).
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn lower(
    ctx: &Arc<Context>,
    ast: &Ast,
    options: &LowerOptions<'_>,
) -> Result<Vec<Item>, Vec<Diagnostic>> {
    let mut lower = Lower::new(ctx, ast, options);
    let items = lower.items(ast.statements());
    if lower.errors.is_empty() {
        return Ok(items);
    }
    Err(in_text_order(lower.errors))
}
