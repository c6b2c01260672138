//! Methods of the prelude whose text nobody has parsed yet.
//!
//! A library defines many methods, of which a program uses few. What a method is of can be told
//! from its first line, so that only the name is bound at first. The text is parsed, and the method
//! put into its table, when the table is first asked, together with all others of that table, in
//! the order of the text. They are as old as the place where they stand, so that nobody can tell.

use std::ops::Range;
use std::rc::Rc;

use regraft_ir::{Diagnostic, Source};
use regraft_syntax::julia::{self, parse_part};
use rustc_hash::FxHashMap;

use super::method::TableKey;
use super::term::FamilyId;
use crate::definition::StructDecl;
use crate::lower::{Library, Statement};

/// A statement that is not parsed.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    /// The library that it is a part of.
    pub(crate) library: Rc<Library>,
    pub(crate) source: Source,
    /// Its range in the source.
    pub(crate) part: Range<u32>,
}

impl Deferred {
    /// Parses it.
    ///
    /// # Errors
    /// Returns the errors of the text.
    pub(crate) fn read(&self) -> Result<Vec<Statement>, Vec<Diagnostic>> {
        let options = julia::Options { prelude: true, ..julia::Options::default() };
        let parsed = parse_part(
            self.library.ctx(),
            &self.source,
            self.part.start as usize..self.part.end as usize,
            options,
        );
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        self.library.lower_signatures(parsed.ast)
    }
}

/// Methods that are not there yet.
#[derive(Debug)]
pub(super) enum Waiting {
    /// The methods that a statement defines.
    Statement(Deferred),
    /// The constructors of a struct that declares none.
    Constructors(Box<StructDecl>, FamilyId),
}

/// The methods that are not there yet, by the table that they belong to, with their ages.
#[derive(Default, Debug)]
pub(super) struct DeferredMethods {
    pub(super) by_table: FxHashMap<TableKey, Vec<(Waiting, u64)>>,
    /// The name of a function, and the table of its methods, that came last: there are mostly
    /// several methods of one function in a row.
    pub(super) last: Option<(&'static str, TableKey)>,
}
