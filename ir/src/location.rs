//! Locations: the places of the user's program that instructions come from.
//!
//! A [`Loc`] is 32 bits. The common case, a position in a source that was read, is the offset of
//! its byte in the concatenation of all sources of the context, as in rustc: it costs nothing to
//! make, and the line is looked up only when it is shown. Inlined instructions, and positions in
//! files that were not read, are interned.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::Symbol;
use crate::interner::Interner;

/// The location of an instruction; 0 is "unknown". Those in texts are in the order of these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Loc(pub(crate) u32);

const INTERNED_BIT: u32 = 1 << 31;

impl Loc {
    /// No location is known.
    pub const UNKNOWN: Self = Self(0);

    /// Returns whether a location is known.
    #[inline]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }
}

/// The meaning of a [`Loc`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Nothing is known.
    Unknown,
    /// A place in a file.
    File {
        /// The name of the file.
        file: Arc<str>,
        /// The line, from 1.
        line: u32,
        /// The column in bytes, from 1.
        column: u32,
    },
    /// An instruction that was inlined.
    Inlined {
        /// Its place in the function that was called.
        at: Loc,
        /// The name of that function.
        callee: Symbol,
        /// The call that was replaced.
        call_site: Loc,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Interned {
    Named { file: Symbol, line: u32, column: u32 },
    Inlined { at: Loc, callee: Symbol, call_site: Loc },
}

/// A source text that was read. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Source(Arc<SourceText>);

/// The contents of a [`Source`].
#[derive(Debug)]
pub struct SourceText {
    /// The name of the file, as the user gave it.
    pub name: Arc<str>,
    /// Its text.
    pub text: Cow<'static, str>,
    base: u32,
    /// The offsets at which lines begin, once somebody asks for a line.
    line_starts: OnceLock<Box<[u32]>>,
}

impl Source {
    /// Returns whether one is a clone of the other. O(1).
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Source {
    type Target = SourceText;

    fn deref(&self) -> &SourceText {
        &self.0
    }
}

impl SourceText {
    /// The location of the byte at `offset`; past the end it is the location of the end.
    #[inline]
    pub fn loc(&self, offset: usize) -> Loc {
        Loc(self.base + offset.min(self.text.len()) as u32)
    }

    /// Line and column (in bytes) of the byte at `offset`, both from 1. O(log lines), the first time
    /// O(length of the text).
    pub fn line_column(&self, offset: usize) -> (u32, u32) {
        let starts = self.line_starts.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(ends.map(|end| end as u32 + 1)).collect()
        });
        let offset = offset.min(self.text.len()) as u32;
        let line = starts.partition_point(|&start| start <= offset);
        (line as u32, offset - starts[line - 1] + 1)
    }
}

/// All sources of a context, and the interned locations.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    sources: RwLock<Vec<Source>>,
    interned: Interner<Interned>,
}

impl SourceMap {
    /// Adds a source; `None` when all sources together would exceed 2 GiB.
    pub(crate) fn add(&self, name: &str, text: Cow<'static, str>) -> Option<Source> {
        let mut sources = self.sources.write().unwrap_or_else(PoisonError::into_inner);
        let base = sources.last().map_or(1, |last| last.base + last.text.len() as u32 + 1);
        let end = u32::try_from(text.len()).ok()?.checked_add(base)?;
        if end >= INTERNED_BIT {
            return None;
        }
        let text = SourceText { name: name.into(), text, base, line_starts: OnceLock::new() };
        let source = Source(Arc::new(text));
        sources.push(source.clone());
        Some(source)
    }

    pub(crate) fn named(&self, file: Symbol, line: u32, column: u32) -> Loc {
        Loc(self.interned.intern(Interned::Named { file, line, column }) | INTERNED_BIT)
    }

    pub(crate) fn inlined(&self, at: Loc, callee: Symbol, call_site: Loc) -> Loc {
        if !call_site.is_known() {
            return at;
        }
        Loc(self.interned.intern(Interned::Inlined { at, callee, call_site }) | INTERNED_BIT)
    }

    /// The source that holds `loc`, and the offset in it.
    pub(crate) fn source_of(&self, loc: Loc) -> Option<(Source, usize)> {
        if !loc.is_known() || loc.0 & INTERNED_BIT != 0 {
            return None;
        }
        let sources = self.sources.read().unwrap_or_else(PoisonError::into_inner);
        let index = sources.partition_point(|source| source.base <= loc.0).checked_sub(1)?;
        let source = sources[index].clone();
        let offset = (loc.0 - source.base) as usize;
        Some((source, offset))
    }

    pub(crate) fn resolve(&self, loc: Loc, name: impl Fn(Symbol) -> Arc<str>) -> Location {
        if loc.0 & INTERNED_BIT == 0 {
            return match self.source_of(loc) {
                None => Location::Unknown,
                Some((source, offset)) => {
                    let (line, column) = source.line_column(offset);
                    Location::File { file: Arc::clone(&source.name), line, column }
                }
            };
        }
        match self.interned.try_get(loc.0 & !INTERNED_BIT) {
            None => Location::Unknown,
            Some(&Interned::Named { file, line, column }) => {
                Location::File { file: name(file), line, column }
            }
            Some(&Interned::Inlined { at, callee, call_site }) => {
                Location::Inlined { at, callee, call_site }
            }
        }
    }
}
