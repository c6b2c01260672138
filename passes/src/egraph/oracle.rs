//! Compares the extraction with an exact one, by integer linear programming.
//!
//! # Method
//! A variable for each node says that it is computed. A root needs a node of its class; a node that is
//! computed needs a node of the class of each argument. The cost of what is computed is to be the
//! least. No cycle has to be forbidden: the arguments of a node are older than it is.
//!
//! Only with the feature `oracle`, which brings a solver.

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, microlp, variable};
use regraft_ir::{DominatorTree, Function};
use rustc_hash::FxHashMap;

use super::builder::Source;
use super::graph::{Class, EGraph, Node, NodeId};
use super::region::Region;
use super::saturation::Limits;
use crate::Analyses;
use crate::analysis::{LoopForest, Ranges};
use crate::rewrite::{Math, RewriteRules};

/// The costs of a function by its e-graph: latencies, eight times for each loop.
#[derive(Clone, Copy, Debug)]
pub struct ExtractionCosts {
    /// The nodes that some choice needs.
    pub nodes: usize,
    /// The cost of the program as it is.
    pub program: u64,
    /// The cost of the nodes that were chosen.
    pub chosen: u64,
    /// The least cost that there is, if it was asked for and found.
    pub least: Option<u64>,
}

/// The costs of a function whose graph is made by rules of `math`: by saturation, with the most nodes
/// and rounds that it may take, or else by rules applied once. The least cost is looked for in graphs of at
/// most `max_nodes` nodes, which takes exponential time at worst. `None` if the rules contradict each
/// other, or if the function has no body.
pub fn extraction_costs(
    f: &Function,
    math: Math,
    saturates: Option<(usize, usize)>,
    max_nodes: usize,
) -> Option<ExtractionCosts> {
    let mut analyses = Analyses::default();
    let dom = analyses.get::<DominatorTree>(f);
    let forest = analyses.get::<LoopForest>(f);
    let ranges = analyses.get::<Ranges>(f);
    let rules = f.ctx().extensions().get::<RewriteRules>().by_op(math);
    let source = Source { f, dom: &dom, forest: &forest, rules: &rules, math };
    let limits = saturates.map(|(nodes, iterations)| Limits { nodes, iterations });
    let region = Region::new(source, f.entry()?, &ranges, limits)?;
    let (graph, costs) = (&region.builder.graph, &region.builder.costs);
    let cost = |node: &NodeId| costs[node.index()];
    let extraction = region.extract();
    let classes: Vec<Class> = graph.classes().collect();
    let mut all: Vec<NodeId> =
        classes.iter().flat_map(|&class| graph.class(class).nodes.iter().copied()).collect();
    all.sort();
    all.dedup();
    let chosen = all.iter().filter(|&&node| extraction.is_needed(node)).map(cost).sum();
    let first = |class: Class| graph.class(class).nodes[..1].to_vec();
    let program = reached(graph, &region.roots, first).iter().map(cost).sum();
    let nodes = reached(graph, &region.roots, |class| graph.class(class).nodes.to_vec());
    let least = (nodes.len() <= max_nodes).then(|| least(graph, costs, &region.roots, &nodes));
    Some(ExtractionCosts { nodes: nodes.len(), program, chosen, least: least.flatten() })
}

/// The nodes with arguments that are reached from some classes through these nodes of each.
fn reached(graph: &EGraph, roots: &[Class], of: impl Fn(Class) -> Vec<NodeId>) -> Vec<NodeId> {
    let mut classes = vec![false; graph.class_count()];
    let mut pending = roots.to_vec();
    let mut found = Vec::new();
    while let Some(class) = pending.pop() {
        if std::mem::replace(&mut classes[class.index()], true) {
            continue;
        }
        for node in of(class) {
            pending.extend_from_slice(graph.node(node).args());
            if matches!(graph.node(node), Node::Op(..)) {
                found.push(node);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The least cost of nodes that give all roots, if the solver finds it.
fn least(graph: &EGraph, costs: &[u64], roots: &[Class], nodes: &[NodeId]) -> Option<u64> {
    let mut problem = ProblemVariables::new();
    let computed: FxHashMap<NodeId, Variable> =
        nodes.iter().map(|&node| (node, problem.add(variable().binary()))).collect();
    let price = |node: &NodeId| computed[node] * costs[node.index()] as f64;
    let total: Expression = nodes.iter().map(price).sum();
    let mut model = problem.minimise(total).using(microlp);
    // The nodes of a class that have to be computed; `None` if one is there anyway.
    let choices = |class: Class| -> Option<Expression> {
        let nodes = graph.class(class).nodes.iter();
        let nodes = nodes.map(|node| computed.get(node).copied().map(Expression::from));
        nodes.sum()
    };
    for &root in roots {
        if let Some(choices) = choices(root) {
            model = model.with(choices.geq(1));
        }
    }
    for node in nodes {
        for &arg in graph.node(*node).args() {
            if let Some(choices) = choices(arg) {
                model = model.with(choices.geq(computed[node]));
            }
        }
    }
    let solution = model.solve().ok()?;
    let is_computed = |node: &&NodeId| solution.value(computed[*node]) > 0.5;
    Some(nodes.iter().filter(is_computed).map(|node| costs[node.index()]).sum())
}
