//! Dependence analysis: how many iterations apart two accesses in a loop may be to the same place.
//!
//! ```text
//! %5: f64 = mem.load %1, %3           %3 is 1 + i in iteration i of the loop ^2
//! mem.store %1, %5, %4                %4 is 2 + i
//!                                     loop ^2: %5 to the store: distance -1
//! ```
//!
//! # Method
//! The indices are polynomials in iteration numbers ([`InductionVariables`]). Each dimension gives an
//! equation `a + s * i = b + t * j` between an iteration `i` of the one access and `j` of the other.
//! It is solved by the tests of Goff, Kennedy and Tseng, "Practical dependence testing" (PLDI 1991):
//! no index varies (ZIV), both have the same step (strong SIV), or else the GCD test and the bounds of
//! Banerjee. Dimensions are independent; one without a solution is enough.
//!
//! # Why it is right
//! Equations hold modulo 2^64, as the program computes: a step `2^k * odd` divides a distance only
//! if `2^k` does, and then the distance in iterations is known modulo `2^(64 - k)`. The other
//! solutions are more than 2^55 iterations apart, which no program runs; of larger `k`, nothing is
//! said. What is said holds if the objects are the same; if they are not, there is no dependence at
//! all. It is about one execution of the loop: what loops around it add is not looked at.
//!
//! # Cost
//! O(dimensions * terms) for a pair of accesses.

use std::fmt::Write as _;

use regraft_dialects::mem;
use regraft_ir::{Block, DominatorTree, Function, Operand, Type, Value};

use super::block_list::text_or;
use super::loop_exits::{LatchRuns, odd_inverse};
use super::memory_location::element_indices;
use super::{Aliases, Analyses, InductionVariables, LoopId, Poly, Sym, TripCounts};

/// The dependence of two accesses in a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dependence {
    /// They are never to the same place in one execution of the loop.
    None,
    /// To the same place only in the same iteration.
    SameIteration,
    /// The place that the first touches in an iteration `i`, the second can touch in `i + d` only.
    Distance(i64),
    /// Nothing is known.
    Unknown,
}

impl Dependence {
    fn of_distance(d: i64) -> Self {
        if d == 0 { Self::SameIteration } else { Self::Distance(d) }
    }

    /// Returns what is true if both are.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, x) | (x, Self::Unknown) => x,
            (a, b) if a == b => a,
            _ => Self::None,
        }
    }
}

/// The greatest power of two in a step of which distances are told.
const MAX_SHIFT: u32 = 8;
/// No program runs through more iterations of a loop.
const MAX_ITERATIONS: u64 = 1 << 55;

/// Returns how the element that `first` reads or writes in a loop depends on that of `second`: both
/// are `mem.load` or `mem.store`, anywhere in the loop. O(dimensions * terms).
pub fn dependence(
    f: &Function,
    aliases: &Aliases,
    ivs: &InductionVariables,
    counts: &TripCounts,
    l: LoopId,
    first: Value,
    second: Value,
) -> Dependence {
    let (Some(xs), Some(ys)) = (element_indices(f, first), element_indices(f, second)) else {
        return Dependence::Unknown;
    };
    let (Some(x), Some(y)) = (f.operand(first, 0), f.operand(second, 0)) else {
        return Dependence::Unknown;
    };
    if !aliases.may_alias(f, x, y) {
        return Dependence::None;
    }
    if xs.len() != ys.len() || f.operand_type(x) != f.operand_type(y) {
        return Dependence::Unknown;
    }
    let most = match counts.of(l).latch_runs {
        LatchRuns::Constant(n) => i64::try_from(n).ok(),
        _ => None,
    };
    let blocks = (f.block_of(first), f.block_of(second));
    let mut all = Dependence::Unknown;
    for (a, b) in xs.zip(ys) {
        if f.operand_type(a) != Type::I64 || f.operand_type(b) != Type::I64 {
            continue;
        }
        let a = ivs.evolution_at(f, a, blocks.0);
        let b = ivs.evolution_at(f, b, blocks.1);
        if let (Some(a), Some(b)) = (ivs.affine_in(&a, l), ivs.affine_in(&b, l)) {
            all = all.and(solve(&a, &b, most));
        }
    }
    all
}

/// Solves `a + s * i = b + t * j` for iterations up to `most`.
fn solve((a, s): &(Poly, Poly), (b, t): &(Poly, Poly), most: Option<i64>) -> Dependence {
    let apart = a.sub(b).and_then(|d| d.constant_value());
    let (Some(apart), Some(s), Some(t)) = (apart, s.constant_value(), t.constant_value()) else {
        return Dependence::Unknown;
    };
    if s == 0 && t == 0 {
        return if apart == 0 { Dependence::Unknown } else { Dependence::None };
    }
    if s == t {
        return strong(apart, s, most);
    }
    // s * i - t * j = -apart has a solution only if what divides both steps divides that.
    let shift = s.trailing_zeros().min(t.trailing_zeros());
    if apart.trailing_zeros() < shift {
        return Dependence::None;
    }
    if let Some(most) = most
        && let (Some(x), Some(y)) = (span(apart, s, most), span(0, t, most))
    {
        if x.1 < y.0 || y.1 < x.0 {
            return Dependence::None;
        }
        // Nothing wraps around, so that odd divisors count as well.
        let divisor = gcd(s.unsigned_abs(), t.unsigned_abs());
        if divisor > 0 && apart.unsigned_abs() % divisor != 0 {
            return Dependence::None;
        }
    }
    Dependence::Unknown
}

/// Solves `apart + s * i = s * j` for iterations up to `most`: the distance is `j - i`.
pub(crate) fn strong(apart: i64, s: i64, most: Option<i64>) -> Dependence {
    let shift = s.trailing_zeros();
    if apart.trailing_zeros() < shift {
        return Dependence::None;
    }
    if shift > MAX_SHIFT {
        return Dependence::Unknown;
    }
    let distance = (apart >> shift).wrapping_mul(odd_inverse(s >> shift));
    // It is known modulo 2^(64 - shift).
    let distance = distance << shift >> shift;
    let most = most.map_or(MAX_ITERATIONS, i64::unsigned_abs).min(MAX_ITERATIONS);
    match distance.unsigned_abs() > most {
        true => Dependence::None,
        false => Dependence::of_distance(distance),
    }
}

/// The least and the greatest of `base + step * i` for `i` up to `most`, if nothing wraps around.
fn span(base: i64, step: i64, most: i64) -> Option<(i64, i64)> {
    let end = base.checked_add(step.checked_mul(most)?)?;
    Some((base.min(end), base.max(end)))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest step of an index that [`has_left`] looks at.
const MAX_STEP: i64 = 64;
/// The greatest distance between two indices that it looks at.
const MAX_APART: i64 = 1 << 32;

/// Returns whether `writer` has left the element that `access` reads or writes in an iteration of a loop: it writes to it neither in
/// that iteration nor in a later one. `dom` is the dominator tree. O(dimensions × terms × loops within the loop).
///
/// ```text
/// for i: for j in 1:i-1: x[i] -= a[i, j] * x[j]      x[j] is before x[i], and before all elements that come
/// for k: for i, j in k+1:n: a[i, j] -= a[i, k] * a[k, j]
/// ```
///
/// In one dimension the index of the writer, at the least that loops within make of it, goes up, and is above the most that they make of
/// the index of the access, or everything is the other way round. What is said holds if the objects are the same, as of [`dependence`], and of
/// a run that returns.
pub fn has_left(
    f: &Function,
    (ivs, counts, dom): (&InductionVariables, &TripCounts, &DominatorTree),
    l: LoopId,
    access: Value,
    writer: Value,
) -> bool {
    let (Some(xs), Some(ys)) = (element_indices(f, access), element_indices(f, writer)) else {
        return false;
    };
    let of = |v: Value| f.operand(v, 0).map(|array| f.operand_type(array));
    if xs.len() != ys.len() || of(access) != of(writer) {
        return false;
    }
    let end = |v: Value, index: Operand, goes_up: bool| {
        let block = f.block_of(v);
        let poly = ivs.evolution_at(f, index, block);
        end_within(&poly, (ivs, counts, dom), l, block, goes_up)
    };
    let is_beyond = |x: Operand, y: Operand, goes_up: bool| {
        let (Some(x), Some(y)) = (end(access, x, goes_up), end(writer, y, !goes_up)) else {
            return false;
        };
        let Some((_, step)) = ivs.affine_in(&y, l) else { return false };
        let apart = y.sub(&x).and_then(|apart| apart.constant_value());
        let (Some(step), Some(apart)) = (step.constant_value(), apart) else { return false };
        let (step, apart) = if goes_up { (step, apart) } else { (-step, -apart) };
        (1..=MAX_STEP).contains(&step) && (1..=MAX_APART).contains(&apart)
    };
    xs.zip(ys).any(|(x, y)| {
        let are_indices = f.operand_type(x) == Type::I64 && f.operand_type(y) == Type::I64;
        are_indices && [true, false].into_iter().any(|goes_up| is_beyond(x, y, goes_up))
    })
}

/// The greatest number, or the least, that a polynomial is in a block of a loop, by the iterations of the loops within it.
fn end_within(
    poly: &Poly,
    (ivs, counts, dom): (&InductionVariables, &TripCounts, &DominatorTree),
    l: LoopId,
    block: Block,
    greatest: bool,
) -> Option<Poly> {
    let forest = ivs.forest();
    let around = std::iter::successors(forest.loop_of(block), |&inner| forest.get(inner).parent);
    around.take_while(|&inner| inner != l).try_fold(poly.clone(), |poly, inner| {
        let (base, step) = poly.linear_in(Sym::Iteration(inner))?;
        let step = step.constant_value().filter(|step| step.abs() <= MAX_STEP)?;
        if step == 0 || (step > 0) != greatest {
            return Some(base);
        }
        let last = counts.of(inner).last_iteration_of(block, dom, poly.ty())?;
        base.add(&last.scale(step))
    })
}

/// So many accesses of a loop are shown.
const MAX_SHOWN: usize = 16;

/// For each innermost loop, how its stores depend on its loads and stores, a pair a line.
pub(crate) fn describe(f: &Function, analyses: &mut Analyses) -> String {
    let aliases = analyses.get::<Aliases>(f);
    let ivs = analyses.get::<InductionVariables>(f);
    let counts = analyses.get::<TripCounts>(f);
    let forest = std::sync::Arc::clone(ivs.forest());
    let mut out = String::new();
    for l in forest.loops().filter(|&l| forest.is_innermost(l)) {
        let blocks = forest.blocks(l).iter().flat_map(|&block| f.body(block));
        let accesses: Vec<Value> =
            blocks.filter(|&v| element_indices(f, v).is_some()).take(MAX_SHOWN).collect();
        for (i, &a) in accesses.iter().enumerate() {
            for &b in &accesses[i..] {
                if f.op(a) == Some(mem::LOAD) && f.op(b) == Some(mem::LOAD) {
                    continue;
                }
                let found = dependence(f, &aliases, &ivs, &counts, l, a, b);
                let text = match found {
                    Dependence::None => "none".to_owned(),
                    Dependence::SameIteration => "same iteration".to_owned(),
                    Dependence::Distance(d) => format!("distance {d}"),
                    Dependence::Unknown => "unknown".to_owned(),
                };
                let header = forest.get(l).header;
                let (a, b) = (f.value_text(a), f.value_text(b));
                let _ = writeln!(out, "loop {header}: {a} to {b}: {text}");
            }
        }
    }
    text_or(out, "no stores in loops\n")
}

#[cfg(test)]
mod tests {
    use super::{Dependence, strong};

    #[test]
    fn a_solution_that_no_program_comes_to_is_none() {
        // 3 divides 1 modulo 2^64 alone, and 6 divides 2 alike.
        for (s, apart) in [(3, 1), (-3, 1), (6, 2)] {
            assert_eq!(strong(apart, s, None), Dependence::None, "{apart} {s}");
        }
        assert_eq!(strong(1 << 54, 1, None), Dependence::Distance(1 << 54));
    }

    #[test]
    fn a_distance_solves_its_equation_or_there_is_none() {
        for s in (-12i64..=12).filter(|&s| s != 0) {
            for apart in -60..=60i64 {
                let divisible = apart % s == 0;
                let is_power_of_two_apart = apart & ((1 << s.trailing_zeros()) - 1) == 0;
                match strong(apart, s, Some(1000)) {
                    Dependence::None => assert!(!divisible, "{apart} {s}"),
                    Dependence::SameIteration => assert_eq!(apart, 0),
                    Dependence::Distance(d) => assert_eq!(s * d, apart),
                    Dependence::Unknown => panic!("{apart} {s}"),
                }
                // Without a bound a solution may wrap around, but 2^k still has to divide.
                if !is_power_of_two_apart {
                    assert_eq!(strong(apart, s, None), Dependence::None);
                }
            }
        }
    }
}
