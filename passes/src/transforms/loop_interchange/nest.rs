//! Perfect nests of two loops.

use regraft_ir::{Block, Edge, Function, Operand, Value};
use smallvec::SmallVec;

use crate::analysis::traps::only_computes;
use crate::analysis::{LoopForest, LoopId};
use crate::transforms::util::edit::jump_target;
use crate::transforms::util::loop_form::nothing_leaves;

/// The most instructions that a test or a step of a counter may take.
const SLICE: usize = 16;

/// One of the loops: tested in the header, which has the counter as its only parameter.
#[derive(Clone)]
pub(super) struct Counter {
    pub(super) header: Block,
    pub(super) param: Value,
    /// The block that goes back.
    pub(super) latch: Block,
    /// The place of the edge that leaves, of the two of the header.
    pub(super) exit: usize,
    /// The condition of the test, with the instructions that compute it from the counter, in order.
    pub(super) test: (Operand, Vec<Value>),
    /// The counter in the next iteration, likewise.
    pub(super) next: (Operand, Vec<Value>),
    /// Its first value, likewise, but not from any counter.
    pub(super) initial: (Operand, Vec<Value>),
}

/// Two loops, one directly in the other.
#[derive(Clone)]
pub(super) struct Nest {
    pub(super) outer: LoopId,
    pub(super) inner: LoopId,
    pub(super) loops: [Counter; 2],
    /// The block between the headers, if there is one.
    pub(super) before: Option<Block>,
    /// The block between the inner exit and the outer header, if there is one.
    pub(super) after: Option<Block>,
}

impl Nest {
    /// The nest of an innermost loop and the one around it.
    pub(super) fn around(f: &Function, forest: &LoopForest, inner: LoopId) -> Option<Self> {
        let outer = forest.get(inner).parent?;
        let alone = forest.is_innermost(inner) && forest.children(outer).count() == 1;
        let others = forest.blocks(outer).len() - forest.blocks(inner).len();
        if !alone || others > 3 || forest.get(outer).has_irreducible {
            return None;
        }
        let (o, i) = (Frame::of(f, forest, outer)?, Frame::of(f, forest, inner)?);
        // The way from header to header, and back.
        let between = |target: Block, end: Block| -> Option<Option<Block>> {
            if target == end {
                return Some(None);
            }
            let is_plain = forest.loop_of(target) == Some(outer)
                && f.param_count(target) == 0
                && f.in_edges(target).nth(1).is_none()
                && jump_target(f, target) == Some(end);
            is_plain.then_some(Some(target))
        };
        let before = between(f.edge_target(o.stay), i.header)?;
        let after = between(f.edge_target(i.exit), o.header)?;
        let found = 1 + usize::from(before.is_some()) + usize::from(after.is_some());
        if others != found || jump_target(f, i.latch) != Some(i.header) || i.latch == i.header {
            return None;
        }
        let blocks = [Some(o.header), before, after, Some(i.header)];
        let mut pure = blocks.into_iter().flatten().flat_map(|block| f.body(block));
        if !pure.all(|v| only_computes(f, v)) || !nothing_leaves(f, forest, outer, o.exit) {
            return None;
        }
        let slices = Slices { f, forest, outer };
        let outer_counter = slices.counter(&o, after.unwrap_or(i.header))?;
        let inner_counter = slices.counter(&i, i.latch)?;
        // The outer counter begins with something that is there already.
        if !outer_counter.initial.1.is_empty() {
            return None;
        }
        Some(Self { outer, inner, loops: [outer_counter, inner_counter], before, after })
    }
}

/// The edges of a loop.
struct Frame {
    header: Block,
    param: Value,
    latch: Block,
    exit: Edge,
    stay: Edge,
    id: LoopId,
}

impl Frame {
    fn of(f: &Function, forest: &LoopForest, id: LoopId) -> Option<Self> {
        let l = forest.get(id);
        let &[exit] = l.exits.as_slice() else { return None };
        let exit = exit.edge(f);
        let (latch, param) = (l.single_latch()?, f.param(l.header, 0)?);
        let edges: SmallVec<[Edge; 2]> = f.out_edges(l.header).collect();
        let &[a, b] = edges.as_slice() else { return None };
        let stay = if a == exit { b } else { a };
        let fits = exit.from == l.header
            && Some(l.header) != f.entry()
            && f.param_count(l.header) == 1
            && f.in_edges(l.header).count() == 2
            && f.edge_target(stay) != l.header;
        fits.then_some(Self { header: l.header, param, latch, exit, stay, id })
    }
}

/// Finds what values are computed from.
struct Slices<'a> {
    f: &'a Function,
    forest: &'a LoopForest,
    outer: LoopId,
}

impl Slices<'_> {
    fn counter(&self, frame: &Frame, back: Block) -> Option<Counter> {
        let f = self.f;
        let into = |inside: bool| {
            let mut edges = f.in_edges(frame.header);
            edges.find(|edge| self.forest.contains(frame.id, edge.from) == inside)
        };
        let (enter, again) = (into(false)?, into(true)?);
        if again.from != back {
            return None;
        }
        let slice = |operand: Operand, from: Option<Value>| {
            self.slice(operand, from).map(|insts| (operand, insts))
        };
        let condition = f.operand(Value::terminator(frame.header), 0)?;
        Some(Counter {
            header: frame.header,
            param: frame.param,
            latch: frame.latch,
            exit: f.out_edges(frame.header).position(|edge| edge == frame.exit)?,
            test: slice(condition, Some(frame.param))?,
            next: slice(f.edge_args(again).next()?, Some(frame.param))?,
            initial: slice(f.edge_args(enter).next()?, None)?,
        })
    }

    /// The instructions of the nest that compute an operand from `param` and what comes from
    /// outside alone, each after what it uses. `None` if they are many, or not pure, or if it
    /// needs something else.
    fn slice(&self, operand: Operand, param: Option<Value>) -> Option<Vec<Value>> {
        let f = self.f;
        let mut found: Vec<Value> = Vec::new();
        let mut pending: Vec<Operand> = vec![operand];
        let mut steps = 0;
        while let Some(operand) = pending.pop() {
            let Some(v) = operand.as_value() else { continue };
            steps += 1;
            if steps > 4 * SLICE {
                return None;
            }
            if Some(v) == param || !self.forest.contains(self.outer, f.block_of(v)) {
                continue;
            }
            if f.is_param(v) || !only_computes(f, v) || found.len() == SLICE {
                return None;
            }
            // What is found again is needed earlier.
            found.retain(|&other| other != v);
            found.push(v);
            pending.extend(f.operands(v));
        }
        found.reverse();
        Some(found)
    }
}
