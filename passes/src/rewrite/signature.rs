//! Sets of ops in a word, by which most rules that do not match are passed over.

use regraft_ir::{Constant, Op};
use smallvec::SmallVec;

use super::{Rule, Term};

/// The ops that a value is known to be the result of, and whether it is a constant, and which. Ops
/// share bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Signature(u64);

/// The bit of constants.
const CONSTANT: u32 = 63;
/// The numbers that rules mention most, each of which has a bit before that of constants.
const NUMBERS: [f64; 4] = [0.0, 1.0, -1.0, 2.0];
/// The number of bits for ops.
const OPS: u32 = CONSTANT - NUMBERS.len() as u32;

impl Signature {
    /// Of a constant, or of a literal of a rule, of which any other number may become one of a few
    /// in a narrow type.
    pub(crate) fn of_constant(constant: Constant) -> Self {
        let number = match constant {
            Constant::Bool(x) => Some(f64::from(u8::from(x))),
            other => other.as_float().or_else(|| other.as_int().map(|n| n as f64)),
        };
        let known = number.and_then(|x| NUMBERS.into_iter().position(|other| other == x));
        Self(1 << CONSTANT | known.map_or(0, |i| 1 << (OPS + i as u32)))
    }

    /// The least that a value has that a variable stands for, maybe only for constants.
    pub(super) fn of_variable(is_constant: bool) -> Self {
        Self(u64::from(is_constant) << CONSTANT)
    }

    /// Of the result of an op.
    #[inline]
    pub(crate) fn of_op(op: Op) -> Self {
        Self(1 << ((29 * u32::from(op.dialect()) + u32::from(op.index())) % OPS))
    }

    /// The least that a value has that a term of what a rule matches stands for.
    fn of_term(term: &Term, rule: &Rule) -> Self {
        match term {
            Term::Variable(v) => Self::of_variable(rule.wants_constant(*v)),
            Term::Literal(literal, _) => Self::of_constant(*literal),
            Term::Op(op, ..) => Self::of_op(*op),
        }
    }

    /// The ops of either of two.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether it has all that another has.
    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

/// The least that the operands have of what a rule matches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Needs {
    /// The signatures, in order.
    pub(super) operands: SmallVec<[Signature; 3]>,
    /// Tells whether there are two, which are one variable.
    pub(super) same: bool,
}

impl Needs {
    /// Of a rule.
    pub(super) fn of(rule: &Rule) -> Self {
        let operands = rule.from().operands();
        let same = matches!(operands, [Term::Variable(a), Term::Variable(b)] if a == b);
        let signatures = operands.iter().map(|term| Signature::of_term(term, rule));
        Self { operands: signatures.collect(), same }
    }

    /// Returns whether operands of these signatures can be those of what the rule matches; in either
    /// order if they commute. `same` tells whether the first two are equal.
    #[inline]
    pub(super) fn may_match(&self, operands: &[Signature], same: bool, commute: bool) -> bool {
        let fits = |a: usize, b: usize| operands[a].has(self.operands[b]);
        match operands.len() {
            len if len != self.operands.len() => false,
            2 if self.same => same,
            2 if commute => fits(0, 0) && fits(1, 1) || fits(0, 1) && fits(1, 0),
            len => (0..len).all(|i| fits(i, i)),
        }
    }
}
