//! Lowered code with a parameter for each argument: what a method packs is packed within.
//!
//! ```text
//! func @f(%x, %rest)            func @f(%callee, %x, %1, %2)
//! ^1:                     =>    ^1:
//!   …                             %rest = core.apply @tuple, %1, %2
//! ```

use regraft_dialects::core;
use regraft_ir::{Constant, Context, Function, IrResult, Operand, Type, TypeKind, Value};

use super::tables::Method;

/// The lowered code of a method with a parameter for each of `count` arguments, and so many before
/// them, of which the callee is the last one if the method takes it. O(size).
pub(super) fn flatten(
    method: &Method,
    body: &Function,
    count: usize,
    before: usize,
) -> IrResult<Function> {
    let mut function = body.clone();
    let takes_callee = usize::from(method.takes_callee);
    let Some(entry) = function.entry().filter(|_| before > takes_callee || method.vararg) else {
        return Ok(function);
    };
    let old: Vec<Value> = function.params(entry).collect();
    for _ in takes_callee..before {
        function.append_param(entry, Type::ANY)?;
    }
    let fixed = method.params - usize::from(method.vararg) + takes_callee;
    for &param in &old[..fixed.min(old.len())] {
        let new = function.append_param(entry, Type::ANY)?;
        function.replace_all_uses(param, new)?;
    }
    if let (true, Some(&rest)) = (method.vararg, old.get(fixed)) {
        let args = (method.params - 1..count)
            .map(|_| function.append_param(entry, Type::ANY))
            .collect::<IrResult<Vec<Value>>>()?;
        let tuple =
            Operand::from(function.constant_id(Constant::Func(function.ctx().symbol("tuple"))));
        let packed = function.push_front(entry, core::apply(tuple, args, Type::ANY))?;
        function.replace_all_uses(rest, packed)?;
    }
    for &param in &old {
        function.remove_param(param)?;
    }
    Ok(function)
}

/// Returns whether code can be shown of a callee of that type: ops have none.
pub(super) fn is_op(ctx: &Context, callee: Type) -> bool {
    match *ctx.kind(callee) {
        TypeKind::Fn(name) => ctx.registry().find(ctx.str(name)).is_some(),
        _ => false,
    }
}
