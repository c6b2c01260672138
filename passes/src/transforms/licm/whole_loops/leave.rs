//! Moves a loop in front of others, with copies of the branches on which it depended there.

use regraft_dialects::{cf, core};
use regraft_ir::{Block, Function, Inst, IrResult, Operand, Value};
use rustc_hash::FxHashMap;

use super::{Plan, Survey};
use crate::analysis::LoopId;
use crate::transforms::util::loop_form::ensure_preheader;

impl Survey<'_> {
    /// Moves a loop as planned.
    pub(super) fn apply(&self, f: &mut Function, plan: &Plan) -> IrResult<()> {
        let forest = &*self.facts.forest;
        let (l, outer) = (forest.get(plan.id), forest.get(plan.target));
        let (Some(exit), Some(old)) = (l.exits.first(), l.preheader) else { return Ok(()) };
        let exit = exit.edge(f);
        let (before, _) = ensure_preheader(f, forest, plan.target)?;
        let live = self.live_out(f, plan.id);
        let args_to = |f: &Function, block: Block| -> Vec<Operand> {
            f.out_edges(block).next().map(|e| f.edge_args(e).collect()).unwrap_or_default()
        };
        let (into_outer, into_loop) = (args_to(f, before), args_to(f, old));

        // The blocks in the order in which they run.
        let mut last = before;
        for &block in forest.blocks(plan.id) {
            f.move_block_after(block, last)?;
            last = block;
        }
        let after = f.add_block();
        f.move_block_after(after, last)?;
        // Without guards the loop always runs, and what it computes is there.
        let passed = if plan.guards.is_empty() { &[][..] } else { &live[..] };
        let mut stands_for: FxHashMap<Value, Value> = FxHashMap::default();
        for &v in passed {
            let param = f.append_param(after, f.ty(v))?;
            stands_for.insert(v, param);
        }
        // Conditions are copied as they are where `before` leads to the outer loop still.
        self.lead_in(f, plan, (before, after), &into_loop, passed)?;
        f.set_terminator(after, cf::br(outer.header, into_outer))?;

        // The way out of the loop, and what was after it.
        let target = f.edge_target(exit);
        let mut exit_args: Vec<Operand> = f.edge_args(exit).collect();
        for arg in &mut exit_args {
            if let Some(&param) = arg.as_value().and_then(|v| stands_for.get(&v)) {
                *arg = param.into();
            }
        }
        f.redirect(exit, after, passed.iter().copied())?;
        f.set_terminator(old, cf::br(target, exit_args))?;
        for v in passed {
            let users: Vec<_> =
                f.uses(*v).filter(|at| !forest.contains(plan.id, f.block_of(at.user))).collect();
            for at in users {
                f.set_operand(at.user, at.index as usize, stands_for[v])?;
            }
        }
        Ok(())
    }

    /// Lets control go from `before` into the loop with these arguments, or to `after`, with nothing
    /// in the place of what is `passed` there, if a guard of the plan fails.
    fn lead_in(
        &self,
        f: &mut Function,
        plan: &Plan,
        (before, after): (Block, Block),
        into_loop: &[Operand],
        passed: &[Value],
    ) -> IrResult<()> {
        let header = self.facts.forest.get(plan.id).header;
        let at = Value::terminator(before);
        let mut copies = FxHashMap::default();
        let mut conditions = Vec::new();
        for guard in plan.guards.iter().rev() {
            let condition = self.copy(f, plan.target, guard.condition, at, &mut copies)?;
            conditions.push((condition, guard.taken_if));
        }
        let mut undefined: Vec<Operand> = Vec::new();
        for &v in passed {
            let undef = Inst::new(core::UNDEF).with_type(f.ty(v));
            undefined.push(f.insert(at, undef)?.into());
        }
        let mut source = before;
        let count = conditions.len();
        for (i, (condition, taken_if)) in conditions.into_iter().enumerate() {
            let is_last = i + 1 == count;
            let next = if is_last { header } else { f.add_block() };
            let args = if is_last { into_loop.to_vec() } else { Vec::new() };
            let none = undefined.clone();
            let inst = match taken_if {
                true => cf::br_if(condition, next, args, after, none),
                false => cf::br_if(condition, after, none, next, args),
            };
            f.set_terminator(source, inst)?;
            if !is_last {
                f.move_block_after(next, source)?;
                source = next;
            }
        }
        if count == 0 {
            f.set_terminator(before, cf::br(header, into_loop.to_vec()))?;
        }
        Ok(())
    }

    /// An operand, in terms of what there is before the loop `target`, as it is in the first
    /// iterations.
    fn copy(
        &self,
        f: &mut Function,
        target: LoopId,
        operand: Operand,
        at: Value,
        copies: &mut FxHashMap<Value, Operand>,
    ) -> IrResult<Operand> {
        let Some(v) = operand.as_value() else { return Ok(operand) };
        if !self.facts.forest.contains(target, f.block_of(v)) {
            return Ok(operand);
        }
        if let Some(&copy) = copies.get(&v) {
            return Ok(copy);
        }
        // The depth of the recursion is at most `MAX_COPIED`.
        let copy = match self.first_value(f, v) {
            Some(first) => self.copy(f, target, first, at, copies)?,
            None => {
                let mut inst = f.statement(v);
                for i in 0..inst.operand_list().len() {
                    let operand = inst.operand_list()[i];
                    inst.operand_list_mut()[i] = self.copy(f, target, operand, at, copies)?;
                }
                f.insert(at, inst.made_from(v))?.into()
            }
        };
        copies.insert(v, copy);
        Ok(copy)
    }
}
