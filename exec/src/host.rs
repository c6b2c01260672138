//! What a running program reaches outside of itself: its output, the clock, the profiler.

use std::cell::{RefCell, RefMut};
use std::fmt;
use std::io::Write;
use std::rc::Rc;
use std::time::Instant;

use crate::error::{ErrorKind, Trap};
use crate::profiler::Calls;
use crate::value::tangent::{self, Known, Spare};
use crate::value::{Array, Names, Texts, Val, collect_cycles, live_bytes};
use regraft_dialects::tangent::TangentTable;
use regraft_ir::{Context, Symbol, Type, suggest};
use rustc_hash::FxHashMap;

/// Where output goes.
enum Output {
    Kept(Vec<u8>),
    Passed(Box<dyn Write>),
}

/// The shadows of objects that globals hold, of derivatives that are being taken. A derivative of
/// some level is that of all lower levels as well, until another one begins within it.
#[derive(Default)]
struct Scopes {
    /// The first is for derivatives that nobody has begun.
    shadows: Vec<Known>,
    begun: usize,
    /// By level, from 1: which ones are at work, the last one first.
    levels: Vec<Vec<usize>>,
}

impl Scopes {
    fn of(&mut self, level: usize) -> &mut Known {
        let found = self.levels.get(level.saturating_sub(1)).and_then(|begun| begun.last());
        // Beyond all levels, it is the outermost one.
        let scope = found.copied().unwrap_or(self.begun.min(1));
        if self.shadows.len() <= scope {
            self.shadows.resize_with(scope + 1, Known::default);
        }
        &mut self.shadows[scope]
    }

    fn begin(&mut self, level: usize) {
        self.begun += 1;
        if self.levels.len() < level {
            self.levels.resize_with(level, Vec::new);
        }
        for begun in &mut self.levels[..level] {
            begun.push(self.begun);
        }
    }

    fn end(&mut self, level: usize) {
        let end = level.min(self.levels.len());
        for begun in &mut self.levels[..end] {
            begun.pop();
        }
        if let Some(shadows) = self.shadows.get_mut(self.begun) {
            tangent::clear(shadows);
        }
        self.begun = self.begun.saturating_sub(1);
    }

    fn clear(&mut self) {
        self.begun = 0;
        self.levels.iter_mut().for_each(Vec::clear);
        self.shadows.iter_mut().for_each(tangent::clear);
    }
}

/// The outside of a program.
pub struct Host {
    output: Output,
    clock: Box<dyn FnMut() -> u64>,
    /// The profiler's buffer.
    pub calls: Calls,
    globals: FxHashMap<Symbol, Val>,
    names: Option<Rc<dyn Names>>,
    /// The types of tangents of the program.
    tangent_types: RefCell<TangentTable>,
    /// For the next walk over tangents.
    spare: RefCell<Spare>,
    /// The shapes of named tuples of a type, and of the fields of a struct.
    shapes: RefCell<FxHashMap<Type, Type>>,
    /// The shadows of objects that globals hold, of each derivative that is being taken.
    global_shadows: RefCell<Scopes>,
    /// The live bytes that may not be exceeded.
    ceiling: usize,
    limit: usize,
}

impl Default for Host {
    fn default() -> Self {
        let start = Instant::now();
        Self {
            output: Output::Kept(Vec::new()),
            clock: Box::new(move || start.elapsed().as_nanos() as u64),
            calls: Calls::default(),
            globals: FxHashMap::default(),
            names: None,
            tangent_types: RefCell::default(),
            spare: RefCell::default(),
            shapes: RefCell::default(),
            global_shadows: RefCell::default(),
            ceiling: usize::MAX,
            limit: usize::MAX,
        }
    }
}

impl Host {
    /// Passes output on instead of keeping it.
    pub fn set_output(&mut self, output: Box<dyn Write>) {
        self.output = Output::Passed(output);
    }

    /// Sets the clock, which gives nanoseconds since some fixed time.
    pub fn set_clock(&mut self, clock: impl FnMut() -> u64 + 'static) {
        self.clock = Box::new(clock);
    }

    /// Sets how a language names types and functions and shows values: in output, in errors.
    pub fn set_names(&mut self, names: Rc<dyn Names>) {
        self.names = Some(names);
    }

    /// How values and types read.
    pub fn texts<'a>(&'a self, ctx: &'a Context) -> Texts<'a> {
        Texts { ctx, names: self.names.as_deref() }
    }

    /// The time in nanoseconds.
    pub fn now(&mut self) -> u64 {
        (self.clock)()
    }

    /// Records the start of an event in the profiler, the time last.
    pub fn record_start(&mut self, event: Symbol) {
        self.calls.start(event, &mut self.clock);
    }

    /// The value of a global name, if it has one.
    pub fn global(&self, name: Symbol) -> Option<&Val> {
        self.globals.get(&name)
    }

    /// Gives a global name a value; the one that it had is returned.
    pub fn set_global(&mut self, name: Symbol, value: Val) -> Option<Val> {
        self.globals.insert(name, value)
    }

    /// The error of reading a global name without a value.
    #[cold]
    pub fn undefined_global(&self, ctx: &Context, name: Symbol) -> Trap {
        let text = ctx.str(name);
        let trap = Trap::new("UndefVarError", format!("`{text}` not defined"));
        if let Some(names) = &self.names {
            return match names.near(name) {
                Some(near) => trap.help(format!("did you mean `{near}`?")),
                None => trap,
            };
        }
        // In an order of their own: that of the table is none.
        let mut known: Vec<&str> = self.globals.keys().map(|&name| ctx.str(name)).collect();
        known.sort_unstable();
        match suggest(text, known) {
            Some(near) => trap.help(format!("did you mean `{near}`?")),
            None => trap,
        }
    }

    pub(crate) fn tangent_types(&self) -> RefMut<'_, TangentTable> {
        self.tangent_types.borrow_mut()
    }

    /// The [shape](Val::named_shape) of named tuples of type `ty`, or of those of the fields of a
    /// struct of that type; `make` says what it is. It is remembered.
    pub(crate) fn shape(&self, ty: Type, make: impl FnOnce() -> Option<Type>) -> Option<Type> {
        if let Some(&shape) = self.shapes.borrow().get(&ty) {
            return Some(shape);
        }
        let shape = make()?;
        self.shapes.borrow_mut().insert(ty, shape);
        Some(shape)
    }

    pub(crate) fn take_spare(&self) -> Spare {
        self.spare.take()
    }

    pub(crate) fn keep_spare(&self, spare: Spare) {
        self.spare.replace(spare);
    }

    pub(crate) fn take_global_shadows(&self, level: usize) -> Known {
        std::mem::take(self.global_shadows.borrow_mut().of(level))
    }

    pub(crate) fn keep_global_shadows(&self, level: usize, shadows: Known) {
        *self.global_shadows.borrow_mut().of(level) = shadows;
    }

    pub(crate) fn begin_derivative(&mut self, level: usize) {
        self.global_shadows.get_mut().begin(level);
    }

    pub(crate) fn end_derivative(&mut self, level: usize) {
        self.global_shadows.get_mut().end(level);
    }

    /// A run is over.
    pub(crate) fn end(&mut self) {
        self.global_shadows.get_mut().clear();
    }

    /// Writes output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print(&mut self, text: &str) -> Result<(), Trap> {
        match &mut self.output {
            Output::Kept(kept) => {
                kept.extend_from_slice(text.as_bytes());
                Ok(())
            }
            Output::Passed(to) => to
                .write_all(text.as_bytes())
                .map_err(|error| Trap::new("IOError", format!("cannot print: {error}"))),
        }
    }

    pub(crate) fn take_output(&mut self) -> String {
        match &mut self.output {
            Output::Kept(kept) => String::from_utf8_lossy(&std::mem::take(kept)).into_owned(),
            Output::Passed(to) => {
                // Nothing is lost by a failure here that a later write would not report.
                let _ = to.flush();
                String::new()
            }
        }
    }

    /// From now on, `limit` more bytes may be used.
    pub(crate) fn start(&mut self, limit: usize) {
        self.limit = limit;
        self.ceiling = live_bytes().saturating_add(limit);
    }

    /// Checks that `bytes` more bytes may be used.
    ///
    /// # Errors
    /// If they would exceed the memory limit.
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), Trap> {
        if live_bytes().saturating_add(bytes) <= self.ceiling {
            return Ok(());
        }
        self.reserve_after_collection(bytes)
    }

    #[cold]
    fn reserve_after_collection(&self, bytes: usize) -> Result<(), Trap> {
        collect_cycles();
        if live_bytes().saturating_add(bytes) <= self.ceiling {
            return Ok(());
        }
        Err(self.memory_exceeded().help(format!("{bytes} more bytes were asked for")))
    }

    /// The bytes that may still be used.
    pub fn remaining(&self) -> usize {
        self.ceiling.saturating_sub(live_bytes())
    }

    /// The error of exceeding the memory limit.
    #[cold]
    pub fn memory_exceeded(&self) -> Trap {
        let message = format!("the memory limit of {} bytes is exceeded", self.limit);
        Trap::of_kind(ErrorKind::Memory, message)
    }

    /// Checks that an array of that length may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit, or is larger than any memory.
    pub fn reserve_array(&self, element: Type, len: usize) -> Result<(), Trap> {
        match Array::bytes(element, len) {
            Some(bytes) => self.reserve(bytes),
            None => Err(Trap::new(
                "OutOfMemoryError",
                format!("an array of {len} elements is too large"),
            )),
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("calls", &self.calls).finish_non_exhaustive()
    }
}
