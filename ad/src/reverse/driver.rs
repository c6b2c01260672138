//! Differentiates functions and what they call, each once for each set of active parameters.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Block, Context, ControlFlow, Diagnostic, DominatorTree, FuncId, Function, Loc, Module, Symbol,
    Type, TypeKind, Value,
};
use regraft_passes::analysis::{
    Aliases, CallGraph, EffectSummaries, InductionVariables, Invariants, LoopForest, LoopId,
    TripCounts,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::Activity;
use super::adjoint_liveness::AdjointLiveness;
use super::augment::{Augmented, augment};
use super::backward::{self, Plan, Sweep};
use super::checkpoint::binomial::add_back;
use super::checkpoint::{Checkpoints, Repeated, take_out};
use super::discardable::discardable;
use super::prepare::prepare;
use super::private::PrivateObjects;
use super::restore::restore;
use super::returning::{returning, returning_blocks};
use super::stability::Stability;
use super::tape::{TapeLayout, pack, unpack};
use super::tape_plan::Planner;
use super::way_back::WayBack;
use super::ways::{busy_blocks, leaving, visited, ways};
use super::{PlanKind, ReverseOptions};
use crate::activity::globals::ActiveGlobals;
use crate::scopes::next_level;
use crate::tangent::TangentTypes;

/// The two parts of the derivative of a function.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) forward: Symbol,
    pub(super) reverse: Symbol,
    /// What they return.
    pub(super) forward_type: Type,
    pub(super) reverse_type: Type,
    /// The types of the parameters of the function, and of its result.
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
    pub(super) tape: Type,
    pub(super) active: Vec<bool>,
}

/// What comes of a derivative.
enum Ending {
    /// To know in which loops something is kept.
    Loops,
    /// Functions, and these lines in front of the plan.
    Functions(String),
}

/// What was found out about the tape of a function.
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
    /// Loops that were taken out, by the functions that make their steps.
    pub(super) repeated: FxHashMap<Symbol, Repeated>,
    /// Whether loops are taken out: not in what is a step itself.
    takes_out: bool,
    recursive: FxHashSet<Symbol>,
    made: FxHashMap<(Symbol, Vec<bool>, bool, bool), Pair>,
    /// The functions that are being differentiated, outermost first, with the calls of the next.
    chain: Vec<(Symbol, Loc)>,
    results: Vec<Type>,
    /// What gives shadows back their lengths, by their types.
    pub(super) regrown: FxHashMap<Type, Symbol>,
    /// Of the shadows of objects of globals: see [`crate::scopes`].
    pub(super) level: i64,
    globals: ActiveGlobals,
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
        let globals = ActiveGlobals::of(module, f, active, ctx.extensions().get(), shared);
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
            repeated: FxHashMap::default(),
            takes_out: options.checkpoints.is_some(),
            recursive,
            made: FxHashMap::default(),
            chain: Vec::new(),
            results: Vec::new(),
            regrown: FxHashMap::default(),
            globals,
        }
    }

    /// An error at a place in what is being differentiated, with the calls that lead there.
    pub(super) fn error(&self, message: &str, loc: Loc) -> Diagnostic {
        let mut error = Diagnostic::error(message).at_loc(&self.ctx, loc, "this has no derivative");
        if self.chain.len() > 1 {
            let names: Vec<String> =
                self.chain.iter().map(|&(name, _)| format!("@{}", self.ctx.str(name))).collect();
            error = error.help(format!("while differentiating {}", names.join(", which calls ")));
        }
        error
    }

    /// The result type of the function that is being differentiated.
    pub(super) fn current_result(&self) -> Type {
        self.results.last().copied().unwrap_or(Type::UNIT)
    }

    /// What the reverse part gives for each parameter.
    pub(super) fn cotangent_types(&mut self, f: &Function, active: &[bool]) -> Vec<Type> {
        let params = f.param_types();
        let types = params.iter().zip(active);
        types
            .map(|(&ty, &active)| if active { self.types.cotangent(ty) } else { Type::UNIT })
            .collect()
    }

    /// Whether a function changes objects that it is given.
    ///
    /// # Errors
    /// None if the module is valid.
    pub(super) fn writes_arguments(&self, name: Symbol) -> Result<bool, Diagnostic> {
        if !self.summaries.of(name).writes_anything() {
            return Ok(false);
        }
        // What makes the text of an error is never run again.
        let mut module = self.module.clone();
        for id in module.ids().to_vec() {
            if let Some(f) = module.get_mut(id) {
                *f = returning(f, &returning_blocks(f))?;
            }
        }
        Ok(EffectSummaries::compute(&module).of(name).writes_anything())
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

    /// The derivative of a function for these active parameters. With `closed`, nothing is written
    /// between its two parts that it reads.
    pub(super) fn pair(
        &mut self,
        name: Symbol,
        active: &[bool],
        closed: bool,
        loc: Loc,
    ) -> Result<Pair, Diagnostic> {
        let key = (name, active.to_vec(), closed, self.takes_out);
        if let Some(known) = self.made.get(&key) {
            return Ok(known.clone());
        }
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        let Some(f) = f.cloned() else {
            let message = format!("there is no function @{}", self.ctx.str(name));
            return Err(self.error(&message, loc));
        };
        let mut pair = self.signature(&f, active, closed);
        if self.recursive.contains(&name) {
            self.made.insert(key.clone(), pair.clone());
        }
        self.chain.push((name, loc));
        self.results.push(f.ret_type());
        let made = self.differentiate(&f, &mut pair, closed);
        self.results.pop();
        self.chain.pop();
        made?;
        self.made.insert(key, pair.clone());
        Ok(pair)
    }

    /// The function that undoes all steps of a loop that was taken out, as a derivative of `steps`.
    /// `given` says which arguments are active.
    pub(super) fn repeated_pair(
        &mut self,
        steps: Symbol,
        given: &[bool],
        loc: Loc,
    ) -> Result<Pair, Diagnostic> {
        let repeated = self.repeated[&steps].clone();
        let f = self.module.find(repeated.step).and_then(|id| self.module.get(id));
        let types = f.map(Function::param_types).unwrap_or_default();
        let states = repeated.state.len();
        // What is handed on becomes active in the course of it.
        let active: Vec<bool> = (0..types.len())
            .map(|i| {
                let changes = i < states || repeated.saved.contains(&(i - states));
                (changes || given[i + 1]) && self.types.has_tangent(types[i])
            })
            .collect();
        let takes_out = std::mem::replace(&mut self.takes_out, false);
        let step = self.pair(repeated.step, &active, true, loc);
        self.takes_out = takes_out;
        let step = step?;
        let limit = self.options.checkpoints.unwrap_or(Checkpoints::Snapshots(1));
        let (reverse, reverse_type) = add_back(self, steps, &repeated, &step, limit)?;
        Ok(Pair { reverse, reverse_type, ..step })
    }

    /// Everything about a derivative but the type of its tape.
    fn signature(&mut self, f: &Function, active: &[bool], closed: bool) -> Pair {
        let params = f.param_types();
        let mut suffix = String::new();
        let all =
            params.iter().zip(active).all(|(&ty, &active)| active || !self.types.has_tangent(ty));
        if !all {
            suffix.push_str(".wrt");
            for (i, _) in active.iter().enumerate().filter(|&(_, &active)| active) {
                suffix.push_str(&format!("_{}", i + 1));
            }
        }
        if !closed {
            suffix.push_str(".open");
        }
        let name = f.name_str();
        let forward = self.fresh(&format!("{name}.forward{suffix}"));
        let reverse = self.fresh(&format!("{name}.reverse{suffix}"));
        let result = f.ret_type();
        let cotangents = self.cotangent_types(f, active);
        let mut pair = Pair {
            forward,
            reverse,
            forward_type: Type::ANY,
            reverse_type: self.ctx.tuple_type(&cotangents),
            params,
            result,
            tape: Type::ANY,
            active: active.to_vec(),
        };
        self.set_tape(&mut pair, Type::ANY);
        pair
    }

    fn set_tape(&mut self, pair: &mut Pair, tape: Type) {
        let shadow = self.types.shadow(pair.result);
        pair.tape = tape;
        pair.forward_type = self.ctx.tuple_type(&[pair.result, shadow, tape]);
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

    fn differentiate(
        &mut self,
        f: &Function,
        pair: &mut Pair,
        closed: bool,
    ) -> Result<(), Diagnostic> {
        let mut p = prepare(f)?;
        let mut notes = String::new();
        if self.takes_out {
            let undone = returning_blocks(&p);
            for header in self.generate(p.clone(), pair, closed, Ending::Loops)? {
                let closed = closed && self.options.plan != PlanKind::Naive;
                match take_out(self, &mut p, header, &undone, closed)? {
                    Ok(steps) => {
                        let steps = self.ctx.str(steps);
                        notes.push_str(&format!(
                            "loop {header}: steps of @{steps}, made again from snapshots\n"
                        ));
                    }
                    Err(why) => {
                        notes.push_str(&format!("loop {header}: no snapshots, since {why}\n"));
                    }
                }
            }
        }
        self.generate(p, pair, closed, Ending::Functions(notes))?;
        Ok(())
    }

    /// Makes the two parts of the derivative of the prepared function `p`. Returns the headers of
    /// outermost loops in which something is kept.
    fn generate(
        &mut self,
        p: Function,
        pair: &mut Pair,
        closed: bool,
        ending: Ending,
    ) -> Result<Vec<Block>, Diagnostic> {
        // What leads to an error stays as it is: nobody comes back from there.
        let undone = returning_blocks(&p);
        let mut blocks: Vec<Block> = ControlFlow::compute(&p).reverse_postorder().collect();
        blocks.retain(|block| undone[block.index()]);
        let activity = {
            let ctx = Arc::clone(&self.ctx);
            Activity::compute(
                &p,
                self.module,
                &mut self.types,
                ctx.extensions().get(),
                &pair.active,
                &blocks,
                &self.globals,
            )
        };
        let naive = self.options.plan == PlanKind::Naive;
        let running = returning(&p, &undone)?;
        let discardable = discardable(&running, &blocks);
        let (stability, private) = {
            let cfg = ControlFlow::compute(&running);
            let aliases = Aliases::compute(&running, &cfg, &self.summaries);
            let keeps = closed && !naive;
            let stability = Stability::compute(&running, &cfg, &aliases, &self.summaries, keeps);
            (stability, PrivateObjects::new(&running, aliases))
        };
        let mut aug = augment(self, p, &activity, &pair.active, &blocks, &stability, &private)?;
        let (busy, merges) = busy_blocks(&aug, &activity, &blocks);

        let cfg = ControlFlow::compute(&aug.f);
        let dom = DominatorTree::compute(&aug.f);
        let forest = Arc::new(LoopForest::compute(&aug.f, &cfg, &dom));
        let invariants = Arc::new(Invariants::compute(&aug.f, &cfg, Arc::clone(&forest)));
        let ivs = InductionVariables::compute(&aug.f, &cfg, &dom, invariants);
        let counts = TripCounts::of_returning(&aug.f, &dom, &ivs, &undone);
        let mut irregular = vec![false; aug.f.block_capacity()];
        for region in forest.irreducible() {
            region.blocks.iter().for_each(|block| irregular[block.index()] = true);
        }
        let ctx = Arc::clone(&self.ctx);
        let empty = || Function::new(&ctx, "", &[], Type::UNIT);
        let whole = std::mem::replace(&mut aug.f, empty());
        let mut planner = Planner::new(
            whole,
            Arc::clone(&forest),
            &dom,
            &ivs,
            &counts,
            &stability,
            &irregular,
            std::mem::take(&mut aug.beside),
            naive,
        );
        let ways = ways(&mut planner, &blocks, &busy, &merges)?;
        let visited = visited(&ways, aug.exit);
        let counted: Vec<LoopId> = blocks
            .iter()
            .filter(|block| visited[block.index()])
            .filter_map(|block| match &ways[block.index()] {
                Some(WayBack::Counted { l, .. }) => Some(*l),
                _ => None,
            })
            .collect();
        let headers: FxHashMap<Block, LoopId> =
            counted.iter().map(|&l| (forest.get(l).header, l)).collect();
        let leaving = leaving(&mut planner, &counted, &visited)?;
        aug.f = std::mem::replace(&mut planner.f, empty());

        let given = aug.given(&blocks);
        let liveness = AdjointLiveness::compute(&aug.f, &activity, &blocks, &undone, &given);
        let plan = Plan {
            aug: &aug,
            activity: &activity,
            liveness: &liveness,
            ways: &ways,
            leaving: &leaving,
            counted: &counted,
            headers: &headers,
            forest: &forest,
            blocks: &blocks,
            undone: &visited,
            active: &pair.active,
            discardable: &discardable,
        };
        let name = self.ctx.str(pair.reverse).to_owned();
        let mut sweep = backward::sweep(self, &plan, &name)?;
        planner.f = std::mem::replace(&mut aug.f, empty());
        restore(&mut planner, &mut sweep)?;
        let keeping = planner.keeping_loops();
        if let Ending::Functions(notes) = ending {
            self.finish(planner, sweep, &aug, &dom, pair, &notes)?;
        }
        Ok(keeping)
    }

    /// Closes the forward part with its tape, and the reverse part with the projections of it.
    fn finish(
        &mut self,
        mut planner: Planner<'_>,
        mut sweep: Sweep,
        aug: &Augmented,
        dom: &DominatorTree,
        pair: &mut Pair,
        notes: &str,
    ) -> Result<(), Diagnostic> {
        let inbounds = planner.inbounds();
        let text = match self.options.describe {
            true => format!("{notes}{}", planner.describe()),
            false => String::new(),
        };
        let report = TapeReport { text, bytes: planner.bytes_per_iteration() };
        let name = self.chain.last().map_or(pair.forward, |&(name, _)| name);
        self.reports.push((name, report));
        let kept = std::mem::take(&mut planner.tape);
        let mut forward = planner.f;
        let types: Vec<Type> = kept.iter().map(|&v| forward.ty(v)).collect();
        let partial: Vec<bool> = kept
            .iter()
            .map(|&v| aug.exit.is_some_and(|exit| !dom.dominates(forward.block_of(v), exit)))
            .collect();
        let layout = TapeLayout::new(&types, &partial);
        let tape = layout.ty(&self.ctx, &types);
        let recursive = self.recursive.contains(&name);
        if !recursive {
            self.set_tape(pair, tape);
        }
        if let (Some(exit), Some(result), Some(shadow)) = (aug.exit, aug.result, aug.result_shadow)
        {
            let mut tuple = pack(&mut forward, exit, &kept, &layout, dom)?;
            let at = Value::terminator(exit);
            if recursive {
                tuple = forward.insert(at, core::convert(tuple, Type::ANY))?.into();
            }
            let mut result = result;
            if forward.operand_type(result) != pair.result {
                result = forward.insert(at, core::convert(result, pair.result))?.into();
            }
            let all = forward.insert(at, core::tuple([result, shadow, tuple]))?;
            forward.set_ret_type(pair.forward_type);
            forward.set_terminator(exit, cf::ret(all))?;
        } else {
            forward.set_ret_type(pair.forward_type);
        }
        forward.set_name(pair.forward);
        forward.set_function_attrs(regraft_ir::Attrs::NONE);

        let mut source = sweep.tape;
        let reverse = &mut sweep.f;
        if recursive {
            // It comes as any, since its type would contain itself.
            let inst = core::typeassert(source, tape);
            source = match reverse.first_inst(sweep.entry) {
                Some(first) => reverse.insert(first, inst)?,
                None => reverse.push(sweep.entry, inst)?,
            };
        } else {
            reverse.set_type(source, tape)?;
        }
        unpack(reverse, source, &layout, &sweep.projections, inbounds)?;
        self.module.add(forward)?;
        self.module.add(sweep.f)?;
        Ok(())
    }
}
