//! Sets of ops in a word, by which most rules that do not match are passed over.

use regraft_ir::Op;

use super::Term;

/// The ops that a value is known to be the result of, and whether it is a constant. Ops share bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Signature(u64);

impl Signature {
    /// Of a constant.
    pub(crate) const CONSTANT: Self = Self(1 << 63);

    /// Of the result of an op.
    #[inline]
    pub(crate) fn of_op(op: Op) -> Self {
        Self(1 << ((29 * u32::from(op.dialect()) + u32::from(op.index())) % 63))
    }

    /// The least that a value has that a term matches.
    pub(crate) fn of_term(term: &Term) -> Self {
        match term {
            Term::Variable(_) => Self::default(),
            Term::Literal(..) => Self::CONSTANT,
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
