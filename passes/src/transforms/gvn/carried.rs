//! Sizes of arrays that parameters of blocks carry, and of their copies, in place of the instructions that ask for them.

use regraft_dialects::mem;
use regraft_ir::{ControlFlow, Function, IrResult, Operand, TypeKind, Value};
use rustc_hash::FxHashMap;

use crate::analysis::{CarriedSizes, Size};

/// Replaces lengths and sizes of such arrays by what they always are. Returns how many.
pub(super) fn replace_sizes(
    f: &mut Function,
    cfg: &ControlFlow,
    carried: &CarriedSizes,
) -> IrResult<usize> {
    // What a size is said to be may be one that was asked of another parameter.
    let mut found: FxHashMap<Value, Operand> = FxHashMap::default();
    for array in carried.arrays() {
        let asks = f.uses(array).filter(|at| at.index == 0 && !at.user.is_terminator());
        let asks = asks.map(|at| at.user).filter(|&v| cfg.is_reachable(f.block_of(v)));
        for v in asks.collect::<Vec<Value>>() {
            let Some(size) = size_asked(f, carried, array, v) else { continue };
            let mut with: Operand = match size {
                Size::Const(n) => f.constant_id(n).into(),
                Size::Value(size) => size.into(),
                Size::Of(other, dim) => match *f.ctx().kind(f.ty(other)) {
                    TypeKind::Array { rank: 1, .. } => f.insert(v, mem::length(other))?.into(),
                    _ => {
                        let dim = f.constant_id(i64::from(dim));
                        f.insert(v, mem::size(other, dim))?.into()
                    }
                },
            };
            while let Some(&other) = with.as_value().and_then(|size| found.get(&size)) {
                with = other;
            }
            f.replace_named(v, with)?;
            found.insert(v, with);
        }
    }
    let mut gone: Vec<Value> = found.into_keys().collect();
    gone.sort_unstable();
    f.delete_all(&gone)?;
    Ok(gone.len())
}

/// The size, or number of elements, that an instruction asks an array for, if that is known.
fn size_asked(f: &Function, carried: &CarriedSizes, array: Value, v: Value) -> Option<Size> {
    let TypeKind::Array { rank, .. } = *f.ctx().kind(f.ty(array)) else { return None };
    let size = match f.op(v)? {
        mem::LENGTH if rank == 1 => carried.size(array, 1)?,
        mem::LENGTH => {
            let number = |product: i64, dim| match carried.size(array, dim)? {
                Size::Const(n) => product.checked_mul(n),
                _ => None,
            };
            Size::Const((1..=rank).try_fold(1, number)?)
        }
        mem::SIZE => {
            let dim = f.const_i64(f.operand(v, 1)?)?;
            carried.size(array, u8::try_from(dim).ok()?)?
        }
        _ => return None,
    };
    let is_size = |size| matches!(size, Size::Value(size) if f.ty(size) != f.ty(v));
    (!is_size(size)).then_some(size)
}
