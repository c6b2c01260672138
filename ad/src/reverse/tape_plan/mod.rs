//! The tape plan: how the reverse sweep comes to each value of the forward sweep that it needs.
//!
//! ```text
//! %7: f64    computed again: reads %1 at %6
//! %6: i64    affine in the iteration of ^2
//! %9: f64    kept in an array over ^2, 8 bytes an iteration: `math.exp` takes longer
//! ^2         counted: mem.length %1
//! ```
//!
//! In the order of preference, a value is a constant, kept once (it is computed outside of loops, so
//! that keeping it costs nothing that grows), a shadow that the reverse sweep makes ([`late_shadows`](super::late_shadows)),
//! affine in iterations of loops, a sum of what is affine over the iterations of a loop, computed again from others at little [cost](Latencies), made again of parts that are kept, read where
//! the function itself has stored it ([`elements`]), kept in an array with a place for each
//! iteration of loops whose trip counts are known before they begin, and in which it changes, or kept on a stack that grows.
//! Values are looked at in program order, so that what is kept already is there to compute others
//! from.

mod apply;
mod closed_form;
mod elements;
mod first_needed;
mod report;

use std::cell::{LazyCell, OnceCell, RefCell};

use regraft_dialects::{arith, core, data, mem};
use regraft_ir::{Block, Effects, Function, Op, Operand, Traits, Value};
use regraft_passes::analysis::{Analyses, Latencies, LoopId, Poly, Sym};
use regraft_passes::transforms::util::cover::{Cover, CoverAnalyses};
use rustc_hash::FxHashMap;

use super::loops::{Counters, Loops};
use super::to_be_recorded::ToBeRecorded;

pub(super) use apply::{Applied, apply, place_after};
pub(super) use closed_form::Summed;
pub(super) use report::bytes_of;

/// The reason why objects are kept.
const MADE_ANEW: &str = "it is made anew each time";

/// The greatest cost of computing a value again, in cycles: a function and two sums or products.
const MAX_WORK: u32 = 48;

/// A block of the forward sweep, and the one of the reverse sweep in which it is reversed.
pub(super) type Place = (Block, Block);

/// The facts about the values of a forward sweep that its plan is made by.
pub(super) struct ForwardFacts<'a> {
    pub(super) tbr: &'a ToBeRecorded,
    /// Loads of shadows, with the loads beside which they stand.
    pub(super) shadow_loads: &'a FxHashMap<Value, Value>,
    /// The shadows that the reverse sweep can make.
    pub(super) late_shadows: &'a FxHashMap<Value, Place>,
}

/// The source of a value of the forward sweep in the reverse sweep.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Source {
    /// It was computed outside of loops: it is part of the tape.
    Saved,
    /// It is this polynomial in the iterations.
    Affine(Box<Poly>),
    /// It is a polynomial, and the sum of another over the iterations of a loop before the present
    /// one.
    Summed(Box<Summed>),
    /// It is computed again.
    Recomputed,
    /// It is in the element that this store has put it in.
    Stored(Value),
    /// It is made in this place of the reverse sweep.
    Made(Place),
    /// It is in an array that is made at the end of a block, with an index for each of these loops,
    /// outer ones first. The array is found in turn.
    CachedPerIteration { loops: Vec<LoopId>, preheader: Block, array: Box<CacheDecision> },
    /// It is on top of a stack, which is part of the tape.
    Stack,
}

/// A cache decision, and the reason for it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct CacheDecision {
    pub(super) source: Source,
    pub(super) why: &'static str,
}

/// The cache decisions of a function.
#[derive(Default, Debug)]
pub(super) struct TapePlan {
    /// By [`Value::index`].
    decisions: Vec<Option<CacheDecision>>,
    /// In the order in which they were made.
    decided: Vec<Value>,
    /// The blocks in which arrays are given values, if these are not those of the definitions.
    stored_in: FxHashMap<Value, Block>,
}

impl TapePlan {
    /// The cache decision of a value, if there is one.
    pub(super) fn of(&self, v: Value) -> Option<&CacheDecision> {
        self.decisions.get(v.index())?.as_ref()
    }

    fn record(&mut self, v: Value, decision: CacheDecision) {
        if self.decisions.len() <= v.index() {
            self.decisions.resize(v.index() + 1, None);
        }
        self.decisions[v.index()] = Some(decision);
        self.decided.push(v);
    }

    /// The values that are kept more than once.
    fn kept_in_loops(&self) -> impl Iterator<Item = Value> {
        let is_kept = |&v: &Value| {
            let source = self.of(v).map(|decision| &decision.source);
            matches!(source, Some(Source::CachedPerIteration { .. } | Source::Stack))
        };
        self.decided.iter().copied().filter(is_kept)
    }

    /// The headers of outermost loops in which something is kept, in program order.
    pub(super) fn caching_loops(&self, f: &Function, loops: &Loops) -> Vec<Block> {
        let outermost = |v: Value| loops.around(f.block_of(v)).last();
        let mut found: Vec<LoopId> = self.kept_in_loops().filter_map(outermost).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|l| loops.forest.get(l).header).collect()
    }
}

/// Decides on all residuals of the reverse sweep of `f`, which come with the blocks that are reversed where they are needed, and on
/// what these are found from. Inserts nothing. With `naive`, everything is kept. Near linear.
pub(super) fn plan(
    f: &Function,
    loops: &Loops,
    facts: ForwardFacts<'_>,
    counters: &Counters,
    naive: bool,
    residuals: &[(Value, Block)],
    analyses: &mut Analyses,
) -> TapePlan {
    let latencies = f.ctx().extensions().get();
    let plan = TapePlan::default();
    let run = OnceCell::new();
    let mut this = Planner {
        f,
        loops,
        facts,
        counters,
        latencies,
        naive,
        cover: LazyCell::new(Box::new(|| {
            RefCell::new(run.get_or_init(|| CoverAnalyses::of(f, analyses)).cover(f))
        })),
        plan,
    };
    let asked: Vec<Value> = residuals.iter().map(|&(v, _)| v).collect();
    // In the order in which they are computed, so that what is kept first is there for what comes
    // later.
    let positions = positions(f, loops.cfg.reverse_postorder());
    let mut ordered = asked.clone();
    ordered.sort_unstable_by_key(|&v| positions[v.index()]);
    ordered.dedup();
    for v in ordered {
        this.decide(v);
    }
    // What is computed again or affine is found from values that nobody else may ask for.
    let mut pending = asked;
    pending.reverse();
    let mut seen = vec![false; f.value_capacity()];
    while let Some(v) = pending.pop() {
        if !std::mem::replace(&mut seen[v.index()], true) {
            this.decide(v);
            pending.extend(this.found_from(v));
        }
    }
    this.plan.stored_in = this.storing_blocks(residuals);
    this.plan
}

/// The function and its analyses, and the plan so far.
struct Planner<'a> {
    f: &'a Function,
    loops: &'a Loops,
    facts: ForwardFacts<'a>,
    /// The counters of iterations that were inserted.
    counters: &'a Counters,
    latencies: &'a Latencies,
    naive: bool,
    /// Tells which loops meet all elements of an array.
    cover: LazyCell<RefCell<Cover<'a>>, Box<dyn FnOnce() -> RefCell<Cover<'a>> + 'a>>,
    plan: TapePlan,
}

/// The work of computing a value again.
struct Work {
    /// The cycles that are left for it.
    left: u32,
    /// The elements that it reads and that are overwritten later.
    overwritten: Vec<Value>,
    /// The loads of arrays that an iteration makes, and that would have to be kept.
    of_made: Vec<Value>,
}

impl Work {
    fn take(&mut self, cost: u32) -> Result<(), &'static str> {
        self.left = self.left.checked_sub(cost).ok_or("computing it again takes longer")?;
        Ok(())
    }
}

impl Planner<'_> {
    fn decide(&mut self, v: Value) {
        if self.plan.of(v).is_none() {
            let decision = self.choose(v);
            self.plan.record(v, decision);
        }
    }

    /// The values from which the reverse sweep finds one that is decided on.
    fn found_from(&self, v: Value) -> Vec<Value> {
        match self.plan.of(v).map(|decision| &decision.source) {
            Some(Source::Recomputed | Source::Made(_)) => {
                self.f.operands(v).filter_map(Operand::as_value).collect()
            }
            Some(&Source::Stored(store)) => {
                let place = self.f.operands(store).filter_map(Operand::as_value);
                place.filter(|&part| part != v).collect()
            }
            Some(Source::Affine(poly)) => values_in(poly).collect(),
            Some(Source::Summed(sum)) => sum.polys().flat_map(values_in).collect(),
            _ => Vec::new(),
        }
    }

    fn choose(&mut self, v: Value) -> CacheDecision {
        let f = self.f;
        let block = f.block_of(v);
        let is_constant = matches!(f.op(v), Some(core::UNDEF | core::TUPLE));
        let because = |source, why| CacheDecision { source, why };
        if is_constant && f.operand_count(v) == 0 {
            return because(Source::Recomputed, "it is a constant");
        }
        if self.loops.runs_once(block) {
            return because(Source::Saved, "it is computed once");
        }
        if self.naive {
            return because(Source::Stack, "everything is kept");
        }
        if let Some(&place) = self.facts.late_shadows.get(&v) {
            return because(Source::Made(place), "the forward sweep does not use it");
        }
        self.keep_outer_symbols(v);
        if let Some(poly) = self.affine(v) {
            return because(Source::Affine(Box::new(poly)), "affine in iterations");
        }
        if let Some(sum) = self.summed(v) {
            return because(Source::Summed(Box::new(sum)), "a sum over iterations");
        }
        let mut work = Work { left: MAX_WORK, overwritten: Vec::new(), of_made: Vec::new() };
        let why = match self.work(v, &mut work) {
            Ok(()) if work.of_made.iter().any(|&load| !self.meets_all(load)) => {
                "not all of the array that it reads is read"
            }
            Ok(()) if work.overwritten.is_empty() && work.of_made.is_empty() => {
                return because(Source::Recomputed, "cheap to compute again");
            }
            Ok(()) if work.overwritten.is_empty() => {
                return because(Source::Recomputed, "the array that it reads is kept");
            }
            Ok(()) if self.keep_reads(v, &work.overwritten) => {
                return because(Source::Recomputed, "what it reads is kept in fewer loops");
            }
            Ok(()) => "what it reads is overwritten later",
            Err(why) => why,
        };
        if self.keep_parts(v) {
            return because(Source::Recomputed, "its parts are kept");
        }
        if let Some(store) = self.stored_by(v) {
            return because(Source::Stored(store), "nothing else is stored there");
        }
        self.keep(v, why)
    }

    /// Keeps a value of loops in all iterations in which it may be another one.
    fn keep(&self, v: Value, why: &'static str) -> CacheDecision {
        let mut decision = self.cache(self.f.block_of(v), why);
        if let Source::CachedPerIteration { loops, .. } = &mut decision.source {
            let innermost = loops.last().copied();
            loops.retain(|&l| !self.is_same_in(l, v));
            if loops.is_empty() {
                loops.extend(innermost);
            }
        }
        decision
    }

    /// Keeps the elements that a value is computed from, if each is the same in more loops than the value is: `x[j] - x[i]`.
    fn keep_reads(&mut self, v: Value, reads: &[Value]) -> bool {
        let size = |decision: &CacheDecision| match &decision.source {
            Source::CachedPerIteration { loops, preheader, .. } => Some((loops.len(), *preheader)),
            _ => None,
        };
        let why = "what it reads is overwritten later";
        let kept: Vec<CacheDecision> = reads.iter().map(|&read| self.keep(read, why)).collect();
        let Some((most, preheader)) = size(&self.keep(v, why)) else { return false };
        let is_smaller = |decision: &CacheDecision| {
            size(decision).is_some_and(|(loops, at)| loops < most && at == preheader)
        };
        let pays = kept.iter().all(is_smaller);
        for (&read, decision) in reads.iter().zip(kept).filter(|_| pays) {
            if self.plan.of(read).is_none() {
                self.plan.record(read, decision);
            }
        }
        pays
    }

    /// Keeps what is computed in a block of loops in an array, if trip counts are known, else on a
    /// stack.
    fn cache(&self, block: Block, why: &'static str) -> CacheDecision {
        let Some((loops, preheader)) = self.counted_around(block) else {
            return CacheDecision { source: Source::Stack, why };
        };
        let array = Box::new(match self.loops.runs_once(preheader) {
            true => CacheDecision { source: Source::Saved, why: "it is computed once" },
            false => self.cache(preheader, MADE_ANEW),
        });
        CacheDecision { source: Source::CachedPerIteration { loops, preheader, array }, why }
    }

    /// As many of the loops around a block, from the innermost outward, as have counts that are
    /// known before the outermost of them: outer ones first, and the preheader of that one. At most one of them may be
    /// left early: a product of iteration limits would be far above what is ever run.
    fn counted_around(&self, block: Block) -> Option<(Vec<LoopId>, Block)> {
        if self.loops.is_irregular(block) {
            return None;
        }
        let mut reached = Vec::new();
        let mut best = None;
        for l in self.loops.around(block) {
            let outer = self.loops.forest.get(l);
            let Some(preheader) = outer.preheader else { break };
            reached.push(l);
            let is_known = |&l: &LoopId| self.loops.is_bounded_at(self.f, l, preheader);
            let left_early = reached.iter().filter(|&&l| !self.loops.counts.of(l).is_exact);
            if self.loops.is_irregular(outer.header)
                || left_early.count() > 1
                || !reached.iter().all(is_known)
            {
                break;
            }
            best = Some((reached.len(), preheader));
        }
        let (count, preheader) = best?;
        reached.truncate(count);
        reached.reverse();
        Some((reached, preheader))
    }

    /// Decides on the parts of a tuple or another immutable value that is made here, from which it is
    /// made again: numbers take less than a value around them. Not if a part comes out of a loop, where
    /// it would be kept in each iteration. The recursion is as deep as types are nested.
    fn keep_parts(&mut self, v: Value) -> bool {
        let is_made = match self.f.op(v) {
            Some(core::TUPLE | data::NAMED) => true,
            Some(data::NEW) => self.f.ctx().struct_of(self.f.ty(v)).is_some_and(|def| !def.mutable),
            _ => false,
        };
        if !is_made {
            return false;
        }
        let block = self.f.block_of(v);
        let operands: Vec<Operand> = self.f.operands(v).collect();
        let parts: Vec<Value> = operands.into_iter().filter_map(Operand::as_value).collect();
        let comes_out_of_a_loop = |&part: &Value| {
            let inner = self.loops.forest.loop_of(self.f.block_of(part));
            inner.is_some_and(|l| !self.loops.forest.contains(l, block))
        };
        if parts.iter().any(comes_out_of_a_loop) {
            return false;
        }
        for part in parts {
            self.decide(part);
        }
        true
    }

    /// Returns whether a value is found without work.
    fn is_at_hand(&self, v: Value) -> bool {
        match self.plan.of(v) {
            Some(known) => known.source.is_at_hand(),
            None => self.loops.runs_once(self.f.block_of(v)),
        }
    }

    /// The op that takes as long as it takes to get a value that is found without being computed again.
    fn fetched_by(&self, v: Value) -> Option<Op> {
        match self.plan.of(v).map(|decision| &decision.source) {
            Some(Source::Recomputed) => {}
            Some(Source::Saved | Source::Affine(_)) => return Some(arith::ADD),
            Some(_) => return Some(mem::LOAD),
            None if self.loops.runs_once(self.f.block_of(v)) => return Some(arith::ADD),
            None => {}
        }
        let is_affine = self.affine(v).is_some();
        is_affine.then_some(arith::ADD).or_else(|| self.summed(v).map(|_| mem::LOAD))
    }

    /// Takes the work of computing a value again from what is left, if that is enough and the result is
    /// the same, but for elements that are overwritten later and those of arrays that an iteration makes.
    fn work(&self, v: Value, work: &mut Work) -> Result<(), &'static str> {
        if let Some(op) = self.fetched_by(v) {
            return work.take(self.latencies.of(op, self.f.ty(v)));
        }
        let Some(def) = self.f.op_def(v).filter(|_| !self.f.is_param(v)) else {
            return Err("it depends on the way that control took");
        };
        let op = self.f.op(v).unwrap_or(core::UNDEF);
        let reads = self.facts.shadow_loads.get(&v).copied().unwrap_or(v);
        if def.traits.contains(Traits::CALL) || def.traits.contains(Traits::TERMINATOR) {
            return Err("it is the result of a call");
        }
        let (effects, is_pure) = (def.effects, def.traits.contains(Traits::PURE));
        let is_read = effects != Effects::NONE;
        let changes = effects.writes_anything() || effects.opaque || effects.observable;
        if changes || effects.allocates || effects.deep || !(is_read || is_pure) {
            return Err(MADE_ANEW);
        }
        work.take(self.latencies.of(op, self.f.ty(v)))?;
        if is_read && !self.facts.tbr.is_stable(reads) && !self.stays(reads) {
            work.overwritten.push(v);
            return match op {
                mem::LOAD => Ok(()),
                _ => Err("what it reads is overwritten later"),
            };
        }
        let made = self.made_around(v);
        if made.is_some_and(|array| self.fetched_by(array).is_none()) {
            work.of_made.push(v);
            work.take(self.latencies.of(mem::LOAD, self.f.ty(v)))?;
        }
        for operand in self.f.plain_operands(v) {
            if let Some(operand) = operand.as_value().filter(|&operand| Some(operand) != made) {
                self.work(operand, work)?;
            }
        }
        Ok(())
    }
}

/// The values that a polynomial is in terms of.
fn values_in(poly: &Poly) -> impl Iterator<Item = Value> {
    poly.symbols().filter_map(|symbol| match symbol {
        Sym::Value(v) => Some(v),
        Sym::Iteration(_) => None,
    })
}

/// By [`Value::index`], where parameters and instructions stand if blocks are in this order.
pub(super) fn positions(f: &Function, blocks: impl IntoIterator<Item = Block>) -> Vec<usize> {
    let mut positions = vec![usize::MAX; f.value_capacity()];
    let mut next = 0;
    for block in blocks {
        for v in f.params(block).chain(f.body(block)) {
            positions[v.index()] = next;
            next += 1;
        }
    }
    positions
}
