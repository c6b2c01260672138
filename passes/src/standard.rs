//! All passes that come with Regraft and the pipelines that are made of them, in one place.

use crate::egraph::EGraphPass;
use crate::overdub::OverdubPass;
use crate::registry::{NamedPipeline, PassRegistry};
use crate::{builtin, transforms};

/// Cheap cleaning: what a person would do to generated code before reading it.
pub const O1: NamedPipeline = NamedPipeline {
    name: "O1",
    text: "simplify-cfg, fix{max=2}(sccp, specialize-getfield, sroa, cse, dce, simplify-cfg)",
    doc: "Cleans up, cheaply.\n\n\
          Constants and the branches that they decide are found, aggregates are taken apart, \
          what is there twice is computed once, and what is not used goes. Calls and loops stay \
          as they are.\n",
};

/// Everything that makes ordinary programs fast without changing one bit of what they compute:
/// what `--stage optimized` shows.
pub const O2: NamedPipeline = NamedPipeline {
    name: "O2",
    text: "\
simplify-cfg, tail-calls, gvn{shared-calls},
fix{max=2}(inline, fix{max=3}(sccp, specialize-getfield, specialize-tangents, simplify-cfg, sroa,
  gvn, dce, loop-delete, unroll, dse)),
adce, licm, indvars, join-exits, licm{sums}, rewrite{math=exact, ties=false}, sink, bounds-elim,
loop-rotate{memory}, licm{whole-loops=false}, load-pre, indvars, adce, loop-delete,
fix{max=2}(unroll, sccp, specialize-getfield, specialize-tangents, simplify-cfg{split-copies=100},
  sroa, gvn, dse),
adce, simplify-cfg, sink",
    doc: "Makes ordinary programs fast.\n\n\
          Recursion that is a loop becomes one, and so do pullbacks of one call; then calls are inlined, since that is what shows most of what \
          can be done; aggregates \
          go, constants and equal values are found together until there are no more, and loops of \
          few iterations are unrolled, so that their counters are constants too; stores go that nothing reads, \
          as what was loaded in between is a value by then. What is small \
          enough by then is inlined as well, and what is dead goes, as it would keep the rest in its loop. Then come \
          the loops: their bounds leave them before their counters become one, and tests of one counter \
          are joined, and what stays the same in sums leaves as well. \
          What is computed is simplified, and moves behind the tests that it needs, before \
          checks of bounds go that these tests make needless. Loops are rotated that a load or store leaves \
          then. What \
          stands between two branches on one condition, as in a reverse sweep, is split into paths. What is left \
          is cleaned up. Results stay the same, bit for bit, \
          and a second run finds next to nothing. \
          The `optimized` stage of a program has been through this.\n",
};

/// [`O2`], then algebra: what generated derivatives go through.
pub const O3: NamedPipeline = NamedPipeline {
    name: "O3",
    text: "O2, reduction-factor, fuse-sweeps, e-graph",
    doc: "Simplifies what `O2` leaves by algebra.\n\n\
          Sums that are the same for many elements of an array are computed once, loops that run \
          one after the other become one, and values are simplified by rewrite rules: last, since \
          the loops leave products with constants. \
          Results stay the same, bit for bit. `O3{math=finite}` and `O3{math=fast}` ask each pass \
          for that algebra. \
          Derivatives go through this when they are made.\n",
};

impl PassRegistry {
    /// The passes that come with Regraft, and the pipelines [`O1`], [`O2`] and [`O3`].
    pub fn standard() -> Self {
        let mut registry = Self::new();
        builtin::register(&mut registry);
        registry.add::<EGraphPass>();
        registry.add::<OverdubPass>();
        transforms::register(&mut registry);
        [O1, O2, O3].into_iter().for_each(|pipeline| registry.add_known_pipeline(pipeline));
        registry
    }
}

#[cfg(test)]
mod tests {
    use super::{O1, O2, O3};
    use crate::registry::PassRegistry;

    #[test]
    fn the_pipelines_are_made_of_passes_that_there_are() {
        let mut registry = PassRegistry::new();
        crate::builtin::register(&mut registry);
        registry.add::<crate::egraph::EGraphPass>();
        crate::transforms::register(&mut registry);
        [O1, O2, O3].into_iter().for_each(|pipeline| registry.add_pipeline(pipeline));
        assert_eq!(registry.pipelines().len(), PassRegistry::standard().pipelines().len());
    }
}
