//! The world with everything that is derived from it: specialisations, code, derivatives.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

use regraft_ad::{Checkpoints, PlanKind};
use regraft_exec::{EngineKind, Val};
use regraft_ir::{Block, Context, Diagnostic, Function, Module, Symbol, Value};
use regraft_passes::rewrite::Math;

use crate::derive::{Derivatives, Deriver, Instrumentation};
use crate::emit::Emitter;
use crate::infer::{DerivativeOracle, Inference};
use crate::world::{SpecId, World};

/// Inference with emission and derivatives.
pub struct Compiler {
    inference: Inference,
    derivatives: Rc<Derivatives>,
}

impl Compiler {
    /// Derives from a world what is asked for.
    pub fn new(ctx: &Arc<Context>, mut world: World) -> Self {
        let derivatives = Rc::new(Derivatives::new(&mut world));
        let oracle: Rc<dyn DerivativeOracle> = derivatives.clone();
        Self { inference: Inference::new(ctx, world, oracle), derivatives }
    }

    fn emitter(&mut self) -> Emitter<'_> {
        Emitter::new(&mut self.inference, &self.derivatives.scratch)
    }

    fn deriver(&mut self) -> Deriver<'_> {
        self.derivatives.deriver(&mut self.inference)
    }

    /// Returns the typed function of a specialisation; emits it when it is first asked for.
    pub fn function(&mut self, id: SpecId) -> Rc<Function> {
        self.emitter().function(id)
    }

    /// Returns the name of the function of a specialisation: `foo(Float64, Int64)`.
    pub fn name_of(&mut self, id: SpecId) -> Symbol {
        self.emitter().name_of(id)
    }

    /// Returns the function of a specialisation with all that it calls. O(size).
    pub fn module_of(&mut self, id: SpecId) -> Module {
        self.emitter().module_of(id)
    }

    /// Returns the same, marked with the rules for derivatives, and with the functions that carry
    /// them out.
    pub(crate) fn module_with_rules(&mut self, id: SpecId) -> Module {
        self.deriver().module_with_rules(id)
    }

    /// Sets what reverse mode keeps: derivatives are made anew.
    pub(crate) fn set_tape_plan(&mut self, plan: PlanKind, checkpoints: Option<Checkpoints>) {
        self.deriver().set_tape_plan(plan, checkpoints);
    }

    /// Sets the algebra that code follows: derivatives are made anew. Returns whether it was another one.
    pub(crate) fn set_math(&mut self, math: Math) -> bool {
        self.deriver().set_math(math)
    }

    /// Sets the engine that native code is made for.
    pub(crate) fn set_engine(&self, kind: EngineKind) {
        self.derivatives.engine.set(kind);
    }

    /// Sets what code records for the profiler: derivatives are made anew. Returns whether it was
    /// something else.
    pub(crate) fn set_instrumentation(&mut self, what: Option<Instrumentation>) -> bool {
        self.deriver().set_instrumentation(what)
    }

    /// Returns the algebra that code follows.
    pub(crate) fn math(&self) -> Math {
        self.derivatives.math()
    }

    /// Returns the function of a specialisation as it is to run.
    ///
    /// # Errors
    /// If a pass fails.
    pub(crate) fn code(&mut self, id: SpecId) -> Result<Rc<Function>, Vec<Diagnostic>> {
        self.deriver().code(id)
    }

    /// Returns the function of a specialisation as native code is made of it, if that is another
    /// one.
    pub(crate) fn optimized(&mut self, id: SpecId) -> Option<Rc<Function>> {
        self.deriver().optimized(id)
    }

    /// Tells whether [`continued`](Self::continued) may be asked about a specialisation.
    pub(crate) fn may_continue(&mut self, id: SpecId) -> bool {
        self.deriver().may_continue(id)
    }

    /// Returns the rest of the function of a specialisation from the beginning of a block, as native code is made of it.
    pub(crate) fn continued(
        &mut self,
        id: SpecId,
        f: &Function,
        block: Block,
        live: &[Value],
    ) -> Option<Rc<Function>> {
        self.deriver().continued(id, f, block, live)
    }

    /// Runs the passes for native code on an optimized module.
    ///
    /// # Errors
    /// If a pass fails.
    pub(crate) fn finish_for_native(&self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        self.derivatives.finish_for_native(module, None)
    }

    /// Unrolls and jams the nests of an optimized derivative that is not differentiated again.
    ///
    /// # Errors
    /// If a pass fails.
    pub(crate) fn jam(&self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        self.derivatives.pipelines().jam(module)
    }

    /// Returns the present world, if it is another one than when this was last asked.
    pub(crate) fn new_world(&mut self) -> Option<Val> {
        self.deriver().new_world()
    }

    /// Asks for rules from now on, if there are some in the prelude.
    pub(crate) fn note_deferred_rules(&mut self) {
        self.deriver().note_deferred_rules();
    }
}

impl Deref for Compiler {
    type Target = Inference;

    fn deref(&self) -> &Inference {
        &self.inference
    }
}

impl DerefMut for Compiler {
    fn deref_mut(&mut self) -> &mut Inference {
        &mut self.inference
    }
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inference.fmt(f)
    }
}
