//! The image of a unit: what an object file holds of it beside its machine code.
//!
//! | | |
//! |---|---|
//! | version, hash | those of the compiler, and of all that code depends on: they are compared when it is loaded |
//! | text | the functions as IR, of which the first one is called from outside |
//! | references | the [table](super::references) of addresses that code needs |
//! | entries | the ways into the functions that there is machine code for, in the order in which they are met |
//!
//! It is data with a fixed layout, which a compiler writes and a library of the same version reads.

use std::ffi::c_void;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::context::Entry;

/// The version of the layout, and of the list of functions.
pub(super) const LAYOUT: u64 = 3;
/// The version of the compiler.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The image of a unit in an object file.
#[repr(C)]
#[derive(Debug)]
pub struct Image {
    layout: u64,
    hash: u64,
    version: *const u8,
    version_len: usize,
    text: *const u8,
    text_len: usize,
    references: *const [u32; 3],
    reference_count: usize,
    entries: *const Entry,
    entry_count: usize,
    /// The state that the library keeps for the image, once it is loaded.
    state: AtomicPtr<c_void>,
}

/// The places of the parts of an [`Image`], in bytes.
pub(super) mod offsets {
    use super::Image;
    use std::mem::offset_of;

    pub(in super::super) const LAYOUT: usize = offset_of!(Image, layout);
    pub(in super::super) const HASH: usize = offset_of!(Image, hash);
    pub(in super::super) const VERSION: usize = offset_of!(Image, version);
    pub(in super::super) const TEXT: usize = offset_of!(Image, text);
    pub(in super::super) const REFERENCES: usize = offset_of!(Image, references);
    pub(in super::super) const ENTRIES: usize = offset_of!(Image, entries);
}

// SAFETY: but for the state, which is atomic, nothing of an image is ever written to.
unsafe impl Sync for Image {}
// SAFETY: as above.
unsafe impl Send for Image {}

impl Image {
    /// Checks that the file is of this version.
    ///
    /// # Errors
    /// If it is of another one.
    pub(crate) fn check_version(&self) -> Result<(), String> {
        if self.layout != LAYOUT {
            let (have, want) = (self.layout, LAYOUT);
            return Err(format!("the object file has layout {have}, and the library {want}"));
        }
        // SAFETY: the layout is this one, so the parts are where the compiler has put them.
        let version = unsafe { part(self.version, self.version_len) };
        if version != VERSION.as_bytes() {
            let version = String::from_utf8_lossy(version);
            return Err(format!(
                "the object file was made by version {version}, and the library is of version {VERSION}"
            ));
        }
        Ok(())
    }

    /// The functions as IR. The version has been checked before.
    pub fn text(&self) -> &str {
        // SAFETY: as above.
        std::str::from_utf8(unsafe { part(self.text, self.text_len) }).unwrap_or("")
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn references(&self) -> &[[u32; 3]] {
        // SAFETY: as above.
        unsafe { part(self.references, self.reference_count) }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        // SAFETY: as above.
        unsafe { part(self.entries, self.entry_count) }
    }

    /// The state of the image, if it is loaded.
    #[inline]
    pub(crate) fn state<T>(&'static self) -> Option<&'static T> {
        let state = self.state.load(Ordering::Acquire).cast::<T>();
        // SAFETY: `set_state` has put it there, for ever. There is one type of states.
        unsafe { state.as_ref() }
    }

    /// Sets the state, unless another thread has done so; returns the one that is kept.
    pub(crate) fn set_state<T>(&'static self, state: Box<T>) -> &'static T {
        let new = Box::into_raw(state);
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        let set = self.state.compare_exchange(ptr::null_mut(), new.cast(), success, failure);
        let state = match set {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: nobody else knows it.
                drop(unsafe { Box::from_raw(new) });
                other.cast()
            }
        };
        // SAFETY: as above.
        unsafe { &*state }
    }
}

/// # Safety
/// As many values as that are at `data`, for ever.
unsafe fn part<T>(data: *const T, len: usize) -> &'static [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller says so.
    unsafe { slice::from_raw_parts(data, len) }
}

/// A hash that is the same on every machine (FNV-1a).
pub(crate) fn hash_of(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
