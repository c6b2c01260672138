//! Ops of one's own, from their declaration to their derivatives: try `cargo run -p own-dialect --
//! grad examples/own-dialect/own.jl 'loss([1.0, 2.0], 0.5)'`, or `-- fuzz --ad --ops 'own.*'`.

use std::sync::Arc;

use regraft::ad::{AdjointCx, DerivativeTable, OpDerivative, TangentCx};
use regraft::exec::value::Array;
use regraft::exec::{EvalCx, EvalTable, Trap, Val};
use regraft::ir::{Effects, Extensions, InstView, OperandSet};
use regraft::lang::StartUp;
use regraft::passes::analysis::printable::Printable;
use regraft::passes::rewrite::RewriteRules;
use regraft::prelude::*;

const READS: Effects =
    Effects { reads: OperandSet::ALL, reads_shape: OperandSet::ALL, ..Effects::NONE };
const ADDS: Effects = Effects { writes: OperandSet::one(2), ..READS };

regraft::dialects::dialect! {
    /// Products of vectors, and a smooth maximum of 0 and x.
    dialect own = 40;

    /// `log(1 + exp(x))`.
    SOFTPLUS = softplus(x: f64) -> f64 [PURE] eval(softplus_of);

    /// The sum of the products of the elements of two vectors. Traps if their lengths differ.
    DOT = dot(x: [T], y: [T]) -> T where T: Float [MAY_TRAP] {
        effects: READS, verify: Some(verify_doubles),
    };

    /// Adds `a * x` to the vector `y`. Traps if their lengths differ.
    AXPY = axpy(a: T, x: [T], y: [T]) -> unit where T: Float [MAY_TRAP] {
        effects: ADDS, verify: Some(verify_doubles),
    };
}

/// Everything that Regraft knows, and all that there is to know of these ops.
pub fn extensions() -> Extensions {
    let mut all = regraft::ad::extensions();
    all.add_dialect(&DIALECT);

    let eval: &mut EvalTable = all.edit();
    eval.register(DOT, |cx, args| {
        let (x, y) = vectors(cx, args, [0, 1])?;
        Ok(Val::F64(x.iter().zip(&y).map(|(x, y)| x * y).sum()))
    });
    eval.register(AXPY, |cx, args| {
        let ((x, y), [Val::F64(a), _, Val::Array(target)]) = (vectors(cx, args, [1, 2])?, args)
        else {
            return Err(cx.wrong_types(args));
        };
        (0..x.len()).for_each(|i| _ = target.set(i, Val::F64(y[i] + a * x[i])));
        Ok(Val::Unit)
    });

    let ops = Arc::clone(all.ops());
    let derivatives: &mut DerivativeTable = all.edit();
    let rule = "d own.softplus(x) = 1 / (1 + exp(-x))";
    derivatives.add_rules(&ops, "own.rules", rule).expect("the rule is right");
    derivatives.add(DOT, OpDerivative::new(dot_tangent, dot_adjoint).reads(&[0, 1]));
    derivatives.add(AXPY, OpDerivative::new(axpy_tangent, axpy_adjoint).reads(&[1]));

    let rules = include_str!("../own.rules");
    all.edit::<RewriteRules>().add(&ops, "own.rules", rules).expect("the rules are right");

    let doc = "how many instructions are of the dialect own";
    let printable = Printable { name: "own-ops", doc, describe: count_ops };
    all.edit::<PassRegistry>().add_printable(printable);

    all.edit::<StartUp>().file("prelude/own.jl", include_str!("prelude.jl"));
    all
}

fn softplus_of(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn verify_doubles(at: &InstView<'_>) -> Result<(), String> {
    let single = at.types.contains(&at.ctx.array_type(Type::F32, 1));
    if single { Err("takes vectors of f64".to_owned()) } else { Ok(()) }
}

/// The elements of two vectors of one length.
fn vectors(cx: &EvalCx<'_>, args: &[Val], at: [usize; 2]) -> Result<(Vec<f64>, Vec<f64>), Trap> {
    let [x, y] = at.map(|i| args[i].as_array().and_then(Array::to_vec::<f64>));
    match (x, y) {
        (Some(x), Some(y)) if x.len() == y.len() => Ok((x, y)),
        (Some(_), Some(_)) => Err(Trap::new("DimensionMismatch", "vectors of different lengths")),
        _ => Err(cx.wrong_types(args)),
    }
}

fn dot_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let (x, y) = (cx.operand(0), cx.operand(1));
    let by_x = cx.tangent(0).map(|dx| cx.emit(dot(dx, y)));
    let by_y = cx.tangent(1).map(|dy| cx.emit(dot(x, dy)));
    by_x.into_iter().chain(by_y).reduce(|a, b| cx.emit(arith::add(a, b)))
}

fn dot_adjoint(cx: &mut dyn AdjointCx) {
    let Some(c) = cx.cotangent() else { return };
    for (at, other) in [(0, 1), (1, 0)] {
        let other = cx.operand(other);
        if let Some(shadow) = cx.shadow(at) {
            cx.emit(axpy(c, other, shadow));
        }
    }
}

fn axpy_tangent(cx: &mut dyn TangentCx) -> Option<Operand> {
    let (a, x, dy) = (cx.operand(0), cx.operand(1), cx.tangent(2)?);
    // First the one that reads a shadow: x and y may be one object.
    let by_x = cx.tangent(1).map(|dx| axpy(a, dx, dy));
    let by_a = cx.tangent(0).map(|da| axpy(da, x, dy));
    by_x.into_iter().chain(by_a).for_each(|inst| _ = cx.emit(inst));
    None
}

fn axpy_adjoint(cx: &mut dyn AdjointCx) {
    let Some(dy) = cx.shadow(2) else { return };
    if cx.is_active(0) {
        let x = cx.operand(1);
        let da = cx.emit(dot(x, dy));
        cx.accumulate(0, da);
    }
    if let Some(dx) = cx.shadow(1) {
        let a = cx.operand(0);
        cx.emit(axpy(a, dy, dx));
    }
}

fn count_ops(f: &Function, _: &mut PassContext<'_>) -> String {
    let own = f.all_insts().filter(|&v| f.op_def(v).is_some_and(|def| def.dialect_name() == "own"));
    format!("{} of {}\n", own.count(), f.all_insts().count())
}
