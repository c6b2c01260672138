//! The Julia subset: text to syntax tree.
//!
//! Text becomes words (`raw`, by `logos`), words become tokens with a role (`layout`, which
//! knows blank space, ends of lines and what is open), tokens are parsed by a small LALRPOP grammar
//! (`julia.lalrpop`), and the tree is made by precedence climbing (`build`). Statements at top
//! level are read some hundred at a time, so that all of this stays in the cache.
//!
//! An error takes the smallest balanced piece of text around it with it: that is replaced by one
//! token that stands for anything, and its statements are read again. Linear in the text but for
//! that; the number of errors is limited.
//!
//! ```
//! use regraft_syntax::julia::{Options, parse};
//!
//! let ctx = regraft_dialects::context();
//! let parsed = parse(&ctx, "f.jl", "f(x) = 2x + 1\nf(3)", Options::default());
//! assert!(parsed.errors.is_empty());
//! assert_eq!(parsed.ast.statements().len(), 2);
//! ```

pub(crate) mod ast;
mod bits;
pub(crate) mod build;
mod colour;
mod layout;
mod print;
mod problems;
mod raw;
mod recover;
mod sexpr;
pub(crate) mod token;

use std::ops::Range;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Source};

pub use ast::{Ast, Expr, ExprId, Kind, List, Span};
pub use bits::{Bits, Words, words};
pub use build::is_built_in;
pub use colour::{Class, tokens};

/// The options of reading.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Tells whether this is the prelude. There, identifiers that begin with two underscores become
    /// names that no user can write: `__start` is the symbol `#start`.
    pub prelude: bool,
    /// Tells whether the statements are read as data ([`Kind::Form`]), not to be lowered.
    pub code: bool,
}

/// The result of reading.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree; where there was an error, it holds [`Kind::Error`].
    pub ast: Ast,
    /// The errors in the order of the text.
    pub errors: Vec<Diagnostic>,
    /// Tells whether the only trouble is that the text ends too early.
    pub incomplete: bool,
}

/// The fewest tokens that are read before they are parsed, unless the text ends.
const BATCH: usize = 2048;

/// Reads a program. `name` is what diagnostics call its file.
///
/// The text is kept in the context, so that locations in it can be shown. Never panics; linear in
/// the length of the text.
pub fn parse(ctx: &Arc<Context>, name: &str, text: &str, options: Options) -> Parsed {
    let Some(source) = ctx.add_source(name, text.to_owned()) else {
        let message = format!("{name} is too long: all sources together are limited to 2 GiB");
        let source = ctx.add_source(name, "").unwrap_or_else(empty_source);
        let (ast, _) = build::Builder::new(ctx, &source, "", 0, options).finish();
        return Parsed { ast, errors: vec![Diagnostic::error(message)], incomplete: false };
    };
    parse_part(ctx, &source, 0..text.len(), options)
}

/// Reads the statements in a part of a source, which begins and ends between statements. Places
/// in the tree and in diagnostics are those in the whole text.
///
/// # Panics
/// If the part does not begin and end between characters of the text.
pub fn parse_part(
    ctx: &Arc<Context>,
    source: &Source,
    part: Range<usize>,
    options: Options,
) -> Parsed {
    read(ctx, source, &source.text[..part.end], part.start, options)
}

/// Reads from the byte at `start` on a text that stands in the place of that of a source, byte for
/// byte: places in the tree and in diagnostics are those in the source.
pub(crate) fn read(
    ctx: &Arc<Context>,
    source: &Source,
    text: &str,
    start: usize,
    options: Options,
) -> Parsed {
    let mut layout = layout::Layout::new(text, start, options.code);
    let mut builder = build::Builder::new(ctx, source, text, text.len() - start, options);
    let mut wrong = problems::Problems::default();
    while !layout.finished && !wrong.is_full() {
        layout.fill(BATCH);
        recover::parse(&mut builder, &mut layout.out, text, &mut wrong);
    }
    let (ast, mut problems) = builder.finish();
    problems.append(layout.problems);
    problems.append(wrong);
    let (errors, incomplete) = problems.finish(source);
    Parsed { ast, errors, incomplete }
}

/// An empty text of a context of its own, for when there is no room in the one that is used.
#[cold]
pub(crate) fn empty_source() -> regraft_ir::Source {
    let ctx = Context::new(Arc::default());
    ctx.add_source("", "").expect("there is room in a new context")
}
