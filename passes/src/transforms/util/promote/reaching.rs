//! The definitions that reach each read of a cell: a value that was written, or a parameter to be
//! made where paths join.

use regraft_ir::{Block, ControlFlow, Function, Operand, Type, Value};

use super::frontier::{Joins, Place};
use super::objects::{Access, Cell};

/// The value of a cell at some place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Holds {
    /// The value that was written last.
    Value(Operand),
    /// The parameter of a join: the one at this position of [`Reaching::joins`].
    Join(u32),
}

/// A block that needs a parameter for a cell.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) block: Block,
    pub(super) ty: Type,
    /// The arguments by predecessor, in order.
    pub(super) args: Vec<(Block, Holds)>,
    /// The definition that always comes in, if it is one: then no parameter is needed.
    same: Option<Holds>,
}

/// The values that all reads find.
#[derive(Debug, Default)]
pub(super) struct Reaching {
    pub(super) joins: Vec<Join>,
    /// Each read, with what it finds.
    pub(super) reads: Vec<(Value, Holds)>,
    /// The content of the cell at hand at the end of blocks and at their start, as far as it is
    /// asked for.
    leaves: ByBlock<Holds>,
    enters: ByBlock<Holds>,
}

/// Something for some of the blocks of a function, forgotten in no time.
#[derive(Debug)]
struct ByBlock<T> {
    /// The present round; entries of another one do not count.
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
    /// Returns what stands behind joins that turned out to be none.
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

    /// Returns whether a parameter has to be made for a join.
    pub(super) fn is_needed(&self, join: usize) -> bool {
        self.joins[join].same.is_none()
    }

    /// Finds what the reads of one cell find. The cell comes to be at `alloc`; `accesses` are those
    /// of this cell. O((accesses + edges into the blocks where paths with different contents join)
    /// × log edges), however many blocks are between them.
    pub(super) fn add(
        &mut self,
        f: &Function,
        cfg: &ControlFlow,
        graph: &Joins<'_>,
        alloc: Value,
        cell: Cell,
        mut accesses: Vec<Access>,
    ) {
        let place = |v: Value| graph.place(f.block_of(v));
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
        let mut writers = vec![graph.place(home)];
        let mut exposed = Vec::new();
        for group in accesses.chunk_by(|a, b| f.block_of(a.inst) == f.block_of(b.inst)) {
            let block = f.block_of(group[0].inst);
            if block != home && group[0].written.is_none() {
                exposed.push(block);
            }
            if let Some(last) = group.iter().rev().find_map(|access| access.written) {
                self.leaves.set(block, Holds::Value(last));
                writers.push(graph.place(block));
            }
        }
        let joins = self.place_joins(f, cfg, graph, &writers, &exposed);
        self.keep_live(joins, &exposed, cell.ty);
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

    /// Finds the blocks where what is written in blocks at the places `writers`, of which the first
    /// one dominates the others, meets something else; and what the cell holds at the start of
    /// these and of `exposed`, and at the end of all that lead to the former. A join is known
    /// by its place in the result until it is one of [`Reaching::joins`].
    fn place_joins(
        &mut self,
        f: &Function,
        cfg: &ControlFlow,
        graph: &Joins<'_>,
        writers: &[Place],
        exposed: &[Block],
    ) -> Vec<(Block, Vec<Block>)> {
        let mut places = graph.frontier(writers[0], writers.iter().copied());
        let preds = |block: Block| {
            let mut preds: Vec<Block> = f.in_edges(block).map(|edge| edge.from).collect();
            preds.sort_unstable();
            preds.dedup();
            preds
        };
        let blocks = places.iter().map(|&place| graph.block(place));
        let mut joins: Vec<(Block, Vec<Block>)> =
            blocks.map(|block| (block, preds(block))).collect();
        joins.sort_unstable_by_key(|&(block, _)| cfg.rpo_index(block));
        for (number, &(block, _)) in joins.iter().enumerate() {
            self.enters.set(block, Holds::Join(number as u32));
        }
        let asked = joins.iter().flat_map(|(_, preds)| preds).chain(exposed);
        places.extend(asked.map(|&block| graph.place(block)));
        places.extend(writers);
        places.sort_unstable();
        places.dedup();
        // The blocks that change what the cell holds, as far as they dominate the present one.
        let mut around: Vec<(Place, Holds)> = Vec::new();
        for place in places {
            while around.last().is_some_and(|&(above, _)| !graph.still_dominates(above, place)) {
                around.pop();
            }
            let block = graph.block(place);
            let (join, written) = (self.enters.get(block), self.leaves.get(block));
            if let Some(holds) = join.or(around.last().map(|&(_, holds)| holds)) {
                self.enters.set(block, holds);
                self.leaves.set(block, written.unwrap_or(holds));
            }
            around.extend(written.or(join).map(|holds| (place, holds)));
        }
        joins
    }

    /// Makes those of some joins part of `self.joins` which blocks that read first, or others of
    /// these, need: what is left out gives pruned SSA form. The rest is forgotten.
    fn keep_live(&mut self, joins: Vec<(Block, Vec<Block>)>, exposed: &[Block], ty: Type) {
        let mut number: Vec<Option<u32>> = vec![None; joins.len()];
        let mut live: Vec<u32> = Vec::new();
        let mut reach = |holds: Option<Holds>, live: &mut Vec<u32>| {
            if let Some(Holds::Join(join)) = holds
                && number[join as usize].replace(0).is_none()
            {
                live.push(join);
            }
        };
        exposed.iter().for_each(|&block| reach(self.enters.get(block), &mut live));
        let mut next = 0;
        while let Some(&join) = live.get(next) {
            next += 1;
            joins[join as usize].1.iter().for_each(|&b| reach(self.leaves.get(b), &mut live));
        }
        live.sort_unstable();
        let first = self.joins.len();
        for (i, &join) in live.iter().enumerate() {
            number[join as usize] = Some((first + i) as u32);
        }
        let global = |holds: Holds| match holds {
            Holds::Join(join) => {
                Holds::Join(number[join as usize].expect("what a live join needs is live"))
            }
            value @ Holds::Value(_) => value,
        };
        for &block in exposed {
            let holds = self.enters.get(block).expect("it was found above");
            self.enters.set(block, global(holds));
        }
        for join in live {
            let (block, preds) = &joins[join as usize];
            let passed =
                |&pred: &Block| (pred, global(self.leaves.get(pred).expect("it was found above")));
            let args = preds.iter().map(passed).collect();
            self.joins.push(Join { block: *block, ty, args, same: None });
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
