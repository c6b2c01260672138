//! The ends of blocks of code that passes in the language give: returns, branches, switches.
//!
//! Of several branches with conditions, those after the first get blocks of their own, unless all are the cases of a
//! `switch`; a branch that returns gets one too, if there are others.

use regraft_dialects::cf;
use regraft_exec::value::Val;
use regraft_ir::{Block, Inst, IrResult, Loc, Operand};

use super::pass_code::{Draft, Result, told};
use super::pass_parts::{BlockPart, BranchPart};
use crate::code::DIFFERS;

impl Draft<'_> {
    /// Ends a block as its branches say.
    pub(super) fn terminator(
        &mut self,
        part: &BlockPart,
        block: Block,
        blocks: &[Block],
        loc: Loc,
    ) -> Result<()> {
        let ends = part.branches.iter().position(|branch| matches!(branch.condition, Val::Unit));
        let Some(at) = ends else {
            return Err("it does not end: no branch of it is always taken".to_owned());
        };
        let (conditional, last) = (&part.branches[..at], &part.branches[at]);
        self.to.set_provenance(Some(self.pass));
        if conditional.is_empty() && last.to == 0 {
            let inst = self.leave(last)?;
            return self.end(block, inst, loc).map_err(told);
        }
        let mut tail = block;
        let (default, default_args) = self.target(last, blocks, &mut tail)?;
        if conditional.is_empty() {
            return self.end(block, cf::br(default, default_args), loc).map_err(told);
        }
        let cases = conditional.iter().map(|branch| self.case_of(&branch.condition));
        if let Some(cases) = cases.collect::<Option<Vec<_>>>() {
            let value = self.operand(&cases[0].0)?;
            let mut inst = Inst::new(cf::SWITCH).operand(value);
            for (of, case) in &cases {
                if self.operand(of)? != value {
                    let message = "conditions of the form `x !== 1` have to be of one value";
                    return Err(message.to_owned());
                }
                if let Some(case) = case {
                    inst = inst.operand(self.operand(case)?);
                }
            }
            inst = inst.edge(default, default_args);
            for (branch, (_, case)) in conditional.iter().zip(&cases) {
                if case.is_some() {
                    let (target, args) = self.target(branch, blocks, &mut tail)?;
                    inst = inst.edge(target, args);
                }
            }
            return self.end(block, inst, loc).map_err(told);
        }
        let mut here = block;
        for (i, branch) in conditional.iter().enumerate() {
            let condition = self.operand(&branch.condition)?;
            let (target, args) = self.target(branch, blocks, &mut tail)?;
            let (next, next_args) = match i + 1 == conditional.len() {
                true => (default, default_args.clone()),
                false => (self.block_after(&mut tail)?, Vec::new()),
            };
            self.end(here, cf::br_if(condition, next, next_args, target, args), loc)
                .map_err(told)?;
            here = next;
        }
        Ok(())
    }

    /// Ends a block; attributes and location are those of what ended it, if that was the same op.
    fn end(&mut self, block: Block, inst: Inst, loc: Loc) -> IrResult<()> {
        let f = self.from;
        let before = f.block_by_number(block.number()).and_then(|block| f.terminator(block));
        let inst = match before.filter(|&before| f.op(before) == Some(inst.op())) {
            Some(before) => inst.with_attrs(f.attrs(before)).at(f.loc(before)),
            None => inst.at(loc),
        };
        self.to.set_terminator(block, inst)
    }

    fn leave(&mut self, branch: &BranchPart) -> Result<Inst> {
        match &*branch.args {
            [] => Ok(cf::unreachable()),
            [value] => Ok(cf::ret(self.operand(value)?)),
            args => Err(format!("it returns {} values", args.len())),
        }
    }

    /// The block and the arguments of a branch; one that returns gets a block of its own.
    fn target(
        &mut self,
        branch: &BranchPart,
        blocks: &[Block],
        tail: &mut Block,
    ) -> Result<(Block, Vec<Operand>)> {
        if branch.to == 0 {
            let inst = self.leave(branch)?;
            let block = self.block_after(tail)?;
            self.to.set_terminator(block, inst).map_err(told)?;
            return Ok((block, Vec::new()));
        }
        let at = usize::try_from(branch.to - 1).ok();
        let block = at.and_then(|at| blocks.get(at)).copied();
        let block =
            block.ok_or_else(|| format!("it leads to block {}, which there is not", branch.to))?;
        let args = branch.args.iter().map(|arg| self.operand(arg)).collect::<Result<Vec<_>>>()?;
        let count = self.to.param_count(block);
        if args.len() != count {
            return Err(format!(
                "block {} takes {count} arguments, a branch gives {}",
                branch.to,
                args.len()
            ));
        }
        Ok((block, args))
    }

    fn block_after(&mut self, tail: &mut Block) -> Result<Block> {
        *tail = self.to.add_block_after(*tail).map_err(told)?;
        Ok(*tail)
    }

    /// The value and the constant of the condition of a case of a `switch`; of one without cases, the value alone.
    fn case_of(&self, condition: &Val) -> Option<(Val, Option<Val>)> {
        let Val::Object(_) = condition else { return None };
        let parts = self.parts_of_call(condition).ok()?;
        let (callee, rest) = parts.split_first()?;
        let (_, name) = self.global_of(callee)?;
        match rest {
            _ if self.ctx().str(name) != DIFFERS => None,
            [value] => Some((value.clone(), None)),
            [value, case] => Some((value.clone(), Some(case.clone()))),
            _ => None,
        }
    }
}
