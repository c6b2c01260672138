//! The interface of engines, and the limits that they keep.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use regraft_ir::Module;

use crate::error::ExecError;
use crate::value::Val;

/// The limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The number of instructions that one run may execute; `None` for any number. It is looked
    /// at where control goes to another block or function, so a run may exceed it by what
    /// stands in one block.
    pub fuel: Option<u64>,
    /// The depth to which calls may be nested.
    pub depth: usize,
    /// The bytes that values and frames may take which a run makes.
    pub memory: usize,
}

impl Default for Limits {
    /// Any number of instructions, calls nested 100,000 deep, 4 GiB.
    fn default() -> Self {
        Self { fuel: None, depth: 100_000, memory: 4 << 30 }
    }
}

/// Returns the number of threads that loops and reductions of a program take which may be shared, where nobody says
/// it: that of the environment variable `REGRAFT_THREADS`, or as many as the machine has.
///
/// # Errors
/// If the variable is no number from 1 on.
pub fn preset_threads() -> Result<usize, String> {
    static MACHINE: OnceLock<usize> = OnceLock::new();
    let Some(text) = std::env::var_os("REGRAFT_THREADS") else {
        let machine = || std::thread::available_parallelism().map_or(1, usize::from);
        return Ok(*MACHINE.get_or_init(machine));
    };
    let text = text.to_string_lossy();
    let threads = text.parse().ok().filter(|&threads| threads > 0);
    threads.ok_or_else(|| format!("REGRAFT_THREADS is `{text}`, which is no number of threads"))
}

/// The engines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum EngineKind {
    /// The reference: it runs everything, and compiles nothing.
    #[default]
    Interpreter,
    /// Native code by Cranelift for all that there can be native code for, from the first call.
    Cranelift,
    /// The same by LLVM, whose library is looked for when this engine is chosen. It takes longer, and the
    /// code is faster.
    Llvm,
    /// The interpreter at first; native code by Cranelift for loops that have run for some time, and for functions that
    /// are called often. What runs long moves to code by LLVM ([`Tiers`]). A loop at work moves too.
    Auto,
}

impl EngineKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Interpreter, Self::Cranelift, Self::Llvm, Self::Auto];

    /// The engine that runs programs where nobody says which: that of the environment variable
    /// `REGRAFT_ENGINE`, or the interpreter.
    ///
    /// # Errors
    /// If there is no engine of that name.
    pub fn preset() -> Result<Self, String> {
        let Some(name) = std::env::var_os("REGRAFT_ENGINE") else { return Ok(Self::default()) };
        let name = name.to_string_lossy();
        Self::of_name(&name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("REGRAFT_ENGINE is `{name}`, which is none of {known}")
        })
    }

    /// The engine of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name of the engine on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interpreter => "interp",
            Self::Cranelift => "cranelift",
            Self::Llvm => "llvm",
            Self::Auto => "auto",
        }
    }
}

/// The time at which [`EngineKind::Auto`] has what runs long compiled by LLVM, if its library is there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Tiers {
    /// Another thread does it, once a function has taken as long as LLVM will; meanwhile the program runs on.
    #[default]
    InBackground,
    /// At the first look at a function, and the program waits for it: tests see the change of code then.
    AtOnce,
    /// Never.
    Never,
}

/// Runs the functions of a module.
pub trait Engine {
    /// The name of the engine on the command line.
    fn name(&self) -> &'static str;

    /// Takes over the functions of a module, in place of those it had. What was prepared for
    /// a function that has not changed since stays.
    ///
    /// # Errors
    /// If the module is over another context than the one before it.
    fn load(&mut self, module: &Module) -> Result<(), ExecError>;

    /// Calls a function of the module.
    ///
    /// # Errors
    /// If there is no such function, if the arguments do not fit, if the program traps, and if
    /// it exceeds a limit.
    fn call(&mut self, function: &str, args: &[Val]) -> Result<Val, ExecError>;

    /// The limits of each call.
    fn limits(&self) -> Limits;

    /// Changes the limits of each call.
    fn set_limits(&mut self, limits: Limits);

    /// A flag that stops a running call when somebody (another thread, a signal handler) sets it.
    /// It is cleared when a call starts.
    fn interrupt_flag(&self) -> Arc<AtomicBool>;

    /// Takes what the program has printed so far, if it is kept rather than passed on.
    fn take_output(&mut self) -> String;
}
