//! Sizes of arrays that parameters of blocks carry, in place of the instructions that ask for them.

use regraft_dialects::mem;
use regraft_ir::{ControlFlow, Function, IrResult, Operand, TypeKind, Value};
use rustc_hash::FxHashMap;

use crate::analysis::{CarriedSizes, Size};

/// Replaces lengths and sizes of parameters by what they always are. Returns how many.
pub(super) fn replace_sizes(
    f: &mut Function,
    cfg: &ControlFlow,
    carried: &CarriedSizes,
) -> IrResult<usize> {
    // What a size is said to be may be one that was asked of another parameter.
    let mut found: FxHashMap<Value, Operand> = FxHashMap::default();
    for param in carried.params() {
        let asks = f.uses(param).filter(|at| at.index == 0 && !at.user.is_terminator());
        let asks = asks.map(|at| at.user).filter(|&v| cfg.is_reachable(f.block_of(v)));
        for v in asks.collect::<Vec<Value>>() {
            let Some(size) = size_asked(f, carried, param, v) else { continue };
            let mut with: Operand = match size {
                Size::Const(n) => f.constant_id(n).into(),
                Size::Value(size) => size.into(),
                Size::Of(array, dim) => match *f.ctx().kind(f.ty(array)) {
                    TypeKind::Array { rank: 1, .. } => f.insert(v, mem::length(array))?.into(),
                    _ => {
                        let dim = f.constant_id(i64::from(dim));
                        f.insert(v, mem::size(array, dim))?.into()
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

/// The size, or number of elements, that an instruction asks a parameter for, if that is known.
fn size_asked(f: &Function, carried: &CarriedSizes, param: Value, v: Value) -> Option<Size> {
    let TypeKind::Array { rank, .. } = *f.ctx().kind(f.ty(param)) else { return None };
    let size = match f.op(v)? {
        mem::LENGTH if rank == 1 => carried.size(param, 1)?,
        mem::LENGTH => {
            let number = |product: i64, dim| match carried.size(param, dim)? {
                Size::Const(n) => product.checked_mul(n),
                _ => None,
            };
            Size::Const((1..=rank).try_fold(1, number)?)
        }
        mem::SIZE => {
            let dim = f.const_i64(f.operand(v, 1)?)?;
            carried.size(param, u8::try_from(dim).ok()?)?
        }
        _ => return None,
    };
    let is_size = |size| matches!(size, Size::Value(size) if f.ty(size) != f.ty(v));
    (!is_size(size)).then_some(size)
}
