//! A parameter of a function as it is written, taken apart.

use regraft_ir::Symbol;
use regraft_syntax::julia::{Ast, ExprId, Kind};

/// `name::ty = default`, `name::ty...`, `(a, b)::ty`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    pub(super) name: Option<(Symbol, ExprId)>,
    /// The pattern that it is taken apart into.
    pub(super) pattern: Option<ExprId>,
    pub(super) ty: Option<ExprId>,
    pub(super) default: Option<ExprId>,
    pub(super) vararg: bool,
    /// True if it is none of these.
    pub(super) wrong: bool,
}

impl Param {
    pub(super) fn of(ast: &Ast, expr: ExprId) -> Self {
        let mut param = Self {
            name: None,
            pattern: None,
            ty: None,
            default: None,
            vararg: false,
            wrong: false,
        };
        let mut at = expr;
        if let Kind::Assign { target, value } = ast.kind(at) {
            param.default = Some(value);
            at = target;
        }
        if let Kind::Splat(inner) = ast.kind(at) {
            param.vararg = true;
            at = inner;
        }
        if let Kind::Typed { value, ty } = ast.kind(at) {
            param.ty = Some(ty);
            match value {
                Some(value) => at = value,
                None => return param,
            }
        }
        match ast.kind(at) {
            // A blank names nothing, and may be there twice.
            Kind::Name(_) if &ast.source.text[ast.span(at).range()] == "_" => {}
            Kind::Name(name) => param.name = Some((name, at)),
            Kind::Tuple(_) | Kind::NamedTuple(_) => param.pattern = Some(at),
            _ => param.wrong = true,
        }
        param
    }
}
