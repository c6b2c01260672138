//! Derivatives of functions of a world, as functions of that world.
//!
//! ```text
//! gradient(f, 2.0, [1.0])            r = call @"f(Float64, Vector{Float64}).gradient"(2.0, %1)
//!                             =>     g = core.get r, 2
//! ```
//!
//! If inference comes upon a call of a derivative and knows the function and the types of the
//! arguments, the derivative is made then and there: the typed functions are taken as a module,
//! prepared, differentiated, an *entry wrapper* is written around what came out, all of it is
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
//! Dynamically resolved calls are guessed before: see [`guards`].
//!
//! # Recursion
//! A function that calls a derivative of itself is not settled when that is asked for; then the
//! call is left to the running program, by which time it is.
//!
//! # Cost
//! Linear in the size of the typed functions, but for the pipelines; once for each combination of
//! types.

mod arguments;
mod deriver;
mod dynamically_resolved;
mod entry_wrapper;
mod guards;
mod held;
mod instrument;
mod module;
mod parts;
mod pipelines;
mod release;
mod rule_table;
mod rules;
mod sweeps;

use std::rc::Rc;
use std::sync::Arc;

use regraft_ad::tangent::TangentType;
use regraft_ad::{Checkpoints, PlanKind};
use regraft_ir::{
    Block, Constant, Context, Diagnostic, Function, Module, Symbol, Type, TypeKind, Value,
};
use regraft_passes::rewrite::Math;
use regraft_passes::transforms::util::continuation::continuation;
use rustc_hash::FxHashSet;

use crate::infer::{
    CallError, DerivativeEntry, DerivativeKey, DerivativeOracle, GeneratedFunctions, Inference,
};
use crate::phases::{Phase, enter};
use crate::world::SpecId;

use deriver::Primal;
pub(crate) use deriver::{Derivatives, Deriver};
pub(crate) use held::world_type;
pub(crate) use pipelines::Instrumentation;

/// The most instructions of a function that is optimized together with one that calls it: what is larger is
/// not inlined by the pipeline.
const MAX_INLINED: usize = 320;

impl Deriver<'_> {
    /// The wrappers of a derivative; made when it is first asked for.
    pub(crate) fn derive(&mut self, key: &DerivativeKey) -> DerivativeEntry {
        let known = self.derivatives.known.borrow().get(key).cloned();
        if let Some(known) = known {
            let from = match &known {
                DerivativeEntry::Generated(made) => Some(made.from),
                DerivativeEntry::Fails(from, _) | DerivativeEntry::Never(from) => Some(*from),
                DerivativeEntry::Deferred => None,
            };
            if from.is_some_and(|from| self.is_derivation(from)) {
                return known;
            }
        }
        let _phase = enter(Phase::Differentiate);
        let from = self.new_derivation();
        let answer = match self.make_derivative(key, from) {
            Ok(Some(answer)) => answer,
            Ok(None) => return DerivativeEntry::Deferred,
            Err(errors) => DerivativeEntry::Fails(from, errors.into()),
        };
        self.derivatives.known.borrow_mut().insert(key.clone(), answer.clone());
        answer
    }

    /// Sets what reverse mode keeps: derivatives are made anew.
    pub(crate) fn set_tape_plan(&mut self, plan: PlanKind, checkpoints: Option<Checkpoints>) {
        let old_plan = self.derivatives.plan.replace(plan);
        let old_checkpoints = self.derivatives.checkpoints.replace(checkpoints);
        if (old_plan, old_checkpoints) != (plan, checkpoints) {
            self.forget_derivatives();
        }
    }

    /// Sets the algebra that code follows: derivatives are made anew. Returns whether it was another one.
    pub(crate) fn set_math(&mut self, math: Math) -> bool {
        let is_new = self.derivatives.math.replace(math) != math;
        if is_new {
            self.forget_derivatives();
        }
        is_new
    }

    fn forget_derivatives(&mut self) {
        for (_, answer) in self.derivatives.known.take() {
            if let DerivativeEntry::Generated(GeneratedFunctions { from, .. }) = answer {
                self.world.invalidate(from);
            }
        }
    }

    /// Makes a derivative; `None` if that has to wait.
    fn make_derivative(
        &mut self,
        key: &DerivativeKey,
        from: SpecId,
    ) -> Result<Option<DerivativeEntry>, Vec<Diagnostic>> {
        let id = match self.specialize_within(key.callee, &key.args, Some(from)) {
            Ok(id) => id,
            Err(error) => return Err(vec![self.no_such_call(error)]),
        };
        if !self.spec(id).is_done() {
            return Ok(None);
        }
        self.world.depend(from, id);
        if self.signature(id).result == Type::NEVER {
            return Ok(Some(DerivativeEntry::Never(from)));
        }
        let Some(module) = self.module_to_differentiate(id, from, true)? else { return Ok(None) };
        let is_guessed = module.is_guessed;
        match self.differentiate(key, from, id, module) {
            // It may be a function that was only guessed to be called.
            Err(_) if is_guessed => {}
            made => return made.map(Some),
        }
        let Some(module) = self.module_to_differentiate(id, from, false)? else { return Ok(None) };
        self.differentiate(key, from, id, module).map(Some)
    }

    /// Differentiates the function of a specialisation.
    fn differentiate(
        &mut self,
        key: &DerivativeKey,
        from: SpecId,
        id: SpecId,
        mut module: module::Functions,
    ) -> Result<DerivativeEntry, Vec<Diagnostic>> {
        let (pipelines, math) = (self.derivatives.pipelines(), self.derivatives.math.get());
        let primal_names = module.names();
        let primal = self.primal(id, &mut module);
        let kept = self.keep_functions(&mut module.module);
        regraft_ad::split_chunks(&mut module.module).map_err(|error| vec![error])?;
        pipelines.prepare(&mut module.module)?;
        if let Some(lengths) = self.lengths_of(key, &primal) {
            let name = self.ctx().str(primal.name).to_owned();
            pipelines.specialize(&mut module.module, &name, &lengths)?;
        }
        let rewritten = dynamically_resolved::resolve(&mut module.module);
        rewritten.map_err(|error| vec![Diagnostic::from(error)])?;
        let wrappers = self.wrappers(key, &primal, &mut module.module)?;
        self.keep_derivatives_of(&mut module.module, &kept);
        pipelines.join(&mut module.module, &wrappers.names())?;
        pipelines.finish(&mut module.module, &wrappers.names(), math)?;
        let ids = self.adopt(module.module, &primal_names, &wrappers.names(), from)?;
        if let &[_, back] = &*ids {
            let back = self.name_of(back);
            self.derivatives.held.borrow_mut().add(back);
        }
        Ok(DerivativeEntry::Generated(GeneratedFunctions {
            from,
            first: ids[0],
            takes_callee: primal.takes_callee,
            fixed: primal.fixed,
        }))
    }

    /// The lengths of the parameters of a function that is made for certain ones, as the pass `specialize` takes
    /// them. Those in the function itself stand before a semicolon, if there are any.
    fn lengths_of(&self, key: &DerivativeKey, primal: &Primal) -> Option<String> {
        let def = self.ctx().struct_of(key.callee)?;
        let &[_, (_, lengths)] = &*def.fields else { return None };
        let TypeKind::Val(lengths) = *self.ctx().kind(lengths) else { return None };
        if !self.ctx().str(def.name).starts_with("#WithLengths{") {
            return None;
        }
        let Constant::Sym(lengths) = self.ctx().constant(lengths) else { return None };
        let lengths = self.ctx().str(lengths);
        let (callee, lengths) = lengths.split_once(';').unwrap_or(("_", lengths));
        Some(if primal.takes_callee { format!("{callee}, {lengths}") } else { lengths.to_owned() })
    }

    /// Returns the function of a specialisation as it is to run: what inference made of it, unless
    /// another algebra than the exact one was asked for, which then simplifies it with what it calls.
    /// While a program is recorded, with the records of the profiler.
    ///
    /// # Errors
    /// If a pass fails.
    pub(crate) fn code(&mut self, id: SpecId) -> Result<Rc<Function>, Vec<Diagnostic>> {
        let math = self.derivatives.math.get();
        let function = self.function(id);
        if math == Math::Exact {
            return self.instrumented(id, function);
        }
        let mut module = self.module_of(id);
        self.keep_functions(&mut module);
        self.derivatives.pipelines().finish(&mut module, &[function.name()], math)?;
        let found = module.find(function.name()).and_then(|id| module.get(id));
        let simplified = found.map_or(function, |simplified| Rc::new(simplified.clone()));
        self.instrumented(id, simplified)
    }

    /// Returns the function of a specialisation as native code is made of it, if it is to be
    /// another one than [`code`](Self::code) gives. Derivatives are optimized already, but for what only
    /// native code is to have. All code of another algebra than the exact one, and what is recorded, stays as it is.
    pub(crate) fn optimized(&mut self, id: SpecId) -> Option<Rc<Function>> {
        if !self.has_other_forms() {
            return None;
        }
        let (function, is_optimized) = (self.function(id), self.spec(id).is_made());
        if !is_optimized {
            let module = self.module_to_optimize(id);
            return self.optimized_in(module, function.name());
        }
        let mut module = Module::of_functions(function.ctx(), [(*function).clone()]).ok()?;
        let found = module.find(function.name())?;
        let before = module.get(found)?.epochs();
        self.derivatives.finish_for_native(&mut module, None).ok()?;
        let optimized = module.get(found)?;
        (optimized.epochs() != before).then(|| Rc::new(optimized.clone()))
    }

    /// Tells whether [`continued`](Self::continued) may be asked about a specialisation. A derivative is optimized already, and
    /// what it makes is better known from its beginning.
    pub(crate) fn may_continue(&self, id: SpecId) -> bool {
        self.has_other_forms() && !self.spec(id).is_made()
    }

    /// Returns the rest of `f`, the function of a specialisation, from the beginning of a block, as native code is made of it.
    pub(crate) fn continued(
        &mut self,
        id: SpecId,
        f: &Function,
        block: Block,
        live: &[Value],
    ) -> Option<Rc<Function>> {
        if !self.may_continue(id) {
            return None;
        }
        let mut rest = continuation(f, block, live)?;
        // It may call the function that it is the rest of.
        let name = self.ctx().symbol(&format!("#rest of {}", f.name_str()));
        rest.set_name(name);
        let mut module = self.module_to_optimize(id);
        module.add(rest).ok()?;
        let mut rest = self.optimized_in(module, name)?;
        Rc::make_mut(&mut rest).set_name(f.name());
        Some(rest)
    }

    /// Returns whether native code is made of other functions than the interpreter runs.
    fn has_other_forms(&self) -> bool {
        let derivatives = self.derivatives;
        derivatives.math.get() == Math::Exact && derivatives.instrumentation.get().is_none()
    }

    /// A function with what may be inlined into it. What is larger is not inlined.
    fn module_to_optimize(&mut self, id: SpecId) -> Module {
        let is_small = |f: &Function| f.all_insts().count() <= MAX_INLINED;
        self.module_within(id, |_, f| is_small(f))
    }

    /// The function of that name as native code is made of it.
    fn optimized_in(&self, mut module: Module, name: Symbol) -> Option<Rc<Function>> {
        self.derivatives.pipelines().optimize(&mut module, name).ok()?;
        self.derivatives.finish_for_native(&mut module, Some(name)).ok()?;
        module.get(module.find(name)?).map(|optimized| Rc::new(optimized.clone()))
    }

    fn no_such_call(&self, error: CallError) -> Diagnostic {
        Diagnostic::from(error)
    }
}

impl DerivativeOracle for Derivatives {
    fn derive(&self, inference: &mut Inference, key: &DerivativeKey) -> DerivativeEntry {
        self.deriver(inference).derive(key)
    }

    fn tangent_type(&self, ctx: &Arc<Context>, ty: Type) -> Option<Type> {
        self.with_tangent_types(ctx, |types| types.has_tangent(ty).then(|| types.tangent(ty)))
    }

    fn tangent_types_of(&self, ctx: &Arc<Context>, ty: Type) -> TangentType {
        self.with_tangent_types(ctx, |types| types.of(ty))
    }

    fn has_rule(&self, inference: &mut Inference, callee: Type, args: &[Type], by: SpecId) -> bool {
        self.deriver(inference).rules_of(callee, args, by).any()
    }

    fn still_held(&self, inference: &mut Inference, dropped: &[SpecId]) -> FxHashSet<Symbol> {
        self.deriver(inference).still_held(dropped)
    }
}
