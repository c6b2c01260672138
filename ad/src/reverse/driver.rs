//! The state that the phases of reverse mode share: the module, the options, and the derivatives that are there,
//! each once for each set of active parameters.

use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, FuncId, Function, Loc, Module, Symbol, Type, TypeKind};
use regraft_passes::analysis::{CallGraph, EffectSummaries, EffectSummary};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ReverseOptions;
use super::returning::without_failing_code;
use crate::activity::ActiveGlobals;
use crate::nesting::next_level;
use crate::tangent::TangentTypes;

/// The two parts of the derivative of a function.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) forward: Symbol,
    pub(super) reverse: Symbol,
    /// The types that they return.
    pub(super) forward_type: Type,
    pub(super) reverse_type: Type,
    /// The end of their names, after the name of their function and of the part.
    pub(super) ending: String,
    /// The types of the parameters of the function, and of its result.
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
    pub(super) tape: Type,
    pub(super) active: Vec<bool>,
}

/// A loop that was outlined, of which steps are made again from snapshots.
#[derive(Clone, Debug)]
pub(super) struct CheckpointedLoop {
    /// The function that makes one step.
    pub(super) step: Symbol,
    /// The types of the state.
    pub(super) state: Vec<Type>,
    /// The positions in the environment of what snapshots have copies of.
    pub(super) saved: Vec<usize>,
    /// Tells whether arrays among these may change their lengths after the loop.
    pub(super) resized: bool,
}

/// A report about the tape of a function.
#[derive(Clone, Debug)]
pub(super) struct TapeReport {
    /// The plan as text.
    pub(super) text: String,
    /// Bytes kept in each iteration.
    pub(super) bytes: usize,
}

pub(super) struct Driver<'m> {
    pub(super) module: &'m mut Module,
    pub(super) options: ReverseOptions,
    pub(super) types: TangentTypes,
    pub(super) reports: Vec<(Symbol, TapeReport)>,
    pub(super) ctx: Arc<Context>,
    pub(super) summaries: EffectSummaries,
    /// The summaries of functions that return, as far as they were asked for.
    returning_summaries: EffectSummaries,
    /// Loops that were outlined, by the functions that make their steps.
    pub(super) checkpointed: FxHashMap<Symbol, CheckpointedLoop>,
    /// Tells whether loops are outlined; not in a step itself.
    pub(super) outlines: bool,
    pub(super) recursive: FxHashSet<Symbol>,
    pub(super) made: FxHashMap<(Symbol, Vec<bool>, bool, bool), Pair>,
    /// The functions that are being differentiated, outermost first, with the calls that lead there, and
    /// their result types.
    pub(super) chain: Vec<(Symbol, Loc, Type)>,
    /// Everything that has no derivative, in the order in which it was found.
    pub(super) errors: Vec<Diagnostic>,
    /// The functions that give shadows back their lengths, by their types.
    pub(super) resizers: FxHashMap<Type, Symbol>,
    /// The nesting level of the shadows of objects of globals: see [`crate::nesting`].
    pub(super) level: i64,
    pub(super) globals: ActiveGlobals,
}

impl<'m> Driver<'m> {
    /// Of a module, to differentiate `f` by these parameters.
    pub(super) fn new(
        module: &'m mut Module,
        f: FuncId,
        active: &[bool],
        options: &ReverseOptions,
    ) -> Self {
        let ctx = Arc::clone(module.ctx());
        let shared = options.shared_globals;
        let globals = ActiveGlobals::of(module, f, active, shared);
        let summaries = EffectSummaries::compute(module);
        let graph = CallGraph::of(module);
        let mut recursive = FxHashSet::default();
        for component in graph.components() {
            let circular = component.len() > 1
                || component
                    .iter()
                    .any(|&node| graph.sites(node).iter().any(|site| site.callee == node));
            if circular {
                let functions = component.iter().filter_map(|&n| module.get(graph.functions()[n]));
                recursive.extend(functions.map(Function::name));
            }
        }
        Self {
            level: next_level(module),
            types: TangentTypes::new(&ctx),
            module,
            options: options.clone(),
            reports: Vec::new(),
            ctx,
            summaries,
            returning_summaries: EffectSummaries::default(),
            checkpointed: FxHashMap::default(),
            outlines: options.checkpoints.is_some(),
            recursive,
            made: FxHashMap::default(),
            chain: Vec::new(),
            errors: Vec::new(),
            resizers: FxHashMap::default(),
            globals,
        }
    }

    /// An error at a place in what is being differentiated, with the calls that lead there.
    pub(super) fn error(&self, message: &str, loc: Loc) -> Diagnostic {
        let mut error = Diagnostic::error(message).at_loc(&self.ctx, loc, "this has no derivative");
        if self.chain.len() > 1 {
            let names: Vec<String> =
                self.chain.iter().map(|&(name, ..)| format!("@{}", self.ctx.str(name))).collect();
            error = error.help(format!("while differentiating {}", names.join(", which calls ")));
        }
        error
    }

    /// Notes an error at a place in what is being differentiated, which goes on.
    pub(super) fn report(&mut self, message: &str, loc: Loc) {
        let error = self.error(message, loc);
        self.errors.push(error);
    }

    /// Notes the error of something that can do without.
    pub(super) fn noted<T>(&mut self, made: Result<T, Diagnostic>) -> Option<T> {
        made.map_err(|error| self.errors.push(error)).ok()
    }

    /// The result of a phase that has come to its end: the last error that was noted, if there is one.
    pub(super) fn settled<T>(&mut self, made: Result<T, Diagnostic>) -> Result<T, Diagnostic> {
        match self.errors.pop() {
            Some(error) => Err(error),
            None => made,
        }
    }

    /// The result type of the function that is being differentiated.
    pub(super) fn current_result(&self) -> Type {
        self.chain.last().map_or(Type::UNIT, |&(.., result)| result)
    }

    /// The types that the reverse part gives for each parameter.
    pub(super) fn cotangent_types(&mut self, f: &Function, active: &[bool]) -> Vec<Type> {
        let params = f.param_types();
        let types = params.iter().zip(active);
        types
            .map(|(&ty, &active)| if active { self.types.cotangent(ty) } else { Type::UNIT })
            .collect()
    }

    /// Returns whether a function changes objects that it is given.
    ///
    /// # Errors
    /// None if the module is valid.
    pub(super) fn writes_arguments(&mut self, name: Symbol) -> Result<bool, Diagnostic> {
        if !self.summaries.of(name).writes_anything() {
            return Ok(false);
        }
        // A function that came later, such as a step of a loop, is opaque to what was computed before.
        if self.returning_summaries.of(name).opaque {
            self.returning_summaries = self.summaries_of_returning()?;
        }
        Ok(self.returning_summaries.of(name).writes_anything())
    }

    /// The effects of a function that returns, as [`writes_arguments`](Self::writes_arguments) finds them.
    pub(super) fn returning_effects(&mut self, name: Symbol) -> Result<&EffectSummary, Diagnostic> {
        self.writes_arguments(name)?;
        Ok(match self.summaries.of(name).writes_anything() {
            true => self.returning_summaries.of(name),
            false => self.summaries.of(name),
        })
    }

    /// The summaries of functions that return: what makes the text of an error is never run again.
    fn summaries_of_returning(&self) -> Result<EffectSummaries, Diagnostic> {
        Ok(EffectSummaries::compute(&without_failing_code(self.module)?))
    }

    /// The result type of a function of the module.
    pub(super) fn return_type(&self, name: Symbol) -> Option<Type> {
        Some(self.module.get(self.module.find(name)?)?.ret_type())
    }

    /// The type of what calling a value of type `ty` gives, as far as it is known.
    pub(super) fn call_type(&self, ty: Type) -> Type {
        let called = match *self.ctx.kind(ty) {
            TypeKind::Struct(id) => self.ctx.struct_def(id).call,
            TypeKind::Fn(name) => Some(name),
            _ => None,
        };
        called.and_then(|name| self.return_type(name)).unwrap_or(Type::ANY)
    }

    /// A name that no function of the module has.
    pub(super) fn fresh(&self, text: &str) -> Symbol {
        let mut name = self.ctx.symbol(text);
        let mut count = 1;
        let taken = |name| {
            self.module.find(name).is_some()
                || self.made.values().any(|pair| pair.forward == name || pair.reverse == name)
        };
        while taken(name) {
            count += 1;
            name = self.ctx.symbol(&format!("{text}_{count}"));
        }
        name
    }
}
