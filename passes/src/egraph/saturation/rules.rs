//! Applies rules until nothing is new, or a limit is reached.

use egg::Id;
use regraft_ir::Type;
use smallvec::SmallVec;

use super::Limits;
use super::knowledge::{Graph, class_of_op, unite_commuted};
use crate::rewrite::{Bindings, Rule, RuleIndex, Term, Variable, literal_as, matches};

/// The most ways in which one rule is matched against one node.
const MAX_MATCHES: usize = 8;

/// A place where a rule applies.
struct Match<'r> {
    rule: &'r Rule,
    class: Id,
    bindings: Bindings<Id>,
}

/// Applies the rules to all classes in rounds: all matches are found before the first of them is
/// used.
pub(super) fn saturate(graph: &mut Graph<'_>, rules: &RuleIndex, limits: Limits) {
    for _ in 0..limits.iterations {
        let mut changed = false;
        for found in find_matches(graph, rules) {
            if graph.total_size() >= limits.nodes {
                break;
            }
            let root = graph[found.class].data.facts.ty;
            // A choice may be of a wider type than what it chooses from.
            if let Some(other) = instance(graph, found.rule.to(), &found.bindings, root)
                && graph[other].data.facts.ty == root
            {
                changed |= graph.union(found.class, other);
            }
        }
        graph.rebuild();
        if unite_commuted(graph) {
            graph.rebuild();
            changed = true;
        }
        if !changed || graph.analysis.contradiction || graph.total_size() >= limits.nodes {
            break;
        }
    }
}

/// All matches whose conditions hold, class after class.
fn find_matches<'r>(graph: &Graph<'_>, rules: &'r RuleIndex) -> Vec<Match<'r>> {
    let mut found = Vec::new();
    let mut classes: Vec<Id> = graph.classes().map(|class| class.id).collect();
    classes.sort();
    for class in classes {
        let ty = graph[class].data.facts.ty;
        for node in &graph[class].nodes {
            let Some(op) = node.op() else { continue };
            for number in rules.of(op, ty) {
                let rule = rules.rule(number);
                for bindings in matches(graph, graph.analysis.ctx, rule, &node.args, MAX_MATCHES) {
                    let facts = |v: Variable| bindings[v.index()].map(|id| &graph[id].data.facts);
                    if rule.admits_facts(facts) {
                        found.push(Match { rule, class, bindings });
                    }
                }
            }
        }
    }
    found
}

/// The class of the right side of a rule.
fn instance(graph: &mut Graph<'_>, term: &Term, bindings: &Bindings<Id>, root: Type) -> Option<Id> {
    let type_of = |graph: &Graph<'_>, v: Variable| {
        bindings[v.index()].map(|class| graph[class].data.facts.ty)
    };
    match term {
        Term::Variable(v) => bindings[v.index()],
        Term::Literal(literal, source) => {
            let ty = source.where_it_matches(root, |v| type_of(graph, v))?;
            let constant = graph.analysis.ctx.constant_id(literal_as(*literal, ty)?);
            let node = graph.analysis.constant(constant);
            Some(graph.add(node))
        }
        Term::Op(op, operands, source) => {
            let args = operands.iter().map(|operand| instance(graph, operand, bindings, root));
            let args = args.collect::<Option<SmallVec<[Id; 3]>>>()?;
            let ty = source.where_it_matches(root, |v| type_of(graph, v))?;
            class_of_op(graph, *op, ty, args)
        }
    }
}
