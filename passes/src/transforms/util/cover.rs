//! Decides if a loop meets all elements of a dimension of an array.

use std::sync::Arc;

use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Operand, Type, Value};

use crate::PassContext;
use crate::analysis::bounds::{Bounds, is_promised};
use crate::analysis::trip_count::{CountForm, LatchRuns};
use crate::analysis::{
    Aliases, EffectSummaries, InductionVariables, LoopId, Poly, Ranges, Sym, TripCounts,
};

/// The loop of an index, and the way that it goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) l: LoopId,
    /// The first index, if the next one is always one less; otherwise it is the number of the iteration, from 1.
    pub(crate) down_from: Option<Poly>,
}

impl Counted {
    /// Of an index in a block.
    pub(crate) fn of(
        f: &Function,
        ivs: &InductionVariables,
        index: Operand,
        block: Block,
    ) -> Option<Self> {
        let at = ivs.evolution_at(f, index, block);
        let iteration = |symbol| match symbol {
            Sym::Iteration(l) => Some(l),
            Sym::Value(_) => None,
        };
        let l = at.symbols().find_map(iteration)?;
        let (first, step) = at.linear_in(Sym::Iteration(l))?;
        match (first.constant_value(), step.constant_value()?) {
            (Some(1), 1) => Some(Self { l, down_from: None }),
            (_, -1) => Some(Self { l, down_from: Some(first) }),
            _ => None,
        }
    }
}

/// The analyses that say so.
pub(crate) struct CoverAnalyses {
    counts: Arc<TripCounts>,
    cfg: Arc<ControlFlow>,
    tree: Arc<DominatorTree>,
    ranges: Arc<Ranges>,
    aliases: Arc<Aliases>,
    summaries: EffectSummaries,
}

/// Answers for the stores of one function.
pub(crate) struct Cover<'a> {
    f: &'a Function,
    tree: &'a DominatorTree,
    counts: &'a TripCounts,
    bounds: Bounds<'a>,
}

impl CoverAnalyses {
    pub(crate) fn of(f: &Function, cx: &mut PassContext<'_>) -> Self {
        Self {
            counts: cx.analysis(f),
            cfg: cx.analysis(f),
            tree: cx.analysis(f),
            ranges: cx.analysis(f),
            aliases: cx.analysis(f),
            summaries: cx.effects().clone(),
        }
    }

    pub(crate) fn cover<'a>(&'a self, f: &'a Function) -> Cover<'a> {
        let Self { cfg, tree, ranges, aliases, summaries, .. } = self;
        let bounds = Bounds::new(f, cfg, tree, ranges, aliases, summaries);
        Cover { f, tree, counts: &self.counts, bounds }
    }
}

impl Cover<'_> {
    /// Returns whether an access is in bounds whenever it runs.
    pub(crate) fn is_inside(&mut self, access: Value) -> bool {
        is_promised(self.f, access) || self.bounds.in_bounds(access)
    }

    /// Returns whether a loop around a block runs at least as often as an array is long in a dimension (from 1 on; 0 for
    /// the whole), and one that goes down begins at its end. `at` is before the loop.
    pub(crate) fn is_met(
        &mut self,
        array: Value,
        dim: u8,
        Counted { l, down_from }: &Counted,
        block: Block,
        at: Value,
    ) -> bool {
        let runs = match down_from {
            Some(first) => self.first_of_all(*l, block, first, at),
            None => self.least_runs(*l, block),
        };
        runs.is_some_and(|(most, plus)| self.bounds.is_within(array, dim, most, plus, at))
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
