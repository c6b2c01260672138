//! Loads of what is known to be one constant in all elements of an array.
//!
//! ```text
//! %31 = mem.fill 1.0, %1, %2                          %31 = mem.fill 1.0, %1, %2
//! for j, l, i, k                                      for j, l, i, k
//!   t = %31[(i-1)*m + k, (j-1)*n + l]           =>      t = 1.0
//!   %31[(i-1)*m + k, (j-1)*n + l] = 0.0                 %31[(i-1)*m + k, (j-1)*n + l] = 0.0
//! ```
//!
//! An element that is written has been read before, and no other iteration comes to it, as the
//! indices are injective.
//!
//! An array that `ad.accumulate` fills, and that nobody has looked at before, is made with that content
//! instead, so that nothing reads it there.

use regraft_dialects::{ad, mem};
use regraft_ir::{Function, IrResult, Operand, Value};

use super::made_arrays::ReductionAnalyses;
use super::nest::LoopNest;
use crate::analysis::memory_location::element_indices;
use crate::analysis::{Access, Poly, inst_effects, is_injective};
use crate::transforms::util::edit::only;

/// The loads of a nest that are known, with what they load.
pub(super) fn known_loads(
    analyses: &ReductionAnalyses<'_>,
    nest: &LoopNest<'_>,
) -> Vec<(Value, Operand)> {
    let f = analyses.f;
    let blocks = nest.forest.blocks(nest.root);
    let loads = blocks.iter().flat_map(|&block| f.body(block));
    let loads = loads.filter(|&v| f.op(v) == Some(mem::LOAD) && f.is_used(v));
    loads.filter_map(|load| Some((load, known(analyses, nest, load)?))).collect()
}

/// Replaces loads by what they load.
pub(super) fn replace(f: &mut Function, loads: &[(Value, Operand)]) -> IrResult<()> {
    loads.iter().try_for_each(|&(load, content)| f.replace_all_uses(load, content))
}

/// An array with the only instruction that makes its content what it is.
pub(super) struct Accumulated {
    maker: Value,
    accumulate: Value,
    content: Operand,
}

/// The arrays of known loads that can be made with their content.
pub(super) fn accumulated(
    analyses: &ReductionAnalyses<'_>,
    loads: &[(Value, Operand)],
) -> Vec<Accumulated> {
    let f = analyses.f;
    let mut found: Vec<Accumulated> = Vec::new();
    for &(load, content) in loads {
        let Some(maker) = f.operand(load, 0).and_then(Operand::as_value) else { continue };
        if f.op(maker) != Some(mem::ALLOC) || found.iter().any(|of| of.maker == maker) {
            continue;
        }
        let is_accumulate =
            |v: &Value| f.op(*v) == Some(ad::ACCUMULATE) && f.operand(*v, 0) == Some(maker.into());
        let mut users = f.uses(maker).map(|at| at.user);
        let Some(accumulate) = only(users.by_ref().filter(is_accumulate)) else { continue };
        let after = |user: Value| {
            let (at, block) = (f.block_of(user), f.block_of(accumulate));
            let reads = f.op(user).is_some_and(|op| [mem::LOAD, mem::STORE].contains(&op));
            user == accumulate || reads && analyses.dom.strictly_dominates(block, at)
        };
        if f.uses(maker).all(|at| after(at.user)) {
            found.push(Accumulated { maker, accumulate, content });
        }
    }
    found
}

impl Accumulated {
    /// Makes the array with its content.
    pub(super) fn make(&self, f: &mut Function) -> IrResult<()> {
        let ty = f.ty(self.maker);
        let dimensions: Vec<Operand> = f.operands(self.maker).collect();
        let made = mem::fill(self.content, dimensions).at(f.loc(self.maker));
        let new = f.insert(self.maker, made.made_from(self.maker))?;
        debug_assert_eq!(f.ty(new), ty, "the content is of the type of the elements");
        f.delete(self.accumulate)?;
        f.replace_named(self.maker, new)?;
        f.delete(self.maker)
    }
}

fn known(analyses: &ReductionAnalyses<'_>, nest: &LoopNest<'_>, load: Value) -> Option<Operand> {
    let f = analyses.f;
    let array = f.operand(load, 0)?;
    analyses.maker(array)?;
    let is_visible = analyses.aliases.is_visible(analyses.aliases.base(array));
    if is_visible || nest.contains_operand(f, array) {
        return None;
    }
    for &block in nest.forest.blocks(nest.root) {
        for v in f.body(block) {
            let effects = inst_effects(f, v, analyses.summaries);
            let touches = analyses.aliases.touches(f, &effects, array);
            if touches.intersects(Access::WRITES) && !is_overwritten_once(analyses, nest, load, v) {
                return None;
            }
        }
    }
    let mut apart = Vec::new();
    let content = analyses.content_at(array, nest.root, &mut apart)?;
    (apart.is_empty() && f.operand_type(content) == f.ty(load)).then_some(content)
}

/// Returns whether a write is to the element that a load has read just before, and to no other.
fn is_overwritten_once(
    analyses: &ReductionAnalyses<'_>,
    nest: &LoopNest<'_>,
    load: Value,
    store: Value,
) -> bool {
    let f = analyses.f;
    let block = f.block_of(load);
    if f.op(store) != Some(mem::STORE)
        || f.operand(store, 0) != f.operand(load, 0)
        || f.block_of(store) != block
        || !f.comes_before(load, store)
    {
        return false;
    }
    let (Some(read), Some(written)) = (element_indices(f, load), element_indices(f, store)) else {
        return false;
    };
    let read: Vec<Operand> = read.collect();
    let map: Vec<Poly> =
        read.iter().map(|&index| analyses.variables.evolution_at(f, index, block)).collect();
    let loops = nest.around(block);
    written.eq(read.iter().copied())
        && is_injective(
            &map,
            &loops,
            (nest.root, block),
            (analyses.variables, analyses.counts, analyses.dom),
        )
}
