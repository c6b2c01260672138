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
//! Everything holds modulo 2^w, but divisions. `C(n, 2)` is `(n >> 1) * ((n - 1) | 1)` in integers: of `n`
//! and `n - 1`, the even one is halved, and the other one is odd already. `C(n, 3)` is
//! `C(n, 2) * (n - 2) / 3`, where 3 has an inverse modulo 2^w. For that, `n` is the number of iterations
//! itself, without a sign, not only modulo 2^w.

use regraft_dialects::arith;
use regraft_ir::{Constant, Edge, Function, IrResult, Operand, Type, Value};

use super::rewriter::Rewriter;
use crate::analysis::induction::ChainRule;
use crate::analysis::poly::Sym;
use crate::analysis::{LoopForest, LoopId, Poly};
use crate::transforms::util::counters::{can_compute, is_after, is_inside};
use crate::transforms::util::edit::only;

/// The inverse of 3 modulo 2^64.
const THIRD: i64 = 0xaaaa_aaaa_aaaa_aaab_u64.cast_signed();

/// The most instructions from a parameter to its next value.
const MAX_STEPS: usize = 4;

/// A parameter, or its next value, that is used after a loop.
pub(super) struct Sum {
    /// The value that is used.
    pub(super) value: Value,
    /// What is passed to the loop.
    base: Operand,
    /// What is added in the iteration `k` is the sum of these times the powers of `k`.
    powers: [Poly; 3],
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
        let Some(powers) = powers(step, l) else { continue };
        if !powers.iter().all(|p| ivs.is_available_before(p, l) && can_compute(f, ivs, p)) {
            continue;
        }
        let Some(next) = next_of(f, forest, l, chain.param) else { continue };
        if !is_only_summed(f, forest, l, chain.param, next) {
            continue;
        }
        for (value, is_next) in [(chain.param, false), (next, true)] {
            if f.uses(value).any(|at| is_after(f, forest, l, exit, at)) {
                let (base, powers) = (this.entering_arg(chain.param, preheader), powers.clone());
                found.push(Sum { value, base, powers, is_next });
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
        let [p0, p1, p2] = &self.powers;
        let ty = p0.ty();
        let n = poly_of(f, ty, n);
        let constant = n.constant_value();
        let pairs = match constant {
            Some(n) => Poly::constant(ty, binomial(n.cast_unsigned(), 2)),
            None => {
                let number = n.as_symbol();
                let Some(Sym::Value(v)) = number else { return Ok(None) };
                let [one, by] = [Constant::int(ty, 1), Some(Constant::I64(1))]
                    .map(|c| c.map(|c| Operand::from(f.constant_id(c))));
                let (Some(one), Some(by)) = (one, by) else { return Ok(None) };
                let less = f.insert(at, arith::sub(v, one))?;
                let odd = f.insert(at, arith::or(less, one))?;
                let half = f.insert(at, arith::shr(v, by))?;
                Poly::value(ty, f.insert(at, arith::mul(half, odd))?)
            }
        };
        let triples = match constant {
            _ if p2.is_zero() => Poly::constant(ty, 0),
            Some(n) => Poly::constant(ty, binomial(n.cast_unsigned(), 3)),
            None => {
                let Some(Sym::Value(two)) = pairs.as_symbol() else { return Ok(None) };
                let Some(Sym::Value(v)) = n.as_symbol() else { return Ok(None) };
                let constants = [Constant::int(ty, 2), Constant::int(ty, THIRD)];
                let [Some(less), Some(third)] = constants else { return Ok(None) };
                let (less, third) = (f.constant_id(less), f.constant_id(third));
                let rest = f.insert(at, arith::sub(v, less))?;
                let product = f.insert(at, arith::mul(two, rest))?;
                Poly::value(ty, f.insert(at, arith::mul(product, third))?)
            }
        };
        let base = poly_of(f, ty, self.base);
        let total = || {
            // k is C(k, 1), and k * k is 2 C(k, 2) + C(k, 1).
            let mut total = base.add(&p0.mul(&n)?)?;
            total = total.add(&p1.add(p2)?.mul(&pairs)?)?;
            total = total.add(&p2.scale(2).mul(&triples)?)?;
            if self.is_next {
                total = total.add(p0)?.add(&p1.mul(&n)?)?.add(&p2.mul(&n.mul(&n)?)?)?;
            }
            Some(total)
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

/// The low bits of the number of ways to choose 2 or 3 of `n`.
fn binomial(n: u64, k: u32) -> i64 {
    let pairs = (n >> 1).wrapping_mul(n.wrapping_sub(1) | 1).cast_signed();
    match k {
        2 => pairs,
        _ => pairs.wrapping_mul(n.wrapping_sub(2).cast_signed()).wrapping_mul(THIRD),
    }
}

/// The coefficients of the powers of the number of the iteration, up to the second.
fn powers(step: &Poly, l: LoopId) -> Option<[Poly; 3]> {
    let (ty, k) = (step.ty(), Sym::Iteration(l));
    let mut powers = [0; 3].map(|_| Poly::constant(ty, 0));
    powers[0] = Poly::constant(ty, step.constant_part());
    for term in step.terms() {
        let power = term.symbols.iter().filter(|&&s| s == k).count();
        let mut product = Poly::constant(ty, term.coefficient);
        for &symbol in term.symbols.iter().filter(|&&s| s != k) {
            product = product.mul(&Poly::symbol(ty, symbol))?;
        }
        let sum = powers.get_mut(power)?;
        *sum = sum.add(&product)?;
    }
    Some(powers)
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
