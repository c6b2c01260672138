//! Derivatives of functions of a world, as functions of that world.
//!
//! ```text
//! gradient(f, 2.0, [1.0])            r = call @"f(Float64, Vector{Float64}).gradient"(2.0, %1)
//!                             =>     g = core.get r, 2
//! ```
//!
//! Where inference comes upon a call of a derivative and knows the function and the types of the
//! arguments, the derivative is made then and there: the typed functions are taken as a module,
//! prepared, differentiated, an *interface* is written around what came out, all of it is
//! optimized, and the functions become specialisations like others. So the call is direct, its
//! result type is known, and derivatives of derivatives are derivatives of ordinary functions.
//!
//! # Invalidation
//! A derivative depends on the specialisation that it is one of (and by that on all that
//! it calls), on the answers to the questions for rules of each function in it, and on the
//! functions of the rules.
//!
//! A pullback keeps the reverse part that it was made with: see [`held`].
//!
//! What is known late is guessed before: see [`guards`].
//!
//! # Recursion
//! A function that calls a derivative of itself is not settled when that is asked for; then the
//! call is left to the running program, by which time it is.
//!
//! # Cost
//! Linear in the size of the typed functions, but for the pipelines; once for each combination of
//! types.

mod arguments;
mod guards;
mod held;
mod interface;
mod known_late;
mod module;
mod parts;
mod pipelines;
mod rules;
mod sweeps;

use std::rc::Rc;
use std::sync::Arc;

use regraft_ad::tangent::{TangentType, TangentTypes};
use regraft_ad::{Checkpoints, PlanKind};
use regraft_ir::{Constant, Diagnostic, Loc, Symbol, Type, TypeKind};
use rustc_hash::FxHashMap;

use crate::infer::{CallError, Compiler};
use crate::phases::{Phase, enter};
use crate::world::SpecId;
use held::Held;

pub(crate) use held::world_type;
pub(crate) use rules::Rules;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// Value and gradient: `(x…) -> (y, (dx…))`.
    Gradient,
    /// Forward mode: `(x…, (df, dx…)) -> (y, dy)`, of so many directions at once.
    Push(Option<u8>),
    /// The same in one direction, for a dynamic call.
    DynamicPush,
    /// Reverse mode in two parts: `(x…) -> (y, state, back)`, `(state, dy) -> (dx…)`, of which
    /// `back` is the second.
    Pullback,
    /// The same for a dynamic call: `(f, df, x, dx, …) -> (y, shadow of y, pullback)` and
    /// `(pullback, dy) -> (df, dx…)`, with shadows going in.
    Dynamic,
}

/// A derivative that is asked for. The callee does not count as an argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Question {
    pub(crate) kind: Kind,
    /// The type of what is differentiated.
    pub(crate) callee: Type,
    pub(crate) args: Box<[Type]>,
    /// The types of the tangents or shadows that are passed, that of the callee first.
    pub(crate) tangents: Box<[Type]>,
}

/// What there is for a question.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The interfaces.
    Made(Made),
    /// There is none, and why.
    Fails(SpecId, Rc<[Diagnostic]>),
    /// The function never returns, so that its derivative is never there.
    Never(SpecId),
    /// The running program will know.
    Later,
}

/// The interfaces of a derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// What it was derived from.
    pub(crate) from: SpecId,
    /// The first of the functions that [`Kind`] tells of.
    pub(crate) first: SpecId,
    /// Whether the callee is the first parameter.
    pub(crate) takes_callee: bool,
    /// How many arguments come before those that are packed into a tuple.
    pub(crate) fixed: Option<usize>,
}

/// The derivatives that there are.
#[derive(Debug)]
pub(crate) struct Derivatives {
    types: Option<TangentTypes>,
    known: FxHashMap<Question, Answer>,
    plan: PlanKind,
    checkpoints: Option<Checkpoints>,
    pipelines: Option<Rc<pipelines::Pipelines>>,
    /// What pullbacks hold.
    held: Held,
    /// Why calls that stand alone cannot be made.
    pub(crate) failures: FxHashMap<SpecId, Rc<[Diagnostic]>>,
}

impl Derivatives {
    pub(crate) fn new(ctx: &Arc<regraft_ir::Context>) -> Self {
        Self {
            types: Some(TangentTypes::new(ctx)),
            known: FxHashMap::default(),
            plan: PlanKind::Best,
            checkpoints: None,
            pipelines: None,
            held: Held::new(),
            failures: FxHashMap::default(),
        }
    }
}

/// The function that is differentiated.
#[derive(Clone, Debug)]
struct Primal {
    /// Its name, or that of what calls it.
    name: Symbol,
    params: Vec<Type>,
    result: Type,
    takes_callee: bool,
    fixed: Option<usize>,
    /// Where it was written.
    loc: Loc,
}

impl Primal {
    /// The tangents that are passed, by parameter: how many arguments each parameter takes, the
    /// callee's first.
    fn spread(&self, args: usize) -> Vec<usize> {
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

impl Compiler {
    /// The interfaces of a derivative; made when it is first asked for.
    pub(crate) fn derive(&mut self, question: &Question) -> Answer {
        if let Some(known) = self.derived.known.get(question) {
            let from = match known {
                Answer::Made(made) => Some(made.from),
                Answer::Fails(from, _) | Answer::Never(from) => Some(*from),
                Answer::Later => None,
            };
            if from.is_some_and(|from| self.is_derivation(from)) {
                return known.clone();
            }
        }
        let _phase = enter(Phase::Differentiate);
        let from = self.new_derivation();
        let answer = match self.make_derivative(question, from) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Answer::Later,
            Err(errors) => Answer::Fails(from, errors.into()),
        };
        self.derived.known.insert(question.clone(), answer.clone());
        answer
    }

    /// The type of tangents of values of this type, if they have any.
    pub(crate) fn tangent_type(&mut self, ty: Type) -> Option<Type> {
        self.with_tangent_types(|types| types.has_tangent(ty).then(|| types.tangent(ty)))
    }

    /// What the derivative of a value of this type is made of.
    pub(crate) fn tangent_types_of(&mut self, ty: Type) -> TangentType {
        self.with_tangent_types(|types| types.of(ty))
    }

    fn with_tangent_types<T>(&mut self, ask: impl FnOnce(&mut TangentTypes) -> T) -> T {
        let known = self.derived.types.take();
        let mut types = known.unwrap_or_else(|| TangentTypes::new(self.ctx()));
        let answer = ask(&mut types);
        self.derived.types = Some(types);
        answer
    }

    /// What reverse mode keeps from now on: derivatives are made anew.
    pub(crate) fn set_tape_plan(&mut self, plan: PlanKind, checkpoints: Option<Checkpoints>) {
        let old = (self.derived.plan, self.derived.checkpoints);
        if old == (plan, checkpoints) {
            return;
        }
        (self.derived.plan, self.derived.checkpoints) = (plan, checkpoints);
        for (_, answer) in std::mem::take(&mut self.derived.known) {
            if let Answer::Made(Made { from, .. }) = answer {
                self.world.invalidate(from);
            }
        }
    }

    /// Makes a derivative; `None` if that has to wait.
    fn make_derivative(
        &mut self,
        question: &Question,
        from: SpecId,
    ) -> Result<Option<Answer>, Vec<Diagnostic>> {
        let id = match self.specialize_within(question.callee, &question.args, Some(from)) {
            Ok(id) => id,
            Err(error) => return Err(vec![self.no_such_call(error)]),
        };
        if !self.spec(id).is_done() {
            return Ok(None);
        }
        self.world.depend(from, id);
        if self.signature(id).result == Type::NEVER {
            return Ok(Some(Answer::Never(from)));
        }
        let Some(module) = self.module_to_differentiate(id, from, true)? else { return Ok(None) };
        let is_guessed = module.is_guessed;
        match self.differentiate(question, from, id, module) {
            // It may be a function that was only guessed to be called.
            Err(_) if is_guessed => {}
            made => return made.map(Some),
        }
        let Some(module) = self.module_to_differentiate(id, from, false)? else { return Ok(None) };
        self.differentiate(question, from, id, module).map(Some)
    }

    /// Differentiates the function of a specialisation.
    fn differentiate(
        &mut self,
        question: &Question,
        from: SpecId,
        id: SpecId,
        mut module: module::Functions,
    ) -> Result<Answer, Vec<Diagnostic>> {
        let pipelines = self.pipelines();
        let primal_names = module.names();
        let primal = self.primal(id, &mut module);
        pipelines.prepare(&mut module.module)?;
        let rewritten = known_late::resolve_late(&mut module.module);
        rewritten.map_err(|error| vec![Diagnostic::from(error)])?;
        let interfaces = self.interfaces(question, &primal, &mut module.module)?;
        pipelines.finish(&mut module.module, &interfaces.names())?;
        let ids = self.adopt(module.module, &primal_names, &interfaces.names(), from)?;
        if let &[_, back] = &*ids {
            let back = self.name_of(back);
            self.derived.held.add(back);
        }
        Ok(Answer::Made(Made {
            from,
            first: ids[0],
            takes_callee: primal.takes_callee,
            fixed: primal.fixed,
        }))
    }

    fn no_such_call(&self, error: CallError) -> Diagnostic {
        Diagnostic::from(error)
    }

    /// The function that a dynamic call in differentiated code goes to.
    fn dynamic_reverse(&self) -> Symbol {
        self.ctx().symbol("#dynamic_reverse")
    }

    fn dynamic_forward(&self) -> Symbol {
        self.ctx().symbol("#dynamic_forward")
    }

    /// The constant that a callee of this type is, if there is only one.
    fn constant_callee(&self, callee: Type) -> Option<Constant> {
        match *self.ctx().kind(callee) {
            TypeKind::Fn(name) => Some(Constant::Func(name)),
            TypeKind::TypeOf(of) => Some(Constant::Type(of)),
            _ => None,
        }
    }
}
