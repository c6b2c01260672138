//! Calls, tuples, arrays.

use super::super::{Builder, Items, ROW, Waiting};
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::Prefix;

impl Builder<'_> {
    /// The arguments of a call: what is behind a `;` comes first. With `keywords`, those with
    /// names are told apart from assignments.
    pub(in crate::julia::build) fn code_arguments(
        &mut self,
        items: Items,
        keywords: bool,
    ) -> Vec<ExprId> {
        let all = self.drain(items.start);
        let mut groups = all.split(|&id| id == ROW).map(<[ExprId]>::to_vec);
        let mut args = groups.next().unwrap_or_default();
        if keywords {
            args.iter().for_each(|&id| self.as_keyword(id));
        }
        let mut rest: Vec<ExprId> = groups.flatten().collect();
        if items.semicolons == 0 {
            return args;
        }
        if items.semicolons > 1 {
            let at = Span { start: items.mark, end: items.mark + 1 };
            self.problems.add(at, "expected one `;`, before what has a name");
        }
        rest.iter().for_each(|&id| self.as_keyword(id));
        let span = match (rest.first(), rest.last()) {
            (Some(&first), Some(&last)) => {
                Span { start: self.span(first).start, end: self.span(last).end }
            }
            _ => Span { start: items.mark, end: items.mark + 1 },
        };
        let parameters = self.form("parameters", &rest, span);
        rest.clear();
        args.insert(0, parameters);
        args
    }

    /// `a = 1` as an argument.
    pub(super) fn as_keyword(&mut self, id: ExprId) {
        if self.is_form(id, "=") && !self.bracketed.contains(&id) {
            let kw = self.head("kw");
            if let Kind::Form { head, .. } = &mut self.ast.exprs[id.index()].kind {
                *head = kw;
            }
        }
    }

    pub(in crate::julia::build) fn code_call(
        &mut self,
        items: Items,
        close: Span,
        dotted: bool,
    ) -> ExprId {
        let callee = self.pop();
        let span = Span { start: self.outer(callee).start, end: close.end };
        let mut args = self.code_arguments(items, true);
        if let Kind::Name(name) = self.kind(callee)
            && self.ctx.str(name) == "#interpolated"
        {
            return self.form("string", &args, span);
        }
        if dotted {
            let tuple = self.form("tuple", &args, span);
            return self.form(".", &[callee, tuple], span);
        }
        args.insert(0, callee);
        self.form("call", &args, span)
    }

    pub(in crate::julia::build) fn code_brackets(&mut self, span: Span, items: Items) -> ExprId {
        let count = self.list.len() - items.start as usize;
        // `-(a, b)` is a call.
        if items.commas > 0
            && let Some(op) = self.ops.last()
            && let Waiting::Prefix(Prefix::Touching(_)) = op.what
            && op.span.end == span.start
        {
            let at = op.span;
            self.ops.pop();
            let args = self.code_arguments(items, true);
            let text = self.slice(at);
            return self.operator_form(text, at, &args, Span { start: at.start, end: span.end });
        }
        if items.commas == 0 && items.semicolons == 0 && count == 1 {
            let inner = self.list.pop().unwrap_or(ROW);
            if self.is_form(inner, "=") {
                self.bracketed.push(inner);
            }
            if self.bare_tuple == Some(inner) {
                self.bare_tuple = None;
            }
            return inner;
        }
        if items.semicolons > 0 && items.commas == 0 && !items.leads {
            let statements: Vec<ExprId> =
                self.drain(items.start).into_iter().filter(|&id| id != ROW).collect();
            return self.form("block", &statements, span);
        }
        let args = self.code_arguments(items, false);
        self.form("tuple", &args, span)
    }

    /// `[…]`, behind a type or on its own.
    pub(in crate::julia::build) fn code_array(
        &mut self,
        ty: Option<ExprId>,
        items: Items,
        span: Span,
    ) -> ExprId {
        let cells = self.drain(items.start);
        let mut args: Vec<ExprId> = ty.into_iter().collect();
        let plain = !items.spaces && items.semicolons == 0;
        if items.generator && plain && items.commas == 0 {
            args.extend(cells);
            let head = if ty.is_some() { "typed_comprehension" } else { "comprehension" };
            return self.form(head, &args, span);
        }
        if items.commas > 0 && !plain {
            return self.wrong(span, "elements are parted by commas, or by blank space and `;`");
        }
        if plain {
            args.extend(cells);
            return self.form(if ty.is_some() { "ref" } else { "vect" }, &args, span);
        }
        if items.doubled.is_some() {
            return self.dimensions(ty, &cells, span);
        }
        if items.semicolons == 0 {
            args.extend(cells);
            return self.form(if ty.is_some() { "typed_hcat" } else { "hcat" }, &args, span);
        }
        for row in cells.split(|&id| id == ROW).filter(|row| !row.is_empty()) {
            match row {
                &[only] => args.push(only),
                row => {
                    let at = Span { start: self.span(row[0]).start, end: span.end };
                    let made = self.form("row", row, at);
                    args.push(made);
                }
            }
        }
        self.form(if ty.is_some() { "typed_vcat" } else { "vcat" }, &args, span)
    }
}
