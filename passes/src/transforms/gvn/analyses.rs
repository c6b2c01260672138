//! The analyses that the steps of the pass share.

use std::sync::Arc;

use regraft_ir::{ControlFlow, DominatorTree, Function, Value};

use crate::analysis::{
    Aliases, Analyses, EffectSummaries, InstEffects, LoopForest, MemoryClasses, callee_summary,
};

/// Blocks times versions: of more, memory is seen as one class.
const MOST_VERSIONS: usize = 1 << 23;

/// The analyses by which values are numbered.
pub(super) struct GvnAnalyses {
    pub(super) cfg: Arc<ControlFlow>,
    pub(super) dom: Arc<DominatorTree>,
    pub(super) forest: Arc<LoopForest>,
    pub(super) aliases: Arc<Aliases>,
    pub(super) classes: Arc<MemoryClasses>,
    pub(super) summaries: EffectSummaries,
}

impl GvnAnalyses {
    pub(super) fn of(f: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<ControlFlow>(f);
        let aliases = analyses.get::<Aliases>(f);
        Self {
            classes: match most_classes(f) {
                MemoryClasses::MOST => analyses.get::<MemoryClasses>(f),
                // Very large functions: the cache keeps the classes of unlimited number only.
                most => Arc::new(MemoryClasses::at_most(most, f, &cfg, &aliases)),
            },
            dom: analyses.get::<DominatorTree>(f),
            forest: analyses.get::<LoopForest>(f),
            summaries: analyses.effects().clone(),
            cfg,
            aliases,
        }
    }
}

/// Whether an instruction that is not pure gives the same again as long as what it reads is the
/// same.
pub(super) fn is_repeatable(
    f: &Function,
    v: Value,
    effects: &InstEffects,
    summaries: &EffectSummaries,
) -> bool {
    if effects.writes_anything() || effects.observable {
        return false;
    }
    match callee_summary(f, v, summaries) {
        Some(summary) => summary.is_repeatable(),
        None => {
            let opaque = f.op_def(v).is_none_or(|def| def.effects.opaque);
            !opaque && !effects.allocates
        }
    }
}

/// How many classes to tell apart in a function of so many blocks.
fn most_classes(f: &Function) -> u32 {
    let each = MOST_VERSIONS / f.block_count().max(1) / 2;
    each.clamp(1, MemoryClasses::MOST as usize) as u32
}
