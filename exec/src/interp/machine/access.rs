//! Why an element or a field could not be reached.

use super::super::code::Reg;
use crate::error::{Trap, bounds_error};
use crate::value::Val;

/// Why an element of an array of the type that the code counts on could not be reached.
#[cold]
pub(super) fn access_error(value: &Val, indices: &[i64]) -> Trap {
    match value {
        Val::Array(array) => bounds_error(array, indices),
        _ => Trap::type_error("expected an array"),
    }
}

#[cold]
pub(super) fn field_error(index: Reg) -> Trap {
    Trap::type_error(format!("there is no field {} of the expected type", index + 1))
}
