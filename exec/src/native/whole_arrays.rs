//! Functions that work on whole arrays of doubles.

use super::emitter::{Arg, Function, Touches};
use crate::value::{Val, product, refill};

/// `(elements, value, count)`: sets doubles.
pub(super) fn fill() -> Function {
    Function {
        name: "regraft_fill",
        address: set_all as *const u8,
        params: &[Arg::Ptr, Arg::Double, Arg::Int],
        result: None,
        touches: Touches::Arguments,
    }
}

extern "C" fn set_all(elements: *mut f64, value: f64, count: i64) {
    // SAFETY: native code passes the elements of an array, and how many they are.
    refill(unsafe { std::slice::from_raw_parts_mut(elements, count as usize) }, value);
}

/// `(dest, a, b, turned_a, turned_b, adds)`: writes the product of two arrays of doubles in registers, or adds it. Gives 1 if their sizes fit;
/// otherwise nothing is written.
pub(super) fn product() -> Function {
    Function {
        name: "regraft_product",
        address: multiply as *const u8,
        params: &[Arg::Ptr, Arg::Ptr, Arg::Ptr, Arg::Int, Arg::Int, Arg::Int],
        result: Some(Arg::Int),
        touches: Touches::Everything,
    }
}

extern "C" fn multiply(
    dest: *const Val,
    a: *const Val,
    b: *const Val,
    turned_a: i64,
    turned_b: i64,
    adds: i64,
) -> i64 {
    // SAFETY: native code passes registers of its frame.
    let [Val::Array(dest), Val::Array(a), Val::Array(b)] = (unsafe { [&*dest, &*a, &*b] }) else {
        return 0;
    };
    let turned = (turned_a != 0, turned_b != 0);
    product::multiply::<f64>([&**dest, &**a, &**b], turned, adds != 0).is_some().into()
}
