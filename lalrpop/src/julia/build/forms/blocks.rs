//! Loops, generators, blocks, definitions.

use super::super::{Builder, Clauses, Items, ROW};
use crate::julia::ast::{ExprId, Kind, List, Span};

impl Builder<'_> {
    /// `for` again in a generator: what is behind it is of an inner loop.
    pub(in crate::julia::build) fn part_clauses(&mut self) {
        self.list.push(ROW);
    }

    pub(in crate::julia::build) fn code_clause(&mut self, iterable: ExprId) {
        if let Some(target) = self.list.pop() {
            let end = self.span(iterable).end;
            let span = Span { start: self.span(target).start.min(end), end };
            let made = self.form("=", &[target, iterable], span);
            self.list.push(made);
        }
    }

    /// The generator of a body and clauses. Each further `for` makes another one within it.
    pub(in crate::julia::build) fn code_generator(
        &mut self,
        clauses: Clauses,
        body: ExprId,
        span: Span,
    ) -> ExprId {
        let all = self.drain(clauses.start);
        let mut made = body;
        for (index, group) in all.split(|&id| id == ROW).rev().enumerate() {
            let mut specs = group.to_vec();
            while let Some(at) = specs.iter().position(|&id| self.is_form(id, "#filter")) {
                let filter = specs.remove(at);
                let condition = self.form_args(filter, "#filter");
                let mut args = condition.map_or(Vec::new(), |list| self.ast.list(list).to_vec());
                args.append(&mut specs);
                specs = vec![self.form("filter", &args, span)];
            }
            specs.insert(0, made);
            made = self.form("generator", &specs, span);
            if index > 0 {
                made = self.form("flatten", &[made], span);
            }
        }
        made
    }

    pub(in crate::julia::build) fn code_for(
        &mut self,
        clauses: Clauses,
        body: ExprId,
        span: Span,
    ) -> ExprId {
        let specs = self.drain(clauses.start);
        let spec = match &*specs {
            &[only] => only,
            _ => self.form("block", &specs, span),
        };
        self.form("for", &[spec, body], span)
    }

    /// A block, each statement with its line in front.
    pub(in crate::julia::build) fn code_block(&mut self, items: Items, span: Span) -> ExprId {
        let statements = self.drain(items.start);
        let mut args = Vec::with_capacity(2 * statements.len());
        for id in statements {
            let line = self.line(self.span(id));
            args.extend([line, id]);
        }
        self.form("block", &args, span)
    }

    pub(in crate::julia::build) fn code_if(
        &mut self,
        open: Span,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
    ) -> ExprId {
        let last = otherwise.unwrap_or(then);
        let end = self.span(last).end.max(self.span(condition).end);
        let is_first = self.slice(open) == "if";
        let condition = if is_first { condition } else { self.lined(condition) };
        let args: Vec<ExprId> = [condition, then].into_iter().chain(otherwise).collect();
        let span = Span { start: open.start, end };
        self.form(if is_first { "if" } else { "elseif" }, &args, span)
    }

    pub(in crate::julia::build) fn code_let(
        &mut self,
        head: Items,
        body: ExprId,
        span: Span,
    ) -> ExprId {
        let bindings = self.drain(head.start);
        let bindings = match &*bindings {
            &[only]
                if matches!(self.kind(only), Kind::Name(_))
                    || self.is_form(only, "=")
                    || self.is_form(only, "::") =>
            {
                only
            }
            _ => self.form("block", &bindings, span),
        };
        self.form("let", &[bindings, body], span)
    }

    pub(in crate::julia::build) fn code_do(
        &mut self,
        head: Items,
        body: ExprId,
        close: Span,
    ) -> ExprId {
        let params = self.drain(head.start);
        let span = self.span(body);
        let params = self.form("tuple", &params, span);
        let function = self.form("->", &[params, body], span);
        let call = self.pop();
        let all = Span { start: self.span(call).start, end: close.end };
        self.form("do", &[call, function], all)
    }

    pub(in crate::julia::build) fn code_try(
        &mut self,
        body: ExprId,
        handler: Option<(Option<ExprId>, ExprId)>,
        otherwise: Option<ExprId>,
        last: Option<ExprId>,
        span: Span,
    ) -> ExprId {
        let at = Span { start: span.start, end: span.start };
        let no = |builder: &mut Self| builder.leaf(Kind::Bool(false), at);
        let (error, handler) = match handler {
            Some((error, handler)) => (error, Some(handler)),
            None => (None, None),
        };
        let mut args = vec![body];
        for part in [error, handler] {
            args.push(part.unwrap_or_else(|| no(self)));
        }
        if last.is_some() || otherwise.is_some() {
            args.push(last.unwrap_or_else(|| no(self)));
        }
        args.extend(otherwise);
        self.form("try", &args, span)
    }

    // --- definitions -------------------------------------------------------------------------

    pub(in crate::julia::build) fn code_function(
        &mut self,
        open: Span,
        head: ExprId,
        body: ExprId,
        close: Span,
    ) {
        let span = Span { start: open.start, end: close.end };
        let is_empty = self.form_args(body, "block").is_some_and(List::is_empty);
        let first = self.text[open.end as usize..].trim_start().as_bytes().first();
        let anonymous = first == Some(&b'(');
        let made = if is_empty && !anonymous && !self.is_call_head(head) {
            self.form("function", &[head], span)
        } else {
            let head = if anonymous { self.with_parameters(head) } else { head };
            let wrapped = anonymous
                && !["tuple", "where", "::", "call"].iter().any(|name| self.is_form(head, name));
            let head = if wrapped {
                let at = self.span(head);
                self.form("tuple", &[head], at)
            } else {
                head
            };
            self.lead_with_line(body, span);
            self.form("function", &[head, body], span)
        };
        self.push(made);
    }

    /// `(x)::T`: the parameters of a function without a name are a tuple.
    fn with_parameters(&mut self, head: ExprId) -> ExprId {
        let Some(list) = self.form_args(head, "::") else { return head };
        let &[value, ty] = self.ast.list(list) else { return head };
        let (from, to) = (self.span(value).end, self.span(ty).start);
        let is_tuple = ["tuple", "call", "where"].iter().any(|name| self.is_form(value, name));
        if is_tuple || from > to || !self.text[from as usize..to as usize].contains(')') {
            return head;
        }
        let (at, span) = (self.span(value), self.span(head));
        let params = self.form("tuple", &[value], at);
        self.form("::", &[params, ty], span)
    }

    pub(in crate::julia::build) fn code_type(
        &mut self,
        head: &'static str,
        flag: Option<bool>,
        name: ExprId,
        body: Option<Items>,
        span: Span,
    ) {
        let flag = flag.map(|flag| self.leaf(Kind::Bool(flag), span));
        let body = body.map(|items| self.code_block(items, span));
        let args: Vec<ExprId> = flag.into_iter().chain([name]).chain(body).collect();
        let made = self.form(head, &args, span);
        self.push(made);
    }
}
