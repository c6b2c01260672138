//! Final values of sums: of parameters to which each iteration adds a polynomial in its number.
//!
//! ```text
//! ^2(%2: i64, %3: i64):               after the loop, %3 is
//!   %4: bool = arith.lt %2, %1          %8: i64 = arith.sub %1, 1
//!   br %4, ^3, ^4                       %9: i64 = arith.or %8, 1
//! ^3:                                   %10: i64 = arith.shr %1, 1
//!   %5: i64 = arith.add %3, %2          %11: i64 = arith.mul %10, %9
//!   %6: i64 = arith.add %2, 1
//!   br ^2(%6, %5)
//! ```
//!
//! # Method
//! Newton's series: a polynomial in `k` is a sum of multiples of binomial coefficients `C(k, j)`, and
//! the sum of these for `k < n` is `C(n, j + 1)` (Graham, Knuth and Patashnik, "Concrete Mathematics",
//! 1994, §2.6). Up to degree 2. Nothing in the loop but the sum itself may use the parameter, and the
//! loop has to be one that `loop-delete` can delete.
//!
//! # Why it is right
//! Everything holds modulo 2^w, but divisions: of these, [`pairs_and_triples`] takes care. For that, `n` is the number of
//! iterations itself, without a sign, not only modulo 2^w.

use regraft_ir::{Constant, Edge, Function, IrResult, Operand, Type, Value};

use super::rewriter::Rewriter;
use crate::analysis::induction::ChainRule;
use crate::analysis::poly::Sym;
use crate::analysis::{LoopForest, LoopId, Poly};
use crate::transforms::util::counters::{can_compute, is_after, is_inside};
use crate::transforms::util::edit::only;
use crate::transforms::util::materialize::pairs_and_triples;

/// The most instructions from a parameter to its next value.
const MAX_STEPS: usize = 4;

/// A parameter, or its next value, that is used after a loop.
pub(super) struct Sum {
    /// The value that is used.
    pub(super) value: Value,
    /// The value that is passed to the loop.
    base: Operand,
    /// The polynomial in the number of the iteration that each adds.
    step: Poly,
    /// The polynomials of [`Poly::sum_below`].
    factors: [Poly; 3],
    over: Sym,
    /// True if the value is that after one more iteration.
    is_next: bool,
}

/// Returns the sums that are used after a loop, and for nothing else.
pub(super) fn wanted_sums(this: &Rewriter<'_>, exit: Edge) -> Vec<Sum> {
    let (f, ivs, l) = (&*this.f, this.ivs, this.l);
    let forest = ivs.forest();
    let Some(preheader) = forest.get(l).preheader else { return Vec::new() };
    let mut found = Vec::new();
    if ivs.chains(l).is_empty() || !may_go(this) {
        return found;
    }
    for chain in ivs.chains(l) {
        let ChainRule::Polynomial(step) = &chain.rule else { continue };
        let over = Sym::Iteration(l);
        let Some(factors) = step.sum_below(over) else { continue };
        if !factors.iter().all(|p| ivs.is_available_before(p, l) && can_compute(f, ivs, p)) {
            continue;
        }
        let Some(next) = next_of(f, forest, l, chain.param) else { continue };
        if !is_only_summed(f, forest, l, chain.param, next) {
            continue;
        }
        for (value, is_next) in [(chain.param, false), (next, true)] {
            if f.uses(value).any(|at| is_after(f, forest, l, exit, at)) {
                let base = this.entering_arg(chain.param, preheader);
                let (step, factors) = (step.clone(), factors.clone());
                found.push(Sum { value, base, step, factors, over, is_next });
            }
        }
    }
    found
}

/// Returns whether a loop surely ends and does nothing that can be noticed, so that it may go where the
/// sums were all that it was for.
fn may_go(this: &Rewriter<'_>) -> bool {
    let f = &*this.f;
    let blocks = this.ivs.forest().blocks(this.l);
    this.counts.surely_ends(this.l)
        && blocks.iter().all(|&block| f.body(block).all(|v| f.is_removable(v)))
}

impl Sum {
    /// The final value after `n` iterations as a polynomial, with what it takes inserted before `at`.
    /// `None` if it has too many terms.
    pub(super) fn total(&self, f: &mut Function, n: Operand, at: Value) -> IrResult<Option<Poly>> {
        let ty = self.step.ty();
        let number = poly_of(f, ty, n);
        let (pairs, triples) = pairs_and_triples(f, n, !self.factors[2].is_zero(), at)?;
        let pairs = poly_of(f, ty, pairs);
        let triples = triples.map_or_else(|| Poly::constant(ty, 0), |all| poly_of(f, ty, all));
        let counts = [&number, &pairs, &triples];
        let base = poly_of(f, ty, self.base);
        let total = || {
            let terms = self.factors.iter().zip(counts).map(|(factor, count)| factor.mul(count));
            let total = terms.into_iter().try_fold(base, |sum, term| sum.add(&term?))?;
            if !self.is_next {
                return Some(total);
            }
            let at_number = |symbol| match symbol == self.over {
                true => Some(number.clone()),
                false => Some(Poly::symbol(ty, symbol)),
            };
            total.add(&self.step.substitute(at_number)?)
        };
        Ok(total())
    }
}

fn poly_of(f: &Function, ty: Type, operand: Operand) -> Poly {
    match (operand.as_value(), f.constant(operand).and_then(Constant::as_int)) {
        (Some(v), _) => Poly::value(ty, v),
        (None, number) => Poly::constant(ty, number.unwrap_or(0)),
    }
}

/// Returns what is passed back for a parameter of the header, by a single edge.
fn next_of(f: &Function, forest: &LoopForest, l: LoopId, param: Value) -> Option<Value> {
    let header = forest.get(l).header;
    let position = f.params(header).position(|p| p == param)?;
    let back = only(f.in_edges(header).filter(|edge| is_inside(f, forest, l, edge.from)))?;
    f.edge_arg(back, position)?.as_value()
}

/// Returns whether nothing in a loop uses a parameter but what computes its next value.
fn is_only_summed(f: &Function, forest: &LoopForest, l: LoopId, param: Value, next: Value) -> bool {
    let header = forest.get(l).header;
    let mut v = param;
    for _ in 0..MAX_STEPS {
        let inside = f.uses(v).filter(|at| is_inside(f, forest, l, f.block_of(at.user)));
        let exits = |at: &regraft_ir::Use| {
            let block = f.block_of(at.user);
            at.user.is_terminator() && f.successors(block).all(|to| to != header)
        };
        let Some(at) = only(inside.filter(|at| !exits(at))) else { return false };
        if v == next {
            return at.user.is_terminator();
        }
        if at.user.is_terminator() {
            return false;
        }
        v = at.user;
    }
    false
}
