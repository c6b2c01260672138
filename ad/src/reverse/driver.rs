//! Differentiates functions and what they call, each once for each set of active parameters.

use std::sync::Arc;

use regraft_dialects::{arith, cf, core, mem};
use regraft_ir::{
    Block, Constant, Context, ControlFlow, Diagnostic, DominatorTree, Function, Loc, Module,
    Operand, Symbol, Type, TypeKind, Value,
};
use regraft_passes::analysis::{
    CallGraph, EffectSummaries, InductionVariables, Invariants, LoopForest, LoopId, TripCounts,
};
use regraft_passes::transforms::ssa_repair;
use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::Activity;
use super::adjoint_liveness::AdjointLiveness;
use super::augment::{Augmented, augment};
use super::backward::{self, Leaving, Plan, Sweep};
use super::prepare::prepare;
use super::restore::restore;
use super::stability::Stability;
use super::tape::{Chunk, TapeLayout};
use super::tape_plan::{Planner, dummy};
use super::way_back::{Choice, Chooser, WayBack};
use super::{PlanKind, ReverseOptions};
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
    ctx: Arc<Context>,
    summaries: EffectSummaries,
    recursive: FxHashSet<Symbol>,
    made: FxHashMap<(Symbol, Vec<bool>, bool), Pair>,
    /// The functions that are being differentiated, outermost first, with the calls of the next.
    chain: Vec<(Symbol, Loc)>,
    results: Vec<Type>,
}

impl<'m> Driver<'m> {
    pub(super) fn new(module: &'m mut Module, options: &ReverseOptions) -> Self {
        let ctx = Arc::clone(module.ctx());
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
            types: TangentTypes::new(&ctx),
            module,
            options: options.clone(),
            reports: Vec::new(),
            ctx,
            summaries,
            recursive,
            made: FxHashMap::default(),
            chain: Vec::new(),
            results: Vec::new(),
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
    pub(super) fn writes_arguments(&self, name: Symbol) -> bool {
        self.summaries.of(name).writes_anything()
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
        let key = (name, active.to_vec(), closed);
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
        let p = prepare(f)?;
        // What leads to an error stays as it is: nobody comes back from there.
        let undone = undone_blocks(&p);
        let mut blocks: Vec<Block> = ControlFlow::compute(&p).reverse_postorder().collect();
        blocks.retain(|block| undone[block.index()]);
        let activity = {
            let rules = Arc::clone(&self.options.rules);
            Activity::compute(&p, self.module, &mut self.types, &rules, &pair.active, &blocks)
        };
        let naive = self.options.plan == PlanKind::Naive;
        let stability = Stability::compute(&p, &self.summaries, closed && !naive);
        let is_stable = |v: Value| closed && stability.is_stable(v);
        let mut aug = augment(self, p, &activity, &pair.active, &blocks, &is_stable)?;
        let (busy, merges) = busy_blocks(&aug, &activity, &blocks);

        let cfg = ControlFlow::compute(&aug.f);
        let dom = DominatorTree::compute(&aug.f);
        let forest = Arc::new(LoopForest::compute(&aug.f, &cfg, &dom));
        let invariants = Arc::new(Invariants::compute(&aug.f, &cfg, Arc::clone(&forest)));
        let ivs = InductionVariables::compute(&aug.f, &cfg, &dom, invariants);
        let counts = TripCounts::compute(&aug.f, &dom, &ivs);
        let mut irregular = vec![false; aug.f.block_capacity()];
        for region in forest.irreducible() {
            region.blocks.iter().for_each(|block| irregular[block.index()] = true);
        }
        let empty = || Function::new(f.ctx(), "", &[], Type::UNIT);
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
        let ways = self.ways(&mut planner, &blocks, &undone, &busy, &merges, naive)?;
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
        let discardable = discardable(&aug.f, &blocks);
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
        self.finish(planner, sweep, &aug, &dom, pair)
    }

    /// Chooses the way back from each block that is undone; selectors become parameters.
    fn ways(
        &mut self,
        planner: &mut Planner<'_>,
        blocks: &[Block],
        undone: &[bool],
        busy: &[bool],
        merges: &[bool],
        naive: bool,
    ) -> Result<Vec<Option<WayBack>>, Diagnostic> {
        let mut ways: Vec<Option<WayBack>> = vec![None; planner.f.block_capacity()];
        for &block in blocks.iter().filter(|block| undone[block.index()]) {
            let forest = Arc::clone(&planner.forest);
            let chooser = Chooser {
                f: &planner.f,
                dom: planner.dom,
                forest: &forest,
                busy,
                merges,
                irregular: planner.irregular,
                naive,
            };
            ways[block.index()] = Some(match chooser.choose(block) {
                Choice::Found(way) => way,
                Choice::Keep(sources) => {
                    let ty = match sources.len() {
                        2 => Type::BOOL,
                        n if n <= 127 => Type::I8,
                        _ => Type::I64,
                    };
                    let constant = |i: usize| match ty {
                        Type::BOOL => Constant::Bool(i == 1),
                        _ => Constant::int(ty, i as i64).unwrap_or(Constant::Unit),
                    };
                    let numbers: FxHashMap<Block, usize> =
                        sources.iter().enumerate().map(|(i, &from)| (from, i)).collect();
                    let ctx = Arc::clone(&self.ctx);
                    let selector = planner.f.add_param(block, ty, |from| {
                        numbers.get(&from).map(|&i| ctx.constant_id(constant(i)))
                    })?;
                    WayBack::Kept { selector, sources }
                }
            });
        }
        Ok(ways)
    }

    /// Closes the forward part with its tape, and the reverse part with the projections of it.
    fn finish(
        &mut self,
        mut planner: Planner<'_>,
        mut sweep: Sweep,
        aug: &Augmented,
        dom: &DominatorTree,
        pair: &mut Pair,
    ) -> Result<(), Diagnostic> {
        let inbounds = planner.inbounds();
        let report = TapeReport { text: planner.describe(), bytes: planner.bytes_per_iteration() };
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
        let recursive =
            pair.tape == Type::ANY && self.made.values().any(|p| p.forward == pair.forward);
        if !recursive {
            self.set_tape(pair, tape);
        }
        if let (Some(exit), Some(result), Some(shadow)) = (aug.exit, aug.result, aug.result_shadow)
        {
            let mut tuple = self.make_tape(&mut forward, exit, &kept, &layout, dom)?;
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
        let index = |i: usize| Operand::from(self.ctx.constant_id(Constant::I64(i as i64 + 1)));
        for &(at, i) in &sweep.projections {
            let (chunk, place) = layout.places[i];
            if layout.is_flat {
                reverse.replace(at, core::get(source, index(place)))?;
                continue;
            }
            let loc = reverse.loc(at);
            let whole = reverse.insert(at, core::get(source, index(chunk)).at(loc))?;
            let load = mem::load(whole, [index(place)]).with_attrs(inbounds).at(loc);
            let inst = match layout.chunks[chunk].element {
                None => core::get(whole, index(place)),
                Some(Type::ANY) => {
                    let ty = reverse.ty(at);
                    core::typeassert(reverse.insert(at, load)?, ty)
                }
                Some(_) => load,
            };
            reverse.replace(at, inst)?;
        }
        self.module.add(forward)?;
        self.module.add(sweep.f)?;
        Ok(())
    }

    /// Appends the tape to the block that returns.
    fn make_tape(
        &mut self,
        f: &mut Function,
        exit: Block,
        kept: &[Value],
        layout: &TapeLayout,
        dom: &DominatorTree,
    ) -> Result<Operand, Diagnostic> {
        let at = Value::terminator(exit);
        let mut chunks: Vec<Value> = Vec::new();
        let entry = f.entry().expect("it has blocks");
        for chunk in &layout.chunks {
            if let (Some(element), true) = (chunk.element, chunk.is_stored) {
                chunks.push(self.store_chunk(f, entry, kept, chunk, element)?);
                continue;
            }
            let members = chunk.members.iter().map(|&i| kept[i]);
            let inst = match chunk.element {
                Some(element) => mem::array(members, self.ctx.array_type(element, 1)),
                None => core::tuple(members),
            };
            chunks.push(f.insert(at, inst)?);
        }
        let all = match chunks.as_slice() {
            [one] if layout.is_flat => *one,
            _ => f.insert(at, core::tuple(chunks.iter().copied()))?,
        };
        let mut dummies: FxHashMap<Type, Operand> = FxHashMap::default();
        for (i, &v) in kept.iter().enumerate() {
            let block = f.block_of(v);
            if dom.dominates(block, exit) || layout.chunks[layout.places[i].0].is_stored {
                continue;
            }
            let ty = f.ty(v);
            let stand_in = match dummies.get(&ty) {
                Some(&known) => known,
                None => {
                    let first = f.first_inst(entry).unwrap_or(Value::terminator(entry));
                    let ctx = Arc::clone(&self.ctx);
                    let mut failed = None;
                    let mut emit = |inst| match f.insert(first, inst) {
                        Ok(v) => Operand::from(v),
                        Err(error) => {
                            failed.get_or_insert(error);
                            ctx.constant_id(Constant::Unit).into()
                        }
                    };
                    let made = dummy(&ctx, ty, &mut emit);
                    if let Some(error) = failed {
                        return Err(error.into());
                    }
                    dummies.insert(ty, made);
                    made
                }
            };
            let defs = [(entry, stand_in), (block, v.into())];
            ssa_repair::repair(f, v, &defs, &[chunks[layout.places[i].0]])?;
        }
        Ok(all.into())
    }

    /// An array into which values are put where they are computed.
    fn store_chunk(
        &self,
        f: &mut Function,
        entry: Block,
        kept: &[Value],
        chunk: &Chunk,
        element: Type,
    ) -> Result<Value, Diagnostic> {
        let length = self.ctx.constant_id(Constant::I64(chunk.members.len() as i64));
        let array = f.push_front(entry, mem::alloc([length], self.ctx.array_type(element, 1)))?;
        for (place, &i) in chunk.members.iter().enumerate() {
            let v = kept[i];
            let block = f.block_of(v);
            let next = if f.is_param(v) { f.first_inst(block) } else { f.next_inst(v) };
            let at = next.unwrap_or(Value::terminator(block));
            let index = self.ctx.constant_id(Constant::I64(place as i64 + 1));
            f.insert(at, mem::store(array, v, [index]))?;
        }
        Ok(array)
    }

    /// The function that goes forward and back at once.
    pub(super) fn vjp(&mut self, name: Symbol, pair: &Pair) -> Result<Symbol, Diagnostic> {
        let text = self.ctx.str(pair.forward).replacen(".forward", ".vjp", 1);
        let made = self.fresh(&text);
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        let names: Vec<Option<Symbol>> = f.map_or_else(Vec::new, |f| {
            let params =
                f.entry().map(|entry| f.params(entry).map(|p| f.value_symbol(p)).collect());
            params.unwrap_or_default()
        });
        let loc = f.map_or(Loc::UNKNOWN, Function::function_loc);
        let mut params = pair.params.clone();
        for (&ty, _) in pair.params.iter().zip(&pair.active).filter(|&(_, &active)| active) {
            if self.types.has_shadow(ty) {
                params.push(self.types.shadow(ty));
            }
        }
        let result = self.types.of(pair.result);
        params.push(result.tangent);
        let ret = self.ctx.tuple_type(&[pair.result, pair.reverse_type]);
        let text = self.ctx.str(made).to_owned();
        let mut v = Function::new(&self.ctx, &text, &params, ret);
        v.set_function_loc(loc);
        let entry = v.entry().expect("a new function has an entry");
        let all: Vec<Value> = v.params(entry).collect();
        let mut at = pair.params.len();
        for (i, &param) in all.iter().take(at).enumerate() {
            if let Some(name) = names.get(i).copied().flatten() {
                v.name_after(param, name)?;
            }
        }
        for (i, &ty) in pair.params.iter().enumerate() {
            if pair.active[i] && self.types.has_shadow(ty) {
                if let Some(name) = names.get(i).copied().flatten() {
                    let name = self.ctx.symbol(&format!("d{}", self.ctx.str(name)));
                    v.name_after(all[at], name)?;
                }
                at += 1;
            }
        }
        let seed = all[all.len() - 1];
        let func = |name: Symbol| self.ctx.constant_id(Constant::Func(name));
        let index = |i: i64| self.ctx.constant_id(Constant::I64(i));
        let args: Vec<Value> = all[..all.len() - 1].to_vec();
        let triple = v.push(entry, core::call(func(pair.forward), args, pair.forward_type))?;
        let value = v.push(entry, core::get(triple, index(1)))?;
        let mut cotangent = seed;
        if self.types.has_shadow(pair.result) {
            let shadow = v.push(entry, core::get(triple, index(2)))?;
            let mut part = seed;
            if self.types.has_cotangent(pair.result) {
                part = v.push(entry, regraft_dialects::ad::shadow(seed, result.shadow))?;
                cotangent =
                    v.push(entry, regraft_dialects::ad::cotangent(seed, result.cotangent))?;
            }
            v.push(entry, regraft_dialects::ad::accumulate(shadow, part))?;
        }
        let seed: Operand = if self.types.has_cotangent(pair.result) {
            cotangent.into()
        } else {
            let ctx = Arc::clone(&self.ctx);
            let mut failed = None;
            let zero =
                super::parts::zero(&ctx, result.cotangent, &mut |inst| match v.push(entry, inst) {
                    Ok(v) => v.into(),
                    Err(error) => {
                        failed.get_or_insert(error);
                        ctx.constant_id(Constant::Unit).into()
                    }
                });
            if let Some(error) = failed {
                return Err(error.into());
            }
            zero
        };
        let tape = v.push(entry, core::get(triple, index(3)))?;
        let back =
            v.push(entry, core::call(func(pair.reverse), [tape.into(), seed], pair.reverse_type))?;
        let both = v.push(entry, core::tuple([value, back]))?;
        v.set_terminator(entry, cf::ret(both))?;
        if all.len() > pair.params.len() + 1 {
            // Nobody passes an object for its own shadow.
            let name = self.ctx.symbol("apart");
            let first = self.ctx.constant_id(Constant::I64(pair.params.len() as i64 + 1));
            v.set_function_attrs(self.ctx.attrs(&[(name, first)]));
        }
        self.module.add(v)?;
        // They were made to be one function.
        let name = self.ctx.symbol("inline");
        let yes = self.ctx.constant_id(Constant::Bool(true));
        for part in [pair.forward, pair.reverse] {
            if let Some(f) = self.module.find(part).and_then(|id| self.module.get_mut(id)) {
                f.set_function_attrs(self.ctx.attrs(&[(name, yes)]));
            }
        }
        Ok(made)
    }
}

/// By [`Block::index`], the blocks from which the function returns.
fn undone_blocks(f: &Function) -> Vec<bool> {
    let mut undone = vec![false; f.block_capacity()];
    let returns = |block: &Block| f.op(Value::terminator(*block)) == Some(cf::RETURN);
    let mut pending: Vec<Block> = f.blocks().filter(returns).collect();
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut undone[block.index()], true) {
            pending.extend(f.in_edges(block).map(|edge| edge.from));
        }
    }
    undone
}

/// By [`Block::index`], the blocks that the reverse sweep comes to: it goes around those in which
/// there is nothing to undo.
fn visited(ways: &[Option<WayBack>], exit: Option<Block>) -> Vec<bool> {
    let mut visited = vec![false; ways.len()];
    let mut pending: Vec<Block> = exit.into_iter().collect();
    while let Some(block) = pending.pop() {
        if std::mem::replace(&mut visited[block.index()], true) {
            continue;
        }
        if let Some(way) = &ways[block.index()] {
            way.targets(&mut pending);
        }
    }
    visited
}

/// By [`Block::index`], the blocks in which something has to be undone, and those with parameters
/// that cotangents come to.
fn busy_blocks(aug: &Augmented, activity: &Activity, blocks: &[Block]) -> (Vec<bool>, Vec<bool>) {
    let n = aug.f.block_capacity();
    let (mut busy, mut merges) = (vec![false; n], vec![false; n]);
    for &block in blocks {
        merges[block.index()] = Some(block) != aug.f.entry()
            && aug.f.params(block).any(|param| activity.is_varied(param));
        busy[block.index()] = merges[block.index()] || !aug.actions[block.index()].is_empty();
    }
    (busy, merges)
}

/// For each edge that leaves counted loops, the numbers of iterations as they are known behind it.
fn leaving(
    planner: &mut Planner<'_>,
    counted: &[LoopId],
    visited: &[bool],
) -> Result<Leaving, Diagnostic> {
    let mut found = Leaving::default();
    for &l in counted {
        let forest = Arc::clone(&planner.forest);
        let at = forest.get(l);
        let runs = match at.preheader {
            Some(preheader) => planner.latch_runs(l, preheader, true)?,
            None => None,
        };
        let count: Operand = match runs {
            Some(runs) => runs,
            None => planner.counter(l)?.into(),
        };
        let mut params: FxHashMap<Block, Value> = FxHashMap::default();
        for exit in &at.exits {
            let edge = exit.edge(&planner.f);
            let target = planner.f.edge_target(edge);
            if !visited[target.index()] {
                continue;
            }
            let is_known = match count.as_value() {
                None => true,
                Some(v) => {
                    let home = forest.loop_of(planner.f.block_of(v));
                    home.is_none_or(|home| forest.contains(home, target))
                }
            };
            let operand: Operand = if is_known {
                count
            } else if let Some(&param) = params.get(&target) {
                param.into()
            } else {
                let param = planner.f.add_param(target, Type::I64, |_| Some(count))?;
                params.insert(target, param);
                param.into()
            };
            found.entry((edge.from, target)).or_default().push((l, operand));
        }
    }
    Ok(found)
}

/// By [`Value::index`], the values that may be discarded after they were computed: by a select, or
/// as the lesser of two. Their cotangent is then zero, whatever their derivative is.
fn discardable(f: &Function, blocks: &[Block]) -> Vec<bool> {
    let mut found = vec![false; f.value_capacity()];
    for &block in blocks.iter().rev() {
        let body: Vec<Value> = f.body(block).collect();
        for &v in body.iter().rev() {
            let selects = matches!(f.op(v), Some(core::SELECT | arith::MIN | arith::MAX));
            if !selects && !found[v.index()] {
                continue;
            }
            for operand in f.plain_operands(v) {
                if let Some(operand) = operand.as_value()
                    && f.ty(operand).is_float()
                {
                    found[operand.index()] = true;
                }
            }
        }
    }
    found
}
