//! A session: text in, values and modules out.
//!
//! It holds the world of methods, what was inferred, and an interpreter that asks both while a
//! program runs. What is defined stays: scripts, REPL lines and questions about methods all see
//! the same world. A text is read as a whole before any of it is run, so that all its errors are
//! told at once; then its statements are run one by one, each in the world that those before it
//! left.

mod ahead;
mod changed;
mod defined_pass;
mod derivatives;
mod display;
mod entry;
mod expand;
mod generate;
mod in_place;
mod ir_program;
mod lengths;
mod listing;
mod names;
mod pass_code;
mod pass_parts;
mod pass_terminators;
mod passes;
mod prelude;
mod profile;
mod run;
mod services;
mod shared;
mod stages;
mod tools;
mod typed;
mod typed_gradient;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use regraft_exec::value::{Names, Texts, Val, to_json};
use regraft_exec::{Engine, EngineKind, ExecError, Interpreter, Limits, Profiler};
use regraft_ir::{Context, Diagnostic, Loc, Module, Registry, Symbol};
use regraft_passes::Pipeline;
use regraft_syntax::julia::{self, Ast};

use crate::compiler::Compiler;
use crate::definition::Space;
use crate::derive::world_type;
use crate::world::{Binding, MethodList, World};
use crate::world_resolver::WorldResolver;
use names::WorldNames;
use shared::Shared;

pub use ahead::Closed;
pub use derivatives::{Gradient, GradientCall, Mode, PreparedGradient};
pub use entry::Entry;
pub use passes::{PassFiles, passes_of_files};
pub use profile::ProfileOptions;
pub use typed_gradient::{TypedGradient, TypedHvp, TypedJvp};

/// The state of a text that may go on in further lines, as a REPL asks before it evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completeness {
    /// It can be evaluated (or it is wrong, and no further line would mend it).
    Complete,
    /// It ends too early.
    Incomplete,
}

impl Completeness {
    /// Returns whether a text is whole, or goes on in the next line. `ops` are those of the programs.
    pub fn of(ops: &Arc<Registry>, text: &str) -> Self {
        // A context of its own: what is asked at each key is not to be kept.
        let ctx = Context::new(Arc::clone(ops));
        let parsed = julia::parse(&ctx, "REPL", text, julia::Options::default());
        if parsed.incomplete { Self::Incomplete } else { Self::Complete }
    }
}

/// A world of programs, and what runs them.
pub struct Session {
    ctx: Arc<Context>,
    compiler: Rc<RefCell<Compiler>>,
    interpreter: Interpreter,
    limits: Limits,
    /// The rest of [`Limits::fuel`] in the present run.
    fuel_left: Option<u64>,
    /// The state that it shares with sessions that run for its programs.
    shared: Rc<Shared>,
    /// The error that a program failed with last, as it can be caught.
    failed: Option<ExecError>,
    /// The names of values, as they read in the language.
    texts: Rc<WorldNames>,
    /// The number of REPL lines so far.
    lines: usize,
    /// The global that holds what pullbacks hold of the present world.
    present_world: Symbol,
    /// The trees of the texts that are being run, each included by the one before.
    trees: Vec<Rc<RefCell<Ast>>>,
    /// True if it runs for a program that waits.
    is_nested: bool,
    /// True if gradients are made for the lengths of their arguments.
    for_lengths: bool,
    /// The profiler, while a program is recorded; code at top level lends it to the interpreter.
    recording: Option<Profiler>,
}

impl Session {
    /// A session that knows what the prelude defines, and what the extensions of the context add to
    /// it ([`StartUp`](crate::StartUp)).
    ///
    /// # Panics
    /// If that is wrong, which is no fault of any user.
    pub fn new(ctx: &Arc<Context>) -> Self {
        let compiler = Rc::new(RefCell::new(Compiler::new(ctx, World::new(ctx))));
        let mut interpreter = Interpreter::new(&Module::new(ctx));
        compiler.borrow().set_engine(interpreter.engine());
        interpreter.set_call_resolver(Box::new(WorldResolver::new(&compiler)));
        let texts = Rc::new(WorldNames::new(&compiler));
        let present_world = {
            let world = &mut compiler.borrow_mut().world;
            let (name, ty) = (ctx.symbol("#world"), world_type(ctx));
            world.bind_global(name, Space::Base, ty, Loc::UNKNOWN).expect("the name is new")
        };
        let mut session = Self {
            ctx: Arc::clone(ctx),
            compiler,
            interpreter,
            limits: Limits::default(),
            fuel_left: None,
            shared: Rc::default(),
            failed: None,
            texts,
            lines: 0,
            present_world,
            trees: Vec::new(),
            is_nested: false,
            for_lengths: false,
            recording: None,
        };
        session.shared.threads.set(session.interpreter.threads());
        session.load_prelude();
        let modules = session.with_world(World::declare_own_modules);
        for (name, ty) in modules {
            session.interpreter.host_mut().set_global(name, Val::structure(ty, []));
        }
        let services = Rc::new(session.services());
        let resolver = WorldResolver::new(&session.compiler).generating(Rc::clone(&services) as _);
        session.interpreter.set_call_resolver(Box::new(resolver));
        let host = session.interpreter.host_mut();
        host.set_names(Rc::clone(&session.texts) as Rc<dyn Names>);
        host.set_services(services);
        session
    }

    /// The context of its programs.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Runs the statements of a script in order; the value is that of the last one.
    ///
    /// # Errors
    /// If the text is wrong: all errors of it, and nothing is run. If a statement fails when it is
    /// run: then what was defined before stays.
    pub fn run(&mut self, name: &str, text: &str) -> Result<Val, Vec<Diagnostic>> {
        self.run_text(name, text, false)
    }

    /// Evaluates a line of a REPL: as [`run`](Self::run), but loops assign to the globals that
    /// there are, and the source is called `REPL[n]`.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn eval(&mut self, text: &str) -> Result<Val, Vec<Diagnostic>> {
        self.lines += 1;
        self.run_text(&format!("REPL[{}]", self.lines), text, true)
    }

    /// The lowered IR of the method that a call dispatches to.
    ///
    /// # Errors
    /// If the text is no call, if an argument cannot be evaluated, if there is no such method.
    pub fn lowered<'a>(&mut self, entry: impl Into<Entry<'a>>) -> Result<Module, Vec<Diagnostic>> {
        let call = self.resolve_entry(entry.into())?;
        self.lowered_module(&call)
    }

    /// The function that a call runs, typed, and after it all that it calls.
    ///
    /// # Errors
    /// As of [`lowered`](Self::lowered), and if inference finds an error that stops it.
    pub fn typed<'a>(&mut self, entry: impl Into<Entry<'a>>) -> Result<Module, Vec<Diagnostic>> {
        let call = self.resolve_entry(entry.into())?;
        self.typed_module(&call)
    }

    /// Runs a pipeline on the result of [`typed`](Self::typed). If none is given, that is
    /// [`O2`](regraft_passes::O2) and `fuse-sweeps`, or [`O3`](regraft_passes::O3) with the algebra of
    /// [`set_math`](Self::set_math).
    ///
    /// # Errors
    /// As of [`typed`](Self::typed), and if a pass fails.
    pub fn optimized<'a>(
        &mut self,
        entry: impl Into<Entry<'a>>,
        pipeline: Option<&Pipeline>,
    ) -> Result<Module, Vec<Diagnostic>> {
        let mut module = self.typed(entry)?;
        stages::optimize(&mut module, pipeline, self.compiler.borrow().math())?;
        Ok(module)
    }

    /// The module that native code is made of: as [`optimized`](Self::optimized), and if no pipeline is given, with
    /// strips of elementary functions ([`StripMath`](regraft_passes::transforms::strip_math::StripMath)).
    ///
    /// # Errors
    /// As of [`optimized`](Self::optimized).
    pub fn optimized_for_native<'a>(
        &mut self,
        entry: impl Into<Entry<'a>>,
        pipeline: Option<&Pipeline>,
    ) -> Result<Module, Vec<Diagnostic>> {
        let mut module = self.optimized(entry, pipeline)?;
        if pipeline.is_none() {
            self.compiler.borrow().finish_for_native(&mut module)?;
        }
        Ok(module)
    }

    /// A value as Julia shows it.
    pub fn show(&mut self, value: &Val) -> String {
        let shown = self.ask_prelude("#displayed", value);
        let names = Some(&*self.texts as &dyn Names);
        match (shown, value) {
            // The text that a value is shown as is not itself shown as a string.
            (Some(Val::Str(text)), value) if !matches!(value, Val::Str(_)) => {
                text.as_str().to_owned()
            }
            (shown, value) => Texts { ctx: &self.ctx, names }.show(shown.as_ref().unwrap_or(value)),
        }
    }

    /// A value as JSON. Ranges and views are written as the arrays that they are like.
    pub fn json(&mut self, value: &Val) -> String {
        let array =
            if self.is_like_an_array(value) { self.ask_prelude("collect", value) } else { None };
        to_json(&self.ctx, array.as_ref().unwrap_or(value))
    }

    /// The names that a program may use here and now, sorted: globals, functions, types.
    pub fn names(&self) -> Vec<String> {
        let world = &self.compiler.borrow().world;
        let known = [Space::Base, Space::Main].into_iter().flat_map(|space| world.names(space));
        let mut names: Vec<String> = known.map(|name| self.ctx.str(name).to_owned()).collect();
        names.retain(|name| !name.contains('#'));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The number of methods of a function, as a REPL tells it.
    pub fn method_count(&self, function: &Val) -> usize {
        let callee = function.type_of(&self.ctx);
        let world = &mut self.compiler.borrow_mut().world;
        world.know_methods_of(callee);
        world.methods_of(callee).count()
    }

    /// The methods of what a name stands for, if that can be called.
    pub fn methods_of(&mut self, name: &str) -> Option<MethodList> {
        let value = self.value_of(name)?;
        let callee = value.type_of(&self.ctx);
        let list = self.compiler.borrow_mut().world.method_list(callee);
        let is_function = matches!(value, Val::Func(_) | Val::Type(_));
        (is_function || !list.methods.is_empty()).then_some(list)
    }

    /// Returns the value of a global name, if it has one.
    pub fn value_of(&self, name: &str) -> Option<Val> {
        let name = self.ctx.symbol(name);
        let binding = self.compiler.borrow_mut().world.resolve(name, Space::Main, None);
        match binding {
            Binding::Function(function) => Some(Val::Func(function)),
            Binding::Type(ty) => Some(Val::Type(ty)),
            Binding::Const(constant) => Some(Val::constant(&self.ctx, constant)),
            Binding::Global { ty, .. }
                if let Some(value) = self.compiler.borrow().world.instance(ty) =>
            {
                Some(value)
            }
            Binding::Global { name, .. } | Binding::Variable { name, .. } => {
                self.interpreter.host().global(name).cloned()
            }
            Binding::Undefined | Binding::Deferred => None,
        }
    }

    /// Gives a global variable of the program a value, as a prompt does with `ans`.
    ///
    /// # Errors
    /// If the name is that of a constant, function or type of the program.
    pub fn bind(&mut self, name: &str, value: Val) -> Result<(), Diagnostic> {
        let name = self.ctx.symbol(name);
        let key =
            self.with_world(|world| world.declare_variable(name, Space::Main, Loc::UNKNOWN))?;
        self.shared.globals.borrow_mut().insert(name);
        self.interpreter.host_mut().set_global(key, value);
        Ok(())
    }

    /// The names of the typed functions that there are, those of derivatives included, sorted.
    pub fn function_names(&self) -> Vec<String> {
        let names = self.compiler.borrow().function_names();
        names.into_iter().map(|name| self.ctx.str(name).to_owned()).collect()
    }

    /// A flag that stops a running program when somebody (another thread, a signal handler) sets it.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interpreter.interrupt_flag()
    }

    /// Sets what runs the programs.
    ///
    /// # Errors
    /// If there is no such engine for this machine.
    pub fn set_engine(&mut self, kind: EngineKind) -> Result<(), Diagnostic> {
        self.interpreter.set_engine(kind).map_err(Diagnostic::error)?;
        self.compiler.borrow().set_engine(kind);
        Ok(())
    }

    /// The interpreter that runs the programs, with native code or without.
    pub fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// Sets the number of threads that loops of `@threads` and reductions such as `tmapreduce` take at most. Results
    /// do not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.interpreter.set_threads(threads);
        self.shared.threads.set(self.interpreter.threads());
    }

    /// The limits of each [`run`](Self::run) and [`eval`](Self::eval).
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Changes the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.shared.limits.set(limits);
        self.limits = limits;
    }

    /// Passes what programs print on, instead of keeping it for [`take_output`](Self::take_output).
    pub fn set_output(&mut self, output: Box<dyn Write>) {
        self.interpreter.host_mut().set_output(output);
    }

    /// Takes the text that programs have printed since the last call, if it is kept; flushes it if it is passed on.
    pub fn take_output(&mut self) -> String {
        self.interpreter.take_output()
    }
}

impl Session {
    /// Calls a function of the prelude with a struct, or a collection if the program has methods for
    /// `show`; returns `None` for any other value.
    fn ask_prelude(&mut self, function: &str, value: &Val) -> Option<Val> {
        match value {
            Val::Struct(_) => self.call_prelude(function, value),
            Val::Array(_) | Val::Tuple(_) | Val::Named(_) | Val::Object(_)
                if self.has_own_show() =>
            {
                self.call_prelude(function, value)
            }
            _ => None,
        }
    }

    fn call_prelude(&mut self, function: &str, value: &Val) -> Option<Val> {
        let function = Val::Func(self.ctx.symbol(function));
        self.interpreter.set_limits(self.limits);
        self.interpreter.call_value(&function, std::slice::from_ref(value)).ok()
    }

    /// Returns whether the program has methods of its own for `show`.
    fn has_own_show(&self) -> bool {
        let show = Val::Func(self.ctx.symbol("show")).type_of(&self.ctx);
        self.compiler.borrow().world.is_extended(show)
    }

    fn is_like_an_array(&self, value: &Val) -> bool {
        let world = &mut self.compiler.borrow_mut().world;
        match world.resolve(self.ctx.symbol("AbstractArray"), Space::Base, None) {
            Binding::Type(above) => world.is_below(value.type_of(&self.ctx), above),
            _ => false,
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("lines", &self.lines).finish_non_exhaustive()
    }
}
