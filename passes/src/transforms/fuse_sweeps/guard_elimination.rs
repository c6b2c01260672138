//! A branch around a loop that would not run anyway goes.
//!
//! ```text
//! ^1: br (%n <= 0), ^4(0.0), ^2(0, %2)       ^1: br ^2(0, %2)
//! ^2(%3, %4): br (%n <= %3), ^4(%4), ^3  =>  ^2(%3, %4): br (%n <= %3), ^5, ^3
//! ^3: .. br ^2(%5, %6)                       ^3: .. br ^2(%5, %6)
//! ^4(%7): ..                                 ^5: %7 = select (%n <= 0), 0.0, %4; ..
//! ```
//!
//! So the loop follows what comes before, and can be fused with a loop there. Where the branch
//! goes around the loop, the first test of the loop leaves it (it is the same comparison, or one
//! that says that there are no iterations), and its header does nothing that can be noticed.

use regraft_dialects::{arith, core};
use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Value};

use super::normalised_trip_count::NormalisedTripCount;
use crate::analysis::comparison::swapped;
use crate::analysis::trip_count::edge_condition;
use crate::analysis::{InductionVariables, LoopForest, LoopId, Poly, Sym, TripCounts};
use crate::transforms::simplify_cfg::merge_after;
use crate::transforms::util::edit::{only, only_edge_into};
use crate::transforms::util::loop_pair::{CountedLoop, is_pure};

/// A branch around a loop.
pub(super) struct Guard {
    block: Block,
    /// The target of the edge that does not bypass the loop: the header, or a block before it.
    into: Block,
    counted: CountedLoop,
    /// The block that the loop is left to, if that is not where the ways meet.
    left: Option<Block>,
    /// True if it bypasses the loop if its condition is true.
    if_true: bool,
}

/// Finds branches around loops that have a loop before or after them.
pub(super) fn find(
    f: &Function,
    forest: &LoopForest,
    variables: &InductionVariables,
    counts: &TripCounts,
) -> Vec<Guard> {
    forest.loops().filter_map(|l| Guard::of(f, forest, variables, counts, l)).collect()
}

impl Guard {
    fn of(
        f: &Function,
        forest: &LoopForest,
        variables: &InductionVariables,
        counts: &TripCounts,
        l: LoopId,
    ) -> Option<Self> {
        let counted = CountedLoop::of(f, forest, l).filter(CountedLoop::is_tested_first)?;
        let parent = forest.get(l).parent;
        let mut enter = only(f.in_edges(counted.header).filter(|e| !forest.contains(l, e.from)))?;
        if f.out_edges(enter.from).nth(1).is_none() {
            if !is_pure(f, enter.from) {
                return None;
            }
            enter = only_edge_into(f, enter.from)?;
        }
        let (block, into) = (enter.from, f.edge_target(enter));
        let mut edges = f.out_edges(block);
        let (first, second, None) = (edges.next()?, edges.next()?, edges.next()) else {
            return None;
        };
        let skip = if first == enter { second } else { first };
        let after = f.edge_target(skip);
        let mut exit = counted.exit(f);
        let target = f.edge_target(exit);
        let mut left = None;
        if target != after && f.in_edges(target).nth(1).is_none() && is_pure(f, target) {
            left = Some(target);
            exit = only(f.out_edges(target))?;
        }
        if forest.loop_of(block) != parent
            || forest.loop_of(after) != parent
            || skip == enter
            || f.edge_target(exit) != after
            || f.in_edges(after).count() != 2
            || !has_neighbour(f, forest, block, after, parent)
        {
            return None;
        }
        let args = f.edge_args(skip).zip(f.edge_args(exit));
        let same_types = args.into_iter().all(|(a, b)| f.operand_type(a) == f.operand_type(b));
        let idle = is_idle(f, variables, counts, l, skip, &counted);
        if !same_types || !is_pure(f, counted.header) || !idle {
            return None;
        }
        Some(Self { block, into, counted, left, if_true: skip == first })
    }

    /// Returns whether its blocks are still there.
    pub(super) fn is_live(&self, f: &Function) -> bool {
        let blocks = [Some(self.block), Some(self.into), Some(self.counted.header), self.left];
        blocks.into_iter().flatten().all(|block| f.is_live_block(block))
    }

    /// Takes the branch away.
    pub(super) fn remove(self, f: &mut Function) -> IrResult<()> {
        let term = Value::terminator(self.block);
        let Some(condition) = f.operand(term, 0) else { return Ok(()) };
        let (enter, skip): (Vec<Edge>, Vec<Edge>) =
            f.out_edges(self.block).partition(|&e| f.edge_target(e) == self.into);
        let (&[enter], &[skip]) = (enter.as_slice(), skip.as_slice()) else { return Ok(()) };
        let initial: Vec<Operand> = f.edge_args(enter).collect();
        // Another branch that was taken away may have changed them.
        let around: Vec<Operand> = f.edge_args(skip).collect();
        let left = match self.left {
            Some(left) => left,
            None => f.split_edge(self.counted.exit(f))?,
        };
        let Some(exit) = f.out_edges(left).next() else { return Ok(()) };
        let (after, args) = (f.edge_target(exit), f.edge_args(exit).collect::<Vec<_>>());
        let mut passed = Vec::with_capacity(args.len());
        for (around, arg) in around.into_iter().zip(args) {
            let (then, otherwise) = if self.if_true { (around, arg) } else { (arg, around) };
            passed.push(match then == otherwise {
                true => then,
                false => f
                    .insert(Value::terminator(left), core::select(condition, then, otherwise))?
                    .into(),
            });
        }
        let jump = f.jump_op()?;
        f.set_terminator(left, Inst::new(jump).edge(after, passed))?;
        f.set_terminator(self.block, Inst::new(jump).edge(self.into, initial))?;
        merge_after(f, left)?;
        merge_after(f, self.block)?;
        Ok(())
    }
}

/// Returns whether a loop comes just before the branch, or just after the loop that it bypasses.
fn has_neighbour(
    f: &Function,
    forest: &LoopForest,
    block: Block,
    after: Block,
    parent: Option<LoopId>,
) -> bool {
    let is_beside = |l: Option<LoopId>| l.is_some_and(|l| forest.get(l).parent == parent);
    f.in_edges(block).any(|edge| is_beside(forest.loop_of(edge.from)))
        || f.successors(after).any(|next| is_beside(forest.headed_by(next)))
}

/// Returns whether a loop does not run where a branch bypasses it.
fn is_idle(
    f: &Function,
    variables: &InductionVariables,
    counts: &TripCounts,
    l: LoopId,
    skip: Edge,
    counted: &CountedLoop,
) -> bool {
    let Some((guard, x, y)) = edge_condition(f, variables, skip) else { return false };
    let at_first = |poly: Poly| {
        let zero = Poly::constant(poly.ty(), 0);
        poly.substitute(|s| (s == Sym::Iteration(l)).then(|| zero.clone()))
    };
    if let Some((exit, a, b)) = edge_condition(f, variables, counted.exit(f))
        && let (Some(a), Some(b)) = (at_first(a), at_first(b))
        && (guard == exit && x == a && y == b || guard == swapped(exit) && x == b && y == a)
    {
        return true;
    }
    let trip_count = NormalisedTripCount::of(f, counts, variables, l);
    trip_count.is_some_and(|trip_count| {
        let number = Some(&trip_count.number);
        let fits = x.ty() == trip_count.number.ty();
        let apart = || [x.sub(&y), y.sub(&x)].iter().any(|d| d.as_ref() == number);
        guard == arith::EQ && fits && apart()
    })
}
