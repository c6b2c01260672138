//! Makes expressions of the language of those of a listing.
//!
//! Types that Julia notes behind values go away; `Expr`s of its IR become what they stand for, or
//! are refused by name.

use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Symbol};

use crate::julia::{Ast, ExprId, Kind, List};

/// The trees of a text of listings, while they are made into functions.
pub(super) struct Tidy<'a> {
    pub(super) ctx: &'a Arc<Context>,
    pub(super) ast: &'a mut Ast,
    pub(super) errors: &'a mut Vec<Diagnostic>,
    /// The names of the type parameters of the method.
    pub(super) statics: Vec<Symbol>,
}

/// The right side of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) value: ExprId,
    /// The type that it is noted to have, where the value does not say so itself.
    pub(super) ty: Option<ExprId>,
}

impl Tidy<'_> {
    #[cold]
    pub(super) fn error(&mut self, at: ExprId, message: impl Into<String>, label: &str) {
        let span = self.ast.span(at).range();
        let error = Diagnostic::error(message.into()).at(&self.ast.source, span, label);
        self.errors.push(error);
    }

    pub(super) fn is(&self, name: Symbol, text: &str) -> bool {
        self.ctx.str(name) == text
    }

    /// The text of a name.
    pub(super) fn name_of(&self, id: ExprId) -> Option<&str> {
        match self.ast.kind(id) {
            Kind::Name(name) => Some(self.ctx.str(name)),
            _ => None,
        }
    }

    /// `A.B.f` as its parts; none if something else than names is in it.
    fn path(&self, id: ExprId) -> Option<Vec<Symbol>> {
        match self.ast.kind(id) {
            Kind::Name(name) => Some(vec![name]),
            Kind::Field { base, name } => {
                let mut path = self.path(base)?;
                path.push(name);
                Some(path)
            }
            _ => None,
        }
    }

    /// Returns whether an expression is a name of `Base` or `Core`.
    fn is_of_library(&self, id: ExprId) -> bool {
        let path = self.path(id);
        let first = path.filter(|path| path.len() > 1).map(|path| self.ctx.str(path[0]));
        matches!(first, Some("Base" | "Core"))
            || matches!(self.ast.kind(id), Kind::GlobalRef { .. })
    }

    pub(super) fn is_path(&self, id: ExprId, text: &str) -> bool {
        self.path(id).is_some_and(|path| {
            let mut parts = text.split('.');
            path.iter().all(|&part| parts.next() == Some(self.ctx.str(part)))
                && parts.next().is_none()
        })
    }

    /// Puts another kind in the place of an expression.
    fn become_kind(&mut self, id: ExprId, kind: Kind) {
        self.ast.exprs[id.index()].kind = kind;
    }

    /// Tidies the right side of a statement, and parts it from its type.
    pub(super) fn value(&mut self, id: ExprId) -> Value {
        let Kind::Typed { value: Some(value), ty } = self.ast.kind(id) else {
            self.expr(id);
            return Value { value: id, ty: None };
        };
        self.expr(value);
        // What ops and what `Base` make of their arguments is known without.
        let says_nothing = match self.ast.kind(value) {
            Kind::Call { callee, .. } => {
                self.is_of_library(callee) || self.name_of(callee) == Some("#new")
            }
            _ => true,
        };
        let ty = (!says_nothing && self.is_type(ty) && self.is_something(ty)).then_some(ty);
        Value { value, ty }
    }

    /// Returns whether a type is one that the language can check.
    pub(super) fn is_type(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Name(name) => !self.ctx.str(name).starts_with('@'),
            Kind::Int(_) | Kind::Bool(_) | Kind::Sym(_) | Kind::Colon => true,
            Kind::Field { .. } => self.path(id).is_some(),
            Kind::Curly { base, params } => {
                self.is_type(base) && self.ast.list(params).iter().all(|&param| self.is_type(param))
            }
            Kind::Tuple(list) => self.ast.list(list).iter().all(|&param| self.is_type(param)),
            Kind::Call { callee, args } => {
                self.name_of(callee) == Some("typeof")
                    && self.ast.list(args).iter().all(|&arg| self.is_type(arg))
            }
            _ => false,
        }
    }

    /// Returns whether a type is neither `Any` nor `Union{}`.
    fn is_something(&self, id: ExprId) -> bool {
        match self.ast.kind(id) {
            Kind::Name(name) => !self.is(name, "Any"),
            Kind::Curly { base, params } => {
                !(self.name_of(base) == Some("Union") && params.is_empty())
            }
            _ => true,
        }
    }

    /// Tidies an expression.
    pub(super) fn expr(&mut self, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Typed { value: Some(value), .. } => {
                self.expr(value);
                self.ast.replace(id, value);
            }
            Kind::Call { callee, args } => self.call(id, callee, args),
            Kind::Field { .. } => self.field(id),
            Kind::Curly { base, params } => {
                self.expr(base);
                self.list(params);
            }
            Kind::Where { body, params } => self.where_type(id, body, params),
            Kind::Index { base, indices } => {
                self.expr(base);
                self.list(indices);
            }
            Kind::Tuple(list) | Kind::Vector(list) => self.list(list),
            Kind::NamedTuple(list) => {
                for at in 0..list.len() {
                    match self.ast.kind(self.ast.list(list)[at]) {
                        Kind::Assign { value, .. } => self.expr(value),
                        _ => self.expr(self.ast.list(list)[at]),
                    }
                }
            }
            Kind::Splat(inner) => self.expr(inner),
            Kind::Block(list) if list.len() == 1 => {
                let inner = self.ast.list(list)[0];
                self.expr(inner);
                self.ast.replace(id, inner);
            }
            Kind::Name(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Float32(_)
            | Kind::Bits(..)
            | Kind::Bool(_)
            | Kind::Str(_)
            | Kind::Sym(_)
            | Kind::Colon
            | Kind::GlobalRef { .. }
            | Kind::Quote(_)
            | Kind::Nothing => {}
            _ => {
                self.error(
                    id,
                    "this stands in no listing",
                    "expected a call, a value or a literal",
                );
            }
        }
    }

    fn list(&mut self, list: List) {
        for at in 0..list.len() {
            self.expr(self.ast.list(list)[at]);
        }
    }

    fn call(&mut self, id: ExprId, callee: ExprId, args: List) {
        let given = self.ast.list(args).to_vec();
        match (self.name_of(callee), &*given) {
            (Some("Expr"), [head, ..]) => {
                if let Kind::Sym(head) = self.ast.kind(*head) {
                    return self.ir_expr(id, head, &given[1..]);
                }
            }
            (Some("QuoteNode"), &[value]) => {
                self.expr(value);
                return self.ast.replace(id, value);
            }
            (Some("%new"), _) => {
                let new = self.ctx.symbol("#new");
                self.become_kind(callee, Kind::Name(new));
            }
            (Some(name), _)
                if name.len() > 1
                    && name.starts_with('%')
                    && !name[1..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let message = format!("`{name}` is not supported");
                return self.error(id, message, "");
            }
            _ => {}
        }
        if self.is_path(callee, "Core.NewvarNode") {
            return self.become_kind(id, Kind::Nothing);
        }
        if self.is_path(callee, "IRTools.Inner.Self") || self.is_path(callee, "IRTools.Self") {
            let this = self.ctx.symbol("#self#");
            return self.become_kind(id, Kind::Name(this));
        }
        self.list(args);
        if let (true, &[value, ty]) = (self.is_path(callee, "Core.typeassert"), &*given) {
            return self.become_kind(id, Kind::Typed { value: Some(value), ty });
        }
        self.expr(callee);
    }

    /// `Base.Math.sin`: what the modules of Julia's library hold is found in `Base`.
    fn field(&mut self, id: ExprId) {
        let Some(path) = self.path(id) else {
            if let Kind::Field { base, .. } = self.ast.kind(id) {
                self.expr(base);
            }
            return;
        };
        if let [first, _, .., name] = *path
            && matches!(self.ctx.str(first), "Base" | "Core")
        {
            let module = self.ctx.symbol("Base");
            self.become_kind(id, Kind::GlobalRef { module, name });
        }
    }

    /// `P{A, T} where T` is `P{A}`.
    fn where_type(&mut self, id: ExprId, body: ExprId, vars: List) {
        let vars = self.ast.list(vars).to_vec();
        let Kind::Curly { base, params } = self.ast.kind(body) else {
            return self.error(id, "a `where` like this is not supported here", "");
        };
        let given = self.ast.list(params).to_vec();
        let kept = given.len().saturating_sub(vars.len());
        let same =
            |a: ExprId, b: ExprId| self.name_of(a).is_some() && self.name_of(a) == self.name_of(b);
        if given.len() < vars.len() || !given[kept..].iter().zip(&vars).all(|(&a, &b)| same(a, b)) {
            return self.error(id, "a `where` like this is not supported here", "");
        }
        self.expr(base);
        if kept == 0 {
            return self.ast.replace(id, base);
        }
        let params = self.ast.add_list(&given[..kept]);
        self.list(params);
        self.become_kind(id, Kind::Curly { base, params });
    }

    /// `$(Expr(:head, args...))`
    fn ir_expr(&mut self, id: ExprId, head: Symbol, args: &[ExprId]) {
        match (self.ctx.str(head), args) {
            ("boundscheck", []) => self.become_kind(id, Kind::Bool(true)),
            ("boundscheck", &[on]) => self.ast.replace(id, on),
            (
                "meta"
                | "inbounds"
                | "loopinfo"
                | "code_coverage_effect"
                | "gc_preserve_begin"
                | "gc_preserve_end"
                | "aliasscope"
                | "popaliasscope",
                _,
            ) => self.become_kind(id, Kind::Nothing),
            ("static_parameter", &[number])
                if matches!(self.ast.kind(number), Kind::Int(1..=99)) =>
            {
                let Kind::Int(number) = self.ast.kind(number) else { return };
                let number = number as usize;
                while self.statics.len() < number {
                    let name = format!("T{}", self.statics.len() + 1);
                    self.statics.push(self.ctx.symbol(&name));
                }
                self.become_kind(id, Kind::Name(self.statics[number - 1]));
            }
            ("new", &[_, ..]) => {
                let span = self.ast.span(id);
                let new = self.ctx.symbol("#new");
                let callee = self.ast.add(Kind::Name(new), span);
                let args = self.ast.add_list(args);
                self.list(args);
                self.become_kind(id, Kind::Call { callee, args });
            }
            (head, _) => {
                let message = format!("`Expr(:{head}, …)` is not supported in a listing");
                self.error(id, message, "");
            }
        }
    }
}
