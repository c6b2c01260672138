//! Which functions of a loop are computed for strips.

use regraft_dialects::{math, mem};
use regraft_ir::{DominatorTree, Function, Op, Operand, Type, Value};
use rustc_hash::FxHashMap;

use super::ahead::{Finder, is_cut, is_function};
use super::schedule::{Computed, Schedule, needed};
use crate::analysis::loop_exits::{Count, Holds, LatchRuns};
use crate::analysis::{Latencies, LoopId};
use crate::transforms::util::counters::can_compute;
use crate::transforms::util::loop_form::is_small_innermost;
use crate::transforms::util::loop_pair::{CountedLoop, FusionAnalyses};
use crate::transforms::util::versioning::Apart;

/// The most instructions of a loop.
const MAX_SIZE: usize = 400;

/// The least time that the functions of an iteration take, in cycles: that of one.
pub(super) const LEAST_TIME: u32 = 30;

/// The most pairs of arrays that are told apart before a loop.
const MAX_APART: usize = 6;

/// The plan for a loop.
pub(super) struct Plan {
    pub(super) counted: CountedLoop,
    pub(super) runs: LatchRuns,
    /// The fewest iterations with which the loop is cut.
    pub(super) least: i64,
    pub(super) apart: Vec<Apart>,
    pub(super) schedule: Schedule,
    /// Functions that are not computed, as nobody needs their results, and they fail where another one does.
    pub(super) dropped: Vec<Value>,
    /// True if functions are all that the loop does: no iterations are left.
    pub(super) is_whole: bool,
}

/// A loop of which strips can be made.
pub(super) struct Candidate {
    pub(super) counted: CountedLoop,
    pub(super) runs: LatchRuns,
    pub(super) least: i64,
}

impl Candidate {
    /// A small innermost loop whose trip count is known before it, and which was not cut before.
    pub(super) fn of(facts: &FusionAnalyses<'_>, l: LoopId, least: i64) -> Option<Self> {
        let (f, forest) = (facts.f, &facts.forest);
        if !is_small_innermost(f, forest, l, MAX_SIZE) {
            return None;
        }
        let counted = CountedLoop::with_any_latch(f, forest, l)?;
        // The buffer of a loop within others is made once.
        let least = if forest.get(l).parent.is_some() { least } else { 2 * least };
        let runs = runs(facts, &counted, least)?;
        (!is_cut(f, facts, l)).then_some(Self { counted, runs, least })
    }
}

impl Plan {
    /// The plan for a loop whose functions are computed before its iterations, if it is worth it; with what they are
    /// given if `arithmetic` is computed for strips too.
    pub(super) fn of(
        facts: &FusionAnalyses<'_>,
        tree: &DominatorTree,
        l: LoopId,
        least: i64,
        arithmetic: bool,
    ) -> Option<Self> {
        let f = facts.f;
        let mut functions = functions(facts, tree, l, |v| is_function(f, v, is_strip_function));
        let is_elementary = |v: Value| f.op(v).is_some_and(is_elementary);
        if !functions.iter().any(|&v| is_elementary(v)) {
            return None;
        }
        let args: Vec<Operand> = functions
            .iter()
            .filter(|&&v| arithmetic && is_elementary(v))
            .flat_map(|&v| f.operands(v))
            .collect();
        let needed = needed(facts, l, args, |_| false);
        functions.retain(|&v| is_elementary(v) || needed.contains(&v));
        let Candidate { counted, runs, least } = Candidate::of(facts, l, least)?;
        let accesses = facts.accesses(l)?;
        let mut finder = Finder::new(facts, tree, l, &accesses.list, functions.clone());
        let mut computed: Vec<Computed> = Vec::new();
        for &inst in &functions {
            if let Some(ahead) = finder.ahead(inst.into()) {
                computed.push(Computed { inst, level: ahead.level, late: false });
            }
        }
        let dropped = dropped(f, &computed);
        computed.retain(|function| !dropped.contains(&function.inst));
        if time(f, &computed) < LEAST_TIME {
            return None;
        }
        let stored = FxHashMap::default();
        let schedule = Schedule::of(facts, l, &mut finder, &computed, &stored, &dropped);
        let loads: Vec<Value> = schedule.accesses.iter().map(|load| load.inst).collect();
        let apart = finder.apart(&loads);
        (apart.len() <= MAX_APART).then_some(Self {
            counted,
            runs,
            least,
            apart,
            schedule,
            dropped,
            is_whole: false,
        })
    }
}

/// The functions that run once in each iteration, in order.
pub(super) fn functions(
    facts: &FusionAnalyses<'_>,
    tree: &DominatorTree,
    l: LoopId,
    is_function: impl Fn(Value) -> bool,
) -> Vec<Value> {
    let (f, forest) = (facts.f, &facts.forest);
    let Some(latch) = forest.get(l).single_latch() else { return Vec::new() };
    let all = forest.blocks(l).iter().flat_map(|&block| f.body(block));
    all.filter(|&v| is_function(v) && tree.dominates(f.block_of(v), latch)).collect()
}

/// Returns whether an op is an elementary function that strips can be computed of.
pub(super) fn is_elementary(op: Op) -> bool {
    math::forms(op).is_some()
}

/// Returns whether strips can be computed of an op, be it arithmetic or elementary.
pub(super) fn is_strip_function(op: Op) -> bool {
    mem::strip_function(op).is_some()
}

/// The number of times that a loop goes back, if it can be computed before the loop, and may be enough.
fn runs(facts: &FusionAnalyses<'_>, counted: &CountedLoop, least: i64) -> Option<LatchRuns> {
    let (f, variables) = (facts.f, &facts.variables);
    let count = facts.counts.of(counted.id);
    if count.exit != Some(counted.exit(f)) {
        return None;
    }
    let is_there =
        |poly| variables.is_available_before(poly, counted.id) && can_compute(f, variables, poly);
    let fits = match &count.latch_runs {
        LatchRuns::Constant(n) => i64::try_from(*n).is_ok_and(|n| n >= least),
        LatchRuns::Symbolic(count) => {
            let Count { holds, .. } = &**count;
            let holds = match holds {
                Holds::If(condition) => is_there(&condition.value),
                Holds::Always | Holds::IfTaken => true,
            };
            holds && count.polys().into_iter().all(is_there)
        }
        LatchRuns::Never | LatchRuns::Unknown => false,
    };
    fits.then(|| count.latch_runs.clone())
}

/// Functions whose results nobody needs, and that are outside of their domain where another one is.
pub(super) fn dropped(f: &Function, computed: &[Computed]) -> Vec<Value> {
    let mut dropped = Vec::new();
    for &Computed { inst: v, .. } in computed {
        let covers = |&Computed { inst: other, .. }: &Computed| {
            other != v
                && !dropped.contains(&other)
                && f.operands(other).eq(f.operands(v))
                && f.op(other).zip(f.op(v)).is_some_and(|(x, y)| fail_together(x, y))
        };
        let is_total = f.op(v).and_then(mem::strip_function).is_some_and(|forms| !forms.partial);
        if !f.is_used(v) && (is_total || computed.iter().any(covers)) {
            dropped.push(v);
        }
    }
    dropped
}

/// Returns whether two functions have the same domain.
fn fail_together(x: Op, y: Op) -> bool {
    const FINITE: [Op; 3] = [math::SIN, math::COS, math::TAN];
    const NATURAL: [Op; 4] = [math::LOG, math::LOG2, math::LOG10, math::SQRT];
    const WITHIN_ONE: [Op; 2] = [math::ASIN, math::ACOS];
    [&FINITE[..], &NATURAL, &WITHIN_ONE].iter().any(|all| all.contains(&x) && all.contains(&y))
}

/// The time that elementary functions take in an iteration, in cycles.
pub(super) fn time(f: &Function, computed: &[Computed]) -> u32 {
    let latencies = f.ctx().extensions().get::<Latencies>();
    let elementary =
        computed.iter().filter_map(|function| f.op(function.inst)).filter(|&op| is_elementary(op));
    elementary.map(|op| latencies.of(op, Type::F64)).sum()
}
