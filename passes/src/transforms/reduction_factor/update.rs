//! Reductions in elements of arrays: `x[i] = x[i] + e`.

use regraft_dialects::{arith, mem};
use regraft_ir::{Block, Function, Op, Operand, Value};

use super::nest::LoopNest;
use crate::analysis::LoopId;
use crate::analysis::memory_location::element_indices;
use crate::transforms::util::edit::only;

/// The instructions that update an element.
pub(super) struct Update {
    pub(super) load: Value,
    pub(super) op: Value,
    pub(super) store: Value,
    pub(super) array: Operand,
    pub(super) indices: Vec<Operand>,
    /// The operand that is not the element.
    pub(super) addend: Operand,
    /// The loop that it is in.
    pub(super) home: LoopId,
}

/// Ops of two operands of one type, of which the first may be what was computed so far, and
/// whether the second may be as well.
fn is_reduction(op: Op) -> Option<bool> {
    match op {
        arith::ADD | arith::MUL | arith::MIN | arith::MAX => Some(true),
        arith::AND | arith::OR | arith::XOR => Some(true),
        arith::SUB => Some(false),
        _ => None,
    }
}

/// Returns whether an instruction in so many loops may be an update that some of them need not be
/// around: it stores what an op has made of a load from the same array, with fewer indices than loops, or
/// with what an inner loop may have made.
pub(super) fn is_update_like(f: &Function, store: Value, depth: u32) -> bool {
    if f.op(store) != Some(mem::STORE) {
        return false;
    }
    let (Some(array), Some(op)) = (f.operand(store, 0), f.operand(store, 1)) else { return false };
    let Some(op) = op.as_value().filter(|&v| f.op(v).is_some_and(|op| is_reduction(op).is_some()))
    else {
        return false;
    };
    let is_load = |operand: Operand| {
        let load = operand.as_value().filter(|&v| f.op(v) == Some(mem::LOAD));
        load.is_some_and(|load| f.operand(load, 0) == Some(array))
    };
    let is_param = |operand: Operand| operand.as_value().is_some_and(|v| f.is_param(v));
    let is_carried = |operand: Operand| {
        let made = operand.as_value().filter(|&v| !is_load(operand) && !f.is_param(v));
        is_param(operand) || made.is_some_and(|v| f.operands(v).any(is_param))
    };
    let indices = f.operand_count(store) - 2;
    f.operands(op).any(is_load) && (indices < depth as usize || f.operands(op).any(is_carried))
}

impl Update {
    /// The update that a store ends, if nothing else uses what is in between.
    pub(super) fn of(f: &Function, nest: &LoopNest<'_>, store: Value) -> Option<Self> {
        if f.op(store) != Some(mem::STORE) {
            return None;
        }
        let (array, op) = (f.operand(store, 0)?, f.operand(store, 1)?.as_value()?);
        let block = f.block_of(store);
        let either = is_reduction(f.op(op)?)?;
        let indices: Vec<Operand> = element_indices(f, store)?.collect();
        let reads = |operand: Operand| {
            let load = operand.as_value()?;
            let fits = f.op(load) == Some(mem::LOAD)
                && f.operand(load, 0) == Some(array)
                && f.block_of(load) == block
                && element_indices(f, load)?.eq(indices.iter().copied())
                && only(f.uses(load)).is_some();
            fits.then_some(load)
        };
        let (x, y) = (f.operand(op, 0)?, f.operand(op, 1)?);
        let (load, addend) = match (reads(x), either.then(|| reads(y)).flatten()) {
            (Some(load), _) => (load, y),
            (None, Some(load)) => (load, x),
            (None, None) => return None,
        };
        let of_one_type = f.operand_type(addend) == f.ty(load) && f.ty(op) == f.ty(load);
        let alone = f.block_of(op) == block && only(f.uses(op)).is_some();
        (of_one_type && alone && addend != load.into()).then(|| Self {
            load,
            op,
            store,
            array,
            indices,
            addend,
            home: nest.loop_of(block),
        })
    }

    /// The operands of the op with other ones in the places of the element and of the addend.
    pub(super) fn operands(&self, f: &Function, element: Operand, addend: Operand) -> [Operand; 2] {
        if f.operand(self.op, 0) == Some(self.load.into()) {
            [element, addend]
        } else {
            [addend, element]
        }
    }

    pub(super) fn block(&self, f: &Function) -> Block {
        f.block_of(self.store)
    }
}
