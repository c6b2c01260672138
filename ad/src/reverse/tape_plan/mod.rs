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
//! that keeping it costs nothing that grows), affine in iterations of loops, computed again from
//! others at little cost, made again of parts that are kept, kept in an array with a place for each
//! iteration of loops whose trip counts are known before they begin, or kept on a stack that grows.
//! Values are looked at in program order, so that what is kept already is there to compute others
//! from.

mod report;

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, data, math, mem};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, DominatorTree, Effects, Function, Operand, Traits, Type,
    Value,
};
use regraft_passes::analysis::trip_count::{Count as TripCountForm, CountForm, Holds, LatchRuns};
use regraft_passes::analysis::{InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts};
use rustc_hash::FxHashMap;

use super::stability::Stability;

pub(super) use report::bytes_of;

/// What computing a value again may cost, in simple instructions.
const MOST_WORK: u32 = 12;
/// What a division costs.
const DIVISION: u32 = 3;
/// What an elementary function costs.
const FUNCTION: u32 = 10;

/// How a value of the forward sweep is found.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Source {
    /// It was computed outside of loops: it is part of the tape.
    Once,
    /// It is this polynomial in the iterations.
    Affine(Box<Poly>),
    /// It is computed again.
    Again,
    /// It is in this array, with an index for each of these loops, outer ones first.
    Array { array: Value, loops: Vec<LoopId> },
    /// It is on top of this stack.
    Stack { stack: Value },
}

/// A decision with what is to be said of it.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) source: Source,
    pub(super) why: &'static str,
}

/// What the plan is made from, and what it has come to.
pub(super) struct Planner<'a> {
    /// The forward sweep, to which is added what keeps values.
    pub(super) f: Function,
    pub(super) forest: Arc<LoopForest>,
    pub(super) dom: &'a DominatorTree,
    pub(super) ivs: &'a InductionVariables,
    pub(super) counts: &'a TripCounts,
    pub(super) stability: &'a Stability,
    /// By [`Block::index`].
    pub(super) irregular: &'a [bool],
    /// Loads of shadows, with the loads beside which they stand.
    pub(super) beside: FxHashMap<Value, Value>,
    pub(super) naive: bool,
    /// By [`Value::index`].
    decisions: Vec<Option<Decision>>,
    /// In the order in which they were made.
    pub(super) decided: Vec<Value>,
    /// What is part of the tape, in order.
    pub(super) tape: Vec<Value>,
    /// The position in the tape and one, or 0, by [`Value::index`].
    on_tape: Vec<u32>,
    counters: FxHashMap<LoopId, Value>,
    ctx: Arc<Context>,
}

impl<'a> Planner<'a> {
    #[allow(clippy::too_many_arguments)] // The analyses of one function.
    pub(super) fn new(
        f: Function,
        forest: Arc<LoopForest>,
        dom: &'a DominatorTree,
        ivs: &'a InductionVariables,
        counts: &'a TripCounts,
        stability: &'a Stability,
        irregular: &'a [bool],
        beside: FxHashMap<Value, Value>,
        naive: bool,
    ) -> Self {
        let ctx = Arc::clone(f.ctx());
        Self {
            f,
            forest,
            dom,
            ivs,
            counts,
            stability,
            irregular,
            beside,
            naive,
            decisions: Vec::new(),
            decided: Vec::new(),
            tape: Vec::new(),
            on_tape: Vec::new(),
            counters: FxHashMap::default(),
            ctx,
        }
    }

    /// The counter of a loop in the forward sweep: a parameter of its header that is 0, 1, 2, ...
    pub(super) fn counter(&mut self, l: LoopId) -> Result<Value, Diagnostic> {
        if let Some(&known) = self.counters.get(&l) {
            return Ok(known);
        }
        let header = self.forest.get(l).header;
        let zero = self.ctx.constant_id(Constant::I64(0));
        let one = self.ctx.constant_id(Constant::I64(1));
        let position = self.f.param_count(header);
        let param = self.f.add_param(header, Type::I64, |_| Some(zero))?;
        let latches: Vec<_> = self
            .f
            .in_edges_in_order(header)
            .into_iter()
            .filter(|edge| self.forest.contains(l, edge.from))
            .collect();
        for edge in latches {
            let at = Value::terminator(edge.from);
            let next = self.f.insert(at, arith::add(param, one))?;
            self.f.set_operand(at, edge.position as usize + 1 + position, next)?;
        }
        self.counters.insert(l, param);
        Ok(param)
    }

    /// The number of times that the latch of a loop runs, computed at the end of `at`, a block
    /// before the loop; `None` if it is not known there. `exact` asks for the number itself, else a
    /// number that is not smaller will do.
    pub(super) fn latch_runs(
        &mut self,
        l: LoopId,
        at: Block,
        exact: bool,
    ) -> Result<Option<Operand>, Diagnostic> {
        let found = self.counts.of(l);
        if exact && !found.is_exact {
            return Ok(None);
        }
        let count: TripCountForm = match &found.latch_runs {
            LatchRuns::Constant(n) => {
                let known = i64::try_from(*n).ok().filter(|&n| exact || n < 1 << 24);
                return Ok(known.map(|n| self.ctx.constant_id(Constant::I64(n)).into()));
            }
            LatchRuns::Symbolic(count) => (**count).clone(),
            LatchRuns::Never | LatchRuns::Unknown => return Ok(None),
        };
        if count.holds != Holds::Always || !count.ty().is_int() {
            return Ok(None);
        }
        for poly in count.polys() {
            if !self.is_available_at(poly, at) {
                return Ok(None);
            }
        }
        let mut needed: Vec<LoopId> = Vec::new();
        for poly in count.polys() {
            needed.extend(poly.symbols().filter_map(|s| match s {
                Sym::Iteration(l) => Some(l),
                Sym::Value(_) => None,
            }));
        }
        let mut known = FxHashMap::default();
        for outer in needed {
            let counter = self.counter(outer)?;
            known.insert(outer, counter);
        }
        let place = Value::terminator(at);
        Ok(Some(count.materialize_i64(&mut self.f, place, &mut |l| known[&l].into())?))
    }

    /// Whether what a polynomial mentions is known at the end of a block.
    fn is_available_at(&self, poly: &Poly, at: Block) -> bool {
        poly.symbols().all(|s| match s {
            Sym::Value(v) => self.dom.dominates(self.f.block_of(v), at),
            Sym::Iteration(l) => self.forest.contains(l, at),
        })
    }

    /// The position of a value in the tape.
    pub(super) fn keep_once(&mut self, v: Value) -> usize {
        if self.on_tape.len() <= v.index() {
            self.on_tape.resize(self.f.value_capacity(), 0);
        }
        let position = &mut self.on_tape[v.index()];
        if *position == 0 {
            self.tape.push(v);
            *position = self.tape.len() as u32;
        }
        *position as usize - 1
    }

    /// How a value is found. What has to be kept is kept from now on.
    pub(super) fn decide(&mut self, v: Value) -> Result<Source, Diagnostic> {
        if let Some(known) = self.decision(v) {
            return Ok(known.source.clone());
        }
        let decision = self.choose(v)?;
        let source = decision.source.clone();
        self.decided.push(v);
        if self.decisions.len() <= v.index() {
            self.decisions.resize(self.f.value_capacity(), None);
        }
        self.decisions[v.index()] = Some(decision);
        Ok(source)
    }

    /// The cache decision of a value, if there is one.
    pub(super) fn decision(&self, v: Value) -> Option<&Decision> {
        self.decisions.get(v.index())?.as_ref()
    }

    fn choose(&mut self, v: Value) -> Result<Decision, Diagnostic> {
        let block = self.f.block_of(v);
        let regular = !self.irregular[block.index()];
        let trivial = self.f.op(v).is_some_and(|op| op == core::UNDEF || op == core::TUPLE)
            && self.f.operand_count(v) == 0;
        if trivial {
            return Ok(Decision { source: Source::Again, why: "it is a constant" });
        }
        if self.forest.loop_of(block).is_none() && regular {
            return Ok(Decision { source: Source::Once, why: "it is computed once" });
        }
        if self.naive {
            return self.push(v, "everything is kept");
        }
        if let Some(poly) = self.affine(v) {
            return Ok(Decision {
                source: Source::Affine(Box::new(poly)),
                why: "affine in iterations",
            });
        }
        let mut left = MOST_WORK;
        let why = match self.work(v, &mut left) {
            Ok(()) => return Ok(Decision { source: Source::Again, why: "cheap to compute again" }),
            Err(why) => why,
        };
        if self.keep_parts(v)? {
            return Ok(Decision { source: Source::Again, why: "its parts are kept" });
        }
        if regular && let Some(decision) = self.array(v, why)? {
            return Ok(decision);
        }
        self.push(v, why)
    }

    /// Decides on the parts of a tuple or another immutable value that is made here, from which it is
    /// made again: numbers take less than a value around them. Not if a part comes out of a loop, where
    /// it would be kept in each iteration. The recursion is as deep as types are nested.
    fn keep_parts(&mut self, v: Value) -> Result<bool, Diagnostic> {
        let is_made = match self.f.op(v) {
            Some(core::TUPLE | data::NAMED) => true,
            Some(data::NEW) => self.ctx.struct_of(self.f.ty(v)).is_some_and(|def| !def.mutable),
            _ => false,
        };
        if !is_made {
            return Ok(false);
        }
        let block = self.f.block_of(v);
        let operands: Vec<Operand> = self.f.operands(v).collect();
        let parts: Vec<Value> = operands.into_iter().filter_map(Operand::as_value).collect();
        let comes_out_of_a_loop = |&part: &Value| {
            let inner = self.forest.loop_of(self.f.block_of(part));
            inner.is_some_and(|l| !self.forest.contains(l, block))
        };
        if parts.iter().any(comes_out_of_a_loop) {
            return Ok(false);
        }
        for part in parts {
            self.decide(part)?;
        }
        Ok(true)
    }

    /// The polynomial of an integer whose symbols are found at little cost.
    fn affine(&self, v: Value) -> Option<Poly> {
        if !self.f.ty(v).is_int() {
            return None;
        }
        let poly = self.ivs.evolution(&self.f, v);
        let block = self.f.block_of(v);
        let simple = poly.symbols().all(|s| match s {
            Sym::Value(symbol) => symbol != v && self.is_at_hand(symbol),
            Sym::Iteration(l) => {
                self.forest.contains(l, block) && !self.irregular[self.forest.get(l).header.index()]
            }
        });
        // In a header, the reverse sweep knows the number of an iteration plus 1.
        let shifted = || {
            poly.substitute(|s| match s {
                Sym::Value(v) => Some(Poly::value(self.f.ty(v), v)),
                Sym::Iteration(l) => Some(Poly::iteration(poly.ty(), l).plus(-1)),
            })
        };
        let is_small = simple && shifted().is_some();
        is_small.then_some(poly)
    }

    /// Whether a value is found without work.
    fn is_at_hand(&self, v: Value) -> bool {
        if let Some(known) = self.decision(v) {
            return !matches!(known.source, Source::Again);
        }
        let block = self.f.block_of(v);
        self.forest.loop_of(block).is_none() && !self.irregular[block.index()]
    }

    /// Whether a power is a square.
    fn is_square(&self, v: Value) -> bool {
        let n = self.f.operand(v, 1).and_then(|n| self.f.constant(n));
        n == Some(Constant::I64(2))
    }

    /// Takes the work of computing a value again from `left`, if that is enough and the result is
    /// the same.
    fn work(&self, v: Value, left: &mut u32) -> Result<(), &'static str> {
        if self.is_at_hand(v) || self.affine(v).is_some() {
            return take(left, 1);
        }
        let Some(def) = self.f.op_def(v).filter(|_| !self.f.is_param(v)) else {
            return Err("it depends on the way that control took");
        };
        let op = self.f.op(v).unwrap_or(core::UNDEF);
        let reads = self.beside.get(&v).copied().unwrap_or(v);
        if def.traits.contains(Traits::CALL) || def.traits.contains(Traits::TERMINATOR) {
            return Err("it is the result of a call");
        }
        if def.effects != Effects::NONE {
            if def.effects.writes_anything()
                || def.effects.allocates
                || def.effects.opaque
                || def.effects.observable
                || def.effects.deep
            {
                return Err("it is made anew each time");
            }
            if !self.stability.is_stable(reads) {
                return Err("what it reads is overwritten later");
            }
        } else if !def.traits.contains(Traits::PURE) {
            return Err("it is made anew each time");
        }
        let cost = match op {
            arith::FDIV | arith::DIV | arith::REM | arith::MOD | arith::FLD | arith::CLD => {
                DIVISION
            }
            ad::ADD | ad::JOIN | ad::UNBOX | ad::SHADOW | ad::COTANGENT => DIVISION,
            // A square is one product.
            math::POWI if self.is_square(v) => 1,
            _ if op.dialect() == math::SIN.dialect() => FUNCTION,
            _ => 1,
        };
        take(left, cost)?;
        for operand in self.f.plain_operands(v) {
            if let Some(operand) = operand.as_value() {
                self.work(operand, left)?;
            }
        }
        Ok(())
    }

    /// Keeps a value in an array over the loops around it, if trip counts are known.
    fn array(&mut self, v: Value, why: &'static str) -> Result<Option<Decision>, Diagnostic> {
        let block = self.f.block_of(v);
        let mut around: Vec<LoopId> = Vec::new();
        let mut l = self.forest.loop_of(block);
        while let Some(id) = l {
            around.push(id);
            l = self.forest.get(id).parent;
        }
        // From the innermost loop outward, as long as all counts are known before the outer one.
        let mut best: Option<(usize, Block)> = None;
        for reach in 1..=around.len() {
            let outer = around[reach - 1];
            if self.irregular[self.forest.get(outer).header.index()] {
                break;
            }
            let Some(preheader) = self.forest.get(outer).preheader else { break };
            let known = around[..reach].iter().all(|&l| self.is_bounded_at(l, preheader));
            if !known {
                break;
            }
            best = Some((reach, preheader));
        }
        let Some((reach, preheader)) = best else { return Ok(None) };
        let mut loops: Vec<LoopId> = around[..reach].to_vec();
        loops.reverse();
        let place = Value::terminator(preheader);
        let mut dims = Vec::with_capacity(reach);
        // The innermost loop runs along the first dimension.
        for &l in loops.iter().rev() {
            let Some(runs) = self.latch_runs(l, preheader, false)? else { return Ok(None) };
            let size = if self.runs_in_last(l, block) {
                let one = self.ctx.constant_id(Constant::I64(1));
                match self.f.const_i64(runs) {
                    Some(n) => self.ctx.constant_id(Constant::I64(n + 1)).into(),
                    None => self.f.insert(place, arith::add(runs, one))?.into(),
                }
            } else {
                runs
            };
            dims.push(size);
        }
        let rank = u8::try_from(reach).unwrap_or(u8::MAX);
        let ty = self.ctx.array_type(self.f.ty(v), rank);
        let array = self.f.insert(place, mem::alloc(dims, ty))?;
        let mut indices = Vec::with_capacity(reach);
        let at = self.place_after(v)?;
        for &l in loops.iter().rev() {
            let counter = self.counter(l)?;
            let one = self.ctx.constant_id(Constant::I64(1));
            indices.push(self.f.insert(at, arith::add(counter, one))?);
        }
        let inbounds = self.inbounds();
        self.f.insert(at, mem::store(array, v, indices).with_attrs(inbounds))?;
        Ok(Some(Decision { source: Source::Array { array, loops }, why }))
    }

    pub(super) fn inbounds(&self) -> regraft_ir::Attrs {
        let name = self.ctx.symbol("inbounds");
        let yes = self.ctx.constant_id(Constant::Bool(true));
        self.ctx.attrs(&[(name, yes)])
    }

    /// Whether the number of iterations of a loop is bounded by something known at the end of a
    /// block.
    fn is_bounded_at(&self, l: LoopId, at: Block) -> bool {
        match &self.counts.of(l).latch_runs {
            LatchRuns::Constant(n) => *n < 1 << 24,
            LatchRuns::Symbolic(count) => {
                // Until a counter has wrapped around, other ways out or errors end a loop: an array
                // for so many iterations could not be made.
                let may_wrap = !matches!(count.form, CountForm::Distance { .. });
                count.holds == Holds::Always
                    && (count.is_signed || !may_wrap)
                    && count.polys().iter().all(|poly| self.is_available_at(poly, at))
            }
            LatchRuns::Never | LatchRuns::Unknown => false,
        }
    }

    /// Whether a block of a loop may run in the last iteration, the one in which the loop is left.
    fn runs_in_last(&self, l: LoopId, block: Block) -> bool {
        let count = self.counts.of(l);
        match count.exit.filter(|_| count.is_exact) {
            Some(exit) => !self.dom.strictly_dominates(exit.from, block),
            None => true,
        }
    }

    /// Where code that uses `v` can be inserted right after it.
    fn place_after(&self, v: Value) -> Result<Value, Diagnostic> {
        let block = self.f.block_of(v);
        let next = if self.f.is_param(v) { self.f.first_inst(block) } else { self.f.next_inst(v) };
        Ok(next.unwrap_or(Value::terminator(block)))
    }

    /// Keeps a value on a stack of its own.
    fn push(&mut self, v: Value, why: &'static str) -> Result<Decision, Diagnostic> {
        let entry = self.f.entry().expect("it has blocks");
        let zero = self.ctx.constant_id(Constant::I64(0));
        let ty = self.ctx.array_type(self.f.ty(v), 1);
        let stack = self.f.push_front(entry, mem::alloc([zero], ty))?;
        let at = self.place_after(v)?;
        self.f.insert(at, mem::push(stack, v))?;
        Ok(Decision { source: Source::Stack { stack }, why })
    }

    /// What is kept more than once.
    fn kept_in_loops(&self) -> impl Iterator<Item = Value> {
        let is_kept = |v: &Value| {
            let source = self.decision(*v).map(|decision| &decision.source);
            matches!(source, Some(Source::Array { .. } | Source::Stack { .. }))
        };
        self.decided.iter().copied().filter(is_kept)
    }

    /// The headers of outermost loops in which something is kept, in program order.
    pub(super) fn keeping_loops(&self) -> Vec<Block> {
        let mut loops: Vec<LoopId> = Vec::new();
        for v in self.kept_in_loops() {
            let mut l = self.forest.loop_of(self.f.block_of(v));
            while let Some(parent) = l.and_then(|l| self.forest.get(l).parent) {
                l = Some(parent);
            }
            loops.extend(l);
        }
        loops.sort_unstable();
        loops.dedup();
        loops.into_iter().map(|l| self.forest.get(l).header).collect()
    }
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

fn take(left: &mut u32, cost: u32) -> Result<(), &'static str> {
    match left.checked_sub(cost) {
        Some(rest) => {
            *left = rest;
            Ok(())
        }
        None => Err("computing it again takes longer"),
    }
}
