//! Liveness of single values, as far as that is found out at little cost.

use regraft_ir::{Block, Function, Value};
use smallvec::SmallVec;

/// The most uses and edges that are looked at.
const LIMIT: usize = 64;

/// Returns whether a value is live at the start of `target`, so that it had two definitions there
/// if an edge came from `from`, which its block does not lead to. `None` if it is not found out, or
/// if `from` is among the blocks that the value is live in.
pub(super) fn is_live_behind(f: &Function, v: Value, from: Block, target: Block) -> Option<bool> {
    let live = live_blocks(f, v)?;
    if live.contains(&from) {
        return None;
    }
    Some(live.contains(&target))
}

/// The blocks at whose start a value is live, but for its own; `None` if that takes looking at more
/// than [`LIMIT`] uses and edges.
fn live_blocks(f: &Function, v: Value) -> Option<SmallVec<[Block; 8]>> {
    let home = f.block_of(v);
    let mut live: SmallVec<[Block; 8]> = SmallVec::new();
    let mut seen = 0;
    let mut reach = |block: Block, live: &mut SmallVec<[Block; 8]>| {
        seen += 1;
        if block != home && !live.contains(&block) {
            live.push(block);
        }
        seen <= LIMIT
    };
    for at in f.uses(v) {
        if !reach(f.block_of(at.user), &mut live) {
            return None;
        }
    }
    let mut next = 0;
    while let Some(&block) = live.get(next) {
        next += 1;
        for edge in f.in_edges(block) {
            if !reach(edge.from, &mut live) {
                return None;
            }
        }
    }
    Some(live)
}
