//! The flow of derivatives through an op: which of what it takes makes which of what it gives active.

/// The flow of derivatives through an op that is no call. Positions are those of operands, from 0.
///
/// A value is *varied* if it has a cotangent, or a tangent outside of objects; objects are *active* if
/// something varied may be put into them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The result is varied if an operand is. It may share objects with each.
    Value,
    /// The result shares objects with the operands, and has nothing of their numbers.
    Objects,
    /// The result is what an object holds, the first operand: it is varied if that is active.
    Read,
    /// The result is a field of the first operand, which is an object or a value.
    Field,
    /// The result is a new object that holds operands.
    New,
    /// The result is a new object with the elements of the first operand.
    Copy,
    /// The result is made as the first operand is, and shares nothing with it.
    Fresh,
    /// An operand is put into the object that another one is.
    Into {
        /// The object.
        object: usize,
        /// The operand that is put into it.
        value: usize,
    },
    /// The elements of an operand are put into the object that another one is, or added to it.
    Elements {
        /// The object.
        object: usize,
        /// The operand with the elements.
        source: usize,
        /// Tells whether they stay the same objects there.
        shares: bool,
    },
    /// The result is a new object or a number, varied or active if any operand is. So are then those
    /// operands to which the op [writes](regraft_ir::Effects::writes).
    Computed,
    /// The result is what a global name holds.
    Global,
    /// Nothing flows.
    None,
}
