//! Makes one test of two that leave a loop for the same place, one after the other or both in one branch.
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
//! before the loop. So it is where a branch asks whether one of two tests is true, or both are (`for (x, y) in zip(xs, ys)`). `x + 1 <= a` beside `x < b` is `x < min(a, b)` as well. So a single comparison
//! tells how often the loop runs.
//!
//! # Why it is right
//! `x < a` and `x < b` are both true if and only if `x < min(a, b)`. If `x + 1` wraps around, `x` is the
//! greatest integer, so that `x < b` is false and both leave; else `x + 1 <= a` is `x < a`.
//!
//! # Cost
//! O(blocks of the loops).

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, Edge, Function, Inst, IrResult, Op, Operand, Type, Value};

use crate::analysis::comparison::opposite;
use crate::analysis::loop_exits::Test;
use crate::analysis::{LoopForest, LoopId};
use crate::transforms::util::counters::ensure_preheaders;
use crate::transforms::util::edit::{delete_unused, only, only_edge_into};
use crate::{LoopPass, PassContext, PassResult};

crate::pass! {
    /// Makes one test of two that leave a loop for the same place, one after the other or both in one branch.
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
        let has_some = |l: LoopId| {
            forest.blocks(l).iter().any(|&b| {
                Join::of(f, &forest, l, b).is_some() || Both::of(f, &forest, l, b).is_some()
            })
        };
        let with_some: Vec<LoopId> =
            loops.iter().filter_map(|&b| forest.headed_by(b)).filter(|&l| has_some(l)).collect();
        let headers = ensure_preheaders(f, loops, &forest, |l| with_some.contains(&l))?;
        let forest = cx.analysis::<LoopForest>(f);
        let mut joined = 0;
        for l in headers.into_iter().filter_map(|header| forest.headed_by(header)) {
            for &block in forest.blocks(l) {
                let Some(preheader) = forest.get(l).preheader else { continue };
                // Three tests are joined two at a time.
                while f.is_live_block(block) {
                    if let Some(both) = Both::of(f, &forest, l, block) {
                        both.carry_out(f, preheader)?;
                    } else if let Some(join) = Join::of(f, &forest, l, block) {
                        join.carry_out(f, preheader)?;
                    } else {
                        break;
                    }
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
}

impl Limit {
    fn of(f: &Function, forest: &LoopForest, l: LoopId, test: &Test) -> Option<Self> {
        let &Test::Compare { stay, left, right, .. } = test else { return None };
        let is_bound = |o: Operand| o.as_value().is_none_or(|v| !forest.contains(l, f.block_of(v)));
        let (op, value, bound) = match (is_bound(left), is_bound(right)) {
            (false, true) => (stay, left.as_value()?, right),
            (true, false) => (swapped(stay)?, right.as_value()?, left),
            _ => return None,
        };
        swapped(op)?;
        Some(Self { op, value, bound })
    }

    /// The value that two tests compare as one, and the comparison, if they can be one.
    fn joined(f: &Function, first: Self, second: Self) -> Option<Joined> {
        let bounds = [first.bound, second.bound];
        if (first.value, first.op) == (second.value, second.op) {
            Some(Joined { value: first.value, op: first.op, bounds })
        } else if is_next(f, first, second) {
            Some(Joined { value: second.value, op: second.op, bounds })
        } else if is_next(f, second, first) {
            Some(Joined { value: first.value, op: first.op, bounds })
        } else {
            None
        }
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

/// Two tests as one, true where the loop goes on.
struct Joined {
    value: Value,
    op: Op,
    bounds: [Operand; 2],
}

impl Joined {
    /// Inserts the bound before the loop.
    fn bound(&self, f: &mut Function, preheader: Block) -> IrResult<Operand> {
        let [first, second] = self.bounds;
        let bound = match self.op {
            arith::LT | arith::LE => arith::min(first, second),
            _ => arith::max(first, second),
        };
        Ok(f.insert(Value::terminator(preheader), bound)?.into())
    }
}

/// Two tests of a branch: an `arith.or` or `arith.and` of two comparisons.
struct Both {
    v: Value,
    joined: Joined,
}

impl Both {
    fn of(f: &Function, forest: &LoopForest, l: LoopId, block: Block) -> Option<Self> {
        let leaves = |edge| !forest.contains(l, f.edge_target(edge));
        if !f.out_edges(block).any(leaves) {
            return None;
        }
        let mut pending: Vec<Value> = f
            .operand(Value::terminator(block), 0)
            .and_then(Operand::as_value)
            .into_iter()
            .collect();
        while let Some(v) = pending.pop() {
            let is_all = match f.op(v) {
                Some(arith::AND) => true,
                Some(arith::OR) => false,
                Some(arith::NOT) => {
                    pending.extend(f.operand(v, 0).and_then(Operand::as_value));
                    continue;
                }
                _ => continue,
            };
            if f.ty(v) != Type::BOOL || !forest.contains(l, f.block_of(v)) {
                continue;
            }
            // One of two is true if it is not that both are false.
            let limit = |part: Operand| {
                let test = Test::of_condition(f, part, is_all)?;
                Limit::of(f, forest, l, &test)
            };
            let parts = (f.operand(v, 0)?, f.operand(v, 1)?);
            if let (Some(first), Some(second)) = (limit(parts.0), limit(parts.1))
                && let Some(joined) = Limit::joined(f, first, second)
            {
                return Some(Self { v, joined });
            }
            pending.extend(parts.0.as_value());
            pending.extend(parts.1.as_value());
        }
        None
    }

    fn carry_out(self, f: &mut Function, preheader: Block) -> IrResult<()> {
        let Self { v, joined } = self;
        let bound = joined.bound(f, preheader)?;
        let op = if f.op(v) == Some(arith::AND) { joined.op } else { opposite(joined.op) };
        let mut parts: Vec<Value> = f.operands(v).filter_map(Operand::as_value).collect();
        parts.dedup();
        let test = Inst::of(op, [joined.value.into(), bound]).at(f.loc(v));
        let test = f.insert(v, test)?;
        f.replace_all_uses(v, test)?;
        f.delete(v)?;
        parts.into_iter().try_for_each(|part| delete_unused(f, Some(part)))
    }
}

/// Two tests of which one comes after the other.
struct Join {
    /// The edges of the first test and of the second one that stay in the loop.
    stays: [Edge; 2],
    leaves: Edge,
    joined: Joined,
}

impl Join {
    fn of(f: &Function, forest: &LoopForest, l: LoopId, block: Block) -> Option<Self> {
        let of_block = |block| {
            let is_inside = |edge: &Edge| forest.contains(l, f.edge_target(*edge));
            let leaves = only(f.out_edges(block).filter(|edge| !is_inside(edge)))?;
            let stays = only(f.out_edges(block).filter(is_inside))?;
            Some((stays, leaves, Limit::of(f, forest, l, &Test::of(f, leaves)?)?))
        };
        let (stays, leaves, first) = of_block(block)?;
        let next = f.edge_target(stays);
        let condition = f.operand(Value::terminator(next), 0)?.as_value()?;
        let alone = only_edge_into(f, next).is_some()
            && f.param_count(next) == 0
            && only(f.body(next)) == Some(condition)
            && only(f.uses(condition)).is_some();
        let (next_stays, next_leaves, second) = of_block(next).filter(|_| alone)?;
        let same_exit = f.edge_target(leaves) == f.edge_target(next_leaves)
            && f.edge_args(leaves).eq(f.edge_args(next_leaves));
        let joined = Limit::joined(f, first, second).filter(|_| same_exit)?;
        Some(Self { stays: [stays, next_stays], leaves, joined })
    }

    fn carry_out(self, f: &mut Function, preheader: Block) -> IrResult<()> {
        let Self { stays: [first, second], leaves, joined } = self;
        let bound = joined.bound(f, preheader)?;
        let term = Value::terminator(first.from);
        let old = f.operand(term, 0).and_then(Operand::as_value);
        let test = Inst::of(joined.op, [joined.value.into(), bound]).at(f.loc(term));
        let test = f.insert(term, test)?;
        let branch = Inst::new(regraft_dialects::cf::BR)
            .operand(test)
            .edge(f.edge_target(second), f.edge_args(second))
            .edge(f.edge_target(leaves), f.edge_args(leaves))
            .at(f.loc(term));
        f.set_terminator(first.from, branch)?;
        f.delete_block(second.from)?;
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
