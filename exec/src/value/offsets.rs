//! The layouts of values and objects, which native code shares.
//!
//! All offsets are in bytes, and the compiler checks them below. A value is a tag, then at 8 a scalar
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
//! | | 48 | not 0 while somebody looks at elements that are no scalars |
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
//!
//! A shadow is an object of the same kind as its primal, a tape is a tuple. The fields of tuples and
//! structs follow; they are reached by calls. Appending an element is a store and a new number
//! while there is room, and a call where the room ends.

use std::mem::offset_of;

use super::layout::{Boxed, Header, HeapSlice, RawVec, Slots};
use super::val::{Array, Fields, Object, RefCellObject, Storage, Text, Val};

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

    assert!(offset_of!(Text, text) == 0);
    assert!(offset_of!(Array, storage) == 0 && size_of::<Storage>() == 40);
    assert!(offset_of!(Array, dims) == 40 && offset_of!(Array, charge) == 56);
    assert!(offset_of!(Array, element) == 64 && offset_of!(Array, rank) == 68);
    assert!(offset_of!(RefCellObject, value) == 0 && offset_of!(RefCellObject, charge) == 16);
    assert!(offset_of!(RefCellObject, element) == 24);
    assert!(offset_of!(Fields, charge) == 0 && offset_of!(Fields, ty) == 8);
    assert!(offset_of!(Object, charge) == 0 && offset_of!(Object, ty) == 8);
};

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use regraft_ir::Type;

    use super::*;
    use crate::value::{Counted, Element, Kind, Shared};

    /// The `T` at an offset from the header of an object, as native code reads it.
    fn at<T: Copy, O>(object: *const O, offset: usize) -> T {
        // SAFETY: the tests ask for offsets within the object.
        unsafe { object.cast::<u8>().sub(16).add(offset).cast::<T>().read_unaligned() }
    }

    fn array(value: &Val) -> *const Array {
        let Val::Array(array) = value else { panic!("{value:?}") };
        Shared::as_ptr(array)
    }

    fn check_elements<T: Element + PartialEq + std::fmt::Debug>(tag: u8, items: &[T]) {
        let value = Val::from(Array::vector(items));
        let object = array(&value);
        assert_eq!(at::<usize, _>(object, 0), 1);
        assert_eq!(at::<u8, _>(object, 12), Kind::Array as u8);
        assert_eq!((at::<u8, _>(object, 16), at::<usize, _>(object, 32)), (tag, items.len()));
        assert!(at::<usize, _>(object, 40) >= items.len());
        let data: *const T = at(object, 24);
        for (i, &item) in items.iter().enumerate() {
            // SAFETY: there are so many elements.
            assert_eq!(unsafe { data.add(i).read() }, item);
        }
        assert_eq!((at::<u32, _>(object, 84) as u8, at::<Type, _>(object, 80)), (1, T::TYPE));
    }

    #[test]
    fn arrays_have_their_parts_at_the_documented_places() {
        check_elements(0, &[true, false]);
        check_elements(1, &[1i8, -2]);
        check_elements(2, &[1i16, -2]);
        check_elements(3, &[1i32, -2]);
        check_elements(4, &[1i64, -2, 3]);
        check_elements(5, &[1.5f32, -2.0]);
        check_elements(6, &[1.5f64, -2.0]);
        let value = Val::from(Array::of(&[1.0; 6], &[2, 3]).expect("it fits"));
        let object = array(&value);
        let lengths: *const usize = at(object, 56);
        // SAFETY: the number of lengths is at 64.
        let lengths = unsafe { std::slice::from_raw_parts(lengths, at(object, 64)) };
        assert_eq!(lengths, [2, 3]);
    }

    #[test]
    fn elements_of_any_type_have_them_too() {
        let items = [Val::F64(2.5), Val::from("a"), Val::Unit];
        let value = Val::from(Array::of_values(Type::ANY, &items, &[3]).expect("they fit"));
        let object = array(&value);
        assert_eq!((at::<u8, _>(object, 16), at::<usize, _>(object, 32)), (7, 3));
        let data: *const u64 = at(object, 24);
        // SAFETY: there are three elements of 16 bytes each; a float is at 8.
        assert_eq!(f64::from_bits(unsafe { data.add(1).read() }), 2.5);
        let array = value.as_array().expect("it is one");
        array.push(Val::I64(7)).expect("it has one dimension");
        assert!(array.set(1, Val::I64(8)));
        assert_eq!((at::<usize, _>(object, 32), at::<usize, _>(object, 48)), (4, 0));
        let Storage::Val(slots) = array.storage() else { panic!("{array:?}") };
        let shown: Vec<_> = slots.borrow().iter().map(|x| format!("{x:?}")).collect();
        assert_eq!(shown, ["Some(2.5)", "Some(8)", "Some(nothing)", "Some(7)"]);
        assert_eq!(items[1].as_str(), Some("a"), "a clone is not what was replaced");
    }

    #[test]
    fn strings_and_refs_have_their_parts_at_the_documented_places() {
        let value = Val::from("grüße");
        let Val::Str(text) = &value else { panic!("{value:?}") };
        let object = Counted::as_ptr(text);
        assert_eq!((at::<u8, _>(object, 12), at::<usize, _>(object, 24)), (0, "grüße".len()));
        let cell = Val::reference(Type::F64, Val::F64(4.0));
        let Val::Ref(object) = &cell else { panic!("{cell:?}") };
        assert_eq!(at::<f64, _>(Shared::as_ptr(object), 24), 4.0);
    }
}
