//! Keeps a place in memory in a value while a loop runs.
//!
//! ```text
//! ^1: br ^2(0)                            ^1: %9 = mem.ref_get %1; br ^2(0, %9)
//! ^2(%3):                                 ^2(%3, %8):
//!   %4 = mem.ref_get %1            =>
//!   %5 = arith.add %4, %3                   %5 = arith.add %8, %3
//!   mem.ref_set %1, %5
//!   br %6, ^2(%7), ^3                       br %6, ^2(%7, %5), ^3
//! ^3: ..                                  ^3: mem.ref_set %1, %5; ..
//! ```
//!
//! The place has to be the same in all iterations and valid before the first one, and whatever else
//! the loop touches has to be elsewhere. An error in the loop would leave memory as it was before
//! the loop: so either nothing in it may trap, or nobody else knows the object. Accesses to the place itself
//! may trap, if the first one surely runs before anything that stops the program or can be observed: the
//! load before the loop then traps in its stead, and none after it.

use regraft_dialects::mem;
use regraft_dialects::semantics::starts_defined;
use regraft_ir::{Block, Constant, Function, IrResult, Operand, Type, TypeKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::LicmAnalyses;
use crate::analysis::memory_location::{MemoryLocation, Overlap, Place};
use crate::analysis::traps::may_trap;
use crate::analysis::{Base, LoopForest, LoopId, ModRefSet, inst_effects};
use crate::transforms::util::edit::only;
use crate::transforms::util::loop_form::LoopForm;
use crate::transforms::util::ssa_repair::repair_and_read;

/// Loops with more instructions that touch memory are left alone.
const MAX: usize = 64;

/// The accesses of a loop.
#[derive(Clone, Default)]
pub(super) struct Info {
    /// The instructions that touch memory, in order; too many are not kept.
    pub(super) touching: Vec<Touching>,
    pub(super) too_many: bool,
    /// True if something that does not touch memory may stop the program.
    may_stop: bool,
}

/// An instruction that touches memory.
#[derive(Clone, Copy)]
pub(super) struct Touching {
    pub(super) inst: Value,
    pub(super) mod_ref: ModRefSet,
    may_stop: bool,
}

/// A place that can be kept in a value.
pub(super) struct Promotable {
    place: MemoryLocation,
    /// The accesses to it, in order.
    accesses: Vec<Value>,
    /// The access like which it is loaded before the loop.
    like: Value,
}

/// Promotes places out of loops with the headers `only`, or out of all; of loops in each other, the
/// outermost that can. Returns how many.
pub(super) fn run(
    f: &mut Function,
    facts: &LicmAnalyses,
    only: Option<&FxHashSet<Block>>,
) -> IrResult<usize> {
    let forest = &*facts.forest;
    let infos = survey(f, facts);
    let (mut count, mut inside_of) = (0, None);
    for id in forest.loops() {
        let info = &infos[id.index()];
        let header = forest.get(id).header;
        if info.too_many
            || f.entry() == Some(header)
            || only.is_some_and(|only| !only.contains(&header))
            || inside_of.is_some_and(|outer| forest.encloses(outer, id))
        {
            continue;
        }
        for found in promotable(f, facts, id, info, header) {
            promote(f, forest, id, &found)?;
            count += 1;
            inside_of = Some(id);
        }
    }
    Ok(count)
}

/// Collects the accesses of each loop. O(instructions).
pub(super) fn survey(f: &Function, facts: &LicmAnalyses) -> Vec<Info> {
    let forest = &*facts.forest;
    let mut infos = vec![Info::default(); forest.len()];
    for id in forest.loops().filter(|&id| forest.get(id).parent.is_none()) {
        for &block in forest.blocks(id) {
            let Some(inner) = forest.loop_of(block) else { continue };
            for v in f.insts(block) {
                let Some(def) = f.op_def(v) else { continue };
                let mut touches = ModRefSet::default();
                let mut stops = false;
                if def.effects == regraft_ir::Effects::NONE {
                    stops = may_trap(f, v);
                } else {
                    let effects = inst_effects(f, v, &facts.summaries);
                    stops |= effects.may_trap;
                    touches = facts.memory.mod_ref(f, &facts.aliases, &effects);
                }
                let mut at = Some(inner);
                while let Some(id) = at {
                    let info = &mut infos[id.index()];
                    let known = match touches.is_empty() {
                        true => info.may_stop || !stops,
                        false => info.too_many,
                    };
                    if known {
                        // What is around it knows, too.
                        break;
                    }
                    if touches.is_empty() {
                        info.may_stop = true;
                    } else {
                        info.too_many = info.touching.len() == MAX;
                        info.touching.push(Touching { inst: v, mod_ref: touches, may_stop: stops });
                    }
                    at = forest.get(id).parent;
                }
            }
        }
    }
    infos
}

/// The places of a loop that can be kept in a value. Its first iteration begins with the block `from`.
pub(super) fn promotable(
    f: &Function,
    facts: &LicmAnalyses,
    id: LoopId,
    info: &Info,
    from: Block,
) -> Vec<Promotable> {
    let mut found: Vec<Promotable> = Vec::new();
    let mut seen: Vec<MemoryLocation> = Vec::new();
    for touching in &info.touching {
        let v = touching.inst;
        if !matches!(f.op(v), Some(mem::STORE | mem::REF_SET)) {
            continue;
        }
        let Some(place) = MemoryLocation::of(f, v).filter(|place| !seen.contains(place)) else {
            continue;
        };
        seen.push(place.clone());
        let invariant = is_outside(f, facts, id, place.object)
            && place.indices().all(|index| is_outside(f, facts, id, index));
        if !invariant {
            continue;
        }
        let Some(accesses) = accesses(f, facts, info, &place) else { continue };
        let others_stop = info.may_stop
            || info.touching.iter().any(|at| at.may_stop && !accesses.contains(&at.inst));
        if others_stop && facts.aliases.non_escaping(place.object).is_none() {
            continue;
        }
        let like = match accesses.iter().any(|&v| may_trap(f, v)) {
            false if is_there(f, facts, &place) => accesses.first().copied(),
            false => accesses.first().copied().filter(|_| {
                let calm = |v: Value| !stops(f, facts, v);
                accesses.iter().any(|&v| runs(f, facts, id, v, from, calm))
            }),
            true => accesses.iter().copied().find(|&v| {
                let calm = |v: Value| !stops(f, facts, v) && !is_observable(f, facts, v);
                runs(f, facts, id, v, from, calm)
            }),
        };
        if let Some(like) = like {
            found.push(Promotable { place, accesses, like });
        }
    }
    found
}

/// Returns whether an operand is computed outside of a loop.
pub(super) fn is_outside(f: &Function, facts: &LicmAnalyses, id: LoopId, operand: Operand) -> bool {
    operand.as_value().is_none_or(|v| !facts.forest.contains(id, f.block_of(v)))
}

/// The accesses of a loop to a place, if whatever else it touches is elsewhere.
fn accesses(
    f: &Function,
    facts: &LicmAnalyses,
    info: &Info,
    place: &MemoryLocation,
) -> Option<Vec<Value>> {
    let class = facts.memory.of(f, &facts.aliases, place.object);
    let ty = held(f, place.object)?;
    let is_noalias = |other: &MemoryLocation| {
        let compare = |a, b| Overlap::of_operands(f, a, b);
        place.object == other.object && place.overlap(f, other, compare) == Overlap::No
    };
    let mut result = Vec::new();
    for &Touching { inst: v, mod_ref: touches, .. } in &info.touching {
        if touches.writes_shape & class != 0 {
            return None;
        }
        if (touches.reads_contents | touches.writes_contents) & class == 0 {
            continue;
        }
        let other = MemoryLocation::of(f, v);
        if other.as_ref() == Some(place) {
            let value = match f.op(v) {
                Some(mem::STORE | mem::REF_SET) => f.operand_type(f.operand(v, 1)?),
                _ => f.ty(v),
            };
            if value != ty || f.checks_operands(v) {
                return None;
            }
            result.push(v);
            continue;
        }
        let effects = inst_effects(f, v, &facts.summaries);
        let contents =
            crate::analysis::Access::READS_CONTENTS | crate::analysis::Access::WRITES_CONTENTS;
        if facts.aliases.touches(f, &effects, place.object).intersects(contents)
            && !other.is_some_and(|other| is_noalias(&other))
        {
            return None;
        }
    }
    Some(result)
}

/// Returns what an object of this type holds.
fn held(f: &Function, object: Operand) -> Option<Type> {
    match *f.ctx().kind(f.operand_type(object)) {
        TypeKind::Ref(ty) => Some(ty),
        // An element of another type may be undefined, and reading it traps.
        TypeKind::Array { element, .. } if starts_defined(f.ctx(), element) => Some(element),
        _ => None,
    }
}

/// Returns whether a place is there wherever its object is known.
fn is_there(f: &Function, facts: &LicmAnalyses, place: &MemoryLocation) -> bool {
    matches!(f.ctx().kind(f.operand_type(place.object)), TypeKind::Ref(_))
        && matches!(facts.aliases.base(place.object), Base::Fresh(_) | Base::Param(_))
}

/// Returns whether `v` may stop the program.
pub(super) fn stops(f: &Function, facts: &LicmAnalyses, v: Value) -> bool {
    let effects = inst_effects(f, v, &facts.summaries);
    effects.may_trap || effects.may_not_end
}

/// Returns whether others may see that `v` ran.
pub(super) fn is_observable(f: &Function, facts: &LicmAnalyses, v: Value) -> bool {
    let effects = inst_effects(f, v, &facts.summaries);
    effects.observable || effects.writes_anything()
}

/// Returns whether `v` surely runs when the loop is entered, which begins with the block `from`: what is
/// before it is `calm`.
pub(super) fn runs(
    f: &Function,
    facts: &LicmAnalyses,
    id: LoopId,
    v: Value,
    from: Block,
    calm: impl Fn(Value) -> bool,
) -> bool {
    let forest = &*facts.forest;
    let mut block = f.block_of(v);
    if !f.body(block).take_while(|&u| u != v).all(&calm) {
        return false;
    }
    while block != from {
        let edges = f.in_edges(block).filter(|e| facts.cfg.is_reachable(e.from));
        let Some(edge) = only(edges) else { return false };
        block = edge.from;
        if f.out_edges(block).count() != 1
            || !forest.contains(id, block)
            || !f.body(block).all(&calm)
        {
            return false;
        }
    }
    true
}

/// Keeps a place in values while a loop runs.
fn promote(
    f: &mut Function,
    forest: &LoopForest,
    id: LoopId,
    Promotable { place, accesses, like }: &Promotable,
) -> IrResult<()> {
    let mut form = LoopForm::new(forest, id);
    let before = form.ensure_preheader(f)?;
    form.ensure_dedicated_exits(f)?;
    let exits = form.exit_blocks(f);
    let Some(ty) = held(f, place.object) else { return Ok(()) };
    let is_ref = place.place == Place::Ref;
    let load = match is_ref {
        true => mem::ref_get(place.object),
        false => mem::load(place.object, place.indices()).with_attrs(f.attrs(*like)),
    };
    let load = load.with_type(ty).at(f.loc(*like)).made_from(*like);
    let first = f.insert(Value::terminator(before), load)?;

    // In each block, what is read before the first write is what the block begins with.
    let mut by_block: Vec<(Block, Vec<Value>)> = Vec::new();
    let mut position: FxHashMap<Block, usize> = FxHashMap::default();
    for &v in accesses {
        let at = *position.entry(f.block_of(v)).or_insert_with(|| {
            by_block.push((f.block_of(v), Vec::new()));
            by_block.len() - 1
        });
        by_block[at].1.push(v);
    }
    let mut defs: Vec<(Block, Operand)> = vec![(before, first.into())];
    let (mut users, mut reads, mut split) = (Vec::new(), Vec::new(), Vec::new());
    let mut writes = Vec::new();
    for (block, list) in by_block {
        let mut current: Option<Operand> = None;
        let mut home = block;
        for v in list {
            match f.op(v) {
                Some(mem::STORE | mem::REF_SET) => {
                    if current.is_none() && reads.iter().any(|&r| f.block_of(r) == home) {
                        let rest = f.split_block(v)?;
                        split.push((home, rest));
                        home = rest;
                    }
                    current = f.operand(v, 1);
                    writes.push(v);
                }
                _ => match current {
                    Some(value) => {
                        f.replace_named(v, value)?;
                        f.delete(v)?;
                    }
                    // What the block begins with is known once all definitions are.
                    None => reads.push(v),
                },
            }
        }
        if let Some(value) = current {
            defs.push((home, value));
        }
    }
    let in_bounds = [(f.ctx().symbol("inbounds"), f.constant_id(Constant::Bool(true)))];
    let in_bounds = f.ctx().attrs(&in_bounds);
    for exit in exits {
        let store = match is_ref {
            true => mem::ref_set(place.object, first),
            // What was loaded before is there.
            false => mem::store(place.object, first, place.indices()).with_attrs(in_bounds),
        };
        let store = match writes.first() {
            Some(&v) => store.at(f.loc(v)).made_from(v),
            None => store,
        };
        users.push(f.push_front(exit, store)?);
    }
    let homes: Vec<Block> = reads.iter().map(|&v| f.block_of(v)).collect();
    let mut reaching = repair_and_read(f, first, &defs, &users, &homes)?;
    let nothing = f.constant_id(Constant::Unit);
    for v in writes {
        f.replace_all_uses(v, nothing)?;
        f.delete(v)?;
    }
    for (i, v) in reads.into_iter().enumerate() {
        let value = reaching[i];
        f.replace_named(v, value)?;
        f.delete(v)?;
        // What reaches a read may be another read.
        let later = reaching[i + 1..].iter_mut();
        later.filter(|other| **other == v.into()).for_each(|other| *other = value);
    }
    for (block, rest) in split.into_iter().rev() {
        f.merge_blocks(block, rest)?;
    }
    if !f.is_used(first) && !may_trap(f, first) {
        f.delete(first)?;
    }
    Ok(())
}
