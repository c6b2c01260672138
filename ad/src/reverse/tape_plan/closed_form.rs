//! Integers that the reverse sweep computes from the numbers of iterations.
//!
//! ```text
//! ^2(%j: i64, %at: i64):                  loop over j from 0 up to %d
//!   br ^3(0)
//! ^3(%i: i64):                            loop over i from 0 up to %d - %j
//!   %1: i64 = arith.add %at, %i           %at + i(^3)
//!   ...
//! ^4: %2: i64 = arith.sub %d, %j
//!   %3: i64 = arith.add %at, %2           %at grows by %d - i(^2): it is what it began with, and
//!   br ^2(.., %3)                         %d*n - C(n, 2) in iteration n
//! ```
//!
//! A value in terms of one that an outer loop computes is found from that, which is kept if it has no
//! closed form: there are fewer of them.

use regraft_ir::Value;
use regraft_passes::analysis::induction::ChainRule;
use regraft_passes::analysis::{LoopId, Poly, Sym};

use super::{Planner, Source, values_in};

/// The most values of outer loops that are kept for one of an inner loop.
const MAX_OUTER: usize = 2;

/// A polynomial, and the sum of another over the iterations of a loop before the present one.
#[derive(Clone, PartialEq, Debug)]
pub(in super::super) struct Summed {
    /// The value in the first iteration.
    pub(in super::super) base: Poly,
    /// The terms of the sum in the number of the iteration.
    pub(in super::super) step: Poly,
    /// The polynomials that the number of the iteration is multiplied with, the number of pairs of
    /// iterations, and that of triples ([`Poly::sum_below`]).
    pub(in super::super) factors: [Poly; 3],
    pub(in super::super) over: LoopId,
}

impl Summed {
    /// The polynomials that it is computed from.
    pub(super) fn polys(&self) -> impl Iterator<Item = &Poly> {
        std::iter::once(&self.base).chain(&self.factors)
    }
}

impl Planner<'_> {
    /// The polynomial of an integer whose symbols are found at little cost.
    pub(super) fn affine(&self, v: Value) -> Option<Poly> {
        if !self.f.ty(v).is_int() {
            return None;
        }
        let poly = self.evolution(v);
        self.is_found(&poly, v).then_some(poly)
    }

    /// An integer as a polynomial.
    pub(super) fn evolution(&self, v: Value) -> Poly {
        match self.counters.loop_of(v) {
            Some(l) => Poly::iteration(self.f.ty(v), l),
            None => self.loops.ivs.evolution(self.f, v),
        }
    }

    /// The sum that a parameter of the header of a loop is, if it grows by a polynomial in the
    /// iteration, and its parts are found at little cost.
    pub(super) fn summed(&self, v: Value) -> Option<Summed> {
        let over = self.loops.forest.headed_by(self.f.block_of(v))?;
        let chain = self.loops.ivs.chains(over).iter().find(|chain| chain.param == v)?;
        let ChainRule::Polynomial(step) = &chain.rule else { return None };
        let factors = step.sum_below(Sym::Iteration(over))?;
        let sum = Summed { base: chain.base.clone(), step: step.clone(), factors, over };
        let is_regular = !self.loops.is_irregular(self.f.block_of(v));
        (is_regular && sum.polys().all(|poly| self.is_found(poly, v))).then_some(sum)
    }

    /// Returns whether a polynomial is computed at little cost where the block of `v` is reversed.
    fn is_found(&self, poly: &Poly, v: Value) -> bool {
        let block = self.f.block_of(v);
        let simple = poly.symbols().all(|s| match s {
            Sym::Value(symbol) => symbol != v && self.is_at_hand(symbol),
            Sym::Iteration(l) => {
                self.loops.forest.contains(l, block)
                    && !self.loops.is_irregular(self.loops.forest.get(l).header)
            }
        });
        // In a header, the reverse sweep knows the number of an iteration plus 1.
        let shifted = || {
            poly.substitute(|s| match s {
                Sym::Value(v) => Some(Poly::value(self.f.ty(v), v)),
                Sym::Iteration(l) => Some(Poly::iteration(poly.ty(), l).plus(-1)),
            })
        };
        simple && shifted().is_some()
    }

    /// Decides on the values of outer loops that an integer is in terms of, so that it need not be
    /// kept itself: they are fewer. Not if another value stands in the way. The recursion is as deep as
    /// loops are nested.
    pub(super) fn keep_outer_symbols(&mut self, v: Value) {
        let (f, forest) = (self.f, &self.loops.forest);
        if !f.ty(v).is_int() {
            return;
        }
        let Some(home) = forest.loop_of(f.block_of(v)) else { return };
        let poly = self.evolution(v);
        let missing: Vec<Value> = values_in(&poly).filter(|&s| !self.is_at_hand(s)).collect();
        let is_outer = |&s: &Value| {
            let outer = forest.loop_of(f.block_of(s));
            let is_open = self.plan.of(s).is_none() && f.ty(s) == poly.ty();
            is_open && outer.is_some_and(|outer| outer != home && forest.encloses(outer, home))
        };
        if missing.len() > MAX_OUTER || !missing.iter().all(is_outer) {
            return;
        }
        for symbol in missing {
            self.decide(symbol);
        }
    }
}

impl Source {
    /// Returns whether it takes no more than a few instructions on numbers that are at hand.
    pub(super) fn is_at_hand(&self) -> bool {
        !matches!(self, Self::Recomputed)
    }
}
