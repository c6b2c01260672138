//! The trip count of a loop, normalised so that equal numbers look equal.
//!
//! ```text
//! while i < n, from 0 up              n iterations, or none if n is not above 0
//! while k >= 0, from n - 1 down       the same, if n - 1 does not wrap around
//! while k >= 0, from m - 1 down,      the same
//!   where m = arith.max 0, n
//! ```

use regraft_dialects::arith;
use regraft_ir::{Function, Type, Value};

use crate::analysis::interval::unwrapped;
use crate::analysis::loop_exits::{CountForm, Holds, LatchRuns, range};
use crate::analysis::{InductionVariables, LoopId, Poly, Sym, TripCounts};

/// The most times that a maximum of two numbers is looked through.
const MAX_STEPS: usize = 4;

/// The number of runs of the body of a loop whose test comes first.
#[derive(Clone, Debug)]
pub(super) struct NormalisedTripCount {
    /// This often, if it runs at all: modulo 2^64, as polynomials are.
    pub(super) number: Poly,
    /// It runs at all if the first is less than the second; without them, always.
    if_below: Option<(Poly, Poly)>,
    /// The polynomials that values are, if it runs at all.
    pub(super) known: Vec<(Value, Poly)>,
}

impl PartialEq for NormalisedTripCount {
    fn eq(&self, other: &Self) -> bool {
        (&self.number, &self.if_below) == (&other.number, &other.if_below)
    }
}

impl NormalisedTripCount {
    /// Returns those of a loop with one exit, if they are known before it whatever happens.
    pub(super) fn of(
        f: &Function,
        counts: &TripCounts,
        ivs: &InductionVariables,
        l: LoopId,
    ) -> Option<Self> {
        let count = counts.of(l);
        if !count.is_exact {
            return None;
        }
        match &count.latch_runs {
            LatchRuns::Constant(n) => {
                let number = Poly::constant(Type::I64, i64::try_from(*n).ok()?);
                Some(Self { number, if_below: None, known: Vec::new() })
            }
            LatchRuns::Symbolic(count) if count.holds == Holds::Always => match &count.form {
                CountForm::Number(number) if number.ty() == Type::I64 => {
                    Some(Self::exactly(f, ivs, number.clone(), 0))
                }
                CountForm::Distance { from, to, down, stride: 1 } if from.ty() == Type::I64 => {
                    let (low, high) = if *down { (to, from) } else { (from, to) };
                    Self::between(f, ivs, low, high, 0)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A number that is the greater one of two, less one of them, is the distance between them.
    fn exactly(f: &Function, ivs: &InductionVariables, number: Poly, steps: usize) -> Self {
        let maximum = number.symbols().find_map(|s| match s {
            Sym::Value(v) if f.op(v) == Some(arith::MAX) => Some(v),
            _ => None,
        });
        if steps < MAX_STEPS
            && let Some(v) = maximum
            && let Some(found) = Self::above(f, ivs, &number, v, steps)
        {
            return found;
        }
        Self { number, if_below: None, known: Vec::new() }
    }

    fn above(
        f: &Function,
        ivs: &InductionVariables,
        number: &Poly,
        v: Value,
        steps: usize,
    ) -> Option<Self> {
        let of = |i| Some(ivs.evolution_at(f, f.operand(v, i)?, f.block_of(v)));
        let (a, b) = (of(0)?, of(1)?);
        // What is taken away from the maximum.
        let less = Poly::value(Type::I64, v).sub(number)?;
        let (low, high) = match () {
            () if less == a => (a, b),
            () if less == b => (b, a),
            () => return None,
        };
        let mut found = Self::between(f, ivs, &low, &high, steps + 1)?;
        found.known.push((v, high));
        Some(found)
    }

    /// A polynomial in terms of what is known where the body runs.
    pub(super) fn resolve(&self, poly: &Poly) -> Option<Poly> {
        poly.substitute(|s| match s {
            Sym::Value(v) => {
                let known = self.known.iter().find(|&&(of, _)| of == v);
                known.map(|(_, is)| is.truncate(poly.ty()))
            }
            Sym::Iteration(_) => None,
        })
    }

    /// The distance from `low` up to `high`, or none if that is not above.
    fn between(
        f: &Function,
        ivs: &InductionVariables,
        low: &Poly,
        high: &Poly,
        steps: usize,
    ) -> Option<Self> {
        let number = high.sub(low)?;
        let (lows, highs) = (range(f, low), range(f, high));
        if lows.hi <= highs.lo {
            return Some(Self::exactly(f, ivs, number, steps));
        }
        let fits = unwrapped(arith::SUB, highs, lows, Type::I64).is_some();
        let if_below = match fits {
            true => (Poly::constant(Type::I64, 0), number.clone()),
            false => (low.clone(), high.clone()),
        };
        Some(Self { number, if_below: Some(if_below), known: Vec::new() })
    }
}
