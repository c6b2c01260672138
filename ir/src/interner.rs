//! An append-only, thread-safe table of distinct values.
//!
//! Reads by id take no lock, so that passes which run on several functions in parallel can look
//! at types and constants freely; interning takes a read lock when the value is known already
//! and a write lock when it is new.

use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The bits of an id that say which item it is. Those above tell tables apart.
const INDEX_BITS: u32 = 25;
/// As many tables in a row have tags of their own.
const TAG_COUNT: u32 = 32;

/// The most items that a tagged table can hold.
const MAX_TAGGED: u32 = 1 << INDEX_BITS;

/// Tells the ids of a table from those of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u32);

impl Tag {
    /// No tag: ids are not told apart.
    const NONE: Self = Self(0);

    /// The next tag. They are handed out in turn, so that 32 in a row are distinct.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self((NEXT.fetch_add(1, Ordering::Relaxed) % TAG_COUNT) << INDEX_BITS)
    }
}

/// A table of distinct values. Its ids carry its tag, except for the first few, which can be the
/// same in every table.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    items: boxcar::Vec<T>,
    index: RwLock<HashTable<u32>>,
    tag: Tag,
    /// The number of ids that are the same in every table.
    shared: u32,
    max: u32,
    /// The word for the items in messages.
    what: &'static str,
}

impl<T> Default for Interner<T> {
    /// A table whose ids are not told from those of others.
    fn default() -> Self {
        Self { max: u32::MAX, ..Self::tagged("item", Tag::NONE, 0) }
    }
}

impl<T> Interner<T> {
    /// A table with this tag, in which the first `shared` items have the same ids as elsewhere.
    pub(crate) fn tagged(what: &'static str, tag: Tag, shared: u32) -> Self {
        let index = RwLock::new(HashTable::new());
        Self { items: boxcar::Vec::new(), index, tag, shared, max: MAX_TAGGED, what }
    }

    /// The place of an item. An id with another tag gives a place that no table has.
    #[inline]
    fn place(&self, id: u32) -> usize {
        (if id < self.shared { id } else { id ^ self.tag.0 }) as usize
    }

    fn push(&self, item: T) -> u32 {
        let place = u32::try_from(self.items.push(item)).ok().filter(|&place| place < self.max);
        let place = place
            .unwrap_or_else(|| panic!("there are more than {} of one {}", self.max, self.what));
        if place < self.shared { place } else { place | self.tag.0 }
    }

    /// Returns whether the id may be one of this table, by its tag alone.
    #[inline]
    pub(crate) fn owns(&self, id: u32) -> bool {
        id < self.shared || (id ^ self.tag.0) >> INDEX_BITS == 0
    }
}

impl<T> Interner<T> {
    /// The item with this id. O(1), lock-free.
    ///
    /// # Panics
    /// If the id comes from another table.
    #[inline]
    #[track_caller]
    pub(crate) fn get(&self, id: u32) -> &T {
        match self.items.get(self.place(id)) {
            Some(item) => item,
            None => foreign(self.what),
        }
    }

    #[inline]
    pub(crate) fn try_get(&self, id: u32) -> Option<&T> {
        self.items.get(self.place(id))
    }

    /// Makes room for so many more items.
    pub(crate) fn reserve(&self, more: usize, rehash: impl Fn(&T) -> u64) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.reserve(more, |&id| rehash(self.get(id)));
    }

    /// The id of the item that `eq` accepts, made by `make` if there is none yet. `hash` must be
    /// [`hash_of`] of the key that both agree on, and `rehash` the same for an item of the table.
    pub(crate) fn intern_with<K>(
        &self,
        hash: u64,
        key: K,
        eq: impl Fn(&T, &K) -> bool,
        make: impl FnOnce(K) -> T,
        rehash: impl Fn(&T) -> u64,
    ) -> u32 {
        if let Some(id) = self.find_with(hash, |other| eq(other, &key)) {
            return id;
        }
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = index.find(hash, |&id| eq(self.get(id), &key)) {
            return id;
        }
        let id = self.push(make(key));
        index.insert_unique(hash, id, |&id| rehash(self.get(id)));
        id
    }

    pub(crate) fn find_with(&self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<u32> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.find(hash, |&id| eq(self.get(id))).copied()
    }
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn intern(&self, item: T) -> u32 {
        self.intern_with(hash_of(&item), item, T::eq, |item| item, hash_of)
    }
}

#[cold]
#[track_caller]
fn foreign(what: &str) -> ! {
    panic!("a {what} of another context was used")
}

pub(crate) fn hash_of<T: Hash + ?Sized>(item: &T) -> u64 {
    FxBuildHasher.hash_one(item)
}
