//! Declarations of ops, and the values that ops compute.

mod conversions;
mod declarations;
mod effects;
mod floats;
mod folds;
mod ints;
mod math;
mod verification;

use regraft_dialects::registry;
use regraft_dialects::semantics::{Trap, eval_scalar};
use regraft_ir::{Constant, Op, OpDef, Type};

/// The declaration of an op.
fn def(op: Op) -> &'static OpDef {
    registry().def(op).unwrap()
}

/// The value of an op that does not convert.
fn eval(op: Op, args: &[Constant]) -> Result<Constant, Trap> {
    eval_scalar(def(op), args, Type::ANY)
        .unwrap_or_else(|| panic!("{op:?} of {args:?} is not defined"))
}

/// The value of an op on floats.
fn eval_f64(op: Op, args: &[f64]) -> Result<f64, Trap> {
    let args: Vec<Constant> = args.iter().map(|&x| x.into()).collect();
    eval(op, &args).map(|result| result.as_float().expect("the op gives a float"))
}
