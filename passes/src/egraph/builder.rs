//! Makes the nodes of an e-graph, and applies the rules to each once, when it is made.

use regraft_ir::{
    Block, Const, Context, DominatorTree, Fold, Function, InstView, Op, Operand, Traits, Type,
    Value,
};
use smallvec::SmallVec;

use super::facts::facts_of;
use super::graph::{Args, Class, EGraph, Node, NodeId};
use super::matcher::{Bindings, matches};
use crate::analysis::traps::is_in_domain;
use crate::analysis::{FloatKinds, Latencies, LoopForest, LoopId};
use crate::rewrite::{Facts, Math, Rule, RuleIndex, Term, TypeSource, literal_as};

/// The most ways in which one rule is matched against one node.
const MAX_MATCHES: usize = 5;
/// The most nodes of a class.
const MAX_NODES: usize = 5;
/// The greatest depth to which rules are applied to what rules have made.
const MAX_DEPTH: u32 = 5;
/// The most nodes that rules make for one instruction.
const MAX_NEW_NODES: u32 = 40;

/// The greatest loop depth that costs are told apart by.
const MAX_LOOP_DEPTH: u32 = 8;

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
    source: Source<'a>,
    ctx: &'a Context,
    latencies: &'a Latencies,
    /// The costs of nodes: their latencies, eight times for each loop in which they change.
    pub(super) costs: Vec<u64>,
    /// The innermost loop in which the value of a class changes, by [`Class::index`].
    homes: Vec<Option<LoopId>>,
    /// The block of the present instruction.
    block: Block,
    /// Values of the function, different from each other: they stand for arguments that are no
    /// constants where an instruction is folded, which asks no more of them.
    stand_ins: SmallVec<[Value; 4]>,
    /// The nodes that rules may still make for the present instruction.
    fuel: u32,
    depth: u32,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: Source<'a>, entry: Block) -> Self {
        let ctx = &**source.f.ctx();
        Self {
            graph: EGraph::default(),
            source,
            ctx,
            latencies: ctx.extensions().get(),
            costs: Vec::new(),
            homes: Vec::new(),
            block: entry,
            stand_ins: source.f.all_values().take(4).collect(),
            fuel: 0,
            depth: 0,
        }
    }

    /// A value that is only looked at.
    pub(super) fn leaf(&mut self, v: Value, facts: Facts) -> Class {
        let home = self.source.forest.loop_of(self.source.f.block_of(v));
        self.add(Node::Leaf(v), facts, None, home)
    }

    pub(super) fn constant(&mut self, id: Const) -> Class {
        let node = Node::Const(id);
        if let Some(class) = self.graph.find(&node) {
            return class;
        }
        let facts = Facts::of_constant(self.ctx.constant(id), self.ctx.constant_type(id));
        self.add(node, facts, None, None)
    }

    /// An instruction of the program in `block`. `pinned` is the instruction if it may not be
    /// computed anywhere else.
    pub(super) fn instruction(
        &mut self,
        block: Block,
        op: Op,
        ty: Type,
        args: Args,
        pinned: Option<Value>,
    ) -> Class {
        self.fuel = MAX_NEW_NODES;
        self.depth = 0;
        self.block = block;
        self.op(op, ty, args, pinned)
    }

    fn add(
        &mut self,
        node: Node,
        facts: Facts,
        pinned: Option<Value>,
        home: Option<LoopId>,
    ) -> Class {
        let cost = match &node {
            Node::Op(op, ty, _) => {
                let depth = home.map_or(0, |l| self.source.forest.get(l).depth);
                u64::from(self.latencies.of(*op, *ty)) << (3 * depth.min(MAX_LOOP_DEPTH))
            }
            _ => 0,
        };
        self.costs.push(cost);
        self.homes.push(home);
        self.graph.add(node, facts, pinned)
    }

    /// The innermost loop around the present instruction in which one of these arguments changes.
    fn home(&self, args: &[Class]) -> Option<LoopId> {
        let forest = self.source.forest;
        let mut home = None;
        for &arg in args {
            let mut varies = self.homes[arg.index()];
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
    fn op(&mut self, op: Op, ty: Type, mut args: Args, pinned: Option<Value>) -> Class {
        if pinned.is_none()
            && let Some(class) = self.fold(op, ty, &args)
        {
            return class;
        }
        let same = args.len() == 2 && self.graph.same(args[0], args[1]);
        if self.ctx.def(op).traits.contains(Traits::COMMUTATIVE)
            && let [x, y] = args.as_mut_slice()
            && *x > *y
        {
            std::mem::swap(x, y);
        }
        let node = Node::Op(op, ty, args);
        if let Some(class) = self.graph.find(&node) {
            return class;
        }
        let facts: SmallVec<[Facts; 3]> =
            node.args().iter().map(|&arg| self.graph.class(arg).facts).collect();
        let facts = facts_of(op, ty, &facts, same);
        let args: Args = node.args().into();
        let home = self.home(&args);
        let class = self.add(node, facts, pinned, home);
        if self.depth < MAX_DEPTH { self.rewrite(op, ty, &args, class) } else { class }
    }

    /// Applies the rules to the only node of a class.
    fn rewrite(&mut self, op: Op, ty: Type, args: &Args, class: Class) -> Class {
        let rules = self.source.rules;
        let node = self.graph.class(class).nodes[0];
        let mut found: SmallVec<[Class; 4]> = SmallVec::new();
        let mut best = None;
        self.depth += 1;
        'rules: for &number in rules.of(op) {
            let rule = rules.rule(number);
            if !rule.admits_root(ty) {
                continue;
            }
            for bindings in matches(&self.graph, self.ctx, rule, args, MAX_MATCHES) {
                let Some(other) = self.apply(rule, &bindings, ty) else { continue };
                if other == class {
                    continue;
                }
                if self.is_best(other, rule) {
                    best = Some(other);
                    break 'rules;
                }
                if !found.contains(&other) {
                    found.push(other);
                }
            }
        }
        self.depth -= 1;
        let union = match best {
            Some(best) => self.graph.replace(class, best),
            None if found.is_empty() => return class,
            None => self.graph.union(class, &found, MAX_NODES),
        };
        self.homes.push(self.homes[class.index()]);
        self.graph.set_class(node, union);
        union
    }

    /// Returns whether a rule has come to a constant or to a part of what it matched: there is nothing
    /// better.
    fn is_best(&self, class: Class, rule: &Rule) -> bool {
        matches!(rule.to(), Term::Variable(_)) || self.graph.class(class).constant.is_some()
    }

    /// The class of the right side of a rule where it matched, if its conditions hold.
    fn apply(&mut self, rule: &Rule, bindings: &Bindings, root: Type) -> Option<Class> {
        for (variable, _) in rule.variables() {
            let facts = &self.graph.class(bindings[variable.index()]?).facts;
            if !rule.admits(variable, facts.ty) {
                return None;
            }
        }
        for condition in rule.conditions() {
            let class = bindings[condition.variable.index()]?;
            if !condition.holds(&self.graph.class(class).facts) {
                return None;
            }
        }
        self.term(rule.to(), bindings, root)
    }

    fn term(&mut self, term: &Term, bindings: &Bindings, root: Type) -> Option<Class> {
        let ty = |this: &Self, source: TypeSource| match source {
            TypeSource::Is(ty) => Some(ty),
            TypeSource::Of(v) => Some(this.graph.class(bindings[v.index()]?).facts.ty),
            TypeSource::Root => Some(root),
        };
        match term {
            Term::Variable(v) => bindings[v.index()],
            Term::Literal(literal, source) => {
                let constant = literal_as(*literal, ty(self, *source)?)?;
                Some(self.constant(self.ctx.constant_id(constant)))
            }
            Term::Op(op, operands, source) => {
                let mut args = Args::new();
                for operand in operands {
                    args.push(self.term(operand, bindings, root)?);
                }
                let ty = ty(self, *source)?;
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

    /// Returns whether a function is known not to trap. Real numbers are not infinite.
    pub(super) fn is_in_domain(&self, op: Op, args: &[Class]) -> bool {
        let unreal = match self.source.math {
            Math::Fast => FloatKinds::INFINITE,
            _ => FloatKinds::empty(),
        };
        is_in_domain(op, |i| {
            args.get(i).map_or(FloatKinds::all(), |&arg| self.graph.class(arg).facts.kinds) - unreal
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
        let def = self.ctx.def(op);
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        let mut types: SmallVec<[Type; 4]> = SmallVec::new();
        let (mut constants, mut repeated) = (0, false);
        for (i, &arg) in args.iter().enumerate() {
            let data = self.graph.class(arg);
            types.push(data.facts.ty);
            let first = args[..i].iter().position(|&other| self.graph.same(other, arg));
            repeated |= first.is_some();
            constants += usize::from(data.constant.is_some());
            operands.push(match (data.constant, first) {
                (Some(constant), _) => constant.into(),
                (None, Some(first)) => operands[first],
                (None, None) => (*self.stand_ins.get(i)?).into(),
            });
        }
        if constants == 0 && !repeated && args.len() > 1 {
            return None;
        }
        let view = InstView {
            ctx: self.ctx,
            def,
            operands: &operands,
            types: &types,
            attrs: regraft_ir::Attrs::NONE,
            ty,
        };
        match (def.fold?)(&view)? {
            Fold::Operand(i) => (types[i] == ty).then(|| args[i]),
            Fold::Constant(constant) => {
                let id = self.ctx.constant_id(constant);
                (self.ctx.constant_type(id) == ty).then(|| self.constant(id))
            }
        }
    }
}
