//! Nests of counted loops: the parts that are computed anew elsewhere.

use regraft_ir::{Block, DominatorTree, Function, Operand, Type, Value};
use rustc_hash::FxHashMap;

use crate::analysis::{LoopForest, LoopId, TripCounts};
use crate::transforms::util::edit::only;

/// The most loops in a nest that is looked at.
const MAX_LOOPS: usize = 32;
/// The most instructions.
const MAX_SIZE: usize = 600;

/// A loop that is tested in its header and left there alone, as it was found.
pub(super) struct CountedHeader {
    pub(super) header: Block,
    pub(super) parent: Option<LoopId>,
    pub(super) latch: Block,
    /// The arguments wherever it is entered, and where it goes back.
    pub(super) initial: Vec<Operand>,
    pub(super) next: Vec<Operand>,
    pub(super) test: Operand,
    /// True if it is left when the test is true.
    pub(super) leaves_if: bool,
}

/// A loop with all loops in it, each of which surely ends.
pub(super) struct LoopNest<'a> {
    pub(super) forest: &'a LoopForest,
    pub(super) root: LoopId,
    loops: FxHashMap<LoopId, CountedHeader>,
}

impl<'a> LoopNest<'a> {
    /// `None` if a loop is of another form, or may not end, or if it is too large.
    pub(super) fn of(
        f: &Function,
        forest: &'a LoopForest,
        counts: &TripCounts,
        root: LoopId,
    ) -> Option<Self> {
        let mut insts = forest.blocks(root).iter().flat_map(|&block| f.insts(block));
        if forest.nest(root).nth(MAX_LOOPS).is_some() || insts.nth(MAX_SIZE).is_some() {
            return None;
        }
        let mut loops = FxHashMap::default();
        for l in forest.nest(root) {
            if !counts.is_known(l) {
                return None;
            }
            loops.insert(l, CountedHeader::of(f, forest, l)?);
        }
        Some(Self { forest, root, loops })
    }

    pub(super) fn get(&self, l: LoopId) -> &CountedHeader {
        &self.loops[&l]
    }

    /// Returns whether a block is in the nest.
    pub(super) fn contains(&self, block: Block) -> bool {
        self.forest.knows(block) && self.forest.contains(self.root, block)
    }

    /// Returns whether an operand is computed in the nest.
    pub(super) fn contains_operand(&self, f: &Function, operand: Operand) -> bool {
        operand.as_value().is_some_and(|v| self.contains(f.block_of(v)))
    }

    /// The loop that a value is a parameter of the header of.
    pub(super) fn header_of(&self, f: &Function, v: Value) -> Option<LoopId> {
        let l = self.forest.headed_by(f.block_of(v))?;
        (f.is_param(v) && self.loops.contains_key(&l)).then_some(l)
    }

    /// The innermost loop of a block of the nest.
    pub(super) fn loop_of(&self, block: Block) -> LoopId {
        self.forest.loop_of(block).unwrap_or(self.root)
    }

    /// The loops of the nest around a block, the outermost first.
    pub(super) fn around(&self, block: Block) -> Vec<LoopId> {
        let mut found = Vec::new();
        let mut at = Some(self.loop_of(block));
        while let Some(l) = at {
            found.push(l);
            at = if l == self.root { None } else { self.get(l).parent };
        }
        found.reverse();
        found
    }

    /// Returns whether a block runs once in each iteration of each loop around it.
    pub(super) fn runs_always(&self, dom: &DominatorTree, block: Block) -> bool {
        let mut at = block;
        self.around(block).into_iter().rev().all(|l| {
            let of = self.get(l);
            let always = dom.dominates(at, of.latch);
            at = of.header;
            always
        })
    }
}

impl CountedHeader {
    fn of(f: &Function, forest: &LoopForest, l: LoopId) -> Option<Self> {
        let of = forest.get(l);
        let (header, [exit]) = (of.header, &*of.exits) else { return None };
        let exit = exit.edge(f);
        let back = only(f.in_edges(header).filter(|e| forest.contains(l, e.from)))?;
        let mut entering = f.in_edges(header).filter(|e| !forest.contains(l, e.from));
        let initial: Vec<Operand> = f.edge_args(entering.next()?).collect();
        let test = f.operand(Value::terminator(header), 0)?;
        if of.has_irreducible
            || Some(header) == f.entry()
            || exit.from != header
            || back.from == header
            || f.out_edges(header).count() != 2
            || f.operand_type(test) != Type::BOOL
            || !entering.all(|edge| f.edge_args(edge).eq(initial.iter().copied()))
        {
            return None;
        }
        Some(Self {
            header,
            parent: of.parent,
            latch: back.from,
            initial,
            next: f.edge_args(back).collect(),
            test,
            leaves_if: f.out_edges(header).next() == Some(exit),
        })
    }
}
