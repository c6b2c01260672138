//! The state that a session shares with those that run for its programs.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;

use regraft_exec::Limits;
use regraft_ir::{Source, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::defined_pass::DefinedPass;
use crate::code::CodeTypes;
use crate::definition::{Item, Space};
use crate::world::SpecId;

/// The state that a session shares with those that run for its programs.
#[derive(Default, Debug)]
pub(super) struct Shared {
    /// The global variables and constants of the program, for soft scope.
    pub(super) globals: RefCell<FxHashSet<Symbol>>,
    /// The number of functions without names that texts made so far.
    pub(super) counter: Cell<u32>,
    /// The folders of the files that are being run, each included by the one before.
    pub(super) folders: RefCell<Vec<PathBuf>>,
    /// The names of functions that were changed while a program ran.
    pub(super) gone: RefCell<Option<Vec<Symbol>>>,
    /// What the statements that run define when control gets there, by number.
    pub(super) definitions: RefCell<FxHashMap<u32, (Vec<Item>, Space)>>,
    /// The types that code is made of, once the prelude is there.
    pub(super) code: OnceCell<CodeTypes>,
    /// The text that generated code is in, which is empty.
    pub(super) generated: OnceCell<Source>,
    /// The limits of a run.
    pub(super) limits: Cell<Limits>,
    /// Depends on what the code comes from that is being generated.
    pub(super) generating: Cell<Option<SpecId>>,
    /// The number of threads that a program takes.
    pub(super) threads: Cell<usize>,
    /// The number of programs that wait for others.
    pub(super) waiting: Cell<u32>,
    /// The passes that programs have defined.
    pub(super) passes: RefCell<Vec<DefinedPass>>,
}
