//! Simplifies ops on scalars, exactly: bit for bit for every value, NaN, infinities and signed zeros
//! included, and with the same traps.
//!
//! Floats have few such identities. `x + 0.0` is not one, because `-0.0 + 0.0` is `0.0`; and
//! `x * 1.0` is not one, because it makes a signalling NaN quiet. Nor does anything fold to
//! a NaN that an op would make, because which NaN that is depends on the machine.

use smallvec::SmallVec;

use crate::ir::{Constant, Fold, InstView, Op, OpDef, Traits, Type};
use crate::semantics::eval_scalar;
use crate::{arith, core, math};

/// Folds an op on scalars.
pub(crate) fn scalar(view: &InstView<'_>) -> Option<Fold> {
    evaluate(view).or_else(|| identity(view))
}

/// The value of an op on constants.
fn evaluate(view: &InstView<'_>) -> Option<Fold> {
    let mut args: SmallVec<[Constant; 3]> = SmallVec::new();
    for i in 0..view.operands.len() {
        args.push(view.constant(i)?);
    }
    let result = eval_scalar(view.def, &args, view.ty)?.ok()?;
    let makes_nan = result.as_float().is_some_and(f64::is_nan) && !keeps_nan(view.def.op);
    (!makes_nan).then_some(Fold::Constant(result))
}

/// Returns whether the op moves bits without computing, so that a NaN stays the NaN that it is.
fn keeps_nan(op: Op) -> bool {
    matches!(op, arith::NEG | arith::ABS | arith::COPYSIGN | arith::BITCAST)
}

/// The least value of an integer type, or false.
fn least(ty: Type) -> Option<Constant> {
    match ty {
        Type::BOOL => Some(Constant::Bool(false)),
        _ => Constant::int(ty, i64::MIN >> (64 - ty.bits()?)),
    }
}

/// The greatest value of an integer type, or true.
fn greatest(ty: Type) -> Option<Constant> {
    match ty {
        Type::BOOL => Some(Constant::Bool(true)),
        _ => Constant::int(ty, !(i64::MIN >> (64 - ty.bits()?))),
    }
}

/// The integer that a constant stands for, with bools as 0 and -1 (all bits set).
fn bits_of(constant: Constant) -> Option<i64> {
    match constant {
        Constant::Bool(x) => Some(-i64::from(x)),
        other => other.as_int(),
    }
}

fn identity(view: &InstView<'_>) -> Option<Fold> {
    let op = view.def.op;
    if view.types.contains(&Type::ANY) {
        // Whether such an operand fits is found out, and may trap, when the program runs.
        return None;
    }
    match *view.operands {
        [_] => unary_identity(view),
        [x, y] => {
            let ty = view.types[0];
            if x == y
                && let Some(fold) = same_operands(op, ty)
            {
                return Some(fold);
            }
            match (view.constant(0), view.constant(1)) {
                (_, Some(c)) => constant_operand(view.def, ty, c, 0),
                (Some(c), _) => constant_operand(view.def, ty, c, 1),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Conversions of a value to its own type. (A `float_cast` is one too: nothing is rounded.)
fn unary_identity(view: &InstView<'_>) -> Option<Fold> {
    let converts = matches!(
        view.def.op,
        arith::WRAP
            | arith::SEXT
            | arith::ZEXT
            | arith::FLOAT_CAST
            | arith::BITCAST
            | core::CONVERT
    );
    (converts && view.types[0] == view.ty).then_some(Fold::Operand(0))
}

/// `x op x`.
fn same_operands(op: Op, ty: Type) -> Option<Fold> {
    let bits = ty.is_int() || ty == Type::BOOL;
    match op {
        // A NaN is neither less nor greater than itself.
        arith::LT | arith::GT if ty.is_scalar() => Some(Fold::Constant(Constant::Bool(false))),
        arith::EQ | arith::LE | arith::GE if bits => Some(Fold::Constant(Constant::Bool(true))),
        arith::NE if bits => Some(Fold::Constant(Constant::Bool(false))),
        arith::SUB | arith::CHECKED_SUB | arith::XOR if bits => {
            Constant::zero(ty).map(Fold::Constant)
        }
        arith::AND | arith::OR if bits => Some(Fold::Operand(0)),
        arith::MIN | arith::MAX if ty.is_int() => Some(Fold::Operand(0)),
        arith::COPYSIGN if ty.is_float() => Some(Fold::Operand(0)),
        _ => None,
    }
}

/// `x op c` with `x` at position 0, or `c op x` with `x` at position 1, for an integer or a bool `c`;
/// both are of type `ty` but for shifts and powers.
fn constant_operand(def: &OpDef, ty: Type, c: Constant, x: usize) -> Option<Fold> {
    let (op, other) = (def.op, Some(Fold::Operand(x)));
    let may_swap = x == 0 || def.traits.contains(Traits::COMMUTATIVE);
    if may_swap && def.identity.is_some_and(|identity| bits_of(c) == Some(identity)) {
        return other;
    }
    match (op, c, x) {
        (math::POWI, Constant::I64(0), 0) => return Constant::float(ty, 1.0).map(Fold::Constant),
        _ if ty.is_int() || ty == Type::BOOL => {}
        _ => return None,
    }
    let number = |n| Constant::int(ty, n).map(Fold::Constant);
    let bool = |b| Some(Fold::Constant(Constant::Bool(b)));
    let bits = ty.bits().map_or(1, i64::from);
    let (is_least, is_greatest) = (Some(c) == least(ty), Some(c) == greatest(ty));
    match (op, bits_of(c)?, x) {
        (arith::SHL | arith::SHR | arith::ASHR, 0, 1)
        | (arith::POWI, 1, 1)
        | (arith::MUL | arith::CHECKED_MUL | arith::AND, 0, _)
        | (arith::OR, -1, _) => Some(Fold::Constant(c)),
        (arith::REM | arith::MOD, 1 | -1, 0) => number(0),
        (arith::POWI, 0, 0) => number(1),
        (arith::SHL | arith::SHR, count, 0) if count >= bits => number(0),
        (arith::SHR | arith::ASHR, count, 0) if -count.max(-64) >= bits => number(0),
        (arith::LT, _, 0) | (arith::GT, _, 1) if is_least => bool(false),
        (arith::GE, _, 0) | (arith::LE, _, 1) if is_least => bool(true),
        (arith::GT, _, 0) | (arith::LT, _, 1) if is_greatest => bool(false),
        (arith::LE, _, 0) | (arith::GE, _, 1) if is_greatest => bool(true),
        (arith::EQ, ..) if c == Constant::Bool(true) => other,
        (arith::NE, ..) if c == Constant::Bool(false) => other,
        (arith::MIN, ..) if is_greatest => other,
        (arith::MAX, ..) if is_least => other,
        (arith::MIN, ..) if is_least => Some(Fold::Constant(c)),
        (arith::MAX, ..) if is_greatest => Some(Fold::Constant(c)),
        _ => None,
    }
}
