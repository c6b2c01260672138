//! Loads a place once on the ways to a load on which it was neither loaded nor stored before.
//!
//! ```text
//! ^2: ..                                ^2: ..
//!   br ^4(2)                              %9: f64 = mem.load %1, 1
//!                                         br ^4(2, %9)
//! ^4(%4: i64):                          ^4(%4: i64, %10: f64):
//!   %5: i64 = arith.sub %4, 1     =>      %5: i64 = arith.sub %4, 1
//!   %6: f64 = mem.load %1, %5
//!   %7: f64 = arith.mul %6, %2            %7: f64 = arith.mul %10, %2
//!   mem.store %1, %7, %4                  mem.store %1, %7, %4
//!   %8: i64 = arith.add %4, 1             %8: i64 = arith.add %4, 1
//!   br %3, ^4(%8), ^5                     br %3, ^4(%8, %7), ^5
//! ```
//!
//! # Method
//! Partial redundancy elimination of loads, as LLVM's GVN does it (`PerformLoadPRE`). For a load in a
//! block where edges meet, the place is expressed at the end of each predecessor: parameters are what the
//! edge passes for them, and indices are a value and a constant. Where the place is known there from a load
//! or store (`available`), the edge passes that value; before other edges a load is inserted. As an index is
//! translated along the back edge of a loop, this finds what an earlier iteration stored or loaded, too: what
//! is known as predictive commoning (O'Brien, 1992). A value that is needed two iterations later is found
//! if the iteration between loads it.
//!
//! # Why it is right
//! A load is inserted only before an edge to a block in which it runs in any case, before anything that stops
//! the program, and, if it may trap, before anything that can be observed; it is not copied but moved
//! there. Nothing between the place where a value is found and the load may write the place.
//!
//! # Cost
//! O(loads * predecessors), with a limit on the instructions that are looked through for each.

mod available;
mod place;

use regraft_dialects::semantics::starts_defined;
use regraft_dialects::{data, mem};
use regraft_ir::{Block, Function, IrResult, Operand, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::traps::{may_trap, speculatable};
use crate::analysis::{Access, LoopId, MemoryClasses, inst_effects};
use crate::transforms::util::allocation_sites::needs_memory_only;
use crate::transforms::util::edit::{delete_unreachable, jump_target, only};
use crate::transforms::util::function_analyses::FunctionAnalyses;
use crate::{FunctionPass, PassContext, PassResult};
use available::available;
use place::SymbolicPlace;

crate::pass! {
    /// Loads a place once on the ways to a load on which it was neither loaded nor stored before.
    ///
    /// ```text
    /// ^2: ..                                ^2: ..
    ///   br ^4(2)                              %9: f64 = mem.load %1, 1
    ///                                         br ^4(2, %9)
    /// ^4(%4: i64):                          ^4(%4: i64, %10: f64):
    ///   %5: i64 = arith.sub %4, 1     =>      %5: i64 = arith.sub %4, 1
    ///   %6: f64 = mem.load %1, %5
    ///   %7: f64 = arith.mul %6, %2            %7: f64 = arith.mul %10, %2
    ///   mem.store %1, %7, %4                  mem.store %1, %7, %4
    ///   %8: i64 = arith.add %4, 1             %8: i64 = arith.add %4, 1
    ///   br %3, ^4(%8), ^5                     br %3, ^4(%8, %7), ^5
    /// ```
    ///
    /// A value that is known on some ways to a block is loaded on the others and becomes a parameter:
    /// where branches meet, and in a loop for what an earlier iteration loaded or stored. A load is
    /// moved only to where it ran anyway; `loop-rotate`, run before, makes that so for the body of a
    /// loop. It costs O(loads).
    #[derive(Debug, Default)]
    pub struct LoadPre;
}

impl FunctionPass for LoadPre {
    const NAME: &'static str = "load-pre";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let (mut replaced, mut inserted) = (0, 0);
        let blocks: Vec<Block> = f.blocks().filter(|&b| is_candidate(f, b)).collect();
        if !blocks.is_empty() {
            delete_unreachable(f, cx.analyses())?;
            let analyses = LoadAnalyses::of(f, cx.analyses());
            for block in blocks.into_iter().filter(|&b| analyses.cfg.is_reachable(b)) {
                let loads: Vec<Value> = f.body(block).filter(|&v| is_load(f, v)).collect();
                // All are planned before one goes: the next iteration may need what this one loads.
                let mut plans: Vec<Plan> = Vec::new();
                for load in loads {
                    plans.extend(Plan::of(f, &analyses, block, load, &plans));
                }
                let mut params: FxHashMap<Value, Value> = FxHashMap::default();
                for plan in plans {
                    inserted += plan.apply(f, block, &mut params)?;
                }
                replaced += params.len() as u64;
            }
        }
        cx.add("loads replaced", replaced);
        cx.add("loads inserted", inserted);
        Ok(())
    }
}

/// The analyses of the function as it was. Values that are made are numbers, and no objects.
type LoadAnalyses = FunctionAnalyses<MemoryClasses>;

/// Returns whether a load in a loop loads what an iteration loaded or stored that is the next one's past.
pub(crate) fn is_carried(f: &Function, analyses: &LoadAnalyses, id: LoopId, load: Value) -> bool {
    let forest = &*analyses.forest;
    let header = forest.get(id).header;
    let back = only(f.in_edges(header).filter(|edge| forest.contains(id, edge.from)));
    let carried = || {
        let (place, back) = (SymbolicPlace::of(f, load)?, back?);
        let next = place.at_start_of(f, header, |b| forest.contains(id, b))?.along(f, back)?;
        available(f, analyses, back.from, header, &next, f.ty(load))
    };
    is_load(f, load) && carried().is_some()
}

/// Returns whether edges meet in a block that loads something.
fn is_candidate(f: &Function, block: Block) -> bool {
    Some(block) != f.entry()
        && f.in_edges(block).nth(1).is_some()
        && f.body(block).any(|v| is_load(f, v))
}

fn is_load(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(mem::LOAD | mem::REF_GET | data::GETFIELD))
        && starts_defined(f.ctx(), f.ty(v))
        && !f.checks_operands(v)
}

/// The values that edges pass for a load.
struct Plan {
    load: Value,
    /// Loads before it that may trap, and are assumed to be gone.
    behind: SmallVec<[Value; 2]>,
    /// By predecessor: the value that is known, or the place to load from.
    edges: Vec<(Block, Result<Operand, SymbolicPlace>)>,
}

impl Plan {
    /// A plan for a load, behind loads of its block for which there are plans.
    fn of(
        f: &Function,
        analyses: &LoadAnalyses,
        block: Block,
        load: Value,
        plans: &[Self],
    ) -> Option<Self> {
        let place = SymbolicPlace::of(f, load)?;
        let start = place.at_start_of(f, block, |home| home == block)?;
        let planned = plans.iter().map(|plan| plan.load);
        let behind: SmallVec<[Value; 2]> = planned.filter(|&v| may_trap(f, v)).collect();
        let runs_anyway = reaches(f, analyses, block, load, &behind)?;
        let mut edges: Vec<(Block, Result<Operand, SymbolicPlace>)> = Vec::new();
        let mut known = 0;
        let header_of = analyses.forest.headed_by(block);
        for edge in f.in_edges_in_order(block) {
            if edges.iter().any(|(from, _)| *from == edge.from) {
                return None;
            }
            let there = start.along(f, edge)?;
            let value = available(f, analyses, edge.from, block, &there, f.ty(load));
            known += usize::from(value.is_some());
            let goes_back = header_of.is_some_and(|id| analyses.forest.contains(id, edge.from));
            if value.is_none() {
                let alone = f.out_edges(edge.from).nth(1).is_none();
                if goes_back || !runs_anyway || !alone && header_of.is_none() {
                    return None;
                }
            }
            edges.push((edge.from, value.ok_or(there)));
        }
        let pays = known > 0 && (header_of.is_some() || 2 * known >= edges.len());
        pays.then_some(Self { load, behind, edges })
    }

    /// Replaces the load by a parameter, which it adds to `params`. Returns how many loads were inserted.
    fn apply(
        self,
        f: &mut Function,
        block: Block,
        params: &mut FxHashMap<Value, Value>,
    ) -> IrResult<u64> {
        let load = self.load;
        let mut passed: FxHashMap<Block, Operand> = FxHashMap::default();
        let places = self.edges.iter().filter_map(|(_, value)| value.as_ref().err());
        let stays = self.behind.iter().any(|v| !params.contains_key(v));
        if stays || places.flat_map(SymbolicPlace::values).any(|v| params.contains_key(&v)) {
            return Ok(0);
        }
        let mut inserted = 0;
        let planned: SmallVec<[Block; 4]> = self.edges.iter().map(|&(from, _)| from).collect();
        for (from, value) in self.edges {
            let from = last_before(f, from, block, &planned);
            match value {
                Ok(value) => {
                    let param = value.as_value().and_then(|v| params.get(&v));
                    passed.insert(from, param.map_or(value, |&param| param.into()));
                }
                Err(place) => {
                    let edge = only(f.out_edges(from).filter(|&e| f.edge_target(e) == block));
                    let before = match (f.out_edges(from).nth(1), edge) {
                        (Some(_), Some(edge)) => f.split_edge(edge)?,
                        _ => from,
                    };
                    let new = place.load_before(f, Value::terminator(before), load)?;
                    passed.insert(before, new.into());
                    inserted += 1;
                }
            }
        }
        let param = f.add_param(block, f.ty(load), |pred| passed.get(&pred).copied())?;
        f.replace_named(load, param)?;
        f.delete(load)?;
        params.insert(load, param);
        Ok(inserted)
    }
}

/// The block from which the edge comes into `block` that came from `from` when all was planned, as other edges did
/// from the blocks `planned`: one on that edge, if it was split for another load.
fn last_before(f: &Function, from: Block, block: Block, planned: &[Block]) -> Block {
    if f.successors(from).any(|next| next == block) {
        return from;
    }
    let mut split = f.successors(from).filter(|next| !planned.contains(next));
    split.find(|&next| jump_target(f, next) == Some(block)).unwrap_or(from)
}

/// Returns whether a load runs whenever its block does, before anything that the error of a load must not
/// pass, but for the loads `gone`, which leave the block before it. `None` if something before it in its block
/// may write its place.
fn reaches(
    f: &Function,
    analyses: &LoadAnalyses,
    block: Block,
    load: Value,
    gone: &[Value],
) -> Option<bool> {
    let object = f.operand(load, 0)?;
    let (mut stops, mut observed) = (false, false);
    for v in f.body(block).take_while(|&v| v != load).filter(|v| !gone.contains(v)) {
        let effects = inst_effects(f, v, &analyses.summaries);
        let touched = analyses.aliases.touches(f, &effects, object);
        if touched.intersects(Access::WRITES) {
            return None;
        }
        stops |= effects.may_trap && !needs_memory_only(f, v) || effects.may_not_end;
        observed |= effects.observable || effects.writes_anything();
    }
    Some(match (may_trap(f, load), speculatable(f, load)) {
        (true, _) => !stops && !observed,
        (false, true) => true,
        (false, false) => !stops,
    })
}
