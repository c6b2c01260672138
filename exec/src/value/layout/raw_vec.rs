//! A vector whose pointer, length and capacity stand at places that native code knows.

// `Vec` promises no order of its parts. All that is done with the elements is done by a `Vec` that is
// made of the parts for the time of a method.
#![allow(unsafe_code)]

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::value::fill::{Plain, fill};

/// The parts of a vector, which owns its elements.
#[repr(C)]
pub(in crate::value) struct RawVec<T> {
    pub(in crate::value) data: Cell<NonNull<T>>,
    pub(in crate::value) len: Cell<usize>,
    pub(in crate::value) capacity: Cell<usize>,
}

impl<T> RawVec<T> {
    pub(in crate::value) fn new(items: Vec<T>) -> Self {
        let raw = Self {
            data: Cell::new(NonNull::dangling()),
            len: Cell::new(0),
            capacity: Cell::new(0),
        };
        raw.set(ManuallyDrop::new(items));
        raw
    }

    #[inline]
    fn set(&self, mut items: ManuallyDrop<Vec<T>>) {
        self.data.set(NonNull::new(items.as_mut_ptr()).unwrap_or(NonNull::dangling()));
        self.len.set(items.len());
        self.capacity.set(items.capacity());
    }

    /// A vector of the same elements, which is only looked at, unless it is the only one.
    #[inline(always)]
    fn view(&self) -> ManuallyDrop<Vec<T>> {
        // SAFETY: the parts are those of a vector, which `set` took apart and nothing else has changed.
        // It is not dropped, so that the elements have one owner.
        let items = unsafe {
            Vec::from_raw_parts(self.data.get().as_ptr(), self.len.get(), self.capacity.get())
        };
        ManuallyDrop::new(items)
    }

    /// Puts other elements in the place of those that are there. What was [lent](Self::lend) stays where it is.
    #[inline]
    pub(in crate::value) fn replace(&self, items: Vec<T>) -> Vec<T> {
        let old = if self.is_lent() { Vec::new() } else { ManuallyDrop::into_inner(self.view()) };
        self.set(ManuallyDrop::new(items));
        old
    }

    /// Returns whether the elements are somebody else's: a vector with elements has room for some.
    #[inline]
    fn is_lent(&self) -> bool {
        self.capacity.get() == 0 && self.len.get() > 0
    }

    #[inline]
    pub(in crate::value) fn take(&self) -> Vec<T> {
        self.replace(Vec::new())
    }

    #[inline(always)]
    pub(in crate::value) fn len(&self) -> usize {
        self.len.get()
    }

    pub(in crate::value) fn capacity(&self) -> usize {
        self.capacity.get()
    }
}

impl<T: Copy> RawVec<T> {
    /// The elements, for the time of one method: none that runs meanwhile may change them.
    #[inline(always)]
    pub(in crate::value) fn items(&self) -> &[T] {
        // SAFETY: the parts are those of a vector. As it is of one thread, and elements that are `Copy`
        // run no code of their own, nothing changes them within the method that asks.
        unsafe { std::slice::from_raw_parts(self.data.get().as_ptr(), self.len.get()) }
    }

    /// The same, to be changed.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(in crate::value) fn items_mut(&self) -> &mut [T] {
        // SAFETY: as in `items`; the reference is the only one within the method that asks.
        unsafe { std::slice::from_raw_parts_mut(self.data.get().as_ptr(), self.len.get()) }
    }

    /// Lets the elements be somebody else's, in place of those that are there, until
    /// [`own`](Self::own).
    ///
    /// # Safety
    /// Until then, so many elements are at `data`, nobody else changes them, and if anybody sets one
    /// here, nobody else looks at them.
    #[inline]
    pub(in crate::value) unsafe fn lend(&self, data: NonNull<T>, len: usize) {
        if self.capacity.get() > 0 {
            self.free();
        }
        self.data.set(if len > 0 { data } else { NonNull::dangling() });
        self.len.set(len);
    }

    #[cold]
    fn free(&self) {
        drop(self.take());
    }

    /// Makes a copy of elements that are somebody else's.
    pub(in crate::value) fn own(&self) {
        if self.is_lent() {
            drop(self.replace(self.items().to_vec()));
        }
    }

    /// Changes the vector as a whole.
    pub(in crate::value) fn edit<R>(&self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        self.own();
        // Meanwhile it is empty, so that a panic loses elements at worst.
        let mut items = self.take();
        let result = change(&mut items);
        drop(self.replace(items));
        result
    }

    /// Keeps the first `kept` elements, and sets those behind them, up to `len`, to `item`.
    pub(in crate::value) fn renew(&self, kept: usize, len: usize, item: T)
    where
        T: Plain,
    {
        if len > self.capacity() || kept > self.len().min(len) {
            return self.edit(|items| {
                items.truncate(kept);
                items.resize(len, item);
            });
        }
        // SAFETY: there is room for so many elements, those up to `kept` are there, and the others are set.
        let places = unsafe {
            let first = self.data.get().cast::<MaybeUninit<T>>().add(kept);
            std::slice::from_raw_parts_mut(first.as_ptr(), len - kept)
        };
        fill(places, item);
        self.len.set(len);
    }

    /// Appends an element.
    #[inline]
    pub(in crate::value) fn push(&self, item: T) {
        let len = self.len.get();
        // What is lent has more elements than room.
        if len >= self.capacity.get() {
            return self.edit(|items| items.push(item));
        }
        // SAFETY: there is room for one more behind the elements.
        unsafe { self.data.get().as_ptr().add(len).write(item) };
        self.len.set(len + 1);
    }

    /// Removes the last element.
    #[inline]
    pub(in crate::value) fn pop(&self) -> Option<T> {
        let last = self.items().last().copied()?;
        self.len.set(self.len.get() - 1);
        Some(last)
    }
}

impl<T> Drop for RawVec<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// The elements of an array that are no scalars, behind the same parts. `None` is an element that is
/// not defined yet. As with a `RefCell`, they are changed only while nobody else looks at them.
#[repr(C)]
pub struct Slots<T> {
    pub(in crate::value) items: RawVec<Option<T>>,
    pub(in crate::value) borrows: RefCell<()>,
}

impl<T> Slots<T> {
    pub(in crate::value) fn new(items: Vec<Option<T>>) -> Self {
        Self { items: RawVec::new(items), borrows: RefCell::new(()) }
    }

    /// The elements, to be looked at.
    #[inline]
    pub fn borrow(&self) -> SlotsRef<'_, T> {
        let borrow = self.borrows.borrow();
        SlotsRef { items: self.items.view(), _borrow: borrow }
    }

    /// The elements, to be changed. Meanwhile, the parts are those of an empty vector.
    #[inline]
    pub(in crate::value) fn borrow_mut(&self) -> SlotsMut<'_, T> {
        let borrow = self.borrows.borrow_mut();
        SlotsMut { items: self.items.take(), slots: self, _borrow: borrow }
    }

    /// Takes the elements out.
    pub(in crate::value) fn take(&self) -> Vec<Option<T>> {
        std::mem::take(&mut self.borrow_mut())
    }
}

/// Elements that are looked at.
pub struct SlotsRef<'a, T> {
    items: ManuallyDrop<Vec<Option<T>>>,
    _borrow: Ref<'a, ()>,
}

impl<T> Deref for SlotsRef<'_, T> {
    type Target = Vec<Option<T>>;

    fn deref(&self) -> &Self::Target {
        &self.items
    }
}

/// Elements that are changed.
pub(in crate::value) struct SlotsMut<'a, T> {
    items: Vec<Option<T>>,
    slots: &'a Slots<T>,
    _borrow: RefMut<'a, ()>,
}

impl<T> Deref for SlotsMut<'_, T> {
    type Target = Vec<Option<T>>;

    fn deref(&self) -> &Self::Target {
        &self.items
    }
}

impl<T> DerefMut for SlotsMut<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.items
    }
}

impl<T> Drop for SlotsMut<'_, T> {
    fn drop(&mut self) {
        drop(self.slots.items.replace(std::mem::take(&mut self.items)));
    }
}

impl<T> fmt::Debug for SlotsRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}

impl<T> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.items.len())
    }
}
