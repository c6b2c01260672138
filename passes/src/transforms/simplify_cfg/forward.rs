//! Lets edges bypass blocks that are empty and jump on.

use crate::transforms::util::edit::jump_target;
use regraft_ir::{
    Block, ControlFlow, Edge, Function, Inst, IrResult, MAX_OPERANDS, Operand, Value, ValueDef,
};

/// The most arguments that an edge may get in addition when it bypasses an empty block that
/// other edges enter as well.
const MORE_ARGS: usize = 4;

/// Lets edges to empty blocks that jump on go to where those jump. Returns how many terminators
/// changed.
pub(super) fn forward_edges(f: &mut Function, cfg: &ControlFlow) -> IrResult<usize> {
    let mut forwarded = 0;
    // Whether the parameters of a block are used by its own terminator alone, once known. No
    // step of the loop below changes it.
    let mut private: Vec<Option<bool>> = vec![None; f.block_capacity()];
    for &block in cfg.postorder() {
        let Some(term) = f.terminator(block) else { continue };
        let mut operands: Vec<Operand> = f.plain_operands(term).collect();
        let mut changed = false;
        for edge in f.out_edges(block) {
            let target = f.edge_target(edge);
            match next_target(f, target, &mut private) {
                Some(next) => {
                    operands.push(next.into());
                    let args = f.operands(Value::terminator(target)).skip(1);
                    operands.extend(args.map(|arg| argument_of(f, edge, target, arg)));
                    changed = true;
                }
                None => {
                    operands.push(target.into());
                    operands.extend(f.edge_args(edge));
                }
            }
        }
        if changed && operands.len() <= MAX_OPERANDS {
            let op = f.op(term).expect("a terminator is an instruction");
            f.set_terminator(block, Inst::new(op).with_attrs(f.attrs(term)).operands(operands))?;
            forwarded += 1;
        }
    }
    Ok(forwarded)
}

/// Returns where `block` jumps, if it does nothing else and the edges to it may go there directly.
fn next_target(f: &Function, block: Block, private: &mut [Option<bool>]) -> Option<Block> {
    let (term, target) = (Value::terminator(block), jump_target(f, block)?);
    if target == block || Some(block) == f.entry() || f.first_inst(block).is_some() {
        return None;
    }
    let more = f.operand_count(term) - 1;
    if more > f.param_count(block) + MORE_ARGS && f.in_edges(block).nth(1).is_some() {
        return None;
    }
    let is_private = private[block.index()].get_or_insert_with(|| {
        f.params(block).all(|param| f.uses(param).all(|at| at.user == term))
    });
    is_private.then_some(target)
}

/// Returns what `arg`, which the empty block `to` passes on, is on the edge that enters it.
fn argument_of(f: &Function, edge: Edge, to: Block, arg: Operand) -> Operand {
    match arg.as_value().map(|v| f.def(v)) {
        Some(ValueDef::Param(block, position)) if block == to => {
            f.edge_arg(edge, position as usize).unwrap_or(arg)
        }
        _ => arg,
    }
}
