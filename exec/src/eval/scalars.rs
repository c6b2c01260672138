//! Ops that are computed by `eval(..)`, on dynamic values.

use regraft_dialects::semantics::eval_scalar;
use regraft_ir::Constant;
use smallvec::SmallVec;

use super::context::EvalCx;
use crate::error::Trap;
use crate::value::Val;

/// Evaluates any pure op on scalars.
pub(super) fn scalar(cx: &mut EvalCx<'_>, args: &[Val]) -> Result<Val, Trap> {
    let constants: Option<SmallVec<[Constant; 3]>> = args.iter().map(scalar_constant).collect();
    let result = constants.and_then(|constants| eval_scalar(cx.def, &constants, cx.ty));
    match result {
        Some(result) => Ok(Val::constant(cx.ctx, result?)),
        None => Err(cx.wrong_types(args)),
    }
}

/// The constant that a scalar is.
pub(super) fn scalar_constant(value: &Val) -> Option<Constant> {
    Some(match *value {
        Val::Bool(x) => Constant::Bool(x),
        Val::I8(x) => Constant::I8(x),
        Val::I16(x) => Constant::I16(x),
        Val::I32(x) => Constant::I32(x),
        Val::I64(x) => Constant::I64(x),
        Val::F32(x) => Constant::F32(x.to_bits()),
        Val::F64(x) => Constant::F64(x.to_bits()),
        _ => return None,
    })
}
