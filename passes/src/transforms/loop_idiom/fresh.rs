//! Arrays that are filled, or copied to, right after they were made: one instruction does both.
//!
//! ```text
//! %1: array<f64, 1> = mem.alloc %n        =>     %1: array<f64, 1> = mem.fill 1.0, %n
//! mem.fill_in_place %1, 1.0
//! ```

use regraft_dialects::mem;
use regraft_ir::{Constant, Function, Inst, IrResult, Operand, Value};

use crate::analysis::{Access, EffectSummaries, inst_effects};

/// Lets the instruction that makes an array in the same block make its contents too, in the place of `new`,
/// which sets all of them. Returns whether it could.
pub(super) fn join(f: &mut Function, new: Value, summaries: &EffectSummaries) -> IrResult<bool> {
    let array = f.operand(new, 0).and_then(Operand::as_value);
    let Some(array) = array.filter(|&array| f.op(array) == Some(mem::ALLOC)) else {
        return Ok(false);
    };
    let Some(inst) = made_with_contents(f, array, new, summaries) else { return Ok(false) };
    if let Some(inst) = inst {
        f.replace(array, inst)?;
    }
    f.delete(new)?;
    Ok(true)
}

/// The instruction that makes `array` with the elements that `new` puts in it; an inner `None` if the present one
/// does, with zeros.
fn made_with_contents(
    f: &Function,
    array: Value,
    new: Value,
    summaries: &EffectSummaries,
) -> Option<Option<Inst>> {
    let block = f.block_of(new);
    let is_there = |operand: Operand| {
        operand
            .as_value()
            .is_none_or(|v| f.block_of(v) != block || f.is_param(v) || f.comes_before(v, array))
    };
    let from = f.operand(new, 1)?;
    if f.block_of(array) != block || f.is_used(new) || f.checks_operands(array) || !is_there(from) {
        return None;
    }
    // In between, nothing looks at the array, and nothing changes what is copied.
    let copies = f.op(new) == Some(mem::COPYTO);
    let mut at = f.next_inst(array)?;
    while at != new {
        let asks_size = matches!(f.op(at), Some(mem::LENGTH | mem::SIZE | mem::SHAPE));
        let writes = inst_effects(f, at, summaries).all_accesses().intersects(Access::WRITES);
        if !asks_size && f.operands(at).any(|operand| operand == array.into()) || copies && writes {
            return None;
        }
        at = f.next_inst(at)?;
    }
    let (loc, ty) = (f.loc(array), f.ty(array));
    if copies {
        let is_same = f.operand_type(from) == ty;
        return is_same.then(|| Some(mem::copy(from).at(loc)));
    }
    let dims: Vec<Operand> = f.operands(array).collect();
    let element = f.operand_type(from);
    if f.ctx().array_type(element, u8::try_from(dims.len()).ok()?) != ty {
        return None;
    }
    match Constant::zero(element).zip(f.constant(from)) {
        Some((zero, constant)) if zero == constant => Some(None),
        _ => Some(Some(mem::fill(from, dims).at(loc))),
    }
}
