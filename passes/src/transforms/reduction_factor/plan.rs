//! Decides which updates of a nest leave it, and how they are computed then.
//!
//! The loops around an update `x[i] = x[i] + e` are of three kinds:
//!
//! - those that `i` and `e` depend on: they stay around (**kept**),
//! - those that `i` does not depend on: what is added to one element (**summed**),
//! - those that only `i` depends on: the same sum for each (**spread**).
//!
//! ```text
//! for kept { s = start; for summed { s += e }; for spread { x[i] = s } }
//! ```

use regraft_dialects::{arith, mem};
use regraft_ir::{Function, Operand, Value};

use super::factors::{Factor, factors, neutral, slice_of};
use super::guard::Guard;
use super::made_arrays::ReductionAnalyses;
use super::nest::LoopNest;
use super::slice::{Slice, Slices, counters};
use super::sum::FactoredSum;
use super::update::Update;
use crate::analysis::{Access, LoopId, Poly, is_injective};
use crate::transforms::util::loop_accesses::{Accesses, MemoryAccess};
use crate::transforms::util::versioning::Apart;

/// The start values of the elements, before the first addend.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// All of them are this.
    Known(Operand),
    /// Any values: the sum begins with this neutral element, and is added to them.
    Neutral(Operand),
    /// Nothing is summed up.
    Single,
}

/// An update that leaves its nest.
pub(super) struct Factored {
    pub(super) update: Update,
    pub(super) around: Vec<LoopId>,
    pub(super) kept: Vec<LoopId>,
    pub(super) summed: Vec<LoopId>,
    pub(super) spread: Vec<LoopId>,
    pub(super) start: Start,
    pub(super) guard: Option<Guard>,
    /// The factors of the addend.
    pub(super) addend: Vec<Factor>,
    /// The factors of the sum.
    pub(super) fixed: Vec<Factor>,
    /// The parameters of headers that are needed, by `around`.
    pub(super) params: Vec<Vec<Value>>,
}

/// The updates of a nest that leave it.
pub(super) struct Plan {
    pub(super) factored: Vec<Factored>,
    pub(super) sums: Vec<FactoredSum>,
    /// Objects that have to be different.
    pub(super) apart: Vec<Apart>,
}

/// The analyses and options that a plan is made by.
pub(super) struct Planner<'a, 'b> {
    pub(super) analyses: &'b ReductionAnalyses<'a>,
    pub(super) fast: bool,
}

impl Planner<'_, '_> {
    /// The plan for a nest, if it gets cheaper.
    pub(super) fn plan(&self, slices: &mut Slices<'_>) -> Option<Plan> {
        let (f, nest) = (self.analyses.f, slices.nest);
        let blocks = nest.forest.blocks(nest.root);
        let stores = blocks.iter().flat_map(|&block| f.body(block));
        let stores: Vec<Value> = stores.filter(|&v| f.op(v) == Some(mem::STORE)).collect();
        let updates: Vec<Update> =
            stores.iter().filter_map(|&store| Update::of(f, nest, store)).collect();
        let sums: Vec<FactoredSum> = f
            .params(nest.get(nest.root).header)
            .filter_map(|param| FactoredSum::of(f, slices, param, self.fast))
            .filter(|sum| leaves(f, nest, sum.result))
            .collect();
        if updates.is_empty() && sums.is_empty() {
            return None;
        }
        let accesses = Accesses::of(f, blocks, self.analyses.aliases, self.analyses.summaries)?;
        if accesses.may_stop || accesses.observable {
            return None;
        }
        let deepest = blocks.iter().map(|&block| nest.around(block).len()).max()?;
        let mut plan = Plan { factored: Vec::new(), sums: Vec::new(), apart: Vec::new() };
        for sum in sums {
            let mut apart = plan.apart.clone();
            if self.reads_apart(nest, &sum.addend, &accesses, None, &mut apart).is_some() {
                plan.sums.push(sum);
                plan.apart = apart;
            }
        }
        for update in updates {
            let mut apart = plan.apart.clone();
            if let Some((factored, depth)) = self.factor(slices, update, &accesses, &mut apart)
                && depth < deepest
            {
                plan.factored.push(factored);
                plan.apart = apart;
            }
        }
        let rest = self.rest(slices, &plan, &accesses);
        let depths = plan.sums.iter().map(FactoredSum::depth);
        // Without anything else, a sum that is multiplied once only is a gain as well.
        let simpler = rest == 0 && plan.factored.is_empty() && !plan.sums.is_empty();
        let flatter = rest < deepest
            && depths.max().unwrap_or(0) < deepest
            && !(plan.factored.is_empty() && plan.sums.is_empty());
        (simpler || flatter).then_some(plan)
    }

    /// The way in which an update can leave the nest, and how deep its loops are nested then.
    fn factor(
        &self,
        slices: &mut Slices<'_>,
        update: Update,
        accesses: &Accesses,
        apart: &mut Vec<Apart>,
    ) -> Option<(Factored, usize)> {
        let (f, nest) = (self.analyses.f, slices.nest);
        let block = update.block(f);
        if nest.contains_operand(f, update.array) || !nest.runs_always(self.analyses.dom, block) {
            return None;
        }
        let around = nest.around(block);
        let indices = slices.of_all(f, update.indices.iter().copied(), update.home)?;
        let whole = slices.of(f, update.addend, update.home)?;
        if !indices.loads.is_empty() || indices.depth > 0 {
            return None;
        }
        let mut params = Vec::with_capacity(around.len());
        for &l in &around {
            let test = slices.of(f, nest.get(l).test, l)?;
            params.push(counters(f, slices, l, &[&test, &indices, &whole])?);
        }
        let varies = |slice: &Slice, l: LoopId| {
            slice.params.iter().any(|&param| nest.header_of(f, param) == Some(l))
        };
        let (moving, summed): (Vec<LoopId>, Vec<LoopId>) =
            around.iter().partition(|&&l| varies(&indices, l));
        let split = |slice: &Slice| -> (Vec<LoopId>, Vec<LoopId>) {
            moving.iter().partition(|&&l| varies(slice, l))
        };
        let (mut kept, mut spread) = split(&whole);
        let (mut addend, mut fixed) = (vec![(update.addend, update.home)], Vec::new());
        let mut shared = whole.clone();
        let mut guard = None;
        if spread.is_empty()
            && let Some(found) = Guard::of(f, slices, &update, &summed)
        {
            shared = slice_of(f, slices, &[found.addend])?;
            (kept, spread) = split(&shared);
            addend = vec![found.addend];
            guard = Some(found);
        }
        let neutral = neutral(f, f.op(update.op)?, f.ty(update.op), self.fast);
        if spread.is_empty() && f.op(update.op) == Some(arith::ADD) && neutral.is_some() {
            // What does not vary in the sum leaves it.
            let mut varying = Vec::new();
            let (whole, home) = addend[0];
            for factor in factors(f, slices, whole, home) {
                let slice = slices.of(f, factor.0, factor.1)?;
                let moves = summed.iter().any(|&l| varies(&slice, l));
                if moves { &mut varying } else { &mut fixed }.push(factor);
            }
            if varying.is_empty() || fixed.is_empty() {
                return None;
            }
            shared = slice_of(f, slices, &varying)?;
            (kept, spread) = split(&shared);
            addend = varying;
        }
        if spread.is_empty() || summed.is_empty() && shared.depth == 0 {
            return None;
        }
        let map: Vec<Poly> = update
            .indices
            .iter()
            .map(|&index| self.analyses.variables.evolution_at(f, index, block))
            .collect();
        let ReductionAnalyses { variables, counts, dom, .. } = *self.analyses;
        if !is_injective(&map, &moving, (nest.root, block), (variables, counts, dom)) {
            return None;
        }
        self.is_apart(nest, &update, &whole, accesses, apart)?;
        let start = if summed.is_empty() {
            Start::Single
        } else if fixed.is_empty()
            && let Some(start) = self.analyses.content_at(update.array, nest.root, apart)
        {
            Start::Known(start)
        } else {
            Start::Neutral(neutral?)
        };
        if let (Some(guard), Start::Known(start) | Start::Neutral(start)) = (&guard, start)
            && !guard.keeps(f, &update, start, self.fast)
        {
            return None;
        }
        let depth = moving.len().max(kept.len() + summed.len() + shared.depth);
        let factored =
            Factored { update, around, kept, summed, spread, start, guard, addend, fixed, params };
        Some((factored, depth))
    }

    /// Collects the objects that have to be different for an update to be independent of all else in
    /// the nest, and what it reads of what is written there.
    fn is_apart(
        &self,
        nest: &LoopNest<'_>,
        update: &Update,
        addend: &Slice,
        accesses: &Accesses,
        apart: &mut Vec<Apart>,
    ) -> Option<()> {
        for access in &accesses.list {
            if ![update.load, update.store].contains(&access.inst) {
                let conflicts = Access::READS_CONTENTS | Access::WRITES_CONTENTS;
                self.differ(nest, update.array, access, conflicts, apart)?;
            }
        }
        self.reads_apart(nest, addend, accesses, Some(update.store), apart)
    }

    /// Collects the objects that have to be different for nothing in the nest but `except` to write
    /// what a slice reads.
    fn reads_apart(
        &self,
        nest: &LoopNest<'_>,
        slice: &Slice,
        accesses: &Accesses,
        except: Option<Value>,
        apart: &mut Vec<Apart>,
    ) -> Option<()> {
        for access in accesses.list.iter().filter(|access| Some(access.inst) != except) {
            for &load in &slice.loads {
                let array = self.analyses.f.operand(load, 0)?;
                self.differ(nest, array, access, Access::WRITES_CONTENTS, apart)?;
            }
        }
        Some(())
    }

    /// Adds the pairs by which an access does nothing of `what` to an array.
    fn differ(
        &self,
        nest: &LoopNest<'_>,
        array: Operand,
        access: &MemoryAccess,
        what: Access,
        apart: &mut Vec<Apart>,
    ) -> Option<()> {
        let (f, aliases) = (self.analyses.f, self.analyses.aliases);
        let what = what | Access::WRITES_SHAPE;
        if access.effects.elsewhere.intersects(what) && aliases.non_escaping(array).is_none() {
            return None;
        }
        for &(object, does) in &access.effects.objects {
            if !does.intersects(what) || !aliases.may_alias(f, object, array) {
                continue;
            }
            let is_older = |x, y| self.analyses.is_older(x, y);
            if is_older(object, array) || is_older(array, object) {
                continue;
            }
            if object == array
                || nest.contains_operand(f, object)
                || nest.contains_operand(f, array)
            {
                return None;
            }
            if !apart.contains(&(array, object)) && !apart.contains(&(object, array)) {
                apart.push((array, object));
            }
        }
        Some(())
    }

    /// The nesting depth of the loops that the rest of the nest needs.
    fn rest(&self, slices: &mut Slices<'_>, plan: &Plan, accesses: &Accesses) -> usize {
        let (f, nest) = (self.analyses.f, slices.nest);
        let mut depth = 0;
        for access in &accesses.list {
            let gone = plan.factored.iter().any(|of| of.update.store == access.inst);
            if access.effects.writes_anything() && !gone {
                depth = depth.max(nest.around(access.block).len());
            }
        }
        for &block in nest.forest.blocks(nest.root) {
            for v in f.params(block).chain(f.body(block)) {
                if plan.sums.iter().any(|sum| sum.result == v) {
                    continue;
                }
                if f.uses(v).all(|at| nest.contains(f.block_of(at.user))) {
                    continue;
                }
                let needed = match nest.header_of(f, v) {
                    Some(l) if l == nest.root => {
                        slices.of_own_result(f, v).map_or(usize::MAX, |slice| slice.depth)
                    }
                    _ => usize::MAX,
                };
                depth = depth.max(needed);
            }
            let leaving = f.out_edges(block).filter(|&e| !nest.contains(f.edge_target(e)));
            for arg in leaving.flat_map(|edge| f.edge_args(edge)).filter_map(Operand::as_value) {
                let is_sum = plan.sums.iter().any(|sum| sum.result == arg);
                if nest.contains(f.block_of(arg)) && !is_sum {
                    let slice = slices.of_own_result(f, arg);
                    depth = depth.max(slice.map_or(usize::MAX, |slice| slice.depth));
                }
            }
        }
        depth
    }
}

/// Returns whether a parameter of the header of a nest is used after it.
fn leaves(f: &Function, nest: &LoopNest<'_>, param: Value) -> bool {
    let mut exits = f.out_edges(nest.get(nest.root).header);
    f.uses(param).any(|at| !nest.contains(f.block_of(at.user)))
        || exits.any(|edge| {
            !nest.contains(f.edge_target(edge)) && f.edge_args(edge).any(|arg| arg == param.into())
        })
}
