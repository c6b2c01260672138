//! Loops that do nothing but compute functions, of elements, and store them: no iterations are left of a strip.

use regraft_dialects::mem;
use regraft_ir::{Constant, DominatorTree, Value};
use rustc_hash::FxHashMap;

use super::ahead::{Finder, comes_before, is_function, place};
use super::plan::{Candidate, LEAST_TIME, Plan, dropped, functions, is_strip_function, time};
use super::schedule::{Computed, Schedule, Source, is_elements, is_fixed, needed, side_by_side};
use crate::analysis::LoopId;
use crate::analysis::traps::only_computes;
use crate::transforms::util::loop_accesses::{MemoryAccess, lines};
use crate::transforms::util::loop_pair::FusionAnalyses;

/// The factor by which loops of arithmetic alone need more iterations than others for strips to be faster.
const ARITHMETIC: i64 = 4;

impl Plan {
    /// The plan for a loop that functions, arithmetic among them, are all of.
    ///
    /// Functions that may fail are computed first, to the buffer. After them nothing fails: elements are there, and
    /// the places that are stored to are apart from those that are read later.
    pub(super) fn whole(
        facts: &FusionAnalyses<'_>,
        tree: &DominatorTree,
        l: LoopId,
        least: i64,
    ) -> Option<Self> {
        let (f, forest) = (facts.f, &facts.forest);
        let latch = forest.get(l).single_latch()?;
        let insts: Vec<Value> = forest.blocks(l).iter().flat_map(|&block| f.body(block)).collect();
        let stores: Vec<Value> =
            insts.iter().copied().filter(|&v| f.op(v) == Some(mem::STORE)).collect();
        let functions = functions(facts, tree, l, |v| is_function(f, v, is_strip_function));
        let may_be = |&v: &Value| {
            stores.contains(&v)
                || functions.contains(&v)
                || f.op(v) == Some(mem::LOAD)
                || only_computes(f, v)
        };
        let variables = facts.variables.basic(l);
        let moves_by_constant = |param: Value| {
            let basic = variables.iter().find(|basic| basic.param == param);
            basic.is_some_and(|basic| basic.step.constant_value().is_some())
        };
        if stores.is_empty()
            || !insts.iter().all(may_be)
            || !f.params(forest.get(l).header).all(moves_by_constant)
        {
            return None;
        }
        let mut stored: FxHashMap<Value, Value> = FxHashMap::default();
        for &store in &stores {
            let value = f.operand(store, 1)?.as_value().filter(|v| functions.contains(v))?;
            let fits = tree.dominates(f.block_of(store), latch)
                && is_fixed(facts, l, place(f, store).0)
                && side_by_side(facts, l, store);
            if !fits || stored.insert(value, store).is_some() {
                return None;
            }
        }
        let Candidate { counted, runs, least } = Candidate::of(facts, l, least)?;
        let accesses = facts.accesses(l)?;
        let mut finder = Finder::new(facts, tree, l, &accesses.list, functions.clone());
        let loads: Vec<Value> =
            insts.iter().copied().filter(|&v| f.op(v) == Some(mem::LOAD)).collect();
        if loads.iter().any(|&load| finder.ahead(load.into()).is_none()) {
            return None;
        }
        let mut computed: Vec<Computed> = Vec::new();
        for &inst in &functions {
            let level = finder.ahead(inst.into())?.level;
            let is_late = |v: Value| computed.iter().any(|x| x.inst == v && x.late);
            let needs_late = f.operands(inst).any(|arg| arg.as_value().is_some_and(is_late));
            let late = needs_late || stored.contains_key(&inst);
            let may_fail = mem::strip_function(f.op(inst)?)?.partial;
            // What is computed for it one iteration after the other comes before all that is stored.
            let mut filled = f.operands(inst).filter(|&arg| {
                !arg.as_value().is_some_and(|v| functions.contains(&v))
                    && !is_fixed(facts, l, arg)
                    && !is_elements(facts, l, arg)
            });
            let needs_early = |arg| {
                let is_function = |v: Value| functions.contains(&v);
                needed(facts, l, vec![arg], is_function).into_iter().any(is_late)
            };
            if late && may_fail || filled.any(needs_early) {
                return None;
            }
            computed.push(Computed { inst, level, late });
        }
        let dropped = dropped(f, &computed);
        computed.retain(|function| !dropped.contains(&function.inst));
        let mut schedule = Schedule::of(facts, l, &mut finder, &computed, &stored, &dropped);
        let has_functions = time(f, &computed) >= LEAST_TIME;
        if !has_functions && schedule.rounds.iter().any(|round| !round.filled.is_empty()) {
            return None;
        }
        let least = if has_functions { least } else { ARITHMETIC * least };
        for &access in loads.iter().chain(&stores) {
            let is_promised = f.attr(access, "inbounds") == Some(Constant::Bool(true))
                && tree.dominates(f.block_of(access), latch);
            schedule.note(facts, l, access, !is_promised);
        }
        // A place that is stored to is read by what is computed before, or for it.
        let keeps_order = |x: &MemoryAccess, y: &MemoryAccess| {
            let (load, store) = match f.op(x.inst) {
                Some(mem::LOAD) => (x, y),
                _ => (y, x),
            };
            let strips = &schedule.strips;
            let reads = |source: &Source| *source == Source::Elements(load.inst);
            let last = strips.iter().rposition(|strip| strip.sources.iter().any(reads));
            let writes = |inst: &Value| stored.get(inst) == Some(&store.inst);
            let written = strips.iter().position(|strip| strip.insts.iter().any(writes));
            let in_order = f.op(load.inst) == Some(mem::LOAD)
                && comes_before(f, tree, load, store)
                && last <= written;
            // Elements side by side are others in each iteration.
            x.inst == y.inst || in_order && is_same_place(facts, l, load, store)
        };
        let apart = facts.apart_in(l, &accesses.list, keeps_order)?;
        if runs.as_constant().is_some_and(|n| n < least) {
            return None;
        }
        Some(Self { counted, runs, least, apart, schedule, dropped, is_whole: true })
    }
}

/// Returns whether two accesses, one of them to elements side by side, are to the same one in each iteration.
fn is_same_place(
    facts: &FusionAnalyses<'_>,
    l: LoopId,
    x: &MemoryAccess,
    y: &MemoryAccess,
) -> bool {
    let lines = |access: &MemoryAccess| {
        let at = access.polynomials(facts.f, &facts.variables)?;
        Some(lines(&facts.variables, &at, l))
    };
    lines(x).zip(lines(y)).is_some_and(|(x, y)| x == y && x.iter().all(Option::is_some))
}
