//! The numbers of values.

use regraft_ir::Operand;

/// The numbers of all values.
pub(super) struct Numbers {
    pub(super) of: Vec<Operand>,
}

impl Numbers {
    /// Returns what a value equals: a constant, or a value that stands for all that are equal.
    #[inline]
    pub(super) fn of(&self, operand: Operand) -> Operand {
        operand.as_value().map_or(operand, |v| self.of[v.index()])
    }
}
