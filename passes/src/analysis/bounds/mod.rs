//! Proves that the indices of a load or store are in bounds, whatever happens.
//!
//! ```text
//! ^1:
//!   %2: i64 = mem.length %1
//!   br ^2(0)
//! ^2(%3: i64):
//!   %4: bool = arith.lt %3, %2
//!   br %4, ^3, ^4
//! ^3:
//!   %5: i64 = arith.add %3, 1
//!   %6: f64 = mem.load %1, %5      %5 is %3 + 1, %3 is less than the length, and not negative
//!   br ^2(%5)
//! ```
//!
//! # Method
//! Bodik, Gupta, Sarkar: "ABCD: eliminating array bounds checks on demand" (PLDI 2000). The
//! question `u <= v + c` is answered by walking back from `u` along what is known to bound it: what
//! it is computed from, the comparisons of the branches before, the checks of earlier accesses; at a
//! block parameter all that edges pass has to be bounded. A parameter that is asked for while it
//! is being answered is taken to hold if no more is asked of it than before, which is induction
//! over the visits of its block. Lower bounds, and that sums do not wrap, are left to
//! [`Ranges`]. A size of an array is the same value as long as nothing changes the shape, and
//! that of a new array is what it was made with.
//!
//! Two things go beyond that paper. A lower bound of a difference, `c <= x - y`, is asked as
//! `y + c <= x` (`x[n-i+1]`, ranges that go down). And a lower bound of `u` is carried along: where
//! `v` is a maximum of which one side is less, the other is meant (`2:length(x) - 1` ends at
//! `max(length(x) - 1, 1)`).
//!
//! # Why it is right
//! All comparisons are of mathematical integers; a sum is taken apart only where it cannot wrap.
//! Induction needs `v` to be the same in all visits of the block of the parameter: it is defined
//! in a block that strictly dominates that one, shapes included.
//!
//! # Cost
//! A bounded number of steps for each question.

mod prover;
mod residual;
mod shapes;
mod terms;

use regraft_dialects::{arith, mem};
use regraft_ir::{Constant, ControlFlow, DominatorTree, Function, Operand, TypeKind, Value};
use rustc_hash::FxHashMap;

use super::effects::EffectSummaries;
use super::memory_location::element_indices;
use super::traps::speculatable_given;
use super::{Aliases, CarriedSizes, Interval, Ranges};
pub(crate) use residual::{Comparison, Source};
use shapes::{Shapes, Version};

/// The most checks of one index that are remembered.
const MAX_CHECKS: usize = 8;

/// The most checks of constant indices of one array that are remembered.
const MAX_CONSTANT_CHECKS: usize = 32;

/// Something that a bound is a constant away from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    /// Nothing but the constant.
    Zero,
    /// An integer value.
    Value(Value),
    /// The size of an array along a dimension from 1, or (0) the number of all its elements.
    Size {
        /// The array.
        array: Value,
        /// The dimension.
        dim: u8,
        /// The state of its shape that is meant.
        version: Version,
    },
}

/// `term + plus`, as mathematical integers.
pub(crate) type Sum = (Term, i128);

/// Answers questions about the indices of one function, in one state of it.
#[derive(Debug)]
pub struct Bounds<'a> {
    f: &'a Function,
    ranges: &'a Ranges,
    tree: &'a DominatorTree,
    shapes: Shapes<'a>,
    carried: &'a CarriedSizes,
    /// Indices that are checked, by the value that they are a constant away from.
    checks: FxHashMap<Value, Vec<Check>>,
    /// Constant indices that are checked, by array.
    constant_checks: FxHashMap<Value, Vec<Check>>,
    /// The instructions that ask an array for its length or a size.
    sizes: FxHashMap<Value, Vec<Value>>,
}

/// An access that goes on only if a value, with a constant added, is an index of it.
#[derive(Clone, Copy, Debug)]
struct Check {
    plus: i128,
    access: Value,
    array: Value,
    /// As in [`Term::Size`].
    dim: u8,
}

/// A condition under which an index is in bounds: `below + plus <= above`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Goal {
    pub(crate) below: Sum,
    pub(crate) above: Sum,
}

impl<'a> Bounds<'a> {
    /// Prepares to answer. O(instructions + operands).
    pub fn new(
        f: &'a Function,
        cfg: &'a ControlFlow,
        tree: &'a DominatorTree,
        ranges: &'a Ranges,
        aliases: &'a Aliases,
        carried: &'a CarriedSizes,
        summaries: &EffectSummaries,
    ) -> Self {
        let shapes = Shapes::new(f, cfg, aliases, summaries);
        let (checks, constant_checks, sizes) = Default::default();
        let mut bounds = Self { f, ranges, tree, shapes, carried, checks, constant_checks, sizes };
        for &block in tree.order() {
            for v in f.body(block) {
                match f.op(v) {
                    Some(mem::LENGTH | mem::SIZE) => bounds.remember_size(v),
                    Some(mem::LOAD | mem::STORE) if !is_promised(f, v) => bounds.remember_check(v),
                    _ => {}
                }
            }
        }
        bounds
    }

    fn remember_size(&mut self, v: Value) {
        if let Some(array) = self.f.operand(v, 0).and_then(Operand::as_value) {
            let list = self.sizes.entry(array).or_default();
            if list.len() < MAX_CHECKS {
                list.push(v);
            }
        }
    }

    fn remember_check(&mut self, access: Value) {
        let f = self.f;
        let array = f.operand(access, 0).and_then(Operand::as_value);
        let (Some(array), Some(all)) = (array, element_indices(f, access)) else { return };
        let whole = all.len() == 1;
        for (i, index) in all.enumerate() {
            let (term, plus) = self.sum(index, access);
            let (list, most) = match term {
                Term::Value(v) => (self.checks.entry(v).or_default(), MAX_CHECKS),
                Term::Zero => (self.constant_checks.entry(array).or_default(), MAX_CONSTANT_CHECKS),
                Term::Size { .. } => continue,
            };
            let dim = if whole { 0 } else { i as u8 + 1 };
            if list.len() < most {
                list.push(Check { plus, access, array, dim });
            }
        }
    }

    /// Returns whether all indices of the load or store `v` are in bounds whenever it runs. `false`
    /// for anything else.
    pub fn in_bounds(&mut self, v: Value) -> bool {
        self.in_bounds_at(v, v)
    }

    /// Returns whether they would be if it ran just before `at`, where its operands have to be
    /// known.
    pub(crate) fn in_bounds_at(&mut self, v: Value, at: Value) -> bool {
        let Some(goals) = self.goals_at(v, at) else { return false };
        goals.into_iter().all(|goal| self.holds(goal, at))
    }

    /// Returns whether a load or an operation without effects would not trap if it ran just before `at`, where its operands have
    /// to be known.
    pub(crate) fn is_safe_at(&mut self, v: Value, at: Value) -> bool {
        match self.f.op(v) {
            Some(mem::LOAD) => self.in_bounds_at(v, at),
            _ => speculatable_given(self.f, v, &self.ranges.facts(self.f, self.f.block_of(at))),
        }
    }

    /// Returns what a comparison of two integers says whenever it runs: a bounds check that the
    /// program makes itself. `None` if that is not known, and for anything else.
    pub fn decide(&mut self, v: Value) -> Option<bool> {
        let f = self.f;
        let (x, y) = (f.operand(v, 0)?, f.operand(v, 1)?);
        let (less, more, strict) = match f.op(v)? {
            arith::LT => (x, y, true),
            arith::LE => (x, y, false),
            arith::GT => (y, x, true),
            arith::GE => (y, x, false),
            _ => return None,
        };
        if !f.operand_type(x).is_int() || f.operand_type(x) != f.operand_type(y) {
            return None;
        }
        if self.is_at_most(less, more, i128::from(strict), v) {
            return Some(true);
        }
        self.is_at_most(more, less, i128::from(!strict), v).then_some(false)
    }

    /// Returns whether a minimum or maximum of two integers is its first operand whenever it runs
    /// (`false`: the second). `None` if that is not known, and for anything else.
    pub fn first_wins(&mut self, v: Value) -> Option<bool> {
        let f = self.f;
        let (x, y) = (f.operand(v, 0)?, f.operand(v, 1)?);
        let (lesser, greater) = match f.op(v)? {
            arith::MIN => (x, y),
            arith::MAX => (y, x),
            _ => return None,
        };
        if [x, y].into_iter().any(|side| f.operand_type(side) != f.ty(v)) || !f.ty(v).is_int() {
            return None;
        }
        if self.is_at_most(lesser, greater, 0, v) {
            return Some(true);
        }
        self.is_at_most(greater, lesser, 0, v).then_some(false)
    }

    /// Returns whether `below + by <= above` whenever `at` is about to run.
    fn is_at_most(&mut self, below: Operand, above: Operand, by: i128, at: Value) -> bool {
        let ((below, plus), above) = (self.sum(below, at), self.sum(above, at));
        self.holds(Goal { below: (below, plus + by), above }, at)
    }

    /// Returns what has to hold for the indices of a load or store to be in bounds. `None` if that
    /// cannot be said.
    pub(crate) fn goals(&mut self, v: Value) -> Option<Vec<Goal>> {
        self.goals_at(v, v)
    }

    fn goals_at(&mut self, v: Value, at: Value) -> Option<Vec<Goal>> {
        let f = self.f;
        let array = f.operand(v, 0)?.as_value()?;
        let TypeKind::Array { rank, .. } = *f.ctx().kind(f.ty(array)) else { return None };
        let indices: Vec<Operand> = element_indices(f, v)?.collect();
        let whole = indices.len() == 1;
        if !whole && indices.len() != usize::from(rank) || f.checks_operands(v) {
            return None;
        }
        let mut goals = Vec::new();
        for (i, index) in indices.into_iter().enumerate() {
            let dim = if whole { 0 } else { i as u8 + 1 };
            let size = self.plain_size(array, dim, at)?;
            let index = self.sum(index, at);
            goals.push(Goal { below: (Term::Zero, 1), above: index });
            goals.push(Goal { below: index, above: size });
        }
        Some(goals)
    }

    /// The size of an array, of which constants are taken off.
    fn plain_size(&mut self, array: Value, dim: u8, at: Value) -> Option<Sum> {
        Some(match self.size(array, dim, at)? {
            (Term::Value(size), plus) => {
                let (term, more) = self.sum(size.into(), at);
                (term, plus + more)
            }
            size => size,
        })
    }

    /// Returns whether the size of an array along a dimension (0: the number of its elements) is at most
    /// `most + plus` whenever `at` is about to run.
    pub(crate) fn is_within(
        &mut self,
        array: Value,
        dim: u8,
        most: Operand,
        plus: i128,
        at: Value,
    ) -> bool {
        let Some(below) = self.plain_size(array, dim, at) else { return false };
        // What is at most one side is at most the greater one.
        let mut sides = vec![most];
        if let Some(v) = most.as_value().filter(|&v| self.f.op(v) == Some(arith::MAX)) {
            sides.extend(self.f.operands(v));
        }
        sides.into_iter().any(|side| {
            let (term, more) = self.sum(side, at);
            self.holds(Goal { below, above: (term, more + plus) }, at)
        })
    }
}

/// Returns whether the program says that the indices of a load or store are in bounds.
pub(crate) fn is_promised(f: &Function, v: Value) -> bool {
    f.attr(v, "inbounds") == Some(Constant::Bool(true))
}
