//! Elements and fields, and why one could not be reached.

use super::super::register::{Reg, Scalar};
use crate::error::{Trap, bounds_error};
use crate::value::{Array, Storage, Texts, Val};

/// The reason why an element of an array of the type that the code counts on could not be reached.
#[cold]
pub(super) fn access_error(texts: Texts<'_>, value: &Val, indices: &[i64]) -> Trap {
    match value {
        Val::Array(array) => bounds_error(texts, array, indices),
        _ => Trap::type_error("expected an array"),
    }
}

#[cold]
pub(super) fn field_error(index: Reg) -> Trap {
    Trap::type_error(format!("there is no field {} of the expected type", index + 1))
}

/// The place of a field of a value or an object; the content of a ref is field 0.
#[inline(always)]
pub(super) fn place(value: &Val, index: usize) -> Option<*const Val> {
    Some(match value {
        Val::Object(object) => object.place(index)?.as_ptr(),
        Val::Ref(cell) => cell.place().as_ptr(),
        other => other.as_fields()?.get(index)?,
    })
}

/// A field of a value or an object; the content of a ref is field 0.
#[allow(unsafe_code)]
pub(super) fn field(value: &Val, index: usize) -> Option<Val> {
    // SAFETY: the value holds it, and to copy it changes no field.
    place(value, index).map(|place| unsafe { (*place).clone() })
}

/// Sets a field; `false` if there is none.
#[inline]
pub(super) fn set_field(object: &Val, index: usize, value: Val) -> bool {
    match object {
        Val::Object(object) => object.set(index, value),
        Val::Ref(cell) => {
            cell.set(value).discard();
            true
        }
        _ => false,
    }
}

/// The position in memory that an index, from 1, stands for.
#[inline(always)]
pub(super) fn position(index: u64) -> usize {
    index.wrapping_sub(1) as usize
}

/// The slot of an element, from 0; `None` if there is none, or none of that type.
#[inline]
pub(super) fn load_slot(array: &Array, at: usize, ty: Scalar) -> Option<u64> {
    match (array.storage(), ty) {
        (Storage::Bool(items), Scalar::Bool) => items.get(at).map(u64::from),
        (Storage::I8(items), Scalar::I8) => items.get(at).map(|x| x as u64),
        (Storage::I16(items), Scalar::I16) => items.get(at).map(|x| x as u64),
        (Storage::I32(items), Scalar::I32) => items.get(at).map(|x| x as u64),
        (Storage::I64(items), Scalar::I64) => items.get(at).map(|x| x as u64),
        (Storage::F32(items), Scalar::F32) => items.get(at).map(|x| x.to_bits().into()),
        (Storage::F64(items), Scalar::F64) => items.get(at).map(f64::to_bits),
        _ => None,
    }
}

/// Sets an element, from 0; `false` if there is none, or none of that type.
#[inline]
pub(super) fn store_slot(array: &Array, at: usize, ty: Scalar, slot: u64) -> bool {
    match (array.storage(), ty) {
        (Storage::Bool(items), Scalar::Bool) => items.set(at, slot != 0),
        (Storage::I8(items), Scalar::I8) => items.set(at, slot as i8),
        (Storage::I16(items), Scalar::I16) => items.set(at, slot as i16),
        (Storage::I32(items), Scalar::I32) => items.set(at, slot as i32),
        (Storage::I64(items), Scalar::I64) => items.set(at, slot as i64),
        (Storage::F32(items), Scalar::F32) => items.set(at, f32::from_bits(slot as u32)),
        (Storage::F64(items), Scalar::F64) => items.set(at, f64::from_bits(slot)),
        _ => false,
    }
}
