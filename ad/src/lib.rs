//! Differentiation of typed functions, by rewriting them.
//!
//! - [`tangent`] says what the derivative of a value of each type is made of.
//! - [`rules`] say what the derivative of each op is.
//! - [`forward()`] computes derivatives beside the values; `forward-diff` as a pass.
//! - [`reverse()`] goes forward, and back with cotangents; `reverse-diff` as a pass.

mod activity;
mod forward;
mod passes;
mod print;
mod reverse;
pub mod rules;
mod scopes;

pub use activity::globals::reads_globals;
pub use forward::{ForwardOptions, forward};
pub use passes::{add_passes, registry};
pub use regraft_dialects::tangent;
pub use reverse::{Checkpoints, PlanKind, ReverseFunctions, ReverseOptions, reverse};
pub use scopes::scope_level;
