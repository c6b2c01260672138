//! Operators, and words in front.

use super::super::{Builder, Op};
use super::ARGUMENTS;
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::{Infix, Postfix, Prefix};

impl Builder<'_> {
    pub(in crate::julia::build) fn code_infix(
        &mut self,
        infix: Infix,
        op: Op,
        from: usize,
        span: Span,
    ) -> ExprId {
        let args: Vec<ExprId> = self.operands.drain(from..).collect();
        let update = |text: &str| format!("{text}=");
        match infix {
            Infix::Oper(_) | Infix::Dotted(_) | Infix::Update(_) | Infix::DotUpdate(_) => {
                let text = self.slice(op.span);
                match text {
                    "<:" | ">:" | "-->" => self.form_named(text, &args, span),
                    _ if matches!(infix, Infix::Update(_) | Infix::DotUpdate(_)) => {
                        let head = update(text.trim_end_matches('='));
                        self.form_named(&head, &args, span)
                    }
                    _ => self.operator_form(text, op.span, &args, span),
                }
            }
            Infix::Juxtapose => self.operator_form("*", op.span, &args, span),
            Infix::Range => self.operator_form(":", op.span, &args, span),
            Infix::Comma => {
                let made = self.form("tuple", &args, span);
                self.bare_tuple = Some(made);
                made
            }
            Infix::Argument => self.form(ARGUMENTS, &args, span),
            Infix::Else => self.form("if", &args, span),
            Infix::And => self.form("&&", &args, span),
            Infix::Or => self.form("||", &args, span),
            Infix::Typed => self.form("::", &args, span),
            Infix::Where => self.form("where", &args, span),
            Infix::Dot => {
                let depth = self.depth(args[1]);
                let name = self.node(Kind::Quote(args[1]), span, depth);
                self.form(".", &[args[0], name], span)
            }
            Infix::DotAssign => self.form(".=", &args, span),
            Infix::Arrow => {
                let body = self.lined(args[1]);
                self.form("->", &[args[0], body], span)
            }
            Infix::Assign => {
                let value = if self.is_call_head(args[0]) { self.lined(args[1]) } else { args[1] };
                self.form("=", &[args[0], value], span)
            }
            Infix::Question => {
                self.wrong(op.span, "`?` without `:`: it is `condition ? one : other`")
            }
        }
    }

    pub(super) fn form_named(&mut self, head: &str, args: &[ExprId], span: Span) -> ExprId {
        let head = self.ctx.symbol(head);
        let (args, depth) = self.list_of(args);
        self.node(Kind::Form { head, args }, span, depth)
    }

    pub(super) fn operator_form(
        &mut self,
        text: &str,
        at: Span,
        args: &[ExprId],
        span: Span,
    ) -> ExprId {
        let name = self.ctx.symbol(text);
        let mut all = vec![self.leaf(Kind::Name(name), at)];
        all.extend_from_slice(args);
        self.form("call", &all, span)
    }

    /// One comparison, or a chain of them.
    pub(in crate::julia::build) fn code_comparison(
        &mut self,
        operators: &[(Infix, Span)],
        from: usize,
        span: Span,
    ) -> ExprId {
        let args: Vec<ExprId> = self.operands.drain(from..).collect();
        if let &[(_, at)] = operators {
            let text = self.slice(at);
            return match text {
                "<:" | ">:" => self.form_named(text, &args, span),
                _ => self.operator_form(text, at, &args, span),
            };
        }
        let mut parts = Vec::with_capacity(2 * args.len());
        for (index, &arg) in args.iter().enumerate() {
            parts.push(arg);
            if let Some(&(_, at)) = operators.get(index) {
                let name = self.name(at);
                parts.push(self.leaf(Kind::Name(name), at));
            }
        }
        self.form("comparison", &parts, span)
    }

    /// Returns whether it is the head of a function: a call, under any return type and `where`s.
    pub(in crate::julia::build) fn is_call_head(&self, mut id: ExprId) -> bool {
        loop {
            if self.is_form(id, "call") {
                return true;
            }
            let inner = self.form_args(id, "where").or_else(|| self.form_args(id, "::"));
            match inner.map(|list| self.ast.list(list)) {
                Some(&[first, ..]) => id = first,
                _ => return false,
            }
        }
    }

    /// An expression as a block with its line, unless it is a block.
    pub(super) fn lined(&mut self, id: ExprId) -> ExprId {
        if self.is_form(id, "block") {
            return id;
        }
        let span = self.span(id);
        let line = self.line(span);
        self.form("block", &[line, id], span)
    }

    /// Puts the line of a definition in front of its body.
    pub(super) fn lead_with_line(&mut self, body: ExprId, span: Span) {
        let Some(args) = self.form_args(body, "block") else { return };
        let line = self.line(span);
        let mut all = vec![line];
        all.extend_from_slice(self.ast.list(args));
        let (list, _) = self.list_of(&all);
        if let Kind::Form { args, .. } = &mut self.ast.exprs[body.index()].kind {
            *args = list;
        }
    }

    pub(in crate::julia::build) fn code_postfix(&mut self, postfix: Postfix, span: Span) -> ExprId {
        if postfix == Postfix::Splat {
            self.apply_tighter_than_range();
        }
        let operand = self.pop();
        let all = Span { start: self.outer(operand).start, end: span.end };
        match postfix {
            Postfix::Field => {
                let name = self.name(span);
                let name = self.leaf(Kind::Sym(name), span);
                self.form(".", &[operand, name], all)
            }
            Postfix::Adjoint => self.form("'", &[operand], all),
            Postfix::Splat => self.form("...", &[operand], all),
            Postfix::Comma => self.form("tuple", &[operand], all),
        }
    }

    pub(in crate::julia::build) fn code_prefix(
        &mut self,
        prefix: Prefix,
        at: Span,
        operand: ExprId,
    ) -> ExprId {
        let span = Span { start: at.start, end: self.outer(operand).end.max(at.end) };
        match prefix {
            Prefix::Oper(_) | Prefix::Touching(_) | Prefix::Dotted(_) => {
                let text = self.slice(at);
                match text {
                    "<:" | ">:" => self.form_named(text, &[operand], span),
                    _ => self.operator_form(text, at, &[operand], span),
                }
            }
            Prefix::Typed => self.form("::", &[operand], span),
            Prefix::Return => self.form("return", &[operand], span),
            Prefix::Local | Prefix::Global => {
                let bare = self.bare_tuple == Some(operand);
                let args = match self.form_args(operand, "tuple").filter(|_| bare) {
                    Some(list) => self.ast.list(list).to_vec(),
                    None => vec![operand],
                };
                // `global const x = 1` is a constant.
                if let &[only] = &*args
                    && prefix == Prefix::Global
                    && let Some(list) = self.form_args(only, "const")
                {
                    let inner = self.ast.list(list).to_vec();
                    let global = self.form("global", &inner, span);
                    return self.form("const", &[global], span);
                }
                self.form(if prefix == Prefix::Local { "local" } else { "global" }, &args, span)
            }
            Prefix::Const => self.form("const", &[operand], span),
            // All macros are of one kind here.
            _ => operand,
        }
    }
}
