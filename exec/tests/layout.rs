//! Objects are counted right, and have their parts where `value/offsets.rs` says.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::rc::Rc;

use regraft_exec::Val;
use regraft_exec::value::{Array, Counted, Element, Kind, Kinded, Shared, Storage};
use regraft_ir::Type;

/// Notes when it is dropped.
struct Noted(Rc<Cell<u32>>);

impl Kinded for Noted {
    const KIND: Kind = Kind::Fields;
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn an_object_is_dropped_once_with_its_last_pointer() {
    let drops = Rc::new(Cell::new(0));
    let mut first = Counted::new(Noted(Rc::clone(&drops)));
    assert!(Counted::get_mut(&mut first).is_some());
    let second = first.clone();
    assert_eq!(Counted::strong_count(&first), 2);
    assert_eq!(Counted::as_ptr(&first), Counted::as_ptr(&second));
    assert!(Counted::get_mut(&mut first).is_none());
    drop(first);
    assert_eq!(drops.get(), 0);
    drop(second);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_weak_pointer_outlives_the_object_and_gives_none() {
    let drops = Rc::new(Cell::new(0));
    let mut object = Counted::new(Noted(Rc::clone(&drops)));
    let (weak, other) = (Counted::downgrade(&object), Counted::downgrade(&object));
    assert!(Counted::get_mut(&mut object).is_none(), "weak pointers may come back");
    let again = weak.upgrade().expect("it is alive");
    drop(object);
    assert_eq!((drops.get(), weak.strong_count()), (0, 1));
    drop(again);
    assert_eq!((drops.get(), weak.strong_count()), (1, 0));
    drop(weak);
    assert!(other.upgrade().is_none());
    assert_eq!(drops.get(), 1);
}

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
