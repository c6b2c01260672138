//! Deferred definitions: statements of the prelude that nobody has asked for yet.
//!
//! A library defines many types and methods, of which a program uses few. What a statement defines
//! can be told from its first line, so that it is only noted under that name at first.
//!
//! - A type is declared when its name is asked for.
//! - The methods of a function are parsed when the first call of it is dispatched, in the order of the text.
//! - Of these, a method that takes a value of a type that nobody has asked for is *parked*: there is no such
//!   value. It is parsed when the name of the type is asked for, or when a call is dispatched with an argument of which
//!   too little is known.
//! - The others wait for a call whose arguments they may take, as far as their first line tells.
//!
//! Methods are as old as the place where they stand, so that nobody can tell.

use std::collections::hash_map::Entry;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;

use regraft_ir::{Diagnostic, Source, Symbol};
use regraft_syntax::julia::{self, parse_part};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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
    /// Its text.
    pub(super) fn text(&self) -> &str {
        &self.source.text[self.part.start as usize..self.part.end as usize]
    }

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

/// The table that the methods of a statement belong to, said by a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TableOf {
    /// The table of the function of the name, or of the constructors of the type.
    Callee,
    /// The table of calls of values of the type.
    Instance,
    /// The table of the constructors of the type.
    Constructor,
}

/// A statement about a name that nobody has asked for.
#[derive(Clone, Debug)]
pub(super) struct Note {
    /// The index of its file in [`Notes::files`].
    pub(super) file: u16,
    /// Its range in the file.
    pub(super) part: Range<u32>,
    /// The table of the methods that it defines; `None` of the declaration of a type.
    pub(super) of: Option<TableOf>,
    /// The age of what it defines.
    pub(super) age: u64,
    /// The next statement about the name.
    next: Option<NonZeroU32>,
}

/// The statements about a name that nobody has asked for, as numbers in [`Notes::all`].
#[derive(Clone, Copy, Debug)]
struct Named {
    first: NonZeroU32,
    last: NonZeroU32,
    declares: Declares,
}

/// The kind of entity that a deferred name is bound to when it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declares {
    /// A function.
    Function,
    /// A type.
    Type,
    /// A type that is known under another name, too.
    Alias,
}

/// The statements about names that nobody has asked for. There are thousands of them, few of which are ever needed: a
/// note is a push to one vector.
#[derive(Default, Debug)]
pub(super) struct Notes {
    files: Vec<(Rc<Library>, Source)>,
    /// Number `n` is at `n - 1`.
    all: Vec<Note>,
    by_name: FxHashMap<Symbol, Named>,
}

impl Notes {
    /// Makes room for so many notes about so many names.
    pub(super) fn reserve(&mut self, names: usize, notes: usize) {
        self.by_name.reserve(names);
        self.all.reserve(notes);
    }

    /// Begins a file of a library, to which the next notes belong.
    pub(super) fn begin(&mut self, library: &Rc<Library>, source: &Source) {
        self.files.push((Rc::clone(library), source.clone()));
    }

    /// Notes a statement of the last file under a name.
    pub(super) fn add(
        &mut self,
        name: Symbol,
        declares: Declares,
        of: Option<TableOf>,
        part: Range<u32>,
        age: u64,
    ) {
        let file = self.files.len() as u16 - 1;
        self.all.push(Note { file, part, of, age, next: None });
        let Some(number) = NonZeroU32::new(self.all.len() as u32) else { return };
        match self.by_name.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(Named { first: number, last: number, declares });
            }
            Entry::Occupied(mut entry) => {
                let named = entry.get_mut();
                self.all[named.last.get() as usize - 1].next = Some(number);
                named.last = number;
                if of.is_none() {
                    named.declares = declares;
                }
            }
        }
    }

    /// The kind of entity of a deferred name; `None` if there are no notes about it.
    pub(super) fn get(&self, name: Symbol) -> Option<Declares> {
        self.by_name.get(&name).map(|named| named.declares)
    }

    /// The names with notes, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = (Symbol, Declares)> {
        self.by_name.iter().map(|(&name, named)| (name, named.declares))
    }

    /// Takes the notes about a name, in the order of the text.
    pub(super) fn take(&mut self, name: Symbol) -> Option<Vec<Note>> {
        let named = self.by_name.remove(&name)?;
        let notes = std::iter::successors(Some(named.first), |&number| {
            self.all[number.get() as usize - 1].next
        });
        Some(notes.map(|number| self.all[number.get() as usize - 1].clone()).collect())
    }

    /// The statement of a part of a file; the last one, if none is given.
    pub(super) fn statement(&self, file: Option<u16>, part: Range<u32>) -> Deferred {
        let file = file.map_or(self.files.len() - 1, usize::from);
        let (library, source) = &self.files[file];
        Deferred { library: Rc::clone(library), source: source.clone(), part }
    }
}

/// A statement whose methods take a value of a deferred type, of which there is none.
#[derive(Debug)]
pub(super) struct Parked {
    pub(super) statement: Deferred,
    pub(super) age: u64,
    /// The positions of parameters, with the names.
    pub(super) takes: SmallVec<[(usize, Symbol); 2]>,
}

/// A statement whose methods no call has asked for yet.
#[derive(Debug)]
pub(super) struct Outlined {
    pub(super) statement: Deferred,
    pub(super) age: u64,
    pub(super) takes: Takes,
}

/// The arguments that the methods of a statement take.
#[derive(Debug)]
pub(super) struct Takes {
    pub(super) least: usize,
    pub(super) most: Option<usize>,
    /// The positions of parameters, with what they take.
    pub(super) at: SmallVec<[(usize, TakenType); 3]>,
}

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum TakenType {
    /// At most those of a family.
    Below(FamilyId),
    /// A function.
    Function(Symbol),
    /// Types.
    Types,
}

/// Deferred methods, by the tables that they belong to.
#[derive(Default, Debug)]
pub(super) struct DeferredMethods {
    /// The methods of known functions and types that nobody has asked for, with their ages.
    pub(super) by_table: FxHashMap<TableKey, Vec<(Waiting, u64)>>,
    pub(super) outlined: FxHashMap<TableKey, Vec<Outlined>>,
    pub(super) parked: FxHashMap<TableKey, Vec<Parked>>,
    /// The tables with parked methods that take something of that name.
    pub(super) parked_for: FxHashMap<Symbol, Vec<TableKey>>,
}
