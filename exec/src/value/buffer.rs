//! A growable vector of scalars that can be changed through a shared reference.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, Range};

use regraft_math::Forms;
use smallvec::SmallVec;

use super::fill::{Plain, refill};
use super::layout::RawVec;
use super::wide::run_wide;

/// The elements of an array of scalars. An array is an object that several values refer to, so
/// elements are read and written through a shared reference; no method hands out a reference to
/// what is inside.
#[repr(transparent)]
pub struct Buffer<T>(pub(super) RawVec<T>);

impl<T: Copy> Buffer<T> {
    /// A buffer of these elements.
    pub fn new(items: Vec<T>) -> Self {
        Self(RawVec::new(items))
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that there is room for.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// The element at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.0.items().get(index).copied()
    }

    /// Sets the element at `index`; `false` if there is none.
    #[inline]
    pub fn set(&self, index: usize, value: T) -> bool {
        self.0.items_mut().get_mut(index).map(|place| *place = value).is_some()
    }

    /// Removes the last element.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    /// Sets all elements.
    pub fn fill(&self, value: T)
    where
        T: Plain,
    {
        refill(self.0.items_mut(), value);
    }

    /// Copies the elements of `source` to the start of this; `false` if there is no room. Both may
    /// be the same buffer.
    pub fn copy_from(&self, source: &Self) -> bool {
        if std::ptr::eq(self, source) {
            return true;
        }
        // Two buffers, so that the two references are to different vectors.
        let source = source.0.items();
        let places = self.0.items_mut().get_mut(..source.len());
        places.map(|places| places.copy_from_slice(source)).is_some()
    }

    /// Adds the elements of `other` to the first of these. Both may be the same buffer.
    pub fn add(&self, other: &Self)
    where
        T: Add<Output = T>,
    {
        if std::ptr::eq(self, other) {
            self.0.items_mut().iter_mut().for_each(|place| *place = *place + *place);
            return;
        }
        // Two buffers, so that the two references are to different vectors.
        let (places, items) = (self.0.items_mut(), other.0.items());
        run_wide(
            #[inline(always)]
            || places.iter_mut().zip(items).for_each(|(place, &item)| *place = *place + item),
        );
    }

    /// A copy of the elements.
    pub fn to_vec(&self) -> Vec<T> {
        self.0.items().to_vec()
    }
}

impl Buffer<f64> {
    /// Sets `count` elements for each result, from the index `to` on, from 1, to a function of `count` elements of other
    /// buffers, each from an index on. Returns whether all are in its domain; `false` if there are not as many elements, or if
    /// some of a source are set that are not its elements in the same order.
    ///
    /// # Panics
    /// If there are not as many sources as the function has arguments.
    pub fn map(&self, to: i64, count: i64, sources: &[(&Self, i64)], forms: &Forms) -> bool {
        let Ok(count) = usize::try_from(count) else { return true };
        let results = count.checked_mul(forms.results).and_then(|all| self.places(to, all));
        let Some(to) = results else { return count == 0 };
        let mut strips: SmallVec<[Cow<'_, [f64]>; 2]> = SmallVec::new();
        for &(source, at) in sources {
            let Some(at) = source.places(at, count) else { return count == 0 };
            let strip = &source.0.items()[at.clone()];
            let meets = at.start < to.end && to.start < at.end;
            strips.push(match std::ptr::eq(source, self) {
                true if meets && at.start != to.start => return count == 0,
                true => Cow::Owned(strip.to_vec()),
                false => Cow::Borrowed(strip),
            });
        }
        let strips: SmallVec<[&[f64]; 2]> = strips.iter().map(|strip| &**strip).collect();
        // Strips of other buffers, so that the references are to different vectors.
        !forms.map(&strips, &mut self.0.items_mut()[to])
    }

    /// The positions of `count` elements from an index on, if there are as many.
    fn places(&self, from: i64, count: usize) -> Option<Range<usize>> {
        let from = usize::try_from(from.checked_sub(1)?).ok()?;
        let end = from.checked_add(count).filter(|&end| end <= self.len())?;
        Some(from..end)
    }
}

impl<T: Copy> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl<T: Copy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}
