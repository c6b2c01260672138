//! Congruence closure with proofs (Nieuwenhuis and Oliveras, "Fast congruence closure and extensions",
//! 2007): classes of equal terms, and why two terms are in one.

use std::sync::Arc;

use regraft_ir::{Constant, Op, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// A term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Id(u32);

impl Id {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The head of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Head {
    Constant(Constant),
    Variable(&'static str),
    Op(Op),
}

/// A term whose operands are terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Node {
    pub(super) head: Head,
    pub(super) operands: Vec<Id>,
    pub(super) ty: Type,
}

/// The reason why two terms are equal.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    Rule(Arc<str>),
    /// An op on constants has been computed.
    Computed,
    /// The heads are the same, and the operands equal.
    Congruence,
}

/// The classes of equal terms.
pub(super) struct Closure {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, Id>,
    /// The first term of each head and classes of operands.
    first: FxHashMap<Node, Id>,
    parents: Vec<Id>,
    /// The edges of the proof forest: each term is equal to its neighbour for a reason.
    proofs: Vec<Option<(Id, Reason)>>,
    classes: Vec<Class>,
    pending: Vec<(Id, Id, Reason)>,
    same: fn(Constant, Constant) -> bool,
    /// Two unequal constants that are in one class.
    pub(super) clash: Option<(Id, Id)>,
    /// The number of classes that were made one with another.
    pub(super) unions: usize,
}

/// A class, by its representative.
#[derive(Default)]
struct Class {
    size: usize,
    uses: Vec<Id>,
    oldest: Option<Id>,
    constant: Option<Id>,
}

impl Closure {
    /// No terms; `same` tells which constants are equal.
    pub(super) fn new(same: fn(Constant, Constant) -> bool) -> Self {
        Self {
            nodes: Vec::new(),
            ids: FxHashMap::default(),
            first: FxHashMap::default(),
            parents: Vec::new(),
            proofs: Vec::new(),
            classes: Vec::new(),
            pending: Vec::new(),
            same,
            clash: None,
            unions: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn find(&self, mut id: Id) -> Id {
        while self.parents[id.index()] != id {
            id = self.parents[id.index()];
        }
        id
    }

    /// The constant in the class of a term.
    pub(super) fn constant(&self, id: Id) -> Option<Constant> {
        let constant = self.classes[self.find(id).index()].constant?;
        match self.node(constant).head {
            Head::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The term that stands for its class: the constant in it, or the oldest term.
    pub(super) fn simplest(&self, id: Id) -> Id {
        let class = &self.classes[self.find(id).index()];
        class.constant.or(class.oldest).unwrap_or(id)
    }

    /// All terms, of which no two have the same head and equal operands.
    pub(super) fn all_distinct(&self) -> Vec<Id> {
        let all = (0..self.nodes.len() as u32).map(Id);
        all.filter(|&id| self.first.get(&self.key(id)) == Some(&id)).collect()
    }

    fn key(&self, id: Id) -> Node {
        let node = self.node(id);
        let operands = node.operands.iter().map(|&operand| self.find(operand)).collect();
        Node { operands, ..*node }
    }

    /// The term of that head with just these operands.
    pub(super) fn add(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = Id(self.nodes.len() as u32);
        self.ids.insert(node.clone(), id);
        for &operand in &node.operands {
            let class = self.find(operand);
            self.classes[class.index()].uses.push(id);
        }
        let constant = matches!(node.head, Head::Constant(_)).then_some(id);
        self.nodes.push(node);
        self.parents.push(id);
        self.proofs.push(None);
        self.classes.push(Class { size: 1, uses: Vec::new(), oldest: Some(id), constant });
        self.enter(id);
        self.settle();
        id
    }

    /// Notes a term under its head and the classes of its operands.
    fn enter(&mut self, id: Id) {
        let key = self.key(id);
        match self.first.get(&key) {
            Some(&other) if other != id => self.pending.push((id, other, Reason::Congruence)),
            Some(_) => {}
            None => _ = self.first.insert(key, id),
        }
    }

    /// Makes two terms equal, and all that follow from that, up to the first clash.
    pub(super) fn unite(&mut self, a: Id, b: Id, reason: Reason) {
        self.pending.push((a, b, reason));
        self.settle();
    }

    fn settle(&mut self) {
        while self.clash.is_none()
            && let Some((a, b, reason)) = self.pending.pop()
        {
            let (mut from, mut into) = (self.find(a), self.find(b));
            if from == into {
                continue;
            }
            self.unions += 1;
            self.prove(a, b, reason);
            let size = |id: Id| self.classes[id.index()].size;
            if size(from) > size(into) {
                std::mem::swap(&mut from, &mut into);
            }
            let class = std::mem::take(&mut self.classes[from.index()]);
            // What was noted under the old class is found under the new one.
            for &user in &class.uses {
                let key = self.key(user);
                if self.first.get(&key) == Some(&user) {
                    self.first.remove(&key);
                }
            }
            self.parents[from.index()] = into;
            for &user in &class.uses {
                self.enter(user);
            }
            let target = &mut self.classes[into.index()];
            target.size += class.size;
            target.oldest = target.oldest.min(class.oldest);
            target.uses.extend(class.uses);
            let constants = (class.constant, target.constant);
            target.constant = target.constant.or(class.constant);
            if let (Some(a), Some(b)) = constants
                && let (Head::Constant(x), Head::Constant(y)) =
                    (self.node(a).head, self.node(b).head)
                && !(self.same)(x, y)
            {
                self.clash = Some((a, b));
            }
        }
    }

    /// Adds an edge to the proof forest: `a` becomes the root of its tree, which is hung below `b`.
    fn prove(&mut self, a: Id, b: Id, reason: Reason) {
        let (mut at, mut edge) = (a, (b, reason));
        while let Some((up, reason)) = self.proofs[at.index()].replace(edge) {
            edge = (at, reason);
            at = up;
        }
    }

    /// The terms between two equal ones, each with the reason why it equals the one before.
    pub(super) fn path(&self, a: Id, b: Id) -> Vec<(Id, &Reason, Id)> {
        let up = |mut id: Id| {
            let mut way = vec![id];
            while let Some((next, _)) = &self.proofs[id.index()] {
                id = *next;
                way.push(id);
            }
            way
        };
        let (from, to) = (up(a), up(b));
        let meet = from.iter().position(|id| to.contains(id)).unwrap_or(from.len() - 1);
        let end = to.iter().position(|id| *id == from[meet]).unwrap_or(0);
        let edge = |id: Id| self.proofs[id.index()].as_ref();
        let mut path = Vec::new();
        for &id in &from[..meet] {
            path.extend(edge(id).map(|(next, reason)| (id, reason, *next)));
        }
        for &id in to[..end].iter().rev() {
            path.extend(edge(id).map(|(next, reason)| (*next, reason, id)));
        }
        path
    }

    /// The rules that make two terms equal, in the order in which they come along the way.
    pub(super) fn rules(&self, a: Id, b: Id) -> Vec<Arc<str>> {
        let (mut rules, mut seen) = (Vec::new(), FxHashSet::default());
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            if a == b || !seen.insert((a.min(b), a.max(b))) {
                continue;
            }
            for (from, reason, to) in self.path(a, b) {
                match reason {
                    Reason::Rule(name) if !rules.contains(name) => rules.push(Arc::clone(name)),
                    Reason::Rule(_) | Reason::Computed => {}
                    Reason::Congruence => {
                        let operands = self.node(from).operands.iter().copied();
                        todo.extend(operands.zip(self.node(to).operands.iter().copied()));
                    }
                }
            }
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(closure: &mut Closure, name: &'static str) -> Id {
        closure.add(Node { head: Head::Variable(name), operands: Vec::new(), ty: Type::F64 })
    }

    fn neg(closure: &mut Closure, x: Id) -> Id {
        let head = Head::Op(regraft_dialects::arith::NEG);
        closure.add(Node { head, operands: vec![x], ty: Type::F64 })
    }

    #[test]
    fn equal_operands_make_equal_terms_and_the_rules_are_told() {
        let mut closure = Closure::new(|a, b| a == b);
        let [a, b, c] = ["a", "b", "c"].map(|name| leaf(&mut closure, name));
        let (of_a, of_c) = (neg(&mut closure, a), neg(&mut closure, c));
        let deep = [of_a, of_c].map(|x| neg(&mut closure, x));
        closure.unite(a, b, Reason::Rule("one".into()));
        assert_ne!(closure.find(deep[0]), closure.find(deep[1]));
        closure.unite(b, c, Reason::Rule("two".into()));
        assert_eq!(closure.find(deep[0]), closure.find(deep[1]));
        let rules = closure.rules(deep[0], deep[1]);
        assert_eq!(rules.iter().map(|rule| &**rule).collect::<Vec<_>>(), ["one", "two"]);
        // A term that is made later is equal at once.
        let of_b = neg(&mut closure, b);
        assert_eq!(closure.find(of_b), closure.find(of_a));
    }

    #[test]
    fn unequal_constants_clash() {
        let mut closure = Closure::new(|a, b| a == b);
        let a = leaf(&mut closure, "a");
        let [zero, one] = [0.0, 1.0].map(|x: f64| {
            let head = Head::Constant(x.into());
            closure.add(Node { head, operands: Vec::new(), ty: Type::F64 })
        });
        closure.unite(a, zero, Reason::Rule("one".into()));
        assert_eq!(closure.constant(a), Some(0.0.into()));
        closure.unite(a, one, Reason::Rule("two".into()));
        let (x, y) = closure.clash.unwrap();
        assert_eq!([x.min(y), x.max(y)], [zero, one]);
        assert_eq!(closure.rules(x, y).len(), 2);
    }
}
