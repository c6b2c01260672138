//! Decides if the loops around a store meet all elements of an array.

use std::sync::Arc;

use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Operand, Type, Value};

use super::Idiom;
use super::nest::Counted;
use crate::PassContext;
use crate::analysis::bounds::{Bounds, is_promised};
use crate::analysis::trip_count::{CountForm, LatchRuns};
use crate::analysis::{Aliases, EffectSummaries, LoopId, Poly, Ranges, Sym, TripCounts};

/// The analyses that say so.
pub(super) struct CoverAnalyses {
    counts: Arc<TripCounts>,
    cfg: Arc<ControlFlow>,
    tree: Arc<DominatorTree>,
    ranges: Arc<Ranges>,
    aliases: Arc<Aliases>,
    summaries: EffectSummaries,
}

/// Answers for the stores of one function.
pub(super) struct Cover<'a> {
    f: &'a Function,
    tree: &'a DominatorTree,
    counts: &'a TripCounts,
    bounds: Bounds<'a>,
}

impl CoverAnalyses {
    pub(super) fn of(f: &Function, cx: &mut PassContext<'_>) -> Self {
        Self {
            counts: cx.analysis(f),
            cfg: cx.analysis(f),
            tree: cx.analysis(f),
            ranges: cx.analysis(f),
            aliases: cx.analysis(f),
            summaries: cx.effects().clone(),
        }
    }

    pub(super) fn cover<'a>(&'a self, f: &'a Function) -> Cover<'a> {
        let Self { cfg, tree, ranges, aliases, summaries, .. } = self;
        let bounds = Bounds::new(f, cfg, tree, ranges, aliases, summaries);
        Cover { f, tree, counts: &self.counts, bounds }
    }
}

impl Cover<'_> {
    /// Returns whether the accesses of an idiom are in bounds, and meet all elements of the array whose
    /// elements the instruction in their place would look at. `at` is before the loops.
    pub(super) fn is_whole(&mut self, idiom: &mut Idiom, at: Value) -> bool {
        let accesses = [Some(idiom.store), idiom.source];
        for v in accesses.into_iter().flatten() {
            if !is_promised(self.f, v) && !self.bounds.in_bounds(v) {
                return false;
            }
        }
        let dims = idiom.loops.len();
        match idiom.source {
            None => self.meets(idiom.store, idiom, dims, at),
            // Behind the last element that is copied, the destination may have more.
            Some(load) => {
                idiom.same_shape = self.meets(idiom.store, idiom, dims, at);
                self.meets(load, idiom, dims, at) && self.meets(idiom.store, idiom, dims - 1, at)
            }
        }
    }

    /// Returns whether the loops of the first `dims` indices run at least as often as the array of an access
    /// is long in that dimension, and those that go down begin at its end.
    fn meets(&mut self, access: Value, idiom: &Idiom, dims: usize, at: Value) -> bool {
        let Some(array) = self.f.operand(access, 0).and_then(Operand::as_value) else {
            return false;
        };
        let whole = idiom.loops.len() == 1;
        let block = self.f.block_of(access);
        idiom.loops[..dims].iter().enumerate().all(|(i, Counted { l, down_from })| {
            let dim = if whole { 0 } else { i as u8 + 1 };
            let runs = match down_from {
                Some(first) => self.first_of_all(*l, block, first, at),
                None => self.least_runs(*l, block),
            };
            runs.is_some_and(|(most, plus)| self.bounds.is_within(array, dim, most, plus, at))
        })
    }

    /// A number of times that a loop comes at least through a block, which is in each iteration that
    /// ends, as an operand from before the loop and a constant.
    fn least_runs(&self, l: LoopId, block: Block) -> Option<(Operand, i128)> {
        let f = self.f;
        // Where the last iteration is left comes after the idiom, if that is in the way there.
        let exit = self.counts.of(l).exit?;
        let more = i128::from(self.tree.dominates(block, exit.from));
        let zero = || Operand::from(f.constant_id(0i64));
        // Modulo 2^64, what is less than 0 is more than any size.
        let (runs, plus) = match &self.counts.of(l).latch_runs {
            LatchRuns::Constant(n) => (zero(), i128::from(*n)),
            LatchRuns::Symbolic(count) => match &count.form {
                CountForm::Number(poly) => number(poly)?,
                CountForm::Distance { from, to, down: false, stride: 1 } => {
                    // The end has to be a number that does not wrap.
                    let (end, 0) = number(to)? else { return None };
                    (end, -i128::from(from.constant_value()?))
                }
                _ => return None,
            },
            LatchRuns::Never | LatchRuns::Unknown => return None,
        };
        Some((runs, plus + more))
    }

    /// The first index of a loop that goes down by one each time, as an operand from before the loop and a constant, if
    /// it comes at least down to 1.
    fn first_of_all(
        &self,
        l: LoopId,
        block: Block,
        first: &Poly,
        at: Value,
    ) -> Option<(Operand, i128)> {
        let exit = self.counts.of(l).exit?;
        let more = i64::from(self.tree.dominates(block, exit.from));
        let runs = match &self.counts.of(l).latch_runs {
            LatchRuns::Symbolic(count) => match &count.form {
                CountForm::Number(poly) => poly.clone(),
                CountForm::Distance { from, to, down: true, stride: 1 } => from.sub(to)?,
                _ => return None,
            },
            _ => return None,
        };
        // The last one is `first - (runs + more) + 1`. Where there is no way down, so that runs are 0, the first one is at
        // most as much as there are more.
        if first.sub(&runs)?.constant_value()? > more {
            return None;
        }
        let (first, plus) = number(first)?;
        let is_there = |v| self.tree.value_dominates(self.f, v, at);
        first.as_value().is_some_and(is_there).then_some((first, plus))
    }
}

/// A number as a value and a constant.
fn number(poly: &Poly) -> Option<(Operand, i128)> {
    let rest = poly.plus(poly.constant_part().wrapping_neg());
    let Some(Sym::Value(v)) = rest.as_symbol() else { return None };
    (poly.ty() == Type::I64).then(|| (v.into(), i128::from(poly.constant_part())))
}
