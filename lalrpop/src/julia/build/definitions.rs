//! Definitions and assignments: what an expression on the left of `=`, of `->` or after
//! `function` and `struct` defines.

use super::{Builder, Items};
use crate::julia::ast::{ExprId, Kind, List, Span};
use crate::julia::token::Oper;

/// The head of a function.
pub(super) struct Head {
    /// The expression that is called; none if the function has no name.
    pub(super) name: Option<ExprId>,
    pub(super) params: List,
    pub(super) wheres: Vec<ExprId>,
    pub(super) returns: Option<ExprId>,
}

impl Builder<'_> {
    // --- functions ---------------------------------------------------------------------------

    /// Returns whether it is the head of a function: a call, under any return type and `where`s.
    fn is_head(&self, mut id: ExprId) -> bool {
        loop {
            match self.kind(id) {
                Kind::Call { .. } => return true,
                Kind::Where { body, .. } => id = body,
                Kind::Typed { value: Some(value), .. } => id = value,
                _ => return false,
            }
        }
    }

    /// Takes `f(x)::R where {T}` apart. With `anonymous` the parameters may stand alone.
    fn function_head(&mut self, mut id: ExprId, anonymous: bool) -> Head {
        let (mut wheres, mut returns) = (Vec::new(), None);
        loop {
            match self.kind(id) {
                Kind::Where { body, params } => {
                    self.collect_wheres(&mut wheres, params);
                    id = body;
                }
                Kind::Typed { value: Some(value), ty }
                    if returns.is_none() && (!anonymous || self.returns_after(value, ty)) =>
                {
                    // The parser reads `f(x)::R where T` as `f(x)::(R where T)`.
                    let mut ty = ty;
                    while let Kind::Where { body, params } = self.kind(ty) {
                        self.collect_wheres(&mut wheres, params);
                        ty = body;
                    }
                    returns = Some(ty);
                    id = value;
                }
                _ => break,
            }
        }
        let (name, params) = match self.kind(id) {
            Kind::Call { callee, args } => {
                if let Ok(at) = self.keywords.binary_search(&id) {
                    self.keywords.remove(at);
                }
                (Some(callee), args)
            }
            Kind::Tuple(items) => {
                if let Ok(at) = self.mixed.binary_search(&id) {
                    self.mixed.remove(at);
                }
                (None, items)
            }
            // `(; a)`
            Kind::NamedTuple(items) if self.has_keywords(id) => {
                (None, self.with_keywords(&[], items, id))
            }
            // `(a; b)`
            Kind::Block(items) if self.has_keywords(id) => {
                let rest = self.ast.list(items)[1..].to_vec();
                let (rest, _) = self.list_of(&rest);
                let first = self.ast.list(items)[0];
                (None, self.with_keywords(&[first], rest, id))
            }
            // `(a = 1)` and `(a = 1, b = 2)`
            Kind::Block(items) | Kind::NamedTuple(items)
                if self
                    .ast
                    .list(items)
                    .iter()
                    .all(|&item| matches!(self.kind(item), Kind::Assign { .. })) =>
            {
                (None, items)
            }
            _ => (None, self.list_of(&[id]).0),
        };
        for at in 0..params.len() {
            match self.kind(self.ast.list(params)[at]) {
                Kind::Keywords(list) => self.check_keywords(list),
                _ => self.check_param(self.ast.list(params)[at]),
            }
        }
        Head { name, params, wheres, returns }
    }

    /// Parameters, of which the last are passed by name.
    fn with_keywords(&mut self, plain: &[ExprId], named: List, at: ExprId) -> List {
        let (span, depth) = (self.span(at), self.depth(at));
        let made = self.node(Kind::Keywords(named), span, depth);
        let mut all = plain.to_vec();
        all.push(made);
        self.list_of(&all).0
    }

    /// Reports what is no parameter that is passed by name.
    pub(super) fn check_keywords(&mut self, list: List) {
        for at in 0..list.len() {
            let id = self.ast.list(list)[at];
            let is_last = at + 1 == list.len();
            let bare = match self.kind(id) {
                Kind::Splat(inner) if is_last => inner,
                Kind::Assign { target, .. } => target,
                _ => id,
            };
            let name = match self.kind(bare) {
                Kind::Typed { value: Some(value), .. } => value,
                _ => bare,
            };
            if !matches!(self.kind(name), Kind::Name(_) | Kind::Error) {
                let span = self.span(id);
                self.problems.add(span, "expected a parameter with a name, such as `a = 1`");
            }
        }
    }

    /// Returns whether there is a `;` in these brackets.
    fn has_keywords(&self, id: ExprId) -> bool {
        match self.kind(id) {
            Kind::Block(items) => items.len() > 1,
            _ => self.slice(self.span(id))[1..].trim_start().starts_with(';'),
        }
    }

    /// Innermost first.
    fn collect_wheres(&mut self, wheres: &mut Vec<ExprId>, params: List) {
        wheres.splice(0..0, self.ast.list(params).iter().copied());
    }

    /// Returns whether it is a parameter list with a return type, `(x)::T`, and not `(x::T)`.
    fn returns_after(&self, value: ExprId, ty: ExprId) -> bool {
        matches!(self.kind(value), Kind::Tuple(_) | Kind::Call { .. }) || {
            let (from, to) = (self.span(value).end, self.span(ty).start);
            from <= to && self.text[from as usize..to as usize].contains(')')
        }
    }

    pub(super) fn check_param(&mut self, id: ExprId) {
        let fine = match self.kind(id) {
            Kind::Name(_) | Kind::Error => true,
            Kind::Typed { value: None, .. } => true,
            Kind::Typed { value: Some(value), .. } => match self.kind(value) {
                Kind::Tuple(_) | Kind::NamedTuple(_) => {
                    self.check_param(value);
                    true
                }
                kind => matches!(kind, Kind::Name(_) | Kind::Error),
            },
            Kind::Splat(inner) => {
                matches!(self.kind(inner), Kind::Name(_) | Kind::Typed { .. } | Kind::Error)
            }
            Kind::Assign { target, .. } => {
                self.check_param(target);
                true
            }
            Kind::Tuple(items) => {
                for at in 0..items.len() {
                    self.check_param(self.ast.list(items)[at]);
                }
                true
            }
            // `(; x, y)`
            Kind::NamedTuple(items) => self.ast.list(items).iter().all(|&item| {
                let name = match self.kind(item) {
                    Kind::Typed { value: Some(value), .. } => value,
                    _ => item,
                };
                matches!(self.kind(name), Kind::Name(_) | Kind::Error)
            }),
            _ => false,
        };
        if !fine {
            let span = self.span(id);
            self.problems.add(span, "expected a parameter");
        }
    }

    fn check_name(&mut self, name: ExprId) {
        // `(:)(a, b) = …` is a method of the function `:`.
        if self.kind(name) == Kind::Colon {
            let colon = self.ctx.symbol(":");
            self.ast.exprs[name.index()].kind = Kind::Name(colon);
        }
        let fine = match self.kind(name) {
            Kind::Name(_) | Kind::Field { .. } | Kind::Typed { .. } | Kind::Error => true,
            Kind::Curly { base, .. } => {
                matches!(self.kind(base), Kind::Name(_) | Kind::Field { .. } | Kind::Error)
            }
            _ => false,
        };
        if !fine {
            let span = self.span(name);
            self.problems.add(span, "expected the name of a function");
        }
    }

    /// `function head body end`
    pub(crate) fn function(&mut self, open: Span, head: ExprId, body: ExprId, close: Span) {
        if self.code.is_data() {
            return self.code_function(open, head, body, close);
        }
        let span = Span { start: open.start, end: close.end };
        let depth = self.depth(head).max(self.depth(body));
        let is_empty = matches!(self.kind(body), Kind::Block(list) if list.is_empty());
        if is_empty {
            self.ast.exprs[body.index()].span = Span { start: close.start, end: close.start };
        }
        let first = self.text[open.end as usize..].trim_start().as_bytes().first();
        let anonymous = first == Some(&b'(');
        let made = match self.kind(head) {
            Kind::Error => self.leaf(Kind::Error, span),
            Kind::Name(_) | Kind::Field { .. } if !anonymous => {
                if !is_empty {
                    let at = self.span(head);
                    self.problems.add_help(
                        at,
                        "the function has no parameters",
                        "expected `(` after this",
                        "a function without parameters is `function f() … end`",
                    );
                }
                let (params, wheres) = (List::default(), List::default());
                let kind = Kind::Function {
                    name: head,
                    params,
                    wheres,
                    returns: None,
                    body: None,
                    inline: None,
                };
                self.node(kind, span, depth)
            }
            _ if anonymous || self.is_head(head) => {
                let head = self.function_head(head, anonymous);
                self.function_node(head, body, span, depth)
            }
            _ => {
                let at = self.span(head);
                self.wrong(at, "expected the name and the parameters of a function")
            }
        };
        self.push(made);
    }

    pub(super) fn function_node(
        &mut self,
        head: Head,
        body: ExprId,
        span: Span,
        depth: u16,
    ) -> ExprId {
        let (wheres, _) = self.list_of(&head.wheres);
        let (params, returns) = (head.params, head.returns);
        let Some(name) = head.name else {
            return self.node(Kind::Lambda { params, wheres, returns, body }, span, depth);
        };
        self.check_name(name);
        let body = Some(body);
        let kind = Kind::Function { name, params, wheres, returns, body, inline: None };
        let made = self.node(kind, span, depth);
        self.optionally_generated(made)
    }

    /// `params -> body`
    pub(super) fn arrow(&mut self, params: ExprId, body: ExprId, span: Span) -> ExprId {
        let depth = self.depth(params).max(self.depth(body));
        let head = if matches!(self.kind(params), Kind::Call { .. }) {
            let at = self.span(params);
            return self.wrong(at, "expected parameters before `->`");
        } else {
            self.function_head(params, true)
        };
        let span = Span { start: span.start.min(self.span(params).start), end: span.end };
        self.function_node(Head { name: None, ..head }, body, span, depth)
    }

    // --- assignments -------------------------------------------------------------------------

    pub(super) fn assign(&mut self, target: ExprId, value: ExprId, span: Span) -> ExprId {
        let depth = self.depth(target).max(self.depth(value));
        if self.is_head(target) {
            let head = self.function_head(target, false);
            return self.function_node(head, value, span, depth);
        }
        // `A{T} = X` is `const A = X where T`.
        if let Kind::Curly { base, params } = self.kind(target)
            && matches!(self.kind(base), Kind::Name(_))
        {
            let value = self.node(Kind::Where { body: value, params }, span, depth);
            let made = self.node(Kind::Assign { target: base, value }, span, self.depth(value));
            return self.node(Kind::Const(made), span, self.depth(made));
        }
        self.check_target(target);
        self.node(Kind::Assign { target, value }, span, depth)
    }

    fn cannot_assign(&mut self, id: ExprId) {
        let what = match self.kind(id) {
            Kind::Int(_)
            | Kind::Float(_)
            | Kind::Float32(_)
            | Kind::Bits(..)
            | Kind::Bool(_)
            | Kind::Str(_)
            | Kind::Sym(_) => "a literal",
            Kind::Call { .. } | Kind::Dot { .. } => "the result of a call",
            Kind::Compare { .. } | Kind::And(..) | Kind::Or(..) => "the result of an operator",
            Kind::Curly { .. } => "a type with parameters",
            Kind::End | Kind::First => "`end` or `begin`",
            _ => "this",
        };
        let span = self.span(id);
        self.problems.add_help(
            span,
            format!("cannot assign to {what}"),
            "expected a name, an index, a field or a tuple of these",
            "`==` compares",
        );
    }

    fn check_target(&mut self, id: ExprId) {
        match self.kind(id) {
            Kind::Name(_) | Kind::Index { .. } | Kind::Field { .. } | Kind::Error => {}
            Kind::Typed { value: Some(value), .. } => self.check_target(value),
            // A parameter without a name may have a default value; elsewhere lowering refuses it.
            Kind::Typed { value: None, .. } => {}
            Kind::Splat(inner) => self.check_target(inner),
            Kind::Tuple(items) => {
                let mut splats = 0;
                for at in 0..items.len() {
                    let item = self.ast.list(items)[at];
                    splats += usize::from(matches!(self.kind(item), Kind::Splat(_)));
                    self.check_target(item);
                }
                if splats > 1 {
                    let span = self.span(id);
                    self.problems.add(span, "only one `...` can take what is left");
                }
            }
            Kind::NamedTuple(items) => {
                for at in 0..items.len() {
                    let item = self.ast.list(items)[at];
                    if !matches!(self.kind(item), Kind::Name(_) | Kind::Error) {
                        self.cannot_assign(item);
                    }
                }
            }
            _ => self.cannot_assign(id),
        }
    }

    pub(super) fn check_update_target(&mut self, id: ExprId) {
        match self.kind(id) {
            Kind::Name(_) | Kind::Index { .. } | Kind::Field { .. } | Kind::Error => {}
            Kind::Typed { value: Some(_), .. } => self.check_target(id),
            _ => self.cannot_assign(id),
        }
    }

    /// Reports a target of `.=` that cannot be an array, such as a number.
    pub(super) fn check_dot_target(&mut self, id: ExprId) {
        if matches!(
            self.kind(id),
            Kind::Int(_)
                | Kind::Float(_)
                | Kind::Float32(_)
                | Kind::Bits(..)
                | Kind::Bool(_)
                | Kind::Str(_)
                | Kind::Sym(_)
                | Kind::End
                | Kind::First
                | Kind::Colon
        ) {
            self.cannot_assign(id);
        }
    }

    pub(super) fn check_loop_target(&mut self, id: ExprId) {
        match self.kind(id) {
            Kind::Name(_) | Kind::Tuple(_) | Kind::Typed { .. } | Kind::NamedTuple(_) => {
                self.check_target(id);
            }
            Kind::Error => {}
            _ => {
                let span = self.span(id);
                self.problems.add(span, "expected a name or a tuple of names before `in`");
            }
        }
    }

    // --- types -------------------------------------------------------------------------------

    /// `Name{T} <: Super`
    fn type_head(&mut self, id: ExprId) -> Option<(regraft_ir::Symbol, List, Option<ExprId>)> {
        let (mut id, mut supertype) = (id, None);
        if let Some(args) = self.is_call_of(id, Oper::Subtype)
            && let [name, above] = *self.ast.list(args)
        {
            (id, supertype) = (name, Some(above));
        }
        let mut params = List::default();
        if let Kind::Curly { base, params: list } = self.kind(id) {
            (id, params) = (base, list);
        }
        match self.kind(id) {
            Kind::Name(name) => Some((name, params, supertype)),
            Kind::Error => None,
            _ => {
                let span = self.span(id);
                self.problems.add(span, "expected the name of a type");
                None
            }
        }
    }

    pub(crate) fn structure(
        &mut self,
        open: Span,
        head: ExprId,
        items: Items,
        mutable: bool,
        close: Span,
    ) {
        let span = Span { start: open.start, end: close.end };
        if self.code.is_data() {
            return self.code_type("struct", Some(mutable), head, Some(items), span);
        }
        for at in items.start as usize..self.list.len() {
            self.check_field(self.list[at], mutable);
        }
        let (fields, depth) = self.take_list(items.start);
        let depth = depth.max(self.depth(head));
        let made = match self.type_head(head) {
            Some((name, params, supertype)) => {
                let kind = Kind::Struct { name, params, supertype, mutable, fields };
                self.node(kind, span, depth)
            }
            None => self.leaf(Kind::Error, span),
        };
        self.push(made);
    }

    fn check_field(&mut self, id: ExprId, mutable: bool) {
        let message = match self.kind(id) {
            Kind::Const(field) => {
                if let Ok(at) = self.mixed.binary_search(&id) {
                    self.mixed.remove(at);
                }
                if mutable {
                    return self.check_field(field, false);
                }
                "`const` is for fields of mutable structs"
            }
            Kind::Name(_) | Kind::Function { .. } | Kind::Str(_) | Kind::Error => return,
            Kind::Typed { value: Some(value), .. }
                if matches!(self.kind(value), Kind::Name(_) | Kind::Error) =>
            {
                return;
            }
            Kind::Assign { .. } => "default values of fields are not supported",
            _ => "expected a field or a constructor",
        };
        let span = self.span(id);
        self.problems.add(span, message);
    }

    pub(crate) fn abstract_type(&mut self, open: Span, head: ExprId, close: Span) {
        let span = Span { start: open.start, end: close.end };
        if self.code.is_data() {
            return self.code_type("abstract", None, head, None, span);
        }
        let depth = self.depth(head);
        let made = match self.type_head(head) {
            Some((name, params, supertype)) => {
                self.node(Kind::Abstract { name, params, supertype }, span, depth)
            }
            None => self.leaf(Kind::Error, span),
        };
        self.push(made);
    }
}
