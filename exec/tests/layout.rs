//! Objects are counted right, and have their parts where `value/offsets.rs` says.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::rc::Rc;

use regraft_exec::Val;
use regraft_exec::value::{
    Array, Counted, Element, ElementType, Kind, Kinded, Pool, Shared, Storage, live_bytes,
};
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
    let value = Val::from(Array::of_values(ElementType::ANY, &items, &[3]).expect("they fit"));
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
fn unboxed_elements_have_a_word_for_each_part() {
    let ctx = regraft_dialects::context();
    let element = ElementType::of(&ctx, ctx.tuple_type(&[Type::F64, Type::I32, Type::UNIT]));
    let items = [(0.5, -1), (2.5, 7)];
    let items = items.map(|(x, n)| Val::tuple([Val::F64(x), Val::I32(n), Val::Unit]));
    let value = Val::from(Array::of_values(element, &items, &[2]).expect("they fit"));
    let object = array(&value);
    assert_eq!((at::<u8, _>(object, 16), at::<usize, _>(object, 32)), (8, 2));
    let data: *const u64 = at(object, 24);
    // SAFETY: there are two elements of three words each.
    let words = unsafe { std::slice::from_raw_parts(data, 6) };
    assert_eq!(f64::from_bits(words[3]), 2.5);
    assert_eq!((words[1] as i32, words[4] as i32), (-1, 7));
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

/// The fields of a tuple or struct, as native code that knows their number finds them.
fn fields_at<O>(object: *const O, count: usize) -> *const Val {
    assert_eq!(at::<usize, _>(object, 32), count);
    if count <= 3 {
        // SAFETY: the fields stand in the object.
        unsafe { object.cast::<u8>().sub(16).add(40).cast() }
    } else {
        at(object, 40)
    }
}

/// The floats that the fields are.
fn floats_at<O>(object: *const O, count: usize) -> Vec<f64> {
    let fields = fields_at(object, count).cast::<f64>();
    // SAFETY: there are so many fields of 16 bytes each; a float is at 8.
    (0..count).map(|i| unsafe { fields.add(2 * i + 1).read() }).collect()
}

/// The object that a tuple or struct is.
fn object_of(value: &Val) -> *const () {
    match value {
        Val::Tuple(x) | Val::Named(x) | Val::Struct(x) => Shared::as_ptr(x).cast(),
        Val::Object(x) => Shared::as_ptr(x).cast(),
        other => panic!("{other:?}"),
    }
}

/// Numbers of fields, with and without room for them in the object.
const COUNTS: [usize; 5] = [0, 1, 3, 4, 20];

/// A tuple, a named tuple, an immutable and a mutable struct of these fields.
fn aggregates(fields: &[Val]) -> [Val; 4] {
    [
        Val::tuple(fields.iter().cloned()),
        Val::named_of(Type::ANY, fields.to_vec().into()),
        Val::structure(Type::ANY, fields.iter().cloned()),
        Val::object(Type::ANY, fields.iter().cloned()),
    ]
}

fn check_fields() {
    for count in COUNTS {
        let floats: Vec<f64> = (0..count).map(|i| i as f64 + 0.5).collect();
        let fields: Vec<Val> = floats.iter().map(|&x| Val::F64(x)).collect();
        for value in aggregates(&fields) {
            let kind = if let Val::Object(_) = value { Kind::Object } else { Kind::Fields };
            let object = object_of(&value);
            assert_eq!(at::<u8, _>(object, 12), kind as u8);
            assert_eq!(at::<Type, _>(object, 24), Type::ANY);
            assert_eq!(floats_at(object, count), floats);
            let read: Vec<Val> = match &value {
                Val::Object(object) => object.fields().collect(),
                other => other.as_fields().expect("they are there").to_vec(),
            };
            assert_eq!(
                read.iter().map(|x| x.as_f64().expect("a float")).collect::<Vec<_>>(),
                floats
            );
        }
    }
}

#[test]
fn fields_are_at_the_documented_places() {
    check_fields();
}

#[test]
fn fields_in_memory_of_a_pool_are_there_too() {
    let mut pool = Pool::default();
    for _ in 0..3 {
        pool.run(check_fields);
    }
}

#[test]
fn fields_that_are_set_stay_in_their_places() {
    for count in COUNTS {
        let value = Val::object(Type::ANY, vec![Val::from("old"); count]);
        let (Val::Object(object), at) = (&value, object_of(&value)) else { panic!("{value:?}") };
        let fields = fields_at(at, count);
        for i in 0..count {
            assert_eq!(object.get(i).expect("it is there").as_str(), Some("old"));
            assert!(object.set(i, Val::F64(i as f64)));
        }
        assert!(!object.set(count, Val::Unit) && object.get(count).is_none());
        assert_eq!((fields_at(at, count), object.len()), (fields, count));
        assert_eq!(floats_at(at, count), (0..count).map(|i| i as f64).collect::<Vec<_>>());
    }
}

/// An iterator that does not tell how many items there are.
fn unknown(items: &[Val]) -> impl Iterator<Item = Val> {
    items.iter().filter(|_| true).cloned()
}

#[test]
fn fields_are_dropped_once_and_their_bytes_come_back() {
    let cell = Val::reference(Type::F64, Val::F64(1.0));
    let Val::Ref(counted) = &cell else { panic!("{cell:?}") };
    for count in COUNTS {
        let items = vec![cell.clone(); count];
        let (held, bytes) = (Shared::strong_count(counted), live_bytes());
        let mut values = aggregates(&items).to_vec();
        values.push(Val::tuple(unknown(&items)));
        assert_eq!(Shared::strong_count(counted), held + 5 * count);
        if let Val::Object(object) = &values[3]
            && object.set(0, Val::Unit)
        {
            assert_eq!(Shared::strong_count(counted), held + 5 * count - 1);
        }
        drop(values);
        assert_eq!((Shared::strong_count(counted), live_bytes()), (held, bytes));
    }
}

#[test]
fn fields_on_the_heap_count_as_live_bytes() {
    let bytes_of = |count: usize| {
        let before = live_bytes();
        let values = aggregates(&vec![Val::Unit; count]);
        let bytes = live_bytes() - before;
        drop(values);
        assert_eq!(live_bytes(), before);
        bytes
    };
    let inline = bytes_of(3);
    assert_eq!(bytes_of(0), inline);
    // Four values of 20 fields, which take 16 bytes each.
    assert_eq!(bytes_of(20) - inline, 4 * 20 * 16);
}

#[test]
fn fields_that_a_pool_takes_back_are_dropped() {
    let mut pool = Pool::default();
    let cell = Val::reference(Type::F64, Val::F64(1.0));
    let Val::Ref(counted) = &cell else { panic!("{cell:?}") };
    for count in COUNTS {
        for _ in 0..3 {
            pool.run(|| {
                drop(aggregates(&vec![cell.clone(); count]));
                drop(Val::tuple(unknown(&vec![cell.clone(); count])));
            });
            assert_eq!(Shared::strong_count(counted), 1);
        }
    }
}
