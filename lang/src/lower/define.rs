//! Functions: signatures, parameters, default values, bodies; structs.

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Diagnostic, Function, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::expr::Vals;
use super::finish::Shape;
use super::param::Param;
use super::scope::{NONE, VarKind};
use super::ssa::{Special, Val};
use super::{Code, Constructed, Lower};
use crate::definition::{
    Callee, ClosureDef, MethodDef, MethodHead, ParamDecl, Space, StaticDecl, TypeExprKind,
};

/// The owner of a method, for its code.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// A function or a type: the callee is no parameter.
    None,
    /// A value, with the name that it has.
    Instance(Option<ExprId>),
    /// A closure of this group.
    Closure(u32),
}

/// The parts of a function as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) params: List,
    pub(super) wheres: List,
    pub(super) returns: Option<ExprId>,
    pub(super) body: ExprId,
    pub(super) inline: Option<bool>,
    pub(super) id: ExprId,
}

/// A function definition, resolved: the callee and the kind of method.
#[derive(Clone, Debug)]
pub(super) struct Made<'n> {
    /// The index among the scopes' functions.
    pub(super) func: u32,
    pub(super) owner: Owner,
    pub(super) callee: Callee,
    pub(super) extends_base: bool,
    pub(super) name: &'n str,
    pub(super) new: Option<Constructed>,
}

impl Lower<'_> {
    /// Begins the code of a function; [`Lower::end_code`] goes back to the one around.
    pub(super) fn begin_code(&mut self, func: u32) -> Code {
        let mut code = self.pool.pop().unwrap_or_default();
        code.reset(func, self.scopes.vars.len());
        code.new = self.code.new;
        std::mem::replace(&mut self.code, code)
    }

    /// Ends it.
    pub(super) fn end_code(
        &mut self,
        outer: Code,
        name: &str,
        params: &[Option<Symbol>],
        at: ExprId,
    ) -> (Arc<Function>, Vec<ClosureDef>) {
        self.seal_labels();
        let mut code = std::mem::replace(&mut self.code, outer);
        let shape = Shape { name, params, loc: self.loc(at) };
        let function = if self.errors.is_empty() {
            self.finish.function(&mut code.body, &shape)
        } else {
            // It is thrown away, and may be anything.
            Ok(Function::without_entry(self.ctx, name, regraft_ir::Type::ANY))
        };
        let function = function.unwrap_or_else(|error| {
            let span = self.ast.span(at).range();
            let error = Diagnostic::from(error).at(&self.ast.source, span, "");
            self.errors.push(error);
            Function::without_entry(self.ctx, name, regraft_ir::Type::ANY)
        });
        let closures = std::mem::take(&mut code.closures);
        self.pool.push(code);
        (Arc::new(function), closures)
    }

    /// A parameter of the function that begins.
    pub(super) fn param_value(&mut self) -> Val {
        let start = self.code.body.operands.len();
        self.code.body.push_from(core::CALL, Special::Param, start, Loc::UNKNOWN)
    }

    /// The methods of a function: one for each number of default values that are used.
    pub(super) fn methods(&mut self, written: Written, made: Made<'_>) -> Vec<MethodDef> {
        let params = self.params(written.params);
        let vararg = params.last().is_some_and(|param| param.vararg);
        let plain = params.len() - usize::from(vararg);
        let defaults = params[..plain].iter().filter(|param| param.default.is_some()).count();
        let statics = self.statics(written.wheres);
        let statics = in_order(statics);
        let mut decls: Vec<ParamDecl> = Vec::with_capacity(params.len());
        for param in &params {
            let ty = self.type_or_any(param.ty);
            decls.push(ParamDecl { name: param.name.map(|(name, _)| name), ty });
        }
        let loc = self.loc(written.id);
        let base = self.options.space == Space::Base;
        let (space, inline) = (self.options.space, written.inline);
        let def = |params: Vec<ParamDecl>, vararg, (body, closures)| {
            let (callee, statics) = (made.callee.clone(), statics.clone());
            let extends_base = made.extends_base || base;
            let head =
                MethodHead { callee, extends_base, params, vararg, statics, inline, space, loc };
            MethodDef { head, body, closures }
        };
        let given = plain - defaults..plain;
        let codes: Vec<_> = if self.signatures_only {
            vec![(self.no_code(), Vec::new()); 1 + defaults]
        } else {
            let short = given.clone();
            let short = short.map(|n| self.with_defaults(written, &made, &params[..plain], n));
            let mut codes: Vec<_> = short.collect();
            codes.push(self.full(written, &made, &params));
            codes
        };
        let all = decls.len();
        let counts = given.chain([all]).zip(codes);
        counts.map(|(n, code)| def(decls[..n].to_vec(), vararg && n == all, code)).collect()
    }

    /// Returns the function that stands for bodies that are deferred.
    fn no_code(&mut self) -> Arc<Function> {
        let none = || Arc::new(Function::without_entry(self.ctx, "", regraft_ir::Type::ANY));
        Arc::clone(self.no_code.get_or_insert_with(none))
    }

    fn params(&mut self, list: List) -> SmallVec<[Param; 6]> {
        let ids = self.ast.list(list);
        let mut params: SmallVec<[Param; 6]> = SmallVec::new();
        let mut default = false;
        for (i, &id) in ids.iter().enumerate() {
            let param = Param::of(self.ast, id);
            if param.wrong {
                if !matches!(self.ast.kind(id), Kind::Error) {
                    self.error(id, "expected a parameter such as `x` or `x::T`", "this is none");
                }
                continue;
            }
            if param.vararg && i + 1 != ids.len() {
                self.error(id, "only the last parameter takes all further arguments", "");
                continue;
            }
            if param.vararg && param.default.is_some() {
                self.error(id, "a parameter for all further arguments has no default value", "");
            }
            if default && param.default.is_none() && !param.vararg {
                self.error(id, "a parameter without a default value after one that has one", "");
                continue;
            }
            default |= param.default.is_some();
            params.push(param);
        }
        params
    }

    /// Makes the parameters of the function that begins, and what is read from its closure. Of
    /// `params`, the first `given` are parameters of its own.
    fn enter_function(
        &mut self,
        made: &Made<'_>,
        params: &[Param],
        given: usize,
        at: ExprId,
    ) -> (SmallVec<[Option<Symbol>; 8]>, Option<Val>, Vals) {
        let loc = self.loc(at);
        let mut names: SmallVec<[Option<Symbol>; 8]> = SmallVec::new();
        let mut values = Vals::new();
        let owner = match made.owner {
            Owner::None => None,
            Owner::Instance(name) => {
                let value = self.param_value();
                let name = name.and_then(|id| self.own_name(id));
                names.push(name.map(|(name, _)| name));
                if let Some((_, var)) = name {
                    let slot = self.slot(var);
                    self.code.body.set(slot, value);
                }
                Some(value)
            }
            Owner::Closure(_) => {
                names.push(None);
                Some(self.param_value())
            }
        };
        for param in &params[..given] {
            names.push(param.name.map(|(name, _)| name));
            let value = self.param_value();
            values.push(value);
            self.set_param(param, value);
        }
        for param in &params[given..] {
            self.set_param(param, Val::UNDEF);
        }
        if let (Owner::Closure(group), Some(owner)) = (made.owner, owner) {
            self.open_closure(group, owner, loc);
        }
        self.enter_scope(self.scopes.funcs[made.func as usize].scope, loc);
        (names, owner, values)
    }

    fn own_name(&self, id: ExprId) -> Option<(Symbol, u32)> {
        match (self.ast.kind(id), self.scopes.refs[id.index()]) {
            (_, NONE) => None,
            (Kind::Name(name), var) => Some((name, var)),
            _ => None,
        }
    }

    fn set_param(&mut self, param: &Param, value: Val) {
        if let Some((_, id)) = param.name
            && let Some((_, var)) = self.own_name(id)
            && self.scopes.vars[var as usize].kind == VarKind::Param
        {
            let slot = self.slot(var);
            self.code.body.set(slot, value);
        }
    }

    fn full(
        &mut self,
        written: Written,
        made: &Made<'_>,
        params: &[Param],
    ) -> (Arc<Function>, Vec<ClosureDef>) {
        let outer = self.begin_code(made.func);
        let (names, _, values) = self.enter_function(made, params, params.len(), written.id);
        for (param, &value) in params.iter().zip(&values) {
            if let Some(pattern) = param.pattern {
                self.assign_value(pattern, value);
            }
        }
        self.code.returns = written.returns;
        self.code.new = made.new.or(self.code.new);
        self.tail(written.body);
        self.end_code(outer, made.name, &names, written.id)
    }

    /// The method that is called with the first `given` arguments only: it finds the others and
    /// calls the one for all.
    fn with_defaults(
        &mut self,
        written: Written,
        made: &Made<'_>,
        params: &[Param],
        given: usize,
    ) -> (Arc<Function>, Vec<ClosureDef>) {
        let outer = self.begin_code(made.func);
        let loc = self.loc(written.id);
        let (names, owner, mut args) = self.enter_function(made, params, given, written.id);
        for param in &params[given..] {
            let Some(default) = param.default else { continue };
            let value = self.expr(default);
            if let Some((_, id)) = param.name
                && let Some((_, var)) = self.own_name(id)
            {
                self.write(var, value, loc);
            }
            args.push(value);
        }
        let value = match (&made.callee, owner) {
            (_, Some(owner)) => {
                args.insert(0, owner);
                self.code.body.push(core::APPLY, &args, loc)
            }
            (&Callee::Function(name), None) => {
                let name = match made.extends_base && self.options.space == Space::Main {
                    true => self.ctx.symbol(&format!("Base.{}", self.text(name))),
                    false => name,
                };
                self.call(name, &args, loc)
            }
            (Callee::Type(ty), None) => match ty.kind {
                TypeExprKind::Name(name) => self.call(name, &args, loc),
                _ => {
                    let callee = self.constructed_type(written.id);
                    args.insert(0, callee);
                    self.code.body.push(core::APPLY, &args, loc)
                }
            },
            (Callee::Instance(_) | Callee::Closure(_), None) => self.unit(),
        };
        self.code.body.ret(value, loc);
        self.end_code(outer, made.name, &names, written.id)
    }

    /// The value of the type that a constructor is of: `P{T}`, or `T` of `::Type{T}`.
    fn constructed_type(&mut self, id: ExprId) -> Val {
        let Kind::Function { name, .. } = self.ast.kind(id) else { return self.unit() };
        match self.ast.kind(name) {
            Kind::Curly { base, params } => self.apply_type(name, base, params),
            Kind::Typed { value: None, ty } => match self.ast.kind(ty) {
                Kind::Curly { params, .. } => match self.ast.list(params) {
                    &[of] => self.expr(of),
                    _ => self.unit(),
                },
                _ => self.expr(ty),
            },
            _ => self.unit(),
        }
    }
}

/// Type parameters so that each stands after those that its bounds name: outermost first. Where
/// this leaves a choice, the order of the text.
pub(super) fn in_order(statics: Vec<StaticDecl>) -> Vec<StaticDecl> {
    if statics.len() < 2 {
        return statics;
    }
    let mut left: Vec<StaticDecl> = statics;
    let mut out = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let free = left.iter().position(|decl| {
            !left.iter().any(|other| {
                other.name != decl.name
                    && [&decl.lower, &decl.upper]
                        .into_iter()
                        .flatten()
                        .any(|bound| bound.mentions(other.name))
            })
        });
        out.push(left.remove(free.unwrap_or(0)));
    }
    out
}
