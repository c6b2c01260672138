//! Reverse mode as two dynamos, after Zygote: `forward(f, args...)` has the code of `f` with each call replaced by one that
//! gives a pullback as well, and a pullback has code that calls those in reverse order.

use std::collections::HashMap;

use regraft::dialects::core::{CALL, apply, call, global};
use regraft::ir::{Diagnostic, IrResult};
use regraft::lang::world::{Code, DynamoCx, StaticValue};
use regraft::prelude::*;

/// The names that the dynamos need: the type of pullbacks, sums of cotangents of which some are `nothing`, and rules.
const LIBRARY: &str = include_str!("library.jl");

/// Gives a session `forward` and pullbacks.
///
/// # Errors
/// If these names stand for something else.
pub fn install(session: &mut Session) -> Result<(), Vec<Diagnostic>> {
    session.run("library.jl", LIBRARY)?;
    session.dynamo("forward(f, args...)", |cx, types| {
        let mut code = code_of(cx, types)?;
        forward(code.function_mut())?;
        Ok(code)
    })?;
    session.dynamo("(pullback::Pullback{S})(dy) where S", |cx, _| {
        let types = match cx.statics {
            &[StaticValue::Constant(Constant::Type(call))] => cx.world.types_of_tuple(call),
            _ => None,
        };
        let types = types.ok_or_else(|| vec![Diagnostic::error("a pullback is of a call")])?;
        let code = code_of(cx, &types)?;
        Ok(code.with_function(pullback(code.function())?))
    })
}

/// The code of a call without control flow.
fn code_of(cx: &mut DynamoCx<'_>, types: &[Type]) -> Result<Code, Vec<Diagnostic>> {
    let code = cx.lowered(types[0], &types[1..])?;
    let code = code.ok_or_else(|| vec![Diagnostic::error("a rule is missing")])?;
    match code.function().block_count() {
        1 => Ok(code),
        _ => Err(vec![Diagnostic::error("control flow is not supported")]),
    }
}

/// The calls in code, with callee and arguments.
fn calls(f: &Function) -> Vec<Value> {
    f.all_insts().filter(|&v| f.op(v) == Some(CALL)).collect()
}

/// Replaces calls by `forward`, and gives the value with a pullback that holds those of the calls.
fn forward(f: &mut Function) -> IrResult<()> {
    let ctx = f.ctx().clone();
    let function = |name: &str| Operand::from(ctx.constant_id(Constant::Func(ctx.symbol(name))));
    let (forward, part, tuple) = (function("forward"), function("getindex"), function("tuple"));
    let Some(entry) = f.entry() else { return Ok(()) };
    let all: Vec<Operand> = f.params(entry).map(Operand::from).collect();
    let mut pullbacks = vec![tuple];
    for v in calls(f) {
        let operands: Vec<Operand> = f.operands(v).collect();
        let name = operands[0].as_const().and_then(|callee| f.const_func(callee));
        let name = f.constant_id(Constant::Sym(name.unwrap_or_else(|| ctx.symbol("?"))));
        let callee = Operand::from(f.insert(v, global(name, Type::ANY))?);
        let args = std::iter::once(callee).chain(operands[1..].iter().copied());
        let both = Operand::from(f.insert(v, apply(forward, args, Type::ANY))?);
        f.replace(v, apply(part, [both, f.constant_id(1_i64).into()], Type::ANY))?;
        let back = apply(part, [both, f.constant_id(2_i64).into()], Type::ANY);
        pullbacks.push(f.insert_after(v, back)?.into());
    }
    let Some(result) = f.terminator(entry).and_then(|end| f.operand(end, 0)) else { return Ok(()) };
    let data = f.push(entry, apply(tuple, pullbacks.split_off(1), Type::ANY))?;
    let made = std::iter::once(data.into()).chain(all);
    let back = f.push(entry, apply(function("pullback_of"), made, Type::ANY))?;
    let both = f.push(entry, apply(tuple, [result, back.into()], Type::ANY))?;
    f.set_terminator(entry, cf::ret(both))
}

/// The code of the pullback of a function: the pullbacks of its calls in reverse order.
fn pullback(primal: &Function) -> IrResult<Function> {
    let ctx = primal.ctx().clone();
    let function = |name: &str| Operand::from(ctx.constant_id(Constant::Func(ctx.symbol(name))));
    let mut f = Function::new(&ctx, "pullback", &[Type::ANY; 2], Type::ANY);
    let (Some(entry), Some(from)) = (f.entry(), primal.entry()) else { return Ok(f) };
    let itself = f.param(entry, 0).map(Operand::from);
    let dy = f.param(entry, 1).map(Operand::from);
    let name = ctx.constant_id(Constant::Sym(ctx.symbol("data")));
    let data = call(
        ctx.constant_id(Constant::Func(ctx.symbol("getfield"))),
        itself.into_iter().chain([name.into()]),
        Type::ANY,
    );
    let data = f.push(entry, data)?;
    let mut grads: HashMap<Operand, Vec<Operand>> = HashMap::new();
    let result = primal.terminator(from).and_then(|end| primal.operand(end, 0));
    grads.extend(result.map(|result| (result, dy.into_iter().collect())));
    let sum = |f: &mut Function, grads: &HashMap<Operand, Vec<Operand>>, x: Operand| {
        let terms = grads.get(&x).cloned().unwrap_or_default();
        f.push(entry, apply(function("accumulated"), terms, Type::ANY)).map(Operand::from)
    };
    for (i, v) in calls(primal).into_iter().enumerate().rev() {
        let number = Operand::from(f.constant_id(i as i64 + 1));
        let back = f.push(entry, apply(function("getindex"), [data.into(), number], Type::ANY))?;
        let dv = sum(&mut f, &grads, v.into())?;
        let dxs = f.push(entry, apply(back, [dv], Type::ANY))?;
        for (j, x) in primal.operands(v).enumerate().filter(|(_, x)| x.as_value().is_some()) {
            let number = Operand::from(f.constant_id(j as i64 + 1));
            let dx = apply(function("getindex"), [dxs.into(), number], Type::ANY);
            let dx = f.push(entry, dx)?;
            grads.entry(x).or_default().push(dx.into());
        }
    }
    let params: Vec<Value> = primal.params(from).collect();
    let all: IrResult<Vec<Operand>> =
        params.into_iter().map(|param| sum(&mut f, &grads, param.into())).collect();
    let all = f.push(entry, apply(function("tuple"), all?, Type::ANY))?;
    f.set_terminator(entry, cf::ret(all))?;
    Ok(f)
}
