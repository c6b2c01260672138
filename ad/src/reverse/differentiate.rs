//! The phases of reverse mode, for one function: prepare, take loops out, analyse, augment, plan, sweep,
//! restore, package the tape.

use std::sync::Arc;

use regraft_dialects::{cf, core};
use regraft_ir::{
    Block, ControlFlow, Diagnostic, DominatorTree, Function, Loc, Symbol, Type, Value,
};
use regraft_passes::analysis::{
    Aliases, InductionVariables, Invariants, LoopForest, LoopId, TripCounts,
};
use rustc_hash::FxHashMap;

use super::adjoint_liveness::AdjointLiveness;
use super::augment::{Augmented, augment};
use super::backward::{self, Plan, Sweep};
use super::checkpoint::binomial::add_back;
use super::checkpoint::take_out;
use super::discardable::discardable;
use super::driver::{Driver, Pair, TapeReport};
use super::prepare::prepare;
use super::private::PrivateObjects;
use super::restore::restore;
use super::returning::returning;
use super::stability::Stability;
use super::tape::{TapeLayout, pack, unpack};
use super::tape_plan::Planner;
use super::way_back::WayBack;
use super::ways::{busy_blocks, leaving, visited, ways};
use super::{Checkpoints, PlanKind};
use crate::activity::local_activity;
use crate::returning::returning_blocks;

/// The end of a derivative: the loops that keep something, or the two functions.
enum Ending {
    /// To know in which loops something is kept.
    Loops,
    /// Functions, and these lines in front of the plan.
    Functions(String),
}

impl Driver<'_> {
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
        let activity =
            local_activity(&p, self.module, &mut self.types, &pair.active, &self.globals);
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
