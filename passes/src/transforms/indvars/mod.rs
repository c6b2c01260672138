//! Gives each loop one counter, 0, 1, 2, ..., and expresses by it what else counts.
//!
//! ```text
//! ^1: br ^2(1, 10)                          ^1: br ^2(0)
//! ^2(%2: i64, %3: i64):                     ^2(%9: i64):
//!                                             %10: i64 = arith.add %9, 1
//!                                             %11: i64 = arith.mul %9, 3
//!                                             %12: i64 = arith.add 10, %11
//!   %4: bool = arith.le %2, 100        =>     %13: bool = arith.lt %9, 100
//!   br %4, ^3, ^4                             br %13, ^3, ^4
//! ^3: mem.store %1, %3, %2                  ^3: mem.store %1, %12, %10
//!   %6: i64 = arith.add %2, 1
//!   %7: i64 = arith.add %3, 3
//!   br ^2(%6, %7)                             br ^2(%10)
//! ^4: return %2                             ^4: return 101
//! ```
//!
//! # Method
//! By what [`InductionVariables`] and [`TripCounts`] say, for each loop:
//!
//! 0. **Narrow counters** that are used as wider numbers become wide (`widen`).
//!    **Equal numbers.** What is the same polynomial as an earlier number is that number.
//! 1. **One counter.** If the header has a parameter that counts 0, 1, 2, ..., that is it; if it
//!    has one alone that counts down by 1, as reverse sweeps do, it stays as it is; else one is
//!    made. Every other header parameter that is `base + step * i` is computed from it, and goes.
//! 2. **Exit tests** on parameters that went compare the counter with the trip count, which is
//!    computed before the loop: less than, if the count is surely not negative as a signed number;
//!    else equal to.
//! 3. **Final values.** What is a polynomial in the counter and used after the loop is computed
//!    there from the trip count, if the loop has one exit, and the result is short. So is a sum to
//!    which each iteration adds a polynomial of degree 2 at most, if that is all it is for (`sums`).
//!
//! All that is needed of the analyses is made into instructions first, for all loops; only then
//! is anything replaced, so that the analyses are not used after what they describe has gone.
//!
//! # Why it is right
//! The polynomials hold modulo 2^w, which is what the program computes with, and nothing that is
//! added can trap. A test is replaced only if its trip count holds always: then the counter
//! is equal to it in just that iteration in which the test leaves, and less before. After the loop
//! the counter is the trip count, even one that holds only if the loop ends. Floats are left
//! alone.
//!
//! # How it goes with others
//! After `licm`, which takes the bounds of tests out of loops; before everything that looks for
//! counted loops. `strength-reduce` does the reverse, late, for machines.
//!
//! # Cost
//! O(instructions of the loops and uses of their values), besides the analyses.

mod exits;
mod rewriter;
mod sums;
mod widen;

use regraft_dialects::arith;
use regraft_ir::{
    Block, Constant, Diagnostic, DominatorTree, Edge, Function, IrResult, Operand, Value,
};
use rustc_hash::FxHashMap;

use crate::analysis::induction::BasicInduction;
use crate::analysis::trip_count::LatchRuns;
use crate::analysis::{InductionVariables, LoopForest, LoopId, TripCounts};
use crate::loop_run::by_nesting_depth;
use crate::options::{OptionDef, Options};
use crate::transforms::util::counters::{
    add_induction, counter_of, ensure_preheaders, is_after, is_inside,
};
use crate::transforms::util::{self, redundant_inductions};
use crate::{LoopPass, PassContext, PassResult};
use exits::{NewTest, final_values, new_test};
pub(crate) use rewriter::Limits;
use rewriter::Rewriter;
use widen::widen;

/// The numbers of rewrites.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Rewritten {
    /// Counters made.
    pub counters: usize,
    /// Parameters that went.
    pub params: usize,
    /// Exit tests that compare the counter with the trip count now.
    pub tests: usize,
    /// Values used after a loop that are computed there.
    pub finals: usize,
}

crate::pass! {
    /// Gives each loop one counter, 0, 1, 2, ..., and expresses by it what else counts.
    ///
    /// ```text
    /// ^1: br ^2(1, 10)                          ^1: br ^2(0)
    /// ^2(%2: i64, %3: i64):                     ^2(%9: i64):
    ///                                             %10: i64 = arith.add %9, 1
    ///                                             %11: i64 = arith.mul %9, 3
    ///                                             %12: i64 = arith.add 10, %11
    ///   %4: bool = arith.le %2, 100        =>     %13: bool = arith.lt %9, 100
    ///   br %4, ^3, ^4                             br %13, ^3, ^4
    /// ^3: mem.store %1, %3, %2                  ^3: mem.store %1, %12, %10
    ///   %6: i64 = arith.add %2, 1
    ///   %7: i64 = arith.add %3, 3
    ///   br ^2(%6, %7)                             br ^2(%10)
    /// ^4: return %2                             ^4: return 101
    /// ```
    ///
    /// Header parameters that are `base + step * i` in the iteration `i` go; exit tests on them
    /// compare the counter with the trip count; what is used after the loop is computed there, sums of
    /// counters and their squares too. A narrow counter that is used as a wider number becomes wide.
    /// Integers wrap as before; floats are left alone. Put it after `licm`, and before passes that
    /// look for counted loops. It costs O(instructions) for each level of nesting.
    #[derive(Debug, Default)]
    pub struct Indvars {
        limits: Limits,
    }
}

impl LoopPass for Indvars {
    const NAME: &'static str = "indvars";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::flag("final-values", true, "compute what is used after a loop there"),
        OptionDef::flag(
            "multiply",
            true,
            "let parameters go for which a multiplication is needed in the loop",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.limits = Limits {
            final_values: options.flag("final-values"),
            multiply: options.flag("multiply"),
        };
        Ok(())
    }

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        self.rewrite(f, loops, cx).map(drop)
    }

    fn run_all(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let mut loops = by_nesting_depth(f, &forest);
        while !loops.is_empty() {
            loops = self.rewrite(f, &loops, cx)?;
        }
        Ok(())
    }
}

impl Indvars {
    /// Rewrites loops, given by their headers, inner ones first. Final values of one loop that are
    /// used after the loop around it as well stay what they are there: returns the headers of such
    /// loops around, which are to be looked at again.
    fn rewrite(
        &self,
        f: &mut Function,
        loops: &[Block],
        cx: &mut PassContext<'_>,
    ) -> Result<Vec<Block>, Diagnostic> {
        // Preheaders of loops that count in plain sight are made before anything is asked of them.
        let forest = cx.analysis::<LoopForest>(f);
        let is_plain = |&header: &Block| counts_in_sight(f, &forest, header);
        let plain: Vec<Block> = loops.iter().copied().filter(is_plain).collect();
        let made = ensure_preheaders(f, &plain, &forest, |_| true)?;
        // The header of a loop that the function begins with is another block by now.
        let renamed = plain.into_iter().zip(made).find(|(before, now)| before != now);
        let header_now = |&header: &Block| match renamed {
            Some((before, now)) if before == header => now,
            _ => header,
        };
        let loops: Vec<Block> = loops.iter().map(header_now).collect();
        let ivs = cx.analysis::<InductionVariables>(f);
        let headers = ensure_preheaders(f, &loops, ivs.forest(), |l| !ivs.basic(l).is_empty())?;
        let widened = widen(f, &headers, cx)?;
        let ivs = cx.analysis::<InductionVariables>(f);
        let counts = cx.analysis::<TripCounts>(f);
        let dom = cx.analysis::<DominatorTree>(f);
        let ids: Vec<LoopId> =
            headers.into_iter().filter_map(|header| ivs.forest().headed_by(header)).collect();
        let mut equal = redundant_inductions::join(f, &ids, &ivs, &dom)?;
        let mut again = Vec::new();
        let mut done = Rewritten::default();
        // Nothing is replaced before all loops have been looked at.
        let exits: Vec<Exits<'_>> = ids.iter().map(|&l| Exits::of(f, &counts, l)).collect();
        let mut plans = Vec::new();
        for (&l, exits) in ids.iter().zip(exits) {
            let (ivs, counts, dom, limits) = (&*ivs, &*counts, &*dom, self.limits);
            let (counter, known) = (None, Vec::new());
            let mut rewriter = Rewriter { f: &mut *f, ivs, counts, dom, l, limits, counter, known };
            plans.extend(rewriter.plan(exits, &mut done)?);
        }
        let behind: Vec<(Value, Value)> = plans.iter().filter_map(|plan| plan.behind).collect();
        carry_out(f, ivs.forest(), plans, &mut done, &mut again)?;
        // What is used after a loop is another value by now.
        for (v, next) in behind {
            if f.is_live(v) {
                f.replace_named(v, next)?;
                equal.push(v);
            }
        }
        delete_unused(f, &equal)?;
        cx.add("equal numbers", equal.len() as u64);
        cx.add("counters widened", widened);
        cx.add("counters made", done.counters as u64);
        cx.add("induction variables removed", done.params as u64);
        cx.add("exit tests rewritten", done.tests as u64);
        cx.add("final values computed", done.finals as u64);
        Ok(again)
    }
}

/// Returns whether a parameter of a header grows by the same constant on each way back.
fn counts_in_sight(f: &Function, forest: &LoopForest, header: Block) -> bool {
    let Some(l) = forest.headed_by(header) else { return false };
    f.params(header).enumerate().any(|(at, param)| {
        let back = f.in_edges(header).filter(|edge| forest.contains(l, edge.from));
        let mut steps = back.map(|edge| {
            let [x, step] = f.matches(f.edge_arg(edge, at)?.as_value()?, arith::ADD)?;
            f.const_i64(step).filter(|_| x == param.into())
        });
        let first = steps.next().flatten();
        first.is_some() && steps.all(|step| step == first)
    })
}

fn delete_unused(f: &mut Function, values: &[Value]) -> IrResult<()> {
    for &v in values {
        if f.is_live(v) && !f.is_used(v) {
            f.delete_tree(v)?;
        }
    }
    Ok(())
}

/// The exits of a loop of which it is known when they are taken. Positions of edges move where a
/// counter is passed, their order does not.
struct Exits<'a> {
    /// The block, the number of its edge, and when the exit is taken.
    known: Vec<(Block, usize, &'a LatchRuns)>,
    /// The one that the loop surely leaves by.
    only: Option<(Block, usize)>,
}

impl<'a> Exits<'a> {
    fn of(f: &Function, counts: &'a TripCounts, l: LoopId) -> Self {
        let nth = |exit: &Edge| f.out_edges(exit.from).position(|edge| edge == *exit);
        let known = counts.exits(l).iter();
        let known = known.filter_map(|(exit, runs)| Some((exit.from, nth(exit)?, runs))).collect();
        let only = counts.of(l).exit.filter(|_| counts.of(l).is_exact);
        Self { known, only: only.and_then(|exit| Some((exit.from, nth(&exit)?))) }
    }
}

/// The replacements in a loop, made after everything that replaces it has been inserted.
struct Plan {
    /// Parameters that go, and what they are.
    params: Vec<(Value, Operand)>,
    tests: Vec<NewTest>,
    /// Values that are used after the loop, and what is used there instead.
    finals: Vec<(Value, Operand)>,
    /// A value that is what a new counter is next, which stands before it, with that.
    behind: Option<(Value, Value)>,
    l: LoopId,
    /// The exit that the loop surely leaves by, as a block and the number of its edge.
    only: Option<(Block, usize)>,
}

impl Rewriter<'_> {
    fn plan(&mut self, exits: Exits<'_>, done: &mut Rewritten) -> IrResult<Option<Plan>> {
        let counts_down = |b: &&BasicInduction| b.step.constant_value() == Some(-1);
        // One counter that counts down is as good, and nothing is left to be expressed by it.
        let is_down = self.ivs.basic(self.l).len() == 1
            && self.ivs.basic(self.l).iter().any(|b| counts_down(&b));
        if is_down && self.ivs.chains(self.l).is_empty() {
            return Ok(None);
        }
        let (f, ivs) = (&*self.f, self.ivs);
        let at = ivs.forest().get(self.l);
        let Some(preheader) = at.preheader else { return Ok(None) };
        let old = counter_of(f, ivs, self.l);
        let mut going: Vec<&BasicInduction> = ivs
            .basic(self.l)
            .iter()
            .filter(|b| !is_down && Some(b.param) != old && self.is_worth_it(b))
            .collect();
        if old.is_none() && going.iter().filter(|b| !b.step.is_zero()).count() == 1 {
            going.retain(|b| !counts_down(b));
        }
        let needed = going.iter().filter(|b| !b.step.is_zero()).map(|b| b.base.ty());
        let Exits { known: exits, only } = exits;
        let mut made = None;
        if let Some(widest) = needed.max_by_key(|ty| ty.bits()) {
            // A counter of a narrow type says nothing about wide values.
            self.counter = old.filter(|&old| f.ty(old).bits() >= widest.bits());
            if self.counter.is_none() {
                going.extend(ivs.basic(self.l).iter().find(|b| Some(b.param) == old));
                let [zero, one] = [0, 1].map(|x| {
                    let constant = Constant::int(widest, x).expect("counters are integers");
                    Operand::from(f.constant_id(constant))
                });
                let (counter, next) = add_induction(self.f, ivs.forest(), self.l, zero, one)?;
                (self.counter, made) = (Some(counter), Some(next));
                done.counters += 1;
            }
        }
        let mut plan = Plan {
            params: Vec::new(),
            tests: Vec::new(),
            finals: Vec::new(),
            behind: None,
            l: self.l,
            only,
        };
        let header = at.header;
        let start = self.f.first_inst(header).unwrap_or(Value::terminator(header));
        for basic in going {
            let value = self.express(basic, preheader, start)?;
            plan.params.push((basic.param, value));
        }
        if let Some(next) = made {
            plan.behind = self.reuse_next(next, &plan.params)?.map(|v| (v, next));
        }
        if let Some(counter) = self.counter {
            // Tests that stay are in terms of the counter already.
            let gone: Vec<Value> = plan.params.iter().map(|&(param, _)| param).collect();
            for (from, nth, runs) in exits {
                if let Some(exit) = self.f.out_edges(from).nth(nth) {
                    plan.tests.extend(new_test(self, counter, &gone, exit, runs, preheader)?);
                }
            }
        }
        let only = only.and_then(|(from, nth)| self.f.out_edges(from).nth(nth));
        if let Some(exit) = only.filter(|_| self.limits.final_values) {
            plan.finals = final_values(self, exit, preheader)?;
        }
        Ok(Some(plan))
    }
}

/// Replaces what the plans say, and then deletes what nobody uses any more.
fn carry_out(
    f: &mut Function,
    forest: &LoopForest,
    plans: Vec<Plan>,
    done: &mut Rewritten,
    again: &mut Vec<Block>,
) -> IrResult<()> {
    let mut dead: Vec<Value> = Vec::new();
    let mut params = Vec::new();
    // Final values of loops in others, with the loops around them.
    let mut finals: Vec<(LoopId, Value)> = Vec::new();
    for plan in plans {
        for (v, value) in plan.finals {
            let exit = plan.only.and_then(|(from, nth)| f.out_edges(from).nth(nth));
            let Some(exit) = exit else { continue };
            f.replace_uses_if(v, value, |f, at| is_after(f, forest, plan.l, exit, at))?;
            let around = forest.get(plan.l).parent;
            finals.extend(around.zip(value.as_value()));
            dead.push(v);
            done.finals += 1;
        }
        for test in plan.tests {
            dead.extend(test.put(f)?);
            done.tests += 1;
        }
        params.extend(plan.params);
    }
    // What one stands for may be another one, of a loop before.
    let mut gone: FxHashMap<Value, Operand> = FxHashMap::default();
    for (param, mut value) in params {
        while let Some(&other) = value.as_value().and_then(|v| gone.get(&v)) {
            value = other;
        }
        let header = f.block_of(param);
        let position = f.params(header).position(|p| p == param).unwrap_or(0);
        f.replace_named(param, value)?;
        let edges = f.in_edges_in_order(header);
        dead.extend(edges.iter().filter_map(|&e| f.edge_args(e).nth(position)?.as_value()));
        f.remove_param(param)?;
        gone.insert(param, value);
        done.params += 1;
    }
    for v in dead {
        util::edit::delete_unused(f, Some(v))?;
    }
    for (l, v) in finals {
        let inside = |block: Block| is_inside(f, forest, l, block);
        if f.is_live(v)
            && inside(f.block_of(v))
            && f.uses(v).any(|at| !inside(f.block_of(at.user)))
            && !again.contains(&forest.get(l).header)
        {
            again.push(forest.get(l).header);
        }
    }
    Ok(())
}
