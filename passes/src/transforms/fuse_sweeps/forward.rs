//! What a fused loop stores and loads again in the same iteration.
//!
//! Two instructions that are the same polynomial in the iterations are one number. A load from a
//! local array gives what was stored in the same iteration, if that store comes before it on
//! every way, with the same indices, and if all others of that loop are to other elements.

use regraft_dialects::mem;
use regraft_ir::{Block, DominatorTree, Function, IrResult, Operand, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::traps::speculatable;
use crate::analysis::{
    Access, Aliases, EffectSummaries, InductionVariables, LoopForest, LoopId, Poly, inst_effects,
};

/// What is known of a function.
pub(super) struct Facts<'a> {
    pub(super) forest: &'a LoopForest,
    pub(super) variables: &'a InductionVariables,
    pub(super) aliases: &'a Aliases,
    pub(super) dom: &'a DominatorTree,
    pub(super) summaries: &'a EffectSummaries,
}

/// Lets the loads of some loops be what was stored. Returns how many are.
pub(super) fn run(f: &mut Function, loops: &[LoopId], facts: &Facts<'_>) -> IrResult<usize> {
    let mut found: Vec<(Value, Operand)> = Vec::new();
    let mut equal: Vec<(Value, Value)> = Vec::new();
    for &l in loops {
        facts.equal_numbers(f, l, &mut equal);
        facts.stored(f, l, &mut found);
    }
    let done = found.len();
    // What was stored may be what another load gives.
    let given: FxHashMap<Value, Operand> = found.iter().copied().collect();
    for (load, mut value) in found {
        let mut seen = 0;
        while let Some(&next) = value.as_value().and_then(|v| given.get(&v)) {
            value = next;
            seen += 1;
            if seen > given.len() {
                break;
            }
        }
        f.hand_on_name(load, value);
        f.replace_all_uses(load, value)?;
        f.delete(load)?;
    }
    for (v, same) in equal {
        f.replace_all_uses(v, same)?;
    }
    Ok(done)
}

impl Facts<'_> {
    /// Finds instructions of a loop that are what an earlier one is.
    fn equal_numbers(&self, f: &Function, l: LoopId, equal: &mut Vec<(Value, Value)>) {
        let mut known: FxHashMap<Poly, Vec<Value>> = FxHashMap::default();
        for &block in self.forest.blocks(l) {
            for v in f.params(block).chain(f.body(block)) {
                if f.ty(v) != Type::I64 || f.is_param(v) && self.forest.headed_by(block).is_none() {
                    continue;
                }
                let poly = self.variables.evolution(f, v);
                if poly.as_symbol().is_some_and(|s| matches!(s, crate::analysis::Sym::Value(_))) {
                    continue;
                }
                let earlier = known.entry(poly).or_default();
                let computes = f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE))
                    && speculatable(f, v);
                match earlier.iter().find(|&&u| self.comes_first(f, u, v)) {
                    Some(&same) if computes => equal.push((v, same)),
                    _ => earlier.push(v),
                }
            }
        }
    }

    /// Whether one value is there wherever another one is.
    fn comes_first(&self, f: &Function, u: Value, v: Value) -> bool {
        let (a, b) = (f.block_of(u), f.block_of(v));
        if a == b { f.is_param(u) || f.comes_before(u, v) } else { self.dom.dominates(a, b) }
    }

    /// Finds loads of a loop that give what was stored in the same iteration.
    fn stored(&self, f: &Function, l: LoopId, found: &mut Vec<(Value, Operand)>) {
        // What writes to each local array that is made outside, and those that anything else does.
        let mut writes: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        let mut loads: Vec<(Value, Value)> = Vec::new();
        let mut lost: FxHashSet<Value> = FxHashSet::default();
        for &block in self.forest.blocks(l) {
            for v in f.body(block) {
                if f.op_def(v).is_none_or(|def| def.effects == regraft_ir::Effects::NONE) {
                    continue;
                }
                for &(object, access) in &inst_effects(f, v, self.summaries).objects {
                    let Some(array) = self.aliases.hidden(object) else { continue };
                    let outside = !self.forest.contains(l, f.block_of(array));
                    match f.op(v) {
                        Some(mem::LOAD) if outside => loads.push((v, array)),
                        Some(mem::STORE) if outside => writes.entry(array).or_default().push(v),
                        _ if access.intersects(Access::WRITES) => drop(lost.insert(array)),
                        _ => {}
                    }
                }
            }
        }
        for (load, array) in loads {
            let Some(stores) = writes.get(&array).filter(|_| !lost.contains(&array)) else {
                continue;
            };
            let at = |v: Value, skip: usize| -> Vec<Poly> {
                let block = f.block_of(v);
                let indices = f.operands(v).skip(skip);
                indices.map(|i| self.variables.evolution_at(f, i, block)).collect()
            };
            let wanted = at(load, 1);
            let same: Vec<Value> =
                stores.iter().copied().filter(|&store| at(store, 2) == wanted).collect();
            let [store] = *same else { continue };
            let within = |block: Block| self.forest.loop_of(block);
            let inner = within(f.block_of(store));
            let encloses = inner.is_some_and(|s| self.forest.contains(s, f.block_of(load)));
            let apart = |&other: &Value| other == store || are_apart(&at(other, 2), &wanted);
            let Some(value) = f.operand(store, 1) else { continue };
            if encloses
                && self.comes_first(f, store, load)
                && stores.iter().all(apart)
                && f.operand_type(value) == f.ty(load)
            {
                found.push((load, value));
            }
        }
    }
}

/// Whether indices differ in the same iteration.
fn are_apart(a: &[Poly], b: &[Poly]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .any(|(x, y)| x.sub(y).and_then(|d| d.constant_value()).is_some_and(|apart| apart != 0))
}
