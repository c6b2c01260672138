//! Definitions at top level: what a method is of, structs, abstract types.

use regraft_ir::Symbol;
use regraft_syntax::julia::{ExprId, Kind};

use super::define::{Made, Owner, Written, in_order};
use super::scope::NONE;
use super::{Constructed, Lower};
use crate::definition::{AbstractDecl, Callee, MethodDef, StructDecl};

impl Lower<'_> {
    /// The methods that a definition at top level adds; `None` if it is wrong.
    pub(super) fn definition(&mut self, id: ExprId, inside: Option<Symbol>) -> Vec<MethodDef> {
        let Kind::Function { name, params, wheres, returns, body: Some(body), inline } =
            self.ast.kind(id)
        else {
            return Vec::new();
        };
        let Some((callee, extends_base, owner, shown)) = self.definition_callee(name) else {
            return Vec::new();
        };
        let written = Written { params, wheres, returns, body, inline, id };
        if !self.signatures_only {
            self.resolve(|walk| walk.method(id));
        }
        let applied = matches!(self.ast.kind(name), Kind::Curly { .. }).then_some(name);
        let func = self.scopes.refs.get(id.index()).copied().unwrap_or(NONE);
        let new = inside.map(|name| Constructed { name, applied, func });
        let text = self.text(shown);
        let made = Made { func, owner, callee, extends_base, name: text, new };
        self.methods(written, made)
    }

    /// The function that gives the code of a generated one, under a name of its own.
    pub(super) fn code_generator(&mut self, id: ExprId, name: Symbol) -> Option<MethodDef> {
        let mut methods = self.definition(id, None);
        let mut method = methods.pop()?;
        method.head.callee = Callee::Function(name);
        Some(method)
    }

    fn definition_callee(&mut self, name: ExprId) -> Option<(Callee, bool, Owner, Symbol)> {
        match self.ast.kind(name) {
            Kind::Name(symbol) if self.structs.contains(&symbol) => {
                let ty = self.named_type(symbol, self.loc(name));
                Some((Callee::Type(ty), false, Owner::None, symbol))
            }
            Kind::Name(symbol) => Some((Callee::Function(symbol), false, Owner::None, symbol)),
            Kind::Colon => {
                let name = self.names.colon;
                Some((Callee::Function(name), false, Owner::None, name))
            }
            Kind::Field { base, name: symbol } => match self.ast.kind(base) {
                Kind::Name(module) if crate::definition::is_library(self.text(module)) => {
                    Some((Callee::Function(symbol), true, Owner::None, symbol))
                }
                Kind::Name(module) if self.text(module) == "Main" => {
                    Some((Callee::Function(symbol), false, Owner::None, symbol))
                }
                _ => {
                    let path = self.module_path(base);
                    let Some(path) = path else {
                        self.error(name, "expected the name of a function", "of a module");
                        return None;
                    };
                    let path = self.ctx.symbol(&format!("{path}.{}", self.text(symbol)));
                    Some((Callee::Function(path), false, Owner::None, symbol))
                }
            },
            Kind::Curly { base, .. } => {
                let shown = match self.ast.kind(base) {
                    Kind::Name(shown) => shown,
                    _ => self.names.ty,
                };
                let ty = self.type_expr(name);
                Some((Callee::Type(ty), false, Owner::None, shown))
            }
            Kind::Typed { value, ty } => {
                if let Kind::Curly { base, params } = self.ast.kind(ty)
                    && value.is_none()
                    && self.ast.kind(base) == Kind::Name(self.names.ty)
                    && let &[of] = self.ast.list(params)
                {
                    let shown = self.shown(of);
                    return Some((Callee::Type(self.type_expr(of)), false, Owner::None, shown));
                }
                let shown = self.shown(ty);
                let ty = self.type_expr(ty);
                Some((Callee::Instance(ty), false, Owner::Instance(value), shown))
            }
            Kind::Error => None,
            _ => {
                self.error(name, "expected the name of a function", "this is none");
                None
            }
        }
    }

    /// The name of a type, for the name of the code.
    fn shown(&self, ty: ExprId) -> Symbol {
        match self.ast.kind(ty) {
            Kind::Name(name) => name,
            Kind::Curly { base, .. } => self.shown(base),
            _ => self.names.ty,
        }
    }

    pub(super) fn struct_decl(&mut self, id: ExprId) -> Option<StructDecl> {
        let Kind::Struct { name, params, supertype, mutable, fields } = self.ast.kind(id) else {
            return None;
        };
        self.structs.insert(name);
        self.fewest_given = usize::MAX;
        let mut decl = StructDecl {
            name,
            params: in_order(self.statics(params)),
            supertype: supertype.map(|ty| self.type_expr(ty)),
            mutable,
            fields: Vec::new(),
            fixed: Vec::new(),
            given: usize::MAX,
            constructors: Vec::new(),
            space: self.options.space,
            loc: self.loc(id),
        };
        for &field in self.ast.list(fields) {
            let (mut field, mut fixed) = (field, false);
            while let Kind::Const(inner) = self.ast.kind(field) {
                (field, fixed) = (inner, true);
            }
            let (symbol, ty) = match self.ast.kind(field) {
                Kind::Name(name) => (name, self.any_type()),
                Kind::Typed { value: Some(value), ty } => match self.ast.kind(value) {
                    Kind::Name(name) => (name, self.type_expr(ty)),
                    _ => {
                        self.error(field, "expected a field such as `x::T`", "");
                        continue;
                    }
                },
                Kind::Function { name: function, .. } => {
                    if self.constructs(function, name) {
                        let methods = self.definition(field, Some(name));
                        decl.constructors.extend(methods);
                    } else {
                        let message =
                            format!("only constructors of `{}` are defined here", self.text(name));
                        self.error(function, message, "");
                    }
                    continue;
                }
                Kind::Str(_) | Kind::Error => continue,
                _ => {
                    self.error(field, "expected a field or a constructor", "");
                    continue;
                }
            };
            if decl.fields.iter().any(|&(other, _)| other == symbol) {
                let message = format!("two fields have the name `{}`", self.text(symbol));
                self.error(field, message, "the second");
            }
            decl.fields.push((symbol, ty));
            if fixed {
                decl.fixed.push(symbol);
            }
        }
        decl.given = self.fewest_given.min(decl.fields.len());
        Some(decl)
    }

    fn constructs(&self, function: ExprId, name: Symbol) -> bool {
        match self.ast.kind(function) {
            Kind::Name(other) => other == name,
            Kind::Curly { base, .. } => self.ast.kind(base) == Kind::Name(name),
            Kind::Error => true,
            _ => false,
        }
    }

    pub(super) fn abstract_decl(&mut self, id: ExprId) -> Option<AbstractDecl> {
        let Kind::Abstract { name, params, supertype } = self.ast.kind(id) else { return None };
        Some(AbstractDecl {
            name,
            params: in_order(self.statics(params)),
            supertype: supertype.map(|ty| self.type_expr(ty)),
            space: self.options.space,
            loc: self.loc(id),
        })
    }
}
