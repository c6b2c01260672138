//! The building blocks of objects: a counted pointer with its header, and slices and vectors whose parts
//! stand at known places. [`offsets`](super::offsets) says where.

mod counted;
mod heap_slice;
mod raw_vec;

pub(super) use self::counted::Boxed;
pub use self::counted::{Counted, Header, Kind, Kinded, Weak};
pub(super) use self::heap_slice::HeapSlice;
pub(super) use self::raw_vec::RawVec;
pub use self::raw_vec::{Slots, SlotsRef};
