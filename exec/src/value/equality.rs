//! Equality of values, without recursion: values can be nested a million deep.

use rustc_hash::FxHashSet;

use super::{Array, Buffer, Storage, Val};

/// `a === b`: whether no program could tell the two apart. Scalars are compared bit for bit (so
/// `NaN` equals itself and `0.0` differs from `-0.0`), strings, tuples and immutable structs by
/// content, objects by identity. O(size).
pub fn egal(a: &Val, b: &Val) -> bool {
    let flat = leaves(a, b).or_else(|| match (a, b) {
        (Val::Tuple(x), Val::Tuple(y))
        | (Val::Named(x), Val::Named(y))
        | (Val::Struct(x), Val::Struct(y))
            if x.ty == y.ty && x.items.len() == y.items.len() =>
        {
            let mut pairs = x.items.iter().zip(&*y.items);
            pairs.try_fold(true, |same, (x, y)| Some(leaves(x, y)? && same))
        }
        _ => None,
    });
    flat.unwrap_or_else(|| compare(a, b, false))
}

/// Returns whether two values that have no parts are the same; `None` if both are of a kind that may have some.
#[inline]
fn leaves(a: &Val, b: &Val) -> Option<bool> {
    Some(match (a, b) {
        (Val::Unit, Val::Unit) => true,
        (Val::Bool(a), Val::Bool(b)) => a == b,
        (Val::I8(a), Val::I8(b)) => a == b,
        (Val::I16(a), Val::I16(b)) => a == b,
        (Val::I32(a), Val::I32(b)) => a == b,
        (Val::I64(a), Val::I64(b)) => a == b,
        (Val::F32(a), Val::F32(b)) => a.to_bits() == b.to_bits(),
        (Val::F64(a), Val::F64(b)) => a.to_bits() == b.to_bits(),
        (Val::Sym(a), Val::Sym(b)) | (Val::Func(a), Val::Func(b)) => a == b,
        (Val::Type(a), Val::Type(b)) => a == b,
        (Val::Str(a), Val::Str(b)) => a.as_str() == b.as_str(),
        (a, b) if std::mem::discriminant(a) != std::mem::discriminant(b) => false,
        _ => return None,
    })
}

/// Returns whether two values have the same content: as [`egal`], but arrays, refs and mutable
/// structs are compared by what they hold. Cyclic ones are the same if they unfold to the same.
/// O(size).
pub fn same(a: &Val, b: &Val) -> bool {
    compare(a, b, true)
}

fn compare(a: &Val, b: &Val, through_objects: bool) -> bool {
    let mut work: Vec<(Val, Val)> = Vec::new();
    let mut seen: FxHashSet<(*const (), *const ())> = FxHashSet::default();
    if !compare_one(a, b, through_objects, &mut work, &mut seen) {
        return false;
    }
    while let Some((a, b)) = work.pop() {
        if !compare_one(&a, &b, through_objects, &mut work, &mut seen) {
            return false;
        }
    }
    true
}

/// Compares two values up to their parts, which it adds to `work`.
fn compare_one(
    a: &Val,
    b: &Val,
    through_objects: bool,
    work: &mut Vec<(Val, Val)>,
    seen: &mut FxHashSet<(*const (), *const ())>,
) -> bool {
    if let Some(same) = leaves(a, b) {
        return same;
    }
    if let (Some(x), Some(y)) = (a.address(), b.address()) {
        let is_object = |x: &Val| matches!(x, Val::Object(_) | Val::Ref(_) | Val::Array(_));
        if !through_objects && is_object(a) && is_object(b) {
            return x == y;
        }
        // Pairs that were compared already, or are being compared, need not be looked at again:
        // that ends cycles, and keeps shared parts from costing exponential time.
        if x == y || !seen.insert((x, y)) {
            return std::mem::discriminant(a) == std::mem::discriminant(b);
        }
    }
    match (a, b) {
        (Val::Tuple(a), Val::Tuple(b))
        | (Val::Named(a), Val::Named(b))
        | (Val::Struct(a), Val::Struct(b)) => {
            a.ty == b.ty && pairs(a.items.iter().cloned(), b.items.iter().cloned(), work)
        }
        (Val::Object(a), Val::Object(b)) if through_objects => {
            a.ty == b.ty && pairs(a.fields(), b.fields(), work)
        }
        (Val::Ref(a), Val::Ref(b)) if through_objects => {
            work.push((a.get(), b.get()));
            a.element == b.element
        }
        (Val::Array(a), Val::Array(b)) if through_objects => same_array(a, b, work),
        _ => false,
    }
}

fn pairs(
    a: impl ExactSizeIterator<Item = Val>,
    b: impl ExactSizeIterator<Item = Val>,
    work: &mut Vec<(Val, Val)>,
) -> bool {
    if a.len() != b.len() {
        return false;
    }
    work.extend(a.zip(b));
    true
}

fn same_array(a: &Array, b: &Array, work: &mut Vec<(Val, Val)>) -> bool {
    if a.element() != b.element() || a.dims() != b.dims() {
        return false;
    }
    match (a.storage(), b.storage()) {
        (Storage::Bool(a), Storage::Bool(b)) => a.to_vec() == b.to_vec(),
        (Storage::I8(a), Storage::I8(b)) => a.to_vec() == b.to_vec(),
        (Storage::I16(a), Storage::I16(b)) => a.to_vec() == b.to_vec(),
        (Storage::I32(a), Storage::I32(b)) => a.to_vec() == b.to_vec(),
        (Storage::I64(a), Storage::I64(b)) => a.to_vec() == b.to_vec(),
        (Storage::F32(a), Storage::F32(b)) => {
            let bits = |x: &Buffer<f32>| x.to_vec().into_iter().map(f32::to_bits);
            bits(a).eq(bits(b))
        }
        (Storage::F64(a), Storage::F64(b)) => {
            let bits = |x: &Buffer<f64>| x.to_vec().into_iter().map(f64::to_bits);
            bits(a).eq(bits(b))
        }
        (Storage::Unboxed(a), Storage::Unboxed(b)) => a.same(b),
        (Storage::Val(a), Storage::Val(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            // Elements that are not defined are the same as each other.
            let defined = |x: &[Option<Val>]| x.iter().map(Option::is_some).collect::<Vec<_>>();
            if defined(&a) != defined(&b) {
                return false;
            }
            work.extend(a.iter().flatten().cloned().zip(b.iter().flatten().cloned()));
            true
        }
        _ => false,
    }
}
