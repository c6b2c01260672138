//! Store-to-load forwarding within an iteration of a fused loop.
//!
//! Two instructions that are the same polynomial in the iterations are one number. A load from a
//! local array gives what was stored in the same iteration, if that store comes before it on
//! every way, with the same indices, and if no other one comes between. If all that writes to the
//! array comes later, it gives what the array was made with.

use regraft_dialects::mem;
use regraft_ir::{Block, Constant, DominatorTree, Function, IrResult, Operand, TypeKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::memory_location::{Overlap, element_indices};
use crate::analysis::traps::may_trap;
use crate::analysis::{
    Access, Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, Poly, inst_effects,
};
use crate::transforms::util::loop_accesses::{lines, meets_later};
use crate::transforms::util::redundant_inductions::{self, comes_first};

/// The analyses by which loads are forwarded.
pub(super) struct ForwardingAnalyses<'a> {
    pub(super) forest: &'a LoopForest,
    pub(super) variables: &'a InductionVariables,
    pub(super) aliases: &'a Aliases,
    pub(super) dom: &'a DominatorTree,
    pub(super) summaries: &'a EffectSummaries,
}

/// Lets the loads of some loops be what was stored. Returns how many are.
pub(super) fn run(
    f: &mut Function,
    loops: &[LoopId],
    facts: &ForwardingAnalyses<'_>,
) -> IrResult<usize> {
    let mut found: Vec<(Value, Operand)> = Vec::new();
    let mut equal: Vec<(Value, Value)> = Vec::new();
    let writes = facts.writes(f);
    for &l in loops {
        let blocks = facts.forest.blocks(l).iter().copied();
        equal.extend(redundant_inductions::find(f, blocks, facts.variables, facts.dom));
        let loads = facts.forest.blocks(l).iter().flat_map(|&block| f.body(block));
        for load in loads.filter(|&v| f.op(v) == Some(mem::LOAD)) {
            let given = facts.given(f, l, load, &writes);
            found.extend(
                given.filter(|&value| f.operand_type(value) == f.ty(load)).map(|v| (load, v)),
            );
        }
    }
    let done = found.len();
    // What was stored may be what another load gives, that of an earlier one.
    let given: FxHashMap<Value, Operand> = found.iter().copied().collect();
    for (load, mut value) in found {
        while let Some(&next) = value.as_value().and_then(|v| given.get(&v)) {
            value = next;
        }
        f.replace_named(load, value)?;
        f.delete(load)?;
    }
    for (v, same) in equal {
        f.replace_named(v, same)?;
    }
    Ok(done)
}

/// The writes to local arrays.
#[derive(Default)]
struct Writes {
    /// Stores of elements, by array.
    stores: FxHashMap<Value, Vec<Value>>,
    /// Arrays that something else writes to, with the blocks where.
    others: FxHashMap<Value, FxHashSet<Block>>,
}

impl ForwardingAnalyses<'_> {
    fn writes(&self, f: &Function) -> Writes {
        let mut writes = Writes::default();
        for &block in self.forest.order() {
            for v in f.body(block) {
                if !f.op_def(v).is_some_and(|def| def.effects.writes_anything()) {
                    continue;
                }
                for &(object, access) in &inst_effects(f, v, self.summaries).objects {
                    let Some(array) = self.aliases.non_escaping(object) else { continue };
                    if f.op(v) == Some(mem::STORE) {
                        writes.stores.entry(array).or_default().push(v);
                    } else if access.intersects(Access::WRITES) {
                        writes.others.entry(array).or_default().insert(block);
                    }
                }
            }
        }
        writes
    }

    /// Returns what a load in a loop gives, from an array that is made outside.
    fn given(&self, f: &Function, l: LoopId, load: Value, writes: &Writes) -> Option<Operand> {
        let array = self.aliases.non_escaping(f.operand(load, 0)?)?;
        let inside = |block: Block| self.forest.contains(l, block);
        let others = writes.others.get(&array);
        if inside(f.block_of(array))
            || others.is_some_and(|blocks| blocks.iter().any(|&b| inside(b)))
        {
            return None;
        }
        let none = Vec::new();
        let all = writes.stores.get(&array).unwrap_or(&none);
        let (stores, elsewhere): (Vec<Value>, Vec<Value>) =
            all.iter().partition(|&&store| inside(f.block_of(store)));
        let around = self.forest.loop_of(f.block_of(load))?;
        let wanted = self.indices(f, load)?;
        let (mut last, mut later) = (None, Vec::new());
        for &store in &stores {
            let at = self.indices(f, store)?;
            let overlap = overlap(&at, &wanted);
            if overlap == Overlap::No {
                later.push((store, at));
                continue;
            }
            let home = self.forest.loop_of(f.block_of(store))?;
            if comes_first(f, self.dom, store, load) {
                // In an inner loop, another one may come after it, before the load comes again.
                let sees =
                    home == around || stores.len() == 1 && self.forest.encloses(home, around);
                if overlap != Overlap::Must || !sees {
                    return None;
                }
                match last {
                    Some(last) if comes_first(f, self.dom, store, last) => {}
                    _ => last = Some(store),
                }
            } else if comes_first(f, self.dom, load, store) && home == around {
                later.push((store, at));
            } else {
                return None;
            }
        }
        if let Some(store) = last {
            return f.operand(store, 1);
        }
        // It was made for this execution of the loop, and nothing has written to the element before.
        let alone = elsewhere.is_empty() && others.is_none() && !may_trap(f, load);
        let once = self.forest.loop_of(f.block_of(array)) == self.forest.get(l).parent;
        let at = lines(self.variables, &wanted, l);
        let never = |at_store: &[Poly]| !meets_later(&at, &lines(self.variables, at_store, l));
        let first = alone && once && around == l && later.iter().all(|(_, at)| never(at));
        first.then(|| made_with(f, array)).flatten()
    }

    fn indices(&self, f: &Function, v: Value) -> Option<Vec<Poly>> {
        let block = f.block_of(v);
        let indices = element_indices(f, v)?;
        Some(indices.map(|i| self.variables.evolution_at(f, i, block)).collect())
    }
}

/// Returns what the elements of an array are when it is new.
fn made_with(f: &Function, array: Value) -> Option<Operand> {
    match f.op(array)? {
        mem::FILL => f.operand(array, 0),
        mem::ALLOC => {
            let TypeKind::Array { element, .. } = *f.ctx().kind(f.ty(array)) else {
                return None;
            };
            Some(f.constant_id(Constant::zero(element)?).into())
        }
        _ => None,
    }
}

/// Compares the indices of two elements of one array in the same iteration.
fn overlap(a: &[Poly], b: &[Poly]) -> Overlap {
    if a.len() != b.len() {
        return Overlap::May;
    }
    Overlap::of_indices(a.iter().zip(b).map(|(x, y)| {
        match x.sub(y).and_then(|apart| apart.constant_value()) {
            _ if x == y => Overlap::Must,
            Some(apart) if apart != 0 => Overlap::No,
            _ => Overlap::May,
        }
    }))
}
