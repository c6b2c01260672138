//! Hashes of values, without recursion: values can be nested a million deep.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Val;

/// A number from 0 on that is the same for values that are [`egal`](super::egal), and for numbers
/// of the same value, whatever their types. O(size).
pub fn hash(value: &Val) -> i64 {
    let mut state = FxHasher::default();
    let mut work = vec![value.clone()];
    while let Some(value) = work.pop() {
        match &value {
            Val::Unit => 0u8.hash(&mut state),
            &Val::Bool(x) => i64::from(x).hash(&mut state),
            &Val::I8(x) => i64::from(x).hash(&mut state),
            &Val::I16(x) => i64::from(x).hash(&mut state),
            &Val::I32(x) => i64::from(x).hash(&mut state),
            &Val::I64(x) => x.hash(&mut state),
            &Val::F32(x) => float(f64::from(x), &mut state),
            &Val::F64(x) => float(x, &mut state),
            &Val::Sym(x) | &Val::Func(x) => x.hash(&mut state),
            &Val::Type(x) => x.hash(&mut state),
            Val::Str(x) => x.as_str().hash(&mut state),
            Val::Tuple(x) | Val::Named(x) | Val::Struct(x) => {
                x.items().len().hash(&mut state);
                work.extend(x.items().iter().cloned());
            }
            object => object.address().hash(&mut state),
        }
    }
    (mixed(state.finish()) >> 1).cast_signed()
}

/// A float that is a whole number as that number.
fn float(x: f64, state: &mut FxHasher) {
    let whole = x as i64;
    if whole as f64 == x && whole != i64::MAX && !(x == 0.0 && x.is_sign_negative()) {
        whole.hash(state);
    } else if x.is_nan() {
        f64::NAN.to_bits().hash(state);
    } else {
        x.to_bits().hash(state);
    }
}

/// A number all of whose bits depend on all bits of another (the finaliser of MurmurHash3).
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
