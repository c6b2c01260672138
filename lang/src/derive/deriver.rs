//! The tables of derivatives, and what makes them.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use regraft_ad::tangent::TangentTypes;
use regraft_ad::{Checkpoints, PlanKind};
use regraft_exec::EngineKind;
use regraft_ir::{Constant, Context, Diagnostic, Loc, Module, Symbol, Type, TypeKind};
use regraft_passes::rewrite::Math;
use rustc_hash::FxHashMap;

use super::held::Held;
use super::pipelines::{Instrumentation, Pipelines};
use super::rule_table::Rules;
use crate::emit::{Emitter, Scratch};
use crate::infer::{DerivativeEntry, DerivativeKey, Inference};
use crate::world::World;

/// The derivatives that there are.
///
/// Inference asks for them while it is at work, and they are made with that inference: so the
/// tables are in cells, which are borrowed for the time of one access.
#[derive(Debug)]
pub(crate) struct Derivatives {
    pub(super) types: RefCell<Option<TangentTypes>>,
    pub(super) known: RefCell<FxHashMap<DerivativeKey, DerivativeEntry>>,
    pub(super) plan: Cell<PlanKind>,
    pub(super) checkpoints: Cell<Option<Checkpoints>>,
    /// The algebra that code follows.
    pub(super) math: Cell<Math>,
    /// The engine that native code is made for.
    pub(crate) engine: Cell<EngineKind>,
    pipelines: OnceCell<Pipelines>,
    /// The events that code records for the profiler.
    pub(super) instrumentation: Cell<Option<Instrumentation>>,
    /// Reverse parts that pullbacks hold.
    pub(super) held: RefCell<Held>,
    /// The functions whose methods are rules.
    pub(super) rules: Rules,
    pub(crate) scratch: Scratch,
}

impl Derivatives {
    /// Makes an empty table for a world.
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            types: RefCell::default(),
            known: RefCell::default(),
            plan: Cell::new(PlanKind::Best),
            checkpoints: Cell::new(None),
            math: Cell::default(),
            engine: Cell::default(),
            pipelines: OnceCell::new(),
            instrumentation: Cell::new(None),
            held: RefCell::new(Held::new()),
            rules: Rules::new(world),
            scratch: Scratch::default(),
        }
    }

    /// Makes derivatives with an inference.
    pub(crate) fn deriver<'a>(&'a self, inference: &'a mut Inference) -> Deriver<'a> {
        Deriver { emitter: Emitter::new(inference, &self.scratch), derivatives: self }
    }

    /// The algebra that code follows.
    pub(crate) fn math(&self) -> Math {
        self.math.get()
    }

    /// The pipelines; parsed when they are first asked for.
    pub(crate) fn pipelines(&self) -> &Pipelines {
        self.pipelines.get_or_init(Pipelines::standard)
    }

    /// Makes of optimized functions, or of one alone, those that native code is made of.
    pub(crate) fn finish_for_native(
        &self,
        module: &mut Module,
        only: Option<Symbol>,
    ) -> Result<(), Vec<Diagnostic>> {
        self.pipelines().finish_for_native(module, self.engine.get(), only)
    }

    pub(super) fn with_tangent_types<T>(
        &self,
        ctx: &Arc<Context>,
        ask: impl FnOnce(&mut TangentTypes) -> T,
    ) -> T {
        let known = self.types.take();
        let mut types = known.unwrap_or_else(|| TangentTypes::new(ctx));
        let answer = ask(&mut types);
        self.types.replace(Some(types));
        answer
    }
}

/// Makes derivatives with an inference.
pub(crate) struct Deriver<'a> {
    pub(super) emitter: Emitter<'a>,
    pub(super) derivatives: &'a Derivatives,
}

impl<'a> Deref for Deriver<'a> {
    type Target = Emitter<'a>;

    fn deref(&self) -> &Emitter<'a> {
        &self.emitter
    }
}

impl DerefMut for Deriver<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.emitter
    }
}

/// The function that is differentiated.
#[derive(Clone, Debug)]
pub(super) struct Primal {
    /// Its name, or that of what calls it.
    pub(super) name: Symbol,
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
    pub(super) takes_callee: bool,
    pub(super) fixed: Option<usize>,
    /// Its place in the source.
    pub(super) loc: Loc,
}

impl Primal {
    /// The tangents that are passed, by parameter: how many arguments each parameter takes, the
    /// callee's first.
    pub(super) fn spread(&self, args: usize) -> Vec<usize> {
        let mut counts = Vec::new();
        if self.takes_callee {
            counts.push(1);
        }
        match self.fixed {
            Some(fixed) => {
                counts.extend(std::iter::repeat_n(1, fixed));
                counts.push(args.saturating_sub(fixed));
            }
            None => counts.extend(std::iter::repeat_n(1, args)),
        }
        counts
    }
}

impl Deriver<'_> {
    /// The function that a dynamic call in differentiated code goes to.
    pub(super) fn dynamic_reverse(&self) -> Symbol {
        self.ctx().symbol("#dynamic_reverse")
    }

    pub(super) fn dynamic_forward(&self) -> Symbol {
        self.ctx().symbol("#dynamic_forward")
    }

    /// The constant that a callee of this type is, if there is only one.
    pub(super) fn constant_callee(&self, callee: Type) -> Option<Constant> {
        match *self.ctx().kind(callee) {
            TypeKind::Fn(name) => Some(Constant::Func(name)),
            TypeKind::TypeOf(of) => Some(Constant::Type(of)),
            _ => None,
        }
    }
}
