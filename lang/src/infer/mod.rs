//! Inference: from lowered methods to what is known of every value, and to specialisations.
//!
//! A specialisation is a method with what is known of its arguments: their types, and constants
//! of those types that programs dispatch on or compute types with (symbols, types, functions). It
//! is inferred when a call needs it, depth first; [`emit`](crate::emit) makes a typed function of
//! it when somebody asks for the code.
//!
//! # Recursion
//! A specialisation that is being inferred gives what is known of its result so far, nothing at
//! first. The first of a group of specialisations that call each other is inferred again, and
//! the others with it, until no estimate changes that was read. Estimates only grow and the
//! lattice is of finite height, so that this ends; at the end they are a solution, the least that
//! this order of evaluation finds (compare Tarjan's algorithm, from which the groups come).
//!
//! # Termination
//! There could be ever new specialisations: `f(t) = f((t, 1))`. Where calls of one method are
//! nested and their types grow each time, or where they are nested very deep, the call is left to
//! the running program (see [`MAX_NESTED`]).

mod builtin;
mod builtin_table;
mod calls;
mod derivative;
mod derivative_key;
mod flow;
mod frame;
mod inference;
mod invalidate;
mod known_ops;
mod lattice;
mod lookup;
mod method;
mod method_facts;
mod names;
mod narrow;
mod ops;
mod recursion;
mod reflection;
mod replaced;
mod spec;
mod specialize;
mod try_catch;
mod unroll;

pub(crate) use derivative_key::{
    DerivativeEntry, DerivativeKey, DerivativeKind, GeneratedFunctions,
};
pub use frame::{Arg, Frame, Plan, Step, StepKind};
pub(crate) use inference::DerivativeOracle;
pub use inference::{CallError, Inference};
pub use lattice::Lattice;
pub(crate) use lattice::field_types;
pub use spec::{MAX_NESTED, MAX_SPECS, Spec};
