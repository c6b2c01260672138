//! Shared by the tests of the lowering: text in, functions or errors out.

use std::cell::Cell;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Function, Symbol, verify_function};
use regraft_lang::definition::{ClosureDef, Item, Space};
use regraft_lang::testing::{LowerOptions, lower};
use regraft_syntax::julia::{self, Options};

/// The way in which a text is lowered.
#[derive(Clone, Copy)]
pub struct How<'a> {
    pub soft_scope: bool,
    pub globals: &'a [&'a str],
    pub space: Space,
}

pub const FILE: How<'static> = How { soft_scope: false, globals: &[], space: Space::Main };
pub const PRELUDE: How<'static> = How { soft_scope: false, globals: &[], space: Space::Base };

pub fn items(ctx: &Arc<Context>, text: &str, how: How<'_>) -> Result<Vec<Item>, Vec<Diagnostic>> {
    let options = Options { prelude: how.space == Space::Base, ..Options::default() };
    let parsed = julia::parse(ctx, "test.jl", text, options);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let counter = Cell::new(0);
    let is_global = |name: Symbol| how.globals.contains(&ctx.str(name));
    let options = LowerOptions {
        soft_scope: how.soft_scope,
        is_global: &is_global,
        space: how.space,
        counter: &counter,
    };
    lower(ctx, &parsed.ast, &options)
}

/// Lowers a file, and prints its functions.
pub fn lowered(text: &str) -> String {
    lowered_as(text, FILE)
}

pub fn lowered_as(text: &str, how: How<'_>) -> String {
    let ctx = regraft_dialects::context();
    match items(&ctx, text, how) {
        Ok(items) => show(&items),
        Err(errors) => panic!("{}", regraft_ir::render_all(&errors, false)),
    }
}

/// Lowers a text, and gives the messages of the errors, each with the text at its label.
pub fn errors(text: &str) -> Vec<String> {
    errors_as(text, FILE)
}

pub fn errors_as(text: &str, how: How<'_>) -> Vec<String> {
    let ctx = regraft_dialects::context();
    let Err(errors) = items(&ctx, text, how) else { return Vec::new() };
    let about = |error: &Diagnostic| match error.labels() {
        [label, ..] => text[label.span.clone()].replace('\n', "; "),
        [] => String::from("nothing"),
    };
    errors.iter().map(|error| format!("{} [{}]", error.message(), about(error))).collect()
}

/// Verifies the functions of items, and prints them.
pub fn show(items: &[Item]) -> String {
    items.iter().map(show_item).collect()
}

fn show_item(item: &Item) -> String {
    match item {
        Item::Methods(methods) => {
            methods.iter().map(|method| code(&method.body, &method.closures)).collect()
        }
        Item::Struct(decl) => {
            let constructors = decl.constructors.iter();
            constructors.map(|method| code(&method.body, &method.closures)).collect()
        }
        Item::Const(_, thunk) | Item::Run(thunk) | Item::Include { path: thunk, .. } => {
            code(&thunk.body, &thunk.closures)
        }
        Item::If { condition, then, otherwise } => {
            let condition = code(&condition.body, &condition.closures);
            condition + &show(then) + &show(otherwise)
        }
        Item::Module { items, .. } => show(items),
        Item::Import(_)
        | Item::Export(_)
        | Item::Expand { .. }
        | Item::Type(..)
        | Item::Instance(..)
        | Item::Alias(..)
        | Item::Typed(..) => String::new(),
        Item::Declare(..) | Item::Abstract(_) => String::new(),
    }
}

fn code(body: &Function, closures: &[ClosureDef]) -> String {
    let text = body.to_string();
    if let Err(errors) = verify_function(body) {
        panic!("{text}\n{errors:?}");
    }
    let methods = closures.iter().flat_map(|closure| &closure.methods);
    text + &methods.map(|method| code(&method.body, &method.closures)).collect::<String>()
}
