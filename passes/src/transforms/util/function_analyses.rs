//! The analyses that the steps of the pass share.

use std::sync::Arc;

use regraft_ir::{ControlFlow, DominatorTree, Function};

use crate::analysis::memory_ssa::MemorySsa;
use crate::analysis::{Aliases, Analyses, EffectSummaries, LoopForest};

/// The analyses by which values are numbered.
pub(super) struct GvnAnalyses {
    pub(super) cfg: Arc<ControlFlow>,
    pub(super) dom: Arc<DominatorTree>,
    pub(super) forest: Arc<LoopForest>,
    pub(super) aliases: Arc<Aliases>,
    pub(super) memory: Arc<MemorySsa>,
    pub(super) summaries: EffectSummaries,
}

impl GvnAnalyses {
    pub(super) fn of(f: &Function, analyses: &mut Analyses) -> Self {
        Self {
            cfg: analyses.get::<ControlFlow>(f),
            dom: analyses.get::<DominatorTree>(f),
            forest: analyses.get::<LoopForest>(f),
            aliases: analyses.get::<Aliases>(f),
            memory: analyses.get::<MemorySsa>(f),
            summaries: analyses.effects().clone(),
        }
    }
}
