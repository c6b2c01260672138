//! The surroundings of a running program: its output, the clock, the profiler.

use std::collections::hash_map::Entry;
use std::fmt;
use std::io::Write;
use std::rc::Rc;

use crate::chain::{Chain, Path, Spot};
use crate::clock::Clock;
use crate::error::Trap;
use crate::profiler::{Overhead, Profile, Profiler};
use crate::tangent::{Tangents, Workspace};
use crate::value::{ElementType, Names, Texts, Val};
use regraft_ir::{Context, Loc, Symbol, Type, suggest};
use rustc_hash::FxHashMap;

/// The place where output goes.
enum Output {
    Kept(Vec<u8>),
    Passed(Box<dyn Write>),
}

/// Does what programs ask for by name (`core.host`): evaluates code, say.
///
/// It may run programs itself. It lends them the host of the one that asks, by [`Host::lend`].
pub trait Services {
    /// Does what `name` stands for.
    ///
    /// # Errors
    /// If there is nothing of that name ([`no_service`]), and if it fails.
    fn serve(&self, name: Symbol, args: &[Val], host: &mut Host) -> Result<Val, Trap>;

    /// Returns the value of a global name that the host has no value for: that of a function or type
    /// that came to be while the program ran.
    fn global(&self, name: Symbol) -> Option<Val> {
        let _ = name;
        None
    }
}

/// The error of asking for what nobody does.
#[cold]
pub fn no_service(ctx: &Context, name: Symbol) -> Trap {
    let name = ctx.str(name);
    Trap::new("ErrorException", format!("there is nothing called `{name}` where this program runs"))
}

/// The outside of a program.
pub struct Host {
    output: Output,
    clock: Clock,
    /// The profiler.
    pub profiler: Profiler,
    globals: FxHashMap<Symbol, Val>,
    /// The fields that were asked for by name.
    fields: FxHashMap<(Type, Symbol), (usize, Type)>,
    /// The errors that handlers are at work on, the innermost last.
    caught: Vec<Caught>,
    workspace: Workspace,
    services: Option<Rc<dyn Services>>,
    /// The instructions that programs ran which this one asked for, and that are not counted yet.
    spent: u64,
    /// The names of functions that are others since the program began.
    changed: Option<Box<[Symbol]>>,
}

/// An error that a handler is at work on.
#[derive(Debug)]
pub(crate) struct Caught {
    /// The number of callers of the function that called the handler.
    pub(crate) depth: usize,
    /// The value that the handler was called with.
    pub(crate) value: Val,
    /// The calls that led to the handler.
    pub(crate) path: Path,
    /// The callers of the function with the handler, as far as they are known: native code says
    /// who called it when an error leaves it.
    pub(crate) callers: Chain,
}

impl Caught {
    /// The calls that led to it, the innermost first.
    pub(crate) fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.path.chain.spots().chain(self.callers.spots())
    }
}

impl Default for Host {
    fn default() -> Self {
        Self {
            output: Output::Kept(Vec::new()),
            clock: Clock::default(),
            profiler: Profiler::default(),
            globals: FxHashMap::default(),
            fields: FxHashMap::default(),
            caught: Vec::new(),
            workspace: Workspace::default(),
            services: None,
            spent: 0,
            changed: None,
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
        self.clock = Clock::given(clock);
    }

    /// Sets how a language names types and functions and shows values: in output, in errors.
    pub fn set_names(&mut self, names: Rc<dyn Names>) {
        self.workspace.names = Some(names);
    }

    /// Sets who does what programs ask for (`core.host`).
    pub fn set_services(&mut self, services: Rc<dyn Services>) {
        self.services = Some(services);
    }

    /// Returns who does what programs ask for.
    pub(crate) fn services(&self) -> Option<Rc<dyn Services>> {
        self.services.clone()
    }

    /// Gives output, clock, profiler and globals to a program that runs while another one waits.
    /// Its limits are up to the caller: [`remaining`](Self::remaining) is the memory that is left.
    #[must_use]
    pub fn lend(&mut self) -> Self {
        let mut lent = std::mem::take(self);
        self.caught = std::mem::take(&mut lent.caught);
        let names = lent.workspace.names.clone();
        self.workspace = std::mem::take(&mut lent.workspace);
        lent.workspace.names = names;
        lent
    }

    /// Takes back what was lent, after `instructions` that count for the one that waits.
    pub fn take_back(&mut self, lent: Self, instructions: u64) {
        let waiting = std::mem::replace(self, lent);
        self.caught = waiting.caught;
        self.workspace = waiting.workspace;
        self.spent += instructions;
    }

    /// Says that functions of these names are others from now on, or that calls of values may run
    /// others.
    pub fn set_changed(&mut self, names: impl Into<Box<[Symbol]>>) {
        self.changed = Some(names.into());
    }

    #[inline]
    pub(crate) fn take_changed(&mut self) -> Option<Box<[Symbol]>> {
        self.changed.take()
    }

    /// The instructions that others ran for this program since the last time that this was asked.
    pub(crate) fn take_spent(&mut self) -> u64 {
        std::mem::take(&mut self.spent)
    }

    /// The texts of values and types.
    pub fn texts<'a>(&'a self, ctx: &'a Context) -> Texts<'a> {
        self.workspace.texts(ctx)
    }

    /// The operations on tangents, within the memory limit and with the names of this host, on
    /// values of programs over `ctx`.
    pub fn tangents<'a>(&'a self, ctx: &'a Context) -> Tangents<'a> {
        Tangents::new(ctx, &self.workspace)
    }

    /// The time in nanoseconds.
    pub fn now(&mut self) -> u64 {
        self.clock.now()
    }

    /// Records the start of an event that is called from `call`, the time last.
    #[inline]
    pub fn record_start(&mut self, event: Symbol, call: Loc) {
        self.profiler.start(event, call, || self.clock.ticks());
    }

    /// Records the end of an event, the time first, if it is needed.
    #[inline]
    pub fn record_end(&mut self, event: Symbol) {
        if self.profiler.stop_untimed(event) {
            return;
        }
        let ticks = self.clock.ticks();
        self.profiler.stop(event, ticks);
    }

    /// Code is looked for or compiled from now on; a profiler of whole programs records it.
    #[inline]
    pub(crate) fn start_compilation(&mut self) -> Option<Symbol> {
        self.profiler.start_compilation(|| self.clock.ticks())
    }

    /// The code is there, or cannot be.
    #[inline]
    pub(crate) fn end_compilation(&mut self, event: Option<Symbol>) {
        if let Some(event) = event {
            self.record_end(event);
        }
    }

    /// Closes the events of the profiler beyond the first `depth` that are open.
    pub(crate) fn unwind_events(&mut self, depth: usize) {
        if self.profiler.depth() > depth {
            let ticks = self.clock.ticks();
            self.profiler.unwind(depth, ticks);
        }
    }

    /// The time in ticks of the clock that the profiler takes.
    pub(crate) fn ticks(&mut self) -> u64 {
        self.clock.ticks()
    }

    /// Ends the events of a profiler that worked with the clock of this host, and returns what it
    /// found. `cost` is what recording takes ([`recording_cost`](crate::recording_cost)), in ticks;
    /// by a clock that somebody set it takes nothing.
    pub fn finish_profiler(&mut self, profiler: Profiler, cost: Overhead) -> Profile {
        let ticks = self.clock.ticks();
        let cost = if self.clock.is_given() { Overhead::default() } else { cost };
        profiler.finish(ticks, self.clock.nanoseconds_per_tick(), cost)
    }

    /// The log of the profiler as text.
    pub fn profiler_text(&self, ctx: &Context) -> String {
        self.profiler.text(ctx, self.clock.nanoseconds_per_tick())
    }

    /// The value of a global name, if it has one.
    pub fn global(&self, name: Symbol) -> Option<&Val> {
        self.globals.get(&name)
    }

    /// Gives a global name a value; the one that it had is returned.
    pub fn set_global(&mut self, name: Symbol, value: Val) -> Option<Val> {
        self.globals.insert(name, value)
    }

    /// Takes the value of a global name away.
    pub fn remove_global(&mut self, name: Symbol) -> Option<Val> {
        self.globals.remove(&name)
    }

    /// The error of reading a global name without a value.
    #[cold]
    pub fn undefined_global(&self, ctx: &Context, name: Symbol) -> Trap {
        // That of a module is its path.
        let text = ctx.str(name);
        let in_module =
            text.rsplit_once('.').filter(|(path, _)| path.starts_with(char::is_uppercase));
        let text = in_module.map_or(text, |(_, last)| last);
        let name = ctx.symbol(text);
        let trap = Trap::new("UndefVarError", format!("`{text}` not defined"));
        let trap = trap.with_values([Val::Sym(name)]);
        let near = match &self.workspace.names {
            Some(names) => names.near(name),
            None => {
                // In an order of their own: that of the table is none.
                let mut known: Vec<&str> = self.globals.keys().map(|&name| ctx.str(name)).collect();
                known.sort_unstable();
                suggest(text, known).map(str::to_owned)
            }
        };
        match near {
            Some(near) => trap.help(format!("did you mean `{near}`?")),
            None => trap,
        }
    }

    /// The [shape](Val::named_shape) of named tuples of type `ty`, or of those of the fields of a
    /// struct of that type; `make` makes it where it is not known.
    pub(crate) fn shape(&self, ty: Type, make: impl FnOnce() -> Option<Type>) -> Option<Type> {
        self.workspace.shape(ty, make)
    }

    /// The position and the type of the field of that name of values of type `of`, or of that shape; `find` finds
    /// it where it is not known.
    pub(crate) fn field(
        &mut self,
        of: Type,
        name: Symbol,
        find: impl FnOnce() -> Option<(usize, Type)>,
    ) -> Option<(usize, Type)> {
        match self.fields.entry((of, name)) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(place) => find().map(|field| *place.insert(field)),
        }
    }

    pub(crate) fn begin_derivative(&mut self, level: usize) {
        self.workspace.begin_derivative(level);
    }

    pub(crate) fn end_derivative(&mut self, level: usize) {
        self.workspace.end_derivative(level);
    }

    /// The derivatives that are being taken.
    pub(crate) fn derivatives(&self) -> usize {
        self.workspace.derivatives()
    }

    /// A handler begins its work on an error, in a function with so many callers, while so many
    /// derivatives are taken. What was going on in calls further in is over.
    pub(crate) fn catch(&mut self, caught: Caught, derivatives: usize) {
        let inside = |other: &Caught| other.depth >= caught.depth;
        self.caught.truncate(self.caught.iter().position(inside).unwrap_or(self.caught.len()));
        self.workspace.end_derivatives(derivatives);
        self.caught.push(caught);
    }

    /// The innermost error that a handler is at work on.
    pub(crate) fn caught(&self) -> Option<&Caught> {
        self.caught.last()
    }

    /// The innermost handler is done.
    pub(crate) fn handled(&mut self) {
        self.caught.pop();
    }

    /// A run is over.
    pub(crate) fn end(&mut self) {
        self.caught.clear();
        self.workspace.end();
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
        self.workspace.budget.start(limit);
    }

    /// Checks that `bytes` more bytes may be used.
    ///
    /// # Errors
    /// If they would exceed the memory limit.
    #[inline]
    pub fn reserve(&self, bytes: usize) -> Result<(), Trap> {
        self.workspace.budget.reserve(bytes)
    }

    /// Checks that there is memory for a value of so many others.
    ///
    /// # Errors
    /// If it would exceed the memory limit.
    #[inline]
    pub fn reserve_fields(&self, count: usize) -> Result<(), Trap> {
        self.workspace.budget.reserve_fields(count)
    }

    /// The bytes that may still be used.
    pub fn remaining(&self) -> usize {
        self.workspace.budget.remaining()
    }

    /// The error of exceeding the memory limit.
    #[cold]
    pub fn memory_exceeded(&self) -> Trap {
        self.workspace.budget.memory_exceeded()
    }

    /// Checks that an array of that length may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit, or is larger than any memory.
    pub fn reserve_array(&self, element: ElementType, len: usize) -> Result<(), Trap> {
        self.workspace.budget.reserve_array(element, len)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("profiler", &self.profiler).finish_non_exhaustive()
    }
}
