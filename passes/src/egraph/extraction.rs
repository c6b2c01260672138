//! Chooses a node for each class that the program needs.
//!
//! # Method
//! The choice starts with the program's own nodes, and what rules have made is chosen bottom-up by
//! the cost of its tree. Then, users first, another node is chosen wherever that makes the whole
//! cheaper: nodes are counted by the references to them, so that what is shared costs once (as in
//! DAG-aware rewriting of circuits: Mishchenko, Chatterjee and Brayton, DAC 2006). So the result
//! never costs more than the program did.
//!
//! # Cost
//! A few visits to each class, and for each of its nodes the part of the program that only this
//! node needs, at most `MAX_CONE` nodes.

use super::graph::{Class, EGraph, NodeId};

/// The most nodes that are looked at to decide on one.
const MAX_CONE: usize = 512;
/// The most times that all classes are gone through.
const MAX_SWEEPS: usize = 3;

/// The chosen nodes.
#[derive(Debug)]
pub(super) struct Extraction {
    /// By [`Class::index`].
    choice: Vec<NodeId>,
    /// The references to each node, by [`NodeId::index`].
    references: Vec<u32>,
}

impl Extraction {
    /// The node that is chosen for a class.
    #[inline]
    pub(super) fn choice(&self, class: Class) -> NodeId {
        self.choice[class.index()]
    }

    /// Returns whether something needs a node.
    #[inline]
    pub(super) fn is_needed(&self, node: NodeId) -> bool {
        self.references[node.index()] > 0
    }
}

/// Chooses nodes. `own` tells by [`Class::index`] which classes the program computes, `costs` the costs of
/// nodes by [`NodeId::index`], and `roots` are the classes that instructions with effects use, once
/// for each use.
pub(super) fn extract(graph: &EGraph, own: &[bool], costs: &[u64], roots: &[Class]) -> Extraction {
    let mut this = Extractor {
        graph,
        costs,
        choice: Vec::with_capacity(graph.class_count()),
        uses: vec![0; graph.class_count()],
        references: vec![0; graph.node_count()],
        work: Vec::new(),
        budget: usize::MAX,
    };
    this.start(own);
    for &root in roots {
        this.acquire(root);
    }
    for _ in 0..MAX_SWEEPS {
        if !this.improve() {
            break;
        }
    }
    Extraction { choice: this.choice, references: this.references }
}

struct Extractor<'a> {
    graph: &'a EGraph,
    costs: &'a [u64],
    choice: Vec<NodeId>,
    /// The uses of each class by chosen nodes that are needed, and by roots.
    uses: Vec<u32>,
    references: Vec<u32>,
    work: Vec<Class>,
    /// The nodes that may still be looked at for the present decision.
    budget: usize,
}

impl Extractor<'_> {
    /// The first choice: the nodes of the program, and the cheapest trees of others.
    fn start(&mut self, own: &[bool]) {
        let mut trees: Vec<u64> = Vec::with_capacity(self.graph.class_count());
        for class in self.graph.classes() {
            let tree = |node: NodeId| {
                let args = self.graph.node(node).args().iter();
                args.fold(self.costs[node.index()], |sum, arg| {
                    sum.saturating_add(trees[arg.index()])
                })
            };
            let nodes = &self.graph.class(class).nodes;
            let cheapest = nodes.iter().map(|&node| (tree(node), node)).min();
            let (cost, node) = cheapest.expect("a class has a node");
            let (cost, node) = match own[class.index()] {
                // The first node is the one that the class was made for.
                true => (tree(nodes[0]), nodes[0]),
                false => (cost, node),
            };
            self.choice.push(node);
            trees.push(cost);
        }
    }

    /// Adds a use of a class, and returns what it costs.
    fn acquire(&mut self, class: Class) -> u64 {
        let mut cost = 0u64;
        self.work.push(class);
        while let Some(class) = self.work.pop() {
            self.uses[class.index()] += 1;
            let node = self.choice[class.index()];
            let references = &mut self.references[node.index()];
            *references += 1;
            if *references == 1 {
                cost = cost.saturating_add(self.costs[node.index()]);
                self.work.extend_from_slice(self.graph.node(node).args());
                self.budget = self.budget.saturating_sub(1);
            }
        }
        cost
    }

    /// Takes a use of a class back, and returns what that saves.
    fn release(&mut self, class: Class) -> u64 {
        let mut saved = 0u64;
        self.work.push(class);
        while let Some(class) = self.work.pop() {
            self.uses[class.index()] -= 1;
            let node = self.choice[class.index()];
            let references = &mut self.references[node.index()];
            *references -= 1;
            if *references == 0 {
                saved = saved.saturating_add(self.costs[node.index()]);
                self.work.extend_from_slice(self.graph.node(node).args());
                self.budget = self.budget.saturating_sub(1);
            }
        }
        saved
    }

    /// Chooses another node for a class that is used; returns what it costs and what it saves.
    fn switch(&mut self, class: Class, to: NodeId) -> (u64, u64) {
        let uses = self.uses[class.index()];
        let from = std::mem::replace(&mut self.choice[class.index()], to);
        let graph = self.graph;
        let mut cost = 0u64;
        // The new one first, so that what both need is not taken down and built up again.
        let old = self.references[to.index()];
        self.references[to.index()] += uses;
        if old == 0 {
            cost = self.costs[to.index()];
            for &arg in graph.node(to).args() {
                cost = cost.saturating_add(self.acquire(arg));
            }
        }
        let mut saved = 0u64;
        self.references[from.index()] -= uses;
        if self.references[from.index()] == 0 {
            saved = self.costs[from.index()];
            for &arg in graph.node(from).args() {
                saved = saved.saturating_add(self.release(arg));
            }
        }
        (cost, saved)
    }

    /// Goes through all classes, users first. Returns whether a choice has changed.
    fn improve(&mut self) -> bool {
        let graph = self.graph;
        let mut changed = false;
        for class in graph.classes().rev() {
            let nodes = &graph.class(class).nodes;
            if nodes.len() < 2 || self.uses[class.index()] == 0 {
                continue;
            }
            for &node in nodes {
                let from = self.choice[class.index()];
                if node == from {
                    continue;
                }
                self.budget = MAX_CONE;
                let (cost, saved) = self.switch(class, node);
                if cost < saved && self.budget > 0 {
                    changed = true;
                } else {
                    self.switch(class, from);
                }
            }
        }
        changed
    }
}
