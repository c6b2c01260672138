//! Strongly connected components: blocks from each of which all others are reached.
//!
//! Tarjan, "Depth-first search and linear graph algorithms" (1972), without recursion.

use regraft_ir::{Block, Function};

/// Not among the blocks in question, or done with.
const OUTSIDE: u32 = u32::MAX;
/// Not yet found.
const UNSEEN: u32 = u32::MAX - 1;

/// Finds components among sets of blocks of one function.
pub(super) struct Components<'a> {
    f: &'a Function,
    /// By [`Block::index`]: the number in the order of discovery. All outside between searches.
    index: Vec<u32>,
    low: Vec<u32>,
}

impl<'a> Components<'a> {
    /// A search over blocks of `f`. O(blocks of the function).
    pub(super) fn new(f: &'a Function) -> Self {
        let blocks = f.block_capacity();
        Self { f, index: vec![OUTSIDE; blocks], low: vec![0; blocks] }
    }

    /// The components of the graph among some blocks, each after those that it leads to; single
    /// blocks included. O(blocks and edges of these).
    pub(super) fn among(&mut self, blocks: &[Block]) -> Vec<Vec<Block>> {
        for block in blocks {
            self.index[block.index()] = UNSEEN;
        }
        let f = self.f;
        let (mut found, mut open, mut count) = (Vec::new(), Vec::new(), 0);
        for &root in blocks {
            if self.index[root.index()] != UNSEEN {
                continue;
            }
            let mut path = vec![(root, f.out_edges(root))];
            self.enter(root, &mut count, &mut open);
            while let Some((block, edges)) = path.last_mut() {
                let block = *block;
                if let Some(edge) = edges.next() {
                    let target = f.edge_target(edge);
                    match self.index[target.index()] {
                        OUTSIDE => {}
                        UNSEEN => {
                            self.enter(target, &mut count, &mut open);
                            path.push((target, f.out_edges(target)));
                        }
                        index => {
                            let low = &mut self.low[block.index()];
                            *low = (*low).min(index);
                        }
                    }
                    continue;
                }
                path.pop();
                let low = self.low[block.index()];
                if let Some(&(parent, _)) = path.last() {
                    let parent = &mut self.low[parent.index()];
                    *parent = (*parent).min(low);
                }
                if low == self.index[block.index()] {
                    let start = open.iter().rposition(|&b| b == block).unwrap_or(0);
                    let component: Vec<Block> = open.drain(start..).collect();
                    for &b in &component {
                        self.index[b.index()] = OUTSIDE;
                    }
                    found.push(component);
                }
            }
        }
        found
    }

    fn enter(&mut self, block: Block, count: &mut u32, open: &mut Vec<Block>) {
        self.index[block.index()] = *count;
        self.low[block.index()] = *count;
        *count += 1;
        open.push(block);
    }
}
