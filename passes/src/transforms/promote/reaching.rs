//! What each read of a cell finds there: a value that was written, or a parameter to be made where
//! paths join.

use regraft_ir::{Block, ControlFlow, Function, Operand, Type, Value};

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
    /// What is passed by each predecessor; these are in order.
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
    /// What the cell at hand holds at the end of blocks, as far as it is known, and at the start
    /// of those where it is live.
    leaves: ByBlock<Holds>,
    enters: ByBlock<Holds>,
}

/// Something for some of the blocks of a function, forgotten in no time.
#[derive(Debug)]
struct ByBlock<T> {
    /// What was set in another round does not count.
    round: u32,
    entries: Vec<Option<(u32, T)>>,
}

impl<T> Default for ByBlock<T> {
    fn default() -> Self {
        Self { round: 0, entries: Vec::new() }
    }
}

impl<T: Copy> ByBlock<T> {
    fn clear(&mut self, f: &Function) {
        self.round += 1;
        self.entries.resize(f.block_capacity(), None);
    }

    fn get(&self, block: Block) -> Option<T> {
        let (round, value) = self.entries[block.index()]?;
        (round == self.round).then_some(value)
    }

    fn set(&mut self, block: Block, value: T) {
        self.entries[block.index()] = Some((self.round, value));
    }
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
        self.leaves.clear(f);
        self.enters.clear(f);
        self.leaves.set(home, Holds::Value(cell.first));
        let mut exposed = Vec::new();
        for group in accesses.chunk_by(|a, b| f.block_of(a.inst) == f.block_of(b.inst)) {
            let block = f.block_of(group[0].inst);
            if block != home && group[0].written.is_none() {
                exposed.push(block);
            }
            if let Some(last) = group.iter().rev().find_map(|access| access.written) {
                self.leaves.set(block, Holds::Value(last));
            }
        }
        let live = self.live_blocks(f, exposed);
        self.enter(f, cfg, live, cell.ty);
        for group in accesses.chunk_by(|a, b| f.block_of(a.inst) == f.block_of(b.inst)) {
            let block = f.block_of(group[0].inst);
            let mut now = match block == home {
                true => Some(Holds::Value(cell.first)),
                false => self.enters.get(block),
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

    /// The blocks at whose start the cell holds something that is read later: those in `exposed`,
    /// and those that lead there without writing.
    fn live_blocks(&mut self, f: &Function, exposed: Vec<Block>) -> Vec<Block> {
        // Whatever is set says that the block was seen.
        let seen = Holds::Join(u32::MAX);
        exposed.iter().for_each(|&block| self.enters.set(block, seen));
        let mut live = exposed;
        let mut next = 0;
        while let Some(&block) = live.get(next) {
            next += 1;
            for edge in f.in_edges(block) {
                if self.leaves.get(edge.from).is_none() && self.enters.get(edge.from).is_none() {
                    self.enters.set(edge.from, seen);
                    live.push(edge.from);
                }
            }
        }
        live
    }

    /// Finds what the cell holds at the start of each live block. Blocks that paths join at get a
    /// join; those where only one thing comes in are seen through.
    fn enter(&mut self, f: &Function, cfg: &ControlFlow, mut live: Vec<Block>, ty: Type) {
        live.sort_unstable_by_key(|&block| cfg.rpo_index(block));
        let first = self.joins.len();
        for &block in &live {
            let mut edges = f.in_edges(block);
            let holds = match (edges.next(), edges.next()) {
                // The only predecessor dominates the block, so it was seen before.
                (Some(edge), None) => self.leaves.get(edge.from),
                _ => None,
            };
            let holds = holds.unwrap_or_else(|| {
                let join = Holds::Join(self.joins.len() as u32);
                self.joins.push(Join { block, ty, args: Vec::new(), same: None });
                join
            });
            self.enters.set(block, holds);
            if self.leaves.get(block).is_none() {
                self.leaves.set(block, holds);
            }
        }
        for join in &mut self.joins[first..] {
            let mut preds: Vec<Block> = f.in_edges(join.block).map(|edge| edge.from).collect();
            preds.sort_unstable();
            preds.dedup();
            let passed = |pred| (pred, self.leaves.get(pred).expect("the cell is live there"));
            join.args = preds.into_iter().map(passed).collect();
        }
        self.see_through(first);
    }

    /// Finds the joins, from `first` on, at which always the same comes in.
    fn see_through(&mut self, first: usize) {
        // For each join those that it goes into.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.joins.len() - first];
        for (i, join) in self.joins.iter().enumerate().skip(first) {
            for &(_, holds) in &join.args {
                if let Holds::Join(arg) = holds {
                    users[arg as usize - first].push(i);
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
                let mut mine = std::mem::take(&mut users[i - first]);
                mine.retain(|&user| self.joins[user].same.is_none());
                work.extend(&mine);
                if let Holds::Join(other) = same {
                    // What this goes into, the other goes into from now on.
                    work.push(other as usize);
                    users[other as usize - first].append(&mut mine);
                }
            }
        }
    }
}
