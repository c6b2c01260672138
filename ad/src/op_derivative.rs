//! Derivatives of ops that functions write: of ops on arrays, and of what no rule of scalars says.

use std::fmt;
use std::sync::Arc;

use regraft_ir::{Context, Inst, Operand};

/// The derivative of an op, as functions that write it in both modes.
///
/// ```text
/// %3: f64 = own.dot %1, %2        tangent:   %4 = own.dot %t1, %2
///                                            %5 = own.dot %1, %t2
///                                            %6 = arith.add %4, %5
///                                 adjoint:   own.axpy %c3, %2, %s1
///                                            own.axpy %c3, %1, %s2
/// ```
///
/// The op may take and give numbers, and arrays and refs of numbers; an array or ref that it gives
/// is a new one. What both functions write is ordinary code. If the ops in it have derivatives, so
/// has the derivative, to any order.
#[derive(Clone, Copy)]
pub struct OpDerivative {
    pub(crate) changes: &'static [usize],
    pub(crate) residuals: &'static [usize],
    pub(crate) tangent: TangentFn,
    pub(crate) adjoint: AdjointFn,
}

/// Writes the tangent of an op and gives that of its result; `None` if that is zero.
pub type TangentFn = fn(&mut dyn TangentCx) -> Option<Operand>;

/// Writes what an op does on the way back: gives cotangents to numbers, and adds to the shadows of
/// arrays and refs. The shadow of what the op changed holds what came back to its new elements; it is
/// left holding what comes back to the old ones.
pub type AdjointFn = fn(&mut dyn AdjointCx);

impl OpDerivative {
    /// The derivative of an op that changes none of its operands, and whose adjoint reads no elements
    /// of arrays.
    pub const fn new(tangent: TangentFn, adjoint: AdjointFn) -> Self {
        Self { changes: &[], residuals: &[], tangent, adjoint }
    }

    /// Says at which positions the op takes arrays and refs whose elements the adjoint reads as the op
    /// found them. They are copied if something is written to them later.
    #[must_use]
    pub const fn reads(self, residuals: &'static [usize]) -> Self {
        Self { residuals, ..self }
    }

    /// Says at which positions the op takes arrays and refs whose elements it changes, by what depends
    /// on the others. The tangent stands before such an op, and otherwise after it.
    #[must_use]
    pub const fn changes(self, changes: &'static [usize]) -> Self {
        Self { changes, ..self }
    }
}

impl fmt::Debug for OpDerivative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "derivative that changes {:?} and reads {:?}", self.changes, self.residuals)
    }
}

/// An op, for the function that writes its tangent. Operands are counted from 0.
pub trait TangentCx {
    /// The context of types and constants.
    fn ctx(&self) -> &Arc<Context>;
    /// Appends an instruction.
    fn emit(&mut self, inst: Inst) -> Operand;
    /// An operand of the op.
    fn operand(&mut self, index: usize) -> Operand;
    /// The tangent of a number, or the shadow of an array; `None` if it is constant.
    fn tangent(&mut self, index: usize) -> Option<Operand>;
    /// The result of the op, if it stands before the tangent.
    fn result(&mut self) -> Option<Operand>;
}

/// An op, for the function that writes its adjoint. Operands are counted from 0.
pub trait AdjointCx {
    /// The context of types and constants.
    fn ctx(&self) -> &Arc<Context>;
    /// Appends an instruction.
    fn emit(&mut self, inst: Inst) -> Operand;
    /// An operand of the op: a number, or an array that is as the op found it if it is one of the
    /// [residuals](OpDerivative::reads).
    fn operand(&mut self, index: usize) -> Operand;
    /// The result of the op.
    fn result(&mut self) -> Operand;
    /// The cotangent of the result, or the shadow of the array that it is; `None` if nothing comes
    /// back to it.
    fn cotangent(&mut self) -> Option<Operand>;
    /// The shadow of an array or ref; `None` if it is constant.
    fn shadow(&mut self, index: usize) -> Option<Operand>;
    /// Returns whether a number is asked for its cotangent.
    fn is_active(&self, index: usize) -> bool;
    /// Adds to the cotangent of a number. Does nothing if it is not active.
    fn give(&mut self, index: usize, cotangent: Operand);
}
