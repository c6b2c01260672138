//! Two loops that follow each other, and the analyses that tell whether they can become one.

use std::sync::Arc;

use regraft_ir::{Block, Function, Traits};

use crate::analysis::{
    Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, MemoryClasses, TripCounts,
};
use crate::transforms::loop_fuse::join::Counted;

/// The analyses by which it is decided whether two loops become one.
pub(super) struct FusionAnalyses<'a> {
    pub(super) f: &'a Function,
    pub(super) forest: Arc<LoopForest>,
    pub(super) counts: Arc<TripCounts>,
    pub(super) variables: Arc<InductionVariables>,
    pub(super) aliases: Arc<Aliases>,
    pub(super) classes: Arc<MemoryClasses>,
    pub(super) summaries: &'a EffectSummaries,
    /// Whether it matters what was done before a float function stopped the program.
    pub(super) domain_errors: bool,
}

/// Two loops that follow each other and run equally often.
pub(super) struct Pair {
    pub(super) first: Counted,
    pub(super) second: Counted,
    /// The block between them, if there is one.
    pub(super) between: Option<Block>,
}

impl Pair {
    /// A loop and the one that comes after it, both with their tests first.
    pub(super) fn after(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        let first = Counted::of(f, forest, id).filter(Counted::is_tested_first)?;
        let target = f.edge_target(first.exit(f));
        let parent = forest.get(id).parent;
        let (between, header) = match forest.headed_by(target) {
            Some(next) if forest.get(next).parent == parent => (None, target),
            _ if forest.loop_of(target) != parent => return None,
            _ => {
                let term = f.terminator(target)?;
                let is_jump = f.op_def(term)?.traits.contains(Traits::JUMP);
                let header = f.operand(term, 0)?.as_block()?;
                if !is_jump || f.in_edges(target).nth(1).is_some() {
                    return None;
                }
                (Some(target), header)
            }
        };
        let next = forest.headed_by(header)?;
        let second = Counted::of(f, forest, next).filter(Counted::is_tested_first)?;
        let fits =
            next != id && forest.get(next).parent == parent && f.in_edges(header).count() == 2;
        fits.then_some(Self { first, second, between })
    }
}
