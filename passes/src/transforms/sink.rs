//! Moves what one of several ways needs onto that way.
//!
//! ```text
//! %3: f64 = arith.mul %1, %2            br %4, ^2, ^3
//! br %4, ^2, ^3                    =>   ^2:
//! ^2:                                     %3: f64 = arith.mul %1, %2
//!   return %3                             return %3
//! ```
//!
//! # Method
//! As LLVM's InstCombine sinks: an instruction whose uses are all in one other block goes to the beginning
//! of that, if there is a way past that block or it is after a loop, and no loop is around it which is
//! not around its own. Blocks are visited in postorder, and instructions from the last to the first, so
//! that what is needed for one that has moved can follow it.
//!
//! # Why it is right
//! The block of the uses is dominated by that of the instruction, and runs at most as often, since it is in
//! no other loop. What moves has no effect, reads nothing that changes, and does not trap.
//!
//! # Cost
//! O(instructions + uses of those with few of them).

use regraft_ir::{Block, ControlFlow, Function, Traits, Value};

use crate::analysis::{LoopForest, PostDominatorTree};
use crate::{FunctionPass, PassContext, PassResult};

/// The most uses of an instruction that moves.
const MAX_USES: usize = 16;

crate::pass! {
    /// Moves what one of several ways needs onto that way.
    ///
    /// ```text
    /// %3: f64 = arith.mul %1, %2            br %4, ^2, ^3
    /// br %4, ^2, ^3                    =>   ^2:
    /// ^2:                                     %3: f64 = arith.mul %1, %2
    ///   return %3                             return %3
    /// ```
    ///
    /// Only instructions without effects that read no memory and cannot trap move, and never into a loop. Put
    /// it last: `simplify-cfg` makes selections of ways on which little is computed. It costs
    /// O(instructions).
    #[derive(Debug, Default)]
    pub struct Sink;
}

impl FunctionPass for Sink {
    const NAME: &'static str = "sink";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let cfg = cx.analysis::<ControlFlow>(f);
        let forest = cx.analysis::<LoopForest>(f);
        let after = cx.analysis::<PostDominatorTree>(f);
        let order: Vec<Block> = cfg.reverse_postorder().collect();
        let mut moved = 0;
        for &block in order.iter().rev() {
            if f.out_edges(block).nth(1).is_none() {
                continue;
            }
            let body: Vec<Value> = f.body(block).collect();
            for v in body.into_iter().rev() {
                let to = target(f, &cfg, &forest, v);
                // There is a way past it, or it runs once after a loop.
                let pays = |&to: &Block| {
                    forest.loop_of(to) != forest.loop_of(block) || !after.post_dominates(to, block)
                };
                let Some(to) = to.filter(pays) else { continue };
                let first = f.first_inst(to).unwrap_or(Value::terminator(to));
                f.move_before(v, first)?;
                moved += 1;
            }
        }
        cx.add("instructions moved", moved);
        Ok(())
    }
}

/// The block that an instruction can move to.
fn target(f: &Function, cfg: &ControlFlow, forest: &LoopForest, v: Value) -> Option<Block> {
    let def = f.op_def(v)?;
    let pure = def.traits.contains(Traits::PURE) && !def.traits.contains(Traits::MAY_TRAP);
    if !pure || f.checks_operands(v) || f.operand_count(v) == 0 {
        return None;
    }
    let home = f.block_of(v);
    let mut to = None;
    for (n, at) in f.uses(v).enumerate() {
        let block = f.block_of(at.user);
        if n == MAX_USES || block == home || to.is_some_and(|to| to != block) {
            return None;
        }
        to = Some(block);
    }
    let to = to.filter(|&to| cfg.is_reachable(to))?;
    // Loops around that loop contain what it contains.
    forest.loop_of(to).is_none_or(|l| forest.contains(l, home)).then_some(to)
}
