//! Assignments, functions, `do`, `try`.

use super::super::Builder;
use super::super::definitions::Head;
use crate::julia::ast::{ExprId, Kind, Span};
use crate::julia::token::Oper;

impl Builder<'_> {
    pub(super) fn interpret_assign(&mut self, target: ExprId, value: ExprId, span: Span) -> ExprId {
        if self.is_call_head(target) {
            let head = self.interpret_head(target, false);
            let value = self.interpret(value);
            return self.interpret_function(head, value, span);
        }
        let (target, value) = (self.interpret(target), self.interpret(value));
        self.assign(target, value, span)
    }

    pub(super) fn interpret_update(&mut self, op: &str, args: &[ExprId], span: Span) -> ExprId {
        let (target, value) = (self.interpret(args[0]), self.interpret(args[1]));
        let depth = self.depth(target).max(self.depth(value));
        let dotted = op.strip_prefix('.');
        let oper = Oper::named(dotted.unwrap_or(op));
        if oper == Oper::Other {
            return self.wrong(span, format!("there is no assignment `{op}=`"));
        }
        let op = self.oper_symbol(oper);
        match dotted {
            Some(_) => {
                self.check_dot_target(target);
                self.node(Kind::DotUpdate { op, target, value }, span, depth)
            }
            None => {
                self.check_update_target(target);
                self.node(Kind::Update { op, target, value }, span, depth)
            }
        }
    }

    /// The head of a function; without a name it may be its parameters alone.
    pub(super) fn interpret_head(&mut self, mut id: ExprId, arrow: bool) -> Head {
        let (mut wheres, mut returns) = (Vec::new(), None);
        loop {
            if let Some(list) = self.form_args(id, "where") {
                let list = self.ast.list(list).to_vec();
                let Some((&body, params)) = list.split_first() else { break };
                let params = self.each(params);
                wheres.splice(0..0, params);
                id = body;
            } else if let Some(list) = self.form_args(id, "::")
                && let &[value, ty] = self.ast.list(list)
                && (["call", "tuple", "where"].iter().any(|of| self.form_args(value, of).is_some())
                    || !arrow && !self.is_line(value) && self.is_call_head(value))
            {
                let mut ty = ty;
                while let Some(list) = self.form_args(ty, "where") {
                    let list = self.ast.list(list).to_vec();
                    let Some((&body, params)) = list.split_first() else { break };
                    let params = self.each(params);
                    wheres.splice(0..0, params);
                    ty = body;
                }
                returns = Some(self.interpret(ty));
                id = value;
            } else {
                break;
            }
        }
        let args = |builder: &Self, name| {
            builder.form_args(id, name).map(|list| builder.ast.list(list).to_vec())
        };
        let (name, params) = if let Some(parts) = args(self, "call")
            && let Some((&name, params)) = parts.split_first()
        {
            (Some(self.interpret_callee(name)), params.to_vec())
        } else if let Some(params) = args(self, "tuple") {
            (None, params)
        } else if let Some(parts) = args(self, "block") {
            // `(a; b)`: what is behind the `;` has a name.
            let parts = self.without_lines(parts);
            let (first, rest) = parts.split_at(parts.len().min(1));
            let rest = self.form("parameters", rest, self.span(id));
            (None, first.iter().copied().chain([rest]).collect())
        } else {
            (None, vec![id])
        };
        let params: Vec<ExprId> = params.into_iter().map(|id| self.as_parameter(id)).collect();
        let params = self.interpret_args(&params);
        for &param in &params {
            match self.kind(param) {
                Kind::Keywords(list) => self.check_keywords(list),
                _ => self.check_param(param),
            }
        }
        let (params, _) = self.list_of(&params);
        Head { name, params, wheres, returns }
    }

    /// The name of a function that is defined.
    pub(super) fn interpret_callee(&mut self, id: ExprId) -> ExprId {
        match self.kind(id) {
            // A method that is added to a function of some module.
            Kind::GlobalRef { module, name } => {
                let span = self.span(id);
                let base = self.leaf(Kind::Name(module), span);
                self.node(Kind::Field { base, name }, span, 1)
            }
            _ => self.interpret(id),
        }
    }

    /// A parameter with a default value is a `kw`, which no argument with a name is.
    pub(super) fn as_parameter(&mut self, id: ExprId) -> ExprId {
        match self.form_args(id, "kw").map(|list| self.ast.list(list).to_vec()) {
            Some(pair) => self.form("=", &pair, self.span(id)),
            None => id,
        }
    }

    pub(super) fn interpret_function(&mut self, head: Head, body: ExprId, span: Span) -> ExprId {
        let params = self.ast.list(head.params).iter().map(|&id| self.depth(id)).max();
        let depth = self.depth(body).max(params.unwrap_or(0));
        self.function_node(head, body, span, depth)
    }

    pub(super) fn interpret_do(&mut self, call: ExprId, function: ExprId, span: Span) -> ExprId {
        let (call, function) = (self.interpret(call), self.interpret(function));
        match self.kind(call) {
            Kind::Call { callee, args } => {
                let mut all = vec![function];
                all.extend_from_slice(self.ast.list(args));
                let (args, depth) = self.list_of(&all);
                self.node(Kind::Call { callee, args }, span, depth.max(self.depth(callee)))
            }
            Kind::Error => call,
            _ => self.wrong(span, "`do` needs a call before it, such as `map(xs) do x`"),
        }
    }

    pub(super) fn interpret_try(
        &mut self,
        body: ExprId,
        (error, handler): (ExprId, ExprId),
        rest: &[ExprId],
        span: Span,
    ) -> ExprId {
        let none = |builder: &Self, id| builder.kind(id) == Kind::Bool(false);
        let body = self.interpret_block(body);
        let error = if none(self, error) { None } else { Some(self.interpret(error)) };
        let handler = if none(self, handler) { None } else { Some(self.interpret_block(handler)) };
        let last = rest.first().copied().filter(|&id| !none(self, id));
        let last = last.map(|id| self.interpret_block(id));
        let otherwise = rest.get(1).map(|&id| self.interpret_block(id));
        let handler = handler.map(|handler| (error, handler));
        self.try_block(span, body, handler, otherwise, last, span);
        self.pop()
    }

    /// An expression as a block, as parts of a `try` are.
    fn interpret_block(&mut self, id: ExprId) -> ExprId {
        let made = self.interpret(id);
        if matches!(self.kind(made), Kind::Block(_)) {
            return made;
        }
        let (list, depth) = self.list_of(&[made]);
        self.node(Kind::Block(list), self.span(id), depth)
    }
}
