//! Differentiation of typed functions, by rewriting them.
//!
//! - [`tangent`] says what the derivative of a value of each type is made of.
//! - [`rules`] say what the derivative of each op is.

pub mod rules;

pub use regraft_dialects::tangent;
