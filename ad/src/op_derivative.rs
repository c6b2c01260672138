//! The row of an op in the derivative table: the flow of derivatives through it, and the functions that
//! write its tangent, the shadow of its result and its adjoint.

use std::fmt;
use std::sync::Arc;

use regraft_dialects::attrs::without_scope;
use regraft_dialects::tangent::TangentTypes;
use regraft_ir::{
    Attrs, Constant, Context, Function, Inst, Op, Operand, OperandSet, Symbol, Type, Value,
};

use crate::flow::Flow;

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
    pub(crate) flow: Flow,
    pub(crate) residuals: &'static [usize],
    pub(crate) tangent: TangentFn,
    pub(crate) shadow: Option<ShadowFn>,
    pub(crate) adjoint: AdjointFn,
    pub(crate) is_deferred: bool,
}

/// Writes the tangent of an op and gives that of its result; `None` if that is zero.
pub type TangentFn = fn(&mut dyn TangentCx) -> Option<Operand>;

/// Writes, in the forward sweep of reverse mode, the shadow of the result of an op and what the op does
/// to shadows; says what the adjoint needs ([`ShadowCx::keep`]) and that there is one
/// ([`ShadowCx::add_adjoint`]).
pub type ShadowFn = fn(&mut dyn ShadowCx);

/// Writes what an op does on the way back: gives cotangents to numbers, and adds to the shadows of
/// arrays and refs. The shadow of what the op changed holds what came back to its new elements; it is
/// left holding what comes back to the old ones.
pub type AdjointFn = fn(&mut dyn AdjointCx);

impl OpDerivative {
    /// The derivative of an op whose adjoint reads no elements of arrays. If the op
    /// [writes](regraft_ir::Effects::writes) to arrays or refs, its tangent stands before it, otherwise
    /// after it.
    pub const fn new(tangent: TangentFn, adjoint: AdjointFn) -> Self {
        Self {
            flow: Flow::Computed,
            residuals: &[],
            tangent,
            shadow: None,
            adjoint,
            is_deferred: false,
        }
    }

    /// The derivative of an op that moves numbers and objects around.
    pub const fn moving(
        flow: Flow,
        tangent: TangentFn,
        shadow: ShadowFn,
        adjoint: AdjointFn,
    ) -> Self {
        Self { flow, shadow: Some(shadow), ..Self::new(tangent, adjoint) }
    }

    /// Says that the adjoint writes nothing to memory at once: it only notes that something is to be
    /// added to a shadow.
    #[must_use]
    pub(crate) const fn deferred(self) -> Self {
        Self { is_deferred: true, ..self }
    }

    /// Says at which positions the op takes arrays and refs whose elements the adjoint reads as the op
    /// found them. They are copied if something is written to them later.
    #[must_use]
    pub const fn reads(self, residuals: &'static [usize]) -> Self {
        Self { residuals, ..self }
    }

    /// Returns the operands to whose elements the op adds what depends on the others. What an op does that
    /// moves elements around, its flow says.
    pub(crate) fn changes(&self, f: &Function, v: Value) -> OperandSet {
        let def = f.op_def(v).filter(|_| self.flow == Flow::Computed);
        def.map_or(OperandSet::NONE, |def| def.effects.writes)
    }
}

impl fmt::Debug for OpDerivative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "derivative that reads {:?}", self.residuals)
    }
}

/// An op, for all functions of its row. Operands are counted from 0.
pub trait OpCx {
    /// The function that is differentiated, and the op in it.
    fn source(&self) -> (&Function, Value);
    /// The tangent types of types.
    fn types(&mut self) -> &mut TangentTypes;
    /// The context of types and constants.
    fn ctx(&self) -> &Arc<Context> {
        self.source().0.ctx()
    }
    /// The op.
    fn op(&self) -> Op {
        let (f, v) = self.source();
        f.op(v).expect("only ops have derivatives")
    }
    /// The attributes of the instruction, but for the alias scope: its shadow is another array.
    fn attrs(&self) -> Attrs {
        let (f, v) = self.source();
        without_scope(f.ctx(), f.attrs(v))
    }
    /// The number of operands.
    fn count(&self) -> usize {
        let (f, v) = self.source();
        f.operand_count(v)
    }
    /// An operand in the function that is differentiated.
    fn source_operand(&self, index: usize) -> Operand {
        let (f, v) = self.source();
        f.operand(v, index).expect("the verifier has counted the operands")
    }
    /// The type of an operand.
    fn operand_type(&self, index: usize) -> Type {
        self.source().0.operand_type(self.source_operand(index))
    }
    /// The type of the result.
    fn result_type(&self) -> Type {
        let (f, v) = self.source();
        f.ty(v)
    }
    /// An operand that is a constant.
    fn constant(&self, index: usize) -> Option<Constant> {
        self.source().0.constant(self.source_operand(index))
    }
    /// Returns whether the numbers of an operand have a derivative.
    fn is_varied(&self, index: usize) -> bool;
    /// Returns whether an operand is or holds an object that has a shadow.
    fn has_shadow(&self, index: usize) -> bool;
    /// The shadow of an operand; `None` if it is constant.
    fn shadow(&mut self, index: usize) -> Option<Operand>;
    /// Appends an instruction; in the forward sweep of reverse mode, after the op.
    fn emit(&mut self, inst: Inst) -> Operand;
    /// The type of something in the code that is written.
    fn type_of(&self, operand: Operand) -> Type;
    /// An operand of the op. On the way back, an array among the [residuals](OpDerivative::reads) is as
    /// the op found it.
    fn operand(&mut self, index: usize) -> Operand;
    /// Notes that the op has no derivative here; the label stands at its place.
    fn error(&mut self, message: &str, label: &str);
}

/// An op, for the function that writes its tangent in one direction.
pub trait TangentCx: OpCx {
    /// The tangent of a number, or the shadow of an array; `None` if it is constant.
    fn tangent(&mut self, index: usize) -> Option<Operand>;
    /// The tangent of a number, or the shadow of an array; zero if it is constant.
    fn tangent_or_zero(&mut self, index: usize) -> Operand;
    /// A tangent as one of another type, where one of both is `any`.
    fn coerced(&mut self, tangent: Operand, want: Type) -> Operand;
    /// The result of the op, if it stands before the tangent.
    fn result(&mut self) -> Option<Operand>;
    /// Returns whether the result has a tangent that may be other than zero.
    fn is_result_active(&self) -> bool;
    /// The nesting level of the derivative; an error if there are several directions.
    fn level(&mut self) -> Operand;
}

/// An op, for the function that writes what it does to shadows in the forward sweep.
pub trait ShadowCx: OpCx {
    /// Inserts an instruction before the op.
    fn emit_before(&mut self, inst: Inst) -> Operand;
    /// The result of the op.
    fn result(&self) -> Operand;
    /// Returns whether the numbers of the result have a derivative.
    fn is_result_varied(&self) -> bool;
    /// Returns whether the result is or holds an object that has a shadow.
    fn result_has_shadow(&self) -> bool;
    /// The shadow of an operand as one of a type; of zeros, if it has none.
    fn shadow_as(&mut self, index: usize, want: Type) -> Operand;
    /// A shadow as one of another type, before the op or after it.
    fn coerced(&mut self, shadow: Operand, want: Type, before: bool) -> Operand;
    /// Gives the result its shadow.
    fn set_shadow(&mut self, shadow: Operand);
    /// Returns whether nobody but the function looks at an object, or into it.
    fn is_private(&self, index: usize) -> bool;
    /// The nesting level of the derivative.
    fn level(&self) -> Operand;
    /// Notes that an instruction reads a shadow in the place that the op reads.
    fn reads_alike(&mut self, read: Operand);
    /// Keeps a value for the adjoint.
    fn keep(&mut self, residual: Operand);
    /// Lets the reverse sweep write the adjoint.
    fn add_adjoint(&mut self);
}

/// An op, for the function that writes its adjoint.
pub trait AdjointCx: OpCx {
    /// The result of the op. Of an array, later writes show in it.
    fn result(&mut self) -> Operand;
    /// The cotangent of the result, or the shadow of the array that it is; `None` if nothing comes
    /// back to it.
    fn cotangent(&mut self) -> Option<Operand>;
    /// The cotangents of the parts of the result, a tuple or struct; `None` if nothing comes back.
    fn cotangent_parts(&mut self) -> Option<Vec<Option<Operand>>>;
    /// The shadow of the result.
    fn result_shadow(&mut self) -> Option<Operand>;
    /// A value that the forward sweep kept.
    fn kept(&mut self, index: usize) -> Option<Operand>;
    /// Returns whether a number is asked for its cotangent.
    fn is_active(&self, index: usize) -> bool {
        self.is_varied(index)
    }
    /// Adds to the cotangent of a number. Does nothing if it is not active.
    fn accumulate(&mut self, index: usize, cotangent: Operand);
    /// Adds to the cotangent of a part of a tuple or struct. Does nothing if that is not active.
    fn accumulate_part(&mut self, index: usize, part: usize, cotangent: Operand);
    /// The cotangent of a value of one type as that of a value of another one.
    fn coerce(&mut self, cotangent: Operand, from: Type, to: Type) -> Operand;
    /// Adds to the shadow in the place that the op reads, when something else is done to memory.
    fn add_later(&mut self, cotangent: Operand);
    /// Sets the shadow to zero in the place that the op writes, when what reads it has been reversed.
    fn clear_later(&mut self, old: Option<Operand>);
    /// The function that makes a shadow longer with elements of a type, or shorter.
    fn resize_shadow_with(&mut self, array: Type, element: Type) -> Option<Symbol>;
}
