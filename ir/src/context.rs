//! The data that the functions of a module share, with the ops that they are made of.
//!
//! A context only grows, and can be read and added to from several threads at once, so that
//! function passes run in parallel and a clone of a function is a copy of plain numbers.

use std::ops::Deref;
use std::sync::Arc;

use crate::signature::PlainBinaries;
use crate::{Extensions, Interned, Op, OpDef, Registry};

/// Types, constants, symbols, attributes, struct definitions, sources, and the ops that there are.
///
/// All but the ops is [`Interned`], whose methods it has: declarations of ops look at these, and the
/// ops stand above them.
#[derive(Debug)]
pub struct Context {
    registry: Arc<Registry>,
    extensions: Arc<Extensions>,
    pub(crate) plain_binaries: PlainBinaries,
    interned: Interned,
}

impl Context {
    /// An empty context for programs made of the ops of `registry`, with the built-in tables.
    pub fn new(registry: Arc<Registry>) -> Arc<Self> {
        Self::with_extensions(&Arc::new(registry.into()))
    }

    /// An empty context for programs made of the ops that `extensions` declare.
    pub fn with_extensions(extensions: &Arc<Extensions>) -> Arc<Self> {
        let registry = Arc::clone(extensions.ops());
        Arc::new(Self {
            plain_binaries: PlainBinaries::of(&registry),
            registry,
            extensions: Arc::clone(extensions),
            interned: Interned::new(),
        })
    }

    /// The ops that there are.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Everything that crates know of the ops that there are.
    pub fn extensions(&self) -> &Arc<Extensions> {
        &self.extensions
    }

    /// The declaration of `op`.
    ///
    /// # Panics
    /// If no dialect of the registry declares it: the program that made the instruction did not
    /// register its dialect.
    #[inline]
    #[track_caller]
    pub fn def(&self, op: Op) -> &'static OpDef {
        match self.registry.def(op) {
            Some(def) => def,
            None => panic!("{op:?} belongs to no registered dialect"),
        }
    }
}

impl Deref for Context {
    type Target = Interned;

    #[inline]
    fn deref(&self) -> &Interned {
        &self.interned
    }
}
