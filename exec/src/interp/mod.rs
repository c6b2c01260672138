//! The interpreter: reference semantics, limits, and errors with locations.

mod check;
mod code;
mod compile;
mod machine;
mod parallel_copy;
mod scalar;

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regraft_ir::{Context, Function, Module, Stamp, Symbol, Type, suggest};
use rustc_hash::FxHashMap;

use self::code::Code;
use crate::engine::{Engine, Limits};
use crate::error::{Chain, ErrorKind, ExecError, Trap};
use crate::eval::EvalTable;
use crate::host::Host;
use crate::linker::Linker;
use crate::value::Val;

/// Runs functions by compiling each once, when it is first called, to a compact form for a
/// register machine.
///
/// A call in the program takes no stack of ours, so programs may recurse as deep as
/// [`Limits::depth`] allows.
pub struct Interpreter {
    world: World,
    state: State,
}

/// What does not change while a program runs.
struct World {
    ctx: Arc<Context>,
    table: Arc<EvalTable>,
    /// By name, and never removed: compact code names callees by their slots.
    slots: Vec<Slot>,
    by_name: FxHashMap<Symbol, u32>,
    linker: RefCell<Option<Box<dyn Linker>>>,
}

struct Slot {
    name: Symbol,
    function: Option<Held>,
    code: OnceCell<Code>,
}

/// A copy of a function of the module.
struct Held {
    /// The state of the original that it is a copy of.
    stamp: Stamp,
    function: Function,
    params: Vec<Type>,
}

/// What changes while a program runs.
struct State {
    limits: Limits,
    /// Instructions that may still be run, apart from the slice at work.
    fuel_left: u64,
    interrupt: Arc<AtomicBool>,
    host: Host,
    /// Stacks, kept between calls.
    scalars: Vec<u64>,
    vals: Vec<Val>,
}

impl Slot {
    fn signature(&self) -> Option<(&[Type], Type)> {
        self.function.as_ref().map(|held| (&*held.params, held.function.ret_type()))
    }
}

impl World {
    /// The code of a function, compiled if it is needed for the first time.
    #[inline]
    fn code(&self, slot: u32) -> Result<&Code, Trap> {
        let slot = &self.slots[slot as usize];
        match slot.code.get() {
            Some(code) => Ok(code),
            None => self.compile(slot),
        }
    }

    #[cold]
    fn compile<'a>(&self, slot: &'a Slot) -> Result<&'a Code, Trap> {
        let Some(held) = &slot.function else { return Err(self.unknown_function(slot.name)) };
        let code = compile::compile(self, &held.function)?;
        Ok(slot.code.get_or_init(|| code))
    }

    #[cold]
    fn unknown_function(&self, name: Symbol) -> Trap {
        self.unknown_name(self.ctx.str(name))
    }

    #[cold]
    fn unknown_name(&self, name: &str) -> Trap {
        let trap =
            Trap::of_kind(ErrorKind::UnknownFunction, format!("there is no function @{name}"));
        let known = self.slots.iter().filter(|slot| slot.function.is_some());
        match suggest(name, known.map(|slot| self.ctx.str(slot.name))) {
            Some(near) => trap.help(format!("did you mean @{near}?")),
            None => trap,
        }
    }
}

impl Interpreter {
    /// An interpreter of the functions of `module`, with the evaluation functions of the ops of
    /// `regraft-dialects`.
    pub fn new(module: &Module) -> Self {
        Self::with_table(module, Arc::new(EvalTable::standard()))
    }

    /// An interpreter with evaluation functions of your own.
    pub fn with_table(module: &Module, table: Arc<EvalTable>) -> Self {
        let world = World {
            ctx: Arc::clone(module.ctx()),
            table,
            slots: Vec::new(),
            by_name: FxHashMap::default(),
            linker: RefCell::default(),
        };
        let state = State {
            limits: Limits::default(),
            fuel_left: 0,
            interrupt: Arc::default(),
            host: Host::default(),
            scalars: Vec::new(),
            vals: Vec::new(),
        };
        let mut interpreter = Self { world, state };
        interpreter.take_over(module);
        interpreter
    }

    /// The context of the program.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.world.ctx
    }

    /// Output, clock and profiler.
    pub fn host_mut(&mut self) -> &mut Host {
        &mut self.state.host
    }

    /// Whom to ask for functions that the module does not have.
    pub fn set_linker(&mut self, linker: Box<dyn Linker>) {
        self.world.linker = RefCell::new(Some(linker));
    }

    /// Drops the functions of these names, and what was linked to calls: after a redefinition,
    /// both are asked for again.
    pub fn forget(&mut self, names: &[Symbol]) {
        let _ = names;
    }

    /// The number of instructions that the last call ran, in the compact form: a fused compare
    /// and branch is one.
    pub fn instructions(&self) -> u64 {
        self.state.limits.fuel.unwrap_or(u64::MAX) - self.state.fuel_left
    }

    fn take_over(&mut self, module: &Module) {
        let World { slots, by_name, .. } = &mut self.world;
        let mut signatures_changed = false;
        for slot in slots.iter_mut() {
            if slot.function.is_some() && module.find(slot.name).is_none() {
                slot.function = None;
                signatures_changed = true;
            }
        }
        for function in module.functions() {
            let name = function.name();
            let index = *by_name.entry(name).or_insert_with(|| {
                slots.push(Slot { name, function: None, code: OnceCell::new() });
                slots.len() as u32 - 1
            });
            let slot = &mut slots[index as usize];
            if slot.function.as_ref().is_some_and(|held| held.stamp == function.stamp()) {
                continue;
            }
            let held = Held {
                stamp: function.stamp(),
                function: function.clone(),
                params: function.param_types(),
            };
            signatures_changed |=
                slot.signature() != Some((&held.params, held.function.ret_type()));
            slot.function = Some(held);
            slot.code.take();
        }
        if signatures_changed {
            // Callers are compiled against signatures. They change rarely, so all are dropped
            // rather than kept track of.
            for slot in slots {
                slot.code.take();
            }
        }
    }
}

impl Engine for Interpreter {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn load(&mut self, module: &Module) -> Result<(), ExecError> {
        if !Arc::ptr_eq(module.ctx(), &self.world.ctx) {
            let message = "the module is over another context than the one before it";
            let trap = Trap::of_kind(ErrorKind::Module, message);
            return Err(ExecError::new(&self.world.ctx, trap, Chain::default()));
        }
        self.take_over(module);
        Ok(())
    }

    fn call(&mut self, function: &str, args: &[Val]) -> Result<Val, ExecError> {
        let slot = self.world.ctx.find_symbol(function);
        let slot = slot.and_then(|name| self.world.by_name.get(&name).copied());
        let Some(slot) = slot.filter(|&slot| self.world.slots[slot as usize].function.is_some())
        else {
            let trap = self.world.unknown_name(function);
            return Err(ExecError::new(&self.world.ctx, trap, Chain::default()));
        };
        self.state.interrupt.store(false, Ordering::Relaxed);
        self.state.fuel_left = self.state.limits.fuel.unwrap_or(u64::MAX);
        self.state.host.start(self.state.limits.memory);
        machine::run(&self.world, &mut self.state, slot, args)
    }

    fn limits(&self) -> Limits {
        self.state.limits
    }

    fn set_limits(&mut self, limits: Limits) {
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
            .field("functions", &self.world.by_name.len())
            .field("limits", &self.state.limits)
            .finish_non_exhaustive()
    }
}
