//! Derivatives of `arith` that no rule of scalars says.

use regraft_dialects::arith;
use regraft_ir::{Op, Operand};

use super::common::new_shadow;
use super::core::convert_adjoint;
use crate::flow::Flow;
use crate::op_derivative::{OpDerivative, TangentCx};

pub(super) const ROWS: &[(Op, OpDerivative)] = &[(
    arith::FLOAT_CAST,
    OpDerivative::moving(Flow::Value, cast_tangent, new_shadow, convert_adjoint),
)];

fn cast_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let tangent = cx.is_result_active().then(|| cx.tangent_or_zero(0))?;
    let to = cx.result_type();
    Some(cx.emit(arith::float_cast(tangent, to)))
}

pub(super) const NOT_IMPLEMENTED: &[(Op, &str)] =
    &[(arith::BITCAST, "the bits of a float taken as another value have no derivative")];

pub(super) const CONSTANT: &[Op] = &[
    arith::DIV,
    arith::REM,
    arith::FLD,
    arith::CLD,
    arith::MOD,
    arith::EQ,
    arith::NE,
    arith::LT,
    arith::LE,
    arith::GT,
    arith::GE,
    arith::AND,
    arith::OR,
    arith::XOR,
    arith::NOT,
    arith::SHL,
    arith::SHR,
    arith::ASHR,
    arith::CLZ,
    arith::CTZ,
    arith::POPCOUNT,
    arith::BITREVERSE,
    arith::BSWAP,
    arith::CHECKED_ADD,
    arith::CHECKED_SUB,
    arith::CHECKED_MUL,
    arith::POWI,
    arith::SIGNBIT,
    arith::ISNAN,
    arith::ISINF,
    arith::ISFINITE,
    arith::WRAP,
    arith::SEXT,
    arith::ZEXT,
    arith::INT_TO_FLOAT,
    arith::FLOAT_TO_INT,
    arith::FLOAT_TO_INT_SAT,
];
