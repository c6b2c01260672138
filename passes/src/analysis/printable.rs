//! Analyses that `print{..}` shows. Each has a flag of its name there.
//!
//! ```
//! use regraft_passes::analysis::printable::Printable;
//!
//! let size = Printable {
//!     name: "size",
//!     doc: "the number of instructions",
//!     describe: |f, _| f.all_insts().count().to_string(),
//! };
//! assert_eq!(size.name, "size");
//! ```

use std::fmt::Write as _;

use regraft_ir::{ControlFlow, DominatorTree, Function};

use super::block_list::list;
use super::{Aliases, InductionVariables, Invariants, LoopForest, Ranges, TripCounts};
use crate::pass::PassContext;

/// An analysis whose result can be read as text.
#[derive(Clone, Copy, Debug)]
pub struct Printable {
    /// Its name in `print{..}`.
    pub name: &'static str,
    /// Its subject, in a line.
    pub doc: &'static str,
    /// Its result for a function, in terms of the printed IR.
    pub describe: fn(&Function, &mut PassContext<'_>) -> String,
}

/// The analyses of this crate, by name.
pub(crate) const PRINTABLE: &[Printable] = &[
    Printable {
        name: "aliases",
        doc: "which allocation or argument each object is",
        describe: |f, cx| cx.analysis::<Aliases>(f).describe(f),
    },
    Printable {
        name: "control-flow",
        doc: "blocks in reverse postorder, their edges, and what is unreachable",
        describe: |f, cx| describe_control_flow(f, &cx.analysis::<ControlFlow>(f)),
    },
    Printable {
        name: "dependence",
        doc: "how many iterations apart accesses in a loop may be to the same element",
        describe: |f, cx| super::dependence::describe(f, cx.analyses()),
    },
    Printable {
        name: "dominators",
        doc: "which block immediately dominates which",
        describe: |f, cx| describe_dominators(&cx.analysis::<DominatorTree>(f)),
    },
    Printable {
        name: "effects",
        doc: "what a call of the function does to memory and to the world",
        describe: |f, cx| cx.effects().of(f.name()).describe(f),
    },
    Printable {
        name: "induction",
        doc: "integer values as polynomials in the iterations of the loops around them",
        describe: |f, cx| cx.analysis::<InductionVariables>(f).describe(f),
    },
    Printable {
        name: "invariants",
        doc: "what is computed in a loop and is the same in all its iterations",
        describe: |f, cx| cx.analysis::<Invariants>(f).describe(f),
    },
    Printable {
        name: "liveness",
        doc: "which values are still needed where a block begins and where it ends",
        describe: |f, cx| cx.analysis::<regraft_ir::Liveness>(f).describe(f),
    },
    Printable {
        name: "loop-forest",
        doc: "loops, how they are nested, where they are entered and left; irreducible regions",
        describe: |f, cx| cx.analysis::<LoopForest>(f).describe(f),
    },
    Printable {
        name: "post-dominators",
        doc: "which block immediately post-dominates which, and cycles that are never left",
        describe: |f, cx| cx.analysis::<super::PostDominatorTree>(f).describe(f),
    },
    Printable {
        name: "ranges",
        doc: "intervals of integers, known constants, kinds of floats, what branches add to that",
        describe: |f, cx| cx.analysis::<Ranges>(f).describe(f),
    },
    Printable {
        name: "structure",
        doc: "blocks as sequences, loops and choices; what has no such form is named",
        describe: |f, cx| cx.analysis::<super::Structure>(f).describe(f),
    },
    Printable {
        name: "trip-counts",
        doc: "how often each loop goes back to its header",
        describe: |f, cx| cx.analysis::<TripCounts>(f).describe(f),
    },
];

fn describe_control_flow(f: &Function, cfg: &ControlFlow) -> String {
    let mut out = String::new();
    for block in cfg.reverse_postorder() {
        let _ = writeln!(out, "{block} -> {}", list(f.successors(block)));
    }
    if cfg.reachable_count() < f.block_count() {
        let unreachable = f.blocks().filter(|&block| !cfg.is_reachable(block));
        let _ = writeln!(out, "unreachable: {}", list(unreachable));
    }
    out
}

fn describe_dominators(dom: &DominatorTree) -> String {
    let mut out = String::new();
    for &block in dom.order() {
        let _ = writeln!(out, "{block} dominates {}", list(dom.children(block)));
    }
    out
}
