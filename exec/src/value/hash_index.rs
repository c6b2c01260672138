//! Indices of hash tables with open addressing and linear probing, in arrays of `i32`.
//!
//! Of 2ᵏ places, one that is 0 is empty, and one that is negative had an entry that was deleted. Another
//! holds the number of an entry in its lower k bits, and the upper bits of a hash of 31 bits in
//! the others. As the place that a hash says is its lower k bits, little of it is lost, and one access of
//! four bytes tells almost every entry with another hash: the entries themselves, and their hashes, are
//! not looked at. Small places matter more than anything else: in a large table the access to a place
//! misses the caches and the table of pages, and takes as long as a hundred instructions.
//!
//! A search takes O(1 / (1 - load)²) steps, if the hashes are well mixed.

use super::buffer::Buffer;

/// The reason why entries cannot be put into an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IndexError {
    /// There is no empty place, or the number of an entry has more bits than a place has for it.
    Full,
    /// There is no hash of this entry.
    NoEntry(i64),
    /// The hashes are in the index.
    SameArray,
}

/// The bits of an operand that are a hash.
const HASH: u32 = i32::MAX as u32;

/// As [`Buffer::probe`], for the elements of an index.
#[inline]
pub(crate) fn probe(places: &[i32], hash: i64, after: i64) -> i64 {
    let places = indexed(places);
    let mask = (places.len() as u32).wrapping_sub(1);
    let hash = hash as u32 & HASH;
    let start = if after == 0 { hash } else { after as u32 } & mask;
    let Some((before, from)) = places.split_at_checked(start as usize) else { return 0 };
    walk(from, start, hash, mask).or_else(|| walk(before, 0, hash, mask)).unwrap_or(0)
}

impl Buffer<i32> {
    /// The place, from 1, and in the lower 32 bits the number, of the next entry whose hash has the upper bits
    /// of `hash`: from the place on that it says, or from behind the place `after` if that is not 0. 0 if
    /// an empty place comes before, or there is none.
    #[inline]
    pub fn probe(&self, hash: i64, after: i64) -> i64 {
        probe(self.0.items(), hash, after)
    }

    /// Puts the entries from `first` to `last` at the first empty places from the ones on that their hashes say; those
    /// with negative hashes are left out.
    ///
    /// # Errors
    /// If there is not a hash or a place for each. Those before it have their places then.
    pub(crate) fn index_entries(
        &self,
        hashes: &Self,
        first: i64,
        last: i64,
    ) -> Result<(), IndexError> {
        if first > last {
            return Ok(());
        }
        if std::ptr::eq(self, hashes) {
            return Err(IndexError::SameArray);
        }
        if first < 1 {
            return Err(IndexError::NoEntry(first));
        }
        let hashes = hashes.0.items();
        if last as u64 > hashes.len() as u64 {
            return Err(IndexError::NoEntry(last));
        }
        // Two buffers, so that the two references are to different vectors.
        let places = self.0.items_mut();
        let len = indexed(places).len();
        let places = &mut places[..len];
        if last as usize >= len {
            return Err(IndexError::Full);
        }
        let mask = len as u32 - 1;
        for (entry, &hash) in (first as u32..).zip(&hashes[first as usize - 1..last as usize]) {
            let Ok(hash) = u32::try_from(hash) else { continue };
            let (before, from) = places.split_at_mut((hash & mask) as usize);
            let place = empty(from).or_else(|| empty(before));
            *place.ok_or(IndexError::Full)? = (hash & !mask | entry) as i32;
        }
        Ok(())
    }
}

/// The places that are used: a power of two of them.
#[inline]
fn indexed(places: &[i32]) -> &[i32] {
    if places.len().is_power_of_two() && places.len() <= 1 << 30 {
        return places;
    }
    let most = places.len().min(1 << 30).checked_ilog2().map_or(0, |bits| 1 << bits);
    &places[..most]
}

/// The first empty place.
#[inline]
fn empty(places: &mut [i32]) -> Option<&mut i32> {
    places.iter_mut().find(|place| **place == 0)
}

/// The result of [`probe`] in a part of an index that starts at `start`; `None` if there is
/// neither such an entry nor an empty place.
#[inline]
fn walk(places: &[i32], start: u32, hash: u32, mask: u32) -> Option<i64> {
    for (at, &place) in places.iter().enumerate() {
        if place == 0 {
            return Some(0);
        }
        if (place as u32 ^ hash) & !mask == 0 {
            return Some((i64::from(start) + at as i64 + 1) << 32 | i64::from(place as u32 & mask));
        }
    }
    None
}
