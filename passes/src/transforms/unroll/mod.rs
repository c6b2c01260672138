//! Unrolls loops: fully where the number of iterations is a small constant, else by a factor.
//!
//! ```text
//! ^1:                                  ^1:
//!   br ^2(0, %1)                         %5: i64 = arith.mul %1, 3
//! ^2(%2: i64, %3: i64):                  %6: i64 = arith.add 0, 1
//!   %4: bool = arith.ge %2, 2      =>    %7: i64 = arith.mul %5, 3
//!   br %4, ^4, ^3                        %8: i64 = arith.add %6, 1
//! ^3:                                    return %7
//!   %5: i64 = arith.mul %3, 3
//!   %6: i64 = arith.add %2, 1
//!   br ^2(%6, %5)
//! ^4:
//!   return %3
//! ```
//!
//! # Method
//! - **Fully** (`full`): one copy of the loop for each time that its header is entered. Exits
//!   of which it is known when they are taken are decided in each copy, the others are kept.
//! - **By a factor** (`factor`), an innermost loop of which the number of iterations is known when
//!   it begins: a new loop goes through that many copies of the body in each round, without the
//!   test that counts, for as long as so many iterations are left; the old loop does the rest.
//!   Other exits are kept in each copy. With `any-count`, a loop of which nothing is known
//!   becomes one of copies that keep all their tests.
//!
//! What [`TripCounts`] says decides. The loop is closed before it is copied, so that what comes
//! after it sees parameters of the blocks that it leaves to, for which each copy passes its own
//! values.
//!
//! # Why it is right
//! Each path through the copies runs what the same path through the loop ran, in the same order: no
//! sum is reordered, and no effect. Only tests go, of which the outcome is known: the counts are
//! exact, wrapping included.
//!
//! # Cost
//! O(size of what is copied), which the limits bound for each loop, and that of the analyses, once
//! for all loops that are looked at together.

pub(in crate::transforms) mod edges;
pub(crate) mod factor;
mod full;

use regraft_dialects::mem;
use regraft_ir::{Block, ControlFlow, Function, Operand, Value};

use super::simplify_cfg::{merge_after, replace_params};
use crate::analysis::loop_exits::may_be_constant;
use crate::analysis::trip_count::LatchRuns;
use crate::analysis::{InductionVariables, LoopForest, LoopId, TripCounts};
use crate::transforms::util::edit::{delete_unreachable, only};
use crate::transforms::util::loop_form::{LoopForm, close_loops};
use crate::transforms::util::promote::array_dims;
use crate::{LoopPass, OptionDef, Options, PassContext, PassResult};
use factor::ByFactor;
use full::Full;

crate::pass! {
    /// Unrolls loops: fully where the number of iterations is a small constant, else by a factor.
    ///
    /// ```text
    /// ^1:                                  ^1:
    ///   br ^2(0, %1)                         %5: i64 = arith.mul %1, 3
    /// ^2(%2: i64, %3: i64):                  %6: i64 = arith.add 0, 1
    ///   %4: bool = arith.ge %2, 2      =>    %7: i64 = arith.mul %5, 3
    ///   br %4, ^4, ^3                        %8: i64 = arith.add %6, 1
    /// ^3:                                    return %7
    ///   %5: i64 = arith.mul %3, 3
    ///   %6: i64 = arith.add %2, 1
    ///   br ^2(%6, %5)
    /// ^4:
    ///   return %3
    /// ```
    ///
    /// By a factor, innermost loops are unrolled whose count is known when they begin: one test
    /// is left for so many iterations, and the old loop does what remains. Sums keep their order.
    /// What comes out of that is a loop again: a second run unrolls it once more.
    #[derive(Debug, Default)]
    pub struct Unroll {
        /// The most times that the header of a loop is entered which is unrolled fully.
        full_trips: usize,
        /// The most instructions that a loop which is unrolled fully becomes.
        full_size: usize,
        /// The same for a loop over the elements of a small array that the function makes.
        array_size: usize,
        /// The number of copies of the body in one round of other loops; less than 2 unrolls none.
        factor: usize,
        /// The most instructions of such a round.
        size: usize,
        /// True if that may be decided when the program runs.
        runtime: bool,
        /// True if a loop of which nothing is known is unrolled by the factor, tests included.
        any_count: bool,
    }
}

impl LoopPass for Unroll {
    const NAME: &'static str = "unroll";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::int("factor", 1, "iterations in one round of a loop; 1 unrolls fully or not")
            .between(1, 64),
        OptionDef::int("full-trips", 16, "unroll a loop fully if it is entered at most so often"),
        OptionDef::int("full-size", 128, "and if it becomes at most so many instructions"),
        OptionDef::int(
            "array-size",
            128,
            "or at most so many where it runs over an array of a few elements that the function makes: these \
             may become values then",
        ),
        OptionDef::int("size", 256, "a round has at most so many instructions"),
        OptionDef::flag("runtime", true, "by a factor, also if the count is not a constant"),
        OptionDef::flag("any-count", false, "by a factor, also if no count is known; tests stay"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        *self = Self {
            full_trips: options.size("full-trips"),
            full_size: options.size("full-size"),
            array_size: options.size("array-size"),
            factor: options.size("factor"),
            size: options.size("size"),
            runtime: options.flag("runtime"),
            any_count: options.flag("any-count"),
        };
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let small: Vec<LoopId> = loops
            .iter()
            .filter_map(|&header| forest.headed_by(header))
            .filter(|&id| self.is_candidate(f, &forest, id))
            .collect();
        // Where the function begins with a loop, its header changes, and with it what is known.
        let mut headers = Vec::with_capacity(small.len());
        for id in small {
            let mut form = LoopForm::new(&forest, id);
            if Some(form.header()) == f.entry() {
                form.ensure_preheader(f)?;
            }
            headers.push(form.header());
        }
        if headers.is_empty() {
            return Ok(());
        }
        let forest = cx.analysis::<LoopForest>(f);
        let counts = cx.analysis::<TripCounts>(f);
        // All is decided before anything changes, and all counts are computed before a loop does:
        // they may mention what comes out of another one.
        let ids = headers.into_iter().filter_map(|header| forest.headed_by(header));
        let mut plans: Vec<Plan> =
            ids.filter_map(|id| self.plan(f, &forest, &counts, id)).collect();
        if plans.is_empty() {
            return Ok(());
        }
        let variables = cx.analysis::<InductionVariables>(f);
        for plan in &mut plans {
            if let Plan::Factor(plan) = plan {
                plan.prepare(f, &variables)?;
            }
        }
        plans.retain(Plan::is_ready);
        for plan in &mut plans {
            plan.form().ensure_preheader(f)?;
        }
        let forms: Vec<&LoopForm> = plans.iter_mut().map(|plan| &*plan.form()).collect();
        close_loops(f, &forms, cx.analyses())?;
        let mut made = vec![false; f.block_capacity()];
        for plan in plans {
            let (blocks, what) = match plan {
                Plan::Full(plan) => (plan.carry_out(f)?, "loops unrolled fully"),
                Plan::Factor(plan) => {
                    let rounds = plan.carry_out(f)?;
                    (
                        rounds.map_or(Vec::new(), |rounds| rounds.blocks),
                        "loops unrolled by a factor",
                    )
                }
            };
            if !blocks.is_empty() {
                cx.count(what);
            }
            made.resize(f.block_capacity(), false);
            blocks.into_iter().for_each(|block| made[block.index()] = true);
        }
        delete_unreachable(f, cx.analyses())?;
        tidy(f, &cx.analysis(f), &made)
    }
}

enum Plan {
    Full(Full),
    Factor(ByFactor),
}

impl Plan {
    /// Returns whether what it takes could be computed before the loop.
    fn is_ready(&self) -> bool {
        match self {
            Self::Full(_) => true,
            Self::Factor(plan) => plan.is_ready(),
        }
    }

    fn form(&mut self) -> &mut LoopForm {
        match self {
            Self::Full(plan) => &mut plan.form,
            Self::Factor(plan) => &mut plan.form,
        }
    }
}

impl Unroll {
    /// Returns whether a loop is small enough for one of the limits.
    fn is_candidate(&self, f: &Function, forest: &LoopForest, id: LoopId) -> bool {
        if forest.get(id).has_irreducible {
            return false;
        }
        let fits = |most| size_up_to(f, forest.blocks(id), most).is_some();
        self.factor > 1 && fits(self.size / self.factor)
            || self.full_trips > 0
                && fits(self.full_size.max(self.array_size))
                && may_be_constant(f, forest, id, self.full_trips as u64 - 1)
    }

    fn plan(
        &self,
        f: &Function,
        forest: &LoopForest,
        counts: &TripCounts,
        id: LoopId,
    ) -> Option<Plan> {
        let Self { full_trips, full_size, factor, size, .. } = *self;
        let count = counts.of(id);
        let insts = size_up_to(f, forest.blocks(id), usize::MAX)?;
        if let LatchRuns::Constant(runs) = count.latch_runs
            && let Ok(runs) = usize::try_from(runs)
            && runs < full_trips
            && let size = insts.saturating_mul(runs.max(1))
            && (size <= full_size
                || size <= self.array_size && runs_over_small_array(f, forest, id))
        {
            return Some(Plan::Full(Full::new(f, forest, counts, id, runs)));
        }
        if factor < 2 || !forest.is_innermost(id) || insts.saturating_mul(factor) > size {
            return None;
        }
        let known = match &count.latch_runs {
            LatchRuns::Constant(runs) => *runs >= factor as u64,
            LatchRuns::Symbolic(_) => self.runtime,
            LatchRuns::Never | LatchRuns::Unknown => false,
        };
        if known {
            return ByFactor::counted(f, forest, id, count, factor).map(Plan::Factor);
        }
        self.any_count.then(|| Plan::Factor(ByFactor::any(forest, id, factor)))
    }
}

/// Returns whether a loop accesses different elements of an array that the function makes, of a few elements.
fn runs_over_small_array(f: &Function, forest: &LoopForest, id: LoopId) -> bool {
    let is_small = |&array: &Value| !f.is_param(array) && array_dims(f, array).is_some();
    let varies = |index: Operand| {
        index.as_value().is_some_and(|index| forest.contains(id, f.block_of(index)))
    };
    forest.blocks(id).iter().flat_map(|&block| f.body(block)).any(|v| {
        let skipped = match f.op(v) {
            Some(mem::LOAD) => 1,
            Some(mem::STORE) => 2,
            _ => return false,
        };
        let array = f.operand(v, 0).and_then(Operand::as_value);
        array.filter(is_small).is_some() && f.operands(v).skip(skipped).any(varies)
    })
}

/// Returns how many instructions there are in blocks, jumps not counted, if not more than `most`.
pub(crate) fn size_up_to(f: &Function, blocks: &[Block], most: usize) -> Option<usize> {
    let mut size: usize = 0;
    for &block in blocks {
        size += usize::from(f.out_edges(block).nth(1).is_some());
        for _ in f.body(block) {
            size += 1;
            if size > most {
                return None;
            }
        }
        if size > most {
            return None;
        }
    }
    Some(size)
}

/// Lets what the only edge into a block passes take the place of its parameters, and joins blocks
/// that follow each other alone, in the blocks that are marked.
pub(crate) fn tidy(f: &mut Function, cfg: &ControlFlow, marked: &[bool]) -> PassResult {
    let mut replaced = Vec::new();
    for block in cfg.reverse_postorder() {
        let alone = only(f.in_edges(block)).is_some();
        if marked[block.index()] && alone && Some(block) != f.entry() {
            replace_params(f, block, &mut replaced)?;
        }
    }
    f.delete_all(&replaced)?;
    for block in cfg.reverse_postorder() {
        if marked[block.index()] && f.is_live_block(block) {
            merge_after(f, block)?;
        }
    }
    Ok(())
}
