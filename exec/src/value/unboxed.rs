//! Elements that are tuples or immutable structs of scalars, unboxed: the parts of each stand side by side in the array.
//!
//! A part takes a word of 8 bytes, all of whose bits depend on the part alone: integers have their sign in the upper ones, others zeros.
//! Words that there is room for are such as well, so that native code may append elements. The build of an element stands once, with the elements:
//! [`UnboxedType`]. An element that was never set is made of zeros.

#![allow(unsafe_code)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use regraft_dialects::semantics::MOST_UNBOXED;
use regraft_ir::Type;

use super::layout::RawVec;

/// The types of parts, by their codes.
const PARTS: [Type; 8] =
    [Type::UNIT, Type::BOOL, Type::I8, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64];

/// The bits of a code, of the kind of an element, and of the number of its parts.
const CODE_BITS: u32 = 3;
const KIND_BITS: u32 = 2;
const COUNT_BITS: u32 = 4;

const _: () = assert!(KIND_BITS + COUNT_BITS + CODE_BITS * MOST_UNBOXED as u32 <= u32::BITS);

/// The kind of an unboxed element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnboxedKind {
    Tuple,
    Named,
    Struct,
}

/// The build of unboxed elements: their kind, and the types of their parts.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct UnboxedType {
    ty: Type,
    /// The kind, the number of parts and their codes, from the lowest bits on.
    bits: u32,
}

impl UnboxedType {
    /// Elements of that kind with these parts; `None` if they are too many, or no scalars.
    pub(super) fn new(kind: UnboxedKind, ty: Type, parts: &[Type]) -> Option<Self> {
        if parts.is_empty() || parts.len() > MOST_UNBOXED {
            return None;
        }
        let mut bits = kind as u32 | (parts.len() as u32) << KIND_BITS;
        let mut at = KIND_BITS + COUNT_BITS;
        for &part in parts {
            bits |= (PARTS.iter().position(|&ty| ty == part)? as u32) << at;
            at += CODE_BITS;
        }
        Some(Self { ty, bits })
    }

    /// The type of structs, the shape of named tuples, `any` for tuples.
    pub(super) fn ty(self) -> Type {
        self.ty
    }

    pub(super) fn kind(self) -> UnboxedKind {
        match self.bits & ((1 << KIND_BITS) - 1) {
            0 => UnboxedKind::Tuple,
            1 => UnboxedKind::Named,
            _ => UnboxedKind::Struct,
        }
    }

    /// Returns the number of parts, from 1 to 8.
    #[inline]
    pub fn count(self) -> usize {
        (self.bits >> KIND_BITS) as usize & ((1 << COUNT_BITS) - 1)
    }

    /// The bytes that an element takes.
    pub fn size(self) -> usize {
        self.count() * size_of::<u64>()
    }

    /// The type of a part, counted from 0; `nothing` behind the last one.
    #[inline]
    pub(super) fn part(self, at: usize) -> Type {
        let codes = self.bits >> (KIND_BITS + COUNT_BITS);
        let code = codes.checked_shr(CODE_BITS * at as u32).unwrap_or(0);
        PARTS[code as usize % PARTS.len()]
    }
}

impl fmt::Debug for UnboxedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} parts", self.kind(), self.count())
    }
}

/// Unboxed elements. As those of a [`Buffer`](super::Buffer), they are read and written through a shared reference.
#[repr(C)]
pub struct Unboxed {
    /// A vector of arrays of as many words as there are parts: see `rows!`.
    pub(super) rows: ManuallyDrop<RawVec<u64>>,
    of: UnboxedType,
}

/// `$body` with `$rows` bound to the vector of elements.
macro_rules! rows {
    ($unboxed:expr, $rows:ident => $body:expr) => {{
        let unboxed: &Unboxed = $unboxed;
        rows!(unboxed, $rows => $body, 1 2 3 4 5 6 7 8)
    }};
    ($unboxed:ident, $rows:ident => $body:expr, $($count:literal)*) => {
        match $unboxed.of.count() {
            $($count => {
                // SAFETY: the elements are of so many words.
                let $rows = unsafe { $unboxed.rows::<$count>() };
                $body
            })*
            _ => unreachable!("an element has 1 to 8 parts"),
        }
    };
}

impl Unboxed {
    fn none(of: UnboxedType) -> Self {
        Self { rows: ManuallyDrop::new(RawVec::new(Vec::new())), of }
    }

    /// So many elements of zeros, in new memory.
    pub(super) fn zeroed(of: UnboxedType, len: usize) -> Self {
        let all = Self::none(of);
        rows!(&all, rows => drop(rows.replace(vec![[0; _]; len])));
        all
    }

    /// No elements, and room for so many.
    pub(super) fn with_room(of: UnboxedType, capacity: usize) -> Self {
        let all = Self::none(of);
        rows!(&all, rows => drop(rows.replace(Vec::with_capacity(capacity))));
        all
    }

    /// Makes `len` elements of zeros, of another type that has as many parts, in the place of those that are there.
    ///
    /// # Panics
    /// If it has another number of parts.
    pub(super) fn renew(&mut self, of: UnboxedType, len: usize) {
        assert_eq!(self.of.count(), of.count(), "elements take as many words as before");
        self.of = of;
        // The room behind the elements is set, too.
        rows!(self, rows => rows.renew(0, rows.capacity().max(len), [0; _]));
        self.rows.len.set(len);
    }

    /// Exchanges the elements for those of another one.
    ///
    /// # Panics
    /// If those are of another type.
    pub(super) fn swap(&self, other: &Self) {
        assert_eq!(self.of, other.of, "elements keep their type");
        self.rows.data.swap(&other.rows.data);
        self.rows.len.swap(&other.rows.len);
        self.rows.capacity.swap(&other.rows.capacity);
    }

    /// The vector of elements, of as many words each as they have parts.
    ///
    /// # Safety
    /// They have so many.
    unsafe fn rows<const N: usize>(&self) -> &RawVec<[u64; N]> {
        // SAFETY: the parts of a vector stand at the same places whatever its elements are, which the caller knows. They
        // are never dropped as words.
        unsafe { &*(&raw const self.rows).cast::<RawVec<[u64; N]>>() }
    }

    /// The build of the elements.
    #[inline]
    pub fn element(&self) -> UnboxedType {
        self.of
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.rows.capacity()
    }

    /// The address of the elements.
    pub(super) fn address(&self) -> NonNull<u8> {
        self.rows.data.get().cast()
    }

    /// The words of all elements, for the time of one method.
    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        self.words_mut()
    }

    /// The same, to be changed.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(super) fn words_mut(&self) -> &mut [u64] {
        let count = self.len() * self.of.count();
        // SAFETY: each element is so many words, side by side. As in `RawVec::items_mut`, the reference is the only one
        // within the method that asks.
        unsafe { std::slice::from_raw_parts_mut(self.rows.data.get().as_ptr(), count) }
    }

    /// The words of the element at an index from 0.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(super) fn row(&self, at: usize) -> Option<&mut [u64]> {
        let count = self.of.count();
        if at >= self.len() {
            return None;
        }
        self.words_mut().get_mut(at * count..(at + 1) * count)
    }

    /// Makes the element at an index one of zeros.
    pub(super) fn unset(&self, at: usize) {
        self.row(at).into_iter().for_each(|row| row.fill(0));
    }

    /// Copies the elements of `source`, of the same type, to the start of this; `false` if there is no room. Both may be the
    /// same.
    pub(super) fn copy_from(&self, source: &Self) -> bool {
        if std::ptr::eq(self, source) {
            return true;
        }
        let words = source.words();
        let places = self.words_mut().get_mut(..words.len());
        places.map(|places| places.copy_from_slice(words)).is_some()
    }

    /// Appends an element of these words, for which there is room; `false` if it has another number of parts.
    pub(super) fn push_words(&self, words: &[u64]) -> bool {
        rows!(self, rows => words.try_into().map(|row| rows.push(row)).is_ok())
    }

    /// Removes the last element, if there is one.
    pub(super) fn shorten(&self) {
        rows!(self, rows => {
            rows.pop();
        });
    }

    /// Makes it `len` long, for which there is room; new elements are zeros.
    pub(super) fn set_len(&self, len: usize) {
        rows!(self, rows => rows.edit(|items| items.resize(len, [0; _])));
    }

    /// Sets all elements to zeros.
    pub(crate) fn clear(&self) {
        self.words_mut().fill(0);
    }

    /// Frees the elements.
    fn free(&self) {
        rows!(self, rows => drop(rows.take()));
    }

    /// Makes a copy of elements that are somebody else's.
    pub(super) fn own(&self) {
        rows!(self, rows => rows.own());
    }

    /// Lets the elements be somebody else's until [`own`](Self::own).
    ///
    /// # Safety
    /// As of `RawVec::lend`.
    pub(super) unsafe fn lend(&self, data: NonNull<u8>, len: usize) {
        // SAFETY: the caller says so.
        rows!(self, rows => unsafe { rows.lend(data.cast(), len) });
    }
}

impl Drop for Unboxed {
    fn drop(&mut self) {
        self.free();
    }
}

impl fmt::Debug for Unboxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}
