//! The layouts of values and objects, which native code shares.
//!
//! All offsets are in bytes, and the compiler checks them below. A value is a tag (`u64`), then at 8 a scalar
//! or the pointer to an object.
//!
//! | object | at | |
//! |---|---|---|
//! | all | 0 | the number of pointers |
//! | | 8 | the number of weak pointers (`u32`) |
//! | | 12 | the [`Kind`](super::Kind) (`u8`) |
//! | string | 16 | pointer to the bytes |
//! | | 24 | their number |
//! | array | 16 | the kind of its elements, in the order of [`Storage`] (`u8`) |
//! | | 24 | pointer to the elements |
//! | | 32 | their number |
//! | | 40 | the number that there is room for |
//! | | 48 | not 0 while somebody looks at elements that are values; of unboxed ones, pointer to their build |
//! | | 56 | pointer to the lengths, if the rank is not 1 |
//! | | 64 | their number |
//! | | 72 | the bytes it is charged for |
//! | | 80 | type of the elements (`u32`) |
//! | | 84 | the rank (`u8`) |
//! | ref | 16 | the value that it holds |
//! | | 32 | the bytes it is charged for |
//! | | 40 | type of the value (`u32`) |
//! | tuple, struct | 16 | the bytes it is charged for |
//! | | 24 | its type (`u32`) |
//! | | 32 | the number of its fields |
//! | | 40 | the fields, if they are 3 at most; otherwise, a pointer to them |
//!
//! A shadow is an object of the same kind as its primal, a tape is a tuple. The number of fields of a
//! tuple or struct never changes, and those of a mutable struct never move. Nor do the elements of an array, as long as their
//! number stays the same. Unboxed elements have a word for each part, in which it stands as in a register. Appending an element is a store and a new number while there is room, and a call where the room ends.

#![allow(unsafe_code)]

use std::mem::offset_of;

use regraft_ir::Type;

use super::layout::{Boxed, Header, HeapSlice, Parts, RawVec, Slots};
use super::unboxed::Unboxed;
use super::val::{
    Array, Fields, INLINE_FIELDS as INLINE_COUNT, Items, Object, RefCellObject, Storage, Text, Val,
};

const _: () = {
    assert!(size_of::<Val>() == 16 && size_of::<Option<Val>>() == 16);
    assert!(offset_of!(Header, strong) == 0 && offset_of!(Header, weak) == 8);
    assert!(offset_of!(Header, kind) == 12 && size_of::<Header>() == 16);
    assert!(offset_of!(Boxed<Text>, value) == 16 && offset_of!(Boxed<Array>, value) == 16);
    assert!(offset_of!(Boxed<Fields>, value) == 16 && offset_of!(Boxed<Object>, value) == 16);
    assert!(offset_of!(Boxed<RefCellObject>, value) == 16);

    assert!(offset_of!(HeapSlice<u8>, data) == 0 && offset_of!(HeapSlice<u8>, len) == 8);
    assert!(offset_of!(RawVec<f64>, data) == 0 && offset_of!(RawVec<f64>, len) == 8);
    assert!(offset_of!(RawVec<f64>, capacity) == 16 && offset_of!(Slots<Val>, items) == 0);
    assert!(offset_of!(Slots<Val>, borrows) == 24 && size_of::<Slots<Val>>() == 32);
    assert!(offset_of!(Unboxed, rows) == 0 && size_of::<Unboxed>() == 32);

    assert!(offset_of!(Text, text) == 0);
    assert!(offset_of!(Array, storage) == 0 && size_of::<Storage>() == 40);
    assert!(offset_of!(Array, dims) == 40 && offset_of!(Array, charge) == 56);
    assert!(offset_of!(Array, element) == 64 && offset_of!(Array, rank) == 68);
    assert!(offset_of!(RefCellObject, value) == 0 && offset_of!(RefCellObject, charge) == 16);
    assert!(offset_of!(RefCellObject, element) == 24);
    assert!(offset_of!(Fields, charge) == 0 && offset_of!(Fields, ty) == 8);
    assert!(offset_of!(Object, charge) == 0 && offset_of!(Object, ty) == 8);

    assert!(offset_of!(Fields, items) == 16 && offset_of!(Object, fields) == 16);
    assert!(size_of::<Fields>() == 72 && size_of::<Object>() == 72);
    assert!(offset_of!(Items, len) == 0 && offset_of!(Items, parts) == 8 && INLINE_COUNT == 3);
    type InItems = Parts<Val, INLINE_COUNT>;
    assert!(offset_of!(InItems, inline) == 0 && offset_of!(InItems, heap) == 0);
};

/// The bytes of the smallest object at least.
pub(crate) const OBJECT_SIZE: i64 = size_of::<Boxed<Text>>() as i64;
/// The number of weak pointers to an object.
pub(crate) const WEAK_COUNT: i32 = 8;
/// The pointer to the elements of an array.
pub(crate) const ARRAY_DATA: i32 = 24;
/// The number of elements of an array.
pub(crate) const ARRAY_LEN: i32 = 32;
/// The number of elements that an array has room for.
pub(crate) const ARRAY_ROOM: i32 = 40;
/// Not 0 while somebody looks at the elements of an array that are values.
pub(crate) const ARRAY_LOOKS: i32 = 48;
/// The pointer to the lengths of an array, if its rank is not 1.
pub(crate) const ARRAY_DIMS: i32 = 56;
/// The content of a ref.
pub(crate) const REF_CONTENT: i32 = 16;
/// The type of a struct, mutable or not: see [`type_bits`].
pub(crate) const STRUCT_TYPE: i32 = 24;
/// The number of fields of a tuple or struct.
pub(crate) const FIELD_COUNT: i32 = 32;
/// The fields of a tuple or struct, or the pointer to them.
pub(crate) const FIELDS: i32 = 40;
/// The number of fields that stand in the object itself.
pub(crate) const INLINE_FIELDS: i32 = INLINE_COUNT as i32;

/// The first tag of values that point to an object: see [`tag_of`].
pub(crate) const FIRST_SHARED: u8 = 11;

/// The tag of a value: the number of its kind in the order of [`Val`].
pub(crate) fn tag_of(value: &Val) -> u8 {
    // SAFETY: a `repr(C, u64)` enum begins with its tag.
    unsafe { *std::ptr::from_ref(value).cast::<u64>() as u8 }
}

/// A type as it stands in memory, in this process.
pub(crate) fn type_bits(ty: Type) -> i32 {
    const { assert!(size_of::<Type>() == size_of::<i32>()) };
    // SAFETY: a type is the number of what was interned.
    unsafe { *(&raw const ty).cast::<i32>() }
}

/// The tag of an element of an array that is not defined, which no value has.
pub(crate) fn undefined_tag() -> u64 {
    let element: Option<Val> = None;
    // SAFETY: it takes as many bytes as a value, whose tags leave numbers for it.
    unsafe { *(&raw const element).cast::<u64>() }
}
