//! Forms that end with `end`.

use std::slice::from_ref;

use super::super::ast::{ExprId, Kind};
use super::calls::Items;
use super::{Form, Printer, STATEMENT, STEP};

impl<'a> Printer<'a> {
    /// The statements of a block; what is none is one statement.
    fn statements(&self, id: &'a ExprId) -> &'a [ExprId] {
        self.args_of(*id, "block").unwrap_or(from_ref(id))
    }

    /// Writes `head args` and statements, up to where `end` stands.
    pub(super) fn block(
        &mut self,
        head: &str,
        args: &[ExprId],
        statements: &[ExprId],
        indent: usize,
    ) {
        self.out.push_str(head);
        if !args.is_empty() {
            self.out.push(' ');
            let separator = if head == "elseif" { " " } else { ", " };
            self.list(args, separator, indent, 0, Items::Plain);
        }
        let is_module = matches!(head, "module" | "baremodule");
        self.lines(statements, if is_module { indent } else { indent + STEP });
        self.new_line(indent);
    }

    fn lines(&mut self, statements: &[ExprId], indent: usize) {
        for &statement in statements {
            self.new_line(indent);
            self.expr(statement, indent, STATEMENT);
        }
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Writes a form that is a block, or has one.
    pub(super) fn block_form(&mut self, form: Form<'a>, indent: usize, prec: i8) -> bool {
        if form.head == "block" {
            self.begin(form.args, indent);
            return true;
        }
        let before = (self.is_shown, self.is_index);
        self.is_index = false;
        let is_written = self.quote_form(form, indent)
            || self.control_form(form, indent, prec)
            || self.definition_form(form, indent);
        (self.is_shown, self.is_index) = before;
        is_written
    }

    /// Writes `begin … end`; in an index `(…; …)`, as `begin` is something else there.
    fn begin(&mut self, statements: &[ExprId], indent: usize) {
        if !self.is_index {
            self.block("begin", &[], statements, indent);
            self.out.push_str("end");
            return;
        }
        self.out.push('(');
        for (at, &statement) in statements.iter().enumerate() {
            let is_after_line =
                at == 1 && matches!(self.ast.kind(statements[0]), Kind::Line { .. });
            if at > 0 && !is_after_line {
                self.out.push(';');
            }
            if at > 0 {
                self.new_line(indent + STEP);
            }
            self.expr(statement, indent + STEP, STATEMENT);
        }
        self.out.push_str(match statements.len() {
            0 => ";;)",
            1 => ";)",
            _ => ")",
        });
    }

    fn quote_form(&mut self, form: Form<'a>, indent: usize) -> bool {
        let &[inner] = form.args else { return false };
        if form.head != "quote" {
            return false;
        }
        match self.name_of(inner) {
            Some(name) => super::names::write_symbol(&mut self.out, name),
            None if self.is_shown => return false,
            None => match self.args_of(inner, "block") {
                Some(statements) => self.ended("quote", &[], statements, indent),
                None => {
                    self.out.push_str(":(");
                    self.expr(inner, indent + 2, 0);
                    self.out.push(')');
                }
            },
        }
        true
    }

    /// Writes a block with its `end`.
    fn ended(&mut self, head: &str, args: &[ExprId], statements: &[ExprId], indent: usize) {
        self.block(head, args, statements, indent);
        self.out.push_str("end");
    }

    fn control_form(&mut self, form: Form<'a>, indent: usize, prec: i8) -> bool {
        match (form.head, form.args) {
            ("for" | "let", [clauses, body]) => {
                self.ended(form.head, self.statements(clauses), self.statements(body), indent);
            }
            ("while" | "if", [condition, body]) => {
                self.ended(form.head, from_ref(condition), self.statements(body), indent);
            }
            ("elseif", [condition, body]) => {
                self.ended(form.head, self.statements(condition), self.statements(body), indent);
            }
            ("if" | "elseif", [condition, body, otherwise]) => {
                let is_first = form.head == "if";
                let condition =
                    if is_first { from_ref(condition) } else { self.statements(condition) };
                self.block(form.head, condition, self.statements(body), indent);
                if self.args_of(*otherwise, "elseif").is_some() {
                    self.expr(*otherwise, indent, prec);
                } else {
                    self.ended("else", &[], self.statements(otherwise), indent);
                }
            }
            ("do", &[call, ref function]) => return self.do_block(call, *function, indent),
            ("try", [body, error, handler, rest @ ..]) if rest.len() <= 2 => {
                self.block("try", &[], self.statements(body), indent);
                self.handlers(error, *handler, rest, indent);
                self.out.push_str("end");
            }
            _ => return false,
        }
        true
    }

    fn do_block(&mut self, call: ExprId, function: ExprId, indent: usize) -> bool {
        let Some([params, body]) = self.args_of(function, "->") else { return false };
        let Some(params) = self.args_of(*params, "tuple") else { return false };
        self.expr(call, indent, STATEMENT);
        self.out.push_str(" do ");
        self.list(params, ", ", 0, 0, Items::Plain);
        self.lines(self.statements(body), indent + STEP);
        self.new_line(indent);
        self.out.push_str("end");
        true
    }

    /// Writes the parts of a `try` behind its body.
    fn handlers(&mut self, error: &ExprId, handler: ExprId, rest: &[ExprId], indent: usize) {
        if let Some(statements) = self.args_of(handler, "block") {
            let is_named = !matches!(self.ast.kind(*error), Kind::Bool(false));
            let error = if is_named { from_ref(error) } else { &[] };
            self.block("catch", error, statements, indent);
        }
        for (at, head) in [(1, "else"), (0, "finally")] {
            let part = rest.get(at).and_then(|&id| self.args_of(id, "block"));
            if let Some(statements) = part {
                self.block(head, &[], statements, indent);
            }
        }
    }

    fn definition_form(&mut self, form: Form<'a>, indent: usize) -> bool {
        match (form.head, form.args) {
            ("function", [head, body]) => self.function(*head, self.statements(body), indent),
            ("macro", [head, body]) => {
                self.ended("macro", from_ref(head), self.statements(body), indent);
            }
            ("function" | "macro", &[name]) => {
                self.out.push_str(form.head);
                self.out.push(' ');
                self.expr(name, 0, 0);
                self.out.push_str(" end");
            }
            ("module" | "struct", [flag, name, body]) => {
                let Kind::Bool(flag) = self.ast.kind(*flag) else { return false };
                let head = match (form.head, flag) {
                    ("module", true) => "module",
                    ("module", false) => "baremodule",
                    (_, true) => "mutable struct",
                    (_, false) => "struct",
                };
                self.ended(head, from_ref(name), self.statements(body), indent);
            }
            ("abstract", args @ [_]) | ("primitive", args @ [_, _]) => {
                self.out.push_str(form.head);
                self.out.push_str(" type ");
                self.list(args, " ", indent, 0, Items::Plain);
                self.out.push_str(" end");
            }
            _ => return false,
        }
        true
    }

    /// Writes a function. Its name is not an operator between operands: `function +(a, b)`.
    fn function(&mut self, head: ExprId, statements: &[ExprId], indent: usize) {
        self.out.push_str("function ");
        match self.args_of(head, "call") {
            Some(args) => {
                let form = Form { head: "calldecl", args };
                self.form(form, indent + STEP, 0);
            }
            None => self.expr(head, indent + STEP, 0),
        }
        self.lines(statements, indent + STEP);
        self.new_line(indent);
        self.out.push_str("end");
    }
}
