//! Edits that several transformations share.
//!
//! # Values of a subtype
//! A value of type `any` may stand for one of any type, but the reverse use is not always valid:
//! `arith.add %1, %2` with `%1: any` and `%2: f64` is, and with an `i64` constant in the place of
//! `%1` it is not. Such a program traps where the replacement would not even verify.

use regraft_dialects::core;
use regraft_ir::{
    Block, ControlFlow, Edge, Function, InstView, IrResult, Operand, Traits, Type, Use, Value,
};
use smallvec::SmallVec;

use crate::analysis::Analyses;

/// Makes the uses of `old` uses of `new` wherever the user accepts it. Returns whether all did.
/// O(uses).
pub(crate) fn replace_where_it_fits(f: &mut Function, old: Value, new: Operand) -> IrResult<bool> {
    if f.operand_type(new) == f.ty(old) {
        f.replace_named(old, new)?;
        return Ok(true);
    }
    let uses: Vec<Use> = f.uses(old).collect();
    for at in uses {
        // The error says that the types do not fit, and leaves the use as it was.
        let _ = f.set_operand(at.user, at.index as usize, new);
    }
    Ok(!f.is_used(old))
}

/// The same, but changes nothing if one user does not accept `new`.
pub(crate) fn replace_if_it_fits(f: &mut Function, old: Value, new: Operand) -> IrResult<bool> {
    if f.operand_type(new) == f.ty(old) {
        return replace_where_it_fits(f, old, new);
    }
    let uses: Vec<Use> = f.uses(old).collect();
    for (done, at) in uses.iter().enumerate() {
        if f.set_operand(at.user, at.index as usize, new).is_err() {
            for at in &uses[..done] {
                f.set_operand(at.user, at.index as usize, old)?;
            }
            return Ok(false);
        }
    }
    f.transfer_name(old, new);
    Ok(true)
}

/// Deletes the blocks that the entry does not reach. Returns how many there were. O(blocks +
/// operands of terminators + size of what goes).
pub(crate) fn delete_unreachable(f: &mut Function, analyses: &mut Analyses) -> IrResult<usize> {
    let cfg = analyses.get::<ControlFlow>(f);
    if cfg.reachable_count() == f.block_count() {
        return Ok(0);
    }
    let unreachable: Vec<Block> = f.blocks().filter(|&block| !cfg.is_reachable(block)).collect();
    f.delete_blocks(&unreachable)?;
    Ok(unreachable.len())
}

/// Makes all uses of `old` uses of `new`, which may be of a subtype: where a user does not
/// take that, of `new` as a value of the type of `old`, from just before `at` on. O(uses).
pub(crate) fn replace_or_widen(
    f: &mut Function,
    old: Value,
    new: Operand,
    at: Value,
) -> IrResult<()> {
    if !replace_where_it_fits(f, old, new)? {
        let ty = f.ty(old);
        let wide = f.insert(at, core::convert(new, ty))?;
        f.replace_named(old, wide)?;
    }
    Ok(())
}

/// Gives `v` a subtype if all its users take it. Returns whether they do; nothing has
/// changed if not. O(operands of the users).
pub(crate) fn refine(f: &mut Function, v: Value, ty: Type) -> IrResult<bool> {
    if !ty.is_assignable_to(f.ty(v)) || ty == Type::NEVER {
        return Ok(false);
    }
    let takes = |at: Use| {
        let result = f.with_view(at.user, |view| {
            let types: SmallVec<[Type; 8]> = view
                .operands
                .iter()
                .zip(view.types)
                .map(|(&operand, &old)| if operand == v.into() { ty } else { old })
                .collect();
            InstView { types: &types, ..*view }.result_type()
        });
        // What is passed along edges or returned may always be of a subtype.
        result.is_ok_and(|ty| at.user.is_terminator() || ty.is_assignable_to(f.ty(at.user)))
    };
    let all = f.uses(v).all(takes);
    if all {
        f.set_type(v, ty)?;
    }
    Ok(all)
}

/// The block that a block jumps to, if it ends with a jump.
pub(crate) fn jump_target(f: &Function, block: Block) -> Option<Block> {
    let term = f.terminator(block)?;
    let is_jump = f.op_def(term)?.traits.contains(Traits::JUMP);
    f.operand(term, 0)?.as_block().filter(|_| is_jump)
}

/// Deletes an instruction that is no longer used, and what only it needs.
pub(crate) fn delete_unused(f: &mut Function, v: Option<Value>) -> IrResult<()> {
    match v {
        Some(v) if f.is_live(v) && !f.is_used(v) && f.is_removable(v) => f.delete_tree(v).map(drop),
        _ => Ok(()),
    }
}

/// The only item, if there is exactly one.
pub(crate) fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns the only edge by which control comes to a block; `None` for the entry, to which it comes from outside.
pub(crate) fn only_edge_into(f: &Function, block: Block) -> Option<Edge> {
    only(f.in_edges(block)).filter(|_| Some(block) != f.entry())
}

/// Makes the operands of `user` that are `old` be `new`.
pub(crate) fn replace_in(f: &mut Function, user: Value, old: Value, new: Operand) -> IrResult<()> {
    for index in 0..f.operand_count(user) {
        if f.operand(user, index) == Some(old.into()) {
            f.set_operand(user, index, new)?;
        }
    }
    Ok(())
}

pub(crate) fn name_copy(f: &mut Function, old: Value, new: Value) -> IrResult<()> {
    match f.value_symbol(old) {
        Some(name) => f.name_after(new, name),
        None => Ok(()),
    }
}

/// Moves the instructions of a block, in their order, to right before `at`.
pub(crate) fn move_body(f: &mut Function, block: Block, at: Value) -> IrResult<()> {
    let body: Vec<Value> = f.body(block).collect();
    body.into_iter().try_for_each(|v| f.move_before(v, at))
}
