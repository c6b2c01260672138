//! A function on its way: what emission writes into, before it is known what stays.
//!
//! Instructions are appended to plain vectors; a value is its number. When all is there, blocks
//! that nobody jumps to, parameters that stand for one value, and instructions that nobody needs
//! are left out, and a [`Function`] is built once, in order. So its numbers have no gaps, and
//! nothing is ever deleted from it. O(size).

use std::sync::Arc;

use regraft_dialects::cf;
use regraft_ir::{
    Attrs, Block, Const, Context, Function, Inst, IrResult, Loc, Op, Operand, Symbol, Type, Value,
};

/// An operand in a draft.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// The instruction or parameter of that number.
    Value(u32),
    /// A constant.
    Const(Const),
}

/// An instruction or a block parameter.
#[derive(Clone, Copy, Debug)]
pub struct DraftInst {
    /// Its op; `None` for a parameter.
    pub op: Option<Op>,
    /// Its operands: a range of [`Draft::args`].
    pub args: (u32, u32),
    /// Its type.
    pub ty: Type,
    /// Its attributes.
    pub attrs: Attrs,
    /// Where it comes from.
    pub loc: Loc,
    /// Its name.
    pub name: Option<Symbol>,
}

/// How control leaves a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    /// Not said yet: nothing gets there.
    Unreachable,
    /// With a value, out of the function.
    Return(Slot),
    /// To the first target.
    Jump,
    /// To the first target if the condition is true, else to the second.
    Branch(Slot),
    /// As `switch`; its cases are in [`Draft::args`].
    Switch(Slot, (u32, u32)),
}

/// An edge: its target, and its arguments as a range of [`Draft::args`].
pub type DraftEdge = (u32, (u32, u32));

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct DraftBlock {
    /// Its parameters: a range of the instructions.
    pub params: (u32, u32),
    /// Its instructions, likewise.
    pub insts: (u32, u32),
    /// How control leaves it.
    pub leave: Leave,
    /// Its edges: a range of [`Draft::edges`].
    pub edges: (u32, u32),
    /// Where its terminator comes from.
    pub loc: Loc,
}

/// A function on its way.
#[derive(Debug, Default)]
pub struct Draft {
    /// Instructions and parameters.
    pub insts: Vec<DraftInst>,
    /// Operands, of instructions and edges.
    pub args: Vec<Slot>,
    /// Blocks in order of the layout, the entry first.
    pub blocks: Vec<DraftBlock>,
    /// The edges of all blocks.
    pub edges: Vec<DraftEdge>,
    /// What stands for a value in the end, by number.
    alias: Vec<Option<Slot>>,
    seen: Vec<Option<Option<Slot>>>,
    live: Vec<bool>,
    reached: Vec<bool>,
    entered: Vec<u32>,
    work: Vec<u32>,
    built: Vec<Option<Value>>,
    built_blocks: Vec<Option<Block>>,
}

impl Draft {
    /// Makes it empty; the memory stays.
    pub fn clear(&mut self) {
        self.insts.clear();
        self.args.clear();
        self.blocks.clear();
        self.edges.clear();
    }

    /// Adds a block with parameters that are not there yet.
    pub fn add_block(&mut self) -> u32 {
        let at = self.insts.len() as u32;
        self.blocks.push(DraftBlock {
            params: (at, at),
            insts: (at, at),
            leave: Leave::Unreachable,
            edges: (0, 0),
            loc: Loc::UNKNOWN,
        });
        self.blocks.len() as u32 - 1
    }

    /// Adds a parameter to the block that was added last.
    pub fn add_param(&mut self, ty: Type, name: Option<Symbol>, loc: Loc) -> u32 {
        let param = self.insts.len() as u32;
        self.insts.push(DraftInst { op: None, args: (0, 0), ty, attrs: Attrs::NONE, loc, name });
        let block = self.blocks.last_mut().expect("a block was added");
        block.params.1 = param + 1;
        param
    }

    /// Instructions that are added from now on are those of `block`.
    pub fn enter(&mut self, block: u32) {
        let at = self.insts.len() as u32;
        self.blocks[block as usize].insts = (at, at);
    }

    /// Adds an instruction to `block`, which was entered last.
    pub fn push(
        &mut self,
        block: u32,
        op: Op,
        args: &[Slot],
        ty: Type,
        attrs: Attrs,
        loc: Loc,
    ) -> Slot {
        let first_arg = self.args.len();
        self.args.extend_from_slice(args);
        self.push_with(block, op, first_arg, ty, attrs, loc)
    }

    /// The same with the operands from `first_arg` on, which are in [`Draft::args`] already.
    pub fn push_with(
        &mut self,
        block: u32,
        op: Op,
        first_arg: usize,
        ty: Type,
        attrs: Attrs,
        loc: Loc,
    ) -> Slot {
        let inst = self.insts.len() as u32;
        let args = (first_arg as u32, self.args.len() as u32);
        self.insts.push(DraftInst { op: Some(op), args, ty, attrs, loc, name: None });
        self.blocks[block as usize].insts.1 = inst + 1;
        Slot::Value(inst)
    }

    /// Says how control leaves a block.
    pub fn leave(&mut self, block: u32, leave: Leave, loc: Loc) {
        let at = self.edges.len() as u32;
        let block = &mut self.blocks[block as usize];
        (block.leave, block.loc, block.edges) = (leave, loc, (at, at));
    }

    /// Adds an edge to `block`, of which [`Draft::leave`] was said last.
    pub fn add_edge(&mut self, block: u32, target: u32, args: &[Slot]) {
        let start = self.args.len() as u32;
        self.args.extend_from_slice(args);
        self.edges.push((target, (start, self.args.len() as u32)));
        self.blocks[block as usize].edges.1 = self.edges.len() as u32;
    }

    /// The operands of an instruction.
    pub fn operands(&self, inst: &DraftInst) -> &[Slot] {
        &self.args[inst.args.0 as usize..inst.args.1 as usize]
    }

    /// The type of an operand.
    pub fn ty(&self, ctx: &Context, slot: Slot) -> Type {
        match slot {
            Slot::Value(v) => self.insts[v as usize].ty,
            Slot::Const(constant) => ctx.constant_type(constant),
        }
    }

    /// Gives a value a name, if it has none.
    pub fn set_name(&mut self, slot: Slot, name: Symbol) {
        if let Slot::Value(v) = slot {
            self.insts[v as usize].name.get_or_insert(name);
        }
    }

    fn edges_of(&self, block: u32) -> std::ops::Range<usize> {
        let (start, end) = self.blocks[block as usize].edges;
        start as usize..end as usize
    }

    /// What an operand stands for in the end.
    fn resolve(&self, mut slot: Slot) -> Slot {
        while let Slot::Value(v) = slot
            && let Some(other) = self.alias[v as usize]
        {
            slot = other;
        }
        slot
    }

    /// The function: without what is not needed, in a function of that name.
    pub fn finish(&mut self, ctx: &Arc<Context>, name: Symbol, result: Type) -> IrResult<Function> {
        self.find_reached();
        self.find_aliases(ctx);
        self.find_live(ctx);
        self.build(ctx, name, result)
    }

    /// Which blocks control gets to, and by how many edges.
    fn find_reached(&mut self) {
        let count = self.blocks.len();
        self.reached.clear();
        self.reached.resize(count, false);
        self.entered.clear();
        self.entered.resize(count, 0);
        self.work.clear();
        self.reached[0] = true;
        self.work.push(0);
        while let Some(block) = self.work.pop() {
            for edge in self.edges_of(block) {
                let target = self.edges[edge].0;
                self.entered[target as usize] += 1;
                if !std::mem::replace(&mut self.reached[target as usize], true) {
                    self.work.push(target);
                }
            }
        }
    }

    /// Parameters that are the same value on every edge.
    fn find_aliases(&mut self, ctx: &Context) {
        self.alias.clear();
        self.alias.resize(self.insts.len(), None);
        // A parameter is seen once for each edge: what it was so far, if it was one value.
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        for block in 0..self.blocks.len() as u32 {
            if !self.reached[block as usize] {
                continue;
            }
            for edge in self.edges_of(block) {
                let (target, (start, end)) = self.edges[edge];
                let (first, _) = self.blocks[target as usize].params;
                for (i, arg) in (start..end).enumerate() {
                    if seen.is_empty() {
                        seen.resize(self.insts.len(), None);
                    }
                    let param = first as usize + i;
                    let arg = self.args[arg as usize];
                    if arg == Slot::Value(param as u32) {
                        continue;
                    }
                    seen[param] = match seen[param] {
                        None => Some(Some(arg)),
                        Some(Some(other)) if other == arg => continue,
                        Some(_) => Some(None),
                    };
                }
            }
        }
        for (param, &seen) in seen.iter().enumerate() {
            if let Some(Some(arg)) = seen
                && self.ty(ctx, arg).is_assignable_to(self.insts[param].ty)
            {
                // A value that is handed on from block to block is found in one step.
                let arg = self.resolve(arg);
                if arg != Slot::Value(param as u32) {
                    self.alias[param] = Some(arg);
                }
            }
        }
        self.seen = seen;
    }

    /// Marks what is needed.
    fn find_live(&mut self, ctx: &Context) {
        self.live.clear();
        self.live.resize(self.insts.len(), false);
        self.work.clear();
        for block in 0..self.blocks.len() {
            if !self.reached[block] {
                continue;
            }
            let DraftBlock { insts, leave, .. } = self.blocks[block];
            for inst in insts.0..insts.1 {
                let Some(op) = self.insts[inst as usize].op else { continue };
                if !ctx.def(op).is_removable() {
                    self.need(Slot::Value(inst));
                }
            }
            match leave {
                Leave::Return(slot) | Leave::Branch(slot) | Leave::Switch(slot, _) => {
                    self.need(slot);
                }
                Leave::Jump | Leave::Unreachable => {}
            }
        }
        // Parameters of the entry are the signature.
        let (start, end) = self.blocks[0].params;
        for param in start..end {
            self.live[param as usize] = true;
        }
        self.spread_life();
    }

    fn need(&mut self, slot: Slot) {
        if let Slot::Value(v) = self.resolve(slot)
            && !std::mem::replace(&mut self.live[v as usize], true)
        {
            self.work.push(v);
        }
    }

    fn spread_life(&mut self) {
        // Where arguments of a parameter stand is found by way of its block; the edges are gone
        // through from last to first, as need spreads, until nothing changes: about as often as
        // loops are nested.
        self.spread_in_blocks();
        loop {
            let mut changed = false;
            for block in (0..self.blocks.len() as u32).rev() {
                if !self.reached[block as usize] {
                    continue;
                }
                for edge in self.edges_of(block) {
                    let (target, (start, end)) = self.edges[edge];
                    let first = self.blocks[target as usize].params.0;
                    for (i, arg) in (start..end).enumerate() {
                        let param = first as usize + i;
                        if self.live[param] && self.alias[param].is_none() {
                            self.need(self.args[arg as usize]);
                        }
                    }
                }
                changed |= !self.work.is_empty();
                self.spread_in_blocks();
            }
            if !changed {
                return;
            }
        }
    }

    /// From instructions to their operands.
    fn spread_in_blocks(&mut self) {
        while let Some(v) = self.work.pop() {
            let inst = self.insts[v as usize];
            for arg in inst.args.0..inst.args.1 {
                self.need(self.args[arg as usize]);
            }
        }
    }

    /// Whether `block` is all that control gets to from the end of the block before it, which
    /// goes nowhere else: then it is a part of that.
    fn continues(&self, block: u32) -> Option<u32> {
        if self.blocks[block as usize].leave != Leave::Jump {
            return None;
        }
        let target = self.edges[self.edges_of(block).start].0;
        (target != 0 && target != block && self.entered[target as usize] == 1).then_some(target)
    }

    fn build(&mut self, ctx: &Arc<Context>, name: Symbol, result: Type) -> IrResult<Function> {
        let values = self.live.iter().filter(|&&live| live).count();
        let operands: usize = (self.insts.iter().zip(&self.live))
            .filter(|&(_, &live)| live)
            .map(|(inst, _)| (inst.args.1 - inst.args.0) as usize)
            .sum();
        let leaving: usize =
            self.blocks.iter().map(|block| block.edges.1 - block.edges.0).sum::<u32>() as usize;
        let mut f = Function::with_capacity(ctx, "", result, values, operands + 3 * leaving + 1);
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
        // In an order in which values come before their uses, whatever the layout is.
        self.build_insts(&mut f, named)?;
        for block in 0..self.blocks.len() as u32 {
            let Some(built) = self.built_blocks[block as usize] else { continue };
            let mut last = block;
            while let Some(next) = self.continues(last) {
                last = next;
            }
            let inst = self.terminator(last);
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
                        set_name(f, v, name)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn build_insts(&mut self, f: &mut Function, named: bool) -> IrResult<()> {
        // Numbers of a draft are given in reverse postorder, in which definitions come first.
        let mut order: Vec<u32> = (0..self.blocks.len() as u32)
            .filter(|&block| self.built_blocks[block as usize].is_some())
            .collect();
        order.sort_by_key(|&block| self.blocks[block as usize].insts.0);
        for first in order {
            let built = self.built_blocks[first as usize].expect("only such are in the list");
            let mut at = Some(first);
            while let Some(block) = at {
                let (start, end) = self.blocks[block as usize].insts;
                for inst in start..end {
                    if self.live[inst as usize] && self.insts[inst as usize].op.is_some() {
                        let v = self.build_inst(f, built, inst)?;
                        if named && let Some(name) = self.insts[inst as usize].name {
                            set_name(f, v, name)?;
                        }
                    }
                }
                at = self.continues(block);
            }
        }
        Ok(())
    }

    fn build_inst(&mut self, f: &mut Function, block: Block, number: u32) -> IrResult<Value> {
        let DraftInst { op, args, ty, attrs, loc, .. } = self.insts[number as usize];
        let op = op.expect("parameters are built elsewhere");
        let mut inst = Inst::new(op).with_type(ty).with_attrs(attrs).at(loc);
        let operands = inst.operand_list_mut();
        for &arg in &self.args[args.0 as usize..args.1 as usize] {
            operands.push(self.operand(arg));
        }
        let v = f.push(block, inst)?;
        self.built[number as usize] = Some(v);
        Ok(v)
    }

    fn operand(&self, slot: Slot) -> Operand {
        match self.resolve(slot) {
            Slot::Const(constant) => constant.into(),
            Slot::Value(v) => {
                let built = self.built[v as usize];
                built
                    .unwrap_or_else(|| panic!("the use of value {v} of a draft comes first"))
                    .into()
            }
        }
    }

    fn terminator(&self, block: u32) -> Inst {
        let DraftBlock { leave, loc, .. } = self.blocks[block as usize];
        let mut inst = match leave {
            Leave::Unreachable => cf::unreachable(),
            Leave::Return(slot) => cf::ret(self.operand(slot)),
            Leave::Jump => Inst::new(cf::BR),
            Leave::Branch(slot) => Inst::new(cf::BR).operand(self.operand(slot)),
            Leave::Switch(slot, (start, end)) => {
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

/// Names a value as it was named in the lowered code.
fn set_name(f: &mut Function, v: Value, name: Symbol) -> IrResult<()> {
    f.name_after(v, name)
}
