//! Why an element or a field could not be reached.

use super::super::code::Reg;
use crate::error::{Trap, bounds_error};
use crate::value::{Texts, Val};

/// Why an element of an array of the type that the code counts on could not be reached.
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

/// A field of a value or an object; the content of a ref is field 0.
#[inline]
pub(super) fn field(value: &Val, index: usize) -> Option<Val> {
    match value {
        Val::Object(object) => object.get(index),
        Val::Ref(cell) => Some(cell.get()),
        other => other.as_fields()?.get(index).cloned(),
    }
}

/// Sets a field; `false` if there is none.
#[inline]
pub(super) fn set_field(object: &Val, index: usize, value: Val) -> bool {
    match object {
        Val::Object(object) => object.set(index, value),
        Val::Ref(cell) => {
            drop(cell.set(value));
            true
        }
        _ => false,
    }
}
