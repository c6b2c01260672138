//! Finds the places of a pattern's variables in what a rule is matched against.
//!
//! Backtracking over the nodes of classes and, for commutative ops, both orders of the arguments.
//! The number of matches is limited.

use regraft_ir::{Constant, Context, Op, Traits};
use smallvec::SmallVec;

use super::{Rule, Term};

/// Values that rules are matched against: classes of an e-graph, operands of a function.
pub(crate) trait Subject {
    /// A value.
    type Place: Copy + PartialEq;
    /// The arguments of a node.
    type Args<'a>: AsRef<[Self::Place]>
    where
        Self: 'a;

    /// Returns whether two values are known to be equal.
    fn same(&self, a: Self::Place, b: Self::Place) -> bool;
    /// Returns whether a value is a constant.
    fn is_constant(&self, place: Self::Place) -> bool;
    /// Returns whether a value is a literal of a rule, which takes the type of the value.
    fn is_literal(&self, place: Self::Place, literal: Constant) -> bool;
    /// The nodes that a value is the result of.
    fn node_count(&self, place: Self::Place) -> usize;
    /// The arguments of such a node, if it is of this op.
    fn args_of(&self, place: Self::Place, node: usize, op: Op) -> Option<Self::Args<'_>>;
}

/// The values that variables stand for, by their positions.
pub(crate) type Bindings<P> = SmallVec<[Option<P>; 4]>;

/// Finds at most `limit` ways to match a rule against a node with these arguments.
pub(crate) fn matches<S: Subject>(
    subject: &S,
    ctx: &Context,
    rule: &Rule,
    args: &[S::Place],
    limit: usize,
) -> SmallVec<[Bindings<S::Place>; 2]> {
    let Term::Op(op, operands, _) = rule.from() else { return SmallVec::new() };
    let bindings = smallvec::smallvec![None; rule.variables().len()];
    let goals = SmallVec::new();
    let mut matcher =
        Matcher { subject, ctx, rule, bindings, goals, found: SmallVec::new(), limit };
    matcher.node(operands, args, ctx.def(*op).traits.contains(Traits::COMMUTATIVE));
    matcher.found
}

struct Matcher<'a, S: Subject> {
    subject: &'a S,
    ctx: &'a Context,
    rule: &'a Rule,
    bindings: Bindings<S::Place>,
    /// The terms that are still to be matched, the next one last.
    goals: SmallVec<[(&'a Term, S::Place); 8]>,
    found: SmallVec<[Bindings<S::Place>; 2]>,
    limit: usize,
}

impl<'a, S: Subject> Matcher<'a, S> {
    /// Matches the operands of an op against arguments, in each order that there is.
    fn node(&mut self, operands: &'a [Term], args: &[S::Place], commutative: bool) {
        let len = self.goals.len();
        if operands.len() != args.len() {
            return;
        }
        let swapped = commutative && args.len() == 2 && args[0] != args[1];
        for order in 0..=usize::from(swapped) {
            let arg = |i: usize| if order == 0 { args[i] } else { args[1 - i] };
            for i in (0..operands.len()).rev() {
                self.goals.push((&operands[i], arg(i)));
            }
            self.run();
            self.goals.truncate(len);
            if self.found.len() >= self.limit {
                return;
            }
        }
    }

    /// Matches all goals; leaves them as they are.
    fn run(&mut self) {
        let Some((term, place)) = self.goals.pop() else {
            self.found.push(self.bindings.clone());
            return;
        };
        match term {
            Term::Variable(v) => match self.bindings[v.index()] {
                Some(bound) if self.subject.same(bound, place) => self.run(),
                Some(_) => {}
                None if self.rule.wants_constant(*v) && !self.subject.is_constant(place) => {}
                None => {
                    self.bindings[v.index()] = Some(place);
                    self.run();
                    self.bindings[v.index()] = None;
                }
            },
            Term::Literal(literal, _) => {
                if self.subject.is_literal(place, *literal) {
                    self.run();
                }
            }
            Term::Op(op, operands, _) => {
                let subject = self.subject;
                let commutative = self.ctx.def(*op).traits.contains(Traits::COMMUTATIVE);
                for node in 0..subject.node_count(place) {
                    if let Some(args) = subject.args_of(place, node, *op) {
                        self.node(operands, args.as_ref(), commutative);
                    }
                    if self.found.len() >= self.limit {
                        break;
                    }
                }
            }
        }
        self.goals.push((term, place));
    }
}
