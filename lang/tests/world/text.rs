//! Headers of methods and types as text, for tests of the world alone: `f(x::Vector{T}, y...) where
//! {T<:Real}`. It reads what tests write and panics at everything else.

use std::sync::Arc;

use regraft_ir::{Constant, Context, Function, Loc, Type};
use regraft_lang::definition::{
    Callee, MethodDef, MethodHead, ParamDecl, Space, StaticDecl, TypeExpr, TypeExprKind,
};

pub struct Reader<'a> {
    ctx: &'a Arc<Context>,
    rest: &'a str,
}

fn expr(kind: TypeExprKind) -> TypeExpr {
    TypeExpr { kind, loc: Loc::UNKNOWN }
}

impl<'a> Reader<'a> {
    pub fn new(ctx: &'a Arc<Context>, text: &'a str) -> Self {
        Self { ctx, rest: text.trim() }
    }

    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn eat(&mut self, what: &str) -> bool {
        match self.rest.strip_prefix(what) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, what: &str) {
        assert!(self.eat(what), "expected {what} before {:?}", self.rest);
    }

    pub fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| "(){},: .<>=".contains(c));
        let end = end.unwrap_or(self.rest.len()).max(1);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(item(self));
            if !self.eat(",") {
                self.expect(end);
                break;
            }
        }
        items
    }

    pub fn ty(&mut self) -> TypeExpr {
        let mut ty = self.primary();
        while self.eat("where") {
            let statics = self.statics();
            ty = expr(TypeExprKind::Where(Box::new(ty), statics));
        }
        ty
    }

    fn primary(&mut self) -> TypeExpr {
        if self.eat("<:") {
            return expr(TypeExprKind::Below(Box::new(self.primary())));
        }
        if self.eat(">:") {
            return expr(TypeExprKind::Above(Box::new(self.primary())));
        }
        if self.eat(":") {
            let name = self.word();
            return expr(TypeExprKind::Constant(Constant::Sym(self.ctx.symbol(name))));
        }
        if self.eat("(") {
            let items = self.list(")", Self::primary);
            // One in parentheses is itself, unless it is a symbol: `(:a,)`.
            return match <[TypeExpr; 1]>::try_from(items) {
                Ok([item]) if !matches!(item.kind, TypeExprKind::Constant(_)) => item,
                Ok([item]) => expr(TypeExprKind::Tuple(vec![item])),
                Err(items) => expr(TypeExprKind::Tuple(items)),
            };
        }
        if self.eat("typeof(") {
            let name = self.ctx.symbol(self.word());
            self.expect(")");
            return expr(TypeExprKind::TypeOf(Box::new(expr(TypeExprKind::Name(name)))));
        }
        let word = self.word();
        let mut ty = expr(match (word, word.parse::<i64>()) {
            ("true", _) => TypeExprKind::Constant(Constant::Bool(true)),
            ("false", _) => TypeExprKind::Constant(Constant::Bool(false)),
            (_, Ok(number)) => TypeExprKind::Constant(Constant::I64(number)),
            _ => TypeExprKind::Name(self.ctx.symbol(word)),
        });
        if self.eat("{") {
            let args = self.list("}", |r| {
                let arg = r.ty();
                if r.eat("...") { expr(TypeExprKind::Vararg(Box::new(arg))) } else { arg }
            });
            ty = expr(TypeExprKind::Apply(Box::new(ty), args));
        }
        ty
    }

    pub fn statics(&mut self) -> Vec<StaticDecl> {
        if self.eat("{") { self.list("}", Self::one_static) } else { vec![self.one_static()] }
    }

    fn one_static(&mut self) -> StaticDecl {
        let name = self.ctx.symbol(self.word());
        let upper = self.eat("<:").then(|| self.primary());
        let lower = self.eat(">:").then(|| self.primary());
        StaticDecl { name, lower, upper }
    }

    fn callee(&mut self) -> (Callee, bool) {
        if self.eat("(::Type{") {
            let ty = self.ty();
            self.expect("})");
            return (Callee::Type(ty), false);
        }
        if self.eat("(::") {
            let ty = self.ty();
            self.expect(")");
            return (Callee::Instance(ty), false);
        }
        if self.rest.starts_with('#') {
            return (Callee::Closure(self.ctx.symbol(self.word())), false);
        }
        if self.eat("Base.") {
            return (Callee::Function(self.ctx.symbol(self.word())), true);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_uppercase()) {
            return (Callee::Type(self.primary()), false);
        }
        (Callee::Function(self.ctx.symbol(self.word())), false)
    }

    /// `f(a::T, b...) where T<:Real`
    pub fn method(&mut self, space: Space) -> MethodDef {
        let (callee, extends_base) = self.callee();
        self.expect("(");
        let any = self.ctx.symbol("Any");
        let mut vararg = false;
        let params = self.list(")", |r| {
            let name = (!r.rest.starts_with("::")).then(|| r.ctx.symbol(r.word()));
            let ty = if r.eat("::") { r.ty() } else { TypeExpr::any(any) };
            vararg |= r.eat("...");
            ParamDecl { name, ty }
        });
        let statics = if self.eat("where") { self.statics() } else { Vec::new() };
        assert!(self.is_done(), "unread: {:?}", self.rest);
        let callee_param = matches!(callee, Callee::Instance(_) | Callee::Closure(_));
        let types = vec![Type::ANY; params.len() + usize::from(callee_param)];
        let (inline, loc) = (None, Loc::UNKNOWN);
        let plain = MethodHead::plain(callee, params, space, loc);
        let head = MethodHead { extends_base, vararg, statics, inline, ..plain };
        let body = Arc::new(Function::new(self.ctx, "body", &types, Type::ANY));
        MethodDef { head, body, closures: Vec::new(), generator: None }
    }
}
