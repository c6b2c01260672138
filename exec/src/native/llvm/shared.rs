//! The declarations and metadata that the functions of a unit share.

use std::fmt::{self, Write};

use rustc_hash::FxHashMap;

use super::super::emitter::Function;
use super::scopes::Scopes;
use super::value::Type;

/// The way in which text is written.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Style {
    /// The number of the unit, if names must differ from those of others.
    pub(super) unit: Option<u32>,
    /// True if addresses are given as names, which are the same in every run.
    pub(super) named_addresses: bool,
}

/// The parts of a module that all its functions share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) style: Style,
    /// The names of the bodies.
    pub(super) bodies: Vec<String>,
    /// By name.
    pub(super) functions: FxHashMap<&'static str, Function>,
    /// The declarations of intrinsic functions, by name.
    pub(super) intrinsics: FxHashMap<String, String>,
    pub(super) addresses: Vec<*const u8>,
    pub(super) scopes: Scopes,
}

/// Adds to a text.
pub(super) fn put(text: &mut String, args: fmt::Arguments<'_>) {
    // A string takes everything.
    let _ = text.write_fmt(args);
}

/// The type that a body returns.
pub(super) fn returned(result: Option<Type>) -> String {
    match result {
        Some(ty) => format!("{{ {ty}, i64 }}"),
        None => "i64".to_owned(),
    }
}
