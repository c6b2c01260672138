//! Hands the classes of `egg` over to the acyclic e-graph, as alternatives of the values of the
//! program.
//!
//! # Method
//! The acyclic graph is made of the program once more, without rules. Each value gets the cheapest nodes
//! of its class as alternatives, by the latency of their trees. An argument of such a node is the
//! first value of the program in its class that dominates the place; where there is none, it is
//! made in the same way.
//!
//! # Why it is right
//! Each class that the acyclic graph refers to in a block can be computed there, whichever of its nodes
//! are chosen: an own node by the dominance of the program, an alternative because all its arguments
//! are classes of values that dominate the block, or were made for it. Alternatives are not
//! entered under their nodes, so that the same node in another block does not bring in those of
//! this one. What may trap is taken over as a value of the program only.

use std::sync::Arc;

use egg::{CostFunction, Extractor, Id};
use regraft_ir::{Block, Const, DominatorTree, Op, Traits, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::knowledge::{Graph, is_in_domain};
use super::language::{ENode, Head};
use crate::analysis::Latencies;
use crate::egraph::builder::Builder;
use crate::egraph::graph::{Args, Class};

/// The most alternatives of a value of the program.
const MAX_ALTERNATIVES: usize = 8;
/// The most nodes of a class that is made for an argument.
const MAX_ARGUMENT_NODES: usize = 3;
/// The most nodes that are made for one value.
const MAX_NEW_NODES: u32 = 64;

/// A node as the acyclic graph can have it.
#[derive(Clone, Debug)]
enum Form {
    Const(Const),
    Op(Op, Type, SmallVec<[Id; 3]>),
}

/// The classes of `egg`, for the values of a function in the order in which they are read.
pub(in crate::egraph) struct Alternatives<'a> {
    dom: &'a DominatorTree,
    /// By [`Value::index`].
    classes: Vec<Option<Id>>,
    /// The nodes of a class that can be made anywhere, the cheapest first.
    forms: FxHashMap<Id, Arc<[Form]>>,
    /// The values of the program in a class so far.
    values: FxHashMap<Id, Vec<(Block, Class)>>,
    /// The classes that were made for arguments in the present block.
    made: FxHashMap<Id, Class>,
    block: Option<Block>,
    /// The classes that are being made.
    pending: Vec<Id>,
    fuel: u32,
}

impl<'a> Alternatives<'a> {
    /// Of a graph in which nothing is pending. `classes` are those of values, by [`Value::index`].
    pub(super) fn new(graph: &Graph<'_>, dom: &'a DominatorTree, classes: &[Option<Id>]) -> Self {
        let cost = TreeCost { graph, latencies: graph.analysis.ctx.extensions().get() };
        let trees = Extractor::new(graph, cost);
        let mut forms = FxHashMap::default();
        for class in graph.classes() {
            let mut nodes: Vec<(u64, &ENode)> = Vec::new();
            for node in &class.nodes {
                nodes.push((cost.of(node, |arg| trees.find_best_cost(arg)), node));
            }
            nodes.sort();
            let found = nodes.into_iter().filter_map(|(_, node)| form(graph, node));
            forms.insert(class.id, found.collect());
        }
        let find = |class: &Option<Id>| class.map(|class| graph.find(class));
        Self {
            dom,
            classes: classes.iter().map(find).collect(),
            forms,
            values: FxHashMap::default(),
            made: FxHashMap::default(),
            block: None,
            pending: Vec::new(),
            fuel: 0,
        }
    }

    /// Enters the class of a value that is only looked at.
    pub(in crate::egraph) fn enter(&mut self, v: Value, block: Block, class: Class) {
        if let Some(id) = self.classes.get(v.index()).copied().flatten() {
            self.values.entry(id).or_default().push((block, class));
        }
    }

    /// The class of an instruction in `block`, which is `own`, with its alternatives.
    pub(in crate::egraph) fn of(
        &mut self,
        builder: &mut Builder<'_>,
        v: Value,
        block: Block,
        own: Class,
    ) -> Class {
        let Some(id) = self.classes.get(v.index()).copied().flatten() else { return own };
        if self.block.replace(block) != Some(block) {
            self.made.clear();
        }
        self.fuel = MAX_NEW_NODES;
        let mut found: SmallVec<[Class; 8]> = self.value(id, block).into_iter().collect();
        self.nodes(builder, id, block, MAX_ALTERNATIVES, &mut found);
        found.retain(|class| *class != own);
        let class = builder.with_alternatives(own, &found);
        self.enter(v, block, class);
        class
    }

    /// The first value of the program in a class that dominates the end of a block.
    fn value(&self, id: Id, block: Block) -> Option<Class> {
        let values = self.values.get(&id)?;
        values.iter().find(|&&(at, _)| self.dom.dominates(at, block)).map(|&(_, class)| class)
    }

    /// The acyclic class for an argument, if there is fuel for it.
    fn argument(&mut self, builder: &mut Builder<'_>, id: Id, block: Block) -> Option<Class> {
        if let Some(class) = self.value(id, block).or_else(|| self.made.get(&id).copied()) {
            return Some(class);
        }
        if self.pending.contains(&id) {
            return None;
        }
        let mut found: SmallVec<[Class; 8]> = SmallVec::new();
        self.nodes(builder, id, block, MAX_ARGUMENT_NODES, &mut found);
        let (&first, others) = found.split_first()?;
        let class = builder.with_alternatives(first, others);
        self.made.insert(id, class);
        Some(class)
    }

    /// Makes the nodes of a class, at most `limit`, that can be made of what there is in a block. The
    /// depth of the recursion is limited by the fuel.
    fn nodes(
        &mut self,
        builder: &mut Builder<'_>,
        id: Id,
        block: Block,
        limit: usize,
        found: &mut SmallVec<[Class; 8]>,
    ) {
        let Some(forms) = self.forms.get(&id).cloned() else { return };
        self.pending.push(id);
        for form in &*forms {
            if found.len() >= limit {
                break;
            }
            if let Some(class) = self.node(builder, form, block)
                && !found.contains(&class)
            {
                found.push(class);
            }
        }
        self.pending.pop();
    }

    fn node(&mut self, builder: &mut Builder<'_>, form: &Form, block: Block) -> Option<Class> {
        match form {
            Form::Const(constant) => Some(builder.constant(*constant)),
            Form::Op(op, ty, ids) => {
                self.fuel = self.fuel.checked_sub(1)?;
                let mut args = Args::new();
                for &id in ids {
                    args.push(self.argument(builder, id, block)?);
                }
                Some(builder.plain(block, *op, *ty, args))
            }
        }
    }
}

/// A node as it can be made anywhere. A leaf is a value of the program, and so is what may trap.
fn form(graph: &Graph<'_>, node: &ENode) -> Option<Form> {
    match node.head {
        Head::Leaf(_) => None,
        Head::Const(number) => Some(Form::Const(graph.analysis.constants[number])),
        Head::Op(op, ty) => {
            let traps = graph.analysis.ctx.def(op).traits.contains(Traits::MAY_TRAP);
            if traps && !is_in_domain(graph, op, &node.args) {
                return None;
            }
            Some(Form::Op(op, ty, node.args.iter().map(|&arg| graph.find(arg)).collect()))
        }
    }
}

/// The cost of a node with the trees below it.
#[derive(Clone, Copy)]
struct TreeCost<'g, 'a> {
    graph: &'g Graph<'a>,
    latencies: &'a Latencies,
}

impl TreeCost<'_, '_> {
    fn of(self, node: &ENode, mut trees: impl FnMut(Id) -> u64) -> u64 {
        let depths = node.args.iter().map(|&arg| self.graph[arg].data.depth);
        let own = match node.head {
            Head::Op(op, ty) => self.latencies.in_loops(op, ty, depths.max().unwrap_or(0)),
            _ => 0,
        };
        node.args.iter().fold(own, |sum, &arg| sum.saturating_add(trees(arg)))
    }
}

impl CostFunction<ENode> for TreeCost<'_, '_> {
    type Cost = u64;

    fn cost<C: FnMut(Id) -> u64>(&mut self, node: &ENode, costs: C) -> u64 {
        self.of(node, costs)
    }
}
