//! Analyses, cached by epoch stamp.
//!
//! An analysis declares the facets of a function that it reads. A cached result is valid if and
//! only if it was computed for the same function object and the epochs of those facets are what
//! they were; nobody says what a pass preserves, so nobody can say it wrongly. An analysis that
//! is computed from others is valid only as long as they are: the facets that they read are
//! added to its own while it is computed.
//!
//! ```
//! use regraft_passes::analysis::{Analyses, LoopForest};
//!
//! let text = "
//! func @f(%x: f64) -> f64 {
//! ^1:
//!   %1: f64 = arith.mul %x, %x
//!   %2: f64 = arith.add %x, %x
//!   return %1
//! }";
//! let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let (f, mut analyses) = (module.function("f").unwrap(), Analyses::default());
//! analyses.get::<LoopForest>(f);
//! analyses.get::<LoopForest>(f);
//! assert!(analyses.reused() > 0);
//! ```

mod alias;
pub(crate) mod block_list;
pub(crate) mod bounds;
mod call_graph;
mod carried_sizes;
pub(crate) mod comparison;
mod components;
pub(crate) mod conditions;
pub(crate) mod control_dependence;
pub mod dependence;
mod effects;
mod float_kinds;
pub mod induction;
mod injective;
pub(crate) mod interval;
mod invariants;
mod latency;
pub(crate) mod loop_exits;
mod loop_forest;
mod memory;
pub(crate) mod memory_location;
pub(crate) mod memory_ssa;
pub mod poly;
mod post_dominators;
pub mod printable;
pub(crate) mod ranges;
mod structure;
mod tape;
pub mod traps;
pub mod trip_count;
mod value_groups;

use std::any::{Any, TypeId};
use std::sync::Arc;

use regraft_ir::{ControlFlow, DominatorTree, Function, Liveness, Stamp};
use rustc_hash::FxHashMap;

pub use alias::{Aliases, Base};
pub use call_graph::{CallGraph, CallSite};
pub(crate) use carried_sizes::{CarriedSizes, Size};
pub use effects::{
    Access, EffectSummaries, EffectSummary, InstEffects, ParamEffects, Returns, inst_effects,
    may_be_object, may_reach_objects,
};
pub(crate) use effects::{callee_summary, copied_shape, may_reach_others};
pub use float_kinds::FloatKinds;
pub use induction::InductionVariables;
pub use injective::is_injective;
pub use interval::Interval;
pub use invariants::Invariants;
pub use latency::Latencies;
pub use loop_forest::{IrreducibleRegion, Loop, LoopExit, LoopForest, LoopId};
pub use memory::{MemoryClasses, ModRefSet};
pub use poly::{Poly, Sym};
pub use post_dominators::PostDominatorTree;
pub use printable::Printable;
pub use ranges::{FactsAt, LatticeValue, Ranges};
pub use structure::{Scopes, Shape, ShapeId, Structure};
pub use trip_count::{TripCount, TripCounts};
pub(crate) use value_groups::ValueGroups;

bitflags::bitflags! {
    /// Facets of a function, each with an epoch of its own.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Facets: u8 {
        /// Blocks and edges, as far as which block leads to which. Where an edge stands among the
        /// operands of its terminator (`Edge::position`) is for the next one.
        const CFG = 1;
        /// Instructions, parameters and operands.
        const INSTS = 2;
        /// The types of values.
        const TYPES = 4;
        /// The effects of calls ([`Analyses::effects`]). The function itself does not tell: results
        /// that read it are forgotten when it changes.
        const EFFECTS = 8;
    }
}

impl Facets {
    /// Returns whether these facets are the same in two states of a function.
    pub(crate) fn same(self, a: Stamp, b: Stamp) -> bool {
        a.lineage == b.lineage
            && (!self.contains(Self::CFG) || a.epochs.cfg == b.epochs.cfg)
            && (!self.contains(Self::INSTS) || a.epochs.insts == b.epochs.insts)
            && (!self.contains(Self::TYPES) || a.epochs.types == b.epochs.types)
    }
}

/// Something computed from a function that passes share.
pub trait Analysis: Send + Sync + Sized + 'static {
    /// Its name, for statistics.
    const NAME: &'static str;
    /// The facets that it reads itself. Those of the analyses that it asks for are added.
    const FACETS: Facets;

    /// Computes it. It may ask `analyses` for others of the same function.
    fn compute(f: &Function, analyses: &mut Analyses) -> Self;
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    facets: Facets,
    result: Arc<dyn Any + Send + Sync>,
}

/// A result that is handed from one cache to another.
#[derive(Debug)]
pub(crate) struct CachedResult {
    key: (u64, TypeId),
    entry: Entry,
}

/// Results of analyses, by function object and kind.
#[derive(Debug, Default)]
pub struct Analyses {
    entries: FxHashMap<(u64, TypeId), Entry>,
    /// The facets that the analysis being computed has read so far.
    reading: Facets,
    computed: u64,
    reused: u64,
    /// The effects of calls.
    effects: EffectSummaries,
}

impl Analyses {
    /// An empty cache for functions whose calls do what `effects` say.
    pub fn with_effects(effects: &EffectSummaries) -> Self {
        Self { effects: effects.clone(), ..Self::default() }
    }

    /// The result for the present state of `f`: the cached one if it is valid, else computed.
    pub fn get<A: Analysis>(&mut self, f: &Function) -> Arc<A> {
        let stamp = f.stamp();
        let key = (stamp.lineage, TypeId::of::<A>());
        if let Some(entry) = self.entries.get(&key)
            && entry.facets.same(entry.stamp, stamp)
            && let Ok(result) = Arc::clone(&entry.result).downcast::<A>()
        {
            self.reading |= entry.facets;
            self.reused += 1;
            return result;
        }
        let outer = std::mem::take(&mut self.reading);
        let result = Arc::new(A::compute(f, self));
        let facets = self.reading | A::FACETS;
        self.reading = outer | facets;
        self.computed += 1;
        self.entries.insert(key, Entry { stamp, facets, result: result.clone() });
        result
    }

    /// Forgets the results for all function objects but the one of this lineage.
    pub(crate) fn keep_only(&mut self, live: u64) {
        self.entries.retain(|&(lineage, _), _| lineage == live);
    }

    /// Takes all results out, each with the lineage of its function object, in no particular
    /// order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u64, CachedResult)> + '_ {
        self.entries.drain().map(|(key, entry)| (key.0, CachedResult { key, entry }))
    }

    /// Takes over a result.
    pub(crate) fn put(&mut self, result: CachedResult) {
        self.entries.insert(result.key, result.entry);
    }

    /// Returns what calls of functions of the module may do; without a module, anything.
    pub fn effects(&self) -> &EffectSummaries {
        &self.effects
    }

    /// Says what calls may do. Forgets what was found when they did something else.
    pub(crate) fn set_effects(&mut self, effects: &EffectSummaries) {
        if !self.effects.is_same(effects) {
            self.entries.retain(|_, entry| !entry.facets.contains(Facets::EFFECTS));
            self.effects.clone_from(effects);
        }
    }

    /// Returns how many results were computed.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Returns how many times a cached result was given out.
    pub fn reused(&self) -> u64 {
        self.reused
    }
}

impl Analysis for ControlFlow {
    const NAME: &'static str = "control flow";
    const FACETS: Facets = Facets::CFG;

    fn compute(f: &Function, _: &mut Analyses) -> Self {
        Self::compute(f)
    }
}

impl Analysis for DominatorTree {
    const NAME: &'static str = "dominator tree";
    const FACETS: Facets = Facets::CFG;

    fn compute(f: &Function, _: &mut Analyses) -> Self {
        Self::compute(f)
    }
}

impl Analysis for Liveness {
    const NAME: &'static str = "liveness";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f))
    }
}
