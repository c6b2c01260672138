//! The phases of reverse mode, for one function: prepare, analyse, augment, reverse the control flow,
//! sweep, plan, apply the plan, materialise the residuals, package the tape.

use regraft_dialects::attrs::set_function_attr;
use regraft_dialects::{cf, chunks, core};
use regraft_ir::{
    Attrs, Block, Constant, ControlFlow, Diagnostic, DominatorTree, Function, Loc, Operand, Symbol,
    Type, Value,
};
use regraft_passes::analysis::{Aliases, Analyses, may_be_object};
use rustc_hash::{FxHashMap, FxHashSet};

use super::adjoint_liveness::AdjointLiveness;
use super::augment::{Augmented, augment};
use super::backward::{self, Sweep};
use super::checkpoint::binomial::revolve_sweep;
use super::checkpoint::outline_loops;
use super::control_reversal::reverse_control;
use super::discardable::discardable;
use super::driver::{Driver, Pair, TapeReport};
use super::late_shadows::late_shadows;
use super::loops::{Counters, Loops};
use super::prepare::prepare;
use super::private::PrivateObjects;
use super::residuals::materialise;
use super::returning::returning;
use super::tape::{TapeLayout, pack, unpack};
use super::tape_plan::{self, Applied, ForwardFacts, TapePlan};
use super::to_be_recorded::ToBeRecorded;
use super::{Checkpoints, PlanKind};
use crate::activity::{Activity, local_activity};
use crate::marks::{FORWARD_OF, REVERSE_OF, SHADOWS};
use crate::returning::returning_blocks;

/// The analyses of a prepared function.
struct PrimalAnalyses {
    /// The blocks that the function comes back from, in reverse postorder. Nobody comes back from
    /// those that lead to an error: they stay as they are.
    blocks: Vec<Block>,
    /// The same, by [`Block::index`].
    returns: Vec<bool>,
    activity: Activity,
    tbr: ToBeRecorded,
    private: PrivateObjects,
    discardable: Vec<bool>,
}

/// A derivative with its tape plan, in which nothing is kept yet.
struct Planned {
    aug: Augmented,
    loops: Loops,
    counters: Counters,
    sweep: Sweep,
    plan: TapePlan,
}

impl Driver<'_> {
    /// The derivative of a function for these active parameters. In combined mode, nothing is
    /// written between its two parts that it reads.
    pub(super) fn pair(
        &mut self,
        name: Symbol,
        active: &[bool],
        combined: bool,
        loc: Loc,
    ) -> Result<Pair, Diagnostic> {
        let key = (name, active.to_vec(), combined, self.outlines);
        if let Some(known) = self.made.get(&key) {
            return Ok(known.clone());
        }
        let (pair, ()) = self.on_function(name, active, combined, loc, Self::differentiate)?;
        self.made.insert(key, pair.clone());
        Ok(pair)
    }

    /// The tape plan of a function for these active parameters, as text. What it calls is
    /// differentiated, since tapes of calls are kept too.
    pub(super) fn tape_plan(
        &mut self,
        name: Symbol,
        active: &[bool],
    ) -> Result<String, Diagnostic> {
        let plan = |this: &mut Self, f: &Function, pair: &mut Pair, combined| {
            let Planned { aug, loops, counters, plan, .. } =
                this.planned(prepare(f)?, pair, combined)?;
            let applied = tape_plan::apply(aug.f, plan, &loops, counters)?;
            Ok(applied.plan.describe(&applied.f, &loops.forest))
        };
        Ok(self.on_function(name, active, true, Loc::UNKNOWN, plan)?.1)
    }

    /// Runs phases on a function that the chain of calls has come to, with the signature of its
    /// derivative.
    fn on_function<T>(
        &mut self,
        name: Symbol,
        active: &[bool],
        combined: bool,
        loc: Loc,
        phases: impl FnOnce(&mut Self, &Function, &mut Pair, bool) -> Result<T, Diagnostic>,
    ) -> Result<(Pair, T), Diagnostic> {
        let f = self.module.find(name).and_then(|id| self.module.get(id));
        let Some(f) = f.cloned() else {
            let message = format!("there is no function @{}", self.ctx.str(name));
            return Err(self.error(&message, loc));
        };
        let mut pair = self.signature(&f, active, combined);
        if self.recursive.contains(&name) {
            let key = (name, active.to_vec(), combined, self.outlines);
            self.made.insert(key, pair.clone());
        }
        self.chain.push((name, loc, f.ret_type()));
        let made = phases(self, &f, &mut pair, combined);
        self.chain.pop();
        Ok((pair, made?))
    }

    /// The derivative of `steps`, the steps of a checkpointed loop, with the Revolve sweep as its
    /// reverse part. `given` says which arguments are active.
    pub(super) fn checkpointed_pair(
        &mut self,
        steps: Symbol,
        given: &[bool],
        loc: Loc,
    ) -> Result<Pair, Diagnostic> {
        let checkpointed = self.checkpointed[&steps].clone();
        let f = self.module.find(checkpointed.step).and_then(|id| self.module.get(id));
        let types = f.map(Function::param_types).unwrap_or_default();
        let states = checkpointed.state.len();
        // What is handed on becomes active in the course of it.
        let active: Vec<bool> = (0..types.len())
            .map(|i| {
                let changes = i < states || checkpointed.saved.contains(&(i - states));
                (changes || given[i + 1]) && self.types.has_tangent(types[i])
            })
            .collect();
        let outlines = std::mem::replace(&mut self.outlines, false);
        let step = self.pair(checkpointed.step, &active, true, loc);
        self.outlines = outlines;
        let step = step?;
        let limit = self.options.checkpoints.unwrap_or(Checkpoints::Snapshots(1));
        let (reverse, reverse_type) = revolve_sweep(self, steps, &checkpointed, &step, limit)?;
        Ok(Pair { reverse, reverse_type, ..step })
    }

    /// Everything about a derivative but the type of its tape.
    fn signature(&mut self, f: &Function, active: &[bool], combined: bool) -> Pair {
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
        if !combined {
            suffix.push_str(".open");
        }
        let name = f.name_str();
        let stem = format!("{name}.forward");
        let forward = self.fresh(&format!("{stem}{suffix}"));
        let ending = self.ctx.str(forward)[stem.len()..].to_owned();
        let reverse = self.fresh(&format!("{name}.reverse{suffix}"));
        let result = f.ret_type();
        let cotangents = self.cotangent_types(f, active);
        let mut pair = Pair {
            forward,
            reverse,
            ending,
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

    pub(super) fn set_tape(&mut self, pair: &mut Pair, tape: Type) {
        let shadow = self.types.shadow(pair.result);
        pair.tape = tape;
        pair.forward_type = self.ctx.tuple_type(&[pair.result, shadow, tape]);
    }

    /// The derivative of a function, in which loops are outlined that would keep something.
    ///
    /// [`Driver::planned`] runs again on what outlining leaves, since a loop keeps something if the sweep
    /// through it asks for residuals, which are known once that sweep is there. The second run costs as
    /// much as the first one, but for the derivatives of callees that both ask for; those that the first
    /// one alone asked for stay in the module, and nobody calls them.
    fn differentiate(
        &mut self,
        f: &Function,
        pair: &mut Pair,
        combined: bool,
    ) -> Result<(), Diagnostic> {
        if let Some((kernel, _)) = chunks::kernel(f)
            && self.runs_in_chunks(f, kernel)
        {
            return self.differentiate_chunks(f, kernel, pair, combined);
        }
        let prepared = prepare(f)?;
        let whole = self.outlines.then(|| prepared.clone());
        let mut planned = self.planned(prepared, pair, combined)?;
        let mut notes = String::new();
        if let Some(whole) = whole {
            let headers = planned.plan.caching_loops(&planned.aug.f, &planned.loops);
            let combined_steps = combined && self.options.plan != PlanKind::Naive;
            let (rest, told) = outline_loops(self, whole, &headers, combined_steps)?;
            notes = told;
            if let Some(rest) = rest {
                planned = self.planned(rest, pair, combined)?;
            }
        }
        let Planned { aug, loops, counters, sweep, plan } = planned;
        let Augmented { f: forward, first_new, shadows, exit, result, result_shadow, .. } = aug;
        let shadows: FxHashSet<Value> =
            shadows.into_values().filter_map(Operand::as_value).collect();
        // What is neither of the primal nor a shadow, like the arrays of the tape that come after this.
        let others = first_new..forward.value_capacity();
        let mut applied = tape_plan::apply(forward, plan, &loops, counters)?;
        // What they say of parameters by their number does not hold for the shadows behind them.
        applied.f.set_function_attrs(Attrs::NONE);
        let (sweep, saved) = materialise(sweep, &applied, &loops)?;
        let is_open = |v: &Value| others.contains(&v.index()) && !shadows.contains(v);
        let mut analyses = Analyses::with_effects(&self.summaries);
        let shadows = groups_of_shadows(&applied.f, &saved, &shadows, is_open, &mut analyses);
        self.report_plan(&applied, f.name(), &loops, &notes);
        let end = exit.zip(result.zip(result_shadow));
        self.package(applied.f, sweep, (&saved, shadows), end, &loops.dom, f.name(), pair)
    }

    /// The derivative of a prepared function up to its tape plan.
    fn planned(
        &mut self,
        prepared: Function,
        pair: &Pair,
        combined: bool,
    ) -> Result<Planned, Diagnostic> {
        let naive = self.options.plan == PlanKind::Naive;
        let mut analyses = Analyses::with_effects(&self.summaries);
        let analysed = self.analysed(&prepared, pair, combined && !naive, &mut analyses)?;
        let PrimalAnalyses { blocks, returns, activity, tbr, private, discardable } = &analysed;
        let active = &pair.active;
        let aug = augment(self, prepared, activity, active, blocks, tbr, private)?;
        let loops = Loops::of(&aug.f, returns, &mut analyses);
        let (aug, reversal) = reverse_control(aug, &loops, activity, blocks, naive)?;
        let given = aug.receivers(blocks);
        let liveness = AdjointLiveness::compute(&aug.f, activity, blocks, returns, &given);
        let input = backward::SweepInput {
            aug: &aug,
            activity,
            liveness: &liveness,
            reversal: &reversal,
            loops: &loops,
            blocks,
            active,
            discardable,
        };
        let sweep = backward::sweep(self, &input, pair.reverse)?;
        let residuals: Vec<(Value, Block)> =
            sweep.residuals.iter().map(|residual| (residual.value, residual.at)).collect();
        let late = if naive { FxHashMap::default() } else { late_shadows(&aug, &sweep, &loops) };
        let facts = ForwardFacts { tbr, shadow_loads: &aug.shadow_loads, late_shadows: &late };
        let counters = reversal.counters;
        let plan =
            tape_plan::plan(&aug.f, &loops, facts, &counters, naive, &residuals, &mut analyses);
        Ok(Planned { aug, loops, counters, sweep, plan })
    }

    /// Analyses a prepared function. `unwritten` says that nothing is written between the two parts,
    /// and that reads may be made again.
    fn analysed(
        &mut self,
        prepared: &Function,
        pair: &Pair,
        unwritten: bool,
        analyses: &mut Analyses,
    ) -> Result<PrimalAnalyses, Diagnostic> {
        let returns = returning_blocks(prepared);
        let cfg = analyses.get::<ControlFlow>(prepared);
        let blocks: Vec<Block> =
            cfg.reverse_postorder().filter(|block| returns[block.index()]).collect();
        let only_read = self.only_read_by_chunks(prepared)?;
        let (types, globals) = (&mut self.types, &self.globals);
        let activity =
            local_activity(prepared, self.module, types, &pair.active, globals, &only_read);
        let running = returning(prepared, &returns)?;
        let discardable = discardable(&running, analyses, &blocks);
        let tbr = ToBeRecorded::compute(&running, analyses, unwritten);
        let private = PrivateObjects::new(&running, analyses.get::<Aliases>(&running));
        Ok(PrimalAnalyses { blocks, returns, activity, tbr, private, discardable })
    }

    /// Notes the plan, with `notes` in front of it, and its size.
    fn report_plan(&mut self, applied: &Applied, of: Symbol, loops: &Loops, notes: &str) {
        let Applied { f, plan, .. } = applied;
        let text = match self.options.describe {
            true => format!("{notes}{}", plan.describe(f, &loops.forest)),
            false => String::new(),
        };
        self.reports.push((of, TapeReport { text, bytes: plan.bytes_per_iteration(f) }));
    }

    /// Closes the forward part with its tape, and the reverse part with the projections of it, and
    /// adds both to the module. `end` is the block that returns, with the result and its shadow.
    #[allow(clippy::too_many_arguments)] // Both parts, and what is known of them.
    fn package(
        &mut self,
        mut forward: Function,
        mut sweep: Sweep,
        (saved, shadows): (&[Value], Option<String>),
        end: Option<(Block, (Operand, Operand))>,
        dom: &DominatorTree,
        of: Symbol,
        pair: &mut Pair,
    ) -> Result<(), Diagnostic> {
        let types: Vec<Type> = saved.iter().map(|&v| forward.ty(v)).collect();
        let is_partial =
            |&v: &Value| end.is_some_and(|(exit, ..)| !dom.dominates(forward.block_of(v), exit));
        let partial: Vec<bool> = saved.iter().map(is_partial).collect();
        let layout = TapeLayout::new(&types, &partial);
        let tape = layout.ty(&self.ctx, &types);
        let recursive = self.recursive.contains(&of);
        if !recursive {
            self.set_tape(pair, tape);
        }
        forward.set_ret_type(pair.forward_type);
        if let Some((exit, (mut result, shadow))) = end {
            let mut tuple = pack(&mut forward, exit, saved, &layout, dom)?;
            let at = Value::terminator(exit);
            if recursive {
                tuple = forward.insert(at, core::convert(tuple, Type::ANY))?.into();
            }
            if forward.operand_type(result) != pair.result {
                result = forward.insert(at, core::convert(result, pair.result))?.into();
            }
            let all = forward.insert(at, core::tuple([result, shadow, tuple]))?;
            forward.set_terminator(exit, cf::ret(all))?;
        }
        forward.set_name(pair.forward);
        set_function_attr(&mut forward, FORWARD_OF, Constant::Func(of));

        let mut source = sweep.tape;
        let reverse = &mut sweep.f;
        set_function_attr(reverse, REVERSE_OF, Constant::Func(of));
        if let Some(list) = shadows.filter(|_| layout.is_flat && !recursive) {
            set_function_attr(reverse, SHADOWS, Constant::Str(self.ctx.symbol(&list)));
        }
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
        unpack(reverse, source, &layout, &sweep.projections)?;
        self.module.add(forward)?;
        self.module.add(sweep.f)?;
        Ok(())
    }
}

/// The positions of shadows among the values that are kept, for the attribute `shadows` of the reverse part: nobody
/// passes an object for its own shadow. Shadows that may be one object are a group. `None` if there are none, or if it
/// is `open` of an object whether it is one.
fn groups_of_shadows(
    forward: &Function,
    saved: &[Value],
    shadows: &FxHashSet<Value>,
    is_open: impl Fn(&Value) -> bool,
    analyses: &mut Analyses,
) -> Option<String> {
    let ctx = forward.ctx();
    let is_object = |v: Value| may_be_object(ctx, forward.ty(v)) && forward.ty(v) != Type::ANY;
    let objects: Vec<(usize, Value)> =
        (1..).zip(saved.iter().copied()).filter(|&(_, v)| is_object(v)).collect();
    if objects.iter().any(|(_, v)| is_open(v)) {
        return None;
    }
    let mut groups: Vec<Vec<(usize, Value)>> = Vec::new();
    for &(position, v) in objects.iter().filter(|(_, v)| shadows.contains(v)) {
        let aliases = analyses.get::<Aliases>(forward);
        let may_be_of = |group: &mut Vec<(usize, Value)>| {
            group.iter().any(|&(_, other)| aliases.may_alias(forward, other.into(), v.into()))
        };
        let met: Vec<_> = groups.extract_if(.., may_be_of).flatten().collect();
        groups.push(met.into_iter().chain([(position, v)]).collect());
    }
    let text = |group: &Vec<(usize, Value)>| {
        group.iter().map(|(position, _)| position.to_string()).collect::<Vec<_>>().join(",")
    };
    let groups: Vec<String> = groups.iter().map(text).collect();
    (!groups.is_empty()).then(|| groups.join("|"))
}
