//! Edits of instructions, parameters of blocks, and operands.

use regraft_ir::{Constant, Function, Operand, Type, Value};

use super::{Simpler, complexity, replace_by_zero, zero};

/// Deletes up to `length` instructions of a block from `first` on; zeros stand for what they
/// give. Those whose type has no zero stay if they are used.
pub(super) fn remove_run(f: &mut Function, first: Value, length: usize) -> Option<()> {
    let mut run = vec![first];
    while run.len() < length {
        match f.next_inst(run[run.len() - 1]) {
            Some(next) if !next.is_terminator() => run.push(next),
            _ => break,
        }
    }
    if run.len() < length && length > 1 && run.len() > 1 && f.prev_inst(first).is_some() {
        // The end of the block is tried as a run of its own length.
        return None;
    }
    let mut any = false;
    for v in run.into_iter().rev() {
        any |= replace_by_zero(f, v).is_some() && f.delete(v).is_ok();
    }
    any.then_some(())
}

/// Makes a zero of an operand.
pub(super) fn clear_operand(f: &mut Function, v: Value, index: usize) -> Option<()> {
    let old = f.operand(v, index)?;
    let zero = zero(f.ctx(), f.operand_type(old))?;
    let zero = f.constant_id(zero);
    f.set_operand(v, index, zero).ok()
}

/// Makes an operand of an instruction, or beyond these a parameter of the function, stand for
/// the result, and deletes the instruction.
pub(super) fn forward(f: &mut Function, v: Value, index: usize) -> Option<()> {
    let count = f.operand_count(v);
    let new = match f.operand(v, index) {
        Some(operand) => operand,
        None => f.param(f.entry()?, index - count)?.into(),
    };
    if new.is_block() || f.operand_type(new) != f.ty(v) || new == Operand::from(v) {
        return None;
    }
    f.replace_all_uses(v, new).ok()?;
    f.delete(v).ok()
}

/// Makes what an operand is made of stand in its place, and deletes what made it.
pub(super) fn lift(f: &mut Function, v: Value, index: usize, nth: usize) -> Option<()> {
    let by = f.operand(v, index)?.as_value()?;
    let part = f.operand(by, nth).filter(|part| !part.is_block())?;
    f.set_operand(v, index, part).ok()?;
    f.delete(by).ok()
}

/// Removes a parameter of a block. A zero stands for it, or what one of the edges passes.
pub(super) fn remove_block_param(f: &mut Function, v: Value, by_zero: bool) -> Option<()> {
    if by_zero {
        replace_by_zero(f, v)?;
    } else {
        let block = f.block_of(v);
        let position = f.params(block).position(|param| param == v)?;
        let args: Vec<Operand> = f
            .in_edges_in_order(block)
            .into_iter()
            .filter_map(|e| f.edge_args(e).nth(position))
            .collect();
        let new = args.into_iter().find(|&arg| arg != Operand::from(v))?;
        f.replace_all_uses(v, new).ok()?;
    }
    f.remove_param(v).ok()
}

/// Makes a constant a simpler one.
pub(super) fn simplify(f: &mut Function, v: Value, index: usize, how: Simpler) -> Option<()> {
    let old = f.ctx().constant(f.operand(v, index)?.as_const()?);
    let ty = f.operand_type(f.operand(v, index)?);
    let new = match (how, old.as_int()) {
        (Simpler::Zero, _) => zero(f.ctx(), ty).filter(|_| ty != Type::ANY)?,
        (Simpler::One, _) => Constant::int(ty, 1).or_else(|| Constant::float(ty, 1.0))?,
        (Simpler::Half, Some(x)) => Constant::int(ty, x / 2)?,
        (Simpler::Half, None) => Constant::float(ty, (old.as_float()? / 2.0).round())?,
        (Simpler::Less, Some(x)) => Constant::int(ty, x - x.signum())?,
        (Simpler::Less, None) => Constant::float(ty, 2.0)?,
    };
    if complexity(new) >= complexity(old) {
        return None;
    }
    let new = f.constant_id(new);
    f.set_operand(v, index, new).ok()
}
