//! Functions of hash tables.

use regraft_dialects::semantics::scalar;

use super::emitter::{Arg, Function, Touches};
use crate::value::{Val, egal, hash, probe};

/// `(number)`: the hash of an integer or bool.
pub(super) fn hash_of_int() -> Function {
    function("regraft_hash_int", hash_int as *const u8, &[Arg::Int], Touches::Nothing)
}

extern "C" fn hash_int(x: i64) -> i64 {
    scalar::hash(x)
}

/// `(number)`: the hash of a double.
pub(super) fn hash_of_double() -> Function {
    function("regraft_hash_double", hash_double as *const u8, &[Arg::Double], Touches::Nothing)
}

extern "C" fn hash_double(x: f64) -> i64 {
    scalar::hash(x)
}

/// `(value)`: the hash of a value.
pub(super) fn hash_of_value() -> Function {
    function("regraft_hash", hash_value as *const u8, &[Arg::Ptr], Touches::Everything)
}

extern "C" fn hash_value(value: *const Val) -> i64 {
    // SAFETY: native code passes a register of its frame, or a constant.
    hash(unsafe { &*value })
}

/// `(value, other)`: 1 if two values are the same, else 0.
pub(super) fn are_same() -> Function {
    function("regraft_same", same as *const u8, &[Arg::Ptr, Arg::Ptr], Touches::Everything)
}

extern "C" fn same(x: *const Val, y: *const Val) -> i64 {
    // SAFETY: as above.
    unsafe { egal(&*x, &*y) }.into()
}

/// `(places, count, hash, after)`: the next entry of an index.
pub(super) fn next_entry() -> Function {
    function(
        "regraft_probe",
        find_next as *const u8,
        &[Arg::Ptr, Arg::Int, Arg::Int, Arg::Int],
        Touches::Arguments,
    )
}

extern "C" fn find_next(places: *const i32, count: i64, hash: i64, after: i64) -> i64 {
    // SAFETY: native code passes the elements of an array, and how many they are.
    probe(unsafe { std::slice::from_raw_parts(places, count as usize) }, hash, after)
}

/// A function whose result is an integer.
fn function(
    name: &'static str,
    address: *const u8,
    params: &'static [Arg],
    touches: Touches,
) -> Function {
    Function { name, address, params, result: Some(Arg::Int), touches }
}

/// All of them.
pub(super) fn all() -> [Function; 5] {
    [hash_of_int(), hash_of_double(), hash_of_value(), are_same(), next_entry()]
}
