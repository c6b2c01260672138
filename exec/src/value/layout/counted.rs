//! The counted pointer of objects, and the header in front of each of them.

// A count, a kind and a value at places that native code knows: `std::rc::Rc` promises none.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::process::abort;
use std::ptr::{NonNull, drop_in_place};

/// The kind of an object, in its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A string.
    Text = 0,
    /// A tuple, named tuple or immutable struct; tapes are tuples.
    Fields = 1,
    /// A mutable struct, or the shadow of one.
    Object = 2,
    /// An array, or the shadow of one.
    Array = 3,
    /// A ref, or the shadow of one.
    Ref = 4,
}

/// A type of objects that [`Counted`] points to.
pub trait Kinded {
    /// The kind in the headers of these objects.
    const KIND: Kind;
}

/// The first bytes of every object.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// The number of [`Counted`] pointers.
    pub(in crate::value) strong: Cell<usize>,
    /// The number of [`Weak`] pointers, and one more while there are others.
    pub(in crate::value) weak: Cell<u32>,
    pub(in crate::value) kind: Kind,
}

/// An object with its header.
#[repr(C)]
pub(in crate::value) struct Boxed<T> {
    pub(in crate::value) header: Header,
    pub(in crate::value) value: T,
}

/// A counted pointer to an object. The object is dropped with the last one; it belongs to one thread.
pub struct Counted<T>(NonNull<Boxed<T>>, PhantomData<Boxed<T>>);

/// A pointer that does not keep the object alive.
pub struct Weak<T>(NonNull<Boxed<T>>);

impl Header {
    /// Counts one more [`Counted`] pointer, which the caller makes.
    #[inline(always)]
    pub(in crate::value) fn count(&self) {
        // Only pointers that are forgotten can be so many.
        self.strong.set(self.strong.get().checked_add(1).unwrap_or_else(|| abort()));
    }

    /// Counts one less, which the caller forgets, unless it is the last: returns whether it is not.
    #[inline(always)]
    pub(in crate::value) fn uncount(&self) -> bool {
        let others = self.strong.get() - 1;
        if others > 0 {
            self.strong.set(others);
        }
        others > 0
    }
}

impl<T: Kinded> Counted<T> {
    /// Puts an object behind a pointer.
    pub fn new(value: T) -> Self {
        let header = Header { strong: Cell::new(1), weak: Cell::new(1), kind: T::KIND };
        Self(NonNull::from(Box::leak(Box::new(Boxed { header, value }))), PhantomData)
    }
}

impl<T> Counted<T> {
    #[inline(always)]
    fn header(&self) -> &Header {
        // SAFETY: the object is freed when neither pointers nor weak pointers are left.
        unsafe { &(*self.0.as_ptr()).header }
    }

    /// The address of the object, behind its header.
    pub fn as_ptr(this: &Self) -> *const T {
        // SAFETY: the object is alive, and no reference to it is made.
        unsafe { &raw const (*this.0.as_ptr()).value }
    }

    /// The number of pointers to the object.
    #[inline]
    pub fn strong_count(this: &Self) -> usize {
        this.header().strong.get()
    }

    /// Returns whether there are weak pointers to the object.
    #[inline]
    pub fn is_watched(this: &Self) -> bool {
        this.header().weak.get() > 1
    }

    /// The object, if this is the only pointer to it, weak ones included.
    #[inline]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let header = this.header();
        if header.strong.get() != 1 || header.weak.get() != 1 {
            return None;
        }
        // SAFETY: nobody else can reach the object while `this` is borrowed.
        Some(unsafe { &mut (*this.0.as_ptr()).value })
    }

    /// A pointer that does not keep the object alive.
    pub fn downgrade(this: &Self) -> Weak<T> {
        let weak = &this.header().weak;
        weak.set(weak.get().checked_add(1).unwrap_or_else(|| abort()));
        Weak(this.0)
    }
}

impl<T> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        self.header().count();
        Self(self.0, PhantomData)
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the count is above zero, so the value is there; an exclusive reference to it is made
        // only where there is no other pointer.
        unsafe { &(*self.0.as_ptr()).value }
    }
}

impl<T> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        let strong = &self.header().strong;
        strong.set(strong.get() - 1);
        if strong.get() == 0 {
            // SAFETY: this was the last pointer, and weak ones do not give a new one at a count of zero.
            // The memory stays for the time of the weak pointer that all counted ones share.
            unsafe { drop_in_place(&raw mut (*self.0.as_ptr()).value) };
            drop(Weak(self.0));
        }
    }
}

impl<T> Weak<T> {
    fn header(&self) -> &Header {
        // SAFETY: the memory is freed with the last weak pointer.
        unsafe { &(*self.0.as_ptr()).header }
    }

    /// The number of counted pointers to the object.
    pub fn strong_count(&self) -> usize {
        self.header().strong.get()
    }

    /// A counted pointer, if the object is still alive.
    pub fn upgrade(&self) -> Option<Counted<T>> {
        let strong = &self.header().strong;
        (strong.get() > 0).then(|| {
            strong.set(strong.get() + 1);
            Counted(self.0, PhantomData)
        })
    }
}

impl<T> Drop for Weak<T> {
    fn drop(&mut self) {
        let weak = &self.header().weak;
        weak.set(weak.get() - 1);
        if weak.get() == 0 {
            // SAFETY: no pointer is left, and the value has been dropped. The box was made by
            // `Counted::new`; a value in `ManuallyDrop` has the layout of the value.
            drop(unsafe { Box::from_raw(self.0.as_ptr().cast::<Boxed<ManuallyDrop<T>>>()) });
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Counted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header().fmt(f)
    }
}
