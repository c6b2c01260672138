//! Computes elementary functions of loops for many iterations at a time.
//!
//! ```text
//! ^1:                                   ^1:
//!   br ^2(0)                              br %enough, ^5(%n, 0), ^2(0)
//! ^2(%k):                               ^5(%left, %first):       a strip of iterations
//!   %go = arith.lt %k, %n                 %m = arith.min %left, 256
//!   br %go, ^3, ^4                        %ok = mem.map %buffer, 1, %m, %x, %at {function=:sin}
//! ^3:                                     br %ok, ^6(%first, 0), ^2(%first)
//!   %next = arith.add %k, 1        =>   ^6(%k, %j):              its iterations
//!   %a = mem.load %x, %next               ..
//!   %s = math.sin %a                      %s = mem.load %buffer, %j + 1
//!   ..                                    ..
//!   br ^2(%next)                        ^7: br %more, ^5(%rest, %next), ^2(%next)
//! ^4: ..                                ^2(%k): ..               the loop as it was
//! ```
//!
//! # Method
//! Strip mining (Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 9.2) of innermost counted loops:
//! what a function is given in the iterations to come is known ahead if it follows from counters and from arrays that
//! the loop does not change. Elements that stand side by side are where the function reads them; everything else is
//! computed by a loop of its own first, and written to a buffer. A function of the results of others is computed after
//! these (`schedule`). The iterations of a strip are then a copy of the loop that reads results from the buffer
//! (`build`). A loop that is made of functions altogether (`whole`) has no such copy.
//!
//! # Why it is right
//! - `mem.map` gives the bits of the op.
//! - An argument outside of the domain, and an index outside of its array, lead to the loop as it was, with the state that
//!   it has at the start of the strip. There the error is raised at its place, after the same effects. Nothing that is done
//!   ahead traps, or writes anything but the buffer, which nobody else knows; in a loop that has no iterations left, stores come
//!   when nothing can fail any more.
//! - In a strip, the counted exit is not taken: as many iterations go back to the header. The last one, or what is
//!   left of it, is that of the loop as it was.
//! - Where an array that is read ahead may be one that the loop writes to, the elements are compared by their indices,
//!   or the arrays before the loop.
//!
//! # Cost
//! O(instructions of innermost loops), with the square of their accesses to memory, which are bounded.

mod ahead;
mod build;
mod plan;
mod schedule;
mod slots;
mod whole;

use regraft_dialects::mem;
use regraft_ir::{DominatorTree, Function};

use crate::analysis::LoopForest;
use crate::options::{OptionDef, Options};
use crate::transforms::dce::Dce;
use crate::transforms::util::loop_form::ensure_preheader;
use crate::transforms::util::loop_pair::FusionAnalyses;
use crate::{FunctionPass, PassContext, PassResult};
use plan::Plan;

crate::pass! {
    /// Computes elementary functions of loops for many iterations at a time.
    ///
    /// ```text
    ///                                 for s in 1:256:n, m = min(256, n - s + 1)
    /// for k in 1:n                        buffer[1:m] = sin.(x[s:s+m-1])
    ///     y[k] = 2 * sin(x[k])   =>       for j in 1:m
    ///                                         y[s+j-1] = 2 * buffer[j]
    /// ```
    ///
    /// For innermost counted loops with one exit: what a function is given has to follow from counters and from elements of
    /// arrays that the loop does not change before it reads them. Results have the same bits, sums are in the same
    /// order. If an argument is outside of the domain, the loop as it was takes over at the start of the strip, and raises the error
    /// at its place. So does it if there are fewer iterations than `least`, or than twice as many in a loop that is within no
    /// other, as the buffer is made for it alone. A sine and a cosine of the same angle are computed together.
    ///
    /// With `arithmetic`, sums, products and the like are functions as well: where they are what other functions are given, and
    /// in loops that store what they compute and do nothing else. Of these, strips are computed where they are stored, and no
    /// iteration is left. Loops within others, which have few iterations more often than not, keep their arithmetic.
    ///
    /// It is run on what becomes native code, after everything else: the functions of a strip are computed by vectors, and
    /// what is left of the loop has no errors in it, so that LLVM makes vectors of it. For Cranelift, which makes none,
    /// arithmetic goes to strips too. A second run changes nothing.
    #[derive(Debug, Default)]
    pub struct StripMath {
        /// The number of iterations of a strip.
        length: i64,
        /// The least number of iterations of a loop within another one.
        least: i64,
        /// True if strips are computed of arithmetic too.
        arithmetic: bool,
    }
}

impl FunctionPass for StripMath {
    const NAME: &'static str = "strip-math";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("length", 256, "iterations of a strip").between(1, 1 << 12),
        OptionDef::int(
            "least",
            8,
            "the fewest iterations of a loop within another one that is cut into strips; of others, twice as many",
        )
        .between(1, 1 << 16),
        OptionDef::flag(
            "arithmetic",
            false,
            "compute strips of sums, products and the like too, and of loops that do nothing else",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        *self = Self {
            length: options.int("length"),
            least: options.int("least"),
            arithmetic: options.flag("arithmetic"),
        };
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let is_such = |op| plan::is_elementary(op) || self.arithmetic && op == mem::STORE;
        if !f.all_insts().any(|v| f.op(v).is_some_and(is_such)) {
            return Ok(());
        }
        let mut plans = self.plans(f, cx);
        if plans.is_empty() {
            return Ok(());
        }
        // Where the function begins with a loop, its header changes, and what plans name.
        let forest = cx.analysis::<LoopForest>(f);
        if let Some(first) = f.entry().and_then(|entry| forest.headed_by(entry)) {
            ensure_preheader(f, &forest, first)?;
            plans = self.plans(f, cx);
        }
        let (forest, variables) = (cx.analysis::<LoopForest>(f), cx.analysis(f));
        for plan in &plans {
            build::carry_out(plan, f, &forest, &variables, self.length)?;
            cx.add(
                "functions",
                plan.schedule.strips.iter().map(|strip| strip.insts.len() as u64).sum(),
            );
            cx.count("loops");
        }
        // What only the functions needed.
        cx.run_within::<Dce>(f).map(drop)
    }
}

impl StripMath {
    /// The loops of which something is computed for strips.
    fn plans(&self, f: &Function, cx: &mut PassContext<'_>) -> Vec<Plan> {
        let tree = cx.analysis::<DominatorTree>(f);
        let facts = FusionAnalyses::of(f, cx, true);
        let plan = |l| {
            // The iterations of a loop within another one are few, more often than not.
            let arithmetic = self.arithmetic && facts.forest.get(l).parent.is_none();
            let whole = if arithmetic { Plan::whole(&facts, &tree, l, self.least) } else { None };
            whole.or_else(|| Plan::of(&facts, &tree, l, self.least, arithmetic))
        };
        facts.forest.loops().filter_map(plan).collect()
    }
}
