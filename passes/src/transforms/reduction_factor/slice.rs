//! Finds what values of a loop nest are computed from, and whether they can be computed elsewhere.
//!
//! The **slice** of a value is all that it takes to compute it: pure instructions, loads, and whole
//! inner loops of which it is a result. It ends at parameters of the headers of loops around the
//! place where the value is used, and outside of the nest (M. Weiser, "Program slicing", 1984).
//!
//! A load is in a slice if it runs in each iteration of the loops around it. Nobody asks here what
//! writes to its array.

use regraft_dialects::mem;
use regraft_ir::{DominatorTree, Function, Operand, Value};
use rustc_hash::FxHashMap;

use super::nest::LoopNest;
use crate::analysis::LoopId;
use crate::analysis::traps::{may_trap, only_computes};
use crate::transforms::util::edit::only_edge_into;

/// All that it takes to compute a value.
#[derive(Clone, Default, Debug)]
pub(super) struct Slice {
    /// Parameters of headers of loops around the use, in the order of their numbers.
    pub(super) params: Vec<Value>,
    /// The loads, likewise.
    pub(super) loads: Vec<Value>,
    /// The nesting depth of loops in it.
    pub(super) depth: usize,
}

impl Slice {
    pub(super) fn join(&mut self, other: &Self) {
        insert_all(&mut self.params, &other.params);
        insert_all(&mut self.loads, &other.loads);
        self.depth = self.depth.max(other.depth);
    }
}

fn insert_all(into: &mut Vec<Value>, from: &[Value]) {
    for &v in from {
        if let Err(at) = into.binary_search(&v) {
            into.insert(at, v);
        }
    }
}

/// The slices of a nest.
pub(super) struct Slices<'a> {
    pub(super) nest: &'a LoopNest<'a>,
    dom: &'a DominatorTree,
    /// By value, and whether it is used after the loop that it is of.
    known: FxHashMap<(Value, bool), Option<Slice>>,
    /// For a result of a loop, the parameters of the header that a copy of the loop needs.
    carried: FxHashMap<Value, Vec<Value>>,
}

impl<'a> Slices<'a> {
    pub(super) fn new(nest: &'a LoopNest<'a>, dom: &'a DominatorTree) -> Self {
        Self { nest, dom, known: FxHashMap::default(), carried: FxHashMap::default() }
    }

    /// The slice of an operand used in a loop; `None` if it can be computed nowhere else. The depth of
    /// the recursion is limited by the size of the nest.
    pub(super) fn of(&mut self, f: &Function, operand: Operand, used_in: LoopId) -> Option<Slice> {
        let Some(v) = operand.as_value() else { return Some(Slice::default()) };
        if !self.nest.contains(f.block_of(v)) {
            return Some(Slice::default());
        }
        let is_result = self.is_result(f, v, used_in);
        if let Some(known) = self.known.get(&(v, is_result)) {
            return known.clone();
        }
        // What is computed from itself without a header between is not.
        self.known.insert((v, is_result), None);
        let slice = if is_result { self.of_result(f, v, used_in) } else { self.inside(f, v) };
        self.known.insert((v, is_result), slice.clone());
        slice
    }

    /// The slices of several operands together.
    pub(super) fn of_all(
        &mut self,
        f: &Function,
        operands: impl IntoIterator<Item = Operand>,
        used_in: LoopId,
    ) -> Option<Slice> {
        let mut all = Slice::default();
        for operand in operands {
            all.join(&self.of(f, operand, used_in)?);
        }
        Some(all)
    }

    /// The slice of an operand that was asked for before.
    pub(super) fn known(&self, f: &Function, v: Value, used_in: LoopId) -> Slice {
        let known = self.known.get(&(v, self.is_result(f, v, used_in)));
        known.cloned().flatten().unwrap_or_default()
    }

    /// The parameters that a copy of the loop of a result needs.
    pub(super) fn carried(&self, result: Value) -> &[Value] {
        self.carried.get(&result).map_or(&[], |params| params)
    }

    /// Returns whether a value of the nest that is used in a loop comes out of one within that.
    pub(super) fn is_result(&self, f: &Function, v: Value, used_in: LoopId) -> bool {
        !self.nest.forest.encloses(self.nest.loop_of(f.block_of(v)), used_in)
    }

    fn inside(&mut self, f: &Function, v: Value) -> Option<Slice> {
        let block = f.block_of(v);
        let l = self.nest.loop_of(block);
        if self.nest.header_of(f, v).is_some() {
            return Some(Slice { params: vec![v], ..Slice::default() });
        }
        if f.is_param(v) {
            return self.of(f, passed(f, v)?, l);
        }
        let is_load = f.op(v) == Some(mem::LOAD);
        if !only_computes(f, v) && (!is_load || may_trap(f, v)) {
            return None;
        }
        if is_load && !self.nest.runs_always(self.dom, block) {
            return None;
        }
        let mut slice = self.of_all(f, f.operands(v).collect::<Vec<_>>(), l)?;
        if is_load {
            insert_all(&mut slice.loads, &[v]);
        }
        Some(slice)
    }

    /// The slice of a result of the whole nest.
    pub(super) fn of_own_result(&mut self, f: &Function, v: Value) -> Option<Slice> {
        let l = self.nest.header_of(f, v).filter(|&l| l == self.nest.root)?;
        self.of_results(f, v, l)
    }

    fn of_result(&mut self, f: &Function, v: Value, used_in: LoopId) -> Option<Slice> {
        let l = self.nest.header_of(f, v).filter(|&l| l != self.nest.root)?;
        let parent = self.nest.get(l).parent?;
        // A result of a loop that is left with the one around it may come from any iteration.
        if !self.nest.forest.encloses(parent, used_in) {
            return None;
        }
        self.of_results(f, v, l)
    }

    fn of_results(&mut self, f: &Function, v: Value, l: LoopId) -> Option<Slice> {
        let of = self.nest.get(l);
        let mut slice = self.of(f, of.test, l)?;
        let mut params = vec![v];
        insert_own(f, of.header, &mut params, &slice.params);
        let mut done = 0;
        while let Some(&param) = params.get(done) {
            done += 1;
            let position = f.params(of.header).position(|p| p == param)?;
            let next = self.of(f, of.next[position], l)?;
            insert_own(f, of.header, &mut params, &next.params);
            slice.join(&next);
            if let Some(parent) = of.parent.filter(|_| l != self.nest.root) {
                slice.join(&self.of(f, of.initial[position], parent)?);
            }
        }
        slice.params.retain(|&param| f.block_of(param) != of.header);
        slice.depth += 1;
        self.carried.insert(v, params);
        Some(slice)
    }
}

fn insert_own(f: &Function, header: regraft_ir::Block, into: &mut Vec<Value>, from: &[Value]) {
    for &param in from {
        if f.block_of(param) == header && !into.contains(&param) {
            into.push(param);
        }
    }
}

/// The parameters of a header that slices use, with those from which these follow. `None` if they
/// follow from anything else, or begin with what varies in the nest.
pub(super) fn counters(
    f: &Function,
    slices: &mut Slices<'_>,
    l: LoopId,
    of: &[&Slice],
) -> Option<Vec<Value>> {
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

/// Returns what the only edge into a block passes for a parameter.
pub(super) fn passed(f: &Function, param: Value) -> Option<Operand> {
    let block = f.block_of(param);
    let edge = only_edge_into(f, block)?;
    f.edge_arg(edge, f.params(block).position(|p| p == param)?)
}
