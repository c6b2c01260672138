//! Decides if a loop meets all elements of a dimension of an array.
//!
//! ```
//! use regraft_passes::analysis::{Analyses, InductionVariables};
//! use regraft_passes::transforms::util::cover::CoverAnalyses;
//!
//! let text = "
//! func @f(%n: i64) -> unit {
//! ^1:
//!   %a: array<f64, 1> = mem.alloc %n
//!   br ^2(0)
//! ^2(%i: i64):
//!   %c: bool = arith.lt %i, %n
//!   br %c, ^3, ^4
//! ^3:
//!   %j: i64 = arith.add %i, 1
//!   mem.store %a, 1.0, %j
//!   br ^2(%j)
//! ^4:
//!   return nothing
//! }";
//! let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let f = module.function("f").unwrap();
//! let mut analyses = Analyses::default();
//! let variables = analyses.get::<InductionVariables>(f);
//! let analyses = CoverAnalyses::of(f, &mut analyses);
//! let store = f.all_insts().find(|&v| f.op(v) == Some(regraft_dialects::mem::STORE)).unwrap();
//! assert!(analyses.cover(f).meets_all(&variables, store));
//! ```

use std::sync::Arc;

use regraft_dialects::mem;
use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Operand, Type, Value};

use crate::analysis::bounds::{Bounds, is_promised};
use crate::analysis::trip_count::{CountForm, LatchRuns};
use crate::analysis::{
    Aliases, Analyses, CarriedSizes, EffectSummaries, InductionVariables, LoopId, Poly, Ranges,
    Sym, TripCounts,
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

/// The analyses that tell whether loops meet all elements of an array.
#[derive(Debug)]
pub struct CoverAnalyses {
    counts: Arc<TripCounts>,
    cfg: Arc<ControlFlow>,
    tree: Arc<DominatorTree>,
    ranges: Arc<Ranges>,
    aliases: Arc<Aliases>,
    sizes: Arc<CarriedSizes>,
    summaries: EffectSummaries,
}

/// Answers for the accesses of one function.
#[derive(Debug)]
pub struct Cover<'a> {
    f: &'a Function,
    tree: &'a DominatorTree,
    counts: &'a TripCounts,
    bounds: Bounds<'a>,
}

impl CoverAnalyses {
    /// Runs them on a function.
    pub fn of(f: &Function, analyses: &mut Analyses) -> Self {
        Self {
            counts: analyses.get(f),
            cfg: analyses.get(f),
            tree: analyses.get(f),
            ranges: analyses.get(f),
            aliases: analyses.get(f),
            sizes: analyses.get(f),
            summaries: analyses.effects().clone(),
        }
    }

    /// Answers for the function that they were run on. O(instructions).
    pub fn cover<'a>(&'a self, f: &'a Function) -> Cover<'a> {
        let Self { cfg, tree, ranges, aliases, sizes, summaries, .. } = self;
        let bounds = Bounds::new(f, cfg, tree, ranges, aliases, sizes, summaries);
        Cover { f, tree, counts: &self.counts, bounds }
    }
}

impl Cover<'_> {
    /// Returns whether the loops around a load or a store, one for each dimension of its array, meet all elements of it, if each
    /// of their iterations comes to the access. O(depth of the dominator tree) for each of them.
    pub fn meets_all(&mut self, variables: &InductionVariables, access: Value) -> bool {
        let f = self.f;
        let indices: Vec<Operand> = match f.op(access) {
            Some(mem::LOAD) => f.operands(access).skip(1).collect(),
            Some(mem::STORE) => f.operands(access).skip(2).collect(),
            _ => return false,
        };
        let Some(array) = f.operand(access, 0).and_then(Operand::as_value) else { return false };
        let block = f.block_of(access);
        let is_linear = indices.len() == 1;
        let mut met: Vec<LoopId> = Vec::new();
        indices.into_iter().zip(1..).all(|(index, dim)| {
            let Some(counted) = Counted::of(f, variables, index, block) else { return false };
            let preheader = variables.forest().get(counted.l).preheader;
            let is_new = !met.contains(&counted.l);
            met.push(counted.l);
            is_new
                && preheader.is_some_and(|at| {
                    let dim = if is_linear { 0 } else { dim };
                    self.is_met(array, dim, &counted, block, Value::terminator(at))
                })
        })
    }

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
