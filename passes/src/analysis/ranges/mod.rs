//! The values that can occur: intervals of integers, known constants, kinds of floats, and which
//! edges can be taken at all.
//!
//! ```text
//! ^1:
//!   br ^2(0)
//! ^2(%2: i64):                      %2: 0 .. 10
//!   %3: bool = arith.lt %2, 10
//!   br %3, ^3, ^4
//! ^3:                               %2: 0 .. 9 here
//!   %4: i64 = arith.add %2, 1       %4: 1 .. 10
//!   br ^2(%4)
//! ^4:                               %2: 10 here
//!   return %2
//! ```
//!
//! # Method
//! Sparse conditional propagation (Wegman and Zadeck: "Constant propagation with conditional
//! branches", TOPLAS 1991) over a lattice with intervals in the place of constants, widened at
//! loop headers (Cousot and Cousot, POPL 1977), and then narrowed in two sweeps. What branches say
//! refines a value in the blocks that they dominate (the facts of the e-SSA of Bodik, Gupta and
//! Sarkar, PLDI 2000), without giving it new names. Constants of all types take part, by the
//! folds of their ops, so that this is conditional constant propagation as well. The elements of an
//! array that only loads and stores of the function reach are one value: all that is stored there.
//!
//! # Why it is right
//! Each op is taken with what it computes, wrapping included; where a value may wrap and another
//! may not, nothing is said. On the way up, what a branch says of a value is asked again when what
//! it compares the value with grows, so that in the end all that is used holds together; on the way
//! down everything that is used holds already.
//!
//! # Cost
//! A value changes at most two dozen times, so that it is O(instructions + operands), besides the
//! dominator tree; a few evaluations for each instruction in practice
//! (`examples/analysis_speed.rs`).

mod branches;
mod contents;
mod narrowing;
mod solver;
mod transfer;
mod widening;

use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Block, Constant, ControlFlow, DominatorTree, Edge, Function, Operand, Value};

use super::traps::OperandFacts;
use super::{Analyses, Analysis, Facets, FloatKinds, Interval, LoopForest};
pub(crate) use branches::Relation;
use branches::{Branches, Constraint};
use solver::{Solution, Solver, known_of, refine};
pub use transfer::LatticeValue;
use transfer::edges_taken;
pub(crate) use transfer::{float_kinds, int_result};

/// The ranges of the values of a function.
#[derive(Clone, Debug)]
pub struct Ranges {
    tree: Arc<DominatorTree>,
    branches: Branches,
    solution: Solution,
}

impl Analysis for Ranges {
    const NAME: &'static str = "ranges";
    const FACETS: Facets = Facets::CFG.union(Facets::INSTS).union(Facets::TYPES);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        let tree = analyses.get::<DominatorTree>(f);
        let cfg = analyses.get::<ControlFlow>(f);
        let forest = analyses.get::<LoopForest>(f);
        let branches = Branches::collect(f, &tree, &forest);
        let solution = Solver::solve(f, &cfg, &tree, &forest, &branches);
        Self { tree, branches, solution }
    }
}

impl Ranges {
    /// Returns what is known of an operand wherever it is used.
    pub fn of(&self, f: &Function, operand: impl Into<Operand>) -> LatticeValue {
        known_of(f, &self.solution.known, operand.into())
    }

    /// Returns what is known of an operand in a block, with what the branches before it say.
    pub fn at(&self, f: &Function, block: Block, operand: impl Into<Operand>) -> LatticeValue {
        let operand = operand.into();
        let known = self.of(f, operand);
        match operand.as_value() {
            Some(v) if self.branches.has_constraint(v) && self.is_reached(block) => {
                let said = self.branches.at(&self.tree, block, v);
                refine(f, v, known, said, |other| self.interval_of(f, other))
            }
            _ => known,
        }
    }

    /// The same at the end of an edge.
    pub(crate) fn on_edge(
        &self,
        f: &Function,
        edge: Edge,
        operand: impl Into<Operand>,
    ) -> LatticeValue {
        let operand = operand.into();
        let known = self.at(f, edge.from, operand);
        match operand.as_value() {
            Some(v) if f.ty(v).is_scalar() => {
                let said = branches::conditions(f, edge).into_iter();
                let said = said.filter_map(|(of, said)| (of == v).then_some(said));
                refine(f, v, known, said, |other| self.interval_of(f, other))
            }
            _ => known,
        }
    }

    /// The interval of an integer or a bool wherever it is used; that of its type if nothing is
    /// known.
    pub fn interval_of(&self, f: &Function, operand: impl Into<Operand>) -> Interval {
        let operand = operand.into();
        let known = self.of(f, operand).interval();
        known.unwrap_or_else(|| Interval::of_type(f.operand_type(operand)))
    }

    /// The same in a block.
    pub fn interval_at(&self, f: &Function, block: Block, operand: impl Into<Operand>) -> Interval {
        let operand = operand.into();
        let known = self.at(f, block, operand).interval();
        known.unwrap_or_else(|| Interval::of_type(f.operand_type(operand)))
    }

    /// The constant that a value always is.
    pub fn constant(&self, f: &Function, v: Value) -> Option<Constant> {
        self.of(f, v).constant(f, f.ty(v))
    }

    /// Returns whether a block can be reached.
    pub fn is_reached(&self, block: Block) -> bool {
        self.solution.visited.get(block.index()).copied().unwrap_or(false)
    }

    /// Returns whether an edge can be taken.
    pub(crate) fn is_taken(&self, edge: Edge) -> bool {
        let Some(start) = self.solution.start.get(edge.from.index()) else { return true };
        let slot = (start + edge.position) as usize;
        self.solution.taken.get(slot).copied().unwrap_or(true)
    }

    /// The numbers of the edges of a block that can be taken, in order.
    pub(crate) fn edges_taken(&self, f: &Function, block: Block) -> Vec<usize> {
        let mut taken = Vec::new();
        let known = |operand| self.at(f, block, operand);
        edges_taken(f, Value::terminator(block), known, |number| taken.push(number));
        taken.sort_unstable();
        taken
    }

    /// Returns what is known in a block, for [`may_trap_given`](super::traps::may_trap_given).
    pub fn facts<'a>(&'a self, f: &'a Function, block: Block) -> FactsAt<'a> {
        FactsAt { ranges: self, f, block }
    }

    /// Other values that `v` is compared with by the branches before `block`, the nearest first.
    pub(crate) fn orders<'a>(
        &'a self,
        block: Block,
        v: Value,
    ) -> impl Iterator<Item = (Relation, Value)> + 'a {
        self.branches.at(&self.tree, block, v).filter_map(|said| match said {
            Constraint::Order(relation, other) => Some((relation, other)),
            _ => None,
        })
    }

    /// The same of what one edge says.
    pub(crate) fn orders_on_edge(
        f: &Function,
        edge: Edge,
        v: Value,
    ) -> impl Iterator<Item = (Relation, Value)> + use<> {
        branches::conditions(f, edge).into_iter().filter_map(move |(of, said)| match said {
            Constraint::Order(relation, other) if of == v => Some((relation, other)),
            _ => None,
        })
    }

    /// Readable text: a line for each value of which something is known, under its block, and for
    /// what branches add to that.
    pub fn describe(&self, f: &Function) -> String {
        let mut text = String::new();
        let mut places: Vec<(Block, Value)> = self.branches.places().collect();
        places.sort_unstable();
        places.dedup();
        for block in f.blocks() {
            let mut lines = String::new();
            for v in f.params(block).chain(f.body(block)) {
                if let Some(known) = self.known_text(f, self.of(f, v), v) {
                    let _ = writeln!(lines, "  {v}: {known}");
                }
            }
            let first = places.partition_point(|&(other, _)| other < block);
            for &(_, v) in places[first..].iter().take_while(|&&(other, _)| other == block) {
                let here = self.at(f, block, v);
                if here != self.of(f, v)
                    && let Some(known) = self.known_text(f, here, v)
                {
                    let _ = writeln!(lines, "  {v}: {known} from here");
                }
            }
            if !self.is_reached(block) {
                let _ = writeln!(text, "{block} is never reached");
            } else if !lines.is_empty() {
                let _ = write!(text, "{block}\n{lines}");
            }
        }
        if text.is_empty() { "nothing is known\n".to_owned() } else { text }
    }

    fn known_text(&self, f: &Function, known: LatticeValue, v: Value) -> Option<String> {
        let ty = f.ty(v);
        if let Some(constant) = known.constant(f, ty) {
            return Some(f.ctx().constant_text(constant));
        }
        match known {
            LatticeValue::Int(range) if range != Interval::of_type(ty) => {
                let all = Interval::of_type(ty);
                Some(match (range.lo == all.lo, range.hi == all.hi) {
                    (true, _) => format!(".. {}", range.hi),
                    (_, true) => format!("{} ..", range.lo),
                    _ => format!("{} .. {}", range.lo, range.hi),
                })
            }
            LatticeValue::Float(kinds) => Some(kinds.describe()),
            _ => None,
        }
    }
}

/// The interval of the result of an integer instruction, by its op and its constants alone; for
/// what the analysis is computed from. O(operands).
pub(crate) fn interval_by_op(f: &Function, v: Value) -> Interval {
    let known = transfer::transfer(f, v, |operand| known_of(f, &[], operand));
    known.interval().unwrap_or_else(|| Interval::of_type(f.ty(v)))
}

/// The facts of [`Ranges`] in one block.
#[derive(Clone, Copy, Debug)]
pub struct FactsAt<'a> {
    ranges: &'a Ranges,
    f: &'a Function,
    block: Block,
}

impl OperandFacts for FactsAt<'_> {
    fn int(&self, operand: Operand) -> Interval {
        self.ranges.interval_at(self.f, self.block, operand)
    }

    fn float(&self, operand: Operand) -> FloatKinds {
        self.ranges.at(self.f, self.block, operand).float(self.f)
    }

    fn in_bounds(&self, _: Value) -> bool {
        false
    }
}
