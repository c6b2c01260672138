//! A function on its way: what emission writes into, before it is known what stays.
//!
//! Instructions are appended to plain vectors; a value is its number. When all is there, blocks
//! that nobody jumps to, parameters that stand for one value, and instructions that nobody needs
//! are left out, and a [`Function`] is built once, in order. So its numbers have no gaps, and
//! nothing is ever deleted from it. O(size).

mod build;

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Attrs, Block, Const, Context, Function, IrResult, Loc, Op, Symbol, Type, Value};

/// An operand in a builder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// The instruction or parameter of that number.
    Value(u32),
    /// A constant.
    Const(Const),
}

/// An instruction or a block parameter.
#[derive(Clone, Copy, Debug)]
pub struct BuilderInst {
    /// Its op; `None` for a parameter.
    pub op: Option<Op>,
    /// Its operands: a range of [`FunctionBuilder::args`].
    pub args: (u32, u32),
    /// Its type.
    pub ty: Type,
    /// Its attributes.
    pub attrs: Attrs,
    /// The place in the source that it comes from.
    pub loc: Loc,
    /// Its name.
    pub name: Option<Symbol>,
}

/// The terminator of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminator {
    /// Not said yet: nothing gets there.
    Unreachable,
    /// With a value, out of the function.
    Return(Slot),
    /// To the first target.
    Jump,
    /// To the first target if the condition is true, else to the second.
    Branch(Slot),
    /// As `switch`; its cases are in [`FunctionBuilder::args`].
    Switch(Slot, (u32, u32)),
}

/// An edge: its target, and its arguments as a range of [`FunctionBuilder::args`].
pub type BuilderEdge = (u32, (u32, u32));

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct BuilderBlock {
    /// Its parameters: a range of the instructions.
    pub params: (u32, u32),
    /// Its instructions, likewise.
    pub insts: (u32, u32),
    /// Its terminator.
    pub leave: Terminator,
    /// Its edges: a range of [`FunctionBuilder::edges`].
    pub edges: (u32, u32),
    /// The place in the source that its terminator comes from.
    pub loc: Loc,
}

/// A function on its way.
#[derive(Debug, Default)]
pub struct FunctionBuilder {
    /// Instructions and parameters.
    pub insts: Vec<BuilderInst>,
    /// Operands, of instructions and edges.
    pub args: Vec<Slot>,
    /// Blocks in order of the layout, the entry first.
    pub blocks: Vec<BuilderBlock>,
    /// The edges of all blocks.
    pub edges: Vec<BuilderEdge>,
    /// Instructions `core.undef` that belong to no block yet: one for each type.
    undefs: Vec<u32>,
    /// The replacement of each value, by number.
    alias: Vec<Option<Slot>>,
    seen: Vec<Option<Option<Slot>>>,
    live: Vec<bool>,
    reached: Vec<bool>,
    entered: Vec<u32>,
    work: Vec<u32>,
    built: Vec<Option<Value>>,
    built_blocks: Vec<Option<Block>>,
}

impl FunctionBuilder {
    /// Makes it empty; the memory stays.
    pub fn clear(&mut self) {
        self.insts.clear();
        self.args.clear();
        self.blocks.clear();
        self.edges.clear();
        self.undefs.clear();
    }

    /// Adds a block with parameters that are not there yet.
    pub fn add_block(&mut self) -> u32 {
        let at = self.insts.len() as u32;
        self.blocks.push(BuilderBlock {
            params: (at, at),
            insts: (at, at),
            leave: Terminator::Unreachable,
            edges: (0, 0),
            loc: Loc::UNKNOWN,
        });
        self.blocks.len() as u32 - 1
    }

    /// Adds a parameter to the block that was added last.
    pub fn add_param(&mut self, ty: Type, name: Option<Symbol>, loc: Loc) -> u32 {
        let param = self.insts.len() as u32;
        self.insts.push(BuilderInst { op: None, args: (0, 0), ty, attrs: Attrs::NONE, loc, name });
        let block = self.blocks.last_mut().expect("a block was added");
        block.params.1 = param + 1;
        param
    }

    /// Returns the placeholder of a variable without a value, of type `ty`. To be asked for when
    /// the blocks have all their instructions.
    pub fn undef(&mut self, ty: Type) -> Slot {
        let known = self.undefs.iter().find(|&&undef| self.insts[undef as usize].ty == ty);
        let undef = known.copied().unwrap_or_else(|| {
            let undef = self.insts.len() as u32;
            let (op, attrs, loc) = (Some(core::UNDEF), Attrs::NONE, Loc::UNKNOWN);
            self.insts.push(BuilderInst { op, args: (0, 0), ty, attrs, loc, name: None });
            self.undefs.push(undef);
            undef
        });
        Slot::Value(undef)
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

    /// The same with the operands from `first_arg` on, which are in [`FunctionBuilder::args`] already.
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
        self.insts.push(BuilderInst { op: Some(op), args, ty, attrs, loc, name: None });
        self.blocks[block as usize].insts.1 = inst + 1;
        Slot::Value(inst)
    }

    /// Says how control leaves a block.
    pub fn set_terminator(&mut self, block: u32, leave: Terminator, loc: Loc) {
        let at = self.edges.len() as u32;
        let block = &mut self.blocks[block as usize];
        (block.leave, block.loc, block.edges) = (leave, loc, (at, at));
    }

    /// Adds an edge to `block`, of which [`FunctionBuilder::leave`] was said last.
    pub fn add_edge(&mut self, block: u32, target: u32, args: &[Slot]) {
        let start = self.args.len() as u32;
        self.args.extend_from_slice(args);
        self.edges.push((target, (start, self.args.len() as u32)));
        self.blocks[block as usize].edges.1 = self.edges.len() as u32;
    }

    /// The operands of an instruction.
    pub fn operands(&self, inst: &BuilderInst) -> &[Slot] {
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

    /// Returns the replacement of an operand.
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

    /// Finds the blocks that control gets to, and by how many edges.
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
            let BuilderBlock { insts, leave, .. } = self.blocks[block];
            for inst in insts.0..insts.1 {
                let Some(op) = self.insts[inst as usize].op else { continue };
                if !ctx.def(op).is_removable() {
                    self.need(Slot::Value(inst));
                }
            }
            match leave {
                Terminator::Return(slot)
                | Terminator::Branch(slot)
                | Terminator::Switch(slot, _) => {
                    self.need(slot);
                }
                Terminator::Jump | Terminator::Unreachable => {}
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
}
