//! Listings of Julia's IR: text to syntax trees of the functions that they are the code of.
//!
//! Reads what Julia prints for lowered code (`@code_lowered`, `CodeInfo`), typed code
//! (`@code_typed`, `@code_warntype`, `IRCode`), and what IRTools prints (`@code_ir`). A text may hold
//! several listings, as they stand in a session or a document: a line `julia> @code_lowered foo(1.0)` before a
//! listing names the function, a line `foo(x, y::Float64) where T` is the head of its method.
//!
//! `lines` finds blocks and statements, `statement` the jumps and φs, `exprs` has the parser of the
//! language read all expressions at once, `tidy` makes expressions of the language of them,
//! `parameters` finds what the method takes, and `method` puts a function together, with labels for blocks and `@goto` for jumps.
//!
//! ```
//! use regraft_syntax::listing::parse;
//!
//! let text = "CodeInfo(\n1 ─ %1 = x * x\n│   %2 = Main.sin(%1)\n└──      return %2\n)\n";
//! let parsed = parse(&regraft_dialects::context(), "f.lowered", text);
//! assert!(parsed.errors.is_empty());
//! assert_eq!(parsed.names, ["f"]);
//! ```

mod exprs;
mod header;
mod iteration;
mod lines;
mod method;
mod parameters;
mod scan;
mod statement;
mod tidy;
mod variables;

use std::path::Path;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Source};

use crate::julia::Ast;
use method::Method;
use tidy::Tidy;

/// The lines in which a listing begins, at the latest, for a text to be known as one.
const FIRST_LINES: usize = 20;

/// The most errors that a text gives.
const MAX_ERRORS: usize = 100;

/// The functions of a text of listings.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree, with one definition of a function for each listing.
    pub ast: Ast,
    /// The names of the functions, in order.
    pub names: Vec<String>,
    /// The errors in the order of the text; if there are any, the tree is of no use.
    pub errors: Vec<Diagnostic>,
    /// Assumptions that were made, as the listings do not say it.
    pub warnings: Vec<Diagnostic>,
}

/// Reads listings. `name` is what diagnostics call the file; a single listing that nothing names is
/// that of a function with the name of the file (`foo` of `folder/foo.lowered`).
///
/// Never panics; linear in the length of the text.
pub fn parse(ctx: &Arc<Context>, name: &str, text: &str) -> Parsed {
    let Some(source) = ctx.add_source(name, text.to_owned()) else {
        let message = format!("{name} is too long: all sources together are limited to 2 GiB");
        return Parsed {
            ast: Ast::empty(crate::julia::empty_source()),
            names: Vec::new(),
            errors: vec![Diagnostic::error(message)],
            warnings: Vec::new(),
        };
    };
    let (listed, exprs, mut errors) = lines::read(&source);
    let mut trees = exprs.read(ctx, &source);
    errors.append(&mut trees.errors);
    let (mut warnings, mut names, mut functions) = (Vec::new(), Vec::new(), Vec::new());
    if errors.is_empty() && listed.is_empty() {
        let error = Diagnostic::error("there is no listing in this text");
        let error = error.at(&source, 0..text.lines().next().map_or(0, str::len), "");
        errors.push(
            error.help("a listing begins with `CodeInfo(`, a block `1 ─ …`, or `1: (%1, %2)`"),
        );
    }
    if errors.is_empty() {
        let ast = &mut trees.ast;
        let mut tidy = Tidy { ctx, ast, errors: &mut errors, statics: Vec::new() };
        for listing in &listed {
            let name = match &listing.header.name {
                Some(name) => name.clone(),
                None if listed.len() == 1 => stem(name),
                None => {
                    let error =
                        Diagnostic::error("this listing has no name, and is not the only one");
                    let error = error.at(&source, listing.at.clone(), "");
                    tidy.errors
                        .push(error.help("write the head of the method before it: foo(x, y)"));
                    continue;
                }
            };
            let method = Method::new(&mut tidy, &exprs, &trees.roots, &mut warnings);
            functions.extend(method.function(listing, &name));
            names.push(name);
        }
    }
    errors.sort_by_key(|error| error.labels().first().map_or(0, |label| label.span.start));
    limit(&mut errors, &source);
    let mut ast = trees.ast;
    let functions = ast.add_list(&functions);
    ast.set_statements(functions);
    Parsed { ast, names, errors, warnings }
}

/// Returns whether a text begins like one of listings. O(1).
pub fn is_listing(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take(FIRST_LINES).any(|line| line == "CodeInfo(" || lines::begins_block(line))
}

/// The name of a function after that of its file; `listing` if that is no name.
fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_name = stem.chars().all(|c| c.is_alphanumeric() || "_!".contains(c))
        && stem.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if is_name { stem.to_owned() } else { "listing".to_owned() }
}

fn limit(errors: &mut Vec<Diagnostic>, source: &Source) {
    if errors.len() > MAX_ERRORS {
        let more = errors.len() - MAX_ERRORS;
        errors.truncate(MAX_ERRORS);
        let end = source.text.len();
        errors.push(Diagnostic::error(format!("{more} more errors")).at(source, end..end, ""));
    }
}
