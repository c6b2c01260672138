//! Shadows that the reverse sweep makes: those of arrays that an iteration of a loop makes for itself.
//!
//! ```text
//! for i                                   for i
//!   t = w .* x[:, i]; dt = zeros(n)         t = w .* x[:, i]
//!   kept[i] = dt                     =>
//! for i, back                             for i, back
//!   dt = kept[i]                            dt = zeros(n)
//! ```
//!
//! The forward sweep makes the shadow of an array beside it. If that is all that it does with it, the shadow holds zeros when
//! the reverse sweep comes to it: so that makes it, and nothing is kept.
//!
//! # Method
//! The place is the counterpart of a block in the loop of the array, and in no loop within that, which dominates all blocks of
//! the reverse sweep that use the shadow: the nearest common dominator of these, or the next one above it that fits.
//!
//! # Why it is right
//! But by errors, the loop is left from one block, its header or its only latch. The reverse sweep enters the loop by the
//! counterpart of that block, which dominates the place. Between two visits to that counterpart one iteration is reversed, but for the header of a loop that is
//! left there, and so that one has neither the array nor the place. The place comes before all uses of that iteration: a way to a
//! use around it, after the first way to the counterpart, would be one from the entry. It comes once, as it is in no inner loop.
//!
//! # Cost
//! O(uses × depth of the dominator tree).

use regraft_dialects::mem;
use regraft_ir::{Block, DominatorTree, Function, Value};
use regraft_passes::analysis::{LoopExit, LoopId};
use rustc_hash::FxHashMap;

use super::augment::Augmented;
use super::backward::Sweep;
use super::loops::Loops;
use super::tape_plan::Place;

/// The shadows that a reverse sweep makes, with the places where it does.
pub(super) fn late_shadows(
    aug: &Augmented,
    sweep: &Sweep,
    loops: &Loops,
) -> FxHashMap<Value, Place> {
    let f = &aug.f;
    let mut users: FxHashMap<Value, Vec<Block>> = FxHashMap::default();
    let is_left_alone = |v: Value| {
        f.op(v) == Some(mem::ALLOC) && !f.is_used(v) && aug.result_shadow != Some(v.into())
    };
    for shadow in aug.shadows.values().filter_map(|shadow| shadow.as_value()) {
        let home = f.block_of(shadow);
        if !loops.runs_once(home) && !loops.is_irregular(home) && is_left_alone(shadow) {
            users.insert(shadow, Vec::new());
        }
    }
    if users.is_empty() {
        return FxHashMap::default();
    }
    for residual in &sweep.residuals {
        if let Some(blocks) = users.get_mut(&residual.value) {
            blocks.push(residual.place);
        }
    }
    let dom = DominatorTree::compute(&sweep.f);
    let mut reversed: FxHashMap<Block, Block> = FxHashMap::default();
    for block in f.blocks() {
        if let Some(counterpart) = sweep.blocks[block.index()] {
            reversed.insert(counterpart, block);
        }
    }
    let find = |(shadow, users): (Value, Vec<Block>)| {
        let home = f.block_of(shadow);
        let l = loops.forest.loop_of(home)?;
        let (left_from, enters) = reversed_from(f, sweep, loops, l, home)?;
        let fits = |&(block, place): &Place| {
            loops.forest.loop_of(block) == Some(l)
                && !loops.is_irregular(block)
                && loops.dom.dominates(home, block)
                && dom.dominates(enters, place)
                && (block != left_from || block != loops.forest.get(l).header)
        };
        let nearest = users.into_iter().map(Some).reduce(|a, b| dom.common_dominator(a?, b?))??;
        std::iter::successors(Some(nearest), |&at| dom.idom(at))
            .filter_map(|place| Some((*reversed.get(&place)?, place)))
            .find(fits)
            .map(|place| (shadow, place))
    };
    users.into_iter().filter_map(find).collect()
}

/// The only block that a loop is left from but by errors, its header or its latch, with its counterpart, by which the reverse
/// sweep enters the loop. `None` if there are others, or if it is a header before the latch and the `home` of the array.
fn reversed_from(
    f: &Function,
    sweep: &Sweep,
    loops: &Loops,
    l: LoopId,
    home: Block,
) -> Option<(Block, Block)> {
    let around = loops.forest.get(l);
    let returns = |exit: &&LoopExit| sweep.blocks[f.edge_target(exit.edge(f)).index()].is_some();
    let mut left_from = around.exits.iter().filter(returns).map(|exit| exit.from);
    let first = left_from.next()?;
    let is_latch = around.single_latch() == Some(first);
    let is_known = is_latch || first == around.header && home != first;
    (is_known && left_from.all(|other| other == first))
        .then(|| sweep.blocks[first.index()].map(|enters| (first, enters)))?
}
