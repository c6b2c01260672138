//! Equality saturation with `egg`, as the second engine of `e-graph`.
//!
//! # Method
//! The nodes of the acyclic e-graph of a function go into an e-graph of `egg` (Willsey and others: "egg:
//! Fast and extensible equality saturation", POPL 2021). There the same rules are applied to all
//! classes until nothing is new, or until a limit of nodes or rounds is reached (`rules`). Facts and
//! constants are its analysis; a class that is a constant keeps no other node (`knowledge`). Then the
//! best of each class comes back as alternatives of the values of the program (`alternatives`), and
//! extraction and elaboration are those of the acyclic engine.
//!
//! # Why it is right
//! Each rule is: see its set. Two values that are found equal are so wherever both can be computed:
//! facts on a value hold wherever it is used. Where two unequal constants meet, the function stays as
//! it was.
//!
//! # Cost
//! Limited by the nodes and rounds that are asked for. On adjoints of the example programs, some
//! twenty times as much as the acyclic engine takes with exact rules.

mod alternatives;
mod knowledge;
mod language;
mod rules;

use egg::Id;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) use self::alternatives::Alternatives;
use self::knowledge::{Graph, Knowledge, class_of_op};
use self::language::{ENode, Head};
use self::rules::saturate;
use crate::egraph::builder::Source;
use crate::egraph::graph::{Class, EGraph, Node};

/// The limits of a saturation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// The most nodes, about.
    pub(super) nodes: usize,
    /// The most rounds.
    pub(super) iterations: usize,
}

/// The function that is saturated, and by what.
#[derive(Clone, Copy)]
pub(super) struct Saturation<'a> {
    pub(super) source: Source<'a>,
    pub(super) limits: Limits,
}

impl<'a> Saturation<'a> {
    /// Saturates the graph of the function, in which no rule was applied. `class_of` are the classes of
    /// values by [`Value::index`](regraft_ir::Value::index). `None` if the rules contradict each other.
    pub(super) fn run(
        self,
        nodes: &EGraph,
        class_of: &[Option<Class>],
    ) -> Option<Alternatives<'a>> {
        let Source { f, dom, forest, rules, math } = self.source;
        let depth = |v| forest.loop_of(f.block_of(v)).map_or(0, |l| forest.get(l).depth);
        let mut leaves = FxHashMap::default();
        for class in nodes.classes() {
            if let Node::Leaf(v) = nodes.node(nodes.class(class).nodes[0]) {
                leaves.insert(*v, (nodes.class(class).facts, depth(*v)));
            }
        }
        let mut graph = Graph::new(Knowledge {
            ctx: f.ctx(),
            math,
            leaves,
            constants: IndexSet::new(),
            stand_ins: f.all_values().take(4).collect(),
            contradiction: false,
        });
        let mut ids: Vec<Id> = Vec::with_capacity(nodes.class_count());
        for class in nodes.classes() {
            ids.push(add(&mut graph, nodes, class, &ids));
        }
        graph.rebuild();
        saturate(&mut graph, rules, self.limits);
        if graph.analysis.contradiction {
            return None;
        }
        let ids: Vec<Option<Id>> =
            class_of.iter().map(|class| class.map(|class| ids[class.index()])).collect();
        Some(Alternatives::new(&graph, dom, &ids))
    }
}

/// Adds the only node of a class, whose arguments are there.
fn add(graph: &mut Graph<'_>, nodes: &EGraph, class: Class, ids: &[Id]) -> Id {
    match nodes.node(nodes.class(class).nodes[0]) {
        Node::Leaf(v) => graph.add(ENode::leaf(Head::Leaf(*v))),
        Node::Const(constant) => {
            let node = graph.analysis.constant(*constant);
            graph.add(node)
        }
        Node::Op(op, ty, args) => {
            let args: SmallVec<[Id; 3]> = args.iter().map(|arg| ids[arg.index()]).collect();
            let there = ENode { head: Head::Op(*op, *ty), args: args.clone() };
            // What may trap is there because the program computes it.
            class_of_op(graph, *op, *ty, args).unwrap_or_else(|| graph.add(there))
        }
    }
}
