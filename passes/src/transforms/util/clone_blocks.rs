//! Copies blocks with everything in them.
//!
//! ```text
//! ^2(%2: i64):                       ^2(%2: i64):
//!   %3: i64 = arith.add %2, %1         %3: i64 = arith.add %2, %1
//!   br ^2(%3)                  =>      br ^2(%3)
//!                                    ^3(%4: i64):
//!                                      %5: i64 = arith.add %4, %1
//!                                      br ^3(%5)
//! ```
//!
//! What the copies use of the copied blocks is the copy, everything else is what it was. A copy
//! has the location of what it is a copy of, is recorded as made from it, and has its name with
//! a number added. The edges that enter a copied block still do: whoever copies leads some to
//! the copy, and sees to it that values of the copied blocks which others use have something
//! that stands for both ([`ssa_repair`](super::ssa_repair),
//! [`LoopForm::close`](super::loop_form::LoopForm::close)).

use crate::transforms::util::edit::name_copy;
use regraft_ir::{Block, Function, Inst, IrResult, Operand, Value};
use rustc_hash::FxHashMap;

/// The values and blocks of a copy, by those that were copied.
#[derive(Clone, Default, Debug)]
pub struct CloneMap {
    values: FxHashMap<Value, Operand>,
    blocks: FxHashMap<Block, Block>,
}

impl CloneMap {
    /// A map in which everything stands for itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `new` stand for `old` in copies to come.
    pub fn set(&mut self, old: Value, new: impl Into<Operand>) {
        self.values.insert(old, new.into());
    }

    /// Lets edges to `old` go to `new` in copies to come.
    pub(crate) fn set_block(&mut self, old: Block, new: Block) {
        self.blocks.insert(old, new);
    }

    /// Returns what stands for an operand, be it a value, a constant or a block.
    pub fn operand(&self, old: Operand) -> Operand {
        if let Some(v) = old.as_value() {
            return self.values.get(&v).copied().unwrap_or(old);
        }
        match old.as_block() {
            Some(block) => self.block(block).into(),
            None => old,
        }
    }

    /// Returns what stands for a value.
    pub fn value(&self, old: Value) -> Operand {
        self.operand(old.into())
    }

    /// Returns what stands for a block.
    pub fn block(&self, old: Block) -> Block {
        self.blocks.get(&old).copied().unwrap_or(old)
    }

    /// An instruction with what stands for its operands.
    fn instruction(&self, f: &Function, v: Value) -> Inst {
        let mut inst = f.statement(v);
        for operand in inst.operand_list_mut() {
            *operand = self.operand(*operand);
        }
        if v.is_terminator() { inst } else { inst.made_from(v) }
    }
}

/// Copies `blocks`, each of which comes after those of them that dominate it, and puts the copies
/// after `after` in the same order. `map` knows their values and blocks afterwards. O(size of the
/// blocks).
///
/// # Errors
/// If something is stale, or if an entry of `map` is of a type that a use does not accept.
pub fn clone_blocks(
    f: &mut Function,
    blocks: &[Block],
    after: Block,
    map: &mut CloneMap,
) -> IrResult<Vec<Block>> {
    let mut copies = Vec::with_capacity(blocks.len());
    let mut last = after;
    for &block in blocks {
        let copy = f.add_block_after(last)?;
        let params: Vec<Value> = f.params(block).collect();
        for param in params {
            let new = f.append_param(copy, f.ty(param))?;
            name_copy(f, param, new)?;
            map.set(param, new);
        }
        map.set_block(block, copy);
        copies.push(copy);
        last = copy;
    }
    for (&block, &copy) in blocks.iter().zip(&copies) {
        copy_body(f, block, copy, map)?;
    }
    for (&block, &copy) in blocks.iter().zip(&copies) {
        let term = Value::terminator(block);
        if f.is_live(term) {
            let inst = map.instruction(f, term);
            f.set_terminator(copy, inst)?;
        }
    }
    Ok(copies)
}

/// Copies the instructions of `from`, its terminator left out, to the end of `to`. O(size).
///
/// # Errors
/// As [`clone_blocks`].
pub(crate) fn copy_body(
    f: &mut Function,
    from: Block,
    to: Block,
    map: &mut CloneMap,
) -> IrResult<()> {
    let body: Vec<Value> = f.body(from).collect();
    for v in body {
        let inst = map.instruction(f, v);
        let new = f.push(to, inst)?;
        name_copy(f, v, new)?;
        map.set(v, new);
    }
    Ok(())
}
