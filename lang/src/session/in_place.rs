//! Shadows that are made where they are wanted: in the slices that Rust passes for them.
//!
//! A gradient makes shadows, and copies them to their places at the end. If nothing but that copy touches a
//! place, and the shadow is done with it, the place is set to zero instead and is the shadow.
//!
//! # Why it is right
//! Slices that Rust lends are objects of their own, and what is lent to be written to overlaps with no other.
//! A shadow of an argument has its size, which the place has too: that is checked before the sweeps.
//!
//! # Cost
//! O(instructions) for each place.

use regraft_dialects::{ad, core, mem};
use regraft_ir::{Constant, Function, IrResult, Operand, Type, TypeKind, Value};
use rustc_hash::FxHashSet;

/// Makes one shadow at a time of those that are made together for several parameters.
fn split_shadows(f: &mut Function) -> IrResult<()> {
    let zeros: Vec<Value> = f.all_insts().filter(|&v| f.op(v) == Some(ad::ZERO)).collect();
    for zero in zeros {
        let Some(of) = f.operand(zero, 0).and_then(Operand::as_value) else { continue };
        let args: Vec<Operand> = f.operands(of).collect();
        let uses = f.uses_in_order(zero);
        let reads = |f: &Function| uses.iter().all(|at| f.op(at.user) == Some(core::GET));
        if f.op(of) != Some(core::TUPLE) || !are_distinct_params(f, &args) || !reads(f) {
            continue;
        }
        let mut parts = Vec::with_capacity(args.len());
        for &arg in &args {
            let ty = f.operand_type(arg);
            parts.push(f.insert(zero, ad::zero(arg, ty))?);
        }
        for at in uses {
            let index = f.operand(at.user, 1).and_then(|index| f.const_i64(index));
            let part = index.and_then(|index| parts.get(usize::try_from(index - 1).ok()?));
            if let Some(&part) = part {
                f.replace_all_uses(at.user, part)?;
                f.delete(at.user)?;
            }
        }
        if !f.is_used(zero) {
            f.delete(zero)?;
        }
    }
    Ok(())
}

/// Returns whether these are parameters of the function, arrays of floats, and none is there twice.
fn are_distinct_params(f: &Function, args: &[Operand]) -> bool {
    let params: FxHashSet<Value> = args.iter().filter_map(|arg| param(f, *arg)).collect();
    params.len() == args.len() && params.iter().all(|&param| float_element(f, param).is_some())
}

fn param(f: &Function, operand: Operand) -> Option<Value> {
    let entry = f.entry()?;
    operand.as_value().filter(|&v| f.params(entry).any(|param| param == v))
}

fn float_element(f: &Function, v: Value) -> Option<Type> {
    match *f.ctx().kind(f.ty(v)) {
        TypeKind::Array { element, .. } if element.is_float() => Some(element),
        _ => None,
    }
}

/// Makes the shadow of each argument in its place. Pairs are parameters of the function by position: an argument, and the
/// place for the derivative by it.
///
/// # Errors
/// If the function is not right.
pub(super) fn make_in_place(f: &mut Function, pairs: &[(usize, usize)]) -> IrResult<()> {
    split_shadows(f)?;
    let Some(entry) = f.entry() else { return Ok(()) };
    for &(arg, place) in pairs {
        let (Some(arg), Some(place)) = (f.param(entry, arg), f.param(entry, place)) else {
            continue;
        };
        let Some(element) = float_element(f, place) else { continue };
        let Some((shadow, copy)) = shadow_of(f, arg, place) else { continue };
        let Some(zero) = Constant::float(element, 0.0) else { continue };
        let zero = f.constant_id(zero);
        f.insert(shadow, mem::fill_in_place(place, zero))?;
        f.delete(copy)?;
        f.replace_all_uses(shadow, place)?;
        f.delete(shadow)?;
    }
    Ok(())
}

/// The shadow that is copied to a place as the last thing that happens to it, and the copy.
fn shadow_of(f: &Function, arg: Value, place: Value) -> Option<(Value, Value)> {
    let is_size = |at: Value| matches!(f.op(at), Some(mem::LENGTH | mem::SIZE | mem::SHAPE));
    let mut touching = f.uses(place).map(|at| at.user).filter(|&user| !is_size(user));
    let copy = touching.next()?;
    let [_, shadow] = f.matches::<2>(copy, mem::COPYTO).filter(|_| touching.next().is_none())?;
    let shadow = shadow.as_value().filter(|&v| f.ty(v) == f.ty(place))?;
    let [of] = f.matches::<1>(shadow, ad::ZERO)?;
    let done = f.block_of(copy);
    let is_over = f.successors(done).next().is_none()
        && f.uses(shadow).all(|at| {
            at.user == copy || f.block_of(at.user) != done || f.comes_before(at.user, copy)
        });
    (of == Operand::from(arg) && is_over && !is_in_cycle(f, shadow)).then_some((shadow, copy))
}

/// Returns whether an instruction may run more than once.
fn is_in_cycle(f: &Function, v: Value) -> bool {
    let start = f.block_of(v);
    let (mut pending, mut seen) = (vec![start], FxHashSet::default());
    while let Some(block) = pending.pop() {
        for next in f.successors(block) {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                pending.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a function of an argument `%x` and its place `%dx` after the change.
    fn changed(body: &str) -> String {
        let text = format!(
            "func @f(%x: array<f64, 1>, %y: array<f64, 1>, %dx: array<f64, 1>, %dy: array<f64, 1>) -> f64 {{\n\
             ^1:\n{body}  return 1.0\n}}"
        );
        let ctx = regraft_dialects::context();
        let module = regraft_syntax::parse_module(&ctx, "f.ir", &text).expect("it is right");
        let mut f = module.functions().next().expect("there is one").clone();
        make_in_place(&mut f, &[(0, 2), (1, 3)]).expect("it is right");
        f.to_string()
    }

    #[test]
    fn a_shadow_is_made_in_its_place() {
        let text = changed(
            "  %1: array<f64, 1> = ad.zero %x\n  mem.store %1, 3.0, 1\n  mem.copyto %dx, %1\n",
        );
        assert!(text.contains("mem.fill_in_place %dx, 0.0"), "{text}");
        assert!(text.contains("mem.store %dx, 3.0, 1"), "{text}");
        assert!(!text.contains("copyto") && !text.contains("ad.zero"), "{text}");
    }

    #[test]
    fn shadows_of_two_arguments_are_two() {
        let text = changed(
            "  %1: tuple<array<f64, 1>, array<f64, 1>> = core.tuple %x, %y\n  \
             %2: tuple<array<f64, 1>, array<f64, 1>> = ad.zero %1\n  \
             %3: array<f64, 1> = core.get %2, 1\n  %4: array<f64, 1> = core.get %2, 2\n  \
             mem.store %4, 3.0, 1\n  mem.copyto %dx, %3\n  mem.copyto %dy, %4\n",
        );
        assert!(text.contains("mem.fill_in_place %dx, 0.0"), "{text}");
        assert!(text.contains("mem.store %dy, 3.0, 1"), "{text}");
        assert!(!text.contains("ad.zero"), "{text}");
    }

    #[test]
    fn a_shadow_stays_where_its_place_is_more() {
        let stays = |body: &str| {
            let text = changed(body);
            assert!(text.contains("mem.copyto") && text.contains("ad.zero"), "{text}");
        };
        // The place is read before.
        stays(
            "  %1: array<f64, 1> = ad.zero %x\n  %2: f64 = mem.load %dx, 1\n  mem.store %1, %2, 1\n  mem.copyto %dx, %1\n",
        );
        // The shadow is changed afterwards.
        stays("  %1: array<f64, 1> = ad.zero %x\n  mem.copyto %dx, %1\n  mem.store %1, 3.0, 1\n");
        // It is that of another argument, which may have another size.
        stays("  %1: array<f64, 1> = ad.zero %y\n  mem.copyto %dx, %1\n");
    }
}
