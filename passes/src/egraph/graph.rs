//! The acyclic e-graph: nodes, and classes of nodes that have the same value.
//!
//! A class is never changed once something refers to it. Where a rule finds another node for a
//! value, a new class is made of both; what is made from then on refers to that one. So arguments
//! always have smaller numbers than what they are arguments of, and there are no cycles.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use regraft_ir::{Const, Constant, Op, Type, Value};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::rewrite::{self, Facts, Signature, Subject, literal_as};

/// A class of nodes that have the same value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Class(u32);

impl Class {
    #[cfg(test)]
    pub(super) fn from_index(index: u32) -> Self {
        Self(index)
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct NodeId(u32);

impl NodeId {
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

pub(super) type Args = SmallVec<[Class; 3]>;

/// The classes that variables of a rule stand for, by their positions.
pub(super) type Bindings = rewrite::Bindings<Class>;

/// The reason why two classes are equal.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    /// A rule, by its number.
    Rule(u32, Bindings),
    /// They are the same sum or product.
    Algebra,
    /// Equality saturation has found them to be equal.
    Saturation,
}

/// A class whose nodes another one has got.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The class that was made of both.
    joined: Class,
    from: Class,
    pub(super) to: Class,
    pub(super) reason: Reason,
}

/// The content of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// A value that is only looked at: a parameter, a load, the result of an effect.
    Leaf(Value),
    /// A constant.
    Const(Const),
    /// A pure op. The arguments of a commutative one are sorted, constants last.
    Op(Op, Type, Args),
}

impl Node {
    #[inline]
    pub(super) fn args(&self) -> &[Class] {
        match self {
            Self::Op(_, _, args) => args,
            _ => &[],
        }
    }
}

fn hash(node: &Node) -> u64 {
    FxBuildHasher.hash_one(node)
}

/// The content of a class.
#[derive(Clone, Debug)]
pub(super) struct ClassData {
    pub(super) nodes: SmallVec<[NodeId; 4]>,
    pub(super) constant: Option<Const>,
    pub(super) facts: Facts,
    pub(super) signature: Signature,
    /// The class that stands for all that are known to be equal to it (union-find).
    leader: Class,
}

/// The nodes and classes of one function.
#[derive(Debug, Default)]
pub(super) struct EGraph {
    nodes: Vec<Node>,
    /// The instruction that a node stands for, if it may not be computed anywhere else: it may trap.
    pinned: Vec<Option<Value>>,
    classes: Vec<ClassData>,
    /// By [`NodeId::index`], the class that [`EGraph::find`] gives for a node.
    class_of: Vec<Class>,
    /// The last node of each content.
    known: HashTable<NodeId>,
    /// By the numbers of the classes that they made.
    steps: Vec<Step>,
    /// Two unequal constants have met: some rule is wrong.
    contradiction: bool,
}

impl EGraph {
    /// A graph that can take so many nodes before it grows.
    pub(super) fn with_capacity(nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            pinned: Vec::with_capacity(nodes),
            classes: Vec::with_capacity(nodes),
            class_of: Vec::with_capacity(nodes),
            known: HashTable::with_capacity(nodes),
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    #[inline]
    pub(super) fn pinned(&self, id: NodeId) -> Option<Value> {
        self.pinned[id.index()]
    }

    #[inline]
    pub(super) fn class(&self, class: Class) -> &ClassData {
        &self.classes[class.index()]
    }

    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn class_count(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn is_contradictory(&self) -> bool {
        self.contradiction
    }

    #[inline]
    pub(super) fn find(&self, node: &Node) -> Option<Class> {
        let id = self.known.find(hash(node), |&id| self.node(id) == node)?;
        Some(self.class_of[id.index()])
    }

    /// The classes in the order in which they were made: arguments first.
    pub(super) fn classes(&self) -> impl DoubleEndedIterator<Item = Class> + use<> {
        (0..self.classes.len() as u32).map(Class)
    }

    /// The first of the classes that are known to be equal to this one.
    #[inline]
    pub(super) fn leader(&self, class: Class) -> Class {
        let mut at = class;
        while self.classes[at.index()].leader != at {
            at = self.classes[at.index()].leader;
        }
        at
    }

    #[inline]
    pub(super) fn same(&self, a: Class, b: Class) -> bool {
        a == b || self.leader(a) == self.leader(b)
    }

    /// Adds a node that there is not yet, in a class of its own.
    pub(super) fn add(&mut self, node: Node, facts: Facts, pinned: Option<Value>) -> Class {
        let id = NodeId(self.nodes.len() as u32);
        let class = Class(self.classes.len() as u32);
        let (constant, signature) = match node {
            Node::Const(constant) => {
                let known = facts.constant.map(Signature::of_constant);
                (Some(constant), known.unwrap_or_default())
            }
            Node::Op(op, ..) => (None, Signature::of_op(op)),
            Node::Leaf(_) => (None, Signature::default()),
        };
        self.classes.push(ClassData {
            nodes: smallvec::smallvec![id],
            constant,
            facts,
            signature,
            leader: class,
        });
        let nodes = &self.nodes;
        let slot = self.known.entry(
            hash(&node),
            |other| nodes[other.index()] == node,
            |other| hash(&nodes[other.index()]),
        );
        slot.insert(id);
        self.nodes.push(node);
        self.pinned.push(pinned);
        self.class_of.push(class);
        class
    }

    /// Makes a class of the nodes of `class` and those of others that are equal to it, at most
    /// `limit` in all.
    pub(super) fn union(
        &mut self,
        class: Class,
        others: &[(Class, Reason)],
        limit: usize,
    ) -> Class {
        let new = Class(self.classes.len() as u32);
        let mut data = self.classes[class.index()].clone();
        data.leader = new;
        for &(other, ref reason) in others {
            let reason = reason.clone();
            self.steps.push(Step { joined: new, from: class, to: other, reason });
            let other_data = &self.classes[other.index()];
            for node in &other_data.nodes {
                if !data.nodes.contains(node) && data.nodes.len() < limit {
                    data.nodes.push(*node);
                }
            }
            data.facts = data.facts.and(other_data.facts);
            data.signature = data.signature.or(other_data.signature);
        }
        self.classes.push(data);
        for other in std::iter::once(class).chain(others.iter().map(|(other, _)| *other)) {
            self.merge(other, new);
        }
        new
    }

    /// Makes a class of the nodes of `other` alone, which is better than `class` and equal to it.
    pub(super) fn replace(&mut self, class: Class, other: Class, reason: Reason) -> Class {
        let new = Class(self.classes.len() as u32);
        self.steps.push(Step { joined: new, from: class, to: other, reason });
        let mut data = self.classes[other.index()].clone();
        data.leader = new;
        data.facts = data.facts.and(self.classes[class.index()].facts);
        self.classes.push(data);
        self.merge(class, new);
        self.merge(other, new);
        new
    }

    /// The leader of a class. The classes on the way are brought nearer to it (path halving).
    fn shortened(&mut self, class: Class) -> Class {
        let mut at = class;
        loop {
            let next = self.classes[at.index()].leader;
            let over = self.classes[next.index()].leader;
            if next == over {
                return next;
            }
            self.classes[at.index()].leader = over;
            at = over;
        }
    }

    /// Notes that two classes are equal.
    pub(super) fn merge(&mut self, a: Class, b: Class) {
        let (a, b) = (self.shortened(a), self.shortened(b));
        if a == b {
            return;
        }
        let (x, y) = (self.classes[a.index()].constant, self.classes[b.index()].constant);
        self.contradiction |= x.is_some() && y.is_some() && x != y;
        // The leader knows the constant of all.
        let (from, to) = if x.is_some() { (b, a) } else { (a, b) };
        self.classes[from.index()].leader = to;
    }

    /// The steps by which a class got one of its nodes, in order.
    pub(super) fn chain(&self, class: Class, node: NodeId) -> SmallVec<[&Step; 4]> {
        let (mut chain, mut at) = (SmallVec::new(), class);
        loop {
            let start = self.steps.partition_point(|step| step.joined < at);
            let end = self.steps.partition_point(|step| step.joined <= at);
            let steps = &self.steps[start..end];
            let has = |class: Class| self.class(class).nodes.contains(&node);
            let Some(first) = steps.first() else { return chain };
            // A class that was replaced has none of the nodes of the new one.
            match steps.iter().find(|step| has(step.to)) {
                Some(step) if !has(first.from) => {
                    chain.push(step);
                    at = step.to;
                }
                _ => at = first.from,
            }
        }
    }

    /// Sets the class that [`EGraph::find`] gives for a node.
    pub(super) fn set_class(&mut self, node: NodeId, class: Class) {
        self.class_of[node.index()] = class;
    }
}

impl Subject for EGraph {
    type Place = Class;
    type Args<'a> = &'a [Class];

    #[inline]
    fn same(&self, a: Class, b: Class) -> bool {
        self.same(a, b)
    }

    fn is_constant(&self, class: Class) -> bool {
        self.class(class).facts.constant.is_some()
    }

    fn is_literal(&self, class: Class, literal: Constant) -> bool {
        let facts = &self.class(class).facts;
        facts.constant.is_some() && literal_as(literal, facts.ty) == facts.constant
    }

    #[inline]
    fn node_count(&self, class: Class) -> usize {
        self.class(class).nodes.len()
    }

    #[inline]
    fn args_of(&self, class: Class, node: usize, op: Op) -> Option<&[Class]> {
        match self.node(self.class(class).nodes[node]) {
            Node::Op(other, _, args) if *other == op => Some(args),
            _ => None,
        }
    }
}
