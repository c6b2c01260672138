//! Functions of hash tables.

use regraft_dialects::semantics::scalar;

use super::emitter::{Arg, Function, Touches};
use crate::value::{Val, egal, hash, probe};

/// `(number)`: the hash of an integer or bool.
pub(super) fn hash_of_int() -> Function {
    Function {
        name: "regraft_hash_int",
        address: hash_int as *const u8,
        params: &[Arg::Int],
        result: Some(Arg::Int),
        touches: Touches::Nothing,
    }
}

extern "C" fn hash_int(x: i64) -> i64 {
    scalar::hash(x)
}

/// `(number)`: the hash of a double.
pub(super) fn hash_of_double() -> Function {
    Function {
        name: "regraft_hash_double",
        address: hash_double as *const u8,
        params: &[Arg::Double],
        result: Some(Arg::Int),
        touches: Touches::Nothing,
    }
}

extern "C" fn hash_double(x: f64) -> i64 {
    scalar::hash(x)
}

/// `(value)`: the hash of a value.
pub(super) fn hash_of_value() -> Function {
    Function {
        name: "regraft_hash",
        address: hash_value as *const u8,
        params: &[Arg::Ptr],
        result: Some(Arg::Int),
        touches: Touches::Everything,
    }
}

extern "C" fn hash_value(value: *const Val) -> i64 {
    // SAFETY: native code passes a register of its frame, or a constant.
    hash(unsafe { &*value })
}

/// `(value, other)`: 1 if two values are the same, else 0.
pub(super) fn are_same() -> Function {
    Function {
        name: "regraft_same",
        address: same as *const u8,
        params: &[Arg::Ptr, Arg::Ptr],
        result: Some(Arg::Int),
        touches: Touches::Everything,
    }
}

extern "C" fn same(x: *const Val, y: *const Val) -> i64 {
    // SAFETY: as above.
    unsafe { egal(&*x, &*y) }.into()
}

/// `(places, count, hash, after)`: the next entry of an index.
pub(super) fn next_entry() -> Function {
    Function {
        name: "regraft_probe",
        address: find_next as *const u8,
        params: &[Arg::Ptr, Arg::Int, Arg::Int, Arg::Int],
        result: Some(Arg::Int),
        touches: Touches::Arguments,
    }
}

extern "C" fn find_next(places: *const i32, count: i64, hash: i64, after: i64) -> i64 {
    // SAFETY: native code passes the elements of an array, and how many they are.
    probe(unsafe { std::slice::from_raw_parts(places, count as usize) }, hash, after)
}

/// All of them.
pub(super) fn all() -> [Function; 5] {
    [hash_of_int(), hash_of_double(), hash_of_value(), are_same(), next_entry()]
}
