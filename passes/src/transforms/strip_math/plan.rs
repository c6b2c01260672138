//! Which functions of a loop are computed for strips, in which order, and from where.

use regraft_dialects::{math, mem};
use regraft_ir::{DominatorTree, Function, Op, Operand, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::ahead::{Finder, is_function, steps};
use super::slots::{Place, Reads, Slots};
use crate::analysis::loop_exits::{Count, Holds, LatchRuns};
use crate::analysis::{Latencies, LoopId};
use crate::transforms::util::counters::can_compute;
use crate::transforms::util::loop_form::is_small_innermost;
use crate::transforms::util::loop_pair::{CountedLoop, FusionAnalyses};
use crate::transforms::util::versioning::Apart;

/// The most instructions of a loop.
const MAX_SIZE: usize = 400;

/// The least time that the functions of an iteration take, in cycles: that of one.
const LEAST_TIME: u32 = 30;

/// The most pairs of arrays that are told apart before a loop.
const MAX_APART: usize = 6;

/// The arguments of a function for a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The elements that this load reads in its iterations.
    Elements(Value),
    /// Elements of the buffer.
    Buffer(Place),
}

/// A function that is computed for a strip, or a sine and a cosine of the same angle.
#[derive(Debug)]
pub(super) struct Strip {
    pub(super) insts: SmallVec<[Value; 2]>,
    pub(super) sources: SmallVec<[Source; 2]>,
    /// The first part of the buffer that gets results, one behind the other.
    pub(super) slot: usize,
}

impl Strip {
    /// The functions, with the places of their results.
    pub(super) fn results(&self) -> impl Iterator<Item = (Value, Place)> + '_ {
        let places = (0..).map(|nth| Place { slot: self.slot, nth });
        self.insts.iter().copied().zip(places)
    }
}

/// Functions that need nothing of each other, after a loop that computes what they are given.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// What is written to parts of the buffer first.
    pub(super) filled: Vec<(Operand, usize)>,
    /// The strips, by their places in the list.
    pub(super) strips: std::ops::Range<usize>,
}

/// A load that is made ahead.
pub(super) struct Load {
    pub(super) inst: Value,
    /// The steps of the indices from one iteration to the next.
    pub(super) steps: SmallVec<[i64; 3]>,
    /// True if the indices are checked before. `mem.map` looks whether the array has as many elements.
    pub(super) is_checked: bool,
}

/// The plan for a loop.
pub(super) struct Plan {
    pub(super) counted: CountedLoop,
    pub(super) runs: LatchRuns,
    /// The fewest iterations with which the loop is cut.
    pub(super) least: i64,
    pub(super) apart: Vec<Apart>,
    pub(super) strips: Vec<Strip>,
    pub(super) rounds: Vec<Round>,
    /// Functions that are not computed, as nobody needs their results, and they fail where another one does.
    pub(super) dropped: Vec<Value>,
    /// The loads that are made ahead.
    pub(super) loads: Vec<Load>,
    /// The number of parts of the buffer.
    pub(super) slots: usize,
}

impl Plan {
    /// The plan for a loop, if it is worth it.
    pub(super) fn of(
        facts: &FusionAnalyses<'_>,
        tree: &DominatorTree,
        l: LoopId,
        least: i64,
    ) -> Option<Self> {
        let (f, forest) = (facts.f, &facts.forest);
        if !is_small_innermost(f, forest, l, MAX_SIZE) {
            return None;
        }
        let functions = functions(facts, tree, l);
        if functions.is_empty() {
            return None;
        }
        let counted = CountedLoop::with_any_latch(f, forest, l)?;
        // The buffer of a loop within others is made once.
        let least = if forest.get(l).parent.is_some() { least } else { 2 * least };
        let runs = runs(facts, &counted, least)?;
        if is_cut(f, facts, l) {
            return None;
        }
        let accesses = facts.accesses(l)?;
        let mut finder = Finder::new(facts, tree, l, &accesses.list, functions.clone());
        let mut levels: Vec<(u32, Value)> = Vec::new();
        for &v in &functions {
            if let Some(ahead) = finder.ahead(v.into()) {
                levels.push((ahead.level, v));
            }
        }
        // Those of one level stay in order.
        levels.sort_by_key(|&(level, _)| level);
        let dropped = dropped(f, &levels);
        levels.retain(|(_, v)| !dropped.contains(v));
        let latencies = f.ctx().extensions().get::<Latencies>();
        let time: u32 = levels.iter().map(|&(_, v)| time(f, v, latencies)).sum();
        if time < LEAST_TIME {
            return None;
        }
        let mut plan = Self {
            counted,
            runs,
            least,
            apart: Vec::new(),
            strips: Vec::new(),
            rounds: Vec::new(),
            dropped,
            loads: Vec::new(),
            slots: 0,
        };
        plan.allocate(facts, l, &levels);
        let loads: Vec<Value> = plan.loads.iter().map(|load| load.inst).collect();
        plan.apart = finder.apart(&loads);
        (plan.apart.len() <= MAX_APART).then_some(plan)
    }

    /// Gives each function its sources, and a part of the buffer.
    fn allocate(&mut self, facts: &FusionAnalyses<'_>, l: LoopId, levels: &[(u32, Value)]) {
        let f = facts.f;
        let functions: Vec<Value> = levels.iter().map(|&(_, v)| v).collect();
        let mut slots = Slots::default();
        let mut results: FxHashMap<Value, Place> = FxHashMap::default();
        for round in levels.chunk_by(|x, y| x.0 == y.0) {
            let first = self.strips.len();
            let mut filled: Vec<(Operand, usize)> = Vec::new();
            for &(_, v) in round {
                for arg in f.operands(v) {
                    let is_there = arg.as_value().is_some_and(|arg| {
                        results.contains_key(&arg) || self.elements(facts, l, arg)
                    });
                    if !is_there && !filled.iter().any(|&(known, _)| known == arg) {
                        let readers = round.iter().flat_map(|&(_, v)| f.operands(v));
                        filled.push((
                            arg,
                            slots.take((readers.filter(|&x| x == arg).count(), false)),
                        ));
                        self.note_loads(facts, l, arg, &functions);
                    }
                }
            }
            for &(_, v) in round {
                if results.contains_key(&v) {
                    continue;
                }
                let source = |arg: Operand| {
                    let known = arg.as_value().and_then(|arg| results.get(&arg).copied());
                    let filled = || filled.iter().find(|&&(of, _)| of == arg);
                    known.or_else(|| filled().map(|&(_, slot)| Place::at(slot))).map_or_else(
                        || Source::Elements(arg.as_value().expect("it is a load")),
                        Source::Buffer,
                    )
                };
                let sources: SmallVec<[Source; 2]> = f.operands(v).map(source).collect();
                let mut read: Vec<Place> = Vec::new();
                for source in &sources {
                    match *source {
                        Source::Elements(load) => {
                            self.note_load(facts, l, load, f.operand_count(load) > 2);
                        }
                        Source::Buffer(place) => read.push(place),
                    }
                }
                let pair = pair(f, v, round, |w| !results.contains_key(&w));
                // One function may replace what it is given by its results, if both stand at the start of a part.
                let in_place = |place: &Place| pair.is_none() && place.nth == 0;
                let (replaced, kept): (Vec<Place>, Vec<Place>) =
                    read.into_iter().partition(in_place);
                replaced.into_iter().for_each(|place| slots.read(place));
                let reads_of = |v: Value| reads(f, v, &functions, &self.dropped);
                let (insts, slot): (SmallVec<[Value; 2]>, usize) = match pair {
                    Some(pair) => (pair.into(), slots.take_pair(pair.map(reads_of))),
                    None => (smallvec![v], slots.take(reads_of(v))),
                };
                for place in kept {
                    insts.iter().for_each(|_| slots.read(place));
                }
                let strip = Strip { insts, sources, slot };
                results.extend(strip.results());
                self.strips.push(strip);
            }
            self.rounds.push(Round { filled, strips: first..self.strips.len() });
        }
        self.slots = slots.count();
    }

    /// Returns whether a value is a load of floats that stand side by side.
    fn elements(&self, facts: &FusionAnalyses<'_>, l: LoopId, v: Value) -> bool {
        let f = facts.f;
        f.op(v) == Some(mem::LOAD)
            && facts.forest.contains(l, f.block_of(v))
            && steps(facts, l, v)
                .is_some_and(|steps| steps[0] == 1 && steps[1..].iter().all(|&step| step == 0))
    }

    /// Notes the loads that a value needs which is computed ahead.
    fn note_loads(
        &mut self,
        facts: &FusionAnalyses<'_>,
        l: LoopId,
        operand: Operand,
        functions: &[Value],
    ) {
        let f = facts.f;
        let (mut pending, mut seen) = (vec![operand], Vec::new());
        while let Some(operand) = pending.pop() {
            let Some(v) = operand.as_value() else { continue };
            let is_inside = facts.forest.contains(l, f.block_of(v)) && !f.is_param(v);
            if !is_inside || functions.contains(&v) || seen.contains(&v) {
                continue;
            }
            seen.push(v);
            match f.op(v) {
                Some(mem::LOAD) => self.note_load(facts, l, v, true),
                _ => pending.extend(f.operands(v)),
            }
        }
    }

    fn note_load(&mut self, facts: &FusionAnalyses<'_>, l: LoopId, inst: Value, is_checked: bool) {
        match self.loads.iter_mut().find(|known| known.inst == inst) {
            Some(known) => known.is_checked |= is_checked,
            None => {
                let steps = steps(facts, l, inst).expect("its indices move by constants");
                self.loads.push(Load { inst, steps, is_checked });
            }
        }
    }
}

/// Counts the reads of the results of a function by other functions, and tells whether iterations read them.
fn reads(f: &Function, v: Value, functions: &[Value], dropped: &[Value]) -> Reads {
    let users = f.uses(v).map(|at| at.user).filter(|user| !dropped.contains(user));
    let (ahead, others): (Vec<_>, Vec<_>) = users.partition(|user| functions.contains(user));
    (ahead.len(), !others.is_empty())
}

/// The sine and the cosine of the same angle, of which `v` is one, if the other one of the round is left to be computed.
fn pair(
    f: &Function,
    v: Value,
    round: &[(u32, Value)],
    is_left: impl Fn(Value) -> bool,
) -> Option<[Value; 2]> {
    let other = match f.op(v)? {
        math::SIN => math::COS,
        math::COS => math::SIN,
        _ => return None,
    };
    let is_other = |w: Value| f.op(w) == Some(other) && f.operands(w).eq(f.operands(v));
    let w = round.iter().map(|&(_, w)| w).find(|&w| is_other(w) && is_left(w))?;
    Some(if other == math::COS { [v, w] } else { [w, v] })
}

/// The functions that run once in each iteration, in order.
fn functions(facts: &FusionAnalyses<'_>, tree: &DominatorTree, l: LoopId) -> Vec<Value> {
    let (f, forest) = (facts.f, &facts.forest);
    let Some(latch) = forest.get(l).single_latch() else { return Vec::new() };
    let all = forest.blocks(l).iter().flat_map(|&block| f.body(block));
    all.filter(|&v| is_function(f, v) && tree.dominates(f.block_of(v), latch)).collect()
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

/// Returns whether a loop is entered where a strip of it failed: it was cut before.
fn is_cut(f: &Function, facts: &FusionAnalyses<'_>, l: LoopId) -> bool {
    let mut pending = vec![facts.forest.get(l).header];
    let mut seen = pending.clone();
    while let Some(block) = pending.pop() {
        for edge in f.in_edges(block).filter(|edge| !facts.forest.contains(l, edge.from)) {
            let condition = f.operand(Value::terminator(edge.from), 0).and_then(Operand::as_value);
            if condition.is_some_and(|v| f.op(v) == Some(mem::MAP)) {
                return true;
            }
            // A preheader may stand between.
            if f.body(edge.from).next().is_none() && !seen.contains(&edge.from) {
                seen.push(edge.from);
                pending.push(edge.from);
            }
        }
    }
    false
}

/// Functions whose results nobody needs, and that are outside of their domain where another one is.
fn dropped(f: &Function, levels: &[(u32, Value)]) -> Vec<Value> {
    let mut dropped = Vec::new();
    for &(_, v) in levels {
        let covers = |&(_, other): &(u32, Value)| {
            other != v
                && !dropped.contains(&other)
                && f.operands(other).eq(f.operands(v))
                && f.op(other).zip(f.op(v)).is_some_and(|(x, y)| fail_together(x, y))
        };
        let is_total = f.op(v).and_then(math::forms).is_some_and(|forms| !forms.partial);
        if !f.is_used(v) && (is_total || levels.iter().any(covers)) {
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

fn time(f: &Function, v: Value, latencies: &Latencies) -> u32 {
    f.op(v).map_or(0, |op| latencies.of(op, Type::F64))
}
