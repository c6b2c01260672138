//! Adjoints of the programs in `examples`, and what they cost: instructions that the interpreter
//! runs, and bytes that are kept.

mod programs;
mod run;

use regraft_ad::{PlanKind, ReverseFunctions, ReverseOptions, reverse};
use regraft_dialects::core;
use regraft_exec::Val;
use regraft_ir::{Diagnostic, FuncId, Function, Module, Symbol};
use regraft_lang::Session;
use regraft_passes::{O2, PassRegistry, Pipeline, RunOptions, run_pipeline};
use rustc_hash::FxHashSet;

pub use programs::{ADBENCH, LOOPS, MOONCAKE, OTHERS, Program};
pub use run::Gradient;

/// A function and its derivative in reverse mode.
#[derive(Debug)]
pub struct Adjoint {
    /// The function, optimized, and what it calls.
    pub primal: Module,
    /// Its name.
    pub function: Symbol,
    /// With respect to which of its parameters it was differentiated.
    pub active: Vec<bool>,
    /// The derivative as it was made.
    pub derived: Module,
    /// The names of its functions, and what it keeps.
    pub made: ReverseFunctions,
    /// The sweep forward and the sweep back in one, optimized; it comes first.
    pub optimized: Module,
    /// The arguments.
    pub args: Vec<Val>,
    /// The values of the global names that it reads.
    globals: Vec<(Symbol, Val)>,
}

impl Adjoint {
    /// The derivative of a program with this plan. The pipeline `before` goes over the function
    /// before it is differentiated, after what makes programs fast.
    ///
    /// # Errors
    /// If the program is wrong, or something in it has no derivative.
    pub fn new(program: &Program, plan: PlanKind, before: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut session = program.session()?;
        // They are evaluated once: each closure has a type of its own.
        let args = session.run("arguments", &format!("arguments = ({},)", program.args))?;
        let args = args.as_fields().unwrap_or_default().to_vec();
        let named: Vec<String> = (1..=args.len()).map(|i| format!("arguments[{i}]")).collect();
        let call = format!("{}({})", program.function, named.join(", "));
        let mut primal = session.typed(call.as_str())?;
        apply(&mut primal, O2.name)?;
        let globals = globals(&primal, &mut session)?;
        let function = entry(&primal).name();
        let active = match program.wrt {
            [] => vec![true; args.len()],
            wrt => (1..=args.len()).map(|i| wrt.contains(&i)).collect(),
        };
        let mut derived = primal.clone();
        apply(&mut derived, before)?;
        let options = ReverseOptions { plan, ..ReverseOptions::default() };
        let made = reverse(&mut derived, function, &active, &options)?;
        let optimized = Module::new(derived.ctx());
        let mut this = Self { primal, function, active, derived, made, optimized, args, globals };
        this.optimize(O2.name)?;
        Ok(this)
    }

    /// Optimizes the derivative, as it was made, by another pipeline than `O2`.
    ///
    /// # Errors
    /// If it is no pipeline, or a pass fails.
    pub fn optimize(&mut self, pipeline: &str) -> Result<(), Vec<Diagnostic>> {
        self.optimized = self.derived.clone();
        apply(&mut self.optimized, pipeline)?;
        keep_reached(&mut self.optimized, self.made.vjp);
        Ok(())
    }

    /// The sweep forward and the sweep back in one function, optimized.
    ///
    /// # Panics
    /// Never: it is there.
    pub fn vjp(&self) -> &Function {
        let id = self.optimized.find(self.made.vjp);
        id.and_then(|id| self.optimized.get(id)).expect("it is there")
    }
}

/// The values of the global names that a module reads.
fn globals(module: &Module, session: &mut Session) -> Result<Vec<(Symbol, Val)>, Vec<Diagnostic>> {
    let mut found: Vec<(Symbol, Val)> = Vec::new();
    for f in module.functions() {
        for v in f.all_insts().filter(|&v| f.op(v) == Some(core::GLOBAL)) {
            let Some(name) = f.operand(v, 0).and_then(|name| f.const_sym(name)) else { continue };
            if found.iter().all(|&(known, _)| known != name) {
                let text = module.ctx().str(name);
                found.push((name, session.run("global", text)?));
            }
        }
    }
    Ok(found)
}

/// The function that a module is about.
fn entry(module: &Module) -> &Function {
    module.functions().next().expect("there is one")
}

/// Runs a pipeline on a module.
///
/// # Errors
/// If it is no pipeline, or a pass fails.
pub fn apply(module: &mut Module, pipeline: &str) -> Result<(), Vec<Diagnostic>> {
    if pipeline.is_empty() {
        return Ok(());
    }
    let pipeline = Pipeline::parse(&PassRegistry::standard(), pipeline)?;
    match run_pipeline(module, &pipeline, &RunOptions::default().threads(1)) {
        Ok(_) => Ok(()),
        Err(failure) => Err(failure.diagnostics().to_vec()),
    }
}

/// Removes the functions that `first` does not need.
pub(crate) fn keep_reached(module: &mut Module, first: Symbol) {
    let mut pending: Vec<FuncId> = module.find(first).into_iter().collect();
    let mut reached: FxHashSet<FuncId> = pending.iter().copied().collect();
    while let Some(f) = pending.pop().and_then(|id| module.get(id)) {
        for operand in f.all_insts().flat_map(|v| f.operands(v)) {
            let named = f.const_func(operand).and_then(|name| module.find(name));
            pending.extend(named.filter(|&id| reached.insert(id)));
        }
    }
    for id in module.ids().to_vec() {
        if !reached.contains(&id) {
            module.remove(id);
        }
    }
}
