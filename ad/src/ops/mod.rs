//! The rows of the ops of each dialect that no rule of scalars is about.

mod ad;
mod arith;
mod common;
mod core;
mod data;
mod linalg;
mod mem;

use regraft_dialects::{self as dialects, cf, math, prof, text};
use regraft_ir::Op;

use crate::op_derivative::OpDerivative;

/// The ops with functions for their derivatives.
pub(crate) fn rows() -> impl Iterator<Item = (Op, OpDerivative)> {
    [arith::ROWS, core::ROWS, data::ROWS, mem::ROWS, linalg::ROWS, ad::ROWS]
        .into_iter()
        .flatten()
        .copied()
}

/// The ops whose results are constant, and that put nothing that has a derivative anywhere.
pub(crate) fn constant() -> impl Iterator<Item = Op> {
    let profiler: &[Op] =
        &[prof::RECORD_START, prof::RECORD_END, prof::RESET, prof::RESIZE, prof::REPORT];
    let texts = text::DIALECT.ops.iter().map(|def| def.op);
    [arith::CONSTANT, core::CONSTANT, data::CONSTANT, mem::CONSTANT, ad::CONSTANT, profiler]
        .into_iter()
        .flatten()
        .copied()
        .chain(texts)
}

/// The ops that have no derivative, and why.
pub(crate) fn not_implemented() -> impl Iterator<Item = (Op, &'static str)> {
    const RULED: &str = "the functions of the library that run it have rules";
    let matrices = dialects::linalg::DIALECT.ops.iter().map(|def| def.op);
    let matrices = matrices.filter(|op| !linalg::ROWS.iter().any(|(known, _)| known == op));
    let incomplete = [math::GAMMA_P, math::GAMMA_Q, math::BETA_INC];
    let ruled = matrices.chain(incomplete).map(|op| (op, RULED));
    [arith::NOT_IMPLEMENTED, core::NOT_IMPLEMENTED, mem::NOT_IMPLEMENTED]
        .into_iter()
        .flatten()
        .copied()
        .chain(ruled)
}

/// Calls and the ends of blocks.
pub(crate) const CONTROL: &[Op] = &[
    dialects::core::CALL,
    dialects::core::APPLY,
    dialects::core::SPLAT,
    cf::BR,
    cf::SWITCH,
    cf::RETURN,
    cf::UNREACHABLE,
];
