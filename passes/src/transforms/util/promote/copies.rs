//! The shapes of copies of arrays, where tests say them.
//!
//! ```text
//! ^1: %2 = mem.size %1, 1        ^3: %4 = mem.size %1, 2          ^4:
//!     %3 = arith.eq %2, 14           %5 = arith.eq %4, 4            %6 = mem.copy %1     14 by 4
//!     br %3, ^3, ^9                  br %5, ^4, ^9
//! ```
//!
//! Only arrays of two dimensions and more are looked at: vectors may grow after the test.

use regraft_dialects::{arith, cf, mem};
use regraft_ir::{Block, Constant, DominatorTree, Function, IrResult, TypeKind, Value};

use super::objects::Object;
use crate::analysis::conditions::entering_edge;

/// Returns the dimensions of what `copy` copies, if dominating tests say them. O(uses of that).
pub(super) fn dimensions(f: &Function, tree: &DominatorTree, copy: Value) -> Option<Vec<i64>> {
    let source = f.operand(copy, 0)?.as_value()?;
    let &TypeKind::Array { rank, .. } = f.ctx().kind(f.ty(source)) else { return None };
    let rank = Some(usize::from(rank)).filter(|&rank| rank >= 2)?;
    let at = f.block_of(copy);
    let mut dims = vec![None; rank];
    for size in f.uses_in_order(source) {
        if f.op(size.user) != Some(mem::SIZE) {
            continue;
        }
        let dim = f.operand(size.user, 1).and_then(|dim| f.const_i64(dim));
        let dim = dim.and_then(|dim| usize::try_from(dim - 1).ok()).filter(|&dim| dim < rank);
        if let Some(dim) = dim
            && dims[dim].is_none()
        {
            dims[dim] = tested(f, tree, size.user, at);
        }
    }
    dims.into_iter().collect()
}

/// Returns the constant that a value equals in a block, if a dominating branch says so.
fn tested(f: &Function, tree: &DominatorTree, v: Value, at: Block) -> Option<i64> {
    f.uses(v).filter(|test| f.op(test.user) == Some(arith::EQ)).find_map(|test| {
        let other = f.operand(test.user, usize::from(test.index == 0))?;
        let constant = f.const_i64(other)?;
        f.uses(test.user).any(|branch| holds(f, tree, branch.user, at)).then_some(constant)
    })
}

/// Returns whether the condition of a branch is true in a block.
fn holds(f: &Function, tree: &DominatorTree, branch: Value, at: Block) -> bool {
    if f.op(branch) != Some(cf::BR) {
        return false;
    }
    let mut edges = f.out_edges(f.block_of(branch));
    let (Some(then), Some(_)) = (edges.next(), edges.next()) else { return false };
    let target = f.edge_target(then);
    entering_edge(f, tree, target) == Some(then) && tree.dominates(target, at)
}

/// Loads what copies begin with. Loads of elements that nobody reads are dead.
pub(super) fn load(f: &mut Function, objects: &mut [Object]) -> IrResult<()> {
    let in_bounds = [(f.ctx().symbol("inbounds"), f.constant_id(Constant::Bool(true)))];
    let in_bounds = f.ctx().attrs(&in_bounds);
    for object in objects {
        if f.op(object.alloc) != Some(mem::COPY) {
            continue;
        }
        let Some(source) = f.operand(object.alloc, 0) else { continue };
        for (index, cell) in (1..).zip(&mut object.cells) {
            let index = f.constant_id(Constant::I64(index));
            let load = mem::load(source, [index]).with_attrs(in_bounds);
            cell.first = f.insert(object.alloc, load)?.into();
        }
    }
    Ok(())
}
