//! Products of a nest, by the loops that their factors depend on.
//!
//! Sums distribute over products of integers, whose ring they are, and of reals: `Σ a·b[i]` is
//! `a·Σ b[i]`, and `Σᵢⱼ a[i]·b[j]` is `Σᵢ a[i] · Σⱼ b[j]`.

use regraft_dialects::arith;
use regraft_ir::{Constant, Function, IrResult, Op, Operand, Type};

use super::emit::Emitter;
use super::slice::{Slice, Slices};
use crate::analysis::LoopId;

/// The most factors of a product that is taken apart.
const MAX_FACTORS: usize = 8;

/// An operand, with the loop that it is used in.
pub(super) type Factor = (Operand, LoopId);

/// The factors of an operand: itself, if it is no product that the nest computes.
pub(super) fn factors(
    f: &Function,
    slices: &Slices<'_>,
    operand: Operand,
    l: LoopId,
) -> Vec<Factor> {
    let mut found: Vec<Factor> = Vec::new();
    let mut pending: Vec<Factor> = vec![(operand, l)];
    while let Some((operand, l)) = pending.pop() {
        let product = operand.as_value().filter(|&v| {
            let block = f.block_of(v);
            f.op(v) == Some(arith::MUL)
                && slices.nest.contains(block)
                && slices.nest.forest.encloses(slices.nest.loop_of(block), l)
        });
        match product {
            Some(v) if found.len() + pending.len() + 2 <= MAX_FACTORS => {
                let home = slices.nest.loop_of(f.block_of(v));
                pending.extend(f.operands(v).map(|operand| (operand, home)));
            }
            _ => found.push((operand, l)),
        }
    }
    found
}

/// The slices of factors, together.
pub(super) fn slice_of(f: &Function, slices: &mut Slices<'_>, of: &[Factor]) -> Option<Slice> {
    let mut all = Slice::default();
    for &(operand, l) in of {
        all.join(&slices.of(f, operand, l)?);
    }
    Some(all)
}

/// Emits the product of at least one factor.
pub(super) fn product(
    f: &mut Function,
    emitter: &mut Emitter<'_>,
    of: &[Factor],
) -> IrResult<Option<Operand>> {
    let mut product: Option<Operand> = None;
    for &(operand, l) in of {
        let factor = emitter.emit(f, operand, l)?;
        product = Some(match product {
            Some(product) => f.push(emitter.block(), arith::mul(product, factor))?.into(),
            None => factor,
        });
    }
    Ok(product)
}

/// The operand with which an op gives the other one, if what is joined by it may be joined in any
/// order: that of integers, with `fast` that of floats as well.
pub(super) fn neutral(f: &Function, op: Op, ty: Type, fast: bool) -> Option<Operand> {
    let number = match op {
        arith::ADD => 0,
        arith::MUL => 1,
        _ => return None,
    };
    let constant = match ty {
        _ if ty.is_int() => Constant::int(ty, number)?,
        _ if !ty.is_float() || !fast => return None,
        // Adding -0.0 changes no number.
        _ if number == 0 => Constant::float(ty, -0.0)?,
        _ => Constant::float(ty, 1.0)?,
    };
    Some(f.constant_id(constant).into())
}
