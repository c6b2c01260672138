//! Constants, written by `tables.py`.

#![allow(clippy::approx_constant, reason = "tables of digits")]

pub mod error;
pub mod exponential;
pub mod hyperbolic;
pub mod inverse_trigonometric;
pub mod logarithm;
pub mod power;
pub mod root;
pub mod trigonometric;
