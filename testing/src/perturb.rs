//! Programs and inputs whose floats are a little off.
//!
//! A pass that uses the algebra of real numbers gives about the same results only where the
//! program does not blow up small errors: `1e20 + x - 1e20` is anything. So where results differ,
//! the program before the pass is run once more with all its floats a little off: if that alone
//! makes as much of a difference, the comparison says nothing.

use regraft_exec::value::Val;
use regraft_ir::{Constant, Function, Module, Operand, Value};
use rustc_hash::FxHashSet;

/// By how much floats are changed, relatively: far more than rounding, far less than what counts
/// as a difference.
const BY: f64 = 1.0 / (1u64 << 34) as f64;

/// A module with every float constant a little off, alternately up and down.
pub(crate) fn perturbed(module: &Module) -> Module {
    let mut module = module.clone();
    for (_, f) in module.functions_mut() {
        perturb_function(f);
    }
    module
}

fn perturb_function(f: &mut Function) {
    let blocks: Vec<_> = f.blocks().collect();
    let mut up = false;
    for block in blocks {
        let insts: Vec<Value> = f.insts(block).collect();
        for v in insts {
            for index in 0..f.operand_count(v) {
                let constant = f.operand(v, index).and_then(Operand::as_const);
                let Some(constant) = constant.and_then(|c| float_near(f.ctx().constant(c), up))
                else {
                    continue;
                };
                up = !up;
                let constant = f.constant_id(constant);
                // An op may insist on a constant of its own; it keeps it then.
                let _ = f.set_operand(v, index, constant);
            }
        }
    }
}

fn float_near(constant: Constant, up: bool) -> Option<Constant> {
    let by = if up { 1.0 + BY } else { 1.0 - BY };
    match constant {
        Constant::F64(bits) => Some(Constant::from(f64::from_bits(bits) * by)),
        _ => None,
    }
}

/// Changes all floats in arguments, those in objects in place.
pub(crate) fn perturb_values(values: &mut [Val]) {
    let mut seen: FxHashSet<*const ()> = FxHashSet::default();
    for value in values {
        *value = near(value, &mut seen);
    }
}

/// The depth of the recursion is that of generated arguments, which is limited.
fn near(value: &Val, seen: &mut FxHashSet<*const ()>) -> Val {
    match value {
        &Val::F64(x) => Val::F64(x * (1.0 + BY)),
        Val::Tuple(fields) => {
            let items: Vec<Val> = fields.items().iter().map(|item| near(item, seen)).collect();
            Val::tuple(items)
        }
        Val::Array(array) => {
            if seen.insert(regraft_exec::value::Shared::as_ptr(array).cast()) {
                for i in 0..array.len() {
                    if let Some(item) = array.get(i) {
                        array.set(i, near(&item, seen));
                    }
                }
            }
            value.clone()
        }
        Val::Ref(cell) => {
            if seen.insert(regraft_exec::value::Shared::as_ptr(cell).cast()) {
                cell.set(near(&cell.get(), seen));
            }
            value.clone()
        }
        Val::Object(object) => {
            if seen.insert(regraft_exec::value::Shared::as_ptr(object).cast()) {
                for i in 0..object.len() {
                    if let Some(item) = object.get(i) {
                        object.set(i, near(&item, seen));
                    }
                }
            }
            value.clone()
        }
        other => other.clone(),
    }
}
