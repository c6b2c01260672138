//! Blocks are appended to the one that alone leads to them.

use regraft_ir::{Block, ControlFlow, Function, IrResult, Operand, Value};

use crate::transforms::util::edit::{jump_target, replace_if_it_fits};

/// Appends to each block those that it leads to and nothing else does. Returns how many.
pub(super) fn merge_chains(f: &mut Function, cfg: &ControlFlow) -> IrResult<usize> {
    let mut merged = 0;
    for block in cfg.reverse_postorder() {
        if !f.is_live_block(block) {
            continue;
        }
        merged += merge_after(f, block)?;
    }
    Ok(merged)
}

/// Appends to a block those that it leads to and nothing else does. Returns how many. O(size of what
/// is appended).
pub(in crate::transforms) fn merge_after(f: &mut Function, block: Block) -> IrResult<usize> {
    let mut merged = 0;
    while let Some(next) = only_successor(f, block) {
        if !bind_params(f, block, next)? {
            break;
        }
        f.merge_blocks(block, next)?;
        merged += 1;
    }
    Ok(merged)
}

/// The block that `block` jumps to, if nothing else leads there.
fn only_successor(f: &Function, block: Block) -> Option<Block> {
    let target = jump_target(f, block)?;
    let alone = f.in_edges(target).nth(1).is_none();
    (alone && target != block && Some(target) != f.entry()).then_some(target)
}

/// Lets what the only edge into `to` passes take the place of its parameters, as far as types
/// differ. Says whether all users accept it.
fn bind_params(f: &mut Function, from: Block, to: Block) -> IrResult<bool> {
    let args: Vec<Operand> = f.operands(Value::terminator(from)).skip(1).collect();
    let params: Vec<Value> = f.params(to).collect();
    for (param, arg) in params.into_iter().zip(args) {
        if f.operand_type(arg) != f.ty(param) && !replace_if_it_fits(f, param, arg)? {
            return Ok(false);
        }
    }
    Ok(true)
}
