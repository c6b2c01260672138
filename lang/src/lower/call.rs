//! Calls.

use regraft_dialects::core;
use regraft_ir::{Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::expr::Vals;
use super::scope::NONE;
use super::ssa::{Special, Val};
use super::{Constructed, Indexed, Lower};
use crate::definition::Space;

/// The callee.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callee {
    /// A function by its name.
    Named(Symbol),
    /// Any value.
    Value(Val),
}

impl Lower<'_> {
    /// `callee(args)`
    pub(super) fn call_expr(&mut self, id: ExprId, callee: ExprId, args: List) -> Val {
        let loc = self.loc(id);
        if let Some(value) = self.special_call(id, callee, args, loc) {
            return value;
        }
        // What is handled here is known, whoever runs the handler.
        if let (Some(error), Kind::Name(name)) = (self.code.caught, self.ast.kind(callee))
            && name == self.names.rethrow
            && self.scopes.refs[callee.index()] == NONE
            && args.is_empty()
        {
            return self.code.body.push(core::RETHROW, &[error], loc);
        }
        let (args, named) = self.ast.parted(args);
        if !named.is_empty() {
            return self.keyword_call(id, callee, args, named);
        }
        match self.callee(callee) {
            Callee::Named(name) if self.has_splat(args) => {
                // The name may be that of a type, or of a variable.
                let callee = self.global(name, loc);
                self.splat(callee, &[], self.ast.list(args), None, loc)
            }
            Callee::Named(name) if self.is_literal_power(name, args) => {
                self.call_list(self.names.literal_power, args, loc)
            }
            Callee::Named(name) => self.call_list(name, args, loc),
            Callee::Value(callee) if self.has_splat(args) => {
                self.splat(callee, &[], self.ast.list(args), None, loc)
            }
            Callee::Value(callee) => {
                let operands = self.values(&[callee], args);
                self.code.body.push(core::APPLY, &operands, loc)
            }
        }
    }

    /// Returns whether a call is `x^-2`, with the exponent in the text, and the power is the
    /// prelude's: then even a whole number has a power to it.
    pub(super) fn is_literal_power(&self, name: Symbol, args: List) -> bool {
        if name != self.names.power || self.names.of_prelude(name) != name {
            return false;
        }
        let &[_, exponent] = self.ast.list(args) else { return false };
        match self.ast.kind(exponent) {
            Kind::Int(n) => n < 0,
            Kind::Call { callee, args } => {
                matches!(self.ast.kind(callee), Kind::Name(name) if name == self.names.minus)
                    && matches!(*self.ast.list(args), [of] if matches!(self.ast.kind(of), Kind::Int(_)))
            }
            _ => false,
        }
    }

    /// Returns the callee of an expression.
    pub(super) fn callee(&mut self, id: ExprId) -> Callee {
        match self.ast.kind(id) {
            Kind::Name(name) if self.scopes.refs[id.index()] == NONE => Callee::Named(name),
            Kind::Colon => Callee::Named(self.names.colon),
            Kind::GlobalRef { module, name } => Callee::Named(self.absolute(module, name)),
            Kind::Field { base, name } => {
                if let Some(name) = self.module_member(base, name) {
                    return Callee::Named(name);
                }
                if let Some(name) = self.op_name(base, name) {
                    return Callee::Named(name);
                }
                Callee::Value(self.expr(id))
            }
            _ => Callee::Value(self.expr(id)),
        }
    }

    /// `arith.add` in the prelude: an op.
    fn op_name(&self, base: ExprId, name: Symbol) -> Option<Symbol> {
        let Kind::Name(dialect) = self.ast.kind(base) else { return None };
        if self.options.space != Space::Base || self.scopes.refs[base.index()] != NONE {
            return None;
        }
        let op = format!("{}.{}", self.text(dialect), self.text(name));
        self.ctx.registry().find(&op).map(|_| self.ctx.symbol(&op))
    }

    /// Calls that are something else.
    fn special_call(&mut self, id: ExprId, callee: ExprId, args: List, loc: Loc) -> Option<Val> {
        match self.ast.kind(callee) {
            Kind::Name(name) if name == self.names.adjoint_mark => {
                let &[arg] = self.ast.list(args) else { return None };
                let arg = self.expr(arg);
                Some(self.syntax(self.names.adjoint, &[arg], loc))
            }
            Kind::Field { base, name }
                if name == self.names.eval
                    && self.options.space != Space::Base
                    && self.module_member(base, name).is_none() =>
            {
                let &[code] = self.ast.list(args) else { return None };
                let module = self.expr(base);
                let code = self.expr(code);
                Some(self.call(name, &[module, code], loc))
            }
            // Each module has its own.
            Kind::Name(name)
                if name == self.names.eval
                    && self.options.space != Space::Base
                    && self.scopes.refs[callee.index()] == NONE =>
            {
                let &[code] = self.ast.list(args) else { return None };
                let module = self.global(self.names.this_module, loc);
                let code = self.expr(code);
                Some(self.call(name, &[module, code], loc))
            }
            Kind::Name(name)
                if name == self.names.new && self.scopes.refs[callee.index()] == NONE =>
            {
                let Constructed { name, applied, func } = self.code.new?;
                if applied.is_some() && func != self.code.func {
                    let message = "`new` without parameters is not supported in a function within";
                    self.error(id, message, "say which parameters: `new{T}`");
                }
                let mut ty = self.global(name, loc);
                if let Some(Kind::Curly { params, .. }) = applied.map(|id| self.ast.kind(id)) {
                    ty = self.apply_type_to(ty, params, loc);
                }
                Some(self.new_object(ty, args, loc))
            }
            Kind::Curly { base, params } if self.code.new.is_some() => {
                match self.ast.kind(base) {
                    Kind::Name(name) if name == self.names.new => {}
                    _ => return None,
                }
                let Constructed { name, .. } = self.code.new?;
                let ty = self.global(name, loc);
                let ty = self.apply_type_to(ty, params, loc);
                Some(self.new_object(ty, args, loc))
            }
            Kind::Error => {
                // Told of already; what the arguments are wrong about is told of as well.
                for &arg in self.ast.list(args) {
                    self.stmt(arg);
                }
                Some(self.unit())
            }
            _ => None,
        }
    }

    fn new_object(&mut self, ty: Val, args: List, loc: Loc) -> Val {
        if self.has_splat(args) {
            let callee = self.func(self.names.new_object);
            return self.splat(callee, &[ty], self.ast.list(args), None, loc);
        }
        self.fewest_given = self.fewest_given.min(self.ast.list(args).len());
        let operands = self.values(&[ty], args);
        self.call(self.names.new_object, &operands, loc)
    }

    /// Calls what an operator or a callee stands for.
    pub(super) fn call_values(&mut self, callee: Callee, args: &[Val], loc: Loc) -> Val {
        match callee {
            Callee::Named(name) => self.call(name, args, loc),
            Callee::Value(callee) => {
                let body = &mut self.code.body;
                let start = body.operands.len();
                body.operands.push(callee);
                body.operands.extend_from_slice(args);
                body.push_from(core::APPLY, Special::None, start, loc)
            }
        }
    }

    /// `call @name(args)`
    pub(super) fn call_list(&mut self, name: Symbol, args: List, loc: Loc) -> Val {
        if self.has_splat(args) {
            let callee = self.func(name);
            return self.splat(callee, &[], self.ast.list(args), None, loc);
        }
        let values = self.values(&[], args);
        self.call(name, &values, loc)
    }

    pub(super) fn has_splat(&self, list: List) -> bool {
        self.ast.list(list).iter().any(|&id| matches!(self.ast.kind(id), Kind::Splat(_)))
    }

    /// `callee(front..., args...)`, where some of `args` are collections whose elements are meant.
    /// With `indexed`, they are indices of that.
    pub(super) fn splat(
        &mut self,
        callee: Val,
        front: &[Val],
        args: &[ExprId],
        indexed: Option<Val>,
        loc: Loc,
    ) -> Val {
        let outer = self.code.indexed;
        let mut operands = Vals::from_slice(&[callee]);
        // Arguments that stand by themselves are wrapped together, up to the next collection.
        let mut single: Vals = front.into();
        for (position, &arg) in args.iter().enumerate() {
            if let Some(base) = indexed {
                self.code.indexed = Some(Indexed { base, position, count: args.len() });
            }
            match self.ast.kind(arg) {
                Kind::Splat(inner) => {
                    let value = self.expr(inner);
                    if !single.is_empty() {
                        operands.push(self.syntax(self.names.tuple, &single, loc));
                        single.clear();
                    }
                    operands.push(value);
                }
                _ => {
                    single.push(self.expr(arg));
                }
            }
        }
        self.code.indexed = outer;
        if !single.is_empty() {
            operands.push(self.syntax(self.names.tuple, &single, loc));
        }
        self.code.body.push(core::SPLAT, &operands, loc)
    }
}
