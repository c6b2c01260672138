//! The test of an exit.

use regraft_dialects::{arith, cf};
use regraft_ir::{Block, DominatorTree, Edge, Function, Op, Operand};

use crate::analysis::comparison::{is_comparison, opposite};
use crate::analysis::{LoopForest, LoopId};

/// Returns whether a block runs exactly once in each iteration of a loop that is not left before.
pub(crate) fn is_once(dom: &DominatorTree, forest: &LoopForest, l: LoopId, block: Block) -> bool {
    let latches = &forest.get(l).latches;
    forest.loop_of(block) == Some(l) && latches.iter().all(|&latch| dom.dominates(block, latch))
}

/// The test of an exiting branch.
#[derive(Debug)]
pub(crate) enum Test {
    /// True if it always stays (or always leaves).
    Constant(bool),
    /// It stays as long as this comparison of integers is true.
    Compare {
        /// True where it stays.
        stay: Op,
        /// True where it leaves.
        leave: Op,
        /// The left side.
        left: Operand,
        /// The right side.
        right: Operand,
    },
}

impl Test {
    /// Returns that of a branch. `None` if it asks something else.
    pub(crate) fn of(f: &Function, exit: Edge) -> Option<Self> {
        let term = f.terminator(exit.from)?;
        if f.op(term) == Some(cf::BR) && f.out_edges(exit.from).count() == 1 {
            return Some(Self::Constant(false));
        }
        if f.op(term) != Some(cf::BR) {
            return None;
        }
        // The first edge is that for true.
        Self::of_condition(f, f.operand(term, 0)?, f.out_edges(exit.from).next() != Some(exit))
    }

    /// Returns that of a branch that stays if a condition is `stay_if`. `None` if it asks something else.
    pub(crate) fn of_condition(
        f: &Function,
        mut condition: Operand,
        mut stay_if: bool,
    ) -> Option<Self> {
        loop {
            if let Some(constant) = f.const_bool(condition) {
                return Some(Self::Constant(constant == stay_if));
            }
            match f.matches(condition.as_value()?, arith::NOT) {
                Some([inner]) => (condition, stay_if) = (inner, !stay_if),
                None => break,
            }
        }
        let v = condition.as_value()?;
        let op = f.op(v).filter(|&op| is_comparison(op))?;
        let (left, right) = (f.operand(v, 0)?, f.operand(v, 1)?);
        let ty = f.operand_type(left);
        if !ty.is_int() || f.operand_type(right) != ty {
            return None;
        }
        let stay = if stay_if { op } else { opposite(op) };
        Some(Self::Compare { stay, leave: opposite(stay), left, right })
    }
}
