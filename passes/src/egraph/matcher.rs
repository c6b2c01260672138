//! Finds the places of a pattern's variables in an e-graph.
//!
//! Backtracking over the nodes of classes and, for commutative ops, both orders of the arguments.
//! The number of matches is limited.

use regraft_ir::{Context, Traits};
use smallvec::SmallVec;

use super::graph::{Args, Bindings, Class, EGraph, Node};
use crate::rewrite::{Rule, Term, literal_as};

/// Finds at most `limit` ways to match a rule against a node with these arguments.
pub(super) fn matches(
    graph: &EGraph,
    ctx: &Context,
    rule: &Rule,
    args: &Args,
    limit: usize,
) -> SmallVec<[Bindings; 2]> {
    let Term::Op(op, operands, _) = rule.from() else { return SmallVec::new() };
    let bindings = smallvec::smallvec![None; rule.variables().len()];
    let goals = SmallVec::new();
    let mut matcher = Matcher { graph, ctx, bindings, goals, found: SmallVec::new(), limit };
    matcher.node(operands, args, ctx.def(*op).traits.contains(Traits::COMMUTATIVE));
    matcher.found
}

struct Matcher<'a> {
    graph: &'a EGraph,
    ctx: &'a Context,
    bindings: Bindings,
    /// The terms that are still to be matched, the next one last.
    goals: SmallVec<[(&'a Term, Class); 8]>,
    found: SmallVec<[Bindings; 2]>,
    limit: usize,
}

impl<'a> Matcher<'a> {
    /// Matches the operands of an op against arguments, in each order that there is.
    fn node(&mut self, operands: &'a [Term], args: &Args, commutative: bool) {
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
        let Some((term, class)) = self.goals.pop() else {
            self.found.push(self.bindings.clone());
            return;
        };
        match term {
            Term::Variable(v) => match self.bindings[v.index()] {
                Some(bound) if self.graph.same(bound, class) => self.run(),
                Some(_) => {}
                None => {
                    self.bindings[v.index()] = Some(class);
                    self.run();
                    self.bindings[v.index()] = None;
                }
            },
            Term::Literal(literal, _) => {
                let data = self.graph.class(class);
                let equals = |constant| {
                    literal_as(*literal, data.facts.ty) == Some(self.ctx.constant(constant))
                };
                if data.constant.is_some_and(equals) {
                    self.run();
                }
            }
            Term::Op(op, operands, _) => {
                let graph = self.graph;
                let commutative = self.ctx.def(*op).traits.contains(Traits::COMMUTATIVE);
                for &node in &graph.class(class).nodes {
                    if let Node::Op(other, _, args) = graph.node(node)
                        && other == op
                    {
                        self.node(operands, args, commutative);
                    }
                    if self.found.len() >= self.limit {
                        break;
                    }
                }
            }
        }
        self.goals.push((term, class));
    }
}
