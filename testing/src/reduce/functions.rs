//! Edits of whole functions and their signatures.

use regraft_dialects::{cf, core};
use regraft_ir::{Block, FuncId, Function, Inst, Module, Operand, Symbol, Type, Value};

use super::{Suspect, replace_by_zero, zero};

/// Removes a function. What calls it gets a zero instead.
pub(super) fn remove(suspect: &mut Suspect, id: FuncId) -> Option<()> {
    let module = &mut suspect.module;
    let name = module.get(id)?.name();
    let text = module.get(id)?.name_str().to_owned();
    if suspect.entries.iter().any(|entry| entry.name == text) && suspect.entries.len() == 1 {
        return None;
    }
    for (_, f) in module.functions_mut() {
        for v in calls_of(f, name) {
            replace_by_zero(f, v)?;
            f.delete(v).ok()?;
        }
    }
    module.remove(id)?;
    suspect.entries.retain(|entry| entry.name != text);
    Some(())
}

/// The direct calls of a function.
fn calls_of(f: &Function, name: Symbol) -> Vec<Value> {
    let is_call = |&v: &Value| {
        f.op(v) == Some(core::CALL)
            && f.operand(v, 0).is_some_and(|callee| f.const_func(callee) == Some(name))
    };
    f.all_insts().filter(is_call).collect()
}

/// Removes a parameter of a function, and what is passed for it.
pub(super) fn remove_param(suspect: &mut Suspect, id: FuncId, index: usize) -> Option<()> {
    let f = suspect.module.get_mut(id)?;
    let param = f.param(f.entry()?, index)?;
    let (name, text) = (f.name(), f.name_str().to_owned());
    replace_by_zero(f, param)?;
    f.remove_param(param).ok()?;
    for (_, f) in suspect.module.functions_mut() {
        for v in calls_of(f, name) {
            let mut args: Vec<Operand> = f.operands(v).collect();
            if index + 1 >= args.len() {
                return None;
            }
            args.remove(index + 1);
            let inst =
                Inst::new(core::CALL).operands(args).with_type(f.ty(v)).with_attrs(f.attrs(v));
            f.replace(v, inst).ok()?;
        }
    }
    for entry in &mut suspect.entries {
        if entry.name == text {
            entry.params.remove(index);
        }
    }
    Some(())
}

/// The function returns nothing, or zero if somebody calls it.
pub(super) fn return_nothing(module: &mut Module, id: FuncId) -> Option<()> {
    let name = module.get(id)?.name();
    let called = module.functions().any(|f| !calls_of(f, name).is_empty());
    let f = module.get_mut(id)?;
    if !called {
        f.set_ret_type(Type::UNIT);
    }
    let constant = zero(f.ctx(), f.ret_type())?;
    let constant = f.constant_id(constant);
    let blocks: Vec<Block> = f.blocks().collect();
    for b in blocks {
        if f.terminator(b).and_then(|v| f.op(v)) == Some(cf::RETURN) {
            f.set_terminator(b, cf::ret(constant)).ok()?;
        }
    }
    Some(())
}
