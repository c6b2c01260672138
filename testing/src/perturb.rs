//! Programs that tell where the algebra of real numbers says nothing about them.
//!
//! A pass that uses that algebra gives about the same results only where the program does not blow
//! up small errors: `1e20 + x - 1e20` is anything. So where results differ, the program before the
//! pass is run once more with all its floats a little off: if that alone makes as much of a
//! difference, the comparison says nothing. It says nothing either where a float on the way is
//! infinite or NaN, even if no result is: a comparison of such a number decides a branch. The same is
//! true where the sign of a zero matters.

use regraft_dialects::{arith, core, math};
use regraft_exec::value::Val;
use regraft_ir::{Const, Constant, Function, IrResult, Module, Operand, Value};
use rustc_hash::FxHashSet;

/// By how much floats are changed, relatively: far more than rounding, far less than what counts
/// as a difference.
const BY: f64 = 1.0 / (1u64 << 34) as f64;

/// A number without a root, which no program is likely to take it of: the error tells that a check failed.
const UNREAL: f64 = -1_234_567.875;

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

/// A module that does the same as long as its floats are real numbers: it stops with an error where one
/// is infinite or NaN, and zeros that it computes have the other sign.
///
/// # Errors
/// Never: what is inserted fits everywhere.
pub(crate) fn of_real_numbers(module: &Module) -> IrResult<Module> {
    let mut module = module.clone();
    for (_, f) in module.functions_mut() {
        let blocks: Vec<_> = f.blocks().collect();
        for block in blocks {
            let values: Vec<Value> = f.params(block).chain(f.insts(block)).collect();
            for v in values {
                take_for_real(f, v)?;
            }
        }
    }
    Ok(module)
}

/// Checks a float, and those constants that an instruction has as operands.
fn take_for_real(f: &mut Function, v: Value) -> IrResult<()> {
    if !f.is_param(v) {
        let constants = (0..f.operand_count(v)).filter_map(|i| f.operand(v, i)?.as_const());
        let constants: Vec<Const> = constants.collect();
        for constant in constants {
            if f.ctx().constant_type(constant).is_float() {
                check(f, v, constant.into())?;
            }
        }
    }
    if v.is_terminator() || !f.ty(v).is_float() {
        return Ok(());
    }
    let next = if f.is_param(v) { f.insts(f.block_of(v)).next() } else { f.next_inst(v) };
    let Some(next) = next else { return Ok(()) };
    let zero = check(f, next, v.into())?;
    let is_zero = f.insert(next, arith::eq(v, zero))?;
    let negated = f.insert(next, arith::neg(v))?;
    let turned = f.insert(next, core::select(is_zero, negated, v))?;
    let own = [zero, is_zero, negated, turned];
    f.replace_uses_if(v, turned, |_, used| !own.contains(&used.user))
}

/// Stops before `at` if a float is infinite or NaN; otherwise returns zero.
fn check(f: &mut Function, at: Value, float: Operand) -> IrResult<Value> {
    // That is 0 or NaN.
    let zero = f.insert(at, arith::sub(float, float))?;
    let is_real = f.insert(at, arith::eq(zero, zero))?;
    if let Some(unreal) = Constant::float(f.ty(zero), UNREAL) {
        let unreal = f.constant_id(unreal);
        let outside = f.insert(at, core::select(is_real, zero, unreal))?;
        f.insert(at, math::sqrt(outside))?;
    }
    Ok(zero)
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

#[cfg(test)]
mod tests {
    use regraft_dialects::context;

    use crate::compare::{CompareConfig, compare_functions};

    /// Compares two bodies of a function of a float, as after a pass that takes floats for real numbers:
    /// whether they agree, and on how many inputs that can be told.
    fn compare(before: &str, after: &str) -> Option<u32> {
        let ctx = context();
        let module = |body: &str| {
            let text = format!("func @f(%x: f64) -> f64 {{\n{body}\n}}");
            regraft_syntax::parse_module(&ctx, "f", &text).unwrap()
        };
        let config = CompareConfig { inputs: 100, ..CompareConfig::default() }.fast(true);
        compare_functions(&module(before), &module(after), "f", &config).ok().map(|a| a.agreed())
    }

    const ONE: &str = "^1:\n return 1.0";

    #[test]
    fn a_nan_that_decides_a_branch_says_nothing() {
        let before = "^1:\n %y: f64 = arith.sub %x, %x\n %c: bool = arith.eq %y, %y\n br %c, ^2, ^3\n\
                      ^2:\n return 1.0\n^3:\n return 2.0";
        let agreed = compare(before, ONE);
        assert!(agreed.is_some_and(|agreed| (1..100).contains(&agreed)), "{agreed:?}");
    }

    #[test]
    fn an_infinite_constant_says_nothing() {
        let before =
            "^1:\n %c: bool = arith.lt %x, inf\n %y: f64 = core.select %c, 2.0, 1.0\n return %y";
        let agreed = compare(before, ONE);
        assert!(agreed.is_some_and(|agreed| agreed < 50), "{agreed:?}");
    }

    #[test]
    fn the_sign_of_a_zero_says_nothing() {
        let before = "^1:\n %y: f64 = arith.mul %x, 0.0\n %z: f64 = arith.abs %y\n \
                      %s: f64 = arith.copysign 1.0, %z\n return %s";
        let after = "^1:\n return -1.0";
        assert_eq!(compare(before, after), Some(0));
    }

    #[test]
    fn what_is_wrong_for_real_numbers_is_found() {
        let before = "^1:\n %y: f64 = arith.mul %x, %x\n return %y";
        assert_eq!(compare(before, "^1:\n %y: f64 = arith.mul %x, 2.0\n return %y"), None);
    }
}
