//! Checked functions: copies that return errors.

use regraft_dialects::semantics::starts_defined;
use regraft_dialects::{arith, cf, core, data, mem};
use regraft_ir::{
    Block, Constant, Diagnostic, Function, Inst, IrResult, Module, Operand, Symbol, Type, TypeKind,
    Value,
};

use super::{Lowering, delete_unreachable, probe};
use crate::analysis::inst_effects;
use crate::analysis::traps::may_trap;

/// The way in which an instruction that may trap becomes one that does not.
enum Way {
    /// A call of a checked function of one with that result, with the operands from that position on.
    Checked(Symbol, Type, usize),
    /// A call that is told what to call when the program runs.
    Dynamic(Symbol),
    /// The instruction stays, behind a probe.
    Probed,
    /// The instruction is run within a `core.try` of its own.
    Alone,
    /// It throws a value; a string is thrown as what a handler makes of it.
    Throws(Operand),
}

impl Lowering {
    /// Adds the checked function of a function.
    pub(super) fn make_checked(
        &mut self,
        module: &mut Module,
        name: Symbol,
    ) -> Result<(), Diagnostic> {
        let original = module.find(name).and_then(|id| module.get(id));
        let Some(original) = original else { return Ok(()) };
        let mut f = original.clone();
        f.set_name(self.checked[&name]);
        let outcome = self.outcome(f.ret_type());
        let TypeKind::Tuple(parts) = self.ctx.kind(outcome) else { return Ok(()) };
        let result = parts[1];
        let blocks: Vec<Block> = f.blocks().collect();
        f.set_ret_type(outcome);
        let fail = self.failing_block(&mut f, result)?;
        for &block in &blocks {
            self.return_fine(&mut f, block, result)?;
            let insts: Vec<Value> = f.body(block).collect();
            for v in insts.into_iter().rev() {
                if let Some(way) = self.way(module, &f, v) {
                    self.check(module, &mut f, v, &way, fail)?;
                }
            }
        }
        delete_unreachable(&mut f)?;
        module.add(f)?;
        Ok(())
    }

    /// The block that returns an error, its parameter.
    fn failing_block(&self, f: &mut Function, result: Type) -> IrResult<Block> {
        let fail = f.add_block();
        let error = f.append_param(fail, Type::ANY)?;
        let nothing: Operand = match result {
            Type::UNIT => f.constant_id(Constant::Unit).into(),
            result => f.push(fail, core::undef(result))?.into(),
        };
        let no: Operand = f.constant_id(Constant::Bool(false)).into();
        let outcome = f.push(fail, core::tuple([no, nothing, error.into()]))?;
        f.set_terminator(fail, cf::ret(outcome))?;
        Ok(fail)
    }

    /// Makes a block that returns say that all is fine.
    fn return_fine(&self, f: &mut Function, block: Block, result: Type) -> IrResult<()> {
        let term = Value::terminator(block);
        if f.op(term) != Some(cf::RETURN) {
            return Ok(());
        }
        let nothing: Operand = f.constant_id(Constant::Unit).into();
        let (value, loc) = (f.operand(term, 0).unwrap_or(nothing), f.loc(term));
        f.remove_terminator(block)?;
        let value = self.as_type(f, block, value, result)?;
        let none = f.push(block, core::convert(nothing, Type::ANY))?;
        let yes: Operand = f.constant_id(Constant::Bool(true)).into();
        let outcome = f.push(block, core::tuple([yes, value, none.into()]).at(loc))?;
        f.set_terminator(block, cf::ret(outcome).at(loc))
    }

    /// The way to check an instruction, if it may trap.
    fn way(&mut self, module: &Module, f: &Function, v: Value) -> Option<Way> {
        let op = f.op(v)?;
        if matches!(op, core::CALL | core::APPLY | core::SPLAT) {
            return self.way_of_call(module, f, v);
        }
        if matches!(op, core::THROW | core::RETHROW) {
            let error = f.operand(v, 0)?;
            let is_message = f.operand_type(error) == Type::STR;
            return Some(if is_message { Way::Probed } else { Way::Throws(error) });
        }
        if !may_trap(f, v) {
            return None;
        }
        let writes = f.op_def(v)?.effects.writes_anything();
        // Run twice, these do what they do once.
        let again = matches!(op, mem::STORE | mem::FILL_IN_PLACE | mem::COPYTO | mem::RESIZE)
            || matches!(op, mem::REF_SET | data::SETFIELD | core::GLOBAL);
        // Of what it is on typed arrays only memory is too small for.
        let fits = op == mem::PUSH && !f.checks_operands(v);
        match () {
            () if fits => None,
            () if !writes || again => Some(Way::Probed),
            () => Some(Way::Alone),
        }
    }

    fn way_of_call(&mut self, module: &Module, f: &Function, v: Value) -> Option<Way> {
        let op = f.op(v)?;
        let known = match *self.ctx.kind(f.operand_type(f.operand(v, 0)?)) {
            TypeKind::Fn(name) => Some((name, 1)),
            TypeKind::Struct(id) => self.ctx.struct_def(id).call.map(|name| (name, 0)),
            _ => None,
        };
        let known = known.filter(|_| op != core::SPLAT);
        let Some((name, first, callee)) = known.and_then(|(name, first)| {
            Some((name, first, module.find(name).and_then(|id| module.get(id))?))
        }) else {
            return match (known, self.dynamic) {
                // What is made here does not fail.
                (Some((name, _)), _) if self.names.contains(&name) => None,
                (_, Some(dynamic)) if op != core::CALL => Some(Way::Dynamic(dynamic)),
                _ => Some(Way::Alone),
            };
        };
        let fits = callee
            .entry()
            .is_some_and(|entry| callee.param_count(entry) == f.operand_count(v) - first);
        if self.names.contains(&name) || !inst_effects(f, v, &self.summaries).may_trap {
            return None;
        }
        if !fits {
            return Some(Way::Alone);
        }
        let has = |rule| self.ctx.attr(callee.function_attrs(), rule).is_some();
        if has("rrule") || has("frule") {
            // A rule is for the function as it is.
            let summary = self.summaries.of(name);
            let again = !summary.writes_anything() && !summary.observable;
            return Some(if again { Way::Probed } else { Way::Alone });
        }
        let result = callee.ret_type();
        Some(Way::Checked(self.checked(module, name), result, first))
    }

    /// Lets `v`, which throws a value, go to the failing block.
    fn throw(
        &mut self,
        module: &mut Module,
        f: &mut Function,
        v: Value,
        error: Operand,
        fail: Block,
    ) -> IrResult<()> {
        let loc = f.loc(v);
        let thrown = match f.operand_type(error) {
            Type::ANY => error,
            _ => f.insert(v, core::convert(error, Type::ANY).at(loc))?.into(),
        };
        let block = f.block_of(v);
        let rest = f.split_block(v)?;
        if f.operand_type(error) != Type::ANY {
            return f.set_terminator(block, cf::br(fail, [thrown]).at(loc));
        }
        let text: Operand = f.constant_id(Constant::Type(Type::STR)).into();
        f.remove_terminator(block)?;
        let is_message = f.push(block, core::isa(error, text).at(loc))?;
        let no_args: [Operand; 0] = [];
        f.set_terminator(block, cf::br_if(is_message, rest, no_args, fail, [thrown]).at(loc))?;
        self.check(module, f, v, &Way::Probed, fail)
    }

    /// Lets an instruction go to the failing block where it traps.
    fn check(
        &mut self,
        module: &mut Module,
        f: &mut Function,
        v: Value,
        way: &Way,
        fail: Block,
    ) -> IrResult<()> {
        let (ty, loc) = (f.ty(v), f.loc(v));
        let any = Type::ANY;
        let outcome = match way {
            &Way::Throws(error) => return self.throw(module, f, v, error, fail),
            &Way::Checked(name, result, first) => {
                let args: Vec<Operand> = f.operands(v).skip(first).collect();
                let callee = f.constant_id(Constant::Func(name));
                core::call(callee, args, self.outcome(result))
            }
            &Way::Dynamic(name) => {
                let outcome = self.outcome(any);
                let callee: Operand = f.constant_id(Constant::Func(name)).into();
                let mut operands: Vec<Operand> = f.operands(v).collect();
                if f.op(v) == Some(core::SPLAT) {
                    let of = f.insert(v, core::tuple([operands[0]]).at(loc))?;
                    operands[0] = of.into();
                    Inst::new(core::SPLAT).operand(callee).operands(operands).with_type(outcome)
                } else {
                    Inst::new(core::APPLY).operand(callee).operands(operands).with_type(outcome)
                }
            }
            Way::Probed => {
                let probe = self.probes.probe(module, f, v)?;
                let given = probe::values(f, v);
                let outcome = self.ctx.ty(TypeKind::Tuple(Box::new([Type::BOOL, any])));
                core::call(f.constant_id(Constant::Func(probe)), given, outcome)
            }
            Way::Alone => {
                let outcome = self.outcome(ty);
                let names = self.probes.alone(module, f, v, outcome)?;
                let names = names.map(|name| Operand::from(f.constant_id(Constant::Func(name))));
                let operands = names.into_iter().chain(probe::values(f, v));
                Inst::new(core::TRY).operands(operands).with_type(outcome)
            }
        };
        let test = if matches!(way, Way::Probed) { bounds_test(f, v)? } else { None };
        let (outcome, failed) = match test {
            // The probe is needed for the error alone.
            Some(test) => {
                let block = f.block_of(v);
                let rest = f.split_block(v)?;
                let failed = f.add_block_after(rest)?;
                f.set_terminator(block, cf::jump_if(test, rest, failed).at(loc))?;
                (f.push(failed, outcome.at(loc).made_from(v))?, failed)
            }
            None => {
                let outcome = f.insert(v, outcome.at(loc).made_from(v))?;
                let rest = f.split_block(v)?;
                let failed = f.add_block_after(rest)?;
                self.branch(f, outcome, rest, failed)?;
                (outcome, failed)
            }
        };
        let position = if matches!(way, Way::Probed) { 2 } else { 3 };
        let error = f.push(failed, core::get(outcome, f.constant_id(position)).at(loc))?;
        f.set_terminator(failed, cf::br(fail, [Operand::from(error)]))?;
        if matches!(way, Way::Probed) {
            return Ok(());
        }
        if ty != Type::NEVER {
            let value = f.insert(v, core::get(outcome, f.constant_id(2)).at(loc))?;
            let have = f.ty(value);
            let value = match have.is_assignable_to(ty) {
                _ if have == ty => value,
                true => f.insert(v, core::convert(value, ty))?,
                false => f.insert(v, core::typeassert(value, ty))?,
            };
            f.replace_named(v, value)?;
        }
        f.delete(v)
    }
}

/// Inserts a test of the bounds of a load or store before it, if they are all that it may trap for.
fn bounds_test(f: &mut Function, v: Value) -> IrResult<Option<Value>> {
    let first = match f.op(v) {
        Some(mem::LOAD) => 1,
        Some(mem::STORE) => 2,
        _ => return Ok(None),
    };
    let Some(array) = f.operand(v, 0) else { return Ok(None) };
    let &TypeKind::Array { element, rank } = f.ctx().kind(f.operand_type(array)) else {
        return Ok(None);
    };
    let indices: Vec<Operand> = f.operands(v).skip(first).collect();
    let may_be_undefined = first == 1 && !starts_defined(f.ctx(), element);
    if indices.len() != usize::from(rank) || may_be_undefined || f.checks_operands(v) {
        return Ok(None);
    }
    let loc = f.loc(v);
    let mut all: Option<Value> = None;
    for (dim, index) in (1..).zip(indices) {
        let one: Operand = f.constant_id(1).into();
        let dim: Operand = f.constant_id(Constant::I64(dim)).into();
        let size = f.insert(v, mem::size(array, dim).at(loc))?;
        let low = f.const_i64(index).is_none_or(|index| index < 1);
        let low = low.then(|| arith::le(one, index));
        for test in low.into_iter().chain([arith::le(index, size)]) {
            let test = f.insert(v, test.at(loc))?;
            all = Some(match all {
                Some(all) => f.insert(v, arith::and(all, test).at(loc))?,
                None => test,
            });
        }
    }
    Ok(all)
}
