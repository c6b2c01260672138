//! Why an element or a field could not be reached.

use super::super::code::Reg;
use crate::error::Trap;
use crate::value::{Array, Val};

/// Why an element of an array of the type that the code counts on could not be reached.
#[cold]
pub(super) fn access_error(value: &Val, indices: &[i64]) -> Trap {
    match value {
        Val::Array(array) => bounds_error(array, indices),
        _ => Trap::type_error("expected an array"),
    }
}

/// The first index that is out of bounds.
#[cold]
pub(crate) fn bounds_error(array: &Array, indices: &[i64]) -> Trap {
    let trap = |index: i64, length: usize| {
        regraft_dialects::semantics::Trap::Bounds { index, length: length as i64 }.into()
    };
    match indices {
        &[index] => trap(index, array.len()),
        _ if indices.len() != usize::from(array.rank()) => Trap::new(
            "BoundsError",
            format!("{} indices for an array of rank {}", indices.len(), array.rank()),
        ),
        _ => {
            let dims = array.dims();
            let wrong =
                indices.iter().zip(&dims).find(|&(&i, &dim)| i < 1 || i as u64 > dim as u64);
            match wrong {
                Some((&index, &length)) => trap(index, length),
                None => Trap::type_error("the array has elements of another type"),
            }
        }
    }
}

#[cold]
pub(super) fn field_error(index: Reg) -> Trap {
    Trap::type_error(format!("there is no field {} of the expected type", index + 1))
}
