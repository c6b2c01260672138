//! The function of a function builder: what stays of it, in order.
//!
//! Blocks that continue another become part of it, parameters and instructions that nobody needs
//! are passed over, and each operand is replaced by what it stands for. One pass over the
//! instructions, O(size).

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{Block, Context, Function, Inst, IrResult, Operand, Symbol, Type, Value};

use super::{BuilderBlock, BuilderInst, FunctionBuilder, Slot, Terminator};

impl FunctionBuilder {
    /// Returns whether `block` is all that control gets to from the end of the block before it,
    /// which goes nowhere else: then it is a part of that.
    fn continues(&self, block: u32) -> Option<u32> {
        if self.blocks[block as usize].leave != Terminator::Jump {
            return None;
        }
        let target = self.edges[self.edges_of(block).start].0;
        (target != 0 && target != block && self.entered[target as usize] == 1).then_some(target)
    }

    /// A block and those that continue it.
    fn chain(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(first), |&block| self.continues(block))
    }

    fn end_of_chain(&self, first: u32) -> u32 {
        self.chain(first).last().unwrap_or(first)
    }

    pub(super) fn build(
        &mut self,
        ctx: &Arc<Context>,
        name: Symbol,
        result: Type,
    ) -> IrResult<Function> {
        let values = self.live.iter().filter(|&&live| live).count();
        let operands: usize = (self.insts.iter().zip(&self.live))
            .filter(|&(_, &live)| live)
            .map(|(inst, _)| (inst.args.1 - inst.args.0) as usize)
            .sum();
        let leaving: usize =
            self.blocks.iter().map(|block| block.edges.1 - block.edges.0).sum::<u32>() as usize;
        let (blocks, operands) = (self.blocks.len(), operands + 3 * leaving + 1);
        let mut f = Function::with_capacity(ctx, "", result, values, blocks, operands);
        f.set_name(name);
        self.built.clear();
        self.built.resize(self.insts.len(), None);
        self.built_blocks.clear();
        self.built_blocks.resize(self.blocks.len(), None);
        // A block that continues another is part of it.
        let mut part_of_other: smallvec::SmallVec<[bool; 32]> =
            smallvec::smallvec![false; self.blocks.len()];
        for block in 0..self.blocks.len() as u32 {
            if self.reached[block as usize]
                && let Some(next) = self.continues(block)
            {
                part_of_other[next as usize] = true;
            }
        }
        for block in 0..self.blocks.len() {
            if self.reached[block] && !part_of_other[block] {
                self.built_blocks[block] = Some(f.add_block());
            }
        }
        let named = self.insts.iter().any(|inst| inst.name.is_some());
        self.build_params(&mut f, named)?;
        for undef in self.undefs.clone() {
            if let Some(entry) = self.built_blocks[0]
                && self.live[undef as usize]
            {
                self.build_inst(&mut f, entry, undef)?;
            }
        }
        // In an order in which values come before their uses, whatever the layout is.
        self.build_insts(&mut f, named)?;
        for block in 0..self.blocks.len() as u32 {
            let Some(built) = self.built_blocks[block as usize] else { continue };
            let inst = self.terminator(self.end_of_chain(block));
            f.set_terminator(built, inst)?;
        }
        Ok(f)
    }

    fn build_params(&mut self, f: &mut Function, named: bool) -> IrResult<()> {
        for block in 0..self.blocks.len() {
            let Some(built) = self.built_blocks[block] else { continue };
            let (start, end) = self.blocks[block].params;
            for param in start..end {
                let inst = self.insts[param as usize];
                if self.live[param as usize] && self.alias[param as usize].is_none() {
                    let v = f.append_param(built, inst.ty)?;
                    self.built[param as usize] = Some(v);
                    if inst.loc.is_known() {
                        f.set_loc(v, inst.loc)?;
                    }
                    if named && let Some(name) = inst.name {
                        f.name_after(v, name)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The blocks that are built, in an order in which values come before their uses.
    fn order(&self) -> Vec<u32> {
        // Numbers of a function builder are given in reverse postorder of the whole graph, in which definitions
        // mostly come first. Where a way into a cycle with several of them is never taken, another
        // one may come too late.
        let is_built = |&block: &u32| self.built_blocks[block as usize].is_some();
        let mut order: Vec<u32> = (0..self.blocks.len() as u32).filter(is_built).collect();
        order.sort_by_key(|&block| self.blocks[block as usize].insts.0);
        if self.is_in_order(&order) { order } else { self.reverse_postorder() }
    }

    /// Returns whether all values come before their uses. O(size).
    fn is_in_order(&self, order: &[u32]) -> bool {
        let mut done = vec![false; self.insts.len()];
        for &first in order {
            for block in self.chain(first) {
                let (start, end) = self.blocks[block as usize].insts;
                for number in start..end {
                    let inst = self.insts[number as usize];
                    if !self.live[number as usize] || inst.op.is_none() {
                        continue;
                    }
                    for &arg in &self.args[inst.args.0 as usize..inst.args.1 as usize] {
                        if let Slot::Value(v) = self.resolve(arg)
                            && self.built[v as usize].is_none()
                            && !done[v as usize]
                        {
                            return false;
                        }
                    }
                    done[number as usize] = true;
                }
            }
        }
        true
    }

    /// The blocks that are built, in reverse postorder. O(blocks + edges).
    fn reverse_postorder(&self) -> Vec<u32> {
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::new();
        let mut pending = vec![(0, false)];
        while let Some((block, is_left)) = pending.pop() {
            if is_left {
                order.push(block);
                continue;
            }
            if std::mem::replace(&mut seen[block as usize], true) {
                continue;
            }
            pending.push((block, true));
            pending.extend(
                self.edges_of(self.end_of_chain(block)).map(|edge| (self.edges[edge].0, false)),
            );
        }
        order.reverse();
        order
    }

    fn build_insts(&mut self, f: &mut Function, named: bool) -> IrResult<()> {
        let order = self.order();
        for first in order {
            let built = self.built_blocks[first as usize].expect("only such are in the list");
            let mut at = Some(first);
            while let Some(block) = at {
                let (start, end) = self.blocks[block as usize].insts;
                for inst in start..end {
                    if self.live[inst as usize] && self.insts[inst as usize].op.is_some() {
                        let v = self.build_inst(f, built, inst)?;
                        if named && let Some(name) = self.insts[inst as usize].name {
                            f.name_after(v, name)?;
                        }
                    }
                }
                at = self.continues(block);
            }
        }
        Ok(())
    }

    fn build_inst(&mut self, f: &mut Function, block: Block, number: u32) -> IrResult<Value> {
        let BuilderInst { op, args, ty, attrs, loc, .. } = self.insts[number as usize];
        let op = op.expect("parameters are built elsewhere");
        let mut inst = Inst::new(op).with_type(ty).with_attrs(attrs).at(loc);
        let operands = inst.operand_list_mut();
        for &arg in &self.args[args.0 as usize..args.1 as usize] {
            let mut operand = self.operand(arg);
            if op == core::TYPEASSERT
                && ![Type::ANY, ty].contains(&self.ty(f.ctx(), self.resolve(arg)))
            {
                // On a way that is never taken, a parameter that is one value now is asserted to be another one.
                let any = Inst::new(core::CONVERT).operand(operand).with_type(Type::ANY);
                operand = f.push(block, any.at(loc))?.into();
            }
            operands.push(operand);
        }
        let v = f.push(block, inst)?;
        self.built[number as usize] = Some(v);
        Ok(v)
    }

    fn operand(&self, slot: Slot) -> Operand {
        match self.resolve(slot) {
            Slot::Const(constant) => constant.into(),
            Slot::Value(v) => {
                let comes_first =
                    || panic!("the use of value {v} of a function builder comes first");
                self.built[v as usize].unwrap_or_else(comes_first).into()
            }
        }
    }

    fn terminator(&self, block: u32) -> Inst {
        let BuilderBlock { leave, loc, .. } = self.blocks[block as usize];
        let mut inst = match leave {
            Terminator::Unreachable => cf::unreachable(),
            Terminator::Return(slot) => cf::ret(self.operand(slot)),
            Terminator::Jump => Inst::new(cf::BR),
            Terminator::Branch(slot) => Inst::new(cf::BR).operand(self.operand(slot)),
            Terminator::Switch(slot, (start, end)) => {
                let cases = (start..end).map(|case| self.operand(self.args[case as usize]));
                Inst::new(cf::SWITCH).operand(self.operand(slot)).operands(cases)
            }
        };
        for edge in self.edges_of(block) {
            let (target, (start, end)) = self.edges[edge];
            let to = self.built_blocks[target as usize].expect("what is jumped to is there");
            let first = self.blocks[target as usize].params.0;
            let operands = inst.operand_list_mut();
            operands.push(to.into());
            for (i, arg) in (start..end).enumerate() {
                let param = first as usize + i;
                if self.live[param] && self.alias[param].is_none() {
                    operands.push(self.operand(self.args[arg as usize]));
                }
            }
        }
        inst.at(loc)
    }
}
