//! Generated functions: the function, and the one that gives its code.

use super::Builder;
use crate::julia::ast::{ExprId, Kind};

impl Builder<'_> {
    /// A function whose code `generator` gives, and that has this body where nobody asks for it.
    pub(super) fn generated(
        &mut self,
        function: ExprId,
        generator: ExprId,
        otherwise: ExprId,
    ) -> ExprId {
        let (span, depth) = (self.span(function), self.depth(function));
        let Kind::Function { name, params, wheres, returns, .. } = self.kind(function) else {
            return function;
        };
        if returns.is_some() {
            return self.wrong(span, "generated functions with a return type are not supported");
        }
        let mut names = Vec::with_capacity(wheres.len() + params.len());
        for at in 0..wheres.len() {
            let id = self.ast.list(wheres)[at];
            names.push(self.bound_name(id));
        }
        // `(p::P)(x)`
        if let Kind::Typed { .. } = self.kind(name) {
            names.push(self.bound_name(name));
        }
        for at in 0..params.len() {
            let id = self.ast.list(params)[at];
            if matches!(self.kind(id), Kind::Keywords(_)) {
                return self.wrong(span, "generated functions take no arguments by name");
            }
            names.push(self.bound_name(id));
        }
        let (params, _) = self.list_of(&names);
        let (wheres, _) = self.list_of(&[]);
        let name = self.named("#generator", span);
        let (returns, inline, body) = (None, None, Some(generator));
        let made = Kind::Function { name, params, wheres, returns, body, inline };
        let generator = self.node(made, span, depth);
        if let Kind::Function { body, .. } = &mut self.ast.exprs[function.index()].kind {
            *body = Some(otherwise);
        }
        self.node(Kind::Generated { function, generator }, span, depth + 1)
    }

    /// The name of a parameter alone.
    fn bound_name(&mut self, id: ExprId) -> ExprId {
        let span = self.span(id);
        match self.kind(id) {
            Kind::Name(name) => self.leaf(Kind::Name(name), span),
            Kind::Typed { value: Some(inner), .. } | Kind::Splat(inner) => self.bound_name(inner),
            Kind::Assign { target, .. } => self.bound_name(target),
            Kind::Call { args, .. } if !args.is_empty() => self.bound_name(self.ast.list(args)[0]),
            Kind::Compare { parts } if parts.len() == 5 => self.bound_name(self.ast.list(parts)[2]),
            // It has none; the place tells it from others.
            _ => {
                let name = self.ctx.symbol(&format!("#unnamed{}", span.start));
                self.leaf(Kind::Name(name), span)
            }
        }
    }

    /// A function whose body is `if @generated … else … end` is a generated one, if one of its kind
    /// can be.
    pub(super) fn optionally_generated(&mut self, function: ExprId) -> ExprId {
        let Kind::Function { body: Some(body), params, returns: None, .. } = self.kind(function)
        else {
            return function;
        };
        if !params.is_empty() && self.keywords_of(params).is_some() {
            return function;
        }
        let only = match self.kind(body) {
            Kind::Block(list) if list.len() == 1 => self.ast.list(list)[0],
            _ => body,
        };
        match self.kind(only) {
            Kind::If { condition, then, otherwise: Some(otherwise) } if matches!(self.kind(condition), Kind::Name(name) if self.ctx.str(name) == "@generated") => {
                self.generated(function, then, otherwise)
            }
            _ => function,
        }
    }
}
