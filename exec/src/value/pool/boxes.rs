//! Boxes of values that are made of a few others: tuples, structs, mutable structs and refs. Most are temporary, and
//! serve again at once, whether a pool is at work or not.

use std::cell::RefCell;

use crate::value::layout::Counted;
use crate::value::val::{Fields, INLINE_FIELDS, Object, RefCellObject};

/// The most parts of a value whose box is kept.
const MOST_PARTS: usize = 40;

/// The most boxes of a kind and number of parts that are kept, if the parts stand in the box itself and if they do not: a
/// tape or an array holds one for each element, and lets go of all at once.
const MOST_SMALL: usize = 1 << 14;
const MOST_LARGE: usize = 1 << 12;

thread_local! {
    static FIELDS: RefCell<Boxes<Fields>> = const { RefCell::new(Boxes::new()) };
    static OBJECTS: RefCell<Boxes<Object>> = const { RefCell::new(Boxes::new()) };
    static REFS: RefCell<Boxes<RefCellObject>> = const { RefCell::new(Boxes::new()) };
}

/// Free boxes by the number of their parts, which hold nothing that is counted.
pub(super) struct Boxes<T>([Vec<Counted<T>>; MOST_PARTS + 1]);

impl<T> Boxes<T> {
    const fn new() -> Self {
        Self([const { Vec::new() }; MOST_PARTS + 1])
    }

    #[inline]
    fn keep(&mut self, parts: usize, free: Counted<T>) -> Option<Counted<T>> {
        let most = if parts > INLINE_FIELDS { MOST_LARGE } else { MOST_SMALL };
        match self.0.get_mut(parts) {
            Some(list) if list.len() < most => {
                list.push(free);
                None
            }
            _ => Some(free),
        }
    }
}

/// A type of boxes that are kept.
pub(super) trait Kept: Sized {
    /// Takes everything out, so that the parts hold nothing that is counted. Returns how many there are.
    fn empty(&mut self) -> usize;

    /// Works on the free boxes of this thread; `None` if there are none any more.
    fn with_free<R>(f: impl FnOnce(&mut Boxes<Self>) -> R) -> Option<R>;
}

macro_rules! kept {
    ($($ty:ident, $free:ident, $parts:expr;)*) => {
        $(impl Kept for $ty {
            #[inline]
            fn empty(&mut self) -> usize {
                self.charge.set(0);
                self.let_go();
                let parts: fn(&Self) -> usize = $parts;
                parts(self)
            }

            #[inline]
            fn with_free<R>(f: impl FnOnce(&mut Boxes<Self>) -> R) -> Option<R> {
                $free.try_with(|boxes| boxes.try_borrow_mut().ok().map(|mut boxes| f(&mut boxes))).ok()?
            }
        })*
    };
}

kept! {
    Fields, FIELDS, |fields| fields.items.len();
    Object, OBJECTS, |object| object.fields.len();
    RefCellObject, REFS, |_| 1;
}

/// Keeps a box that nobody else points to, without what it holds. It comes back if the search for cycles knows it, or if there are
/// enough.
#[inline]
pub(super) fn keep<T: Kept>(mut last: Counted<T>) -> Option<Counted<T>> {
    let Some(value) = Counted::get_mut(&mut last) else { return Some(last) };
    let parts = value.empty();
    let mut last = Some(last);
    T::with_free(|boxes| last = last.take().and_then(|last| boxes.keep(parts, last)));
    last
}

/// A box for a value of so many parts, which hold nothing that is counted.
#[inline]
pub(super) fn take<T: Kept>(parts: usize) -> Option<Counted<T>> {
    T::with_free(|boxes| boxes.0.get_mut(parts)?.pop()).flatten()
}

#[cfg(test)]
mod tests {
    use regraft_ir::Type;

    use super::super::list::class_of;
    use super::super::{Pool, items, with};
    use crate::value::{Array, Val, live_bytes};

    fn numbers(count: usize) -> Vec<Val> {
        (0..count).map(|k| Val::F64(k as f64)).collect()
    }

    #[test]
    fn a_box_serves_again_for_as_many_parts() {
        // In the box itself, and elsewhere.
        for count in [0, 1, 3, 4, 16, 40] {
            let before = live_bytes();
            let first = Val::tuple(numbers(count));
            let (address, bytes) = (first.address(), live_bytes() - before);
            drop(first);
            assert_eq!(live_bytes(), before, "{count}");
            let second = Val::structure(Type::ANY, numbers(count));
            let held: Vec<_> = second.as_fields().into_iter().flatten().map(Val::as_f64).collect();
            assert_eq!(held, numbers(count).iter().map(Val::as_f64).collect::<Vec<_>>());
            assert_eq!((second.address(), live_bytes() - before), (address, bytes), "{count}");
            let other = Val::tuple(numbers(count));
            assert_ne!(other.address(), address, "it is not free");
        }
    }

    #[test]
    fn room_that_a_box_has_already_goes_back_to_the_pool() {
        Pool::default().run(|| {
            drop(Val::tuple(numbers(5)));
            let mut room = items(5);
            room.extend(numbers(5));
            let tuple = Val::tuple_of(room.into());
            assert_eq!(tuple.as_fields().map(<[Val]>::len), Some(5));
            assert_eq!(with(|lists| lists.items.is_empty(class_of(5))), Some(false));
        });
    }

    #[test]
    fn objects_and_refs_serve_again() {
        let object = Val::object(Type::ANY, numbers(2));
        let address = object.address();
        drop(object);
        let again = Val::object(Type::F64, numbers(2));
        let Val::Object(fields) = &again else { panic!("it is one") };
        assert_eq!((again.address(), fields.ty()), (address, Type::F64));
        let cell = Val::reference(Type::F64, 1.5.into());
        let address = cell.address();
        drop(cell);
        let again = Val::reference(Type::ANY, Val::Unit);
        let Val::Ref(cell) = &again else { panic!("it is one") };
        assert_eq!((again.address(), cell.element()), (address, Type::ANY));
        assert!(matches!(cell.get(), Val::Unit));
    }

    #[test]
    fn what_a_free_box_held_is_gone() {
        let array = Val::from(Array::vector(&[1.0, 2.0]));
        let Val::Array(counted) = &array else { panic!("it is one") };
        let pair = Val::tuple([array.clone(), Val::tuple([array.clone()])]);
        assert_eq!(crate::value::Shared::strong_count(counted), 3);
        drop(pair);
        assert_eq!(crate::value::Shared::strong_count(counted), 1);
    }

    #[test]
    fn a_long_list_is_taken_apart_without_a_stack() {
        let list = |length: usize| (0..length).fold(Val::Unit, |rest, _| Val::tuple([rest]));
        let before = live_bytes();
        // More than boxes are kept.
        drop(list(200_000));
        assert_eq!(live_bytes(), before);
        drop(list(10));
        assert_eq!(live_bytes(), before);
    }
}
