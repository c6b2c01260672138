//! The value of one op on constants.

use super::{Scalar, Trap};
use crate::ir::{Constant, OpDef, Type};

/// Returns the value of an op on scalars, or the trap that it ends in. `ty` is the type of the
/// result; it matters to conversions alone.
///
/// `None` if the declaration of the op has no `eval`, or none for operands of these types and this
/// number.
pub fn eval_scalar(def: &OpDef, args: &[Constant], ty: Type) -> Option<Result<Constant, Trap>> {
    let (mut types, mut slots) = ([Type::UNIT; 3], [0; 3]);
    let types = types.get_mut(..args.len())?;
    for (i, &arg) in args.iter().enumerate() {
        (types[i], slots[i]) = to_slot(arg)?;
    }
    let function = (def.eval?)(types, ty)?;
    let [x, y, z] = slots;
    (function.call)(x, y, z).map(|slot| from_slot(function.result, slot)).transpose()
}

/// The type and the slot of a constant; `None` if it is no scalar.
pub fn to_slot(constant: Constant) -> Option<(Type, u64)> {
    fn of<T: Scalar>(x: T) -> Option<(Type, u64)> {
        Some((T::TYPE, x.slot()))
    }
    match constant {
        Constant::Bool(x) => of(x),
        Constant::I8(x) => of(x),
        Constant::I16(x) => of(x),
        Constant::I32(x) => of(x),
        Constant::I64(x) => of(x),
        Constant::F32(bits) => of(f32::from_bits(bits)),
        Constant::F64(bits) => of(f64::from_bits(bits)),
        _ => None,
    }
}

/// The scalar in a slot; `None` if `ty` is no scalar type.
pub fn from_slot(ty: Type, slot: u64) -> Option<Constant> {
    match ty {
        Type::BOOL => Some(Constant::Bool(slot != 0)),
        Type::F32 => Some(Constant::F32(slot as u32)),
        Type::F64 => Some(Constant::F64(slot)),
        _ => Constant::int(ty, slot as i64),
    }
}
