//! Moves out of loops what is the same in each iteration: instructions, loads that nothing in the
//! loop can change, and whole inner loops.
//!
//! ```text
//! ^1:                                     ^1:
//!                                           %4: i64 = mem.length %1
//!   br ^2(0)                                br ^2(0)
//! ^2(%2: i64):                            ^2(%2: i64):
//!   %3: i64 = mem.length %1        =>
//!   %4: bool = arith.lt %2, %3              %5: bool = arith.lt %2, %4
//!   br %4, ^3, ^4                           br %5, ^3, ^4
//! ```
//!
//! # Method
//! One walk over the blocks of all loops, each block after its dominators (`hoist`). Every value has a
//! home: the innermost loop that it is in, once it has been moved. An instruction is moved at once out
//! of all loops around it that contain neither the home of an operand nor a write to what it reads
//! (by [`MemoryClasses`], whose writes are added up from inner loops to outer ones). Then loops
//! whose results are invariant are moved as a whole (`whole_loops`), and if one was, all is done again.
//!
//! # Why it is right
//! What neither traps nor has an effect may run where it did not run before. Everything else moves
//! only to where it runs in any case: it stands on the path that the first iteration takes for
//! certain, and nothing on that path before it stops the program or can be observed. So an error
//! comes when it came before, and finds memory and output as before. `{inbounds=true}` promises that
//! an access does not trap where it stands; it moves as something that traps but
//! for what can be observed before it.
//!
//! A place in memory is kept in a value while a loop runs (`promote`; register promotion, Cooper and
//! Lu, 1997), where nobody can tell: nothing in the loop may stop it, or nobody else knows the
//! object.
//!
//! A loop that is moved takes the tests with it on which it depended in the first iteration of
//! the loops that it leaves: that a loop around it runs at all, above all. Where they fail, nobody
//! asks for its result.
//!
//! # Cost
//! O(instructions + operands), near linear in the nesting of loops: an instruction finds the
//! outermost loop that it can leave by binary search, and moves once.

pub(crate) mod after_rotation;
mod hoist;
mod scalar_promotion;
mod sums;
mod whole_loops;

use regraft_ir::{Block, Function, IrResult};
use rustc_hash::FxHashSet;

use crate::analysis::bounds::Bounds;
use crate::analysis::{Analyses, CarriedSizes, LoopForest, MemoryClasses, Ranges};
use crate::options::{OptionDef, Options};
use crate::transforms::util::counters::ensure_preheaders;
use crate::transforms::util::function_analyses::FunctionAnalyses;
use crate::{LoopPass, PassContext, PassResult};

/// The analyses that say where instructions, stores and loops may go.
type LicmAnalyses = FunctionAnalyses<MemoryClasses>;

/// Moving a loop lets more be moved, and so does moving what a function is given; after so many rounds that is enough.
const MAX_ROUNDS: usize = 8;

/// The outcome of a round of moving instructions.
struct Hoisted {
    count: usize,
    /// True if a loop writes memory.
    loops_write: bool,
    /// True if more may leave now.
    waits: bool,
}

/// Moves invariant instructions out of loops.
fn hoist_instructions(
    f: &mut Function,
    only: Option<&FxHashSet<Block>>,
    analyses: &mut Analyses,
) -> IrResult<Hoisted> {
    let mut facts = LicmAnalyses::of(f, analyses);
    let mut plan = hoist::plan(f, &facts, only, None);
    if plan.wants_bounds {
        // What is known on the way into a loop is known in its preheader.
        let forest = &facts.forest;
        let headers: Vec<Block> = forest.loops().map(|id| forest.get(id).header).collect();
        ensure_preheaders(f, &headers, forest, |_| true)?;
        facts = LicmAnalyses::of(f, analyses);
        let ranges = analyses.get::<Ranges>(f);
        let LicmAnalyses { cfg, dom, aliases, summaries, .. } = &facts;
        let sizes = analyses.get::<CarriedSizes>(f);
        let bounds = Bounds::new(f, cfg, dom, &ranges, aliases, &sizes, summaries);
        plan = hoist::plan(f, &facts, only, Some(bounds));
    }
    let (loops_write, waits) = (plan.loops_write, plan.waits);
    let count = hoist::apply(f, &facts.forest, plan)?;
    Ok(Hoisted { count, loops_write, waits: waits && count > 0 })
}

/// Moves invariant inner loops out of the loops around them. Returns how many.
fn hoist_loops(
    f: &mut Function,
    only: Option<&FxHashSet<Block>>,
    analyses: &mut Analyses,
) -> IrResult<usize> {
    let forest = analyses.get::<LoopForest>(f);
    if forest.loops().all(|id| forest.get(id).parent.is_none()) {
        return Ok(0);
    }
    whole_loops::run(f, &LicmAnalyses::of(f, analyses), only)
}

crate::pass! {
    /// Moves what is the same in each iteration out of loops.
    ///
    /// ```text
    /// ^1:                                  ^1:
    ///                                        %4: f64 = math.sqrt %1
    ///   br ^2(0)                             br ^2(0)
    /// ^2(%2: i64):                   =>    ^2(%2: i64):
    ///   %4: f64 = math.sqrt %1
    ///   %5: f64 = arith.add %2, %4           %5: f64 = arith.add %2, %4
    /// ```
    ///
    /// Loads and lengths leave loops that write nothing which they may read; a load that need not
    /// run, if its indices are in bounds before the loop already, and a function like `sqrt`, if it is defined for what it is given
    /// (`sqrt(x^2)`, `log(exp(x))`). What may trap leaves a loop otherwise only if it surely runs in its first iteration, before
    /// anything that can be observed: `loop-rotate`, run before, makes that so for the body of a loop. Whole inner loops leave if
    /// their results are invariant; the tests on which they depend go with them.
    ///
    /// A place in memory that a loop reads and writes is kept in a value, and stored when the loop
    /// is left, if an error cannot come in between or the object is known to nobody else.
    ///
    /// With `sums`, two terms of a sum of integers that are the same in each iteration are added first, so that
    /// their sum leaves the loop.
    ///
    /// Near linear, also in the depth of nested loops.
    #[derive(Debug, Default)]
    pub struct Licm {
        whole_loops: bool,
        stores: bool,
        sums: bool,
    }
}

impl LoopPass for Licm {
    const NAME: &'static str = "licm";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::flag("whole-loops", true, "move inner loops whose results are invariant"),
        OptionDef::flag("stores", true, "keep a place in memory in a value while a loop runs"),
        OptionDef::flag("sums", false, "add what is the same in each iteration first"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.whole_loops = options.flag("whole-loops");
        self.stores = options.flag("stores");
        self.sums = options.flag("sums");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        self.move_out(f, Some(loops), cx)
    }

    fn run_all(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        self.move_out(f, None, cx)
    }
}

impl Licm {
    /// Moves what is invariant out of loops: out of those with the headers `only`, or of all.
    fn move_out(
        &self,
        f: &mut Function,
        only: Option<&[Block]>,
        cx: &mut PassContext<'_>,
    ) -> PassResult {
        let only: Option<FxHashSet<Block>> = only.map(|headers| headers.iter().copied().collect());
        let (mut instructions, mut loops, mut places) = (0, 0, 0);
        if self.sums {
            let forest = cx.analysis::<LoopForest>(f);
            let regrouped = sums::regroup(f, &forest, only.as_ref())?;
            cx.add("sums regrouped", regrouped as u64);
        }
        for _ in 0..MAX_ROUNDS {
            if cx.analysis::<LoopForest>(f).is_empty() {
                break;
            }
            let hoisted = hoist_instructions(f, only.as_ref(), cx.analyses())?;
            instructions += hoisted.count;
            if self.stores && hoisted.loops_write {
                let analyses = LicmAnalyses::of(f, cx.analyses());
                places += scalar_promotion::run(f, &analyses, only.as_ref())?;
            }
            let moved = match self.whole_loops {
                true => hoist_loops(f, only.as_ref(), cx.analyses())?,
                false => 0,
            };
            loops += moved;
            if moved == 0 && !hoisted.waits {
                break;
            }
        }
        cx.add("instructions moved", instructions as u64);
        cx.add("loops moved", loops as u64);
        cx.add("places kept in values", places as u64);
        Ok(())
    }
}
