//! Every op is known to the interpreter, and every op on scalars agrees with the semantics that
//! constant folding uses: in typed code, and in code that knows its operands as `any` only.

use std::sync::Arc;

use regraft_dialects::semantics::eval_scalar;
use regraft_dialects::{arith, cf, context, core, math, registry};
use regraft_exec::{Engine, EvalTable, Interpreter, Val, show_string};
use regraft_ir::{Constant, Context, Function, Inst, Module, Op, Type, TypeClass, TypePattern};

#[test]
fn every_op_has_a_row() {
    let table = EvalTable::standard();
    let missing: Vec<&str> =
        registry().ops().filter(|def| table.get(def).is_none()).map(|def| def.name).collect();
    assert!(missing.is_empty(), "no evaluation for {missing:?}");
}

const SCALARS: [Type; 7] =
    [Type::BOOL, Type::I8, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64];

fn samples(ty: Type) -> Vec<Constant> {
    let ints = [0, 1, -1, 2, -7, 31, 100, i64::MIN, i64::MAX];
    let floats =
        [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    match ty {
        Type::BOOL => vec![Constant::Bool(false), Constant::Bool(true)],
        ty if ty.is_int() => ints.iter().filter_map(|&x| Constant::int(ty, x)).collect(),
        ty => floats.iter().filter_map(|&x| Constant::float(ty, x)).collect(),
    }
}

/// A function that applies `op` to its parameters, if that is well-typed.
fn applied(
    ctx: &Arc<Context>,
    name: &str,
    op: Op,
    params: &[Type],
    result: Option<Type>,
) -> Option<(Function, Type)> {
    let mut f = Function::new(ctx, name, params, Type::ANY);
    let entry = f.entry().expect("there is one");
    let operands: Vec<_> = f.params(entry).collect();
    let mut inst = Inst::new(op).operands(operands);
    if let Some(ty) = result {
        inst = inst.with_type(ty);
    }
    let v = f.push(entry, inst).ok()?;
    let ty = f.ty(v);
    f.set_ret_type(ty);
    f.set_terminator(entry, cf::ret(v)).ok()?;
    Some((f, ty))
}

/// A result without the sign and payload of a NaN, which are up to the machine.
fn text(ctx: &Context, result: Result<Constant, String>) -> String {
    match result {
        Ok(Constant::F32(bits)) if f32::from_bits(bits).is_nan() => "NaN32".to_owned(),
        Ok(Constant::F64(bits)) if f64::from_bits(bits).is_nan() => "NaN".to_owned(),
        Ok(constant) => ctx.constant_text(constant),
        Err(error) => error,
    }
}

#[test]
fn ops_on_scalars_agree_with_the_semantics() {
    let ctx = context();
    let mut checked = 0;
    let defs = arith::DIALECT.ops.iter().chain(math::DIALECT.ops);
    let of_core =
        core::DIALECT.ops.iter().filter(|def| [core::SELECT, core::CONVERT].contains(&def.op));
    for def in defs.chain(of_core) {
        let declared = matches!(def.result, regraft_ir::ResultType::Declared);
        let results: Vec<Option<Type>> =
            if declared { SCALARS.map(Some).to_vec() } else { vec![None] };
        let class = def.type_vars.first().copied().unwrap_or(TypeClass::Scalar);
        for ty in SCALARS.into_iter().filter(|&ty| class.contains(ty)) {
            let params: Vec<Type> = def
                .operands
                .iter()
                .map(|operand| match operand.pattern {
                    TypePattern::Is(fixed) => fixed,
                    _ => ty,
                })
                .collect();
            for &result in &results {
                let Some((typed, result)) = applied(&ctx, "typed", def.op, &params, result) else {
                    continue;
                };
                let any = vec![Type::ANY; params.len()];
                let declared = declared.then_some(result);
                let (dynamic, _) =
                    applied(&ctx, "dynamic", def.op, &any, declared).expect("any is fine");
                let mut module = Module::new(&ctx);
                module.add(typed).expect("the name is free");
                module.add(dynamic).expect("the name is free");
                let mut engine = Interpreter::new(&module);
                for args in combinations(&params) {
                    let vals: Vec<Val> = args.iter().map(|&c| Val::constant(&ctx, c)).collect();
                    let want = eval_scalar(def, &args, result).expect("the semantics know it");
                    let want = text(&ctx, want.map_err(|trap| trap.to_string()));
                    for function in ["typed", "dynamic"] {
                        let have = engine.call(function, &vals);
                        let have = have.map_err(|error| error.message()).map(|value| {
                            value.as_constant(&ctx).unwrap_or_else(|| {
                                panic!("{} gives {}", def.name, show_string(&ctx, &value))
                            })
                        });
                        assert_eq!(text(&ctx, have), want, "{function} {} {vals:?}", def.name);
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

fn combinations(params: &[Type]) -> Vec<Vec<Constant>> {
    params.iter().fold(vec![Vec::new()], |lists, &ty| {
        lists
            .iter()
            .flat_map(|list| samples(ty).into_iter().map(move |x| [&list[..], &[x]].concat()))
            .collect()
    })
}
