//! The interpreter: reference semantics, limits, and errors with locations.

mod ahead;
mod check;
mod code;
mod compile;
mod continuation;
mod emit;
mod entry_point;
mod inline_cache;
mod inst;
mod leaf;
mod link;
mod live;
mod machine;
mod native;
mod natives;
mod operands;
mod parallel_copy;
mod print;
mod quick;
mod register;
mod resolve;
mod run_by;
mod state;
#[cfg(feature = "jit")]
mod tiering;
#[cfg(feature = "jit")]
mod tiers;
mod workers;
mod world;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regraft_ir::{Context, Function, Module, Symbol};

pub(crate) use self::code::{CallSite, Code, EvalSite, ScalarOp};
pub(crate) use self::compile::set_target;
pub(crate) use self::entry_point::EntryPoint;
pub(crate) use self::inst::{Arg, Inst, Pc};
pub(crate) use self::live::LiveScalars;
pub(crate) use self::machine::Returned;
use self::natives::Natives;
pub(crate) use self::operands::targets;
pub(crate) use self::quick::Quick;
pub(crate) use self::register::{Class, Dst, Reg, Scalar, Src};
pub use self::resolve::PreparedCall;
pub use self::run_by::RunBy;
use self::state::State;
use self::world::World;
use crate::call_resolver::CallResolver;
use crate::chain::Chain;
use crate::engine::{Engine, EngineKind, Limits, Tiers, preset_threads};
use crate::error::{ErrorKind, ExecError, Trap};
use crate::host::Host;
pub use crate::native::CodeForm;
use crate::native::{Backend, backend};
use crate::value::Val;

/// Runs functions by compiling each once, when it is first called, to a compact form for a
/// register machine.
///
/// A call in the program takes no stack of ours, so programs may recurse as deep as
/// [`Limits::depth`] allows.
pub struct Interpreter {
    world: World,
    state: State,
    kind: EngineKind,
    tiers: Tiers,
}

impl Interpreter {
    /// An interpreter of the functions of `module`. Ops are evaluated as the [`EvalTable`](crate::EvalTable) of its
    /// context says, by the [preset engine](EngineKind::preset).
    ///
    /// # Panics
    /// If there is no such engine for this machine, or the preset number of threads is none.
    pub fn new(module: &Module) -> Self {
        let mut interpreter = Self::without_compiler(module);
        let set = EngineKind::preset().and_then(|kind| interpreter.set_engine(kind));
        let set =
            set.and_then(|()| preset_threads().map(|threads| interpreter.set_threads(threads)));
        if let Err(message) = set {
            panic!("{message}");
        }
        interpreter
    }

    /// The same, without code of its own.
    pub(crate) fn without_compiler(module: &Module) -> Self {
        let world = World {
            ctx: Arc::clone(module.ctx()),
            slots: boxcar::Vec::new(),
            by_name: RefCell::default(),
            spare: Vec::new(),
            outdated: RefCell::default(),
            resolver: RefCell::default(),
            links: RefCell::default(),
            tuple_types: RefCell::default(),
            links_since: 0,
            natives: Natives::default(),
        };
        let state = State {
            limits: Limits::default(),
            threads: 1,
            fuel_left: 0,
            slice: machine::SLICE,
            slices: 0,
            interrupt: Arc::default(),
            host: Host::default(),
            scalars: Vec::new(),
            vals: Vec::new(),
            frames: Vec::new(),
            operands: Vec::new(),
            replaced: 0,
            native: Arc::default(),
        };
        let (kind, tiers) = (EngineKind::Interpreter, Tiers::default());
        let mut interpreter = Self { world, state, kind, tiers };
        interpreter.world.take_over(module);
        interpreter
    }

    /// The context of the program.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.world.ctx
    }

    /// Output, clock, profiler, globals, names.
    pub fn host(&self) -> &Host {
        &self.state.host
    }

    /// Output, clock, profiler, globals, names.
    pub fn host_mut(&mut self) -> &mut Host {
        &mut self.state.host
    }

    /// Sets whom to ask for functions that the module does not have.
    pub fn set_call_resolver(&mut self, resolver: Box<dyn CallResolver>) {
        self.world.resolver = RefCell::new(Some(resolver));
        self.forget(&[]);
    }

    /// Drops the functions of these names, and all that the call resolver has answered to calls of
    /// values: after a redefinition, both are asked for again. O(compiled call sites).
    pub fn forget(&mut self, names: &[Symbol]) {
        self.world.forget(names);
    }

    /// Calls a value, as `core.apply` does.
    ///
    /// # Errors
    /// If it cannot be called so, if the program traps, and if it exceeds a limit.
    pub fn call_value(&mut self, callee: &Val, args: &[Val]) -> Result<Val, ExecError> {
        self.start();
        let linked = self.world.arrange(&mut self.state.host, callee, args);
        let (slot, args) = linked.map_err(|trap| self.not_started(trap))?;
        machine::run(&self.world, &mut self.state, slot, &args)
    }

    /// The same at a place that remembers what the last call ran.
    ///
    /// # Errors
    /// As [`call_value`](Self::call_value).
    pub fn call_prepared(
        &mut self,
        site: &mut PreparedCall,
        callee: &Val,
        args: &[Val],
    ) -> Result<Val, ExecError> {
        self.start();
        let linked = self.world.arrange_prepared(site, &mut self.state.host, callee, args);
        let (slot, args) = linked.map_err(|trap| self.not_started(trap))?;
        machine::run(&self.world, &mut self.state, slot, &args)
    }

    /// Runs a function that nobody calls by its name, such as code at top level, and forgets it.
    /// It is a part of a larger run: an interrupt that was set before it is not lost.
    ///
    /// # Errors
    /// As [`Engine::call`].
    pub fn run_once(&mut self, function: Rc<Function>, args: &[Val]) -> Result<Val, ExecError> {
        self.state.start();
        let slot = self.world.lend_slot(function);
        let result = machine::run(&self.world, &mut self.state, slot, args);
        self.world.take_slot_back(slot);
        result
    }

    /// Calls the function in a slot as a part of a larger run: an interrupt that was set before it is not lost.
    pub(crate) fn call_part(&mut self, slot: u32, args: &[Val]) -> Result<Val, ExecError> {
        self.state.start();
        machine::run(&self.world, &mut self.state, slot, args)
    }

    /// Makes the code of a function, native code if the engine makes some, before it is first called. Returns its slot.
    pub(crate) fn prepare(&mut self, function: Symbol) -> Result<u32, ExecError> {
        let slot = self.slot_of(function)?;
        let prepared = self.world.code(slot).map(|code| self.world.compile_now(code));
        prepared.map_err(|trap| self.not_started(trap))?;
        Ok(slot)
    }

    /// Sets what runs the functions. What was compiled before is dropped.
    ///
    /// # Errors
    /// If there is no such engine for this machine.
    pub fn set_engine(&mut self, kind: EngineKind) -> Result<(), String> {
        let backend = backend(kind)?;
        self.kind = kind;
        self.set_backend(backend);
        Ok(())
    }

    /// Sets when [`EngineKind::Auto`] has functions compiled by LLVM. What was compiled before is dropped.
    pub fn set_tiers(&mut self, tiers: Tiers) {
        self.tiers = tiers;
        self.set_backend(self.world.natives.backend.clone());
    }

    fn set_backend(&mut self, backend: Option<Rc<dyn Backend>>) {
        let tiers = if self.kind == EngineKind::Auto { self.tiers } else { Tiers::Never };
        self.state.native.is_asked_always.set(tiers == Tiers::AtOnce);
        self.state.slice = if tiers == Tiers::AtOnce { 0 } else { machine::SLICE };
        self.world.set_backend(backend, self.kind, tiers);
    }

    /// Sets the number of threads that loops and reductions take which may be shared.
    pub fn set_threads(&mut self, threads: usize) {
        self.state.threads = threads.max(1);
    }

    /// The number of threads that loops and reductions take which may be shared.
    pub fn threads(&self) -> usize {
        self.state.threads
    }

    /// The engine that runs the functions.
    pub fn engine(&self) -> EngineKind {
        self.kind
    }

    /// Lets a flag stop what runs that is another interpreter's too.
    pub fn set_interrupt_flag(&mut self, flag: Arc<AtomicBool>) {
        self.state.interrupt = flag;
    }

    /// The slot of a function.
    fn slot_of(&mut self, function: Symbol) -> Result<u32, ExecError> {
        let found = self.find(self.world.ctx.clone().str(function));
        found.map_err(|trap| self.not_started(trap))
    }

    /// The slot of the function of that name.
    fn find(&mut self, function: &str) -> Result<u32, Trap> {
        let found = match self.world.ctx.find_symbol(function) {
            Some(name) => self.world.lookup(name, Some(&mut self.state.host))?,
            None => None,
        };
        found.ok_or_else(|| self.world.unknown_name(function))
    }

    /// Begins a run: what was to be interrupted before is over.
    fn start(&mut self) {
        self.state.interrupt.store(false, Ordering::Relaxed);
        self.state.start();
    }

    fn not_started(&self, trap: Trap) -> ExecError {
        ExecError::new(&self.world.ctx, trap, Chain::default())
    }

    /// The number of times that a loop at work went on in code by LLVM.
    pub fn replacements(&self) -> u64 {
        self.state.replaced
    }

    /// The number of instructions that the last call ran, in the compact form: a fused compare
    /// and branch is one.
    pub fn instructions(&self) -> u64 {
        self.state.limits.fuel.unwrap_or(u64::MAX) - self.state.fuel_left
    }
}

impl Engine for Interpreter {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn load(&mut self, module: &Module) -> Result<(), ExecError> {
        if !Arc::ptr_eq(module.ctx(), &self.world.ctx) {
            let message = "the module is over another context than the one before it";
            let trap = Trap::of_kind(ErrorKind::Module, message);
            return Err(ExecError::new(&self.world.ctx, trap, Chain::default()));
        }
        self.world.take_over(module);
        Ok(())
    }

    fn call(&mut self, function: &str, args: &[Val]) -> Result<Val, ExecError> {
        self.start();
        let slot = self.find(function).map_err(|trap| self.not_started(trap))?;
        machine::run(&self.world, &mut self.state, slot, args)
    }

    fn limits(&self) -> Limits {
        self.state.limits
    }

    fn set_limits(&mut self, limits: Limits) {
        self.world.set_counted(limits.fuel.is_some());
        self.state.limits = limits;
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.state.interrupt)
    }

    fn take_output(&mut self) -> String {
        self.state.host.take_output()
    }
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interpreter")
            .field("functions", &self.world.by_name.borrow().len())
            .field("limits", &self.state.limits)
            .finish_non_exhaustive()
    }
}
