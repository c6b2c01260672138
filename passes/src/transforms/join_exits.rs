//! Makes one test of two that leave a loop for the same place, one after the other.
//!
//! ```text
//! ^1:                                   ^1:
//!                                         %6: i64 = arith.min %1, %2
//!   br ^2(0)                              br ^2(0)
//! ^2(%3: i64):                          ^2(%3: i64):
//!   %4: bool = arith.lt %3, %1            %7: bool = arith.lt %3, %6
//!   br %4, ^3, ^5                 =>      br %7, ^4, ^5
//! ^3:
//!   %5: bool = arith.lt %3, %2
//!   br %5, ^4, ^5
//! ```
//!
//! # Method
//! Both tests compare the same integer with one that is the same in all iterations, in the same direction,
//! and nothing else happens between them: then the lesser (or the greater) bound decides, which is computed
//! before the loop. `x + 1 <= a` beside `x < b` is `x < min(a, b)` as well. So a single comparison
//! tells how often the loop runs.
//!
//! # Why it is right
//! `x < a` and `x < b` are both true if and only if `x < min(a, b)`. If `x + 1` wraps around, `x` is the
//! greatest integer, so that `x < b` is false and both leave; else `x + 1 <= a` is `x < a`.
//!
//! # Cost
//! O(blocks of the loops).

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, Edge, Function, Inst, IrResult, Op, Operand, Value};

use crate::analysis::loop_exits::Test;
use crate::analysis::{LoopForest, LoopId};
use crate::transforms::util::counters::ensure_preheaders;
use crate::transforms::util::edit::{delete_unused, only};
use crate::{LoopPass, PassContext, PassResult};

crate::pass! {
    /// Makes one test of two that leave a loop for the same place, one after the other.
    ///
    /// ```text
    ///                                         %6: i64 = arith.min %1, %2
    ///   br ^2(0)                              br ^2(0)
    /// ^2(%3: i64):                          ^2(%3: i64):
    ///   %4: bool = arith.lt %3, %1            %7: bool = arith.lt %3, %6
    ///   br %4, ^3, ^5                 =>      br %7, ^4, ^5
    /// ^3:
    ///   %5: bool = arith.lt %3, %2
    ///   br %5, ^4, ^5
    /// ```
    ///
    /// Both have to compare the same integer, or it and one more than it, with bounds from before the loop.
    /// It is then known again how often the loop runs. Put it after `indvars`, by which counters that
    /// run in step are one.
    #[derive(Debug, Default)]
    pub struct JoinExits;
}

impl LoopPass for JoinExits {
    const NAME: &'static str = "join-exits";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, loops: &[Block], cx: &mut PassContext<'_>) -> PassResult {
        let forest = cx.analysis::<LoopForest>(f);
        let has_some =
            |l: LoopId| forest.blocks(l).iter().any(|&b| Join::of(f, &forest, l, b).is_some());
        let with_some: Vec<LoopId> =
            loops.iter().filter_map(|&b| forest.headed_by(b)).filter(|&l| has_some(l)).collect();
        let headers = ensure_preheaders(f, loops, &forest, |l| with_some.contains(&l))?;
        let forest = cx.analysis::<LoopForest>(f);
        let mut joined = 0;
        for l in headers.into_iter().filter_map(|header| forest.headed_by(header)) {
            for &block in forest.blocks(l) {
                // Three tests are joined two at a time.
                while f.is_live_block(block)
                    && let Some(join) = Join::of(f, &forest, l, block)
                {
                    let Some(preheader) = forest.get(l).preheader else { break };
                    join.carry_out(f, preheader)?;
                    joined += 1;
                }
            }
        }
        cx.add("tests joined", joined);
        Ok(())
    }
}

/// A test of a value of a loop against a bound from before the loop, true where the loop goes on.
#[derive(Clone, Copy)]
struct Limit {
    op: Op,
    value: Value,
    bound: Operand,
    stays: Edge,
    leaves: Edge,
}

impl Limit {
    fn of(f: &Function, forest: &LoopForest, l: LoopId, block: Block) -> Option<Self> {
        let is_inside = |edge: &Edge| forest.contains(l, f.edge_target(*edge));
        let leaves = only(f.out_edges(block).filter(|edge| !is_inside(edge)))?;
        let stays = only(f.out_edges(block).filter(is_inside))?;
        let Test::Compare { stay, left, right, .. } = Test::of(f, leaves)? else { return None };
        let is_bound = |o: Operand| o.as_value().is_none_or(|v| !forest.contains(l, f.block_of(v)));
        let (op, value, bound) = match (is_bound(left), is_bound(right)) {
            (false, true) => (stay, left.as_value()?, right),
            (true, false) => (swapped(stay)?, right.as_value()?, left),
            _ => return None,
        };
        swapped(op)?;
        Some(Self { op, value, bound, stays, leaves })
    }
}

/// The comparison of `y` with `x` that says the same as that of `x` with `y`.
fn swapped(op: Op) -> Option<Op> {
    Some(match op {
        arith::LT => arith::GT,
        arith::LE => arith::GE,
        arith::GT => arith::LT,
        arith::GE => arith::LE,
        _ => return None,
    })
}

/// Two tests that are one.
struct Join {
    first: Limit,
    second: Limit,
    /// The test that both are: its value and its comparison.
    value: Value,
    op: Op,
}

impl Join {
    fn of(f: &Function, forest: &LoopForest, l: LoopId, block: Block) -> Option<Self> {
        let first = Limit::of(f, forest, l, block)?;
        let next = f.edge_target(first.stays);
        let condition = f.operand(Value::terminator(next), 0)?.as_value()?;
        let alone = only(f.in_edges(next)).is_some()
            && f.param_count(next) == 0
            && only(f.body(next)) == Some(condition)
            && only(f.uses(condition)).is_some();
        let second = Limit::of(f, forest, l, next).filter(|_| alone)?;
        let same_exit = f.edge_target(first.leaves) == f.edge_target(second.leaves)
            && f.edge_args(first.leaves).eq(f.edge_args(second.leaves));
        if !same_exit {
            return None;
        }
        let (value, op) = if (first.value, first.op) == (second.value, second.op) {
            (first.value, first.op)
        } else if is_next(f, first, second) {
            (second.value, second.op)
        } else if is_next(f, second, first) {
            (first.value, first.op)
        } else {
            return None;
        };
        Some(Self { first, second, value, op })
    }

    fn carry_out(self, f: &mut Function, preheader: Block) -> IrResult<()> {
        let Self { first, second, value, op } = self;
        let (block, next) = (first.stays.from, second.stays.from);
        let bounds = [first.bound, second.bound];
        let bound = match op {
            arith::LT | arith::LE => arith::min(bounds[0], bounds[1]),
            _ => arith::max(bounds[0], bounds[1]),
        };
        let bound = f.insert(Value::terminator(preheader), bound)?;
        let term = Value::terminator(block);
        let old = f.operand(term, 0).and_then(Operand::as_value);
        let test = f.insert(term, Inst::of(op, [value.into(), bound.into()]).at(f.loc(term)))?;
        let branch = Inst::new(regraft_dialects::cf::BR)
            .operand(test)
            .edge(f.edge_target(second.stays), f.edge_args(second.stays))
            .edge(f.edge_target(first.leaves), f.edge_args(first.leaves))
            .at(f.loc(term));
        f.set_terminator(block, branch)?;
        f.delete_block(next)?;
        delete_unused(f, old)
    }
}

/// Returns whether one test is `x + 1 <= a`, and the other one `x < b`.
fn is_next(f: &Function, one: Limit, other: Limit) -> bool {
    let is_one = |o: Operand| f.constant(o).and_then(Constant::as_int) == Some(1);
    one.op == arith::LE
        && other.op == arith::LT
        && f.matches::<2>(one.value, arith::ADD).is_some_and(|[x, y]| {
            x == other.value.into() && is_one(y) || y == other.value.into() && is_one(x)
        })
}
