//! How the reverse sweep finds its way back: which of the predecessors of a block control came
//! from. No block has two edges to one other, so that predecessors stand for edges.

use regraft_dialects::cf;
use regraft_ir::{Block, DominatorTree, Function, Operand, Value};
use regraft_passes::analysis::{LoopForest, LoopId};

/// The way back from a block.
#[derive(Clone, Debug)]
pub(super) enum WayBack {
    /// It is where the function begins.
    Entry,
    /// It has one predecessor.
    From(Block),
    /// What lies between does nothing that has to be undone: on to this block, which dominates it.
    Skip(Block),
    /// The header of a loop whose iterations are counted: over the latch while iterations are left,
    /// else over the preheader.
    Counted { l: LoopId, latch: Block, preheader: Block },
    /// As conditions say that were computed on the way.
    Conditions(Decision),
    /// As a number says that was kept: by position among these.
    Kept { selector: Value, sources: Vec<Block> },
}

/// A decision by conditions that are there anyway.
#[derive(Clone, Debug)]
pub(super) enum Decision {
    /// This block.
    From(Block),
    /// As this condition was.
    Branch { condition: Operand, then: Box<Decision>, otherwise: Box<Decision> },
}

impl WayBack {
    /// Appends the blocks that it may lead to.
    pub(super) fn targets(&self, out: &mut Vec<Block>) {
        match self {
            Self::Entry => {}
            Self::From(to) | Self::Skip(to) => out.push(*to),
            Self::Counted { latch, preheader, .. } => out.extend([*latch, *preheader]),
            Self::Conditions(decision) => decision.targets(out),
            Self::Kept { sources, .. } => out.extend(sources),
        }
    }
}

impl Decision {
    fn targets(&self, out: &mut Vec<Block>) {
        match self {
            Self::From(to) => out.push(*to),
            Self::Branch { then, otherwise, .. } => {
                then.targets(out);
                otherwise.targets(out);
            }
        }
    }
}

/// How many blocks are looked at to find out that there is nothing to undo in them.
const MOST_SKIPPED: usize = 256;
/// How many conditions may decide.
const MOST_CONDITIONS: u32 = 3;

/// What ways back are chosen by.
pub(super) struct Chooser<'a> {
    pub(super) f: &'a Function,
    pub(super) dom: &'a DominatorTree,
    pub(super) forest: &'a LoopForest,
    /// By [`Block::index`]: whether something in a block has to be undone.
    pub(super) busy: &'a [bool],
    /// By [`Block::index`]: whether cotangents of parameters have to be passed back.
    pub(super) merges: &'a [bool],
    /// By [`Block::index`]: whether a block is part of a cycle that is no natural loop.
    pub(super) irregular: &'a [bool],
    /// Whether everything is kept.
    pub(super) naive: bool,
}

/// What was found: a way back, or that the predecessor has to be kept.
pub(super) enum Choice {
    Found(WayBack),
    /// One of these has to be kept.
    Keep(Vec<Block>),
}

impl Chooser<'_> {
    pub(super) fn choose(&self, block: Block) -> Choice {
        let f = self.f;
        let sources: Vec<Block> =
            f.in_edges_in_order(block).into_iter().map(|edge| edge.from).collect();
        if let Some(before) = self.idle_loop(&sources, block) {
            return Choice::Found(WayBack::Skip(before));
        }
        match sources.as_slice() {
            [] => return Choice::Found(WayBack::Entry),
            &[from] => return Choice::Found(WayBack::From(from)),
            _ => {}
        }
        if self.naive {
            return Choice::Keep(sources);
        }
        if let Some(before) = self.idle_region(block) {
            return Choice::Found(WayBack::Skip(before));
        }
        if let Some(l) = self.forest.headed_by(block)
            && !self.irregular[block.index()]
            && let &[a, b] = sources.as_slice()
        {
            let inside = |from: Block| self.forest.contains(l, from);
            let (latch, preheader) = if inside(a) { (a, b) } else { (b, a) };
            if inside(latch) && !inside(preheader) {
                return Choice::Found(WayBack::Counted { l, latch, preheader });
            }
        }
        let mut left = MOST_CONDITIONS;
        if let Some(from) = self.dom.idom(block)
            && let Some(decision) = self.decide(block, from, &sources, &mut left)
        {
            return Choice::Found(WayBack::Conditions(decision));
        }
        Choice::Keep(sources)
    }

    /// The preheader of the outermost loop around all of `sources`, but not around `to`, of which
    /// nothing has to be undone.
    fn idle_loop(&self, sources: &[Block], to: Block) -> Option<Block> {
        let (&first, rest) = sources.split_first()?;
        if self.naive || self.merges[to.index()] {
            return None;
        }
        let mut found = None;
        let mut l = self.forest.loop_of(first);
        while let Some(id) = l.filter(|&id| !self.forest.contains(id, to)) {
            let blocks = self.forest.blocks(id);
            if blocks.len() > MOST_SKIPPED || blocks.iter().any(|b| self.busy[b.index()]) {
                break;
            }
            if rest.iter().all(|&other| self.forest.contains(id, other)) {
                found = self.forest.get(id).preheader;
            }
            l = self.forest.get(id).parent;
        }
        found
    }

    /// The immediate dominator of a block that nothing has to be undone between.
    fn idle_region(&self, block: Block) -> Option<Block> {
        if self.merges[block.index()] {
            return None;
        }
        let from = self.dom.idom(block)?;
        // On the way into a loop its iterations would have to be known.
        let l = self.forest.loop_of(from);
        if l.is_some_and(|l| !self.forest.contains(l, block)) {
            return None;
        }
        let mut seen = vec![from, block];
        let mut pending: Vec<Block> = self.f.in_edges(block).map(|edge| edge.from).collect();
        while let Some(at) = pending.pop() {
            if seen.contains(&at) {
                continue;
            }
            if self.busy[at.index()] || seen.len() > MOST_SKIPPED {
                return None;
            }
            seen.push(at);
            pending.extend(self.f.in_edges(at).map(|edge| edge.from));
        }
        // A loop around the block that leads back to it through itself would be skipped too.
        let cyclic = self.forest.headed_by(block).is_some() || self.irregular[block.index()];
        (!cyclic || !self.busy[block.index()]).then_some(from)
    }

    /// Conditions that tell these predecessors of a block apart, from `from` on, which dominates
    /// them.
    fn decide(
        &self,
        block: Block,
        from: Block,
        sources: &[Block],
        left: &mut u32,
    ) -> Option<Decision> {
        if let &[source] = sources {
            return Some(Decision::From(source));
        }
        let f = self.f;
        if *left == 0
            || self.forest.loop_of(from) != self.forest.loop_of(block)
            || self.irregular[from.index()]
            || f.op(Value::terminator(from)) != Some(cf::BR)
        {
            return None;
        }
        *left -= 1;
        let condition = f.operand(Value::terminator(from), 0)?;
        let targets: Vec<Block> = f.successors(from).collect();
        let &[then, otherwise] = targets.as_slice() else { return None };
        let side = |source: Block| {
            if source == from {
                return Some(then == block);
            }
            let reaches = |target: Block| {
                f.in_edges(target).nth(1).is_none() && self.dom.dominates(target, source)
            };
            match (reaches(then), reaches(otherwise)) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                _ => None,
            }
        };
        let mut sides = [Vec::new(), Vec::new()];
        for &source in sources {
            sides[usize::from(!side(source)?)].push(source);
        }
        let [yes, no] = sides;
        if yes.is_empty() || no.is_empty() {
            return None;
        }
        let then = self.decide(block, self.meeting(&yes)?, &yes, left)?;
        let otherwise = self.decide(block, self.meeting(&no)?, &no, left)?;
        Some(Decision::Branch { condition, then: Box::new(then), otherwise: Box::new(otherwise) })
    }

    /// The nearest block that dominates all of them.
    fn meeting(&self, blocks: &[Block]) -> Option<Block> {
        let (&first, rest) = blocks.split_first()?;
        rest.iter().try_fold(first, |a, &b| self.dom.common_dominator(a, b))
    }
}
