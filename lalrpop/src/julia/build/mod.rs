//! Makes the tree: operators by precedence climbing, on a stack of operands and one of operators.
//!
//! The grammar calls [`Builder`] once for every word. An expression begins with a mark on the
//! stack of operators, and ends by applying what is above it. Lists under construction share one
//! stack too. Every node knows how deep it is; what is deeper than [`MAX_DEPTH`] is an error, so
//! that trees can be walked recursively.

mod blocks;
mod brackets;
mod code;
mod definitions;
mod dimensions;
mod dots;
mod forms;
mod generated;
mod interpret;
mod leaves;
mod modules;
mod operators;

use std::sync::Arc;

use regraft_ir::{Context, Source, Symbol};
use rustc_hash::FxHashMap;

use self::code::Code;
use super::Options;
use super::ast::{Ast, Expr, ExprId, Kind, List, Span};
use super::problems::Problems;
use super::token::{Infix, Oper, Prefix};

/// Returns whether a macro is a part of the language, as `@inbounds` is.
pub fn is_built_in(name: &str) -> bool {
    interpret::BUILT_IN.contains(&name)
}

/// The greatest depth of a tree.
pub(crate) const MAX_DEPTH: u16 = 200;

/// The mark that parts the rows of a matrix in a list under construction.
const ROW: ExprId = ExprId::new(u32::MAX as usize - 1);

/// A list under construction: where it begins on the stack, and what has parted its items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items {
    start: u32,
    commas: u32,
    semicolons: u32,
    /// The place of the first semicolon, or space between elements.
    mark: u32,
    /// The last semicolon.
    last: Span,
    /// The first semicolons that follow each other without an item between them.
    doubled: Option<Span>,
    /// Tells whether its first semicolon comes before any item.
    leads: bool,
    spaces: bool,
    generator: bool,
}

/// The clauses of a `for` or of a comprehension under construction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clauses {
    start: u32,
    body: Option<ExprId>,
    nested: bool,
}

/// An entry that waits on the stack of operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    /// Here an expression begins.
    Mark,
    Infix(Infix),
    Prefix(Prefix),
}

#[derive(Clone, Copy, Debug)]
struct Op {
    what: Waiting,
    /// The strength with which it binds what is on its right.
    right: u8,
    /// The number of operands that it has.
    operands: u32,
    span: Span,
}

/// A place to go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    exprs: usize,
    lists: usize,
    statements: usize,
    problems: usize,
    keywords: usize,
    mixed: usize,
    macros: usize,
}

pub(crate) struct Builder<'t> {
    ctx: &'t Arc<Context>,
    text: &'t str,
    prelude: bool,
    /// The level of quoting.
    code: Code,
    ast: Ast,
    /// True if the tree is made of code that is data, whose places tell nothing about it.
    interpreting: bool,
    /// True within an index.
    indexed: bool,
    /// The number of expressions that the tree had before; they are parts of none that is made.
    first: usize,
    depths: Vec<u16>,
    operands: Vec<ExprId>,
    ops: Vec<Op>,
    /// The operators of chained comparisons.
    comparisons: Vec<(Infix, Span)>,
    list: Vec<ExprId>,
    statements: Vec<ExprId>,
    symbols: FxHashMap<&'t str, Symbol>,
    opers: [Option<Symbol>; Oper::Other as usize + 1],
    /// Assignments in brackets in code that is data.
    bracketed: Vec<ExprId>,
    /// The tuple without brackets that was made last.
    bare_tuple: Option<ExprId>,
    /// Calls with arguments that have names, unless they turned out to be heads of functions; in the
    /// order of their ids.
    keywords: Vec<ExprId>,
    /// Tuples with some items `k = v`, or with a `;`, which are right as parameters only, and `const` names
    /// without values, which are right as fields only; likewise.
    mixed: Vec<ExprId>,
    pub(crate) problems: Problems,
}

impl<'t> Builder<'t> {
    /// Of a text of which `length` bytes are read.
    pub(crate) fn new(
        ctx: &'t Arc<Context>,
        source: &Source,
        text: &'t str,
        length: usize,
        options: Options,
    ) -> Self {
        let guess = length / 4 + 16;
        Self {
            ctx,
            text,
            prelude: options.prelude,
            interpreting: false,
            indexed: false,
            first: 0,
            code: Code::of(options),
            ast: Ast {
                source: source.clone(),
                exprs: Vec::with_capacity(guess),
                lists: Vec::with_capacity(guess / 2),
                statements: List::default(),
                macros: Vec::new(),
            },
            depths: Vec::with_capacity(guess),
            operands: Vec::new(),
            ops: Vec::new(),
            comparisons: Vec::new(),
            list: Vec::new(),
            statements: Vec::new(),
            symbols: FxHashMap::default(),
            opers: [None; Oper::Other as usize + 1],
            bracketed: Vec::new(),
            bare_tuple: None,
            keywords: Vec::new(),
            mixed: Vec::new(),
            problems: Problems::default(),
        }
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            exprs: self.ast.exprs.len(),
            lists: self.ast.lists.len(),
            statements: self.statements.len(),
            problems: self.problems.len(),
            keywords: self.keywords.len(),
            mixed: self.mixed.len(),
            macros: self.ast.macros.len(),
        }
    }

    /// Forgets all that was read since.
    pub(crate) fn rewind(&mut self, to: Checkpoint) {
        self.ast.exprs.truncate(to.exprs);
        self.depths.truncate(to.exprs - self.first);
        self.ast.lists.truncate(to.lists);
        self.statements.truncate(to.statements);
        self.problems.truncate(to.problems);
        self.keywords.truncate(to.keywords);
        self.mixed.truncate(to.mixed);
        self.ast.macros.truncate(to.macros);
        self.code.rewind();
        self.operands.clear();
        self.ops.clear();
        self.comparisons.clear();
        self.list.clear();
        self.bracketed.clear();
        self.bare_tuple = None;
    }

    pub(crate) fn finish(mut self) -> (Ast, Problems) {
        for call in std::mem::take(&mut self.keywords) {
            self.gather_keywords(call);
        }
        for tuple in std::mem::take(&mut self.mixed) {
            let span = self.ast.span(tuple);
            let has_keywords =
                matches!(self.kind(tuple), Kind::Tuple(items) if self.keywords_of(items).is_some());
            let message = match self.kind(tuple) {
                Kind::Const(_) => "expected `name = value` after `const`",
                _ if has_keywords => {
                    "`;` with commas before it stands in calls and parameters only"
                }
                _ => "either all items of a tuple have names or none has",
            };
            self.problems.add(span, message);
        }
        self.ast.statements = self.ast.add_list(&self.statements);
        (self.ast, self.problems)
    }

    // --- nodes -------------------------------------------------------------------------------

    fn kind(&self, id: ExprId) -> Kind {
        self.ast.exprs[id.index()].kind
    }

    fn span(&self, id: ExprId) -> Span {
        self.ast.exprs[id.index()].span
    }

    /// The place of an expression with the brackets that it stands alone in, as far as there are no
    /// comments in these.
    fn outer(&self, id: ExprId) -> Span {
        const BLANKS: [char; 4] = [' ', '\n', '\t', '\r'];
        let mut span = self.span(id);
        loop {
            let before = self.text[..span.start as usize].trim_end_matches(BLANKS);
            let after = self.text[span.end as usize..].trim_start_matches(BLANKS);
            let in_comment = || before.rsplit('\n').next().is_some_and(|line| line.contains('#'));
            if !before.ends_with('(') || !after.starts_with(')') || in_comment() {
                return span;
            }
            let (start, end) = (before.len() - 1, self.text.len() - after.len() + 1);
            span = Span { start: start as u32, end: end as u32 };
        }
    }

    fn depth(&self, id: ExprId) -> u16 {
        id.index().checked_sub(self.first).map_or(0, |at| self.depths[at])
    }

    fn slice(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    fn leaf(&mut self, kind: Kind, span: Span) -> ExprId {
        let id = ExprId::new(self.ast.exprs.len());
        self.ast.exprs.push(Expr { kind, span });
        self.depths.push(1);
        id
    }

    /// A node whose deepest child is `depth` deep.
    fn node(&mut self, kind: Kind, span: Span, depth: u16) -> ExprId {
        let id = ExprId::new(self.ast.exprs.len());
        if depth >= MAX_DEPTH {
            self.too_deep(span);
            return self.leaf(Kind::Error, span);
        }
        self.ast.exprs.push(Expr { kind, span });
        self.depths.push(depth + 1);
        id
    }

    #[cold]
    fn too_deep(&mut self, span: Span) {
        self.problems.add_help(
            span,
            format!("the code is nested more than {MAX_DEPTH} deep"),
            "",
            "give parts of it names, or functions of their own",
        );
    }

    /// Moves what is on the stack from `start` on to a list of the tree; tells how deep it is.
    fn take_list(&mut self, start: u32) -> (List, u16) {
        let made = self.copy_list(start as usize);
        self.list.truncate(start as usize);
        made
    }

    fn copy_list(&mut self, start: usize) -> (List, u16) {
        let items = &self.list[start..];
        let first = self.ast.lists.len() as u32;
        let mut depth = 0;
        for &id in items {
            depth = depth.max(self.depth(id));
        }
        self.ast.lists.extend_from_slice(items);
        (List { start: first, len: items.len() as u32 }, depth)
    }

    fn list_of(&mut self, ids: &[ExprId]) -> (List, u16) {
        let depth = ids.iter().map(|&id| self.depth(id)).max().unwrap_or(0);
        (self.ast.add_list(ids), depth)
    }

    /// Reports what is wrong, and makes an expression of it.
    #[cold]
    fn wrong(&mut self, span: Span, message: impl Into<String>) -> ExprId {
        self.problems.add(span, message);
        self.leaf(Kind::Error, span)
    }

    fn push(&mut self, id: ExprId) {
        self.operands.push(id);
    }

    /// The grammar sees to it that there is an operand wherever one is taken.
    fn pop(&mut self) -> ExprId {
        self.operands.pop().expect("an operand for every operator")
    }

    // --- lists -------------------------------------------------------------------------------

    pub(crate) fn items(&self) -> Items {
        Items {
            start: self.list.len() as u32,
            commas: 0,
            semicolons: 0,
            mark: 0,
            last: Span { start: 0, end: 0 },
            doubled: None,
            leads: false,
            spaces: false,
            generator: false,
        }
    }

    pub(crate) fn statement(&mut self, _items: &mut Items) {
        let id = self.expr();
        self.list.push(id);
    }

    pub(crate) fn item(&mut self, _items: &mut Items) {
        let id = self.expr();
        self.list.push(id);
    }

    pub(crate) fn comma(&mut self, items: &mut Items, _at: Span) {
        let id = self.expr();
        self.list.push(id);
        items.commas += 1;
    }

    pub(crate) fn semicolon(&mut self, items: &mut Items, at: Span) {
        let id = self.expr();
        self.list.push(id);
        self.only_semicolon(items, at);
    }

    pub(crate) fn only_semicolon(&mut self, items: &mut Items, at: Span) {
        if items.semicolons == 0 {
            items.leads = self.list.len() as u32 == items.start;
            items.mark = at.start;
        } else if self.list.last() == Some(&ROW) {
            let run = items.doubled.unwrap_or(items.last);
            if run.end == items.last.end {
                items.doubled = Some(Span { start: run.start, end: at.end });
            }
        }
        items.last = at;
        items.semicolons += 1;
        self.list.push(ROW);
    }

    pub(crate) fn space(&mut self, items: &mut Items, at: Span) {
        let id = self.expr();
        self.list.push(id);
        if items.semicolons == 0 && !items.spaces {
            items.mark = at.start;
        }
        items.spaces = true;
    }

    pub(crate) fn program(&mut self, items: Items) {
        let start = items.start as usize;
        self.statements.extend_from_slice(&self.list[start..]);
        self.list.truncate(start);
    }
}
