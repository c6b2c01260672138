//! Edits that several transformations share.
//!
//! # Values of a subtype
//! A value of type `any` may stand for one of any type, but the reverse use is not always valid:
//! `arith.add %1, %2` with `%1: any` and `%2: f64` is, and with an `i64` constant in the place of
//! `%1` it is not. Such a program traps where the replacement would not even verify.

use regraft_dialects::core;
use regraft_ir::{
    Block, ControlFlow, Function, InstView, IrResult, Operand, Traits, Type, Use, Value,
};
use smallvec::SmallVec;

use crate::analysis::Analyses;

/// Makes the uses of `old` uses of `new` wherever the user accepts it. Returns whether all did.
/// O(uses).
pub(crate) fn replace_where_it_fits(f: &mut Function, old: Value, new: Operand) -> IrResult<bool> {
    if f.operand_type(new) == f.ty(old) {
        f.transfer_name(old, new);
        f.replace_all_uses(old, new)?;
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
        f.transfer_name(old, wide);
        f.replace_all_uses(old, wide)?;
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

/// Returns whether a block ends without going or returning anywhere: an error was thrown. Nothing
/// is to be gained there.
pub(crate) fn is_cold(f: &Function, block: Block) -> bool {
    let def = f.op_def(Value::terminator(block));
    def.is_some_and(|def| !def.traits.contains(Traits::RETURN))
        && f.out_edges(block).next().is_none()
}
