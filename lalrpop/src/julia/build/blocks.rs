//! Blocks: control flow, `let`, `do`, and what a word in front makes of an expression.

use super::{Builder, Clauses, Items};
use crate::julia::ast::{ExprId, Kind, List, Span};
use crate::julia::token::{Oper, Prefix};

impl Builder<'_> {
    pub(crate) fn body(&mut self, items: Items) -> ExprId {
        let start = items.start as usize;
        let span = match (self.list.get(start), self.list.last()) {
            (Some(&first), Some(&last)) => {
                Span { start: self.span(first).start, end: self.span(last).end }
            }
            _ => Span { start: 0, end: 0 },
        };
        if self.code.is_data() {
            return self.code_block(items, span);
        }
        let (list, depth) = self.take_list(items.start);
        self.node(Kind::Block(list), span, depth)
    }

    /// The place of an empty body: just before `close`.
    fn place(&mut self, body: ExprId, close: Span) {
        let expr = &mut self.ast.exprs[body.index()];
        if expr.span.end == 0 {
            expr.span = Span { start: close.start, end: close.start };
        }
    }

    pub(crate) fn block(&mut self, open: Span, items: Items, close: Span) {
        if self.code.is_data() {
            let made = self.code_block(items, Span { start: open.start, end: close.end });
            return self.push(made);
        }
        let (list, depth) = self.take_list(items.start);
        let made = self.node(Kind::Block(list), Span { start: open.start, end: close.end }, depth);
        self.push(made);
    }

    pub(crate) fn if_block(
        &mut self,
        open: Span,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
        close: Span,
    ) {
        let made = self.conditional(open, condition, then, otherwise);
        self.place(then, close);
        if let Some(otherwise) = otherwise {
            self.place(otherwise, close);
        }
        self.ast.exprs[made.index()].span.end = close.end;
        self.push(made);
    }

    pub(crate) fn else_if(
        &mut self,
        open: Span,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
    ) -> ExprId {
        self.conditional(open, condition, then, otherwise)
    }

    fn conditional(
        &mut self,
        open: Span,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
    ) -> ExprId {
        let at = Span { start: self.span(condition).end, end: self.span(condition).end };
        self.place(then, at);
        if self.code.is_data() {
            return self.code_if(open, condition, then, otherwise);
        }
        let last = otherwise.unwrap_or(then);
        let end = self.span(last).end.max(at.end);
        let depth = self.depth(condition).max(self.depth(then));
        let depth = depth.max(otherwise.map_or(0, |id| self.depth(id)));
        let kind = Kind::If { condition, then, otherwise };
        self.node(kind, Span { start: open.start, end }, depth)
    }

    pub(crate) fn while_block(&mut self, open: Span, condition: ExprId, body: ExprId, close: Span) {
        self.place(body, close);
        let depth = self.depth(condition).max(self.depth(body));
        let span = Span { start: open.start, end: close.end };
        if self.code.is_data() {
            let made = self.form("while", &[condition, body], span);
            return self.push(made);
        }
        let made = self.node(Kind::While { condition, body }, span, depth);
        self.push(made);
    }

    pub(crate) fn for_block(&mut self, open: Span, clauses: Clauses, body: ExprId, close: Span) {
        self.place(body, close);
        let span = Span { start: open.start, end: close.end };
        if self.code.is_data() {
            let made = self.code_for(clauses, body, span);
            return self.push(made);
        }
        let (list, depth) = self.take_list(clauses.start);
        let depth = depth.max(self.depth(body));
        let made = self.node(Kind::For { clauses: list, body }, span, depth);
        self.push(made);
    }

    pub(crate) fn try_block(
        &mut self,
        open: Span,
        body: ExprId,
        handler: Option<(Option<ExprId>, ExprId)>,
        otherwise: Option<ExprId>,
        last: Option<ExprId>,
        close: Span,
    ) {
        let span = Span { start: open.start, end: close.end };
        let parts = [Some(body), handler.map(|(_, body)| body), otherwise, last];
        let mut depth = 0;
        for part in parts.into_iter().flatten() {
            self.place(part, close);
            depth = depth.max(self.depth(part));
        }
        if self.code.is_data() {
            let made = self.code_try(body, handler, otherwise, last, span);
            return self.push(made);
        }
        let mut made = body;
        if let Some((error, handler)) = handler {
            if let Some(error) = error
                && !matches!(self.kind(error), Kind::Name(_) | Kind::Error)
            {
                let span = self.span(error);
                self.problems.add(span, "expected a name after `catch`");
            }
            made = self.node(Kind::Try { body, error, handler, otherwise }, span, depth);
        } else if otherwise.is_some() {
            self.problems.add(open, "`else` in a `try` stands behind `catch`");
        } else if last.is_none() && close.start < close.end {
            // What is not closed may get one in the next line.
            self.problems.add(open, "`try` needs a `catch` or `finally`");
        }
        if let Some(last) = last {
            made = self.node(Kind::Finally { body: made, last }, span, depth + 1);
        }
        self.push(made);
    }

    pub(crate) fn let_block(&mut self, open: Span, head: Items, body: ExprId, close: Span) {
        self.place(body, close);
        if self.code.is_data() {
            let made = self.code_let(head, body, Span { start: open.start, end: close.end });
            return self.push(made);
        }
        for at in head.start as usize..self.list.len() {
            let id = self.list[at];
            if !matches!(
                self.kind(id),
                Kind::Name(_)
                    | Kind::Typed { .. }
                    | Kind::Assign { .. }
                    | Kind::Error
                    | Kind::Function { .. }
            ) {
                let span = self.span(id);
                self.problems.add(span, "expected `name = value` in the head of a `let`");
            }
        }
        let (bindings, depth) = self.take_list(head.start);
        let depth = depth.max(self.depth(body));
        let span = Span { start: open.start, end: close.end };
        let made = self.node(Kind::Let { bindings, body }, span, depth);
        self.push(made);
    }

    pub(crate) fn do_block(&mut self, open: Span, head: Items, body: ExprId, close: Span) {
        self.place(body, close);
        if self.code.is_data() {
            let made = self.code_do(head, body, close);
            return self.push(made);
        }
        for at in head.start as usize..self.list.len() {
            self.check_param(self.list[at]);
        }
        let (params, depth) = self.take_list(head.start);
        let depth = depth.max(self.depth(body));
        let span = Span { start: open.start, end: close.end };
        let kind = Kind::Lambda { params, wheres: List::default(), returns: None, body };
        let function = self.node(kind, span, depth);
        let target = self.pop();
        let all = Span { start: self.span(target).start, end: close.end };
        let made = match self.kind(target) {
            Kind::Call { callee, args } | Kind::Dot { callee, args } => {
                let start = self.list.len() as u32;
                self.list.push(function);
                for at in 0..args.len() {
                    let arg = self.ast.list(args)[at];
                    self.list.push(arg);
                }
                let (args, depth) = self.take_list(start);
                let depth = depth.max(self.depth(callee));
                let kind = match self.kind(target) {
                    Kind::Dot { .. } => Kind::Dot { callee, args },
                    _ => Kind::Call { callee, args },
                };
                if self.keywords.last() == Some(&target) {
                    self.keywords.pop();
                    let made = self.node(kind, all, depth);
                    self.keywords.push(made);
                    made
                } else {
                    self.node(kind, all, depth)
                }
            }
            Kind::Error => self.leaf(Kind::Error, all),
            _ => self.wrong(open, "`do` needs a call before it, such as `map(xs) do x`"),
        };
        self.push(made);
    }

    // --- words in front ----------------------------------------------------------------------

    pub(super) fn apply_prefix(&mut self, prefix: Prefix, at: Span, operand: ExprId) -> ExprId {
        let span = Span { start: at.start, end: self.outer(operand).end.max(at.end) };
        let depth = self.depth(operand);
        match prefix {
            Prefix::Quote => return self.end_quote(operand, span),
            Prefix::Interpolate => return self.end_value(operand, at, span),
            Prefix::Macro | Prefix::TightMacro => {
                let args = self.macro_arguments(operand);
                self.code.end();
                return self.macro_call(at, &args, span);
            }
            _ if self.code.is_data() => return self.code_prefix(prefix, at, operand),
            _ => {}
        }
        match prefix {
            Prefix::Oper(oper) | Prefix::Touching(oper) | Prefix::Dotted(oper) => {
                if !oper.is_prefix() {
                    let text = self.slice(at);
                    return self.wrong(at, format!("expected an expression before `{text}`"));
                }
                let callee = self.operator(oper, at);
                let (args, _) = self.list_of(&[operand]);
                let kind = match prefix {
                    Prefix::Dotted(_) => Kind::Dot { callee, args },
                    _ => Kind::Call { callee, args },
                };
                self.node(kind, span, depth)
            }
            Prefix::Typed => self.node(Kind::Typed { value: None, ty: operand }, span, depth),
            Prefix::Return => self.node(Kind::Return(Some(operand)), span, depth),
            Prefix::Local | Prefix::Global => {
                let bare = self.bare_tuple == Some(operand);
                let list = match self.kind(operand) {
                    Kind::Tuple(list) if bare => list,
                    _ => self.list_of(&[operand]).0,
                };
                for at in 0..list.len() {
                    self.check_declared(self.ast.list(list)[at]);
                }
                let kind =
                    if prefix == Prefix::Local { Kind::Local(list) } else { Kind::Global(list) };
                self.node(kind, span, depth)
            }
            Prefix::Const => {
                match self.kind(operand) {
                    Kind::Assign { .. } | Kind::Global(_) | Kind::Error => {
                        self.node(Kind::Const(operand), span, depth)
                    }
                    // `const A{T} = X`
                    Kind::Const(_) => operand,
                    // A field.
                    Kind::Name(_) | Kind::Typed { value: Some(_), .. } => {
                        let made = self.node(Kind::Const(operand), span, depth);
                        self.mixed.push(made);
                        made
                    }
                    _ => self.wrong(span, "expected `name = value` after `const`"),
                }
            }
            Prefix::Dots | Prefix::TightDots => {
                self.with_dots(operand);
                operand
            }
            Prefix::Show | Prefix::TightShow => self.show(operand, at, span),
            Prefix::Inferred | Prefix::TightInferred => self.inferred(operand, at, span),
            Prefix::Inbounds | Prefix::TightInbounds => {
                self.node(Kind::Inbounds(operand), span, depth)
            }
            Prefix::Simd => {
                if !matches!(self.kind(operand), Kind::For { .. } | Kind::Error) {
                    self.problems.add(at, "expected a `for` loop after `@simd`");
                    return operand;
                }
                self.node(Kind::Simd(operand), span, depth)
            }
            Prefix::View | Prefix::TightView => {
                if !matches!(self.kind(operand), Kind::Index { .. } | Kind::Error) {
                    return self
                        .wrong(at, "expected an indexed array such as `a[1, :]` after `@view`");
                }
                self.node(Kind::View(operand), span, depth)
            }
            Prefix::Quote | Prefix::Interpolate | Prefix::Macro | Prefix::TightMacro => operand,
            Prefix::Generated => match self.kind(operand) {
                Kind::Function { body: Some(body), .. } => {
                    let nothing = self.leaf(Kind::Nothing, span);
                    self.generated(operand, body, nothing)
                }
                Kind::Error => operand,
                _ => self.wrong(at, "expected a function after `@generated`"),
            },
            Prefix::Inline | Prefix::NoInline => {
                let inlines = prefix == Prefix::Inline;
                let function = match self.kind(operand) {
                    Kind::Generated { function, .. } => function,
                    _ => operand,
                };
                if let Kind::Function { inline, .. } = &mut self.ast.exprs[function.index()].kind {
                    *inline = Some(inlines);
                }
                operand
            }
            Prefix::TightInline => operand,
            Prefix::NonDifferentiable => self.non_differentiable(operand, span),
            Prefix::NotImplemented => {
                let callee = self.named("not_implemented", at);
                let (args, _) = self.list_of(&[operand]);
                self.node(Kind::Call { callee, args }, span, depth)
            }
            Prefix::Assert | Prefix::TightAssert => self.assertion(operand, span, prefix),
        }
    }

    /// `@non_differentiable f(x)` is a method: `#non_differentiable(::typeof(f), x) = nothing`.
    fn non_differentiable(&mut self, operand: ExprId, span: Span) -> ExprId {
        let Kind::Call { callee, args } = self.kind(operand) else {
            if self.kind(operand) == Kind::Error {
                return operand;
            }
            return self
                .wrong(span, "expected a call such as `f(::Any)` after `@non_differentiable`");
        };
        let depth = self.depth(operand);
        let at = self.span(callee);
        let type_of = self.named("typeof", at);
        let (of, _) = self.list_of(&[callee]);
        let ty = self.node(Kind::Call { callee: type_of, args: of }, at, depth);
        let mut params = vec![self.node(Kind::Typed { value: None, ty }, at, depth)];
        params.extend_from_slice(self.ast.list(args));
        let (params, _) = self.list_of(&params);
        let (wheres, _) = self.list_of(&[]);
        let (name, body) = (self.named("#non_differentiable", at), self.named("nothing", at));
        let (returns, inline) = (None, None);
        let body = Some(body);
        self.node(Kind::Function { name, params, wheres, returns, body, inline }, span, depth)
    }

    /// `@show x y`: the text of each expression, and its value.
    fn show(&mut self, operand: ExprId, at: Span, span: Span) -> ExprId {
        let depth = self.depth(operand);
        let shown = match self.kind(operand) {
            Kind::Tuple(list) if self.bare_tuple == Some(operand) => self.ast.list(list).to_vec(),
            _ => vec![operand],
        };
        let mut calls = Vec::with_capacity(shown.len());
        for value in shown {
            let text = self.ctx.symbol(self.slice(self.span(value)));
            let text = self.leaf(Kind::Str(text), at);
            let callee = self.named("#show", at);
            let (args, _) = self.list_of(&[text, value]);
            calls.push(self.node(Kind::Call { callee, args }, span, depth));
        }
        if let &[call] = &*calls {
            return call;
        }
        let (list, depth) = self.list_of(&calls);
        self.node(Kind::Block(list), span, depth)
    }

    /// `@inferred f(x)`: the call of a function that calls it and compares types.
    fn inferred(&mut self, operand: ExprId, at: Span, span: Span) -> ExprId {
        let Kind::Call { callee, args } = self.kind(operand) else {
            if self.kind(operand) == Kind::Error {
                return operand;
            }
            return self.wrong(span, "expected a call after `@inferred`");
        };
        let depth = self.depth(operand);
        let of = self.named("#inferred", at);
        let mut all = vec![callee];
        all.extend_from_slice(self.ast.list(args));
        let (args, _) = self.list_of(&all);
        let kind = Kind::Call { callee: of, args };
        // It may have arguments with names that are still to be gathered.
        if let Ok(place) = self.keywords.binary_search(&operand) {
            self.keywords.remove(place);
            let made = self.node(kind, span, depth);
            self.keywords.push(made);
            return made;
        }
        self.node(kind, span, depth)
    }

    fn assertion(&mut self, operand: ExprId, span: Span, prefix: Prefix) -> ExprId {
        let depth = self.depth(operand);
        let (condition, message) = match self.kind(operand) {
            Kind::Tuple(list)
                if prefix == Prefix::TightAssert || self.bare_tuple == Some(operand) =>
            {
                match *self.ast.list(list) {
                    [condition, message] => (condition, Some(message)),
                    _ => {
                        return self
                            .wrong(span, "expected a condition and a message after `@assert`");
                    }
                }
            }
            _ => (operand, None),
        };
        self.node(Kind::Assert { condition, message }, span, depth)
    }

    pub(super) fn check_declared(&mut self, id: ExprId) {
        let fine = match self.kind(id) {
            Kind::Name(_) | Kind::Assign { .. } | Kind::Update { .. } | Kind::Error => true,
            Kind::Typed { value: Some(value), .. } => matches!(self.kind(value), Kind::Name(_)),
            Kind::Function { .. } | Kind::Const(_) => true,
            _ => false,
        };
        if !fine {
            let span = self.span(id);
            self.problems.add(span, "expected a name or an assignment");
        }
    }

    pub(super) fn is_call_of(&self, id: ExprId, oper: Oper) -> Option<List> {
        let Kind::Call { callee, args } = self.kind(id) else { return None };
        let Kind::Name(name) = self.kind(callee) else { return None };
        (self.opers[oper as usize] == Some(name)).then_some(args)
    }
}
