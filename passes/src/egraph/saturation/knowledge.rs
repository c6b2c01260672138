//! The facts of each class, and the constant that it is.

use egg::{Analysis, DidMerge, EGraph, Id};
use indexmap::IndexSet;
use regraft_ir::{Const, Constant, Context, Op, Traits, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::language::{ENode, Head};
use crate::analysis::FloatKinds;
use crate::rewrite::{Facts, FoldArg, Folded, Math, Subject, facts_of, fold, literal_as};

/// The most times that the facts on a class become better: where a class is made of itself, they
/// could become so without end.
const MAX_UPDATES: u8 = 16;

/// The e-graph of a function.
pub(super) type Graph<'a> = EGraph<ENode, Knowledge<'a>>;

/// The facts of a class.
#[derive(Clone, Debug)]
pub(super) struct ClassFacts {
    pub(super) facts: Facts,
    pub(super) constant: Option<Const>,
    /// The depth of the innermost loop in which it changes, at most.
    pub(super) depth: u32,
    updates: u8,
}

/// The tables that all classes share.
pub(super) struct Knowledge<'a> {
    pub(super) ctx: &'a Context,
    pub(super) math: Math,
    pub(super) leaves: FxHashMap<Value, (Facts, u32)>,
    pub(super) constants: IndexSet<Const>,
    /// Values of the function, different from each other.
    pub(super) stand_ins: SmallVec<[Value; 4]>,
    /// Two unequal constants have met: some rule is wrong.
    pub(super) contradiction: bool,
}

impl Knowledge<'_> {
    /// The node of a constant.
    pub(super) fn constant(&mut self, constant: Const) -> ENode {
        ENode::leaf(Head::Const(self.constants.insert_full(constant).0))
    }

    fn is_commutative(&self, op: Op) -> bool {
        self.ctx.def(op).traits.contains(Traits::COMMUTATIVE)
    }
}

impl Analysis<ENode> for Knowledge<'_> {
    type Data = ClassFacts;

    fn make(graph: &mut EGraph<ENode, Self>, node: &ENode, _: Id) -> ClassFacts {
        let (facts, constant, depth) = match node.head {
            Head::Leaf(v) => {
                let (facts, depth) = graph.analysis.leaves[&v];
                (facts, None, depth)
            }
            Head::Const(number) => {
                let constant = graph.analysis.constants[number];
                (constant_facts(graph.analysis.ctx, constant), Some(constant), 0)
            }
            Head::Op(op, ty) => {
                let args: SmallVec<[&ClassFacts; 3]> =
                    node.args.iter().map(|&arg| &graph[arg].data).collect();
                let depth = args.iter().map(|arg| arg.depth).max().unwrap_or(0);
                match folded(graph, op, ty, &node.args) {
                    Some(Folded::Constant(constant)) => {
                        (constant_facts(graph.analysis.ctx, constant), Some(constant), depth)
                    }
                    _ => {
                        let facts: SmallVec<[Facts; 3]> =
                            args.iter().map(|arg| arg.facts).collect();
                        let same = node.args.len() == 2
                            && graph.find(node.args[0]) == graph.find(node.args[1]);
                        (facts_of(op, ty, &facts, same), None, depth)
                    }
                }
            }
        };
        ClassFacts { facts, constant, depth, updates: 0 }
    }

    fn merge(&mut self, a: &mut ClassFacts, b: ClassFacts) -> DidMerge {
        let old = (a.facts, a.constant, a.depth);
        self.contradiction |= a.constant.is_some_and(|x| b.constant.is_some_and(|y| x != y));
        let updates = a.updates.max(b.updates);
        let counts = updates < MAX_UPDATES;
        if counts || b.constant.is_some() {
            a.facts = a.facts.and(b.facts);
            a.depth = a.depth.min(b.depth);
        }
        a.constant = a.constant.or(b.constant);
        let new = (a.facts, a.constant, a.depth);
        a.updates = updates.saturating_add(u8::from(new != old));
        let news = counts && new != (b.facts, b.constant, b.depth) || b.constant != a.constant;
        DidMerge(new != old, news)
    }

    /// A constant is all that a class needs: other nodes of it would make more and more of them.
    fn modify(graph: &mut EGraph<ENode, Self>, id: Id) {
        if let Some(constant) = graph[id].data.constant {
            let node = graph.analysis.constant(constant);
            let added = graph.add(node);
            graph.union(id, added);
            graph[id].nodes.retain(|node| matches!(node.head, Head::Const(_)));
        }
    }
}

fn constant_facts(ctx: &Context, constant: Const) -> Facts {
    Facts::of_constant(ctx.constant(constant), ctx.constant_type(constant))
}

/// Returns what an op on these classes folds to.
fn folded(graph: &Graph<'_>, op: Op, ty: Type, args: &[Id]) -> Option<Folded> {
    let mut parts: SmallVec<[FoldArg; 4]> = SmallVec::new();
    for (i, &arg) in args.iter().enumerate() {
        let first = args.iter().position(|&other| graph.find(other) == graph.find(arg));
        let data = &graph[arg].data;
        let (ty, constant) = (data.facts.ty, data.constant);
        parts.push(FoldArg { ty, constant, first: first.unwrap_or(i) });
    }
    fold(graph.analysis.ctx, op, ty, &parts, &graph.analysis.stand_ins)
}

/// Returns whether a function is known not to trap for arguments of these classes.
pub(super) fn is_in_domain(graph: &Graph<'_>, op: Op, args: &[Id]) -> bool {
    graph.analysis.math.is_in_domain(op, |i| {
        args.get(i).map_or(FloatKinds::all(), |&arg| graph[arg].data.facts.kinds)
    })
}

/// The class of an op on these classes. What may trap is none, unless it is there.
pub(super) fn class_of_op(
    graph: &mut Graph<'_>,
    op: Op,
    ty: Type,
    mut args: SmallVec<[Id; 3]>,
) -> Option<Id> {
    match folded(graph, op, ty, &args) {
        Some(Folded::Arg(i)) => return Some(args[i]),
        Some(Folded::Constant(constant)) => {
            let node = graph.analysis.constant(constant);
            return Some(graph.add(node));
        }
        None => {}
    }
    if args.len() == 2 && graph.analysis.is_commutative(op) {
        args.iter_mut().for_each(|arg| *arg = graph.find(*arg));
        args.sort();
    }
    let traps = graph.analysis.ctx.def(op).traits.contains(Traits::MAY_TRAP);
    let absent = traps && !is_in_domain(graph, op, &args);
    let node = ENode { head: Head::Op(op, ty), args };
    if absent { graph.lookup(node) } else { Some(graph.add(node)) }
}

/// Finds nodes of commutative ops that are one but for the order of their arguments. Returns whether
/// there were any.
pub(super) fn unite_commuted(graph: &mut Graph<'_>) -> bool {
    let mut same: Vec<(Id, Id)> = Vec::new();
    for class in graph.classes() {
        for node in &class.nodes {
            if let Some(op) = node.op()
                && graph.analysis.is_commutative(op)
                && let [a, b] = node.args[..]
                && let Some(other) =
                    graph.lookup(ENode { args: smallvec::smallvec![b, a], ..node.clone() })
                && other != class.id
            {
                same.push((class.id, other));
            }
        }
    }
    same.into_iter().fold(false, |any, (a, b)| graph.union(a, b) || any)
}

impl Subject for Graph<'_> {
    type Place = Id;
    type Args<'b>
        = &'b [Id]
    where
        Self: 'b;

    fn same(&self, a: Id, b: Id) -> bool {
        self.find(a) == self.find(b)
    }

    fn is_constant(&self, class: Id) -> bool {
        self[class].data.facts.constant.is_some()
    }

    fn is_literal(&self, class: Id, literal: Constant) -> bool {
        let data = &self[class].data;
        data.constant.is_some_and(|constant| {
            literal_as(literal, data.facts.ty) == Some(self.analysis.ctx.constant(constant))
        })
    }

    fn node_count(&self, class: Id) -> usize {
        self[class].nodes.len()
    }

    fn args_of(&self, class: Id, node: usize, op: Op) -> Option<&[Id]> {
        let node = &self[class].nodes[node];
        (node.op() == Some(op)).then_some(&node.args[..])
    }
}
