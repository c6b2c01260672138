//! The summaries of all functions of a module.

use regraft_ir::{ControlFlow, Function, Module, Traits};
use rustc_hash::FxHashMap;

use super::inst::{inst_effects, may_be_object, may_reach_objects};
use super::summary::{EffectSummaries, EffectSummary, Returns};
use crate::analysis::alias::{Aliases, Base};
use crate::analysis::{Analyses, CallGraph, LoopForest, TripCounts};

impl EffectSummaries {
    /// Summarizes the functions of a module. Near linear, but for functions that call each
    /// other in circles.
    pub fn compute(module: &Module) -> Self {
        let mut summaries = Self::unknown();
        let graph = CallGraph::of(module);
        let mut is_called = vec![false; graph.functions().len()];
        for node in 0..is_called.len() {
            graph.sites(node).iter().for_each(|site| is_called[site.callee] = true);
        }
        for component in graph.components() {
            let calls_itself =
                |&node: &usize| graph.sites(node).iter().any(|site| site.callee == node);
            if let [one] = *component
                && !calls_itself(&one)
            {
                let f = function(module, &graph, one);
                // Whether loops end is worth the trouble only if somebody asks.
                let summary = summarize(f, &summaries, is_called[one]);
                summaries.set(f.name(), summary);
                continue;
            }
            solve_component(module, &graph, &component, &mut summaries);
        }
        summaries
    }

    /// Adds the summary of a new function, whose callees are known and do not call it. Near linear
    /// in its size.
    pub fn add(&mut self, f: &Function) {
        let summary = summarize(f, self, true);
        self.set(f.name(), summary);
    }
}

fn function<'m>(module: &'m Module, graph: &CallGraph, node: usize) -> &'m Function {
    module.get(graph.functions()[node]).expect("the ids are those of the module")
}

/// Summarizes functions that call each other in circles.
fn solve_component(
    module: &Module,
    graph: &CallGraph,
    component: &[usize],
    summaries: &mut EffectSummaries,
) {
    let mut callers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for &at in component {
        let f = function(module, graph, at);
        summaries.set(f.name(), EffectSummary::none(f));
        for site in graph.sites(at) {
            let callers = callers.entry(site.callee).or_default();
            if callers.last() != Some(&at) {
                callers.push(at);
            }
        }
    }
    let mut pending: Vec<usize> = component.to_vec();
    let mut is_pending: FxHashMap<usize, bool> = pending.iter().map(|&at| (at, true)).collect();
    while let Some(at) = pending.pop() {
        is_pending.insert(at, false);
        let f = function(module, graph, at);
        // How deep the recursion goes is not known.
        let mut summary = summarize_given(f, &mut Analyses::with_effects(summaries), Ends::Never);
        // Never less than before, so that this comes to an end.
        summary.take_in(summaries.of(f.name()));
        if *summaries.of(f.name()) == summary {
            continue;
        }
        summaries.set(f.name(), summary);
        for &caller in callers.get(&at).map_or(&[][..], Vec::as_slice) {
            let inside = is_pending.get_mut(&caller);
            if inside.is_some_and(|is_pending| !std::mem::replace(is_pending, true)) {
                pending.push(caller);
            }
        }
    }
}

/// True if a function comes to an end, as far as that is not up to what it calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// It may call itself for ever.
    Never,
    /// It does if it has no cycle.
    Unknown,
    /// Its loops end.
    Loops,
}

/// Returns what a function that does not call itself does, if what it calls does what `summaries`
/// say.
fn summarize(f: &Function, summaries: &EffectSummaries, asks_for_end: bool) -> EffectSummary {
    let mut analyses = Analyses::with_effects(summaries);
    let summary = summarize_given(f, &mut analyses, Ends::Unknown);
    if asks_for_end && summary.may_not_end && loops_end(f, &mut analyses) {
        return summarize_given(f, &mut analyses, Ends::Loops);
    }
    summary
}

/// Returns whether all cycles of a function are loops that are surely left after so many
/// iterations.
fn loops_end(f: &Function, analyses: &mut Analyses) -> bool {
    let forest = analyses.get::<LoopForest>(f);
    forest.irreducible().is_empty() && {
        let counts = analyses.get::<TripCounts>(f);
        forest.loops().all(|l| counts.of(l).latch_runs.is_certain())
    }
}

/// Returns what a function does, if what it calls does what `analyses` know of its callees.
fn summarize_given(f: &Function, analyses: &mut Analyses, ends: Ends) -> EffectSummary {
    let mut result = EffectSummary::none(f);
    if f.entry().is_none() {
        return EffectSummary::opaque();
    }
    let cfg = analyses.get::<ControlFlow>(f);
    let aliases = analyses.get::<Aliases>(f);
    let summaries = analyses.effects();
    result.may_not_end = ends == Ends::Never;
    let mut returned = Vec::new();
    for block in cfg.reverse_postorder() {
        for v in f.insts(block) {
            let effects = inst_effects(f, v, summaries);
            result.observable |= effects.observable;
            result.may_trap |= effects.may_trap;
            result.may_not_end |= effects.may_not_end;
            result.allocates |= effects.allocates;
            result.elsewhere |= effects.elsewhere;
            for (operand, access) in effects.objects {
                match aliases.base(operand) {
                    Base::Param(i) => result.params[i as usize].access |= access,
                    base @ (Base::Fresh(_) | Base::Local(_)) if !aliases.is_visible(base) => {}
                    Base::None => {}
                    Base::Fresh(_) | Base::Local(_) | Base::Part(_) | Base::Unknown => {
                        result.elsewhere |= access;
                    }
                }
            }
        }
        let Some(term) = f.terminator(block) else { return EffectSummary::opaque() };
        if f.op_def(term).is_some_and(|def| def.traits.contains(Traits::RETURN)) {
            let what = what_is_returned(f, &aliases, term);
            result.returns = result.returns.join(what);
            if let Returns::Param(i) = what {
                returned.push(i as usize);
            }
        }
        // Any cycle may go on for ever.
        let goes_back = |target| cfg.rpo_index(target) <= cfg.rpo_index(block);
        result.may_not_end |= ends != Ends::Loops && f.successors(block).any(goes_back);
    }
    for (i, param) in result.params.iter_mut().enumerate() {
        param.escapes = aliases.param_escapes(i);
    }
    if result.returns == Returns::Unknown {
        // The caller cannot tell which object comes back.
        returned.into_iter().for_each(|i| result.params[i].escapes = true);
    }
    result
}

fn what_is_returned(f: &Function, aliases: &Aliases, term: regraft_ir::Value) -> Returns {
    let Some(operand) = f.plain_operands(term).next() else { return Returns::Plain };
    let ty = f.operand_type(operand);
    if !may_be_object(f.ctx(), ty) {
        let holds = operand.as_value().is_some() && may_reach_objects(f.ctx(), ty);
        return if holds { Returns::Unknown } else { Returns::Plain };
    }
    match aliases.base(operand) {
        // A constant.
        Base::None if operand.as_value().is_none() => Returns::Plain,
        base @ (Base::Fresh(_) | Base::Local(_)) if !aliases.is_visible(base) => Returns::Fresh,
        Base::Param(i) => Returns::Param(i),
        _ => Returns::Unknown,
    }
}
