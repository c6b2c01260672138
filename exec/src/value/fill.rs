//! Elements that are all the same.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::{ptr, slice};

use super::wide::run_wide;

/// The bytes of a line of the cache.
const CACHE_LINE: usize = 64;

/// A number, a bool, or words side by side, in all of whose bytes are bits of it.
///
/// # Safety
/// There is no padding, and bits that are all zero are a value.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($ty:ty)*) => {
        // SAFETY: numbers and bools have no padding, and zero bits are 0 or false.
        $(unsafe impl Plain for $ty {})*
    };
}
plain!(bool i8 i16 i32 i64 f32 f64);

// SAFETY: as above; elements of an array have nothing between them.
unsafe impl<const N: usize> Plain for [u64; N] {}

/// Sets all places. Zeros are left to `memset`, which has stores for this CPU.
pub(in crate::value) fn fill<T: Plain>(places: &mut [MaybeUninit<T>], item: T) {
    if is_all_zero(&item) {
        // SAFETY: they are the places of these elements, and zero bits are a value.
        unsafe { ptr::write_bytes(places.as_mut_ptr(), 0, places.len()) };
    } else {
        run_wide(
            #[inline(always)]
            || {
                let set = |places: &mut [MaybeUninit<T>]| {
                    for place in places {
                        *place = MaybeUninit::new(item);
                    }
                };
                // Behind the first ones, none of the stores crosses two lines of the cache.
                let before = places.as_ptr().addr().wrapping_neg() % CACHE_LINE;
                let first = (before / size_of::<T>()).min(places.len());
                let (first, rest) = places.split_at_mut(first);
                set(first);
                set(rest);
            },
        );
    }
}

fn is_all_zero<T: Plain>(item: &T) -> bool {
    // SAFETY: there is no padding.
    let bytes = unsafe { slice::from_raw_parts(ptr::from_ref(item).cast::<u8>(), size_of::<T>()) };
    bytes.iter().all(|&byte| byte == 0)
}

/// A vector of the same element `count` times, in the memory of one without elements.
pub(in crate::value) fn filled<T: Plain>(mut room: Vec<T>, item: T, count: usize) -> Vec<T> {
    room.clear();
    room.reserve_exact(count);
    fill(&mut room.spare_capacity_mut()[..count], item);
    // SAFETY: so many elements were just written, for which there is room.
    unsafe { room.set_len(count) };
    room
}

/// Sets all elements.
pub(crate) fn refill<T: Plain>(items: &mut [T], item: T) {
    // SAFETY: places that may hold anything are given elements, and nothing else.
    let places = unsafe { slice::from_raw_parts_mut(items.as_mut_ptr().cast(), items.len()) };
    fill(places, item);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_elements_are_set() {
        for item in [0.0, -0.0, 1.5] {
            let mut items = [2.0; 5];
            refill(&mut items, item);
            let bits = |items: &[f64]| items.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&items), vec![item.to_bits(); 5]);
            assert_eq!(bits(&filled(vec![7.0; 2], item, 3)), vec![item.to_bits(); 3]);
        }
        assert_eq!(filled(Vec::new(), true, 2), [true, true]);
        assert_eq!(filled(Vec::new(), 0i8, 0), []);
    }
}
