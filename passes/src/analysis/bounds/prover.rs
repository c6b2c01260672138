//! The walk along what bounds a value.

use regraft_dialects::{arith, core};
use regraft_ir::{Block, Edge, Operand, Value, ValueDef};
use smallvec::SmallVec;

use super::super::interval::upper_bounds;
use super::super::ranges::{Relation, interval_by_op};
use super::shapes::Version;
use super::{Bounds, Check, Goal, Interval, Term};

/// The most steps for a question, and the greatest depth of questions that lead to each other.
const MAX_STEPS: usize = 300;
const MAX_DEPTH: usize = 40;

/// The most comparisons for one access.
pub(super) const MAX_CONDITIONS: usize = 4;

/// One question and what leads to it.
pub(super) struct Proof {
    above: Term,
    /// Values that are `above`.
    same: SmallVec<[Value; 4]>,
    steps: usize,
    depth: usize,
    /// Parameters that are being looked at, with what was asked of each: that it is at most
    /// `above` plus this.
    open: SmallVec<[(Value, i128); 4]>,
    /// Sizes that are being looked at.
    sizes: SmallVec<[Term; 4]>,
    /// The block before a loop at the end of which the rest may be asked.
    pub(super) preheader: Option<Block>,
    /// The conditions that have to hold there.
    pub(super) conditions: SmallVec<[Goal; 4]>,
}

impl Proof {
    pub(super) fn new(above: Term, same: SmallVec<[Value; 4]>) -> Self {
        let (open, sizes, conditions) = Default::default();
        Self { above, same, steps: 0, depth: 0, open, sizes, preheader: None, conditions }
    }
}

/// `term <= above + slack` is asked, and it is known that `term >= floor`.
#[derive(Clone, Copy)]
struct Step {
    term: Term,
    slack: i128,
    floor: i128,
    /// The instruction where it is asked: everything that dominates it is known.
    at: Value,
    /// The edge at whose end it is asked.
    edge: Option<Edge>,
}

impl Bounds<'_> {
    /// Returns whether a condition holds whenever `at` is about to run.
    pub(crate) fn holds(&mut self, goal: Goal, at: Value) -> bool {
        let Goal { below: (term, plus), above: (above, more) } = goal;
        let slack = more - plus;
        // What has been an index before is at least 1.
        if term == Term::Zero
            && let Term::Value(v) = above
            && self.checked_before(v, at).iter().any(|check| 1 - check.plus + slack >= 0)
        {
            return true;
        }
        let mut proof = Proof::new(above, self.same_as(above));
        if self.prove_goal(&mut proof, goal, at) {
            return true;
        }
        // `c <= x - y` asks for `y + c <= x`.
        match (term, above) {
            (Term::Zero, Term::Value(v)) => self.difference(v, at).is_some_and(|(x, y)| {
                let ((x, x_plus), (y, y_plus)) = (self.sum(x, at), self.sum(y, at));
                let goal = Goal { below: (y, y_plus), above: (x, x_plus + slack) };
                let mut proof = Proof::new(x, self.same_as(x));
                self.prove_goal(&mut proof, goal, at)
            }),
            _ => false,
        }
    }

    pub(super) fn prove_goal(&mut self, proof: &mut Proof, goal: Goal, at: Value) -> bool {
        let Goal { below: (term, plus), above: (_, more) } = goal;
        let floor = i128::from(self.interval(term, at).lo);
        self.prove(proof, Step { term, slack: more - plus, floor, at, edge: None })
    }

    /// Values that are known to be a term wherever they are there.
    pub(super) fn same_as(&mut self, term: Term) -> SmallVec<[Value; 4]> {
        let candidates: SmallVec<[Value; 8]> = match term {
            Term::Zero => return SmallVec::new(),
            Term::Value(v) => return SmallVec::from_slice(&[v]),
            Term::Size { array, .. } => {
                self.sizes.get(&array).map_or(&[][..], Vec::as_slice).iter().copied().collect()
            }
        };
        candidates.into_iter().filter(|&v| self.sum(v.into(), v) == (term, 0)).collect()
    }

    /// Returns what is known of a term at a point.
    pub(super) fn interval(&self, term: Term, at: Value) -> Interval {
        match term {
            Term::Zero => Interval::single(0),
            Term::Value(v) => self.range_in(self.f.block_of(at), v.into()),
            Term::Size { dim: 0, .. } => Interval::LENGTH,
            Term::Size { .. } => Interval::NATURAL,
        }
    }

    /// Returns what is known of an integer in a block. Where it is computed elsewhere, branches before that place say nothing.
    pub(super) fn range_in(&self, block: Block, operand: Operand) -> Interval {
        match operand.as_value() {
            Some(v) if !self.tree.dominates(self.f.block_of(v), block) => interval_by_op(self.f, v),
            _ => self.ranges.interval_at(self.f, block, operand),
        }
    }

    fn prove(&mut self, proof: &mut Proof, step: Step) -> bool {
        proof.steps += 1;
        if proof.steps > MAX_STEPS || proof.depth > MAX_DEPTH {
            return false;
        }
        proof.depth += 1;
        let count = proof.conditions.len();
        let proved = match proof.preheader {
            Some(preheader) if self.is_there(step.term, preheader) => {
                // Nothing is asked that is known.
                proof.preheader = None;
                let proved = self.is_bounded(proof, step);
                proof.preheader = Some(preheader);
                proved || self.ask(proof, step)
            }
            _ => self.is_bounded(proof, step),
        };
        proof.depth -= 1;
        if !proved {
            proof.conditions.truncate(count);
        }
        proved
    }

    /// Leaves it to the program to ask before the loop.
    fn ask(&self, proof: &mut Proof, step: Step) -> bool {
        let goal = Goal { below: (step.term, 0), above: (proof.above, step.slack) };
        if !proof.conditions.contains(&goal) {
            proof.conditions.push(goal);
        }
        proof.conditions.len() <= MAX_CONDITIONS
    }

    fn is_bounded(&mut self, proof: &mut Proof, step: Step) -> bool {
        let Step { term, slack, at, .. } = step;
        let above = proof.above;
        if term == above {
            return slack >= 0;
        }
        let below = self.interval(term, at);
        let bound = proof.same.iter().fold(self.interval(above, at), |bound, &v| {
            let known = match step.edge {
                // It is there: what is above a parameter dominates it, and sizes are never narrowed.
                Some(edge) => self.ranges.on_edge(self.f, edge, v).interval(),
                None => Some(self.range_in(self.f.block_of(at), v.into())),
            };
            known.and_then(|known| known.meet(bound)).unwrap_or(bound)
        });
        if i128::from(below.hi) <= i128::from(bound.lo) + slack {
            return true;
        }
        let Term::Value(v) = term else {
            return self.by_constant_checks(above, step) || self.by_equal_size(proof, step);
        };
        self.by_comparison(proof, v, step)
            || self.by_checks(proof, v, step)
            || self.by_definition(proof, v, step)
    }

    /// Returns whether a branch found that a size equals something that is bounded: two arrays have to agree before they
    /// are multiplied.
    fn by_equal_size(&mut self, proof: &mut Proof, step: Step) -> bool {
        if proof.sizes.contains(&step.term) {
            return false;
        }
        proof.sizes.push(step.term);
        let proved = self.same_as(step.term).into_iter().any(|size| {
            let orders = match self.tree.value_dominates(self.f, size, step.at) {
                true => self.orders(size, step),
                false => SmallVec::new(),
            };
            let mut equal = orders.into_iter().filter(|(said, _)| *said == Relation::Equal);
            equal.any(|(_, other)| self.step_to(proof, other.into(), 0, step))
        });
        proof.sizes.pop();
        proved
    }

    /// The comparisons of a value that branches have decided where a question is asked.
    fn orders(&self, v: Value, step: Step) -> SmallVec<[(Relation, Value); 8]> {
        let block = self.f.block_of(step.at);
        let mut orders: SmallVec<_> = self.ranges.orders(block, v).collect();
        if let Some(edge) = step.edge {
            orders.extend(super::Ranges::orders_on_edge(self.f, edge, v));
        }
        orders
    }

    /// The same question about an operand that bounds the term: `term <= operand + more`.
    fn step_to(&mut self, proof: &mut Proof, operand: Operand, more: i128, step: Step) -> bool {
        let (term, plus) = self.sum(operand, step.at);
        // term' + plus + more >= old term, so that term' >= floor - plus - more.
        let more = more + plus;
        let known = i128::from(self.interval(term, step.at).lo);
        let floor = known.max(step.floor - more);
        self.prove(proof, Step { term, slack: step.slack - more, floor, ..step })
    }

    /// Branches said that `v` is less than, or at most, something.
    fn by_comparison(&mut self, proof: &mut Proof, v: Value, step: Step) -> bool {
        self.orders(v, step).into_iter().any(|(relation, other)| {
            let more = match relation {
                Relation::Less => -1,
                Relation::AtMost | Relation::Equal => 0,
                Relation::Greater | Relation::AtLeast => return false,
            };
            self.step_to(proof, other.into(), more, step)
        })
    }

    /// An access before, with `v` and a constant as an index, did not fail.
    fn by_checks(&mut self, proof: &mut Proof, v: Value, step: Step) -> bool {
        self.checked_before(v, step.at).into_iter().any(|check| {
            let Some((term, plus)) = self.size(check.array, check.dim, check.access) else {
                return false;
            };
            let more = plus - check.plus;
            let known = i128::from(self.interval(term, step.at).lo);
            let floor = known.max(step.floor - more);
            self.prove(proof, Step { term, slack: step.slack - more, floor, ..step })
        })
    }

    fn checked_before(&self, v: Value, at: Value) -> SmallVec<[Check; 4]> {
        self.before(self.checks.get(&v), at)
    }

    /// An access before of the same array, with a constant as an index, did not fail.
    fn by_constant_checks(&mut self, above: Term, step: Step) -> bool {
        let (Term::Zero, Term::Size { array, .. }) = (step.term, above) else { return false };
        self.before(self.constant_checks.get(&array), step.at).into_iter().any(|check| {
            let size = self.size(check.array, check.dim, check.access);
            size.is_some_and(|(term, plus)| term == above && plus - check.plus <= step.slack)
        })
    }

    /// The checks that are done whenever `at` is about to run.
    fn before(&self, checks: Option<&Vec<Check>>, at: Value) -> SmallVec<[Check; 4]> {
        let checks = checks.map_or(&[][..], Vec::as_slice).iter().copied();
        checks
            .filter(|check| {
                check.access != at && self.tree.value_dominates(self.f, check.access, at)
            })
            .collect()
    }

    /// Returns what `v` is computed from.
    fn by_definition(&mut self, proof: &mut Proof, v: Value, step: Step) -> bool {
        let f = self.f;
        if let ValueDef::Param(block, position) = f.def(v) {
            let position = position as usize;
            return self.by_edges(proof, v, block, position, step)
                || self.by_start(proof, v, block, position, step);
        }
        let (Some(op), Some(x)) = (f.op(v), f.operand(v, 0)) else { return false };
        let block = f.block_of(step.at);
        if let Some((base, plus)) = self.peel(v, block) {
            return self.step_to(proof, base, plus, step);
        }
        let y = f.operand(v, 1);
        if let Some((negative, plus)) = self.negated(v, block) {
            return self.step_to(proof, negative, plus, step);
        }
        let range = |operand: Operand| self.range_in(block, operand);
        match (op, y) {
            (arith::MAX, Some(y)) => {
                // Where one side is below what is known of the maximum, it is the other.
                let needed = |side: Operand| i128::from(range(side).hi) >= step.floor;
                let (first, second) = (needed(x), needed(y));
                (!first || self.step_to(proof, x, 0, step))
                    && (!second || self.step_to(proof, y, 0, step))
            }
            (core::SELECT, Some(y)) => f.operand(v, 2).is_some_and(|z| {
                self.step_to(proof, y, 0, step) && self.step_to(proof, z, 0, step)
            }),
            (_, Some(y)) => upper_bounds(op, range(x), range(y), f.ty(v))
                .any(|(i, more)| self.step_to(proof, [x, y][i], more, step)),
            _ => false,
        }
    }

    /// Returns what the edges to its block pass for a parameter.
    fn by_edges(
        &mut self,
        proof: &mut Proof,
        v: Value,
        block: Block,
        position: usize,
        step: Step,
    ) -> bool {
        let f = self.f;
        if Some(block) == f.entry() || !self.stays(proof.above, block) {
            return false;
        }
        if let Some(&(_, slack)) = proof.open.iter().find(|(param, _)| *param == v) {
            return step.slack >= slack;
        }
        proof.open.push((v, step.slack));
        let mut proved = true;
        for edge in f.in_edges_in_order(block) {
            if !self.ranges.is_reached(edge.from) || !self.ranges.is_taken(edge) {
                continue;
            }
            proved =
                f.edge_arg(edge, position).is_some_and(|arg| self.arrives(proof, edge, arg, step));
            if !proved {
                break;
            }
        }
        proof.open.pop();
        proved
    }

    /// Returns what a parameter of a loop that never grows begins with: the same question of that
    /// keeps what is known of the parameter where it is asked, as that it is positive.
    fn by_start(
        &mut self,
        proof: &mut Proof,
        v: Value,
        block: Block,
        position: usize,
        step: Step,
    ) -> bool {
        let f = self.f;
        let mut start = None;
        for edge in f.in_edges_in_order(block) {
            let Some(arg) = f.edge_arg(edge, position) else { return false };
            if !self.tree.dominates(block, edge.from) {
                if start.replace(arg).is_some() {
                    return false;
                }
            } else if !matches!(self.sum(arg, Value::terminator(edge.from)), (Term::Value(x), ..=0) if x == v)
            {
                return false;
            }
        }
        start.is_some_and(|start| self.step_to(proof, start, 0, step))
    }

    fn arrives(&mut self, proof: &mut Proof, edge: Edge, arg: Operand, step: Step) -> bool {
        let at = Value::terminator(edge.from);
        // What the edge says is said of the argument itself, so that is asked before it is taken
        // apart.
        if let Some(v) = arg.as_value()
            && edge.position > 0
        {
            let floor = i128::from(self.interval(Term::Value(v), at).lo);
            let asked = Step { term: Term::Value(v), floor, at, edge: Some(edge), ..step };
            if self.by_comparison(proof, v, asked) {
                return true;
            }
        }
        let (term, plus) = self.sum(arg, at);
        let floor = i128::from(self.interval(term, at).lo);
        self.prove(proof, Step { term, slack: step.slack - plus, floor, at, edge: Some(edge) })
    }

    /// Returns whether a term is the same in all visits of a block that follow each other without
    /// it being computed anew.
    fn stays(&self, term: Term, block: Block) -> bool {
        let f = self.f;
        let before = |other: Block| self.tree.strictly_dominates(other, block);
        match term {
            Term::Zero => true,
            Term::Value(v) => before(f.block_of(v)),
            Term::Size { array, version, .. } => {
                before(f.block_of(array))
                    && match version {
                        Version::Start => true,
                        Version::Phi(other) => before(other),
                        Version::After(writer) => before(f.block_of(writer)),
                    }
            }
        }
    }
}
