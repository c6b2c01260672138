//! The blocks from which control may come to a return.

use regraft_dialects::cf;
use regraft_ir::{Block, Function, Value};

/// By [`Block::index`], the blocks from which control may come to a return. Linear.
pub(crate) fn returning_blocks(f: &Function) -> Vec<bool> {
    let mut found = vec![false; f.block_capacity()];
    let returns = |block: &Block| f.op(Value::terminator(*block)) == Some(cf::RETURN);
    let mut pending: Vec<Block> = f.blocks().filter(returns).collect();
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut found[block.index()], true) {
            pending.extend(f.in_edges(block).map(|edge| edge.from));
        }
    }
    found
}
