//! Says why values were replaced: the chain of rules from the old expression to the new one.
//!
//! ```text
//! %5: f64 = arith.add %1, %4
//!   = arith.add %1, (arith.neg %2)
//!   = arith.sub %1, %2                  add-neg (exact.rules:19)
//! ```

use regraft_ir::{Context, Function, Value, print_inst};
use rustc_hash::FxHashMap;

use super::extraction::Extraction;
use super::graph::{Bindings, Class, EGraph, Node, NodeId, Reason, Step};
use crate::rewrite::{Rule, RuleIndex, Term};

/// The column of reasons.
const COLUMN: usize = 60;
/// The greatest depth of an expression.
const MAX_DEPTH: u32 = 6;

/// The name of a reason in provenance.
pub(super) fn name<'a>(step: &Step, rules: &'a RuleIndex) -> &'a str {
    match &step.reason {
        Reason::Rule(number, _) => rules.rule(*number).name(),
        Reason::Algebra => "normal form",
        Reason::Saturation => "saturation",
    }
}

/// Explains what becomes of the values of a function.
pub(super) struct Explainer<'a> {
    f: &'a Function,
    ctx: &'a Context,
    graph: &'a EGraph,
    extraction: &'a Extraction,
    rules: &'a RuleIndex,
    /// A value of each class, by its leader.
    names: FxHashMap<Class, Value>,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(
        f: &'a Function,
        graph: &'a EGraph,
        extraction: &'a Extraction,
        rules: &'a RuleIndex,
        class_of: &[Option<Class>],
    ) -> Self {
        let mut names = FxHashMap::default();
        for v in f.all_values() {
            if let Some(class) = class_of.get(v.index()).copied().flatten() {
                names.entry(graph.leader(class)).or_insert(v);
            }
        }
        Self { f, ctx: f.ctx(), graph, extraction, rules, names }
    }

    /// The explanation of a value of this class; `None` if it stays what it was.
    pub(super) fn explain(&self, v: Value, class: Class) -> Option<String> {
        let node = self.extraction.choice(class);
        let text = print_inst(self.f, v);
        let last = text.split_once(" = ").map_or("", |(_, expression)| expression).to_owned();
        let mut text = Lines { text, last };
        let chain = self.graph.chain(class, node);
        for step in &chain {
            match &step.reason {
                Reason::Rule(number, bindings) => {
                    let rule = self.rules.rule(*number);
                    let back = if rule.is_reversed() { ", reversed" } else { "" };
                    text.push(&self.term(rule.from(), rule, bindings, 0), "");
                    let reason = format!("{} ({}{back})", rule.name(), rule.place());
                    text.push(&self.term(rule.to(), rule, bindings, 0), &reason);
                }
                Reason::Algebra | Reason::Saturation => {
                    let reason = name(step, self.rules);
                    text.push(&self.node(self.extraction.choice(step.to), 0), reason);
                }
            }
        }
        let other = self.names.get(&self.graph.leader(class)).filter(|&&other| other != v);
        match (self.graph.node(node), other) {
            (Node::Op(..), Some(&other)) => text.push(&self.f.value_text(other), "equal"),
            (Node::Const(_), _) if chain.is_empty() => text.push(&self.node(node, 0), "folding"),
            _ if chain.is_empty() => return None,
            _ => text.push(&self.node(node, 0), ""),
        }
        Some(text.text)
    }

    fn term(&self, term: &Term, rule: &Rule, bindings: &Bindings, depth: u32) -> String {
        match term {
            Term::Variable(v) => match bindings[v.index()] {
                Some(class) => self.class(class, depth),
                None => rule.variables().nth(v.index()).map_or("", |(_, name)| name).to_owned(),
            },
            Term::Literal(constant, _) => self.ctx.constant_text(*constant),
            Term::Op(op, operands, _) => {
                let operands =
                    operands.iter().map(|term| self.term(term, rule, bindings, depth + 1));
                self.written(self.ctx.def(*op).mnemonic(), operands, depth)
            }
        }
    }

    /// A class as a value of the program, or as the expression that is chosen for it.
    fn class(&self, class: Class, depth: u32) -> String {
        let node = self.extraction.choice(class);
        match (self.graph.node(node), self.names.get(&self.graph.leader(class))) {
            (Node::Op(..), Some(&v)) => self.f.value_text(v),
            (Node::Op(..), None) if depth > MAX_DEPTH => "..".to_owned(),
            _ => self.node(node, depth),
        }
    }

    fn node(&self, node: NodeId, depth: u32) -> String {
        match self.graph.node(node) {
            Node::Leaf(v) => self.f.value_text(*v),
            Node::Const(id) => self.ctx.constant_text(self.ctx.constant(*id)),
            Node::Op(op, _, args) => {
                let args = args.iter().map(|&arg| self.class(arg, depth + 1));
                self.written(self.ctx.def(*op).mnemonic(), args, depth)
            }
        }
    }

    fn written(&self, op: &str, operands: impl Iterator<Item = String>, depth: u32) -> String {
        let text = format!("{op} {}", operands.collect::<Vec<_>>().join(", "));
        if depth > 0 { format!("({text})") } else { text }
    }
}

/// The lines of an explanation.
struct Lines {
    text: String,
    last: String,
}

impl Lines {
    /// Adds an expression, unless it is the last one again.
    fn push(&mut self, expression: &str, reason: &str) {
        if self.last == expression {
            return;
        }
        let line = format!("\n  = {expression}");
        self.text.push_str(&line);
        if !reason.is_empty() {
            let gap = COLUMN.saturating_sub(line.chars().count()).max(2);
            self.text.extend(std::iter::repeat_n(' ', gap));
            self.text.push_str(reason);
        }
        expression.clone_into(&mut self.last);
    }
}
