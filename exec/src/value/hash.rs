//! Hashes of values, without recursion: values can be nested a million deep.

use std::hash::{Hash, Hasher};

use regraft_dialects::semantics::scalar;
use rustc_hash::FxHasher;
use smallvec::{SmallVec, smallvec};

use super::Val;

/// The hash of a number, whatever its type.
fn number(value: &Val) -> Option<i64> {
    Some(match *value {
        Val::Bool(x) => scalar::hash(x),
        Val::I8(x) => scalar::hash(x),
        Val::I16(x) => scalar::hash(x),
        Val::I32(x) => scalar::hash(x),
        Val::I64(x) => scalar::hash(x),
        Val::F32(x) => scalar::hash(x),
        Val::F64(x) => scalar::hash(x),
        _ => return None,
    })
}

/// A number from 0 on that is the same for values that are [`egal`](super::egal), and for numbers
/// of the same value, whatever their types. O(size).
pub fn hash(value: &Val) -> i64 {
    if let Some(hash) = number(value) {
        return hash;
    }
    let mut state = FxHasher::default();
    let mut work: SmallVec<[&Val; 8]> = smallvec![value];
    while let Some(value) = work.pop() {
        match value {
            Val::Unit => 0u8.hash(&mut state),
            &Val::Sym(x) | &Val::Func(x) => x.hash(&mut state),
            &Val::Type(x) => x.hash(&mut state),
            Val::Str(x) => x.as_str().hash(&mut state),
            Val::Tuple(x) | Val::Named(x) | Val::Struct(x) => {
                x.items().len().hash(&mut state);
                work.extend(x.items());
            }
            value => match number(value) {
                Some(hash) => hash.hash(&mut state),
                None => value.address().hash(&mut state),
            },
        }
    }
    (scalar::mixed(state.finish()) >> 1).cast_signed()
}
