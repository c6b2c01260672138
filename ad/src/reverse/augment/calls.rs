//! Calls in the forward sweep: those of forward parts, of functions that are run again on the way
//! back, of rules, and of what is known only when the program runs.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, data};
use regraft_ir::{Block, Constant, Diagnostic, Function, Operand, Symbol, Type, Value};
use regraft_passes::analysis::may_reach_objects;

use super::super::checkpoint::binomial::save_one;
use super::super::driver::Pair;
use super::super::tape_plan::place_after;
use super::{ActionKind, Augment, CheckpointedSteps, RecomputedCall};
use crate::calls::{Mode, Target, call_site};
use crate::tangent_builder as build;

impl Augment<'_, '_> {
    pub(super) fn call(&mut self, block: Block, v: Value) -> Result<(), Diagnostic> {
        let operands: Vec<Operand> = self.out.f.operands(v).collect();
        let is_active = self.activity.is_active_call(&self.out.f, v);
        let site = call_site(self.driver.module, &self.out.f, v, Mode::Reverse);
        if !is_active || site.target == Target::Constant {
            // What it gives may have something active put into it later.
            return self.new_result_shadow(v);
        }
        let args = operands[site.first..].to_vec();
        match site.target {
            Target::Constant => Ok(()),
            Target::Refused(why) => self.refuse(v, &why),
            Target::Function(callee) => {
                let name =
                    self.driver.module.get(callee).map_or(self.ctx.symbol(""), Function::name);
                if site.is_recomputed {
                    self.recompute_call(block, v, name, args)
                } else if self.driver.checkpointed.contains_key(&name) {
                    self.call_checkpointed(block, v, name, args)
                } else {
                    self.call_function(block, v, name, args)
                }
            }
            Target::Rule(rule) => {
                let rule = self.driver.module.get(rule).map_or(self.ctx.symbol(""), Function::name);
                self.call_rule(block, v, rule, args, site.first == 0)
            }
            Target::Dynamic => self.call_dynamic(block, v, operands),
        }
    }

    /// The shadows of active arguments that have one, as the forward part of the callee takes them.
    fn argument_shadows(
        &mut self,
        v: Value,
        pair: &Pair,
        args: &[Operand],
    ) -> Result<Vec<Operand>, Diagnostic> {
        let mut shadows = Vec::new();
        for (i, &arg) in args.iter().enumerate() {
            if pair.active[i] && self.driver.types.has_shadow(pair.params[i]) {
                shadows.push(self.argument_shadow(v, pair.params[i], arg)?);
            }
        }
        Ok(shadows)
    }

    /// The shadow of an argument for a parameter of type `ty` that has one. The callee adds to it what belongs to
    /// objects that have none here, where nobody asks for it: those that chunks only read, beside numbers with a
    /// derivative, and those that steps of a loop put something into.
    fn argument_shadow(&mut self, v: Value, ty: Type, arg: Operand) -> Result<Operand, Diagnostic> {
        let want = self.driver.types.shadow(ty);
        match (self.known_shadow(arg), arg.as_value()) {
            (None, Some(object)) => {
                let shadow = self.zero_shadow(object, v)?;
                self.as_type(shadow, want, v)
            }
            _ => self.shadow_for(arg, want, v),
        }
    }

    /// The derivative of a callee; `combined` as in [`Driver::pair`](super::super::driver::Driver::pair).
    fn pair_for(
        &mut self,
        v: Value,
        name: Symbol,
        args: &[Operand],
        combined: bool,
    ) -> Option<Pair> {
        let active: Vec<bool> = args.iter().map(|&arg| self.activity.is_active(arg)).collect();
        let loc = self.out.f.loc(v);
        let pair = self.driver.pair(name, &active, combined, loc);
        self.driver.noted(pair)
    }

    /// Notes that the call `v` has no derivative, and goes on as if its result were constant.
    fn refuse(&mut self, v: Value, why: &str) -> Result<(), Diagnostic> {
        let loc = self.out.f.loc(v);
        self.driver.report(why, loc);
        self.new_result_shadow(v)
    }

    fn call_function(
        &mut self,
        block: Block,
        v: Value,
        name: Symbol,
        args: Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        let Some(pair) = self.pair_for(v, name, &args, self.tbr.is_stable(v)) else {
            return self.new_result_shadow(v);
        };
        let shadows = self.argument_shadows(v, &pair, &args)?;
        let all = args.iter().copied().chain(shadows);
        let callee = self.ctx.constant_id(Constant::Func(pair.forward));
        let triple = self.before(v, core::call(callee, all, pair.forward_type))?;
        let tape = self.take_triple(v, triple)?;
        self.note(block, v, ActionKind::Call { pair: Box::new(pair), tape, args: args.into() });
        Ok(())
    }

    /// Puts the first of three results in the place of `v`, makes the second its shadow, and returns
    /// the third.
    fn take_triple(&mut self, v: Value, triple: Operand) -> Result<Operand, Diagnostic> {
        let ctx = Arc::clone(&self.ctx);
        let index = |i: i64| ctx.constant_id(Constant::I64(i));
        let tape = self.before(v, core::get(triple, index(3)))?;
        if self.activity.has_shadow(v) {
            let shadow = self.before(v, core::get(triple, index(2)))?;
            let want = self.driver.types.shadow(self.out.f.ty(v));
            let shadow = self.as_type(shadow, want, v)?;
            self.out.shadows.insert(v, shadow);
        }
        self.become_part(v, triple, 1)?;
        Ok(tape)
    }

    /// Lets `v` be an element of a tuple.
    fn become_part(&mut self, v: Value, tuple: Operand, index: i64) -> Result<(), Diagnostic> {
        let ty = self.out.f.ty(v);
        let index = self.ctx.constant_id(Constant::I64(index));
        let loc = self.out.f.loc(v);
        let part = if self.out.f.operand_type(tuple) == Type::ANY {
            self.before(v, data::getfield(tuple, index))?
        } else {
            self.before(v, core::get(tuple, index))?
        };
        let have = self.out.f.operand_type(part);
        let inst = if have == Type::ANY && ty != Type::ANY {
            core::typeassert(part, ty)
        } else {
            core::convert(part, ty)
        };
        self.out.f.replace(v, inst.at(loc))?;
        Ok(())
    }

    fn recompute_call(
        &mut self,
        block: Block,
        v: Value,
        name: Symbol,
        args: Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        if self.driver.writes_arguments(name)? {
            let message =
                "a function that changes its arguments cannot be run again on the way back";
            return self.refuse(v, message);
        }
        // Both parts run one right after the other.
        let Some(pair) = self.pair_for(v, name, &args, true) else {
            return self.new_result_shadow(v);
        };
        let shadows = self.argument_shadows(v, &pair, &args)?;
        let given = self.as_they_are_now(v, &args)?;
        self.new_result_shadow(v)?;
        self.note(
            block,
            v,
            ActionKind::Recompute(Box::new(RecomputedCall { pair, args, given, shadows })),
        );
        Ok(())
    }

    /// The arguments of the call `v` as they are before it: objects are copied if something that it
    /// reads may be written later.
    fn as_they_are_now(&mut self, v: Value, args: &[Operand]) -> Result<Vec<Operand>, Diagnostic> {
        let mut given = args.to_vec();
        if self.tbr.reads_stay(v) {
            return Ok(given);
        }
        let has_objects =
            |&i: &usize| may_reach_objects(&self.ctx, self.out.f.operand_type(args[i]));
        let objects: Vec<usize> = (0..args.len()).filter(has_objects).collect();
        if objects.is_empty() {
            return Ok(given);
        }
        // All at once: one object may be in several.
        let all = self.before(v, core::tuple(objects.iter().map(|&i| args[i])))?;
        let copies = self.before(v, ad::copy(all, self.out.f.operand_type(all)))?;
        for (at, &i) in objects.iter().enumerate() {
            let index = self.ctx.constant_id(Constant::I64(at as i64 + 1));
            given[i] = self.before(v, core::get(copies, index))?;
        }
        Ok(given)
    }

    /// The shadow of what a call gives that makes none: its cotangent comes to the pullback, or to
    /// what is run again.
    pub(super) fn new_result_shadow(&mut self, v: Value) -> Result<(), Diagnostic> {
        if self.activity.has_shadow(v) {
            let shadow = self.zero_shadow(v, place_after(&self.out.f, v))?;
            self.out.shadows.insert(v, shadow);
        }
        Ok(())
    }

    /// Steps of a loop that was taken out: `args` are their number, the state before them and what
    /// is given to each.
    fn call_checkpointed(
        &mut self,
        block: Block,
        v: Value,
        name: Symbol,
        args: Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        let given: Vec<bool> = args.iter().map(|&arg| self.activity.is_active(arg)).collect();
        let loc = self.out.f.loc(v);
        let pair = self.driver.checkpointed_pair(name, &given, loc);
        let Some(pair) = self.driver.noted(pair) else { return self.new_result_shadow(v) };
        let repeated = self.driver.checkpointed[&name].clone();
        let mut held = Vec::with_capacity(repeated.saved.len());
        for &i in &repeated.saved {
            let at = repeated.state.len() + i;
            held.push(self.before(v, save_one(&self.ctx.clone(), args[1 + at], pair.params[at]))?);
        }
        let saved = self.before(v, core::tuple(held))?;
        let mut shadows = Vec::with_capacity(pair.params.len());
        for (i, &arg) in args[1..].iter().enumerate() {
            let has_shadow = pair.active[i] && self.driver.types.has_shadow(pair.params[i]);
            shadows.push(match has_shadow && arg.as_value().is_some() {
                true => Some(self.argument_shadow(v, pair.params[i], arg)?),
                false => None,
            });
        }
        if self.activity.has_shadow(v) {
            let shadow = self.checkpointed_shadow(v, &args, &shadows)?;
            self.out.shadows.insert(v, shadow);
        }
        self.note(
            block,
            v,
            ActionKind::Checkpointed(Box::new(CheckpointedSteps { pair, args, shadows, saved })),
        );
        Ok(())
    }

    /// The shadow of the state after some steps: of new arrays, or, if there is no step to make, that of
    /// the state before them.
    fn checkpointed_shadow(
        &mut self,
        v: Value,
        args: &[Operand],
        shadows: &[Option<Operand>],
    ) -> Result<Operand, Diagnostic> {
        let after = place_after(&self.out.f, v);
        let new = self.zero_shadow(v, after)?;
        let ty = self.out.f.operand_type(new);
        let zero = self.ctx.constant_id(Constant::I64(0));
        let some = self.before(after, arith::gt(args[0], zero))?;
        let mut parts = Vec::new();
        for (i, part) in build::part_types(&self.ctx, ty).into_iter().enumerate() {
            let index = self.ctx.constant_id(Constant::I64(i as i64 + 1));
            let mut found = self.before(after, core::get(new, index))?;
            if let Some(old) = shadows[i].filter(|_| part != Type::UNIT) {
                found = self.before(after, core::select(some, found, old))?;
            }
            parts.push(found);
        }
        self.before(after, core::tuple(parts))
    }

    fn call_rule(
        &mut self,
        block: Block,
        v: Value,
        rule: Symbol,
        args: Vec<Operand>,
        closure: bool,
    ) -> Result<(), Diagnostic> {
        let ty = self.driver.return_type(rule).unwrap_or(Type::ANY);
        let callee = self.ctx.constant_id(Constant::Func(rule));
        let both = self.before(v, core::call(callee, args.iter().copied(), ty))?;
        let two = self.ctx.constant_id(Constant::I64(2));
        let pullback = if ty == Type::ANY {
            self.before(v, data::getfield(both, two))?
        } else {
            self.before(v, core::get(both, two))?
        };
        let pullback = self.as_it_is_now(v, pullback)?;
        self.become_part(v, both, 1)?;
        self.new_result_shadow(v)?;
        self.note(block, v, ActionKind::Rule { pullback, args: args.into(), closure });
        Ok(())
    }

    /// A pullback that sees the objects it refers to as they are after the call `v`: a copy, if
    /// some of it may be written later.
    fn as_it_is_now(&mut self, v: Value, pullback: Operand) -> Result<Operand, Diagnostic> {
        let ty = self.out.f.operand_type(pullback);
        if self.tbr.operands_stay(v) || !may_reach_objects(&self.ctx, ty) {
            return Ok(pullback);
        }
        self.before(v, ad::copy(pullback, ty))
    }

    fn call_dynamic(
        &mut self,
        block: Block,
        v: Value,
        operands: Vec<Operand>,
    ) -> Result<(), Diagnostic> {
        let Some(name) = self.driver.options.dynamic else {
            let message = "what is called here is known only when the program runs";
            return self.refuse(v, message);
        };
        if self.out.f.op(v) == Some(core::SPLAT) {
            let message = "a call whose number of arguments is known only when the program runs \
                           has no derivative";
            return self.refuse(v, message);
        }
        let mut all = Vec::with_capacity(2 * operands.len());
        for &operand in &operands {
            let want = self.driver.types.shadow(self.out.f.operand_type(operand));
            all.extend([operand, self.shadow_for(operand, want, v)?]);
        }
        let forward = self.ctx.constant_id(Constant::Func(name));
        let triple = self.before(v, core::apply(forward, all, Type::ANY))?;
        let ctx = Arc::clone(&self.ctx);
        let index = |i: i64| ctx.constant_id(Constant::I64(i));
        let pullback = self.before(v, data::getfield(triple, index(3)))?;
        if self.activity.has_shadow(v) {
            let shadow = self.before(v, data::getfield(triple, index(2)))?;
            let want = self.driver.types.shadow(self.out.f.ty(v));
            let shadow = self.as_type(shadow, want, v)?;
            self.out.shadows.insert(v, shadow);
        }
        self.become_part(v, triple, 1)?;
        self.note(block, v, ActionKind::Dynamic { pullback, args: operands.into() });
        Ok(())
    }
}
