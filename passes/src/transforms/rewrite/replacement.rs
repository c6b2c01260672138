//! The right side of a rule where it matched: what would be made, and what that saves.

use regraft_ir::{Function, Op, Operand, Traits, Type, Value};
use smallvec::SmallVec;

use super::known::{Cost, Known};
use crate::rewrite::{
    Bindings, Facts, FoldArg, Folded, Rule, Term, Variable, facts_of, fold, is_term, literal_as,
};

/// The most instructions that are looked at to see what is used no more.
const MAX_UNUSED: usize = 64;

/// A value of a replacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// An operand that is there.
    Operand(Operand),
    /// The result of a node of the replacement, by its position.
    New(usize),
}

/// An instruction to be made.
#[derive(Clone, Debug)]
pub(super) struct NewNode {
    pub(super) op: Op,
    pub(super) ty: Type,
    pub(super) args: SmallVec<[Place; 3]>,
    pub(super) facts: Facts,
}

/// The replacement of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// The instructions to be made, arguments first.
    pub(super) nodes: Vec<NewNode>,
    pub(super) result: Place,
    pub(super) cost: Cost,
    /// Tells whether it leaves the cost of the program as it is.
    pub(super) ties: bool,
}

/// The right side of a rule that has matched `v`, if its conditions hold.
pub(super) fn replacement(
    known: &Known,
    f: &Function,
    v: Value,
    rule: &Rule,
    bindings: &Bindings<Operand>,
) -> Option<Replacement> {
    let facts: SmallVec<[Option<Facts>; 4]> =
        bindings.iter().map(|bound| bound.map(|operand| known.facts(f, operand))).collect();
    if !rule.admits_facts(|variable| facts[variable.index()].as_ref()) {
        return None;
    }
    let matched = matched(f, v, rule.from().depth());
    let mut planner = Planner { known, f, v, bindings, matched, nodes: Vec::new() };
    let result = planner.term(rule.to())?;
    if planner.facts(result).ty != f.ty(v) || result == Place::Operand(v.into()) {
        return None;
    }
    Some(planner.finish(result))
}

/// The values that a pattern of this depth reaches from `v`.
fn matched(f: &Function, v: Value, depth: usize) -> SmallVec<[Value; 8]> {
    let mut found: SmallVec<[Value; 8]> = smallvec::smallvec![v];
    let mut level = 0;
    for _ in 1..depth {
        let end = found.len();
        for i in std::mem::replace(&mut level, end)..end {
            for u in f.operands(found[i]).filter_map(Operand::as_value) {
                if is_term(f, u) && !found.contains(&u) {
                    found.push(u);
                }
            }
        }
    }
    found.remove(0);
    found
}

struct Planner<'a> {
    known: &'a Known,
    f: &'a Function,
    v: Value,
    bindings: &'a Bindings<Operand>,
    /// Values that dominate `v`, which need not be computed again.
    matched: SmallVec<[Value; 8]>,
    nodes: Vec<NewNode>,
}

impl Planner<'_> {
    fn facts(&self, place: Place) -> Facts {
        match place {
            Place::Operand(operand) => self.known.facts(self.f, operand),
            Place::New(i) => self.nodes[i].facts,
        }
    }

    fn term(&mut self, term: &Term) -> Option<Place> {
        let root = self.f.ty(self.v);
        let type_of = |v: Variable| self.bindings[v.index()].map(|u| self.f.operand_type(u));
        match term {
            Term::Variable(v) => self.bindings[v.index()].map(Place::Operand),
            Term::Literal(literal, source) => {
                let constant = literal_as(*literal, source.where_it_matches(root, type_of)?)?;
                Some(Place::Operand(self.known.ctx.constant_id(constant).into()))
            }
            Term::Op(op, operands, source) => {
                let ty = source.where_it_matches(root, type_of)?;
                let args = operands.iter().map(|operand| self.term(operand));
                let args = args.collect::<Option<SmallVec<[Place; 3]>>>()?;
                self.op(*op, ty, args)
            }
        }
    }

    /// An op on these arguments: what it folds to, one that is there, or a new one.
    fn op(&mut self, op: Op, ty: Type, args: SmallVec<[Place; 3]>) -> Option<Place> {
        if let Some(folded) = self.fold(op, ty, &args) {
            return Some(folded);
        }
        if let Some(there) = self.there(op, ty, &args) {
            return Some(there);
        }
        let facts: SmallVec<[Facts; 3]> = args.iter().map(|&arg| self.facts(arg)).collect();
        if self.known.ctx.def(op).traits.contains(Traits::MAY_TRAP)
            && !self.known.is_in_domain(op, &facts)
        {
            return None;
        }
        let same = args.len() == 2 && args[0] == args[1];
        let facts = facts_of(op, ty, &facts, same);
        self.nodes.push(NewNode { op, ty, args, facts });
        Some(Place::New(self.nodes.len() - 1))
    }

    fn fold(&self, op: Op, ty: Type, args: &[Place]) -> Option<Place> {
        let mut parts: SmallVec<[FoldArg; 4]> = SmallVec::new();
        for (i, &arg) in args.iter().enumerate() {
            let first = args.iter().position(|&other| other == arg).unwrap_or(i);
            let constant = match arg {
                Place::Operand(operand) => operand.as_const(),
                Place::New(_) => None,
            };
            parts.push(FoldArg { ty: self.facts(arg).ty, constant, first });
        }
        match fold(&self.known.ctx, op, ty, &parts, &self.known.stand_ins)? {
            Folded::Arg(i) => Some(args[i]),
            Folded::Constant(constant) => Some(Place::Operand(constant.into())),
        }
    }

    /// The result of an op on these arguments that the program computes, or that is planned.
    fn there(&self, op: Op, ty: Type, args: &[Place]) -> Option<Place> {
        let commutative = self.known.ctx.def(op).traits.contains(Traits::COMMUTATIVE);
        let equal = |have: &[Place]| {
            have == args
                || commutative && matches!((have, args), ([a, b], [c, d]) if a == d && b == c)
        };
        let is_it = |&&v: &&Value| {
            let have: SmallVec<[Place; 4]> = self.f.operands(v).map(Place::Operand).collect();
            self.f.op(v) == Some(op) && self.f.ty(v) == ty && equal(&have)
        };
        let there = self.matched.iter().find(is_it).map(|&v| Place::Operand(v.into()));
        let planned = |node: &NewNode| node.op == op && node.ty == ty && equal(&node.args);
        there.or_else(|| self.nodes.iter().position(planned).map(Place::New))
    }

    /// The nodes that the result needs, and what they cost.
    fn finish(self, result: Place) -> Replacement {
        let mut needed = vec![false; self.nodes.len()];
        if let Place::New(i) = result {
            needed[i] = true;
        }
        for i in (0..self.nodes.len()).rev() {
            if needed[i] {
                for arg in &self.nodes[i].args {
                    if let Place::New(arg) = *arg {
                        needed[arg] = true;
                    }
                }
            }
        }
        let mut cost = Cost::default();
        let mut positions = vec![0; self.nodes.len()];
        let mut nodes: Vec<NewNode> = Vec::new();
        let renumber = |place: Place, positions: &[usize]| match place {
            Place::New(i) => Place::New(positions[i]),
            there => there,
        };
        for (i, mut node) in self.nodes.into_iter().enumerate().filter(|&(i, _)| needed[i]) {
            node.args.iter_mut().for_each(|arg| *arg = renumber(*arg, &positions));
            cost = cost + self.known.cost(self.f, node.op, node.ty, self.v);
            positions[i] = nodes.len();
            nodes.push(node);
        }
        Replacement { nodes, result: renumber(result, &positions), cost, ties: false }
    }
}

/// The cost of what goes if `v` is replaced: `v`, and what only it needs.
pub(super) fn saved(known: &Known, f: &Function, v: Value, made: &Replacement) -> Cost {
    let args = made.nodes.iter().flat_map(|node| node.args.iter().copied());
    let kept: SmallVec<[Place; 8]> = args.chain([made.result]).collect();
    let mut cost = Cost::default();
    // The uses of values that go.
    let mut counts: Vec<(Value, usize)> = Vec::new();
    let mut unused = vec![v];
    let mut left = MAX_UNUSED;
    while let Some(v) = unused.pop().filter(|_| left > 0) {
        left -= 1;
        if let Some(op) = f.op(v) {
            cost = cost + known.cost(f, op, f.ty(v), v);
        }
        for u in f.operands(v).filter_map(Operand::as_value) {
            if kept.contains(&Place::Operand(u.into())) || !known.is_removable(f, u) {
                continue;
            }
            let at = counts.iter().position(|&(other, _)| other == u);
            let at = at.unwrap_or_else(|| {
                counts.push((u, 0));
                counts.len() - 1
            });
            counts[at].1 += 1;
            if f.uses(u).take(counts[at].1 + 1).count() == counts[at].1 {
                unused.push(u);
            }
        }
    }
    cost
}
