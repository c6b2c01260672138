//! The forms of elementary functions give what the ops give.

use std::collections::BTreeSet;

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{arith, context, math, mem};
use regraft_exec::vector_math::{Form, address, forms, ops, symbols};
use regraft_ir::{Constant, Type};

/// The value of an op, NaN where it traps.
fn value(op: regraft_ir::Op, args: &[f64]) -> f64 {
    let args: Vec<Constant> = args.iter().map(|&x| x.into()).collect();
    let result = eval_scalar(context().def(op), &args, Type::F64).expect("it is an op of floats");
    result.map_or(f64::NAN, |value| value.as_float().expect("its result is a float"))
}

#[test]
fn strips_are_what_the_ops_compute_and_report_where_they_trap() {
    let x: Vec<f64> = (-40..40)
        .map(|i| f64::from(i) * 0.37)
        .chain([f64::INFINITY, f64::NAN, -0.0, 1e9])
        .collect();
    let y: Vec<f64> = x.iter().rev().map(|x| x * 0.5).collect();
    let all = math::DIALECT.ops.iter().chain(arith::DIALECT.ops);
    let all = all.filter_map(|def| Some((def.op, mem::strip_function(def.op)?)));
    assert!(all.clone().count() > ops().count());
    for (op, forms) in all {
        let args: Vec<&[f64]> = [&x[..], &y].into_iter().take(forms.args).collect();
        let mut out = vec![0.0; x.len()];
        let outside = forms.map(&args, &mut out);
        let mut traps = false;
        for i in 0..x.len() {
            let args: Vec<f64> = args.iter().map(|arg| arg[i]).collect();
            let want = value(op, &args);
            traps |= forms.partial && want.is_nan() && !args.iter().any(|arg| arg.is_nan());
            assert!(
                out[i].to_bits() == want.to_bits() || out[i].is_nan() && want.is_nan(),
                "{} of {args:?}",
                forms.name
            );
        }
        assert_eq!(outside, traps, "{}", forms.name);
    }
}

#[test]
fn every_op_has_its_function_by_name_and_symbols_differ() {
    let ctx = context();
    for op in ops() {
        assert_eq!(forms(op).unwrap().name, ctx.def(op).name.trim_start_matches("math."));
        assert!(address(op, Form::Scalar).is_some() && address(op, Form::Lanes(3)).is_none());
    }
    let functions = regraft_math::Forms::all().iter().filter(|forms| forms.scalar().is_some());
    assert_eq!(ops().collect::<BTreeSet<_>>().len(), functions.count());
    let names: Vec<String> = symbols().map(|(name, _)| name).collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(address(math::GAMMA, Form::Scalar).is_none());
}
