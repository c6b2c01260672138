//! Comprehensions and generators.
//!
//! `(body for x in xs if c)` is `call @#generator(x -> body, call @#filter(x -> c, xs))`. Several
//! clauses iterate over `call @#product(xs, ys)`, whose items the functions take apart; one `for`
//! after the other is a flattened generator of generators. A comprehension collects them.

use regraft_ir::{Constant, Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};
use smallvec::SmallVec;

use super::Lower;
use super::expr::Vals;
use super::names::name_of;
use super::ssa::Val;
use crate::definition::{Callee, ClosureDef, MethodDef, MethodHead, ParamDecl};

/// The result of a function of a generator.
#[derive(Clone, Copy)]
enum Does<'c> {
    /// An element.
    Body(ExprId),
    /// A condition.
    Filter(ExprId),
    /// A generator over the clauses that follow.
    Rest(ExprId, &'c [ExprId]),
}

impl Lower<'_> {
    pub(super) fn comprehension(
        &mut self,
        id: ExprId,
        ty: Option<ExprId>,
        body: ExprId,
        clauses: List,
        nested: bool,
    ) -> Val {
        let loc = self.loc(id);
        let ty = ty.map(|ty| self.expr(ty));
        let generator = self.generator(id, body, clauses, nested);
        match ty {
            Some(ty) => self.call(self.names.collect, &[ty, generator], loc),
            None => self.call(self.names.collect, &[generator], loc),
        }
    }

    pub(super) fn generator(
        &mut self,
        id: ExprId,
        body: ExprId,
        clauses: List,
        nested: bool,
    ) -> Val {
        self.level(id, body, self.ast.list(clauses), nested)
    }

    /// The generator of the first `for` and all that follows.
    fn level(&mut self, id: ExprId, body: ExprId, clauses: &[ExprId], nested: bool) -> Val {
        let loc = self.loc(id);
        let is_in = |id: &ExprId| matches!(self.ast.kind(*id), Kind::In { .. });
        let count = match clauses.iter().position(|id| !is_in(id)) {
            _ if nested => 1,
            Some(count) => count,
            None => clauses.len(),
        };
        let (ins, rest) = clauses.split_at(count.min(clauses.len()));
        let Some(&first) = ins.first().filter(|id| is_in(id)) else { return self.unit() };
        let filters = rest.iter().position(is_in).unwrap_or(rest.len());
        let (filters, rest) = rest.split_at(filters);
        let func = self.scopes.refs[first.index()];
        let mut targets: SmallVec<[ExprId; 2]> = SmallVec::new();
        let mut iterables = Vals::new();
        for &clause in ins {
            if let Kind::In { target, iterable } = self.ast.kind(clause) {
                targets.push(target);
                iterables.push(self.expr(iterable));
            }
        }
        let mut source = match iterables[..] {
            [one] => one,
            _ => self.call(self.names.product, &iterables, loc),
        };
        for &filter in filters {
            if let Kind::Filter(condition) = self.ast.kind(filter) {
                let test = self.item_function(func, &targets, Does::Filter(condition), filter);
                source = self.call(self.names.filter, &[test, source], loc);
            }
        }
        let does = if rest.is_empty() { Does::Body(body) } else { Does::Rest(body, rest) };
        let function = self.item_function(func, &targets, does, id);
        let generator = self.call(self.names.generator, &[function, source], loc);
        if rest.is_empty() {
            return generator;
        }
        self.call(self.names.flatten, &[generator], loc)
    }

    /// A function of an item: `targets -> …`
    fn item_function(&mut self, func: u32, targets: &[ExprId], does: Does<'_>, at: ExprId) -> Val {
        let loc = self.loc(at);
        let group = self.scopes.funcs[func as usize].group;
        let (name, shown) = self.anonymous();
        let text = self.ctx.str(name);
        let outer = self.begin_code(func);
        let owner = self.param_value();
        let item = self.param_value();
        self.open_closure(group, owner, loc);
        self.enter_scope(self.scopes.funcs[func as usize].scope, loc);
        let param = match targets {
            &[target] => {
                self.assign_value(target, item);
                name_of(self.ast, target)
            }
            _ => {
                for (k, &target) in targets.iter().enumerate() {
                    let k = self.constant(Constant::I64(k as i64 + 1));
                    let part = self.call(self.names.destructure, &[item, k], loc);
                    self.assign_value(target, part);
                }
                None
            }
        };
        match does {
            Does::Body(body) | Does::Filter(body) => self.tail(body),
            Does::Rest(body, rest) => {
                let generator = self.level(at, body, rest, true);
                self.code.body.ret(generator, loc);
            }
        }
        let code = self.end_code(outer, text, &[None, param], at);
        let methods = vec![self.plain_method(name, vec![param], code, loc)];
        self.make(ClosureDef { name, shown, captures: Vec::new(), methods }, group, &[], loc)
    }

    /// A method without types.
    pub(super) fn plain_method(
        &self,
        closure: Symbol,
        params: Vec<Option<Symbol>>,
        (body, closures): (std::sync::Arc<regraft_ir::Function>, Vec<ClosureDef>),
        loc: Loc,
    ) -> MethodDef {
        let decl = |name| ParamDecl { name, ty: self.any_type() };
        let params = params.into_iter().map(decl).collect();
        let head = MethodHead::plain(Callee::Closure(closure), params, self.options.space, loc);
        MethodDef { head, body, closures, generator: None }
    }
}
