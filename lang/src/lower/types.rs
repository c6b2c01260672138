//! Types as they are written in signatures and declarations.

use regraft_ir::{Constant, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::Lower;
use super::names::name_of;
use crate::definition::{StaticDecl, TypeExpr, TypeExprKind};

impl Lower<'_> {
    /// `Any`, which is not written.
    pub(super) fn any_type(&self) -> TypeExpr {
        TypeExpr::any(self.names.any)
    }

    pub(super) fn type_or_any(&mut self, ty: Option<ExprId>) -> TypeExpr {
        match ty {
            Some(ty) => self.type_expr(ty),
            None => self.any_type(),
        }
    }

    /// An expression as a type. Wrong ones are told of.
    pub(super) fn type_expr(&mut self, id: ExprId) -> TypeExpr {
        let loc = self.loc(id);
        TypeExpr { kind: self.type_kind(id), loc }
    }

    fn boxed_type(&mut self, id: ExprId) -> Box<TypeExpr> {
        Box::new(self.type_expr(id))
    }

    fn type_kind(&mut self, id: ExprId) -> TypeExprKind {
        use TypeExprKind as T;
        let constant = T::Constant;
        match self.ast.kind(id) {
            Kind::Name(name) => T::Name(name),
            Kind::GlobalRef { module, name } => T::Name(self.absolute(module, name)),
            // `typeof(:)`
            Kind::Colon => T::Name(self.names.colon),
            Kind::Field { base, name } => match self.module_member(base, name) {
                Some(name) => T::Name(name),
                None => match self.module_path(id) {
                    Some(path) => T::Name(self.ctx.symbol(&path)),
                    None => self.no_type(id),
                },
            },
            Kind::Int(x) => constant(Constant::I64(x)),
            Kind::Float(x) => constant(Constant::from(x)),
            Kind::Float32(x) => constant(Constant::from(x)),
            Kind::Bool(x) => constant(Constant::Bool(x)),
            Kind::Sym(x) => constant(Constant::Sym(x)),
            Kind::Str(x) => constant(Constant::Str(x)),
            Kind::Tuple(list) => T::Tuple(self.type_list(list)),
            Kind::Splat(inner) => T::Vararg(self.boxed_type(inner)),
            Kind::Where { body, params } => {
                let statics = self.statics(params);
                T::Where(self.boxed_type(body), statics)
            }
            Kind::Curly { base, params } => match (self.ast.kind(base), self.ast.list(params)) {
                (Kind::Name(name), &[element]) if name == self.names.vararg => {
                    T::Vararg(self.boxed_type(element))
                }
                _ => T::Apply(self.boxed_type(base), self.type_list(params)),
            },
            Kind::Call { callee, args } => match (self.ast.kind(callee), self.ast.list(args)) {
                (Kind::Name(name), &[of]) if name == self.names.subtype => {
                    T::Below(self.boxed_type(of))
                }
                (Kind::Name(name), &[of]) if name == self.names.supertype => {
                    T::Above(self.boxed_type(of))
                }
                (Kind::Name(name), &[of]) if name == self.names.type_of => {
                    T::TypeOf(self.boxed_type(of))
                }
                (Kind::Name(name), &[of]) if name == self.names.minus => match self.ast.kind(of) {
                    Kind::Int(x) => constant(Constant::I64(x.wrapping_neg())),
                    Kind::Float(x) => constant(Constant::from(-x)),
                    _ => self.no_type(id),
                },
                _ => self.no_type(id),
            },
            _ => self.no_type(id),
        }
    }

    fn type_list(&mut self, list: List) -> Vec<TypeExpr> {
        self.ast.list(list).iter().map(|&id| self.type_expr(id)).collect()
    }

    fn no_type(&mut self, id: ExprId) -> TypeExprKind {
        if !matches!(self.ast.kind(id), Kind::Error) {
            self.error(id, "expected a type", "this is none");
        }
        TypeExprKind::Name(self.names.any)
    }

    /// The type parameters of a `where` or of a struct, as they are listed.
    pub(super) fn statics(&mut self, list: List) -> Vec<StaticDecl> {
        self.ast.list(list).iter().filter_map(|&id| self.static_decl(id)).collect()
    }

    fn static_decl(&mut self, id: ExprId) -> Option<StaticDecl> {
        match self.ast.kind(id) {
            Kind::Name(name) => return Some(StaticDecl { name, lower: None, upper: None }),
            Kind::Call { callee, args } => {
                if let &[param, bound] = self.ast.list(args)
                    && let Some(op) = name_of(self.ast, callee)
                    && let Some(name) = name_of(self.ast, param)
                {
                    let bound = Some(self.type_expr(bound));
                    if op == self.names.subtype {
                        return Some(StaticDecl { name, lower: None, upper: bound });
                    }
                    if op == self.names.supertype {
                        return Some(StaticDecl { name, lower: bound, upper: None });
                    }
                }
            }
            Kind::Compare { parts } => {
                if let &[low, below, param, under, high] = self.ast.list(parts)
                    && name_of(self.ast, below) == Some(self.names.subtype)
                    && name_of(self.ast, under) == Some(self.names.subtype)
                    && let Some(name) = name_of(self.ast, param)
                {
                    let (lower, upper) = (Some(self.type_expr(low)), Some(self.type_expr(high)));
                    return Some(StaticDecl { name, lower, upper });
                }
            }
            Kind::Error => return None,
            _ => {}
        }
        self.error(id, "expected a type parameter such as `T` or `T<:Real`", "");
        None
    }

    /// A name as a type, without a place.
    pub(super) fn named_type(&self, name: Symbol, loc: Loc) -> TypeExpr {
        TypeExpr { kind: TypeExprKind::Name(name), loc }
    }
}
