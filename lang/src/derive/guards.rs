//! Guesses of types in what is differentiated: calls that are resolved when the program runs become
//! branches on the types that are likely, with direct calls behind them.
//!
//! ```text
//!                                               %4: bool = core.isa %1, !f64
//!                                               br %4, ^2, ^3
//!                                             ^2:
//! %3: any = core.apply @"*", %1, 0.5    =>      %5: f64 = core.typeassert %1
//!                                               %6: f64 = call @"*(Float64, Float64)"(%5, 0.5)
//!                                               %7: any = core.convert %6
//!                                               br ^4(%7)
//!                                             ^3:
//!                                               %3: any = core.apply @"*", %1, 0.5
//!                                               br ^4(%3)
//!                                             ^4(%8: any):
//! ```
//!
//! The guess is that of C. Chambers and D. Ungar ("Making Pure Object-Oriented Languages Practical",
//! OOPSLA 1991) made beforehand: what functions of the prelude are called with next to numbers are
//! floats, or an integer; and where one argument decides between few methods, it is one of their
//! types. The direct call is differentiated with all that is known of it: nothing of it is boxed, and
//! what is kept for the way back has a type.
//!
//! # Why it is right
//! The method for exact types is the one that the running program would find, and the derivative
//! depends on that answer. All other types go the old way.
//!
//! # Cost
//! Linear in the number of calls; a call becomes at most [`MAX_TYPES`] direct ones.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{Constant, FuncId, IrResult, Module, Operand, Type, TypeKind, Value};
use smallvec::SmallVec;

use super::deriver::Deriver;
use crate::definition::Space;
use crate::world::{SpecId, Ty};

/// The most types that are guessed of one argument.
const MAX_TYPES: usize = 4;
/// The most arguments of one call that are guessed.
const MAX_ARGUMENTS: usize = 3;
/// In larger modules calls stay what they are.
const MAX_CALLS: usize = 256;

/// A direct call for arguments of these types.
struct Guess {
    /// The arguments, from 0, that have to be of a type.
    types: SmallVec<[(usize, Type); MAX_ARGUMENTS]>,
    function: SpecId,
}

impl Deriver<'_> {
    /// Guesses the types of arguments of calls. Whether there were any to be guessed.
    pub(super) fn guess_types(&mut self, module: &mut Module, from: SpecId) -> IrResult<bool> {
        let mut pending: Vec<FuncId> = module.ids().to_vec();
        let mut count = 0;
        while let Some(id) = pending.pop() {
            let Some(f) = module.get(id) else { continue };
            let is_call = |&v: &Value| f.op(v) == Some(core::APPLY) && f.ty(v) == Type::ANY;
            let calls: Vec<Value> = f.all_insts().filter(is_call).collect();
            for v in calls {
                let Some(f) = module.get(id) else { break };
                let operands: SmallVec<[Operand; 6]> = f.operands(v).collect();
                let types: SmallVec<[Type; 6]> =
                    operands.iter().map(|&operand| f.operand_type(operand)).collect();
                let Some(callee) = f.const_func(operands[0]) else { continue };
                let callee = self.ctx().ty(TypeKind::Fn(callee));
                if count == MAX_CALLS {
                    return Ok(count > 0);
                }
                let guesses = self.guesses(callee, &types[1..], from);
                if guesses.is_empty() {
                    continue;
                }
                count += 1;
                for guess in &guesses {
                    self.add_function(module, guess.function, &mut pending)?;
                }
                self.branch(module, id, v, &guesses)?;
            }
        }
        Ok(count > 0)
    }

    /// Guesses the types of the arguments of a call, and finds what it runs then.
    fn guesses(&mut self, callee: Type, types: &[Type], from: SpecId) -> Vec<Guess> {
        let unknown: SmallVec<[usize; MAX_ARGUMENTS]> =
            (0..types.len()).filter(|&i| types[i] == Type::ANY).collect();
        let others = types.iter().filter(|&&ty| ty != Type::ANY);
        let is_exact = |&ty: &Type| self.partials.is_exact(self.partials.of_type(ty));
        if unknown.is_empty() || unknown.len() > MAX_ARGUMENTS || !others.clone().all(is_exact) {
            return Vec::new();
        }
        let numbers = types.iter().all(|ty| *ty == Type::ANY || ty.is_scalar());
        let mut guesses = Vec::new();
        if let &[only] = &*unknown {
            for ty in self.types_that_decide(callee, types.len(), only) {
                guesses.extend(self.guess(callee, types, &[(only, ty)], from));
            }
        }
        if guesses.is_empty() && numbers {
            // Numbers are floats; one that is not is mostly an integer that is yet to become one.
            let kinds = if unknown.len() == 1 { &[Type::F64, Type::I64][..] } else { &[Type::F64] };
            for &kind in kinds {
                let numbers: SmallVec<[_; 3]> = unknown.iter().map(|&i| (i, kind)).collect();
                let found = self.guess(callee, types, &numbers, from);
                guesses.extend(found.filter(|guess| {
                    let result = self.signature(guess.function).result;
                    self.spec(guess.function).space == Space::Base && result.is_scalar()
                }));
            }
        }
        guesses
    }

    /// The structs that the methods of a function are for at a position, if all are for one.
    fn types_that_decide(&mut self, callee: Type, count: usize, position: usize) -> Vec<Type> {
        let mut types = Vec::new();
        self.world.know_methods(callee, &[]);
        for method in self.world.methods_of(callee) {
            match method.param_type(count, position) {
                None => {}
                Some(&Ty::Concrete(ty)) if self.ctx().struct_of(ty).is_some() => types.push(ty),
                Some(_) => return Vec::new(),
            }
        }
        if types.len() > MAX_TYPES { Vec::new() } else { types }
    }

    fn guess(
        &mut self,
        callee: Type,
        types: &[Type],
        guessed: &[(usize, Type)],
        from: SpecId,
    ) -> Option<Guess> {
        let mut types: SmallVec<[Type; 6]> = types.iter().copied().collect();
        for &(i, ty) in guessed {
            types[i] = ty;
        }
        let function = self.specialize_within(callee, &types, Some(from)).ok()?;
        let spec = self.spec(function);
        if !spec.is_done() || spec.fixed.is_some() || spec.takes_callee {
            return None;
        }
        let signature = self.signature(function);
        let fits = signature.params == *types && signature.result != Type::NEVER;
        if fits {
            self.world.depend(from, function);
        }
        fits.then(|| Guess { types: guessed.iter().copied().collect(), function })
    }

    /// Adds a function to a module, with all that it calls.
    pub(super) fn add_function(
        &mut self,
        module: &mut Module,
        function: SpecId,
        added: &mut Vec<FuncId>,
    ) -> IrResult<()> {
        let name = self.name_of(function);
        if module.find(name).is_some() {
            return Ok(());
        }
        let more = self.module_of(function);
        for &(id, _) in more.structs() {
            let _ = module.adopt_struct(id);
        }
        for function in more.functions() {
            if module.find(function.name()).is_none() {
                added.push(module.add(function.clone())?);
            }
        }
        Ok(())
    }

    /// Puts branches in the place of a call.
    fn branch(
        &mut self,
        module: &mut Module,
        id: FuncId,
        v: Value,
        guesses: &[Guess],
    ) -> IrResult<()> {
        const NONE: [Operand; 0] = [];
        let ctx = Arc::clone(self.ctx());
        let Some(f) = module.get_mut(id) else { return Ok(()) };
        let loc = f.loc(v);
        let operands: Vec<Operand> = f.operands(v).collect();
        let mut block = f.block_of(v);
        // The call stays alone in its block.
        let slow = f.split_block(v)?;
        let next = f.next_inst(v).unwrap_or(Value::terminator(slow));
        let after = f.split_block(next)?;
        let joined = f.add_param(after, Type::ANY, |_| Some(v))?;
        f.replace_uses_if(v, joined, |_, by| by.user != Value::terminator(slow))?;
        for guess in guesses {
            let signature = self.signature(guess.function);
            let name = self.name_of(guess.function);
            let fast = f.add_block_after(block)?;
            let mut condition: Option<Operand> = None;
            let mut args = operands[1..].to_vec();
            for &(i, ty) in &guess.types {
                let wanted = ctx.constant_id(Constant::Type(ty));
                let is = f.push(block, core::isa(args[i], wanted).at(loc))?;
                condition = Some(match condition {
                    Some(before) => f.push(block, regraft_dialects::arith::and(before, is))?.into(),
                    None => is.into(),
                });
                args[i] = f.push(fast, core::typeassert(args[i], ty).at(loc))?.into();
            }
            let callee = ctx.constant_id(Constant::Func(name));
            let mut result = f.push(fast, core::call(callee, args, signature.result).at(loc))?;
            if signature.result != Type::ANY {
                result = f.push(fast, core::convert(result, Type::ANY).at(loc))?;
            }
            f.set_terminator(fast, cf::br(after, [result]))?;
            let otherwise = f.add_block_after(fast)?;
            let Some(condition) = condition else { continue };
            f.set_terminator(block, cf::br_if(condition, fast, NONE, otherwise, NONE))?;
            block = otherwise;
        }
        f.set_terminator(block, cf::jump(slow))
    }
}
