//! Code that is data as text, in the way that Julia prints `Expr`.
//!
//! Every form is written for a precedence: an operator that binds no tighter than what is around
//! it is put in brackets. −1 is the precedence of a statement, where a macro call needs no
//! brackets; 0 that of an argument.

mod blocks;
mod calls;
mod names;
mod statements;

use std::fmt::Write as _;

use regraft_ir::{Context, Symbol};

use super::ast::{Ast, ExprId, Kind};

/// The depth from which on a tree is written as `…`.
const MAX_DEPTH: u32 = 500;

/// The precedence of a statement.
const STATEMENT: i8 = -1;

/// The blanks that a block is moved to the right by.
const STEP: usize = 4;

impl Ast {
    /// The text of an expression that is data, as `print` and `string` give it: `a + b`. `value`
    /// gives the text of a [`Kind::Value`], as `show` does.
    pub fn code_text(&self, ctx: &Context, id: ExprId, value: &dyn Fn(u32) -> String) -> String {
        let mut printer = Printer::new(self, ctx, value);
        match self.kind(id) {
            Kind::Name(name) => printer.out.push_str(ctx.str(name)),
            Kind::Str(text) => printer.out.push_str(ctx.str(text)),
            _ => printer.expr(id, 0, STATEMENT),
        }
        printer.out
    }

    /// The same as `show` and `repr` give it: `:(a + b)`, `:x`, `quote … end`.
    pub fn quoted_text(&self, ctx: &Context, id: ExprId, value: &dyn Fn(u32) -> String) -> String {
        let mut printer = Printer::new(self, ctx, value);
        printer.show(id);
        printer.out
    }
}

/// A form: its head and its arguments.
#[derive(Clone, Copy)]
struct Form<'a> {
    head: &'a str,
    args: &'a [ExprId],
}

struct Printer<'a> {
    ast: &'a Ast,
    ctx: &'a Context,
    value: &'a dyn Fn(u32) -> String,
    out: String,
    /// Tells whether what is written is to be evaluated to give the code: quotes and `$` would
    /// mean something else then, and are written as calls of `Expr`.
    is_shown: bool,
    /// Tells whether `begin` would mean the first index.
    is_index: bool,
    depth: u32,
}

impl<'a> Printer<'a> {
    fn new(ast: &'a Ast, ctx: &'a Context, value: &'a dyn Fn(u32) -> String) -> Self {
        let out = String::new();
        Self { ast, ctx, value, out, is_shown: false, is_index: false, depth: 0 }
    }

    /// The form that an expression is, if it is one.
    fn form_of(&self, id: ExprId) -> Option<Form<'a>> {
        match self.ast.kind(id) {
            Kind::Form { head, args } => {
                Some(Form { head: self.ctx.str(head), args: self.ast.list(args) })
            }
            _ => None,
        }
    }

    /// The arguments of a form with this head.
    fn args_of(&self, id: ExprId, head: &str) -> Option<&'a [ExprId]> {
        self.form_of(id).filter(|form| form.head == head).map(|form| form.args)
    }

    /// The name that an expression is, if it is one.
    fn name_of(&self, id: ExprId) -> Option<&'a str> {
        match self.ast.kind(id) {
            Kind::Name(name) => Some(self.ctx.str(name)),
            _ => None,
        }
    }

    /// Returns whether it is a quoted symbol, or another quoted expression.
    fn is_quoted(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Sym(_) | Kind::Quote(_) => true,
            _ => self
                .form_of(id)
                .is_some_and(|form| matches!(form.head, "quote" | "inert") && form.args.len() == 1),
        }
    }

    /// Calls a function with other settings, and restores them.
    fn scoped(&mut self, is_shown: bool, is_index: bool, run: impl FnOnce(&mut Self)) {
        let before = (self.is_shown, self.is_index);
        (self.is_shown, self.is_index) = (is_shown, is_index);
        run(self);
        (self.is_shown, self.is_index) = before;
    }

    /// Writes an expression as a value: code in quotes.
    fn show(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Name(name) => names::write_symbol(&mut self.out, self.ctx.str(name)),
            Kind::Form { .. }
            | Kind::Sym(_)
            | Kind::Quote(_)
            | Kind::Line { .. }
            | Kind::GlobalRef { .. }
            | Kind::Interpolate(_) => {
                self.scoped(true, self.is_index, |printer| printer.quoted(id, 0));
            }
            _ => self.expr(id, 0, 0),
        }
    }

    /// Writes code in quotes.
    fn quoted(&mut self, id: ExprId, indent: usize) {
        if let Some(statements) = self.args_of(id, "block") {
            self.scoped(self.is_shown, false, |printer| {
                printer.block("quote", &[], statements, indent);
                printer.out.push_str("end");
            });
        } else {
            self.out.push_str(":(");
            self.expr(id, indent + 2, STATEMENT);
            self.out.push(')');
        }
    }

    /// Writes an expression as code.
    fn expr(&mut self, id: ExprId, indent: usize, prec: i8) {
        if self.depth >= MAX_DEPTH {
            self.out.push('…');
            return;
        }
        self.depth += 1;
        match self.form_of(id) {
            Some(form) => self.form(form, indent, prec),
            None => self.leaf(id),
        }
        self.depth -= 1;
    }

    fn leaf(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Int(value) => self.display(value),
            Kind::Float(value) => names::write_float(&mut self.out, value),
            Kind::Float32(value) => names::write_float32(&mut self.out, value),
            Kind::Bits(bits, value) => self.out += &bits.text(value),
            Kind::Bool(value) => self.display(value),
            Kind::Str(text) => names::write_string(&mut self.out, self.ctx.str(text)),
            Kind::Sym(name) => names::write_symbol(&mut self.out, self.ctx.str(name)),
            Kind::Name(name) => names::write_name(&mut self.out, self.ctx.str(name)),
            Kind::End => self.out.push_str("end"),
            Kind::First => self.out.push_str("begin"),
            Kind::Colon => self.out.push(':'),
            Kind::Nothing => self.out.push_str("nothing"),
            Kind::Value(number) => self.out += &(self.value)(number),
            Kind::Line { file, line } => self.line(file, line),
            Kind::GlobalRef { .. } => self.global(id),
            Kind::Quote(inner) => {
                self.out.push_str("$(QuoteNode(");
                self.show(inner);
                self.out.push_str("))");
            }
            Kind::Interpolate(inner) => self.prefixed("$", inner),
            _ => self.out.push('…'),
        }
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        let _ = write!(self.out, "{value}");
    }

    fn line(&mut self, file: Option<Symbol>, line: u32) {
        let _ = match file {
            Some(file) => write!(self.out, "#= {}:{line} =#", self.ctx.str(file)),
            None => write!(self.out, "#= line {line} =#"),
        };
    }

    /// Writes a name in a module: `Base.sum`, `Base.:+`, `Base.@m`.
    fn global(&mut self, id: ExprId) {
        let Kind::GlobalRef { module, name } = self.ast.kind(id) else { return };
        let name = self.ctx.str(name);
        let _ = write!(self.out, "{}.", self.ctx.str(module));
        let is_bare = names::is_identifier(name) || name.starts_with('@');
        let is_bracketed = !names::is_operator(name) || names::is_bracketed(name);
        match (is_bare, is_bracketed) {
            (true, _) => names::write_macro_name(&mut self.out, name),
            (false, false) => {
                self.out.push(':');
                names::write_name(&mut self.out, name);
            }
            (false, true) => {
                self.out.push_str(":(");
                names::write_name(&mut self.out, name);
                self.out.push(')');
            }
        }
    }

    /// Writes an expression in brackets, or without.
    fn bracketed(&mut self, id: ExprId, brackets: bool, indent: usize, prec: i8) {
        if brackets {
            self.out.push('(');
        }
        self.expr(id, indent, prec);
        if brackets {
            self.out.push(')');
        }
    }

    /// Writes `$x`, `$(f(x))`, `&x`.
    fn prefixed(&mut self, operator: &str, id: ExprId) {
        self.out.push_str(operator);
        let brackets = match self.form_of(id) {
            Some(form) => !matches!(form.head, "tuple" | "$" | "vect" | "braces"),
            None => self.name_of(id).is_some_and(names::is_operator),
        };
        self.bracketed(id, brackets, 0, 0);
    }

    /// Writes a form that has no syntax.
    fn raw(&mut self, form: Form<'a>) {
        self.out.push_str("$(Expr(");
        names::write_symbol(&mut self.out, form.head);
        for &arg in form.args {
            self.out.push_str(", ");
            self.show(arg);
        }
        self.out.push_str("))");
    }

    /// Writes a form: with the syntax of its head where its arguments allow it.
    fn form(&mut self, form: Form<'a>, indent: usize, prec: i8) {
        let is_written = self.call_form(form, indent, prec)
            || self.collection_form(form, indent, prec)
            || self.block_form(form, indent, prec)
            || self.statement_form(form, indent, prec);
        if !is_written {
            self.raw(form);
        }
    }
}
