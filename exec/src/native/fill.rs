//! Filling arrays.

use super::emitter::{Arg, Function, Touches};
use crate::value::refill;

/// `(elements, value, count)`: sets doubles.
pub(super) fn doubles() -> Function {
    Function {
        name: "regraft_fill",
        address: fill as *const u8,
        params: &[Arg::Ptr, Arg::Double, Arg::Int],
        result: None,
        touches: Touches::Arguments,
    }
}

extern "C" fn fill(elements: *mut f64, value: f64, count: i64) {
    // SAFETY: native code passes the elements of an array, and how many they are.
    refill(unsafe { std::slice::from_raw_parts_mut(elements, count as usize) }, value);
}
