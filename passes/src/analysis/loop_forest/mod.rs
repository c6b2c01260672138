//! The loop forest: which blocks are loops, and how loops are nested.
//!
//! A **natural loop** is what an edge back to a dominator of its source closes: the header is
//! the only way in, the latches are where the back edges come from. Loops with the same header
//! are one loop. The bodies are found by walking backward from the latches, innermost loops
//! first, where each inner loop is stepped over as one node (as in LLVM's `LoopInfo`, after Tarjan:
//! "Testing flow graph reducibility", 1974); every edge is looked at once for each loop that it
//! leaves, and the union-find makes that near linear.
//!
//! A cycle that no header dominates (`goto` into the middle of a loop) is no natural loop. It is
//! named as an **irreducible region**, a strongly connected component (Tarjan 1972) of the
//! innermost loop around it without that loop's header, and never treated as a loop.
//!
//! ```text
//! ^1: br ^2(0)                       loop ^2, depth 1
//! ^2(%1): br %3, ^3, ^4                header ^2, latch ^3, preheader ^1
//! ^3: br ^2(%4)                        exit ^2 -> ^4
//! ^4: return %1
//! ```

mod finder;

use std::fmt::Write as _;

use regraft_ir::{Block, ControlFlow, DominatorTree, Edge, Function};

use super::block_list::{list, text_or};
use super::components::Components;

/// No loop.
const NONE: u32 = u32::MAX;

/// The id of a loop in its [`LoopForest`]. Outer loops come before those within them, and loops
/// beside each other in the order of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(u32);

impl LoopId {
    /// A dense index for side tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that every way in goes through.
    pub header: Block,
    /// The innermost loop around it.
    pub parent: Option<LoopId>,
    /// 1 for a loop that is in no other.
    pub depth: u32,
    /// The blocks that go back to the header, in reverse postorder.
    pub latches: Vec<Block>,
    /// The edges that leave it, in reverse postorder of their sources.
    pub exits: Vec<LoopExit>,
    /// The block outside that goes to the header and nowhere else, if only one block enters.
    pub preheader: Option<Block>,
    /// True if an irreducible region is in it.
    pub has_irreducible: bool,
    /// Its blocks in `LoopForest::order`.
    range: (u32, u32),
    /// The range in `LoopForest::own` of its blocks that are in no loop within it.
    own: (u32, u32),
    /// The loops within it follow it up to here.
    subtree_end: u32,
}

/// An edge that leaves a loop: the block, and which of its edges it is. The position of an edge
/// among operands changes with the arguments that edges pass, which is no change of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopExit {
    /// The block that it leaves.
    pub from: Block,
    nth: u32,
}

impl LoopExit {
    /// The edge as it is now. O(operands of the terminator).
    ///
    /// # Panics
    /// If the terminator has fewer edges than when the loop was found.
    #[track_caller]
    pub fn edge(self, f: &Function) -> Edge {
        let edge = f.out_edges(self.from).nth(self.nth as usize);
        match edge {
            Some(edge) => edge,
            None => panic!("{} has fewer edges than it had", self.from),
        }
    }
}

impl Loop {
    /// The only latch.
    pub fn single_latch(&self) -> Option<Block> {
        if let [latch] = *self.latches { Some(latch) } else { None }
    }
}

/// Blocks that form a cycle which can be entered in more than one place.
#[derive(Clone, Debug)]
pub struct IrreducibleRegion {
    /// Its blocks, in reverse postorder.
    pub blocks: Vec<Block>,
    /// The innermost natural loop around it.
    pub within: Option<LoopId>,
}

/// The natural loops of a function, and its irreducible regions.
#[derive(Clone, Debug)]
pub struct LoopForest {
    loops: Vec<Loop>,
    /// The reachable blocks, such that the blocks of each loop stand together, its header first;
    /// otherwise in reverse postorder.
    order: Vec<Block>,
    /// The blocks that are in loops, those with the same innermost loop together.
    own: Vec<Block>,
    /// The innermost loop by [`Block::index`].
    innermost: Vec<u32>,
    irreducible: Vec<IrreducibleRegion>,
}

impl LoopForest {
    /// The loops, outer ones before those within them.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = LoopId> + ExactSizeIterator + use<> {
        (0..self.loops.len() as u32).map(LoopId)
    }

    /// The loops, inner ones before those around them.
    pub fn innermost_first(&self) -> impl Iterator<Item = LoopId> + use<> {
        self.loops().rev()
    }

    /// A loop.
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// The number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Returns whether there is no natural loop.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The innermost loop around a block. O(1).
    pub fn loop_of(&self, block: Block) -> Option<LoopId> {
        let id = *self.innermost.get(block.index())?;
        (id != NONE).then_some(LoopId(id))
    }

    /// Returns how many loops are around a block. O(1).
    pub fn depth(&self, block: Block) -> u32 {
        self.loop_of(block).map_or(0, |id| self.get(id).depth)
    }

    /// Returns whether a block was there when the loops were found. O(1).
    pub(crate) fn knows(&self, block: Block) -> bool {
        block.index() < self.innermost.len()
    }

    /// The blocks of a loop that are in no loop within it, in the order of [`LoopForest::blocks`].
    pub(crate) fn own_blocks(&self, id: LoopId) -> &[Block] {
        let (start, end) = self.get(id).own;
        &self.own[start as usize..end as usize]
    }

    /// Puts the blocks together of which a loop is the innermost one.
    fn find_own(&mut self) {
        let mut count = vec![0; self.loops.len()];
        for &block in &self.order {
            if let Some(id) = self.loop_of(block) {
                count[id.index()] += 1;
            }
        }
        let mut end = 0;
        for (l, count) in self.loops.iter_mut().zip(count) {
            l.own = (end, end);
            end += count;
        }
        // All of them are replaced.
        self.own = self.order[..end as usize].to_vec();
        for &block in &self.order {
            if let Some(id) = self.loop_of(block) {
                let next = &mut self.loops[id.index()].own.1;
                self.own[*next as usize] = block;
                *next += 1;
            }
        }
    }

    /// The loop of which a block is the header. O(1).
    pub fn headed_by(&self, block: Block) -> Option<LoopId> {
        self.loop_of(block).filter(|&id| self.get(id).header == block)
    }

    /// Returns whether `inner` is `outer` or within it. O(1).
    pub fn encloses(&self, outer: LoopId, inner: LoopId) -> bool {
        (outer.0..self.get(outer).subtree_end).contains(&inner.0)
    }

    /// Returns whether a block is in a loop, or in one within it. O(1).
    pub fn contains(&self, id: LoopId, block: Block) -> bool {
        self.loop_of(block).is_some_and(|inner| self.encloses(id, inner))
    }

    /// The blocks of a loop, those of loops within it included: the header first, and each block
    /// after those that lead to it, back edges apart.
    pub fn blocks(&self, id: LoopId) -> &[Block] {
        let (start, end) = self.get(id).range;
        &self.order[start as usize..end as usize]
    }

    /// The reachable blocks in an order in which each loop stands together, its header first, and
    /// otherwise in reverse postorder.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// The loops that are directly within a loop, in order.
    pub fn children(&self, id: LoopId) -> impl Iterator<Item = LoopId> + '_ {
        let end = self.get(id).subtree_end;
        let mut next = id.0 + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(LoopId(next))?;
            next = self.get(child).subtree_end;
            Some(child)
        })
    }

    /// A loop and all loops within it, outer ones before those within them.
    pub fn nest(&self, id: LoopId) -> impl Iterator<Item = LoopId> + use<> {
        (id.0..self.get(id).subtree_end).map(LoopId)
    }

    /// Returns whether no loop is within a loop. O(1).
    pub fn is_innermost(&self, id: LoopId) -> bool {
        self.get(id).subtree_end == id.0 + 1
    }

    /// The cycles that are no natural loops.
    pub fn irreducible(&self) -> &[IrreducibleRegion] {
        &self.irreducible
    }

    /// Marks the regions that retreating edges to blocks which do not dominate their source show.
    fn find_irreducible(&mut self, f: &Function, cfg: &ControlFlow, dom: &DominatorTree) {
        // The innermost loops (or the function) in which such an edge is.
        let mut places: Vec<u32> = Vec::new();
        for source in cfg.reverse_postorder() {
            for target in f.successors(source) {
                if retreats(cfg, source, target) && !dom.dominates(target, source) {
                    places.push(self.common(source, target));
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        let mut components = Components::new(f);
        for place in places {
            let within = (place != NONE).then_some(LoopId(place));
            let blocks: Vec<Block> = match within {
                // The header is left out: through it, everything in the loop is one cycle.
                Some(id) => self.blocks(id)[1..].to_vec(),
                None => self.order.clone(),
            };
            for mut region in components.among(&blocks) {
                if region.len() == 1 {
                    continue;
                }
                // Natural loops that are components by themselves are no news.
                let header = region.iter().copied().min_by_key(|&b| cfg.rpo_index(b));
                if header.is_some_and(|header| region.iter().all(|&b| dom.dominates(header, b))) {
                    continue;
                }
                region.sort_unstable_by_key(|&b| cfg.rpo_index(b));
                let mut around = within;
                while let Some(id) = around {
                    self.loops[id.index()].has_irreducible = true;
                    around = self.get(id).parent;
                }
                self.irreducible.push(IrreducibleRegion { blocks: region, within });
            }
        }
    }

    /// The innermost loop around both.
    fn common(&self, a: Block, b: Block) -> u32 {
        let mut id = self.loop_of(a);
        while let Some(at) = id {
            if self.contains(at, b) {
                return at.0;
            }
            id = self.get(at).parent;
        }
        NONE
    }

    /// The forest as text, a loop a line, indented by depth.
    pub fn describe(&self, f: &Function) -> String {
        let mut out = String::new();
        let list = |blocks: &[Block]| list(blocks.iter().copied());
        for id in self.loops() {
            let l = self.get(id);
            let _ = write!(
                out,
                "{:indent$}loop {}: ",
                "",
                l.header,
                indent = 2 * (l.depth as usize - 1)
            );
            let _ = write!(out, "blocks {}; latches {}", list(self.blocks(id)), list(&l.latches));
            if let Some(preheader) = l.preheader {
                let _ = write!(out, "; preheader {preheader}");
            }
            let exits: Vec<String> = l
                .exits
                .iter()
                .map(|e| format!("{} -> {}", e.from, f.edge_target(e.edge(f))))
                .collect();
            if exits.is_empty() {
                out.push_str("; no exits");
            } else {
                let _ = write!(out, "; exits {}", exits.join(", "));
            }
            if l.has_irreducible {
                out.push_str("; with an irreducible region");
            }
            out.push('\n');
        }
        for region in &self.irreducible {
            let _ = writeln!(out, "irreducible: blocks {}", list(&region.blocks));
        }
        text_or(out, "no loops\n")
    }
}

/// Returns whether an edge goes to a block that does not come later in reverse postorder.
fn retreats(cfg: &ControlFlow, source: Block, target: Block) -> bool {
    cfg.rpo_index(target) <= cfg.rpo_index(source)
}
