//! Code as data: the expressions that Julia's own parser makes, head and arguments.
//!
//! The heads and the order of arguments are those of Julia's manual ("Julia ASTs", devdocs).

mod blocks;
mod collections;
mod macros;
mod operators;

use regraft_ir::Symbol;

use super::{Builder, Items, Waiting};
use crate::julia::ast::{ExprId, Kind, List, Span};
use crate::julia::token::{Atom, Infix, Prefix};

/// The head of the arguments of a macro that blank space parts, until its name is there.
const ARGUMENTS: &str = "#arguments";

impl Builder<'_> {
    // --- forms -------------------------------------------------------------------------------

    pub(in crate::julia::build) fn head(&mut self, name: &'static str) -> Symbol {
        match self.symbols.get(name) {
            Some(&symbol) => symbol,
            None => {
                let symbol = self.ctx.symbol(name);
                self.symbols.insert(name, symbol);
                symbol
            }
        }
    }

    /// `Expr(head, args...)`
    pub(in crate::julia::build) fn form(
        &mut self,
        head: &'static str,
        args: &[ExprId],
        span: Span,
    ) -> ExprId {
        let head = self.head(head);
        let (args, depth) = self.list_of(args);
        self.node(Kind::Form { head, args }, span, depth)
    }

    /// The arguments of a form with this head.
    pub(in crate::julia::build) fn form_args(&self, id: ExprId, name: &str) -> Option<List> {
        match self.kind(id) {
            Kind::Form { head, args } if self.ctx.str(head) == name => Some(args),
            _ => None,
        }
    }

    pub(super) fn is_form(&self, id: ExprId, name: &str) -> bool {
        self.form_args(id, name).is_some()
    }

    pub(super) fn drain(&mut self, start: u32) -> Vec<ExprId> {
        self.list.drain(start as usize..).collect()
    }

    /// A tree of code as data, of a name or literal the leaf alone.
    pub(in crate::julia::build) fn quoted(&mut self, form: ExprId, span: Span) -> ExprId {
        match self.kind(form) {
            Kind::Name(name) => self.leaf(Kind::Sym(name), span),
            Kind::Int(_)
            | Kind::Float(_)
            | Kind::Float32(_)
            | Kind::Bits(..)
            | Kind::Bool(_)
            | Kind::Str(_) => form,
            Kind::Interpolate(value) if !matches!(self.kind(value), Kind::Splat(_)) => value,
            _ => self.node(Kind::Quote(form), span, self.depth(form)),
        }
    }

    // --- quotes ------------------------------------------------------------------------------

    /// `quote` has been read.
    pub(crate) fn begin_code(&mut self) {
        self.code.begin_quote();
    }

    /// `quote … end`
    pub(crate) fn quote(&mut self, open: Span, items: Items, close: Span) {
        let span = Span { start: open.start, end: close.end };
        let block = self.code_block(items, span);
        let made = self.end_quote(block, span);
        self.push(made);
    }

    /// `:(…)`, or `$x`.
    pub(in crate::julia::build) fn end_quote(&mut self, form: ExprId, span: Span) -> ExprId {
        self.code.end();
        match self.code.is_data() {
            true => self.form("quote", &[form], span),
            false => self.quoted(form, span),
        }
    }

    pub(in crate::julia::build) fn end_value(
        &mut self,
        value: ExprId,
        at: Span,
        span: Span,
    ) -> ExprId {
        let was_data = self.code.is_data();
        self.code.end();
        if !self.code.is_data() {
            return self.wrong(at, "`$` stands in quoted code and in strings only");
        }
        match was_data {
            true => self.form("$", &[value], span),
            false => self.node(Kind::Interpolate(value), span, self.depth(value)),
        }
    }

    /// Takes an operand, to which a `$` before it belongs, and what is before that.
    pub(in crate::julia::build) fn operand(&mut self, id: ExprId) {
        self.push(id);
        while let Some(&op) = self.ops.last()
            && matches!(op.what, Waiting::Prefix(Prefix::Interpolate) | Waiting::Infix(Infix::Dot))
        {
            self.ops.pop();
            self.apply(op);
        }
    }

    /// The line that a place is on.
    pub(super) fn line(&mut self, span: Span) -> ExprId {
        let (line, _) = self.ast.source.line_column(span.start as usize);
        let file = Some(self.ctx.symbol(&self.ast.source.name));
        self.leaf(Kind::Line { file, line }, span)
    }

    // --- leaves ------------------------------------------------------------------------------

    /// A leaf of code that is data, where it is another one than of code.
    pub(in crate::julia::build) fn code_atom(&mut self, atom: Atom, span: Span) -> Option<ExprId> {
        let name = |builder: &mut Self, name| {
            let symbol = builder.head(name);
            Some(builder.leaf(Kind::Name(symbol), span))
        };
        match atom {
            Atom::Oper => {
                let symbol = self.name(span);
                Some(self.leaf(Kind::Name(symbol), span))
            }
            Atom::End => name(self, "end"),
            Atom::First => name(self, "begin"),
            Atom::Colon => name(self, ":"),
            Atom::Symbol => {
                let symbol = self.name(span);
                Some(self.leaf(Kind::Sym(symbol), span))
            }
            Atom::Return => {
                let nothing = self.leaf(Kind::Nothing, span);
                Some(self.form("return", &[nothing], span))
            }
            Atom::Break => Some(self.form("break", &[], span)),
            Atom::Continue => Some(self.form("continue", &[], span)),
            Atom::Using => {
                let Kind::Using { import, clauses } = self.using(span) else { return None };
                Some(self.using_form(import, clauses, span))
            }
            Atom::Export => {
                let Kind::Export(names) = self.export(span) else { return None };
                let names = self.ast.list(names).to_vec();
                Some(self.form("export", &names, span))
            }
            _ => None,
        }
    }

    pub(super) fn using_form(&mut self, import: bool, clauses: List, span: Span) -> ExprId {
        let mut parts = Vec::with_capacity(clauses.len());
        for at in 0..clauses.len() {
            let clause = self.ast.list(clauses)[at];
            let Kind::Clause { path, alias, names } = self.kind(clause) else { continue };
            let at = self.span(clause);
            let path = self.path_form(path, at);
            let mut part = self.with_alias(path, alias, at);
            if let Some(names) = names {
                let mut args = vec![part];
                for index in 0..names.len() {
                    let id = self.ast.list(names)[index];
                    let (name, alias) = match self.kind(id) {
                        Kind::Assign { target, value } => (value, Some(target)),
                        _ => (id, None),
                    };
                    let alias = alias.and_then(|id| match self.kind(id) {
                        Kind::Name(name) => Some(name),
                        _ => None,
                    });
                    let name = self.form(".", &[name], at);
                    args.push(self.with_alias(name, alias, at));
                }
                part = self.form(":", &args, at);
            }
            parts.push(part);
        }
        self.form(if import { "import" } else { "using" }, &parts, span)
    }

    pub(super) fn with_alias(&mut self, id: ExprId, alias: Option<Symbol>, at: Span) -> ExprId {
        match alias {
            Some(name) => {
                let name = self.leaf(Kind::Name(name), at);
                self.form("as", &[id, name], at)
            }
            None => id,
        }
    }

    /// `..A.B`: each dot is a name of its own.
    pub(super) fn path_form(&mut self, path: List, at: Span) -> ExprId {
        let mut names = Vec::with_capacity(path.len());
        for index in 0..path.len() {
            let id = self.ast.list(path)[index];
            match self.kind(id) {
                Kind::Name(dots) if self.ctx.str(dots).bytes().all(|byte| byte == b'.') => {
                    for _ in 0..self.ctx.str(dots).len() {
                        let dot = self.head(".");
                        names.push(self.leaf(Kind::Name(dot), at));
                    }
                }
                _ => names.push(id),
            }
        }
        self.form(".", &names, at)
    }
}
