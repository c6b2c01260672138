//! Deferred definitions: statements of the prelude that nobody has asked for yet.
//!
//! A library defines many types and methods, of which a program uses few. What a statement defines
//! can be told from its first line, so that it is only noted under that name at first.
//!
//! - A type is declared when its name is asked for.
//! - The methods of a function wait until a call is dispatched whose arguments they may take, as far as their first line
//!   tells, and are parsed then, in the order of the text.
//! - A method that takes a value of a type that nobody has asked for may take no argument whose type is known: there is no
//!   such value.
//!
//! Methods are older than all that programs define, and among them the order is that of the text, so that nobody can tell.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use regraft_ir::{Diagnostic, Source, Symbol};
use regraft_syntax::julia::{self, parse_part};
use rustc_hash::FxHashMap;

use super::method::TableKey;
use super::term::FamilyId;
use crate::definition::StructDecl;
use crate::lower::{self, Library};
use crate::prelude::index::{Declares, Index, Statement, Take};

/// The age of the methods of the prelude.
pub(super) const AGE_OF_PRELUDE: u64 = 0;

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
    pub(crate) fn read(&self) -> Result<Vec<lower::Statement>, Vec<Diagnostic>> {
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
    Statement(NoteId),
    /// The constructors of a struct that declares none.
    Constructors(Box<StructDecl>, FamilyId),
}

/// A statement of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NoteId {
    shelf: u16,
    statement: u16,
}

/// The meaning of a name in the signatures of methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A type that nobody has asked for, or a function: there is no value of it.
    Deferred,
    /// The values of a family.
    Family(FamilyId),
    /// A function.
    Function(Symbol),
    /// Nothing that would say anything.
    Any,
}

/// The files of a library.
#[derive(Debug)]
struct Shelf {
    index: Cow<'static, Index>,
    library: Rc<Library>,
    sources: Vec<Source>,
    /// The state of each name.
    names: Vec<NameState>,
}

#[derive(Clone, Debug)]
struct NameState {
    /// True if something is declared under the name, and nobody has asked for it.
    is_deferred: bool,
    /// The meaning that was found, since any name came to stand for something else.
    meaning: Cell<Option<Meaning>>,
}

/// The statements about names that nobody has asked for. There are thousands of them, few of which are ever needed: all
/// that is said of them stands in an index that is made when this crate is built.
#[derive(Default, Debug)]
pub(super) struct Notes {
    shelves: Vec<Shelf>,
    /// The number of names that somebody has asked for.
    taken: usize,
}

impl Shelf {
    /// The number of a name.
    fn find(&self, name: Symbol) -> Option<u16> {
        self.index.find(self.library.ctx().str(name))
    }

    fn declares(&self, name: u16) -> Option<Declares> {
        let is_deferred = self.names[usize::from(name)].is_deferred;
        self.index.names[usize::from(name)].declares.filter(|_| is_deferred)
    }
}

impl Notes {
    /// Adds a library.
    pub(super) fn add(
        &mut self,
        index: Cow<'static, Index>,
        library: Rc<Library>,
        sources: Vec<Source>,
    ) {
        let new = |name: &crate::prelude::index::Name| NameState {
            is_deferred: name.declares.is_some(),
            meaning: Cell::new(None),
        };
        let names = index.names.iter().map(new).collect();
        self.shelves.push(Shelf { index, library, sources, names });
    }

    /// The kind of entity of a deferred name; `None` if there are no notes about it.
    pub(super) fn get(&self, name: Symbol) -> Option<Declares> {
        let declares = |shelf: &Shelf| shelf.find(name).and_then(|name| shelf.declares(name));
        self.shelves.iter().filter_map(declares).max()
    }

    /// The names with notes, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = (Symbol, Declares)> {
        self.shelves.iter().flat_map(|shelf| {
            let names = (0..).zip(&*shelf.index.names);
            names.filter_map(|(number, name)| {
                Some((shelf.library.ctx().symbol(&name.text), shelf.declares(number)?))
            })
        })
    }

    /// Takes the statements about a name, in the order of the text.
    pub(super) fn take(&mut self, name: Symbol) -> Option<Vec<NoteId>> {
        let mut was_deferred = false;
        let mut notes = Vec::new();
        for (at, shelf) in (0..).zip(&mut self.shelves) {
            let Some(number) = shelf.find(name) else { continue };
            let Shelf { index, names, .. } = shelf;
            let state = &mut names[usize::from(number)];
            state.meaning.set(None);
            if std::mem::take(&mut state.is_deferred) {
                was_deferred = true;
                let statements = index.names[usize::from(number)].statements.clone();
                notes.extend(statements.map(|statement| NoteId { shelf: at, statement }));
            }
        }
        self.taken += usize::from(was_deferred);
        was_deferred.then_some(notes)
    }

    /// The number of names that somebody has asked for.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// All that is known of a statement.
    pub(super) fn note(&self, id: NoteId) -> Note<'_> {
        let shelf = &self.shelves[usize::from(id.shelf)];
        Note { shelf, statement: &shelf.index.statements[usize::from(id.statement)] }
    }
}

/// A statement with its library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note<'a> {
    shelf: &'a Shelf,
    pub(super) statement: &'a Statement,
}

impl<'a> Note<'a> {
    /// The parameters of the methods that say something about arguments.
    pub(super) fn takes(self) -> &'a [Take] {
        let Range { start, end } = self.statement.takes;
        &self.shelf.index.takes[usize::from(start)..usize::from(end)]
    }

    /// The meanings of the names of a parameter; `find` returns that of a name of which it is not known.
    pub(super) fn meanings(
        self,
        take: &Take,
        find: impl Fn(Symbol) -> Meaning,
    ) -> impl Iterator<Item = Meaning> {
        let Self { shelf, .. } = self;
        let Range { start, end } = take.names;
        shelf.index.mentions[usize::from(start)..usize::from(end)].iter().map(move |&name| {
            let meaning = &shelf.names[usize::from(name)].meaning;
            meaning.get().unwrap_or_else(|| {
                let text = &shelf.index.names[usize::from(name)].text;
                let found = find(shelf.library.ctx().symbol(text));
                meaning.set(Some(found));
                found
            })
        })
    }

    /// The statement, to be parsed.
    pub(super) fn deferred(self) -> Deferred {
        let Statement { file, range, .. } = self.statement;
        let source = self.shelf.sources[usize::from(*file)].clone();
        Deferred { library: Rc::clone(&self.shelf.library), source, part: range.clone() }
    }
}

/// The methods of known functions and types that no call has asked for, by the tables that they belong to.
pub(super) type DeferredMethods = FxHashMap<TableKey, Vec<Waiting>>;
