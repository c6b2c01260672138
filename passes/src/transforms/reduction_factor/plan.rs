//! Which updates of a nest leave it, and how they are computed then.
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
use regraft_ir::{Constant, Function, Operand, Type, Value};

use super::contents::Contents;
use super::injective::is_injective;
use super::nest::LoopNest;
use super::slice::{Slice, Slices};
use super::update::Update;
use crate::analysis::{Access, InductionVariables, LoopId, Poly, TripCounts};
use crate::transforms::util::loop_accesses::{Accesses, MemoryAccess};
use crate::transforms::util::versioning::Apart;

/// What the elements are before the first addend.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// All of them are this.
    Known(Operand),
    /// What they are; the sum begins with this, which changes nothing, and is added to them.
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
    /// The parameters of headers that are needed, by `around`.
    pub(super) params: Vec<Vec<Value>>,
}

/// The updates of a nest that leave it.
pub(super) struct Plan {
    pub(super) factored: Vec<Factored>,
    /// Objects that have to be different.
    pub(super) apart: Vec<Apart>,
}

/// What the decision is made by.
pub(super) struct Planner<'a, 'b> {
    pub(super) contents: &'b Contents<'a>,
    pub(super) variables: &'b InductionVariables,
    pub(super) counts: &'b TripCounts,
    pub(super) fast: bool,
}

impl Planner<'_, '_> {
    /// The plan for a nest, if it gets cheaper.
    pub(super) fn plan(&self, slices: &mut Slices<'_>) -> Option<Plan> {
        let (f, nest) = (self.contents.f, slices.nest);
        let blocks = nest.forest.blocks(nest.root);
        let stores = blocks.iter().flat_map(|&block| f.body(block));
        let stores: Vec<Value> = stores.filter(|&v| f.op(v) == Some(mem::STORE)).collect();
        let updates: Vec<Update> =
            stores.iter().filter_map(|&store| Update::of(f, nest, store)).collect();
        if updates.is_empty() {
            return None;
        }
        let accesses = Accesses::of(f, blocks, self.contents.aliases, self.contents.summaries)?;
        if accesses.may_stop || accesses.observable {
            return None;
        }
        let deepest = blocks.iter().map(|&block| nest.around(block).len()).max()?;
        let mut plan = Plan { factored: Vec::new(), apart: Vec::new() };
        for update in updates {
            let mut apart = plan.apart.clone();
            if let Some((factored, depth)) = self.factor(slices, update, &accesses, &mut apart)
                && depth < deepest
            {
                plan.factored.push(factored);
                plan.apart = apart;
            }
        }
        let gains = !plan.factored.is_empty() && self.rest(slices, &plan, &accesses) < deepest;
        gains.then_some(plan)
    }

    /// How an update can leave the nest, and how deep its loops are nested then.
    fn factor(
        &self,
        slices: &mut Slices<'_>,
        update: Update,
        accesses: &Accesses,
        apart: &mut Vec<Apart>,
    ) -> Option<(Factored, usize)> {
        let (f, nest) = (self.contents.f, slices.nest);
        let block = update.block(f);
        if nest.contains_operand(f, update.array) || !nest.runs_always(self.contents.dom, block) {
            return None;
        }
        let around = nest.around(block);
        let indices = slices.of_all(f, update.indices.iter().copied(), update.home)?;
        let addend = slices.of(f, update.addend, update.home)?;
        if !indices.loads.is_empty() || indices.depth > 0 {
            return None;
        }
        let mut params = Vec::with_capacity(around.len());
        for &l in &around {
            let test = slices.of(f, nest.get(l).test, l)?;
            params.push(counters(f, slices, l, &[&test, &indices, &addend])?);
        }
        let varies = |slice: &Slice, l: LoopId| {
            slice.params.iter().any(|&param| nest.header_of(f, param) == Some(l))
        };
        let of_index = |l: &LoopId| varies(&indices, *l);
        let of_addend = |l: &LoopId| varies(&addend, *l);
        let (moving, summed): (Vec<LoopId>, Vec<LoopId>) = around.iter().partition(|l| of_index(l));
        let (kept, spread): (Vec<LoopId>, Vec<LoopId>) = moving.iter().partition(|l| of_addend(l));
        if spread.is_empty() || summed.is_empty() && addend.depth == 0 {
            return None;
        }
        let map: Vec<Poly> = update
            .indices
            .iter()
            .map(|&index| self.variables.evolution_at(f, index, block))
            .collect();
        if !is_injective(&map, &moving, nest.root, self.variables, self.counts) {
            return None;
        }
        self.is_apart(nest, &update, &addend, accesses, apart)?;
        let start = if summed.is_empty() {
            Start::Single
        } else if let Some(start) = self.contents.at(update.array, nest.root, apart) {
            Start::Known(start)
        } else {
            Start::Neutral(self.neutral(&update)?)
        };
        let depth = moving.len().max(kept.len() + summed.len() + addend.depth);
        let factored = Factored { update, around, kept, summed, spread, start, params };
        Some((factored, depth))
    }

    /// The operand with which an op gives the other one, if sums may be joined in any order.
    fn neutral(&self, update: &Update) -> Option<Operand> {
        let f = self.contents.f;
        let ty = f.ty(update.op);
        let number = match f.op(update.op)? {
            arith::ADD => 0,
            arith::MUL => 1,
            _ => return None,
        };
        let constant = match ty {
            _ if ty.is_int() => Constant::int(ty, number)?,
            // Adding -0.0 changes no number.
            Type::F64 | Type::F32 if self.fast && number == 0 => Constant::float(ty, -0.0)?,
            Type::F64 | Type::F32 if self.fast => Constant::float(ty, 1.0)?,
            _ => return None,
        };
        Some(f.constant_id(constant).into())
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
        let f = self.contents.f;
        for access in &accesses.list {
            if ![update.load, update.store].contains(&access.inst) {
                let conflicts = Access::READS_CONTENTS | Access::WRITES_CONTENTS;
                self.differ(nest, update.array, access, conflicts, apart)?;
            }
            for &load in &addend.loads {
                let array = f.operand(load, 0)?;
                if access.inst != update.store {
                    self.differ(nest, array, access, Access::WRITES_CONTENTS, apart)?;
                }
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
        let (f, aliases) = (self.contents.f, self.contents.aliases);
        let what = what | Access::WRITES_SHAPE;
        if access.effects.elsewhere.intersects(what) && aliases.non_escaping(array).is_none() {
            return None;
        }
        for &(object, does) in &access.effects.objects {
            if !does.intersects(what) || !aliases.may_alias(f, object, array) {
                continue;
            }
            let is_older = |x, y| self.contents.is_older(x, y);
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

    /// How deep the loops are nested that the rest of the nest needs.
    fn rest(&self, slices: &mut Slices<'_>, plan: &Plan, accesses: &Accesses) -> usize {
        let (f, nest) = (self.contents.f, slices.nest);
        let mut depth = 0;
        for access in &accesses.list {
            let gone = plan.factored.iter().any(|of| of.update.store == access.inst);
            if access.effects.writes_anything() && !gone {
                depth = depth.max(nest.around(access.block).len());
            }
        }
        for &block in nest.forest.blocks(nest.root) {
            for v in f.params(block).chain(f.body(block)) {
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
                if nest.contains(f.block_of(arg)) {
                    let slice = slices.of_own_result(f, arg);
                    depth = depth.max(slice.map_or(usize::MAX, |slice| slice.depth));
                }
            }
        }
        depth
    }
}

/// The parameters of a header that slices use, with those from which these follow. `None` if they
/// follow from anything else, or begin with what varies in the nest.
fn counters(f: &Function, slices: &mut Slices<'_>, l: LoopId, of: &[&Slice]) -> Option<Vec<Value>> {
    let nest = slices.nest;
    let header = nest.get(l).header;
    let own = |v: &Value| f.block_of(*v) == header;
    let mut params: Vec<Value> = Vec::new();
    for slice in of {
        for &param in slice.params.iter().filter(|v| own(v)) {
            if !params.contains(&param) {
                params.push(param);
            }
        }
    }
    // The test decides by the counters of its own loop alone.
    if !of[0].params.iter().all(own) || !of[0].loads.is_empty() || of[0].depth > 0 {
        return None;
    }
    let mut done = 0;
    while let Some(&param) = params.get(done) {
        done += 1;
        let position = f.params(header).position(|p| p == param)?;
        let next = slices.of(f, nest.get(l).next[position], l)?;
        if !next.params.iter().all(own) || !next.loads.is_empty() || next.depth > 0 {
            return None;
        }
        for &v in &next.params {
            if !params.contains(&v) {
                params.push(v);
            }
        }
        if l != nest.root {
            let parent = nest.get(l).parent?;
            let initial = slices.of(f, nest.get(l).initial[position], parent)?;
            if !initial.params.is_empty() || !initial.loads.is_empty() || initial.depth > 0 {
                return None;
            }
        }
    }
    Some(params)
}
