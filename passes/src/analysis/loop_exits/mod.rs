//! The exits of a loop: the test of each branch, and the number of back edges after which the
//! answer is to leave. It stands below the analysis of induction variables, which asks it for the
//! last iteration of a loop; what is counted, and why it is right, is said in
//! [`trip_count`](super::trip_count).

mod dominating;
mod first_hit;
mod known;
mod maybe_constant;
mod solve;
mod test;

use std::fmt::Write as _;

use regraft_ir::{Function, Type};

use super::{LoopForest, Poly, Sym};
pub(crate) use dominating::DominatingConditions;
pub(crate) use known::{is_signed_distance, range};
pub(crate) use maybe_constant::{QuickCount, constant_in, may_be_constant, quick_count};
pub(crate) use solve::{compared, odd_inverse};
pub(crate) use test::{Test, is_once};

/// A number of back edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LatchRuns {
    /// This many.
    Constant(u64),
    /// The value of an expression that can be computed before the loop.
    Symbolic(Box<Count>),
    /// The exit is never taken.
    Never,
    /// Nothing is known.
    Unknown,
}

/// An expression for a number of back edges, in terms of what is invariant in the loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The form of its computation. The result is an **unsigned** number of the width of
    /// [`Count::ty`].
    pub form: CountForm,
    /// The condition under which it holds.
    pub holds: Holds,
    /// True if it is surely not negative as a signed number of its type either, where it holds.
    pub is_signed: bool,
}

/// The form of the computation of a count, modulo 2^w.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CountForm {
    /// It is this.
    Number(Poly),
    /// The distance from `from` up (or down) to `to`, if `to` lies in that direction, else 0;
    /// divided by `stride` and rounded up.
    Distance {
        /// The first value of the counter.
        from: Poly,
        /// The first number that is not counted.
        to: Poly,
        /// True if `to` lies below `from`.
        down: bool,
        /// The size of the step, at least 1.
        stride: u64,
    },
    /// `distance`, shifted to the right by `shift` without sign, times `inverse`, modulo
    /// 2^(w - shift).
    Solution {
        /// The distance that the counter has to move.
        distance: Poly,
        /// The number of factors 2 in the step, at least 1.
        shift: u32,
        /// The inverse of the odd part of the step.
        inverse: i64,
    },
    /// 1 if the two are equal, else 0.
    Equal(Poly, Poly),
}

/// The condition under which a count holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// Always: the exit is surely taken then, if the loop is not left before.
    Always,
    /// If the exit is taken at all. Else the loop does not end there; the count says nothing.
    IfTaken,
    /// If this is so. Else the counter wraps around, and nothing is known.
    If(Condition),
}

/// `value >= limit`, or `value <= limit`, as signed numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The value that has to be within the limit.
    pub value: Poly,
    /// The least number allowed, or the greatest.
    pub limit: i64,
    /// True if `limit` is the least number.
    pub at_least: bool,
}

impl Count {
    /// Returns what it is for given values of the symbols, of which the low bits count; `None`
    /// where it does not hold. Whether the exit is taken at all it does not say.
    pub fn evaluate(&self, mut of: impl FnMut(Sym) -> i64) -> Option<u64> {
        if let Holds::If(Condition { value, limit, at_least }) = &self.holds {
            let value = value.evaluate(&mut of);
            if if *at_least { value < *limit } else { value > *limit } {
                return None;
            }
        }
        let bits = self.ty().bits()?;
        let unsigned = |x: i64| x as u64 & (u64::MAX >> (64 - bits));
        Some(match &self.form {
            CountForm::Number(poly) => unsigned(poly.evaluate(of)),
            CountForm::Distance { from, to, down, stride } => {
                let (from, to) = (from.evaluate(&mut of), to.evaluate(&mut of));
                let (low, high) = if *down { (to, from) } else { (from, to) };
                let distance = if low < high { unsigned(high.wrapping_sub(low)) } else { 0 };
                distance.div_ceil(*stride)
            }
            CountForm::Solution { distance, shift, inverse } => {
                let halved = unsigned(distance.evaluate(of)) >> shift;
                let product = (halved as i64).wrapping_mul(*inverse);
                unsigned(product) & ((u64::MAX >> (64 - bits)) >> shift)
            }
            CountForm::Equal(left, right) => {
                u64::from(left.evaluate(&mut of) == right.evaluate(&mut of))
            }
        })
    }

    /// The polynomials in it.
    pub fn polys(&self) -> Vec<&Poly> {
        match &self.form {
            CountForm::Number(poly) => vec![poly],
            CountForm::Distance { from, to, .. } => vec![from, to],
            CountForm::Equal(left, right) => vec![left, right],
            CountForm::Solution { distance, .. } => vec![distance],
        }
    }

    /// The type that it is computed in.
    pub fn ty(&self) -> Type {
        match &self.form {
            CountForm::Number(poly) | CountForm::Distance { from: poly, .. } => poly.ty(),
            CountForm::Solution { distance, .. } => distance.ty(),
            CountForm::Equal(left, _) => left.ty(),
        }
    }
}

impl LatchRuns {
    /// Returns whether the loop is surely left after that many, if it was not left before.
    pub(crate) fn is_certain(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Symbolic(count) => count.holds == Holds::Always,
            Self::Never | Self::Unknown => false,
        }
    }

    /// The count as text.
    pub fn text(&self, f: &Function, forest: &LoopForest) -> String {
        let poly = |p: &Poly| p.text(f, forest);
        let count = match self {
            Self::Constant(n) => return n.to_string(),
            Self::Never => return "never".to_owned(),
            Self::Unknown => return "unknown".to_owned(),
            Self::Symbolic(count) => count,
        };
        let mut text = match &count.form {
            CountForm::Number(p) => poly(p),
            CountForm::Distance { from, to, down, stride } => {
                let direction = if *down { "down" } else { "up" };
                let by = if *stride == 1 { String::new() } else { format!(" by {stride}") };
                format!("{} {direction} to {}{by}", poly(from), poly(to))
            }
            CountForm::Solution { distance, shift, inverse } => {
                format!("({}) / 2^{shift} * {inverse}", poly(distance))
            }
            CountForm::Equal(left, right) => format!("{} == {}", poly(left), poly(right)),
        };
        match &count.holds {
            Holds::Always => {}
            Holds::IfTaken => text.push_str(", if it ends"),
            Holds::If(Condition { value, limit, at_least }) => {
                let op = if *at_least { ">=" } else { "<=" };
                let _ = write!(text, ", if {} {op} {limit}", poly(value));
            }
        }
        text
    }

    /// The expression, if it is one.
    pub fn as_symbolic(&self) -> Option<&Count> {
        match self {
            Self::Symbolic(count) => Some(count),
            _ => None,
        }
    }
}
