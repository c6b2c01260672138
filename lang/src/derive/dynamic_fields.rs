//! Fields of values whose types are known only when the program runs, as calls.
//!
//! ```text
//! %3: any = data.getfield %1, :x    =>    %3: any = core.apply @getfield, %1, :x
//! ```
//!
//! Where the tangent of a field lies follows from the type of the whole. A call is resolved by the
//! running program, which knows it, and so is the derivative of a call.

use regraft_dialects::{core, data};
use regraft_ir::{Constant, Function, IrResult, Module, Operand, Type};

/// Rewrites all of them. O(size).
pub(super) fn dynamic_fields(module: &mut Module) -> IrResult<()> {
    for id in module.ids().to_vec() {
        if let Some(f) = module.get_mut(id) {
            in_function(f)?;
        }
    }
    Ok(())
}

fn in_function(f: &mut Function) -> IrResult<()> {
    let insts: Vec<_> = f.all_insts().collect();
    for v in insts {
        let name = match f.op(v) {
            Some(data::GETFIELD) => "getfield",
            Some(data::SETFIELD) => "setfield!",
            _ => continue,
        };
        let operands: Vec<Operand> = f.operands(v).collect();
        if f.operand_type(operands[0]) != Type::ANY {
            continue;
        }
        let callee = f.constant_id(Constant::Func(f.ctx().symbol(name)));
        let call = core::apply(callee, operands, Type::ANY).at(f.loc(v));
        if f.ty(v) == Type::ANY {
            f.replace(v, call)?;
        } else {
            f.insert(v, call)?;
            let unit = f.constant_id(Constant::Unit);
            f.replace_all_uses(v, unit)?;
            f.delete(v)?;
        }
    }
    Ok(())
}
