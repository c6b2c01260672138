//! The loops of a function that is differentiated, and code that counts their iterations.

use std::sync::Arc;

use regraft_dialects::{arith, mem};
use regraft_ir::{
    Block, Constant, ControlFlow, Diagnostic, DominatorTree, Function, Operand, Type, Value,
};
use regraft_passes::analysis::trip_count::{Count, CountForm, Holds, LatchRuns};
use regraft_passes::analysis::{
    Analyses, InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts,
};
use rustc_hash::FxHashMap;

/// The analyses of loops that reverse mode reads, of one function.
#[derive(Debug)]
pub(super) struct Loops {
    pub(super) cfg: Arc<ControlFlow>,
    pub(super) dom: Arc<DominatorTree>,
    pub(super) forest: Arc<LoopForest>,
    pub(super) ivs: Arc<InductionVariables>,
    pub(super) counts: TripCounts,
    /// By [`Block::index`]: the blocks of cycles that are no natural loops.
    irregular: Vec<bool>,
}

impl Loops {
    /// The loops of `f`. `returns` says by [`Block::index`] which blocks the function comes back
    /// from: other ways out of a loop do not count. Near linear.
    pub(super) fn of(f: &Function, returns: &[bool], analyses: &mut Analyses) -> Self {
        let (cfg, dom) = (analyses.get::<ControlFlow>(f), analyses.get::<DominatorTree>(f));
        let forest = analyses.get::<LoopForest>(f);
        let ivs = analyses.get::<InductionVariables>(f);
        let counts = TripCounts::of_returning(f, analyses, returns);
        let mut irregular = vec![false; f.block_capacity()];
        for region in forest.irreducible() {
            region.blocks.iter().for_each(|block| irregular[block.index()] = true);
        }
        Self { cfg, dom, forest, ivs, counts, irregular }
    }

    /// Returns whether a block is part of a cycle that is no natural loop.
    pub(super) fn is_irregular(&self, block: Block) -> bool {
        self.irregular[block.index()]
    }

    /// Returns whether a block is in no cycle.
    pub(super) fn runs_once(&self, block: Block) -> bool {
        self.forest.loop_of(block).is_none() && !self.is_irregular(block)
    }

    /// The loops around a block, innermost first.
    pub(super) fn around(&self, block: Block) -> impl Iterator<Item = LoopId> {
        std::iter::successors(self.forest.loop_of(block), |&l| self.forest.get(l).parent)
    }

    /// Returns whether an array may have an element for each iteration of a loop: their number is
    /// bounded by something known at the end of a block. If the loop may be left before, an iteration limit can
    /// be far above what is ever run, so that only small constants and lengths of arrays will do.
    pub(super) fn is_bounded_at(&self, f: &Function, l: LoopId, at: Block) -> bool {
        let found = self.counts.of(l);
        match &found.latch_runs {
            LatchRuns::Constant(n) => *n < if found.is_exact { 1 << 24 } else { 1 << 10 },
            // Until a counter has wrapped around, other ways out or errors end a loop: an array for
            // so many iterations could not be made.
            _ => self.count_at(f, l, at, false).is_some_and(|count| {
                (count.is_signed || matches!(count.form, CountForm::Distance { .. }))
                    && (found.is_exact || is_of_lengths(f, count))
            }),
        }
    }

    /// The number of times that the latch of a loop runs, if it is not a constant and is known at the
    /// end of a block. That of a loop which ends in no other way is asked for where it has ended.
    fn count_at(&self, f: &Function, l: LoopId, at: Block, has_ended: bool) -> Option<&Count> {
        let count = self.counts.of(l).latch_runs.as_symbolic()?;
        let is_available = |symbol| match symbol {
            Sym::Value(v) => self.dom.dominates(f.block_of(v), at),
            Sym::Iteration(l) => self.forest.contains(l, at),
        };
        let is_known = count.polys().iter().all(|poly| poly.symbols().all(is_available));
        let holds = match count.holds {
            Holds::Always => true,
            Holds::IfTaken => has_ended,
            Holds::If(_) => false,
        };
        (holds && count.ty().is_int() && is_known).then_some(count)
    }

    /// Returns whether a block of a loop may run in the last iteration, the one in which the loop is
    /// left.
    pub(super) fn runs_in_last(&self, l: LoopId, block: Block) -> bool {
        self.counts.of(l).runs_in_last(&self.dom, block)
    }
}

/// Returns whether a count is a polynomial of lengths of arrays, or the least of some, and of the iterations of loops around.
fn is_of_lengths(f: &Function, count: &Count) -> bool {
    let is_length = |v: Value| matches!(f.op(v), Some(mem::LENGTH | mem::SIZE));
    count.polys().iter().all(|poly| {
        poly.symbols().all(|symbol| match symbol {
            Sym::Value(v) if f.op(v) == Some(arith::MIN) => {
                f.operands(v).all(|operand| operand.as_value().is_some_and(is_length))
            }
            Sym::Value(v) => is_length(v),
            Sym::Iteration(_) => true,
        })
    })
}

/// The counters of loops in a forward sweep: parameters of their headers that are 0, 1, 2, ...
#[derive(Default, Debug)]
pub(super) struct Counters(FxHashMap<LoopId, Value>);

impl Counters {
    /// The loop that a value counts the iterations of.
    pub(super) fn loop_of(&self, counter: Value) -> Option<LoopId> {
        self.0.iter().find(|&(_, &known)| known == counter).map(|(&l, _)| l)
    }

    /// The counter of a loop, which is inserted if it is not there.
    pub(super) fn counter(
        &mut self,
        f: &mut Function,
        loops: &Loops,
        l: LoopId,
    ) -> Result<Value, Diagnostic> {
        if let Some(&known) = self.0.get(&l) {
            return Ok(known);
        }
        let header = loops.forest.get(l).header;
        let zero = f.ctx().constant_id(Constant::I64(0));
        let one = f.ctx().constant_id(Constant::I64(1));
        let position = f.param_count(header);
        let param = f.add_param(header, Type::I64, |_| Some(zero))?;
        let mut latches = f.in_edges_in_order(header);
        latches.retain(|edge| loops.forest.contains(l, edge.from));
        for edge in latches {
            let at = Value::terminator(edge.from);
            let next = f.insert(at, arith::add(param, one))?;
            f.set_operand(at, edge.position as usize + 1 + position, next)?;
        }
        self.0.insert(l, param);
        Ok(param)
    }

    /// The number of times that the latch of a loop runs, computed at the end of `at`, a block
    /// before the loop; `None` if it is not known there. `exact` asks for the number itself, once the
    /// loop has ended; else a number that is not smaller will do.
    pub(super) fn latch_runs(
        &mut self,
        f: &mut Function,
        loops: &Loops,
        l: LoopId,
        at: Block,
        exact: bool,
    ) -> Result<Option<Operand>, Diagnostic> {
        let found = loops.counts.of(l);
        if exact && !found.is_exact {
            return Ok(None);
        }
        if let Some(n) = found.latch_runs.as_constant() {
            let constant = f.ctx().constant_id(Constant::I64(n)).into();
            return Ok((exact || n < 1 << 24).then_some(constant));
        }
        let Some(count) = loops.count_at(f, l, at, exact) else { return Ok(None) };
        let symbols = count.polys().into_iter().flat_map(Poly::symbols);
        let mut known = FxHashMap::default();
        for symbol in symbols {
            if let Sym::Iteration(outer) = symbol {
                known.insert(outer, self.counter(f, loops, outer)?);
            }
        }
        let place = Value::terminator(at);
        Ok(Some(count.materialize_i64(f, place, &mut |l| known[&l].into())?))
    }
}
