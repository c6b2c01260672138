//! Finds out whether rounding decides a cotangent.
//!
//! Cancellation: a cotangent to which `d` and `-d` are added loses the terms that are small beside `d`, and forward mode, which takes
//! the difference first, keeps them. Other inputs do not show it, as it happens in the reverse sweep alone, and each time alike.
//!
//! # Method
//! Discrete stochastic arithmetic (CESTAC: La Porte and Vignes, 1974): the reverse sweep runs again a few times with the result of each
//! instruction a little off, as if each rounded otherwise. A cotangent that changes as much as it is wrong has no digit that
//! is right.

use std::sync::Arc;

use regraft_dialects::arith;
use regraft_ir::{Constant, FuncId, Function, IrResult, Module, Type, Value};
use regraft_passes::analysis::CallGraph;

use super::agreement::dot;
use super::{Checked, Checker, Cotangents};
use crate::choices::SplitMix;
use crate::test_rule::Sweeps;

/// The number of runs of the sweep with other rounding.
const RUNS: u64 = 4;

impl Checker<'_> {
    /// Returns whether ⟨x̄, ẋ⟩ changes by as much when the reverse sweep rounds otherwise.
    pub(super) fn is_rounded(
        &mut self,
        sweeps: &Sweeps,
        found: &Cotangents,
        direction: &[f64],
        by: f64,
    ) -> bool {
        let x = dot(&found.of_args, direction).0;
        let moved = |this: &mut Self, run| {
            let there = this.rounded_otherwise(sweeps, found, run).ok().flatten()?;
            Some((dot(&there.of_args, direction).0 - x).abs())
        };
        (0..RUNS).filter_map(|run| moved(self, run)).any(|moved| moved >= by)
    }

    fn rounded_otherwise(
        &mut self,
        sweeps: &Sweeps,
        found: &Cotangents,
        run: u64,
    ) -> Checked<Option<Cotangents>> {
        let Ok(module) = with_other_rounding(self.derivative, sweeps, run) else { return Ok(None) };
        let args = self.fresh()?;
        let plain = self.plain_run(args);
        self.with_derivative(&module, |this| this.sweeps(sweeps, &plain, &found.seeds))
    }
}

/// The same functions; in those that only the reverse sweep calls, the results of instructions that are floats are a little
/// greater or less.
fn with_other_rounding(module: &Module, sweeps: &Sweeps, seed: u64) -> IrResult<Module> {
    let graph = CallGraph::of(module);
    let forward = called(&graph, module, &sweeps.forward);
    let mut random = SplitMix(seed);
    let mut changed = module.clone();
    for id in called(&graph, module, &sweeps.reverse) {
        if let Some(f) = changed.get_mut(id).filter(|_| !forward.contains(&id)) {
            round_otherwise(f, &mut random)?;
        }
    }
    Ok(changed)
}

/// A function and those that it calls, in an order that is the same each time.
fn called(graph: &CallGraph, module: &Module, function: &str) -> Vec<FuncId> {
    let first = module.find(module.ctx().symbol(function));
    let is_first = |id: &FuncId| Some(*id) == first;
    let mut nodes: Vec<usize> = graph.functions().iter().position(is_first).into_iter().collect();
    let mut next = 0;
    while let Some(&node) = nodes.get(next) {
        next += 1;
        for site in graph.sites(node) {
            if !nodes.contains(&site.callee) {
                nodes.push(site.callee);
            }
        }
    }
    nodes.into_iter().map(|node| graph.functions()[node]).collect()
}

fn round_otherwise(f: &mut Function, random: &mut SplitMix) -> IrResult<()> {
    let ctx = Arc::clone(f.ctx());
    let floats: Vec<Value> =
        f.blocks().flat_map(|block| f.body(block)).filter(|&v| f.ty(v).is_float()).collect();
    for v in floats {
        // Up to two hundred units in the last place.
        let unit = if f.ty(v) == Type::F32 { f32::EPSILON.into() } else { f64::EPSILON };
        let by = 1.0 + ((random.next() % 401) as f64 - 200.0) * unit;
        let Some(by) = Constant::float(f.ty(v), by) else { continue };
        let at = f.next_inst(v).unwrap_or(Value::terminator(f.block_of(v)));
        let near = f.insert(at, arith::mul(v, ctx.constant_id(by)))?;
        f.replace_uses_if(v, near, |_, used| used.user != near)?;
    }
    Ok(())
}
