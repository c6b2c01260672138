//! Undoes calls, by the reverse parts of what was called.

use std::sync::Arc;

use regraft_dialects::{ad, core, data};
use regraft_ir::{Constant, Operand, Type, Value};

use super::super::backward::Backward;
use super::super::driver::Pair;
use super::super::parts::{self, Cell};

impl Backward<'_, '_> {
    /// Runs the forward part of a call that was made without one, then its reverse part.
    pub(super) fn undo_again(
        &mut self,
        v: Value,
        pair: &Pair,
        args: &[Operand],
        shadows: &[Operand],
    ) {
        let mut all = Vec::with_capacity(args.len() + shadows.len());
        for &operand in args.iter().chain(shadows) {
            all.push(self.primal(operand));
        }
        let callee = self.constant(Constant::Func(pair.forward));
        let triple = self.emit(core::call(callee, all, pair.forward_type));
        if self.plan.activity.has_shadow(v) {
            let (new, old) = (self.part(triple, 1), self.shadow(v.into()));
            self.emit(ad::accumulate(new, old));
        }
        let tape = self.part(triple, 2);
        self.undo_call(v, pair, tape, args);
    }

    /// The cotangent of the result of a call as one of type `ty`.
    fn call_seed(&mut self, v: Value, ty: Type) -> Operand {
        match self.take(v) {
            Some(adjoint) => self.fit(adjoint, self.primal_type(v), ty),
            None => {
                let zero = self.driver.types.cotangent(ty);
                self.zero(zero)
            }
        }
    }

    pub(super) fn undo_call(&mut self, v: Value, pair: &Pair, tape: Operand, args: &[Operand]) {
        let seed = self.call_seed(v, pair.result);
        let callee = self.constant(Constant::Func(pair.reverse));
        let back = self.emit(core::call(callee, [tape, seed], pair.reverse_type));
        for (i, &arg) in args.iter().enumerate() {
            if pair.active[i]
                && self.plan.activity.is_varied(arg)
                && self.driver.types.has_cotangent(pair.params[i])
            {
                let part = self.part(back, i);
                let part = self.fit(part, pair.params[i], self.primal_type(arg));
                self.give(arg, part);
            }
        }
    }

    pub(super) fn undo_rule(
        &mut self,
        v: Value,
        pullback: Operand,
        args: &[Operand],
        closure: bool,
    ) {
        let ty = self.primal_type(v);
        let of = self.driver.types.of(ty);
        let cell = Cell::of(&mut self.driver.types, ty);
        let adjoint = self.take(v);
        let has_shadow = self.plan.activity.has_shadow(v);
        if adjoint.is_none() && !has_shadow {
            return;
        }
        let cotangent = match adjoint {
            Some(adjoint) => adjoint,
            None => self.zero(of.cotangent),
        };
        let shadow = if has_shadow { self.shadow(v.into()) } else { self.zero(of.shadow) };
        let ctx = Arc::clone(&self.ctx);
        let seed =
            parts::join_parts(&ctx, of, cell, shadow, cotangent, &mut |inst| self.emit(inst));
        let called = self.driver.call_type(self.primal_type(pullback));
        let pullback = self.primal(pullback);
        let back = self.emit(core::apply(pullback, [seed], called));
        let first = usize::from(!closure);
        for (i, &arg) in args.iter().enumerate() {
            if !self.plan.activity.is_active(arg) {
                continue;
            }
            let part = if called == Type::ANY {
                let index = self.constant(Constant::I64((i + first) as i64 + 1));
                self.emit(data::getfield(back, index))
            } else {
                self.part(back, i + first)
            };
            let have = self.type_of(part);
            if have == Type::UNIT {
                continue;
            }
            if self.plan.activity.has_shadow(arg) {
                let shadow = self.shadow(arg);
                self.emit(ad::accumulate(shadow, part));
            }
            if self.plan.activity.is_varied(arg) {
                let want = self.driver.types.cotangent(self.primal_type(arg));
                let part = if have == want {
                    part
                } else {
                    let boxed = self.emit(ad::cotangent(part, Type::ANY));
                    if want == Type::ANY { boxed } else { self.emit(ad::unbox(boxed, want)) }
                };
                self.give(arg, part);
            }
        }
    }

    pub(super) fn undo_dynamic(
        &mut self,
        v: Value,
        back: Operand,
        tape: Operand,
        args: &[Operand],
    ) {
        let seed = self.call_seed(v, Type::ANY);
        let (back, tape) = (self.primal(back), self.primal(tape));
        let all = self.emit(core::apply(back, [tape, seed], Type::ANY));
        for (i, &arg) in args.iter().enumerate() {
            if self.plan.activity.is_varied(arg) {
                let index = self.constant(Constant::I64(i as i64 + 1));
                let part = self.emit(data::getfield(all, index));
                let part = self.fit(part, Type::ANY, self.primal_type(arg));
                self.give(arg, part);
            }
        }
    }
}
