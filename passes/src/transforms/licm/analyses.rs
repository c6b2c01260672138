//! The analyses that the steps of the pass share.

use std::sync::Arc;

use regraft_ir::{ControlFlow, DominatorTree, Function};

use crate::analysis::{Aliases, Analyses, EffectSummaries, LoopForest, MemoryClasses, ModRefSet};

/// The analyses that say where instructions, stores and loops may go.
pub(super) struct LicmAnalyses {
    pub(super) cfg: Arc<ControlFlow>,
    pub(super) dom: Arc<DominatorTree>,
    pub(super) forest: Arc<LoopForest>,
    pub(super) aliases: Arc<Aliases>,
    pub(super) classes: Arc<MemoryClasses>,
    pub(super) summaries: EffectSummaries,
}

impl LicmAnalyses {
    /// Asks the cache, which computes nothing again after steps that have moved nothing.
    pub(super) fn of(f: &Function, analyses: &mut Analyses) -> Self {
        Self {
            cfg: analyses.get::<ControlFlow>(f),
            dom: analyses.get::<DominatorTree>(f),
            forest: analyses.get::<LoopForest>(f),
            aliases: analyses.get::<Aliases>(f),
            classes: analyses.get::<MemoryClasses>(f),
            summaries: analyses.effects().clone(),
        }
    }

    /// Returns the mod/ref sets of the loops that write.
    pub(super) fn loop_mod_refs(&self, f: &Function) -> Vec<ModRefSet> {
        self.classes.loop_mod_refs(f, &self.forest, &self.aliases, &self.summaries)
    }
}
