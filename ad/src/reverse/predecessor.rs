//! Predecessor recovery: how the reverse sweep finds out which of the predecessors of a block control
//! came from. No block has two edges to one other, so that predecessors stand for edges.

use regraft_dialects::cf;
use regraft_ir::{Block, Function, Operand, Value};
use regraft_passes::analysis::{LoopForest, LoopId};

use super::loops::Loops;

/// The way in which the predecessor of a block is recovered.
#[derive(Clone, Debug)]
pub(super) enum Predecessor {
    /// It is where the function begins.
    Entry,
    /// There is one.
    Only(Block),
    /// No block between has adjoint work: on to this block, which dominates it.
    Skip(Block),
    /// The header of a loop whose iterations are counted: over the latch while iterations are left,
    /// else over the preheader.
    Counted { l: LoopId, latch: Block, preheader: Block },
    /// As conditions say that were computed on the way.
    Conditions(Tree),
    /// As a recorded number says: by position among these.
    Recorded { selector: Value, sources: Vec<Block> },
}

/// A predecessor tree: conditions that the forward sweep computes anyway, with predecessors as leaves.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// This block.
    From(Block),
    /// As this condition was.
    Branch { condition: Operand, then: Box<Tree>, otherwise: Box<Tree> },
}

impl Predecessor {
    /// Appends the blocks that it may lead to.
    pub(super) fn targets(&self, out: &mut Vec<Block>) {
        match self {
            Self::Entry => {}
            Self::Only(to) | Self::Skip(to) => out.push(*to),
            Self::Counted { latch, preheader, .. } => out.extend([*latch, *preheader]),
            Self::Conditions(tree) => tree.targets(out),
            Self::Recorded { sources, .. } => out.extend(sources),
        }
    }
}

impl Tree {
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

/// The greatest number of blocks that are searched for adjoint work.
const MAX_SKIPPED: usize = 256;
/// The greatest number of conditions in a tree.
const MAX_CONDITIONS: u32 = 3;

/// The data that predecessor recovery is chosen by.
pub(super) struct Chooser<'a> {
    pub(super) f: &'a Function,
    pub(super) loops: &'a Loops,
    /// By [`Block::index`]: whether a block has adjoint work.
    pub(super) has_work: &'a [bool],
    /// By [`Block::index`]: whether cotangents of parameters have to be passed back.
    pub(super) has_active_params: &'a [bool],
    /// Tells whether everything is recorded.
    pub(super) naive: bool,
}

impl Chooser<'_> {
    /// Chooses how the predecessor of a block is recovered. An error is the predecessors, of which
    /// one has to be recorded.
    pub(super) fn choose(&self, block: Block) -> Result<Predecessor, Vec<Block>> {
        let f = self.f;
        let sources: Vec<Block> =
            f.in_edges_in_order(block).into_iter().map(|edge| edge.from).collect();
        if let Some(before) = self.loop_without_work(&sources, block) {
            return Ok(Predecessor::Skip(before));
        }
        match sources.as_slice() {
            [] => return Ok(Predecessor::Entry),
            &[from] => return Ok(Predecessor::Only(from)),
            _ => {}
        }
        if self.naive {
            return Err(sources);
        }
        if let Some(before) = self.region_without_work(block) {
            return Ok(Predecessor::Skip(before));
        }
        if let Some(l) = self.forest().headed_by(block)
            && !self.loops.is_irregular(block)
            && let &[a, b] = sources.as_slice()
        {
            let inside = |from: Block| self.forest().contains(l, from);
            let (latch, preheader) = if inside(a) { (a, b) } else { (b, a) };
            if inside(latch) && !inside(preheader) {
                return Ok(Predecessor::Counted { l, latch, preheader });
            }
        }
        let mut left = MAX_CONDITIONS;
        if let Some(from) = self.loops.dom.idom(block)
            && let Some(tree) = self.tree(block, from, &sources, &mut left)
        {
            return Ok(Predecessor::Conditions(tree));
        }
        Err(sources)
    }

    /// The preheader of the outermost loop around all of `sources`, but not around `to`, in which
    /// no block has adjoint work.
    fn loop_without_work(&self, sources: &[Block], to: Block) -> Option<Block> {
        let (&first, rest) = sources.split_first()?;
        if self.naive || self.has_active_params[to.index()] {
            return None;
        }
        let mut found = None;
        let mut l = self.forest().loop_of(first);
        while let Some(id) = l.filter(|&id| !self.forest().contains(id, to)) {
            let blocks = self.forest().blocks(id);
            if blocks.len() > MAX_SKIPPED || blocks.iter().any(|b| self.has_work[b.index()]) {
                break;
            }
            if rest.iter().all(|&other| self.forest().contains(id, other)) {
                found = self.forest().get(id).preheader;
            }
            l = self.forest().get(id).parent;
        }
        found
    }

    /// The nearest block that dominates another one, but for those of loops that are not around that one, if no block between
    /// has adjoint work. So no block of a loop that is bypassed, from its header to what is before it, asks where control came from.
    fn region_without_work(&self, block: Block) -> Option<Block> {
        if self.has_active_params[block.index()] {
            return None;
        }
        let mut from = self.loops.dom.idom(block)?;
        // On the way into a loop its iterations would have to be known.
        let is_around = |l: LoopId| self.forest().contains(l, block);
        while !self.forest().loop_of(from).is_none_or(is_around) {
            from = self.loops.dom.idom(from)?;
        }
        let mut seen = vec![from, block];
        let mut pending: Vec<Block> = self.f.in_edges(block).map(|edge| edge.from).collect();
        while let Some(at) = pending.pop() {
            if seen.contains(&at) {
                continue;
            }
            if self.has_work[at.index()] || seen.len() > MAX_SKIPPED {
                return None;
            }
            seen.push(at);
            pending.extend(self.f.in_edges(at).map(|edge| edge.from));
        }
        // A loop around the block that leads back to it through itself would be skipped too.
        let cyclic = self.forest().headed_by(block).is_some() || self.loops.is_irregular(block);
        (!cyclic || !self.has_work[block.index()]).then_some(from)
    }

    /// Conditions that tell these predecessors of a block apart, from `from` on, which dominates
    /// them.
    fn tree(&self, block: Block, from: Block, sources: &[Block], left: &mut u32) -> Option<Tree> {
        if let &[source] = sources {
            return Some(Tree::From(source));
        }
        let f = self.f;
        if *left == 0
            || self.forest().loop_of(from) != self.forest().loop_of(block)
            || self.loops.is_irregular(from)
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
                f.in_edges(target).nth(1).is_none() && self.loops.dom.dominates(target, source)
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
        let then = self.tree(block, self.meeting(&yes)?, &yes, left)?;
        let otherwise = self.tree(block, self.meeting(&no)?, &no, left)?;
        Some(Tree::Branch { condition, then: Box::new(then), otherwise: Box::new(otherwise) })
    }

    fn forest(&self) -> &LoopForest {
        &self.loops.forest
    }

    /// The nearest block that dominates all of them.
    fn meeting(&self, blocks: &[Block]) -> Option<Block> {
        let (&first, rest) = blocks.split_first()?;
        rest.iter().try_fold(first, |a, &b| self.loops.dom.common_dominator(a, b))
    }
}
