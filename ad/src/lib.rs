//! Differentiation of typed functions, by rewriting them.
//!
//! - [`tangent`] says what the derivative of a value of each type is made of.
//! - [`DerivativeTable`] says what the derivative of each op is; of ops on floats, [`rules`] do.
//! - [`forward()`] computes derivatives beside the values; `forward-diff` as a pass.
//! - [`reverse()`] goes forward, and back with cotangents; `reverse-diff` as a pass.

mod activity;
mod calls;
mod derivative_table;
mod flow;
mod forward;
mod op_derivative;
mod ops;
mod passes;
mod returning;
mod reverse;
pub mod rules;
mod scopes;
mod tangent_builder;

pub use activity::reads_globals;
pub use derivative_table::{Derivative, DerivativeTable};
pub use flow::Flow;
pub use forward::{ForwardOptions, forward};
pub use op_derivative::{
    AdjointCx, AdjointFn, OpCx, OpDerivative, ShadowCx, ShadowFn, TangentCx, TangentFn,
};
pub use passes::{add_passes, extensions, registry};
pub use regraft_dialects::tangent;
pub use reverse::{Checkpoints, PlanKind, ReverseFunctions, ReverseOptions, reverse};
pub use scopes::scope_level;
