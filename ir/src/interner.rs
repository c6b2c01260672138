//! An append-only, thread-safe table of distinct values.
//!
//! Reads by id take no lock, so that passes which run on several functions in parallel can look
//! at types and constants freely; interning takes a read lock when the value is known already
//! and a write lock when it is new.

use std::hash::{BuildHasher, Hash};
use std::sync::{PoisonError, RwLock};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

#[derive(Debug)]
pub(crate) struct Interner<T> {
    items: boxcar::Vec<T>,
    index: RwLock<HashTable<u32>>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: boxcar::Vec::new(), index: RwLock::new(HashTable::new()) }
    }
}

impl<T> Interner<T> {
    /// The item with this id. O(1), lock-free.
    ///
    /// # Panics
    /// If the id comes from another table.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    #[inline]
    pub(crate) fn try_get(&self, id: u32) -> Option<&T> {
        self.items.get(id as usize)
    }

    /// The id of the item that `eq` accepts, made by `make` if there is none yet. `hash` must be
    /// [`hash_of`] of the key that both agree on, and `rehash` the same for an item of the table.
    pub(crate) fn intern_with(
        &self,
        hash: u64,
        eq: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
        rehash: impl Fn(&T) -> u64,
    ) -> u32 {
        let found = {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            index.find(hash, |&id| eq(self.get(id))).copied()
        };
        if let Some(id) = found {
            return id;
        }
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = index.find(hash, |&id| eq(self.get(id))) {
            return id;
        }
        let id = u32::try_from(self.items.push(make())).expect("fewer than 2^32 interned items");
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
        let hash = hash_of(&item);
        let found = self.find_with(hash, |other| *other == item);
        if let Some(id) = found {
            return id;
        }
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = index.find(hash, |&id| *self.get(id) == item) {
            return id;
        }
        let id = u32::try_from(self.items.push(item)).expect("fewer than 2^32 interned items");
        index.insert_unique(hash, id, |&id| hash_of(self.get(id)));
        id
    }
}

pub(crate) fn hash_of<T: Hash + ?Sized>(item: &T) -> u64 {
    FxBuildHasher.hash_one(item)
}
