//! What each read of a cell finds there: a value that was written, or a parameter to be made where
//! paths join.

use regraft_ir::{Block, ControlFlow, Function, Operand, Type, Value};
use rustc_hash::FxHashMap;

use super::objects::{Access, Cell};

/// What a cell holds at some place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Holds {
    /// What was written last.
    Value(Operand),
    /// What comes in by a join: the one at this position of [`Reaching::joins`].
    Join(u32),
}

/// A block that needs a parameter for a cell.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) block: Block,
    pub(super) ty: Type,
    /// What is passed by each predecessor.
    pub(super) args: Vec<(Block, Holds)>,
    /// What always comes in, if it is one thing: then no parameter is needed.
    same: Option<Holds>,
}

/// What all reads find.
#[derive(Debug, Default)]
pub(super) struct Reaching {
    pub(super) joins: Vec<Join>,
    /// Each read, with what it finds.
    pub(super) reads: Vec<(Value, Holds)>,
}

impl Reaching {
    /// What stands behind joins that turned out to be none.
    pub(super) fn resolve(&mut self, holds: Holds) -> Holds {
        let mut root = holds;
        while let Holds::Join(join) = root
            && let Some(same) = self.joins[join as usize].same
        {
            root = same;
        }
        let mut at = holds;
        while let Holds::Join(join) = at
            && let Some(same) = self.joins[join as usize].same
            && same != root
        {
            self.joins[join as usize].same = Some(root);
            at = same;
        }
        root
    }

    /// Whether a parameter has to be made for a join.
    pub(super) fn is_needed(&self, join: usize) -> bool {
        self.joins[join].same.is_none()
    }

    /// Finds what the reads of one cell find. The cell comes to be at `alloc`; `accesses` are those
    /// of this cell. O(blocks where it is live, and their edges).
    pub(super) fn add(
        &mut self,
        f: &Function,
        cfg: &ControlFlow,
        alloc: Value,
        cell: Cell,
        mut accesses: Vec<Access>,
    ) {
        let place = |v: Value| cfg.rpo_index(f.block_of(v));
        accesses.sort_unstable_by(|a, b| {
            place(a.inst)
                .cmp(&place(b.inst))
                .then_with(|| f.comes_before(b.inst, a.inst).cmp(&f.comes_before(a.inst, b.inst)))
        });
        if accesses.iter().all(|access| access.written.is_none()) {
            let reads = accesses.iter().map(|read| (read.inst, Holds::Value(cell.first)));
            return self.reads.extend(reads);
        }
        let home = f.block_of(alloc);
        // What blocks leave behind, as far as they write, and the blocks that read first.
        let mut leaves: FxHashMap<Block, Holds> = FxHashMap::default();
        leaves.insert(home, Holds::Value(cell.first));
        let mut exposed = Vec::new();
        for group in accesses.chunk_by(|a, b| f.block_of(a.inst) == f.block_of(b.inst)) {
            let block = f.block_of(group[0].inst);
            if block != home && group[0].written.is_none() {
                exposed.push(block);
            }
            if let Some(last) = group.iter().rev().find_map(|access| access.written) {
                leaves.insert(block, Holds::Value(last));
            }
        }
        let live = live_blocks(f, &leaves, exposed);
        let enters = self.enter(f, cfg, live, &mut leaves, cell.ty);
        for group in accesses.chunk_by(|a, b| f.block_of(a.inst) == f.block_of(b.inst)) {
            let block = f.block_of(group[0].inst);
            let mut now = match block == home {
                true => Some(Holds::Value(cell.first)),
                false => enters.get(&block).copied(),
            };
            for access in group {
                match (access.written, now) {
                    (Some(value), _) => now = Some(Holds::Value(value)),
                    (None, Some(holds)) => self.reads.push((access.inst, holds)),
                    (None, None) => unreachable!("a block that reads first is live"),
                }
            }
        }
    }

    /// What the cell holds at the start of each live block. Blocks that paths join at get a join;
    /// those where only one thing comes in are seen through.
    fn enter(
        &mut self,
        f: &Function,
        cfg: &ControlFlow,
        mut live: Vec<Block>,
        leaves: &mut FxHashMap<Block, Holds>,
        ty: Type,
    ) -> FxHashMap<Block, Holds> {
        live.sort_unstable_by_key(|&block| cfg.rpo_index(block));
        let mut enters: FxHashMap<Block, Holds> = FxHashMap::default();
        let first = self.joins.len();
        for &block in &live {
            let mut edges = f.in_edges(block);
            let holds = match (edges.next(), edges.next()) {
                // The only predecessor dominates the block, so it was seen before.
                (Some(edge), None) => leaves.get(&edge.from).copied(),
                _ => None,
            };
            let holds = holds.unwrap_or_else(|| {
                let join = Holds::Join(self.joins.len() as u32);
                self.joins.push(Join { block, ty, args: Vec::new(), same: None });
                join
            });
            enters.insert(block, holds);
            leaves.entry(block).or_insert(holds);
        }
        for join in &mut self.joins[first..] {
            join.args = f
                .pred_blocks(join.block)
                .into_iter()
                .map(|pred| (pred, *leaves.get(&pred).expect("the cell is live there")))
                .collect();
        }
        self.see_through(first);
        enters
    }

    /// Finds the joins, from `first` on, at which always the same comes in.
    fn see_through(&mut self, first: usize) {
        // For each join those that it goes into.
        let mut users: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (i, join) in self.joins.iter().enumerate().skip(first) {
            for &(_, holds) in &join.args {
                if let Holds::Join(arg) = holds {
                    users.entry(arg).or_default().push(i);
                }
            }
        }
        // Joins come in the order of their blocks, and are looked at in that order first: what comes
        // in is mostly settled by then.
        let mut work: Vec<usize> = (first..self.joins.len()).rev().collect();
        while let Some(i) = work.pop() {
            if self.joins[i].same.is_some() {
                continue;
            }
            let own = Holds::Join(i as u32);
            let args = std::mem::take(&mut self.joins[i].args);
            let mut same = None;
            let mut differ = false;
            for &(_, holds) in &args {
                let holds = self.resolve(holds);
                if holds != own && same.is_none_or(|same| same == holds) {
                    same = Some(holds);
                } else if holds != own {
                    differ = true;
                    break;
                }
            }
            self.joins[i].args = args;
            if !differ && let Some(same) = same {
                self.joins[i].same = Some(same);
                let mut mine = users.remove(&(i as u32)).unwrap_or_default();
                mine.retain(|&user| self.joins[user].same.is_none());
                work.extend(&mine);
                if let Holds::Join(other) = same {
                    // What this goes into, the other goes into from now on.
                    work.push(other as usize);
                    users.entry(other).or_default().append(&mut mine);
                }
            }
        }
    }
}

/// The blocks at whose start the cell holds something that is read later.
fn live_blocks(f: &Function, leaves: &FxHashMap<Block, Holds>, exposed: Vec<Block>) -> Vec<Block> {
    let mut seen: rustc_hash::FxHashSet<Block> = exposed.iter().copied().collect();
    let mut live = exposed;
    let mut next = 0;
    while let Some(&block) = live.get(next) {
        next += 1;
        for edge in f.in_edges(block) {
            if !leaves.contains_key(&edge.from) && seen.insert(edge.from) {
                live.push(edge.from);
            }
        }
    }
    live
}
