//! Makes the nodes of an e-graph, and applies the rules to each once, when it is made.

use regraft_dialects::arith;
use regraft_ir::{Block, Const, Context, DominatorTree, Function, Op, Traits, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::forms::Algebra;
use super::graph::{Args, Bindings, Class, EGraph, Node, NodeId, Reason};
use crate::analysis::{FloatKinds, Latencies, LoopForest, LoopId};
use crate::rewrite::{
    Facts, FoldArg, Folded, Math, Rule, RuleIndex, Signature, Term, Variable, facts_of, fold,
    literal_as, matches, real_kinds,
};

/// The most ways in which one rule is matched against one node.
const MAX_MATCHES: usize = 5;
/// The most nodes of a class.
const MAX_NODES: usize = 5;
/// The nodes that a class may have besides where there are normal forms.
const MAX_FORMS: usize = 3;
/// The most nodes of a class that has alternatives.
const MAX_ALTERNATIVES: usize = 16;
/// The greatest depth to which rules are applied to what rules have made.
pub(super) const MAX_DEPTH: u32 = 5;
/// The most nodes that rules make for one instruction.
pub(super) const MAX_NEW_NODES: u32 = 40;
/// The most forms that are lowered for one instruction.
const MAX_LOWERED: u32 = 256;
/// The most blocks that are looked at for what is known of a class.
const MAX_NOTED: usize = 8;

/// The function that a graph is made of.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) f: &'a Function,
    pub(super) dom: &'a DominatorTree,
    pub(super) forest: &'a LoopForest,
    pub(super) rules: &'a RuleIndex,
    pub(super) math: Math,
}

/// A graph that grows, with the rules that it grows by.
pub(super) struct Builder<'a> {
    pub(super) graph: EGraph,
    pub(super) algebra: Algebra,
    pub(super) source: Source<'a>,
    pub(super) ctx: &'a Context,
    latencies: &'a Latencies,
    /// The costs of nodes: their latencies, eight times for each loop in which they change.
    pub(super) costs: Vec<u64>,
    /// The places where classes are known, by [`Class::index`].
    places: Vec<Place>,
    /// The blocks from which on classes are no zeros, as floats are real numbers and the program divides by them.
    nonzero: FxHashMap<Class, SmallVec<[Block; 2]>>,
    entry: Block,
    /// The block of the present instruction.
    block: Block,
    /// Values of the function, different from each other: they stand for arguments that are no
    /// constants where an instruction is folded, which asks no more of them.
    stand_ins: SmallVec<[Value; 4]>,
    /// The nodes that rules may still make for the present instruction.
    pub(super) fuel: u32,
    pub(super) depth: u32,
    /// The forms that may still be lowered for the present instruction.
    pub(super) forms_left: u32,
    /// The divisors of the sums that are being lowered whose reciprocals are factors.
    pub(super) inverted: Vec<Class>,
}

/// The place where the value of a class is known.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The innermost loop in which it changes.
    home: Option<LoopId>,
    /// The innermost block that defines something that one of its nodes is made of.
    block: Block,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: Source<'a>, entry: Block) -> Self {
        let ctx = &**source.f.ctx();
        Self {
            graph: EGraph::with_capacity(2 * source.f.inst_count()),
            algebra: Algebra::default(),
            source,
            ctx,
            latencies: ctx.extensions().get(),
            costs: Vec::new(),
            places: Vec::new(),
            nonzero: FxHashMap::default(),
            entry,
            block: entry,
            stand_ins: source.f.all_values().take(4).collect(),
            fuel: 0,
            depth: 0,
            forms_left: 0,
            inverted: Vec::new(),
        }
    }

    /// Notes that from `block` on a class is no zero.
    pub(super) fn note_nonzero(&mut self, class: Class, block: Block) {
        let is_constant = self.graph.class(class).constant.is_some();
        if !is_constant && self.nonzero_from(class, block).is_none() {
            self.nonzero.entry(class).or_default().push(block);
        }
    }

    /// The block from which on a class is known to be no zero, if `block` is within.
    fn nonzero_from(&self, class: Class, block: Block) -> Option<Block> {
        let noted = self.nonzero.get(&class).into_iter().flatten().rev().take(MAX_NOTED);
        noted.copied().find(|&from| self.source.dom.dominates(from, block))
    }

    /// A value that is only looked at.
    pub(super) fn leaf(&mut self, v: Value, mut facts: Facts) -> Class {
        if self.is_real() && facts.ty.is_float() {
            facts.kinds -= FloatKinds::INFINITE | FloatKinds::NAN;
        }
        let block = self.source.f.block_of(v);
        let place = Place { home: self.source.forest.loop_of(block), block };
        self.add(Node::Leaf(v), facts, None, place)
    }

    pub(super) fn constant(&mut self, id: Const) -> Class {
        let node = Node::Const(id);
        if let Some(class) = self.graph.find(&node) {
            return class;
        }
        let facts = Facts::of_constant(self.ctx.constant(id), self.ctx.constant_type(id));
        self.add(node, facts, None, Place { home: None, block: self.entry })
    }

    /// The instruction `v` of the program in `block`. A `pinned` one may not be computed anywhere
    /// else.
    pub(super) fn instruction(
        &mut self,
        v: Value,
        block: Block,
        op: Op,
        args: Args,
        pinned: bool,
    ) -> Class {
        self.fuel = MAX_NEW_NODES;
        self.depth = 0;
        self.forms_left = MAX_LOWERED;
        self.block = block;
        let class = self.op(op, self.source.f.ty(v), args, pinned.then_some(v));
        if self.is_real() && self.is_outermost(v, class) { self.simplest(class) } else { class }
    }

    /// An op that the program does not compute, without what rules find for it.
    pub(super) fn plain(&mut self, block: Block, op: Op, ty: Type, args: Args) -> Class {
        self.depth = MAX_DEPTH;
        self.forms_left = MAX_LOWERED;
        self.block = block;
        self.op(op, ty, args, None)
    }

    /// Makes a class of `class` and of others that are equal to it. Their nodes are found as they were
    /// before.
    pub(super) fn with_alternatives(&mut self, class: Class, others: &[Class]) -> Class {
        let is_constant = |class: &&Class| self.graph.class(**class).constant.is_some();
        if others.is_empty() || is_constant(&&class) {
            return class;
        }
        if let Some(&constant) = others.iter().find(is_constant) {
            return self.replace(class, constant, Reason::Saturation);
        }
        let others: Vec<(Class, Reason)> =
            others.iter().map(|&other| (other, Reason::Saturation)).collect();
        self.union_of(class, &others, MAX_ALTERNATIVES)
    }

    fn add(&mut self, node: Node, facts: Facts, pinned: Option<Value>, place: Place) -> Class {
        let cost = match &node {
            Node::Op(op, ty, _) => {
                let depth = place.home.map_or(0, |l| self.source.forest.get(l).depth);
                self.latencies.in_loops(*op, *ty, depth)
            }
            _ => 0,
        };
        self.costs.push(cost);
        self.places.push(place);
        let class = self.graph.add(node, facts, pinned);
        self.note_atom(class);
        class
    }

    /// Makes a class of the nodes of `class` and those of others that are equal to it.
    pub(super) fn union(&mut self, class: Class, others: &[(Class, Reason)]) -> Class {
        let limit = MAX_NODES + if self.is_real() { MAX_FORMS } else { 0 };
        self.union_of(class, others, limit)
    }

    /// As [`Builder::union`], of at most `limit` nodes.
    fn union_of(&mut self, class: Class, others: &[(Class, Reason)], limit: usize) -> Class {
        let new = self.graph.union(class, others, limit);
        let mut place = self.places[class.index()];
        for (other, _) in others {
            place.block = self.inner(place.block, self.places[other.index()].block);
        }
        self.places.push(place);
        self.note_union(new, class, others);
        new
    }

    /// Makes a class of the nodes of `other` alone, which is better than `class` and equal to it.
    fn replace(&mut self, class: Class, other: Class, reason: Reason) -> Class {
        let new = self.graph.replace(class, other, reason);
        let mut place = self.places[other.index()];
        if self.is_real() {
            // What is known of `class` may hold only from there on.
            place.block = self.inner(place.block, self.places[class.index()].block);
        }
        self.places.push(place);
        self.note_replaced(new, class, other);
        new
    }

    /// The inner one of two blocks that dominate the present one.
    fn inner(&self, a: Block, b: Block) -> Block {
        if self.source.dom.dominates(a, b) { b } else { a }
    }

    /// Returns whether all that the nodes of a class are made of is there at the present
    /// instruction.
    #[inline]
    pub(super) fn is_available(&self, class: Class) -> bool {
        self.source.dom.dominates(self.places[class.index()].block, self.block)
    }

    /// Returns whether all that the nodes of `class` are made of is there wherever `other` is.
    pub(super) fn is_within(&self, class: Class, other: Class) -> bool {
        let (block, other) = (self.places[class.index()].block, self.places[other.index()].block);
        self.source.dom.dominates(block, other)
    }

    /// The innermost loop around the present instruction in which one of these arguments changes.
    pub(super) fn home(&self, args: &[Class]) -> Option<LoopId> {
        let forest = self.source.forest;
        let mut home = None;
        for &arg in args {
            let mut varies = self.places[arg.index()].home;
            // A value of a loop that control has left does not change any more.
            while let Some(l) = varies.filter(|&l| !forest.contains(l, self.block)) {
                varies = forest.get(l).parent;
            }
            let depth = |l: Option<LoopId>| l.map_or(0, |l| forest.get(l).depth);
            if depth(varies) > depth(home) {
                home = varies;
            }
        }
        home
    }

    /// The class of an op on these arguments.
    pub(super) fn op(&mut self, op: Op, ty: Type, mut args: Args, pinned: Option<Value>) -> Class {
        if pinned.is_none()
            && let Some(class) = self.fold(op, ty, &args)
        {
            return class;
        }
        let same = args.len() == 2 && self.graph.same(args[0], args[1]);
        if self.ctx.def(op).traits.contains(Traits::COMMUTATIVE) && args.len() == 2 {
            args.sort_by_key(|&arg| (self.graph.class(arg).constant.is_some(), arg));
        }
        let node = Node::Op(op, ty, args);
        if let Some(class) = self.graph.find(&node).filter(|&class| self.is_available(class)) {
            return class;
        }
        let (known, from) = self.facts_of(op, ty, node.args(), same);
        let args: Args = node.args().into();
        let first = pinned.map_or(from, |_| self.block);
        let block = args.iter().map(|arg| self.places[arg.index()].block);
        let block = block.fold(first, |block, other| self.inner(block, other));
        let place = Place { home: self.home(&args), block };
        let form = self.form_of_op(op, ty, &args);
        let class = self.add(node, known, pinned, place);
        let equal = form.and_then(|form| self.note_form(class, ty, form));
        self.rewrite(op, ty, &args, class, equal)
    }

    /// The facts on an op on these arguments, which `same` says are one value, and the block from which on they are known.
    fn facts_of(&self, op: Op, ty: Type, args: &[Class], same: bool) -> (Facts, Block) {
        let (mut divisor, mut from) = (Facts::of_type(ty), self.entry);
        let mut of: SmallVec<[&Facts; 3]> =
            args.iter().map(|&arg| &self.graph.class(arg).facts).collect();
        let mut facts = facts_of(op, ty, &of, same);
        if !self.is_real() || !ty.is_float() {
            return (facts, self.entry);
        }
        if let (arith::FDIV, &[_, below]) = (op, args) {
            let may_be_zero = !of[1].kinds.never(FloatKinds::ZERO);
            if let Some(block) = self.nonzero_from(below, self.block).filter(|_| may_be_zero) {
                divisor.kinds = of[1].kinds - FloatKinds::ZERO;
                (of[1], from) = (&divisor, block);
            }
        }
        facts.kinds = real_kinds(op, &of, facts.kinds);
        (facts, from)
    }

    /// Applies the rules to the only node of a class; `equal` is another class of the same form.
    fn rewrite(
        &mut self,
        op: Op,
        ty: Type,
        args: &Args,
        class: Class,
        equal: Option<Class>,
    ) -> Class {
        let node = self.graph.class(class).nodes[0];
        let mut found: SmallVec<[(Class, Reason); 4]> = SmallVec::new();
        let best = match equal {
            Some(equal) if self.is_simple(equal) => Some((equal, Reason::Algebra)),
            _ => {
                found.extend(equal.map(|equal| (equal, Reason::Algebra)));
                self.apply_rules(op, ty, args, class, &mut found)
            }
        };
        let union = match best {
            Some((best, reason)) => self.replace(class, best, reason),
            None if found.is_empty() => return class,
            None => self.union(class, &found),
        };
        self.graph.set_class(node, union);
        union
    }

    /// Applies the rules to a node of this class. Returns what one comes to if there is nothing
    /// better, else adds what they come to to `found`.
    fn apply_rules(
        &mut self,
        op: Op,
        ty: Type,
        args: &Args,
        class: Class,
        found: &mut SmallVec<[(Class, Reason); 4]>,
    ) -> Option<(Class, Reason)> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let mut best = None;
        let rules = self.source.rules;
        let commute = self.ctx.def(op).traits.contains(Traits::COMMUTATIVE);
        let signatures: SmallVec<[Signature; 3]> =
            args.iter().map(|&arg| self.graph.class(arg).signature).collect();
        let same = args.len() > 1 && self.graph.same(args[0], args[1]);
        'rules: for number in rules.of_operands(op, ty, &signatures, same, commute) {
            let rule = rules.rule(number);
            for bindings in matches(&self.graph, self.ctx, rule, args, MAX_MATCHES) {
                let Some(other) = self.apply(rule, &bindings, ty) else { continue };
                // A choice may be of a wider type than what it chooses from.
                let fits = other != class && self.graph.class(other).facts.ty == ty;
                if !fits || found.iter().any(|(known, _)| *known == other) {
                    continue;
                }
                let reason = Reason::Rule(number, bindings);
                if self.is_simple(other) {
                    best = Some((other, reason));
                    break 'rules;
                }
                found.push((other, reason));
            }
        }
        self.depth -= 1;
        best
    }

    /// Returns whether nothing can be better than a class: it is a constant, or there already.
    fn is_simple(&self, class: Class) -> bool {
        let data = self.graph.class(class);
        let there = |node: &NodeId| matches!(self.graph.node(*node), Node::Leaf(_));
        data.constant.is_some() || data.nodes.iter().any(there)
    }

    /// The class of the right side of a rule where it matched, if its conditions hold.
    fn apply(&mut self, rule: &Rule, bindings: &Bindings, root: Type) -> Option<Class> {
        let facts = |class: Class| &self.graph.class(class).facts;
        if !rule.admits_facts(|v| bindings[v.index()].map(facts)) {
            return None;
        }
        self.term(rule.to(), bindings, root)
    }

    fn term(&mut self, term: &Term, bindings: &Bindings, root: Type) -> Option<Class> {
        let type_of = |this: &Self, v: Variable| {
            bindings[v.index()].map(|class| this.graph.class(class).facts.ty)
        };
        match term {
            Term::Variable(v) => bindings[v.index()],
            Term::Literal(literal, source) => {
                let ty = source.where_it_matches(root, |v| type_of(self, v))?;
                let constant = literal_as(*literal, ty)?;
                Some(self.constant(self.ctx.constant_id(constant)))
            }
            Term::Op(op, operands, source) => {
                let mut args = Args::new();
                for operand in operands {
                    args.push(self.term(operand, bindings, root)?);
                }
                let ty = source.where_it_matches(root, |v| type_of(self, v))?;
                self.fuel = self.fuel.checked_sub(1)?;
                // What may trap is computed where the program computes it, and nowhere else.
                if self.ctx.def(*op).traits.contains(Traits::MAY_TRAP)
                    && !self.is_in_domain(*op, &args)
                {
                    return self.existing(*op, ty, args);
                }
                Some(self.op(*op, ty, args, None))
            }
        }
    }

    /// Returns whether a function is known not to trap.
    pub(super) fn is_in_domain(&self, op: Op, args: &[Class]) -> bool {
        self.source.math.is_in_domain(op, |i| {
            args.get(i).map_or(FloatKinds::all(), |&arg| self.graph.class(arg).facts.kinds)
        })
    }

    /// The class of an op on these arguments if the program has computed it here, or if it is
    /// known.
    fn existing(&mut self, op: Op, ty: Type, args: Args) -> Option<Class> {
        if let Some(class) = self.fold(op, ty, &args) {
            return Some(class);
        }
        let class = self.graph.find(&Node::Op(op, ty, args))?;
        let is_here = |&node: &NodeId| match self.graph.pinned(node) {
            Some(v) => self.source.dom.dominates(self.source.f.block_of(v), self.block),
            None => true,
        };
        self.graph.class(class).nodes.iter().all(is_here).then_some(class)
    }

    /// The class of what an op on these arguments folds to.
    fn fold(&mut self, op: Op, ty: Type, args: &[Class]) -> Option<Class> {
        if let [a, b] = *args
            && [a, b].iter().all(|&arg| self.graph.class(arg).constant.is_none())
            && !self.graph.same(a, b)
        {
            return None;
        }
        let mut parts: SmallVec<[FoldArg; 4]> = SmallVec::new();
        for (i, &arg) in args.iter().enumerate() {
            let first = args[..i].iter().position(|&other| self.graph.same(other, arg));
            let data = self.graph.class(arg);
            let (ty, constant) = (data.facts.ty, data.constant);
            parts.push(FoldArg { ty, constant, first: first.unwrap_or(i) });
        }
        match fold(self.ctx, op, ty, &parts, &self.stand_ins)? {
            Folded::Arg(i) => Some(args[i]),
            Folded::Constant(constant) => Some(self.constant(constant)),
        }
    }
}
