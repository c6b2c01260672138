//! Interchanges the two innermost loops of a nest, so that the inner one runs along the first
//! index of arrays.
//!
//! ```text
//! for i in 1:m                         for j in 1:n
//!     for j in 1:n               =>        for i in 1:m
//!         y[i, j] = x[i, j]                    y[i, j] = x[i, j]
//! ```
//!
//! # Method
//! A **perfect nest**: two loops with one counter each, nothing between them but pure instructions,
//! and counts of which neither depends on the other loop. It is interchanged if that makes the
//! steps through memory shorter: each access costs nothing if the inner counter does not move it,
//! 1 if it moves it to the next element (arrays are stored by columns, the first index runs
//! fastest), else 8, a cache line. (Allen and Kennedy, "Automatic loop interchange", 1984; a direct
//! cost in place of theirs for vectors.)
//!
//! # Why it is right
//! The same pairs of iterations run, each once: the counts are certain. What runs in vain now is
//! pure and cannot trap. Two accesses of which one is a write keep their order unless they are to
//! one element in iterations `(i, j)` and `(i', j')` with `i < i'` and `j > j'`; so one of the
//! distances has to be 0, or both to have the same sign, which
//! `loop_accesses` tells from the indices. Nothing in the nest may stop the
//! program or print. Values that are carried from one iteration to the next, as the sum of floats,
//! whose order counts, are refused altogether; a sum in an element of an array stays in
//! order if only the other loop moves that element.
//!
//! # Cost
//! O(size) for each nest that it looks at, and that of the analyses once.

mod nest;
mod swap;

use regraft_ir::Function;

use crate::analysis::{
    Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts,
};
use crate::transforms::util::loop_accesses::{Accesses, AliasResult, MemoryAccess, distances};
use crate::{FunctionPass, PassContext, PassResult};
use nest::Nest;

/// The cost of an access whose step is longer than an element.
const MAX_STRIDE: u64 = 8;

crate::pass! {
    /// Interchanges the two innermost loops of a nest, so that the inner one runs along the first
    /// index of arrays.
    ///
    /// ```text
    /// for i in 1:m                         for j in 1:n
    ///     for j in 1:n               =>        for i in 1:m
    ///         y[i, j] = x[i, j]                    y[i, j] = x[i, j]
    /// ```
    ///
    /// Only where no result can change: loops that nothing but their counters is carried around,
    /// with accesses that keep their order where they meet, and without anything that may trap. So
    /// bounds checks have to be eliminated before.
    #[derive(Debug, Default)]
    pub struct LoopInterchange;
}

impl FunctionPass for LoopInterchange {
    const NAME: &'static str = "loop-interchange";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let nests: Vec<Nest> =
            forest.loops().filter_map(|inner| Nest::around(f, &forest, inner)).collect();
        if nests.is_empty() {
            return Ok(());
        }
        let counts = cx.analysis::<TripCounts>(f);
        let variables = cx.analysis::<InductionVariables>(f);
        let aliases = cx.analysis::<Aliases>(f);
        let facts = InterchangeAnalyses {
            f,
            forest: &forest,
            variables: &variables,
            aliases: &aliases,
            summaries: cx.effects(),
        };
        let certain = |nest: &Nest| counts.is_known(nest.outer) && counts.is_known(nest.inner);
        let chosen: Vec<Nest> =
            nests.into_iter().filter(|nest| certain(nest) && facts.is_profitable(nest)).collect();
        for nest in chosen {
            nest.interchange(f)?;
            cx.count("nests interchanged");
        }
        Ok(())
    }
}

/// The analyses by which loops are interchanged.
struct InterchangeAnalyses<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    variables: &'a InductionVariables,
    aliases: &'a Aliases,
    summaries: &'a EffectSummaries,
}

impl InterchangeAnalyses<'_> {
    /// Returns whether a nest can be interchanged, and is better for it.
    fn is_profitable(&self, nest: &Nest) -> bool {
        let blocks = self.forest.blocks(nest.inner);
        let Some(accesses) = Accesses::of(self.f, blocks, self.aliases, self.summaries) else {
            return false;
        };
        if accesses.may_stop || accesses.observable {
            return false;
        }
        let cost = |l| accesses.list.iter().map(|access| self.cost(access, l)).sum::<u64>();
        cost(nest.outer) < cost(nest.inner) && self.keeps_order(nest, &accesses.list)
    }

    /// Returns what an access costs if this loop is the inner one.
    fn cost(&self, access: &MemoryAccess, l: LoopId) -> u64 {
        let Some(indices) = access.polynomials(self.f, self.variables) else { return 0 };
        let step = |poly: &Poly| {
            let step = poly.coefficient_of(Sym::Iteration(l));
            step.and_then(|step| step.constant_value()).map_or(u64::MAX, i64::unsigned_abs)
        };
        let rows = indices.first().map_or(0, step);
        if indices.iter().skip(1).any(|index| step(index) != 0) {
            MAX_STRIDE
        } else {
            rows.min(MAX_STRIDE)
        }
    }

    fn keeps_order(&self, nest: &Nest, list: &[MemoryAccess]) -> bool {
        let pairs =
            list.iter().enumerate().flat_map(|(n, a)| list[n..].iter().map(move |b| (a, b)));
        pairs.into_iter().all(|(a, b)| match a.alias(self.f, b, self.aliases) {
            AliasResult::NoAlias => true,
            AliasResult::MayAlias => false,
            AliasResult::MayAliasElement => self.meets_in_order(nest, a, b),
        })
    }

    /// Returns whether two accesses that are to one element are so in iterations that keep their
    /// order.
    fn meets_in_order(&self, nest: &Nest, a: &MemoryAccess, b: &MemoryAccess) -> bool {
        let (Some(at_a), Some(at_b)) =
            (a.polynomials(self.f, self.variables), b.polynomials(self.f, self.variables))
        else {
            return false;
        };
        let Some(apart) = distances(self.variables, &[nest.outer, nest.inner], &at_a, &at_b) else {
            return true;
        };
        match *apart {
            [Some(0), _] | [_, Some(0)] => true,
            [Some(i), Some(j)] => (i > 0) == (j > 0),
            _ => false,
        }
    }
}
