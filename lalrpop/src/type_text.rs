//! The parts of a type that are read before it is made.

use regraft_ir::{Const, Symbol, Type};

use crate::function_text::Span;

/// An argument between the brackets of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TypeArg {
    Type(Type),
    Const(Const, Span),
    /// `@name`, a struct or a function.
    Global(Span),
    Field(Symbol, Type),
}

/// The size of a type, structs counted as names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeSize {
    pub(crate) depth: u32,
    pub(crate) parts: u32,
}

/// A type constructor that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeOpen {
    pub(crate) name: Span,
    /// The position of its first argument among the pending ones.
    pub(crate) start: u32,
}
