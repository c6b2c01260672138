//! The adjoints of calls: the reverse parts of the callees.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, data};
use regraft_ir::{Constant, Operand, Type, TypeKind, Value};

use super::super::augment::{CheckpointedSteps, RecomputedCall};
use super::super::backward::Backward;
use super::super::driver::Pair;
use crate::tangent_builder::{self as build, TangentKind};

impl Backward<'_, '_> {
    /// Runs the forward part of a call that was made without one, then its reverse part.
    pub(super) fn emit_recomputed_adjoint(&mut self, v: Value, call: &RecomputedCall) {
        let RecomputedCall { pair, args, given, shadows } = call;
        let mut all = Vec::with_capacity(given.len() + shadows.len());
        for &operand in given.iter().chain(shadows) {
            all.push(self.primal(operand));
        }
        let callee = self.constant(Constant::Func(pair.forward));
        let triple = self.emit(core::call(callee, all, pair.forward_type));
        if self.input.activity.has_shadow(v) {
            let (new, old) = (self.part(triple, 1), self.shadow(v.into()));
            self.emit(ad::accumulate(new, old));
        }
        let tape = self.part(triple, 2);
        self.emit_call_adjoint(v, pair, tape, args);
    }

    /// Emits the adjoint of the steps of a loop, with those that have to be made again.
    pub(super) fn emit_checkpointed_adjoint(&mut self, v: Value, steps: &CheckpointedSteps) {
        let CheckpointedSteps { pair, args, shadows, saved } = steps;
        let state = pair.result;
        let states = build::part_types(&self.ctx, state).len();
        let types = &mut self.driver.types;
        let (shadow_type, has_shadow) = (types.shadow(state), types.has_shadow(state));
        let here: Vec<Operand> = args.iter().map(|&arg| self.primal(arg)).collect();
        let first = self.emit(core::tuple(here[1..=states].iter().copied()));
        let seed = if has_shadow && self.input.activity.has_shadow(v) {
            self.shadow(v.into())
        } else {
            self.zero_shadow(first, state, shadow_type)
        };
        let cotangent = self.call_seed(v, state);
        let total_type = match self.ctx.kind(pair.reverse_type) {
            TypeKind::Tuple(parts) => parts[2],
            _ => Type::UNIT,
        };
        let zero = self.zero(total_type);
        let saved = self.primal(*saved);
        let mut all = vec![here[0], first, saved, seed, cotangent, zero];
        all.extend_from_slice(&here[1 + states..]);
        for &shadow in shadows[states..].iter().flatten() {
            all.push(self.primal(shadow));
        }
        let callee = self.constant(Constant::Func(pair.reverse));
        let back = self.emit(core::call(callee, all, pair.reverse_type));
        let (before, adjoint, total) = (self.part(back, 0), self.part(back, 1), self.part(back, 2));
        let (mut to, mut from) = (Vec::new(), Vec::new());
        for (i, shadow) in shadows[..states].iter().enumerate() {
            if let Some(shadow) = shadow.filter(|_| pair.active[i]) {
                let (old, new) = (self.primal(shadow), self.part(before, i));
                // If there was no step to make, they are the same.
                let zero = self.constant(Constant::I64(0));
                let some = self.emit(arith::gt(here[0], zero));
                let none = self.emit(ad::zero(old, self.type_of(old)));
                from.push(self.emit(core::select(some, new, none)));
                to.push(old);
            }
        }
        if !to.is_empty() {
            // At once, since the same array may be handed on twice.
            let (to, from) = (self.emit(core::tuple(to)), self.emit(core::tuple(from)));
            self.emit(ad::accumulate(to, from));
        }
        for (i, &arg) in args[1..].iter().enumerate() {
            if !pair.active[i] {
                continue;
            }
            if self.input.activity.is_varied(arg) && self.driver.types.has_cotangent(pair.params[i])
            {
                let part =
                    if i < states { self.part(adjoint, i) } else { self.part(total, i - states) };
                let part = self.coerce(part, pair.params[i], self.primal_type(arg));
                self.accumulate(arg, part);
            }
        }
    }

    /// A shadow of zeros, of a value of the reverse sweep of a type.
    fn zero_shadow(&mut self, v: Operand, ty: Type, shadow: Type) -> Operand {
        if !self.driver.types.has_shadow(ty) {
            return self.zero(shadow);
        }
        let (of, kind) = (self.driver.types.of(ty), TangentKind::of(&mut self.driver.types, ty));
        build::zero_shadow(of, kind, v, &mut |inst| self.emit(inst))
    }

    /// The cotangent of the result of a call as one of type `ty`.
    fn call_seed(&mut self, v: Value, ty: Type) -> Operand {
        match self.consume(v) {
            Some(adjoint) => self.coerce(adjoint, self.primal_type(v), ty),
            None => {
                let zero = self.driver.types.cotangent(ty);
                self.zero(zero)
            }
        }
    }

    pub(super) fn emit_call_adjoint(
        &mut self,
        v: Value,
        pair: &Pair,
        tape: Operand,
        args: &[Operand],
    ) {
        let seed = self.call_seed(v, pair.result);
        let callee = self.constant(Constant::Func(pair.reverse));
        let back = self.emit(core::call(callee, [tape, seed], pair.reverse_type));
        for (i, &arg) in args.iter().enumerate() {
            if pair.active[i]
                && self.input.activity.is_varied(arg)
                && self.driver.types.has_cotangent(pair.params[i])
            {
                let part = self.part(back, i);
                let part = self.coerce(part, pair.params[i], self.primal_type(arg));
                self.accumulate(arg, part);
            }
        }
    }

    pub(super) fn emit_rule_adjoint(
        &mut self,
        v: Value,
        pullback: Operand,
        args: &[Operand],
        closure: bool,
    ) {
        let ty = self.primal_type(v);
        let of = self.driver.types.of(ty);
        let kind = TangentKind::of(&mut self.driver.types, ty);
        let adjoint = self.consume(v);
        let has_shadow = self.input.activity.has_shadow(v);
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
            build::join_parts(&ctx, of, kind, shadow, cotangent, &mut |inst| self.emit(inst));
        let called = self.driver.call_type(self.primal_type(pullback));
        let pullback = self.primal(pullback);
        let back = self.emit(core::apply(pullback, [seed], called));
        let first = usize::from(!closure);
        for (i, &arg) in args.iter().enumerate() {
            if !self.input.activity.is_active(arg) {
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
            if self.input.activity.has_shadow(arg) {
                let shadow = self.shadow(arg);
                self.emit(ad::accumulate(shadow, part));
            }
            if self.input.activity.is_varied(arg) {
                let want = self.driver.types.cotangent(self.primal_type(arg));
                let part = if have == want {
                    part
                } else {
                    let boxed = self.emit(ad::cotangent(part, Type::ANY));
                    if want == Type::ANY { boxed } else { self.emit(ad::unbox(boxed, want)) }
                };
                self.accumulate(arg, part);
            }
        }
    }

    pub(super) fn emit_dynamic_adjoint(&mut self, v: Value, pullback: Operand, args: &[Operand]) {
        let seed = self.call_seed(v, Type::ANY);
        let pullback = self.primal(pullback);
        let first = self.constant(Constant::I64(1));
        let back = self.emit(data::getfield(pullback, first));
        let all = self.emit(core::apply(back, [pullback, seed], Type::ANY));
        for (i, &arg) in args.iter().enumerate() {
            if self.input.activity.is_varied(arg) {
                let index = self.constant(Constant::I64(i as i64 + 1));
                let part = self.emit(data::getfield(all, index));
                let part = self.coerce(part, Type::ANY, self.primal_type(arg));
                self.accumulate(arg, part);
            }
        }
    }
}
