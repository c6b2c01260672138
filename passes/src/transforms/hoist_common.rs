//! Moves what all ways of a branch compute to before it.
//!
//! ```text
//! br %1, ^2, ^3                          %3: f64 = math.exp %2
//! ^2:                                    br %1, ^2, ^3
//!   %3: f64 = math.exp %2          =>    ^2:
//!   %4: f64 = arith.add %3, 1.0            %4: f64 = arith.add %3, 1.0
//! ^3:                                    ^3:
//!   %5: f64 = math.exp %2                  %6: f64 = arith.sub %3, 1.0
//!   %6: f64 = arith.sub %5, 1.0
//! ```
//!
//! # Method
//! As LLVM's SimplifyCFG hoists common code. The blocks that a branch goes to, which nothing else goes to, are
//! compared: an instruction of the first one, whose operands are there before the branch, leaves if each of the
//! others has the same one. Blocks are visited in postorder, so that what leaves a branch may leave the one
//! around it too.
//!
//! # Why it is right
//! One of the copies was run in any case. What reads memory leaves only if nothing before it in its
//! block writes; what may trap, or keeps a promise, only if nothing before it stops the program, and
//! what may trap if an error has one place in the program. Nothing with another effect leaves.
//!
//! # Cost
//! O(instructions), times the number that are looked at in a block, which has a limit.

use regraft_ir::{Block, ControlFlow, Function, IrResult, Traits, Value};

use crate::analysis::traps::{may_trap, only_computes};
use crate::analysis::{Access, EffectSummaries, inst_effects};
use crate::{FunctionPass, PassContext, PassResult};

/// The most instructions of a block that are compared.
const MAX_COMPARED: usize = 32;

crate::pass! {
    /// Moves what all ways of a branch compute to before it.
    ///
    /// ```text
    /// br %1, ^2, ^3                          %3: f64 = math.exp %2
    /// ^2:                                    br %1, ^2, ^3
    ///   %3: f64 = math.exp %2          =>    ^2:
    ///   %4: f64 = arith.add %3, 1.0            %4: f64 = arith.add %3, 1.0
    /// ^3:                                    ^3:
    ///   %5: f64 = math.exp %2                  %6: f64 = arith.sub %3, 1.0
    ///   %6: f64 = arith.sub %5, 1.0
    /// ```
    ///
    /// Instructions that do nothing but compute leave, and loads before which nothing is written. Fewer
    /// instructions are left on the ways, so that `simplify-cfg` can make selections of some. The first few
    /// instructions of each block are looked at.
    #[derive(Debug, Default)]
    pub struct HoistCommon;
}

impl FunctionPass for HoistCommon {
    const NAME: &'static str = "hoist-common";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let cfg = cx.analysis::<ControlFlow>(f);
        let order: Vec<Block> = cfg.reverse_postorder().collect();
        let mut moved = 0;
        for &block in order.iter().rev() {
            let arms = arms(f, block);
            if arms.len() > 1 {
                moved += hoist(f, block, &arms, cx.effects())?;
            }
        }
        cx.add("instructions moved", moved);
        Ok(())
    }
}

/// The blocks that a branch goes to, if nothing else goes to any of them.
fn arms(f: &Function, block: Block) -> Vec<Block> {
    let alone =
        |&arm: &Block| f.in_edges(arm).nth(1).is_none() && arm != block && Some(arm) != f.entry();
    let arms: Vec<Block> = f.out_edges(block).map(|edge| f.edge_target(edge)).collect();
    if arms.iter().all(alone) { arms } else { Vec::new() }
}

/// Moves what is the same in all arms. Returns how many instructions have left.
fn hoist(
    f: &mut Function,
    block: Block,
    arms: &[Block],
    summaries: &EffectSummaries,
) -> IrResult<u64> {
    let (first, others) = arms.split_first().expect("there are several");
    let mut moved = 0;
    let candidates: Vec<Value> = f.body(*first).take(MAX_COMPARED).collect();
    for v in candidates {
        let from_before =
            f.operands(v).all(|x| x.as_value().is_none_or(|x| f.block_of(x) != *first));
        if !from_before || !may_leave(f, v, summaries) {
            continue;
        }
        let same = |arm: &Block| {
            f.body(*arm)
                .take(MAX_COMPARED)
                .find(|&w| is_same(f, v, w) && may_leave(f, w, summaries))
        };
        let Some(copies) = others.iter().map(same).collect::<Option<Vec<Value>>>() else {
            continue;
        };
        f.move_before(v, Value::terminator(block))?;
        for copy in copies {
            f.replace_named(copy, v)?;
            f.delete(copy)?;
        }
        moved += 1;
    }
    Ok(moved)
}

/// Returns whether two instructions do the same, an error included.
fn is_same(f: &Function, v: Value, w: Value) -> bool {
    let same_operands = || {
        let (mut xs, mut ys) = (f.operands(v), f.operands(w));
        let swapped = f.op_def(v).is_some_and(|def| def.traits.contains(Traits::COMMUTATIVE))
            && xs.len() == 2
            && f.operand(v, 0) == f.operand(w, 1)
            && f.operand(v, 1) == f.operand(w, 0);
        swapped || xs.len() == ys.len() && xs.by_ref().eq(ys.by_ref())
    };
    f.op(v) == f.op(w)
        && f.attrs(v) == f.attrs(w)
        && f.ty(v) == f.ty(w)
        && same_operands()
        && (!may_trap(f, v) || f.loc(v) == f.loc(w))
}

/// Returns whether an instruction may run before those before it in its block, as far as it would
/// have run.
fn may_leave(f: &Function, v: Value, summaries: &EffectSummaries) -> bool {
    if only_computes(f, v) {
        return true;
    }
    let effects = inst_effects(f, v, summaries);
    if effects.writes_anything() || effects.observable || effects.may_not_end || effects.allocates {
        return false;
    }
    let mut before = f.body(f.block_of(v)).take_while(|&u| u != v);
    before.all(|u| {
        let at = inst_effects(f, u, summaries);
        let stops = at.may_trap || at.may_not_end;
        let shows = at.observable || at.all_accesses().intersects(Access::WRITES);
        !stops && !shows
    })
}
