//! Differentiation of typed functions, by rewriting them.
//!
//! [`tangent`] says what the derivative of a value of each type is made of.

pub use regraft_dialects::tangent;
