//! The analyses that the steps of a pass over instructions and memory share.

use std::sync::Arc;

use regraft_ir::{ControlFlow, DominatorTree, Function};

use crate::analysis::{Aliases, Analyses, Analysis, EffectSummaries, LoopForest};

/// Control flow, loops and objects of a function, with an analysis `M` of its memory.
pub(crate) struct FunctionAnalyses<M> {
    pub(crate) cfg: Arc<ControlFlow>,
    pub(crate) dom: Arc<DominatorTree>,
    pub(crate) forest: Arc<LoopForest>,
    pub(crate) aliases: Arc<Aliases>,
    pub(crate) memory: Arc<M>,
    pub(crate) summaries: EffectSummaries,
}

impl<M: Analysis> FunctionAnalyses<M> {
    /// Asks the cache, which computes nothing again after steps that have changed nothing.
    pub(crate) fn of(f: &Function, analyses: &mut Analyses) -> Self {
        Self {
            cfg: analyses.get(f),
            dom: analyses.get(f),
            forest: analyses.get(f),
            aliases: analyses.get(f),
            memory: analyses.get(f),
            summaries: analyses.effects().clone(),
        }
    }
}
