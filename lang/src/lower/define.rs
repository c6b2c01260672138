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

/// The parameters of a function as they are written.
#[derive(Clone, Copy, Debug)]
struct Params<'a> {
    /// The parameters with a position, the one for all further arguments included.
    all: &'a [Param],
    /// The parameters that are passed by name.
    keywords: &'a [Param],
}

impl Params<'_> {
    fn has_rest(&self) -> bool {
        self.all.last().is_some_and(|param| param.vararg)
    }

    /// The number of those that take one argument each.
    fn plain(&self) -> usize {
        self.all.len() - usize::from(self.has_rest())
    }

    /// The number of those without default values.
    fn fewest(&self) -> usize {
        let plain = &self.all[..self.plain()];
        plain.len() - plain.iter().filter(|param| param.default.is_some()).count()
    }
}

/// The values that a function begins with.
struct Entered {
    names: SmallVec<[Option<Symbol>; 8]>,
    /// The named tuple of all that is passed by name.
    keywords: Option<Val>,
    /// The callee, where it is a parameter.
    owner: Option<Val>,
    args: Vals,
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

    /// The methods of a function: one for each number of default values that are used; and if there
    /// are parameters with names, as many for calls with such arguments.
    pub(super) fn methods(&mut self, written: Written, made: Made<'_>) -> Vec<MethodDef> {
        let (positional, named) = self.ast.parted(written.params);
        let params = self.params(positional);
        let keywords = self.keyword_params(named);
        let params = Params { all: &params, keywords: &keywords };
        let statics = self.statics(written.wheres);
        let statics = in_order(statics);
        let mut decls: Vec<ParamDecl> = Vec::with_capacity(params.all.len());
        for param in params.all {
            let ty = self.type_or_any(param.ty);
            decls.push(ParamDecl { name: param.name.map(|(name, _)| name), ty });
        }
        let loc = self.loc(written.id);
        let base = self.options.space == Space::Base;
        let (space, inline) = (self.options.space, written.inline);
        let def = |params: Vec<ParamDecl>, vararg, keywords, (body, closures)| {
            let (callee, statics) = (made.callee.clone(), statics.clone());
            let extends_base = made.extends_base || base;
            let head = MethodHead {
                callee,
                keywords,
                extends_base,
                params,
                vararg,
                statics,
                inline,
                space,
                loc,
            };
            MethodDef { head, body, closures, generator: None }
        };
        let all = decls.len();
        let mut defs = Vec::new();
        let forms: &[bool] = if keywords.is_empty() { &[false] } else { &[false, true] };
        for &by_name in forms {
            for given in params.fewest()..params.plain() {
                let code = match self.signatures_only {
                    true => (self.no_code(), Vec::new()),
                    false => self.with_defaults(written, &made, params, given, by_name),
                };
                defs.push(def(decls[..given].to_vec(), false, by_name, code));
            }
            let code = match by_name == keywords.is_empty() {
                _ if self.signatures_only => (self.no_code(), Vec::new()),
                true => self.with_defaults(written, &made, params, all, by_name),
                false => self.full(written, &made, params),
            };
            let is_last = Some(&by_name) == forms.last();
            let decls = if is_last { std::mem::take(&mut decls) } else { decls.clone() };
            defs.push(def(decls, params.has_rest(), by_name, code));
        }
        defs
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
    /// the parameters that are written, the first `given` are parameters of its own; with `by_name`
    /// the named tuple and the callee come before them.
    fn enter_function(
        &mut self,
        made: &Made<'_>,
        params: Params<'_>,
        given: usize,
        by_name: bool,
        at: ExprId,
    ) -> Entered {
        let loc = self.loc(at);
        let mut names: SmallVec<[Option<Symbol>; 8]> = SmallVec::new();
        let mut args = Vals::new();
        let mut keywords = None;
        if by_name {
            names.push(None);
            keywords = Some(self.param_value());
        }
        let owner = match made.owner {
            Owner::None if by_name => {
                names.push(None);
                Some(self.param_value())
            }
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
        for param in &params.all[..given] {
            names.push(param.name.map(|(name, _)| name));
            let value = self.param_value();
            args.push(value);
            self.set_param(param, value);
        }
        for param in params.all[given..].iter().chain(params.keywords) {
            self.set_param(param, Val::UNDEF);
        }
        if let (Owner::Closure(group), Some(owner)) = (made.owner, owner) {
            self.open_closure(group, owner, loc);
        }
        self.enter_scope(self.scopes.funcs[made.func as usize].scope, loc);
        Entered { names, keywords, owner, args }
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

    /// Gives a parameter its value in the function that has begun.
    pub(super) fn write_param(&mut self, id: ExprId, value: Val, loc: Loc) {
        if let Some((_, var)) = self.own_name(id) {
            self.write(var, value, loc);
        }
    }

    /// The method with the code that is written.
    fn full(
        &mut self,
        written: Written,
        made: &Made<'_>,
        params: Params<'_>,
    ) -> (Arc<Function>, Vec<ClosureDef>) {
        let outer = self.begin_code(made.func);
        let (count, by_name) = (params.all.len(), !params.keywords.is_empty());
        let entered = self.enter_function(made, params, count, by_name, written.id);
        if let (Some(keywords), Some(owner)) = (entered.keywords, entered.owner) {
            let loc = self.loc(written.id);
            self.bind_keywords(params.keywords, keywords, owner, loc);
        }
        for (param, &value) in params.all.iter().zip(&entered.args) {
            if let Some(pattern) = param.pattern {
                self.assign_value(pattern, value);
            }
        }
        self.code.returns = written.returns;
        self.code.new = made.new.or(self.code.new);
        self.tail(written.body);
        self.end_code(outer, made.name, &entered.names, written.id)
    }

    /// The method that is called with the first `given` arguments only: it finds the others and
    /// calls the one for all. With all arguments, and none `by_name`, it calls the one for these.
    fn with_defaults(
        &mut self,
        written: Written,
        made: &Made<'_>,
        params: Params<'_>,
        given: usize,
        by_name: bool,
    ) -> (Arc<Function>, Vec<ClosureDef>) {
        let outer = self.begin_code(made.func);
        let loc = self.loc(written.id);
        let entered = self.enter_function(made, params, given, by_name, written.id);
        let mut args = entered.args;
        for param in params.all[..params.plain()].iter().skip(given) {
            let Some(default) = param.default else { continue };
            let value = self.expr(default);
            if let Some((_, id)) = param.name {
                self.write_param(id, value, loc);
            }
            args.push(value);
        }
        let value = match (&made.callee, entered.owner) {
            (_, owner) if given == params.all.len() => {
                let none = self.call(self.names.named, &[], loc);
                let callee = owner.unwrap_or_else(|| self.own_value(written, made));
                match params.has_rest() {
                    true => self.call_with_rest(none, callee, &args, loc),
                    false => self.call_with(none, callee, &args, loc),
                }
            }
            (_, Some(owner)) => match entered.keywords {
                Some(keywords) => self.call_with(keywords, owner, &args, loc),
                None => {
                    args.insert(0, owner);
                    self.code.body.push(core::APPLY, &args, loc)
                }
            },
            (&Callee::Function(name), None) => {
                let name = self.function_name(name, made);
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
        self.end_code(outer, made.name, &entered.names, written.id)
    }

    /// The name by which a method calls the function that it is one of.
    fn function_name(&self, name: Symbol, made: &Made<'_>) -> Symbol {
        match made.extends_base && self.options.space != Space::Base {
            true => self.ctx.symbol(&format!("Base.{}", self.text(name))),
            false => name,
        }
    }

    /// The function or type that a method is of.
    fn own_value(&mut self, written: Written, made: &Made<'_>) -> Val {
        let loc = self.loc(written.id);
        match &made.callee {
            &Callee::Function(name) => {
                let name = self.function_name(name, made);
                self.global(name, loc)
            }
            Callee::Type(ty) => match ty.kind {
                TypeExprKind::Name(name) => self.global(name, loc),
                _ => self.constructed_type(written.id),
            },
            Callee::Instance(_) | Callee::Closure(_) => self.unit(),
        }
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
