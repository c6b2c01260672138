//! Facts of a method that inference asks for again and again.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Const, Function, OpDef, Symbol, Type};

use super::frame::Order;
use crate::definition::Space;
use crate::world::{MethodId, SpecId, StaticValue};

/// An operand of a method that is one op.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// A constant.
    Constant(Const),
    /// The callee.
    Callee,
    /// The parameter at this position.
    Param(usize),
}

/// The shape of the code of a method.
#[derive(Clone, Debug)]
pub(super) enum Code {
    /// One op on parameters and constants. With a type, the op stands in the code itself.
    Op { def: &'static OpDef, pieces: Box<[Piece]>, ty: Option<Type> },
    /// A parameter or constant.
    Value(Piece),
    /// Anything else.
    Body,
}

/// The facts of a method.
#[derive(Clone, Debug)]
pub(super) struct MethodFacts {
    pub(super) id: MethodId,
    pub(super) name: Symbol,
    pub(super) takes_callee: bool,
    pub(super) params: usize,
    pub(super) vararg: bool,
    pub(super) inline: Option<bool>,
    pub(super) space: Space,
    pub(super) statics: Rc<[Symbol]>,
    /// True if all constants go into the keys of its specialisations.
    pub(super) takes_constants: bool,
    /// True if it is expanded at calls whose argument types are not exact.
    pub(super) expands: bool,
    pub(super) code: Code,
    /// The order of the blocks of its body, if all its specialisations share one.
    pub(super) order: Option<Rc<Order>>,
    /// True if its code is made from the types of the arguments.
    pub(super) is_dynamo: bool,
    /// The code for the arguments that it was found for, if a dynamo made it.
    pub(super) made: Option<Rc<MadeCode>>,
}

/// The code of a dynamo for certain arguments.
#[derive(Debug)]
pub(super) struct MadeCode {
    pub(super) function: Arc<Function>,
    /// The values of the type parameters of the method that it was taken from.
    pub(super) statics: Rc<[StaticValue]>,
    /// The method that it was taken from.
    pub(super) origin: MethodId,
    /// The answer that it is a part of.
    pub(super) lookup: SpecId,
}

impl MethodFacts {
    /// The method whose code it has: limits on nested calls go by that.
    pub(super) fn origin(&self) -> MethodId {
        self.made.as_ref().map_or(self.id, |made| made.origin)
    }

    /// Returns whether it is a method of the library that is an op: no program replaces it.
    pub(super) fn is_op_of_library(&self) -> bool {
        self.space == Space::Base && matches!(self.code, Code::Op { .. })
    }
}
