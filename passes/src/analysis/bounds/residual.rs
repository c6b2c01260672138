//! The conditions to test before a loop so that an access in it is in bounds.
//!
//! The walk of the prover is stopped where both sides are the same in all iterations: what is left
//! to prove there is a comparison that the program can make once, before the loop.

use regraft_dialects::arith;
use regraft_ir::{Block, Operand, Type, Value, ValueDef};
use smallvec::SmallVec;

use super::super::interval::unwrapped;
use super::prover::Proof;
use super::shapes::Version;
use super::{Bounds, Goal, Interval, Term};

/// The source of a side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// It is there.
    Operand(Operand),
    /// It is a constant.
    Constant(i64),
    /// The number of elements of an array.
    Length(Value),
    /// The size of an array along a dimension.
    Size(Value, u8),
}

/// `left + left_plus <= right + right_plus`, where neither sum wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Comparison {
    pub(crate) left: (Source, i64),
    pub(crate) right: (Source, i64),
}

impl Bounds<'_> {
    /// Returns what has to hold at the end of `preheader` so that the indices of `access`, which is
    /// in the loop behind it, are in bounds in each iteration. `None` if that cannot be said.
    pub(crate) fn conditions(
        &mut self,
        access: Value,
        preheader: Block,
    ) -> Option<Vec<Comparison>> {
        let mut found = Vec::new();
        for goal in self.goals(access)? {
            if !self.holds(goal, access) {
                for condition in self.residual(goal, access, preheader)? {
                    found.push(self.comparison(condition, preheader)?);
                }
            }
        }
        Some(found)
    }

    fn residual(&mut self, goal: Goal, at: Value, preheader: Block) -> Option<Vec<Goal>> {
        if self.is_there(goal.below.0, preheader) && self.is_there(goal.above.0, preheader) {
            return Some(vec![goal]);
        }
        if goal.below.0 == Term::Zero {
            return self.residual_start(goal, preheader);
        }
        if !self.is_there(goal.above.0, preheader) {
            return None;
        }
        let mut proof = Proof::new(goal.above.0, self.same_as(goal.above.0));
        proof.preheader = Some(preheader);
        let proved = self.prove_goal(&mut proof, goal, at);
        proved.then(|| proof.conditions.to_vec())
    }

    /// A lower bound of a counter that counts up from a start is one of its start.
    fn residual_start(&mut self, goal: Goal, preheader: Block) -> Option<Vec<Goal>> {
        let f = self.f;
        let (Term::Value(counter), plus) = goal.above else { return None };
        let ValueDef::Param(header, position) = f.def(counter) else { return None };
        let mut start = None;
        for edge in f.in_edges_in_order(header) {
            let term = Value::terminator(edge.from);
            let arg = f.edge_arg(edge, position as usize)?;
            let (term, more) = self.sum(arg, term);
            if edge.from == preheader {
                start = Some((term, more));
            } else if term != Term::Value(counter) || more < 0 {
                return None;
            }
        }
        let (start, more) = start.filter(|&(start, _)| self.is_there(start, preheader))?;
        Some(vec![Goal { below: goal.below, above: (start, plus + more) }])
    }

    /// Returns whether a term can be had at the end of a block.
    pub(super) fn is_there(&mut self, term: Term, block: Block) -> bool {
        let f = self.f;
        match term {
            Term::Zero => true,
            Term::Value(v) => self.tree.dominates(f.block_of(v), block),
            Term::Size { array, version, .. } => {
                self.tree.dominates(f.block_of(array), block)
                    && self.shapes.version(array, Value::terminator(block)) == Some(version)
                    && self.version_stays(version, block)
            }
        }
    }

    /// Returns whether a version of a shape is there for good once a block is left, as far as loops
    /// behind it go that do not write it.
    fn version_stays(&self, version: Version, block: Block) -> bool {
        match version {
            Version::Start => true,
            Version::Phi(other) => self.tree.dominates(other, block),
            Version::After(writer) => self.tree.dominates(self.f.block_of(writer), block),
        }
    }

    fn comparison(&mut self, goal: Goal, block: Block) -> Option<Comparison> {
        let at = Value::terminator(block);
        let slack = goal.above.1 - goal.below.1;
        let constant = |x: i128| i64::try_from(x).ok().map(|x| (Source::Constant(x), 0));
        let (below, above) = (goal.below.0, goal.above.0);
        if below == Term::Zero {
            return Some(Comparison {
                left: constant(-slack)?,
                right: (self.source(above, at), 0),
            });
        }
        if above == Term::Zero {
            return Some(Comparison { left: (self.source(below, at), 0), right: constant(slack)? });
        }
        let small = i64::try_from(slack).ok()?;
        let fits = |range: Interval, plus: i64| {
            unwrapped(arith::ADD, range, Interval::single(plus), Type::I64).is_some()
        };
        let (left_plus, right_plus) = if small == 0 {
            (0, 0)
        } else if fits(self.interval(above, at), small) {
            (0, small)
        } else if fits(self.interval(below, at), small.checked_neg()?) {
            (-small, 0)
        } else {
            return None;
        };
        let (left, right) = (self.source(below, at), self.source(above, at));
        Some(Comparison { left: (left, left_plus), right: (right, right_plus) })
    }

    fn source(&mut self, term: Term, at: Value) -> Source {
        let there: SmallVec<[Value; 4]> = self.same_as(term);
        let there = there.into_iter().find(|&v| self.tree.value_dominates(self.f, v, at));
        match (there, term) {
            (Some(v), _) | (None, Term::Value(v)) => Source::Operand(v.into()),
            (None, Term::Zero) => Source::Constant(0),
            (None, Term::Size { array, dim: 0, .. }) => Source::Length(array),
            (None, Term::Size { array, dim, .. }) => Source::Size(array, dim),
        }
    }
}
