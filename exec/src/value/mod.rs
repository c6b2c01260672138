//! Values of the running program.
//!
//! A [`Val`] takes 16 bytes: scalars are in it, everything else is behind one counted pointer.
//! Tuples and immutable structs are values, compared by content; arrays, refs and mutable structs
//! are objects with an identity. Values belong to the thread that made them.
//!
//! ```
//! use regraft_exec::value::{Val, show_string, to_json};
//!
//! let ctx = regraft_dialects::context();
//! let pair = Val::tuple([Val::F64(1.0), Val::I64(2)]);
//! assert_eq!(show_string(&ctx, &pair), "(1.0, 2)");
//! assert_eq!(to_json(&ctx, &pair), "[1.0, 2]");
//! ```

mod array;
mod buffer;
mod charge;
mod construct;
mod element_type;
mod equality;
mod fill;
mod float;
mod hash;
mod hash_index;
mod heap;
mod json;
mod layout;
mod loan;
mod name;
pub(crate) mod offsets;
mod parcel;
pub(crate) mod pool;
pub(crate) mod product;
mod read_type;
mod scalar;
mod shared;
mod show;
mod strided;
mod texts;
mod types;
mod unboxed;
mod unboxed_type;
mod unboxed_values;
mod val;
mod wide;

pub use array::ArrayError;
pub(crate) use array::by_element;
pub use buffer::Buffer;
pub use charge::{Charge, live_bytes};
pub(crate) use construct::Compound;
pub use element_type::ElementType;
pub use equality::{egal, same};
pub(crate) use fill::refill;
pub use hash::hash;
pub(crate) use hash_index::{IndexError, probe};
pub(crate) use heap::note_change;
pub use heap::{collect_cycles, live_containers};
pub use json::to_json;
pub use layout::{Counted, Header, InlineList, Kind, Kinded, Slots, SlotsRef, Weak};
pub(crate) use loan::Loan;
pub use name::type_name;
pub(crate) use offsets::{FIRST_SHARED, tag_of, undefined_tag};
pub(crate) use parcel::{Change, Parcel};
pub use pool::Pool;
pub use read_type::{read_signature, read_type, signature};
pub(crate) use scalar::Scalar;
pub use shared::Shared;
pub use show::{print_string, print_within, show_string, show_within};
pub(crate) use strided::{Strides, are_in_order};
pub use texts::{Names, Part, Shown, Texts};
pub use types::{MAX_TYPE_DEPTH, MAX_TYPE_SIZE};
pub use unboxed::Unboxed;
pub use unboxed_type::UnboxedType;
pub(crate) use val::Pairs;
pub use val::{Array, Dims, Element, Fields, Items, Object, RefCellObject, Storage, Text, Val};
