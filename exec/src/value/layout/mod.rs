//! The building blocks of objects: a counted pointer with its header, and slices, vectors and lists
//! whose parts stand at known places. [`offsets`](super::offsets) says where.

mod counted;
mod heap_slice;
mod inline_list;
mod raw_vec;

pub(super) use self::counted::Boxed;
pub use self::counted::{Counted, Header, Kind, Kinded, Weak};
pub(super) use self::heap_slice::HeapSlice;
pub use self::inline_list::InlineList;
pub(super) use self::inline_list::Parts;
pub(super) use self::raw_vec::RawVec;
pub use self::raw_vec::{Slots, SlotsRef};
