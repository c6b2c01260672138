//! The derivative rules of ops on floats: against differences, at kinks and edges, and as text.

use std::sync::Arc;

use regraft_ad::rules::{Product, ScalarRules};
use regraft_dialects::semantics::{Trap, eval_scalar};
use regraft_dialects::{arith, context, math as m, registry};
use regraft_ir::{Constant, Context, Op, Operand, Type};

mod differences;
mod edges;
mod text;

/// An argument of an op.
#[derive(Clone, Copy, Debug)]
enum Arg {
    Float(f64),
    Int(i64),
}

impl From<f64> for Arg {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<i64> for Arg {
    fn from(x: i64) -> Self {
        Self::Int(x)
    }
}

impl Arg {
    fn constant(self, ty: Type) -> Constant {
        match self {
            Self::Float(x) if ty == Type::F32 => Constant::from(x as f32),
            Self::Float(x) => Constant::from(x),
            Self::Int(x) => Constant::from(x),
        }
    }
}

fn float(constant: Constant) -> f64 {
    match constant {
        Constant::F64(bits) => f64::from_bits(bits),
        Constant::F32(bits) => f64::from(f32::from_bits(bits)),
        other => panic!("{other:?} is no float"),
    }
}

/// The value of an op.
fn value(op: Op, args: &[Arg], ty: Type) -> Result<f64, Trap> {
    let args: Vec<Constant> = args.iter().map(|arg| arg.constant(ty)).collect();
    eval_scalar(registry().def(op).unwrap(), &args, ty).expect("an op on scalars").map(float)
}

/// The way in which a product with a partial is to be computed.
#[derive(Clone, Copy, Debug)]
struct How {
    seed: f64,
    ty: Type,
    strong_zero: bool,
}

const PLAIN: How = How { seed: 1.0, ty: Type::F64, strong_zero: false };

/// `seed` times the partial by the operand at `position`, by running the instructions; and how
/// many there are.
fn run(
    ctx: &Arc<Context>,
    op: Op,
    position: usize,
    args: &[Arg],
    how: How,
) -> (Result<f64, Trap>, usize) {
    let How { seed, ty, strong_zero } = how;
    let rules = ScalarRules::standard();
    let partial = rules.get(op).unwrap().partial(position).unwrap();
    let constant = |c: Constant| Operand::from(ctx.constant_id(c));
    let args: Vec<Constant> = args.iter().map(|arg| arg.constant(ty)).collect();
    let operands: Vec<Operand> = args.iter().map(|&c| constant(c)).collect();
    let result = match eval_scalar(ctx.def(op), &args, ty).unwrap() {
        Ok(result) => constant(result),
        Err(_) => panic!("the op itself traps"),
    };
    let at = Product {
        seed: constant(Arg::Float(seed).constant(ty)),
        operands: &operands,
        result,
        ty,
        strong_zero,
    };
    let (mut trap, mut count) = (None, 0);
    let product = partial.product(ctx, &at, &mut |inst| {
        count += 1;
        let operand = |operand: &Operand| ctx.constant(operand.as_const().unwrap());
        let args: Vec<Constant> = inst.operand_list().iter().map(operand).collect();
        let def = ctx.def(inst.op());
        match eval_scalar(def, &args, inst.ty().unwrap_or(ty)).expect("an op on scalars") {
            Ok(result) => constant(result),
            Err(error) => {
                trap = Some(error);
                constant(Arg::Float(f64::NAN).constant(ty))
            }
        }
    });
    let product = product.map_or(0.0, |product| float(ctx.constant(product.as_const().unwrap())));
    (trap.map_or(Ok(product), Err), count)
}

/// The partial by the operand at `position`.
fn partial(op: Op, position: usize, args: &[Arg]) -> f64 {
    run(&context(), op, position, args, PLAIN).0.unwrap()
}

/// The value that a zero gives.
fn of_zero(op: Op, position: usize, args: &[Arg]) -> f64 {
    run(&context(), op, position, args, How { seed: 0.0, ..PLAIN }).0.unwrap()
}

fn args(xs: &[f64]) -> Vec<Arg> {
    xs.iter().map(|&x| Arg::Float(x)).collect()
}

/// Returns whether the second operand is an integer.
fn takes_order(op: Op) -> bool {
    matches!(op, m::POWI | m::POLYGAMMA)
}

/// Every op with a rule that gives an expression.
fn ops() -> Vec<(Op, &'static str, usize)> {
    let all = arith::DIALECT.ops.iter().chain(m::DIALECT.ops);
    all.filter(|def| ScalarRules::standard().get(def.op).is_some())
        .map(|def| (def.op, def.name, def.operands.len()))
        .collect()
}

/// Arguments for an op from floats: its integers are those floats that are whole.
fn arguments(op: Op, xs: &[f64]) -> Vec<Arg> {
    let mut args = args(xs);
    if takes_order(op) {
        args[1] = Arg::Int(xs[1] as i64);
    }
    args
}
