//! Passes that programs define: `@irpass function twice(ir; factor = 2) … end`.
//!
//! A pass is a function of the program: it is given the code of each function of a module, one after the other, and its
//! options as arguments by name. A session is bound to its thread and to its context, a pass in a registry is not. So
//! the pass takes a session of the thread that the pipeline runs on: the one that is lent for the time of the pipeline
//! ([`Session::lend_to_passes`]), or one that has run the files that define the pass, which is kept for the next function
//! of the context.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use regraft_exec::value::Val;
use regraft_ir::{Context, Diagnostic, Extensions, Function, Module, Symbol, Type};
use regraft_passes::{OptionDef, Options, PassContext, PassInfo, PassResult, Setting};

use super::Session;
use super::defined_pass::{DefaultKind, DefinedPass};
use super::pass_code::Draft;
use crate::code::FunctionWriter;
use crate::definition::Space;
use crate::world::Binding;

/// The instructions that a pass may execute on one function, if the session has no limit.
const MAX_FUEL: u64 = 500_000_000;
/// The sessions that a thread keeps for passes that come from files.
const MAX_KEPT: usize = 2;

/// The names and texts of the files that define passes.
pub type PassFiles = Arc<[(String, String)]>;

thread_local! {
    /// The session that is lent to passes of this thread.
    static LENT: RefCell<Option<Session>> = const { RefCell::new(None) };
    /// Sessions that have run files. What they hold may need what is gone when a thread ends.
    static KEPT: RefCell<Vec<(PassFiles, ManuallyDrop<Session>)>> = const { RefCell::new(Vec::new()) };
}

/// The passes that files define, for a registry: `regraft opt --load passes.jl`.
///
/// # Errors
/// If a file fails, or defines no pass at all.
pub fn passes_of_files(
    extensions: &Arc<Extensions>,
    files: &PassFiles,
) -> Result<Vec<PassInfo>, Vec<Diagnostic>> {
    let ctx = Context::with_extensions(extensions);
    let session = session_of(&ctx, files)?;
    let passes = session.shared.passes.borrow().clone();
    drop(ManuallyDrop::into_inner(session));
    if passes.is_empty() {
        let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
        let error = Diagnostic::error(format!("{} defines no pass", names.join(", ")));
        let help = "a pass is written `@irpass function twice(ir) … end`, after `using IRTools`";
        return Err(vec![error.help(help)]);
    }
    Ok(passes.iter().map(|pass| pass.info(Arc::clone(files))).collect())
}

fn session_of(
    ctx: &Arc<Context>,
    files: &PassFiles,
) -> Result<ManuallyDrop<Session>, Vec<Diagnostic>> {
    let mut session = ManuallyDrop::new(Session::new(ctx));
    for (name, text) in files.iter() {
        session.run(name, text)?;
    }
    Ok(session)
}

impl DefinedPass {
    /// The pass for a registry. Without files, it is one of the session that is lent when it runs.
    fn info(&self, files: PassFiles) -> PassInfo {
        let pass = self.clone();
        let options: Vec<OptionDef> = self.options.iter().map(|(_, def, _)| *def).collect();
        let run = move |module: &mut Module, options: &Options, cx: &mut PassContext<'_>| {
            let ctx = Arc::clone(module.ctx());
            with_session(&ctx, &files, &pass, |session| {
                let result = session.run_pass(&pass, module, options);
                cx.print(&session.take_output());
                cx.add("functions changed", result?);
                Ok(())
            })
        };
        PassInfo::of_module(self.name, self.doc, &options, run)
    }
}

/// Does something with the session of this thread that knows a pass.
fn with_session(
    ctx: &Arc<Context>,
    files: &PassFiles,
    pass: &DefinedPass,
    run: impl FnOnce(&mut Session) -> PassResult,
) -> PassResult {
    if files.is_empty() {
        let lent = LENT.with(|lent| lent.borrow_mut().take());
        let Some(mut session) = lent.filter(|session| Arc::ptr_eq(&session.ctx, ctx)) else {
            let message =
                format!("the pass `{}` is one of a session, which is not here", pass.name);
            return Err(Diagnostic::error(message));
        };
        let result = run(&mut session);
        LENT.with(|lent| lent.replace(Some(session)));
        return result;
    }
    let kept = KEPT.with(|kept| {
        let mut kept = kept.borrow_mut();
        let at = kept
            .iter()
            .position(|(of, session)| Arc::ptr_eq(of, files) && Arc::ptr_eq(&session.ctx, ctx));
        at.map(|at| kept.remove(at).1)
    });
    let session = match kept {
        Some(session) => Ok(session),
        None => session_of(ctx, files),
    };
    let mut session = session.map_err(|errors| first(errors, pass))?;
    let result = run(&mut session);
    KEPT.with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() >= MAX_KEPT {
            ManuallyDrop::into_inner(kept.remove(0).1);
        }
        kept.push((Arc::clone(files), session));
    });
    result
}

fn first(errors: Vec<Diagnostic>, pass: &DefinedPass) -> Diagnostic {
    let unknown = || Diagnostic::error(format!("the pass `{}` cannot be run", pass.name));
    errors.into_iter().next().unwrap_or_else(unknown)
}

impl Session {
    /// The passes that its programs have defined, for a registry. They run only within
    /// [`lend_to_passes`](Self::lend_to_passes).
    pub fn passes(&self) -> Vec<PassInfo> {
        self.shared.passes.borrow().iter().map(|pass| pass.info(Arc::default())).collect()
    }

    /// Does something in which the passes of the session may run, such as running a pipeline on this thread.
    pub fn lend_to_passes<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let services = self.services();
        let interrupt = self.interrupt_flag();
        let mut lent = services.session(self.interpreter.host_mut());
        lent.interpreter.set_interrupt_flag(interrupt);
        let before = LENT.with(|place| place.replace(Some(lent)));
        let result = run();
        let lent = LENT.with(|place| std::mem::replace(&mut *place.borrow_mut(), before));
        if let Some(mut lent) = lent {
            let host = std::mem::take(lent.interpreter.host_mut());
            self.interpreter.host_mut().take_back(host, 0);
        }
        self.relink();
        result
    }

    /// Notes a pass that a program defines.
    pub(super) fn define_pass(&mut self, args: &[Val]) -> Result<Val, Vec<Diagnostic>> {
        let [Val::Sym(name), Val::Func(function), defaults, Val::Str(place)] = args else {
            return Err(vec![Diagnostic::error("a pass is a function that has a name")]);
        };
        let pass = DefinedPass::new(&self.ctx, (*name, *function), defaults, place.as_str());
        let pass = pass.map_err(|message| vec![Diagnostic::error(message)])?;
        let mut passes = self.shared.passes.borrow_mut();
        passes.retain(|other| other.name != pass.name);
        passes.push(pass);
        Ok(Val::Unit)
    }
}

impl Session {
    /// Runs a pass on the functions of a module; the result is the number of those that it changed.
    fn run_pass(
        &mut self,
        pass: &DefinedPass,
        module: &mut Module,
        options: &Options,
    ) -> Result<u64, Diagnostic> {
        let given = self.settings(pass, options);
        let mut changed = 0;
        for id in module.ids().to_vec() {
            let Some(f) = module.get(id) else { continue };
            let (new, added) = self.pass_on_function(pass, module, f, &given)?;
            changed += u64::from(new.is_some());
            if let Some(new) = new {
                module.set(id, new)?;
            }
            let structs = Module::of_functions(&self.ctx, added.iter().cloned())?;
            for &(id, _) in structs.structs() {
                // Refused only if there is one of that name.
                let _ = module.adopt_struct(id);
            }
            for f in added {
                module.add(f)?;
            }
        }
        Ok(changed)
    }

    /// The options that a pipeline gives, as arguments by name.
    fn settings(&self, pass: &DefinedPass, options: &Options) -> Val {
        let mut names = Vec::new();
        let mut values = Vec::new();
        for (name, setting) in options.given() {
            let Some((own, _, kind)) = pass.options.iter().find(|(_, def, _)| def.name == name)
            else {
                continue;
            };
            names.push(self.ctx.symbol(own));
            values.push(match setting {
                Setting::Flag(x) => Val::Bool(*x),
                Setting::Int(x) => Val::I64(*x),
                Setting::Float(x) => Val::F64(*x),
                Setting::Text(x) if *kind == DefaultKind::Symbol => Val::Sym(self.ctx.symbol(x)),
                Setting::Text(x) => Val::str(x.as_str()),
            });
        }
        Val::named_of(Val::named_shape(&self.ctx, names), values.into_iter().collect())
    }

    fn pass_on_function(
        &mut self,
        pass: &DefinedPass,
        module: &Module,
        f: &Function,
        options: &Val,
    ) -> Result<(Option<Function>, Vec<Function>), Diagnostic> {
        let DefinedPass { name, place, .. } = pass;
        let unknown = || Diagnostic::error("IRTools is not loaded");
        let Some(Binding::Type(variable)) = self.of_irtools("Variable") else {
            return Err(unknown());
        };
        let Some(Binding::Function(run)) = self.of_irtools("_run_pass") else {
            return Err(unknown());
        };
        let code = {
            let types = self.code_types();
            let world = &mut self.compiler.borrow_mut().world;
            FunctionWriter { world, types, variable, function: f }.value()
        };
        self.fuel_left = self.limits.fuel.or(Some(MAX_FUEL));
        let function = Val::Func(self.ctx.symbol(pass.function));
        let made = self.call_values(&Val::Func(run), &[function, code, options.clone()]);
        let made = made.map_err(|errors| {
            let error = first(errors, pass);
            let message = format!("@{}: {}", f.name_str(), error.message());
            error.with_message(message)
        })?;
        let by = self.ctx.symbol(name);
        let made = match &made {
            Val::Str(other) => {
                let other = other.as_str();
                Err(format!("it gave a value of type {other}, a pass gives IR or `nothing`"))
            }
            made => Draft::new(self, (module, f), (variable, by)).function(made),
        };
        made.map_err(|why| {
            let message = format!("wrong code of @{}: {why}", f.name_str());
            Diagnostic::error(message).note(format!("`{name}` is defined at {place}"))
        })
    }

    fn of_irtools(&mut self, name: &str) -> Option<Binding> {
        let space = Space::Module(self.ctx.symbol("IRTools"));
        let found = self.compiler.borrow_mut().world.resolve(self.ctx.symbol(name), space, None);
        (found != Binding::Undefined).then_some(found)
    }

    /// The specialisation of a function of the language for arguments of these types, and after it all functions that it
    /// calls; `None` if there is no such method.
    pub(super) fn specialised(
        &mut self,
        function: Symbol,
        types: &[Type],
    ) -> Option<Vec<Function>> {
        let callee = Val::Func(function).type_of(&self.ctx);
        let module = self.ask(|compiler| {
            let entry = compiler.specialize(callee, types).ok()?;
            Some(compiler.module_with_rules(entry))
        })?;
        Some(module.functions().cloned().collect())
    }
}
