//! Fills that some ways overwrite: they move down to the ways that need them.
//!
//! The delaying of partial dead code elimination (Knoop, Rüthing and Steffen, "Partial Dead Code Elimination", 1994),
//! for arrays as a whole.

use regraft_dialects::{cf, core, linalg, mem};
use regraft_ir::{Block, ControlFlow, Edge, Function, IrResult, Operand, Value};

use super::{delete_stores, is_undef_after_error};
use crate::analysis::{Access, Aliases, Analyses, EffectSummaries, LoopForest, inst_effects};

/// The most places that a fill goes to.
const MAX_PLACES: usize = 8;

/// Delays the fills of parameters that are overwritten on some ways. Returns how many. O(instructions) for each.
///
/// # Errors
/// None if `f` is valid.
pub(super) fn delay(f: &mut Function, analyses: &mut Analyses) -> IrResult<u64> {
    let fills: Vec<Value> =
        f.all_insts().filter(|&v| f.op(v) == Some(mem::FILL_IN_PLACE)).collect();
    let mut delayed = 0;
    for fill in fills {
        if !is_overwritten(f, fill) {
            continue;
        }
        let array = f.operand(fill, 0).expect("a fill has an array");
        let aliases = analyses.get::<Aliases>(f);
        let flow = Flow {
            f,
            cfg: &analyses.get::<ControlFlow>(f),
            aliases: &aliases,
            summaries: &analyses.effects().clone(),
            fill,
            array,
            is_undef: is_undef_after_error(f, &aliases, array),
        };
        let forest = analyses.get::<LoopForest>(f);
        if forest.loop_of(f.block_of(fill)).is_some() {
            continue;
        }
        let Some(Places { insts, edges }) = flow.places() else { continue };
        for at in insts {
            f.insert(at, f.statement(fill).made_from(fill))?;
        }
        // The last ones of a terminator first, which splitting others would move.
        for edge in edges.into_iter().rev() {
            let is_only = f.out_edges(edge.from).count() == 1;
            let block = if is_only { edge.from } else { f.split_edge(edge)? };
            f.insert(Value::terminator(block), f.statement(fill).made_from(fill))?;
        }
        delete_stores(f, &[fill])?;
        delayed += 1;
    }
    Ok(delayed)
}

/// Returns whether a parameter of the function is filled with a constant, and written as a whole by something else too.
fn is_overwritten(f: &Function, fill: Value) -> bool {
    let array = f.operand(fill, 0).and_then(Operand::as_value);
    let is_constant = f.operand(fill, 1).is_some_and(|value| f.constant(value).is_some());
    let array = array.filter(|&v| is_constant && f.is_param(v) && Some(f.block_of(v)) == f.entry());
    array.is_some_and(|array| {
        f.uses(array).any(|at| at.user != fill && at.index == 0 && writes_all(f, at.user))
    })
}

/// Returns whether an instruction writes to all elements of its first operand, without a look at them.
fn writes_all(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(mem::FILL_IN_PLACE | linalg::PRODUCT))
}

/// The places that a fill goes to.
struct Places {
    /// Before these instructions.
    insts: Vec<Value>,
    /// On these edges.
    edges: Vec<Edge>,
}

struct Flow<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    aliases: &'a Aliases,
    summaries: &'a EffectSummaries,
    fill: Value,
    array: Operand,
    /// True if nobody reads the array after an error.
    is_undef: bool,
}

impl Flow<'_> {
    /// The places where the array is looked at next, unless it is written there as a whole; `None` if no way is without
    /// the fill.
    fn places(&self) -> Option<Places> {
        let (f, cfg) = (self.f, self.cfg);
        let start = f.block_of(self.fill);
        // By block: the first instruction that touches the array.
        let mut touches: Vec<Option<Value>> = vec![None; f.block_capacity()];
        // Whether the fill may stand at the start of a block instead: so long as nothing says otherwise.
        let mut comes = vec![false; f.block_capacity()];
        let mut pending = vec![start];
        while let Some(block) = pending.pop() {
            let before = |&v: &Value| block == start && v != self.fill;
            let mut behind = f.insts(block).skip_while(before).skip(usize::from(block == start));
            let first = behind.find(|&v| self.touches(v));
            touches[block.index()] = first;
            if first.is_none() {
                for next in f.successors(block) {
                    if next != start && !std::mem::replace(&mut comes[next.index()], true) {
                        pending.push(next);
                    }
                }
            }
        }
        let leaves = |comes: &[bool], block: Block| {
            (block == start || comes[block.index()]) && touches[block.index()].is_none()
        };
        loop {
            let mut changed = false;
            for block in cfg.reverse_postorder() {
                if !comes[block.index()] {
                    continue;
                }
                let mut before = f.in_edges(block).filter(|edge| cfg.is_reachable(edge.from));
                if !before.all(|edge| leaves(&comes, edge.from)) {
                    comes[block.index()] = false;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut places = Places { insts: Vec::new(), edges: Vec::new() };
        let mut saves = false;
        for block in cfg.reverse_postorder() {
            if block != start && !comes[block.index()] {
                continue;
            }
            match touches[block.index()] {
                Some(v) if self.overwrites(v) => saves = true,
                Some(v) => places.insts.push(v),
                None => {
                    let edges = f.out_edges(block);
                    places.edges.extend(edges.filter(|&edge| !comes[f.edge_target(edge).index()]));
                }
            }
        }
        let is_small = places.insts.len() + places.edges.len() <= MAX_PLACES;
        (saves && is_small).then_some(places)
    }

    /// Returns whether an instruction writes the whole array, without a look at what is there.
    fn overwrites(&self, v: Value) -> bool {
        let f = self.f;
        let reads = || {
            let effects = inst_effects(f, v, self.summaries);
            self.aliases.touches(f, &effects, self.array).intersects(Access::READS_CONTENTS)
        };
        writes_all(f, v) && f.operand(v, 0) == Some(self.array) && !reads()
    }

    /// Returns whether an instruction may read or write the array, or leads to where others may.
    fn touches(&self, v: Value) -> bool {
        let f = self.f;
        if self.is_undef && matches!(f.op(v), Some(core::THROW | cf::UNREACHABLE)) {
            return false;
        }
        if v.is_terminator() {
            return f.successors(f.block_of(v)).next().is_none();
        }
        let effects = inst_effects(f, v, self.summaries);
        let what = self.aliases.touches(f, &effects, self.array);
        what.intersects(Access::READS_CONTENTS | Access::WRITES)
            || effects.may_trap && !self.is_undef
    }
}
