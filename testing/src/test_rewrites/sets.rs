//! Looks for contradictions in a set of rules: it is applied to small terms until constants meet.
//!
//! Terms are the left sides of all rules over a few constants and variables, and over results of one
//! op. Ops on constants are computed. Outside of [`Math::Exact`], infinities and NaN are left out, and
//! the zeros are one.

use std::sync::Arc;

use regraft_dialects::semantics::eval_scalar;
use regraft_ir::{Constant, Context, Op, Traits, Type};
use regraft_passes::analysis::FloatKinds;
use regraft_passes::rewrite::{Facts, Math, RewriteRules, Rule, Term, TypeSource, Typing};
use rustc_hash::{FxHashMap, FxHashSet};

use super::closure::{Closure, Head, Id, Node, Reason};
use super::one_rule::typings;
use super::report::Contradiction;

/// The most terms.
const MAX_TERMS: usize = 100_000;
/// The most rounds in which all rules are applied.
const MAX_ROUNDS: usize = 6;
/// The most matches of a rule in a round.
const MAX_MATCHES: usize = 2_000;
/// The most terms of one class and one op that a pattern is matched with.
const MAX_CANDIDATES: usize = 16;
/// The most terms that a rule is the start of.
const MAX_STARTS: usize = 128;
/// The types of the terms.
const TYPES: [Type; 3] = [Type::F64, Type::I64, Type::BOOL];
/// The variables. Nothing is known of them but of one, that it is positive and finite.
const VARIABLES: [(&str, Type); 4] =
    [("x", Type::F64), POSITIVE, ("n", Type::I64), ("q", Type::BOOL)];
const POSITIVE: (&str, Type) = ("y", Type::F64);

/// The first contradiction that is found between the rules that are used under `math`.
pub(super) fn contradiction(
    ctx: &Context,
    rules: &RewriteRules,
    math: Math,
) -> Option<Contradiction> {
    let rules = rules.of(math).map(|rule| Used {
        rule,
        typings: typings(rule, rule.conditions())
            .into_iter()
            .filter(|typing| {
                typing.variables.iter().chain([&typing.root]).all(|ty| TYPES.contains(ty))
            })
            .collect(),
    });
    let same = match math {
        Math::Exact => same_bits,
        Math::Finite => same_number,
        Math::Fast => close,
    };
    let mut closure = Closure::new(same);
    let (name, ty) = POSITIVE;
    let positive = closure.add(Node { head: Head::Variable(name), operands: Vec::new(), ty });
    let (rules, applied) = (rules.collect(), FxHashSet::default());
    let mut search = Search { ctx, rules, math, closure, applied, positive };
    search.start();
    search.saturate();
    let clash = search.closure.clash?;
    Some(search.report(clash))
}

/// A rule with the choices of types at which it is used here.
struct Used<'a> {
    rule: &'a Arc<Rule>,
    typings: Vec<Typing>,
}

/// The terms of a class and an op.
type ByClass = FxHashMap<(Id, Op), Vec<Id>>;

struct Search<'a> {
    ctx: &'a Context,
    rules: Vec<Used<'a>>,
    math: Math,
    closure: Closure,
    /// The rules by their positions with the terms of their variables that have been applied.
    applied: FxHashSet<(usize, Vec<Id>)>,
    /// The variable that is positive and finite.
    positive: Id,
}

impl Search<'_> {
    /// Makes the terms to start with.
    fn start(&mut self) {
        let leaves: FxHashMap<Type, Vec<Id>> =
            TYPES.into_iter().map(|ty| (ty, self.leaves(ty))).collect();
        let compounds = self.compounds(&leaves[&Type::F64]);
        for at in 0..self.rules.len() {
            for typing in self.rules[at].typings.clone() {
                let domains: Vec<&[Id]> =
                    typing.variables.iter().map(|ty| leaves[ty].as_slice()).collect();
                self.instances(at, &typing, &domains);
                for (i, ty) in typing.variables.iter().enumerate() {
                    if *ty == Type::F64 && typing.variables.len() <= 2 {
                        let mut domains: Vec<&[Id]> =
                            domains.iter().map(|domain| &domain[..domain.len().min(3)]).collect();
                        domains[i] = &compounds;
                        self.instances(at, &typing, &domains);
                    }
                }
            }
        }
    }

    /// The left side of a rule over these terms, in as many combinations as the limit allows.
    fn instances(&mut self, at: usize, typing: &Typing, domains: &[&[Id]]) {
        let longest = domains.iter().map(|domain| domain.len()).max().unwrap_or(0);
        let count = |n: usize| domains.iter().map(|domain| domain.len().min(n)).product::<usize>();
        let n = (1..=longest).rev().find(|&n| count(n) <= MAX_STARTS).unwrap_or(1);
        for number in 0..count(n) {
            let mut rest = number;
            let mut terms = Vec::with_capacity(domains.len());
            for domain in domains {
                let len = domain.len().min(n);
                terms.push(domain[rest % len]);
                rest /= len;
            }
            let rule = Arc::clone(self.rules[at].rule);
            self.term(rule.from(), &terms, typing);
        }
    }

    /// The constants and variables of a type.
    fn leaves(&mut self, ty: Type) -> Vec<Id> {
        let constants: Vec<Constant> = match ty {
            Type::F64 => {
                let mut all = vec![0.0, 1.0, -1.0, 2.0];
                if self.math == Math::Exact {
                    all.extend([-0.0, f64::INFINITY, f64::NAN]);
                }
                all.into_iter().map(Constant::from).collect()
            }
            Type::I64 => [0, 1, -1, 2].map(Constant::I64).into(),
            _ => [true, false].map(Constant::Bool).into(),
        };
        let mut leaves: Vec<Id> =
            constants.into_iter().map(|c| self.leaf(Head::Constant(c), ty)).collect();
        let named = VARIABLES.iter().filter(|(_, of)| *of == ty);
        let variables: Vec<Id> =
            named.map(|&(name, _)| self.leaf(Head::Variable(name), ty)).collect();
        // Variables come after 0 and 1, so that they are in small selections.
        leaves.splice(2..2, variables);
        leaves
    }

    fn leaf(&mut self, head: Head, ty: Type) -> Id {
        self.closure.add(Node { head, operands: Vec::new(), ty })
    }

    /// The ops of the rules on floats, each on a few leaves.
    fn compounds(&mut self, leaves: &[Id]) -> Vec<Id> {
        let mut ops: Vec<Op> = Vec::new();
        fn collect(term: &Term, ops: &mut Vec<Op>) {
            if let Term::Op(op, operands, _) = term {
                if !ops.contains(op) {
                    ops.push(*op);
                }
                operands.iter().for_each(|operand| collect(operand, ops));
            }
        }
        for used in &self.rules {
            collect(used.rule.from(), &mut ops);
        }
        let &[zero, one, x, y, minus_one, ..] = leaves else { return Vec::new() };
        let mut compounds = Vec::new();
        for op in ops {
            let Some(def) = self.ctx.registry().def(op) else { continue };
            let types = vec![Type::F64; def.operands.len()];
            let result = def.eval.and_then(|find| find(&types, Type::F64));
            if result.is_none_or(|function| function.result != Type::F64) {
                continue;
            }
            let operands: &[&[Id]] = match types.len() {
                // Roots of -1 and logarithms of 0 too: a rule must not take them for numbers.
                1 => &[&[x], &[y], &[minus_one], &[zero]],
                2 => &[&[x, x], &[one, x], &[x, y]],
                _ => &[],
            };
            for operands in operands {
                let node = Node { head: Head::Op(op), operands: operands.to_vec(), ty: Type::F64 };
                compounds.push(self.closure.add(node));
            }
        }
        compounds
    }

    /// The term over the terms of its variables; `None` if a literal does not fit.
    fn term(&mut self, term: &Term, variables: &[Id], typing: &Typing) -> Option<Id> {
        match term {
            Term::Variable(v) => Some(variables[v.index()]),
            &Term::Literal(_, ty) => {
                let ty = ty.in_typing(typing);
                let constant = self.literal(term, ty)?;
                Some(self.leaf(Head::Constant(constant), ty))
            }
            Term::Op(op, operands, ty) => {
                let mut terms = Vec::with_capacity(operands.len());
                for operand in operands {
                    terms.push(self.term(operand, variables, typing)?);
                }
                let ty = ty.in_typing(typing);
                let id = self.closure.add(Node { head: Head::Op(*op), operands: terms, ty });
                self.compute(id);
                Some(id)
            }
        }
    }

    /// The constant that a literal is at a type.
    fn literal(&self, term: &Term, ty: Type) -> Option<Constant> {
        let Term::Literal(constant, _) = *term else { return None };
        let typing = Typing { variables: Vec::new(), root: ty };
        let literal = Term::Literal(constant, TypeSource::Is(ty));
        self.canonical(literal.eval(self.ctx.registry(), &typing, &[])?.ok()?)
    }

    /// The constant that stands for this one; `None` if there is none under the algebra.
    fn canonical(&self, constant: Constant) -> Option<Constant> {
        match constant.as_float() {
            Some(x) if self.math != Math::Exact => match x {
                0.0 => Some(Constant::F64(0)),
                x => x.is_finite().then_some(constant),
            },
            _ => Some(constant),
        }
    }

    /// Computes an op on constants.
    fn compute(&mut self, id: Id) {
        if self.closure.constant(id).is_some() {
            return;
        }
        let Node { head: Head::Op(op), operands, ty } = self.closure.node(id).clone() else {
            return;
        };
        let constants = operands.iter().map(|&operand| self.closure.constant(operand));
        let Some(constants) = constants.collect::<Option<Vec<Constant>>>() else { return };
        let Some(def) = self.ctx.registry().def(op) else { return };
        let Some(Ok(value)) = eval_scalar(def, &constants, ty) else { return };
        let Some(value) = self.canonical(value) else { return };
        let operands = operands.iter().map(|&operand| self.closure.simplest(operand)).collect();
        let computed = self.closure.add(Node { head: Head::Op(op), operands, ty });
        let value = self.leaf(Head::Constant(value), ty);
        self.closure.unite(computed, value, Reason::Computed);
    }

    /// Applies all rules until nothing is new.
    fn saturate(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let before = (self.closure.len(), self.closure.unions);
            for id in self.closure.all_distinct() {
                self.compute(id);
            }
            for (at, variables, typing) in self.matches() {
                if self.closure.clash.is_some() || self.closure.len() > MAX_TERMS {
                    return;
                }
                if !self.applied.insert((at, variables.clone())) {
                    continue;
                }
                let rule = Arc::clone(self.rules[at].rule);
                let from = self.term(rule.from(), &variables, &typing);
                let to = self.term(rule.to(), &variables, &typing);
                if let (Some(from), Some(to)) = (from, to) {
                    self.closure.unite(from, to, Reason::Rule(Arc::clone(rule.name())));
                }
            }
            if self.closure.clash.is_some() || (self.closure.len(), self.closure.unions) == before {
                return;
            }
        }
    }

    /// All matches: the rule by its position, the terms of its variables, their types.
    fn matches(&self) -> Vec<(usize, Vec<Id>, Typing)> {
        let mut by_op: FxHashMap<Op, Vec<Id>> = FxHashMap::default();
        let mut by_class: ByClass = FxHashMap::default();
        for id in self.closure.all_distinct() {
            if let Head::Op(op) = self.closure.node(id).head {
                by_op.entry(op).or_default().push(id);
                let class = by_class.entry((self.closure.find(id), op)).or_default();
                if class.len() < MAX_CANDIDATES {
                    class.push(id);
                }
            }
        }
        let positive = self.closure.find(self.positive);
        let mut found = Vec::new();
        for (at, used) in self.rules.iter().enumerate() {
            let mut count = 0;
            let Term::Op(op, ..) = used.rule.from() else { continue };
            for &id in by_op.get(op).map_or(&[][..], Vec::as_slice) {
                let mut bindings = vec![None; used.rule.variables().len()];
                let root = self.closure.node(id).ty;
                let goals = vec![Goal::Term(used.rule.from(), id)];
                self.solve(&by_class, goals, &mut bindings, &mut |bindings| {
                    let classes: Vec<Id> = bindings.iter().flatten().copied().collect();
                    let variables: Vec<Type> =
                        classes.iter().map(|&class| self.closure.node(class).ty).collect();
                    let typing = Typing { variables, root };
                    let holds = used.rule.conditions().iter().all(|condition| {
                        condition.holds(&self.facts(classes[condition.variable.index()], positive))
                    });
                    if holds && used.typings.contains(&typing) {
                        let terms = classes.iter().map(|&class| self.closure.simplest(class));
                        found.push((at, terms.collect(), typing));
                        count += 1;
                    }
                });
                if count >= MAX_MATCHES {
                    break;
                }
            }
        }
        found
    }

    /// Finds all terms of the variables for which the goals are met.
    fn solve<'t>(
        &self,
        by_class: &ByClass,
        mut goals: Vec<Goal<'t>>,
        bindings: &mut Vec<Option<Id>>,
        found: &mut dyn FnMut(&[Option<Id>]),
    ) {
        let Some(goal) = goals.pop() else { return found(bindings) };
        let only;
        let (pattern, candidates): (&Term, &[Id]) = match goal {
            Goal::Term(pattern, id) => {
                only = [id];
                (pattern, &only)
            }
            Goal::Class(pattern, class) => match pattern {
                Term::Op(op, ..) => {
                    let found = by_class.get(&(self.closure.find(class), *op));
                    (pattern, found.map_or(&[], Vec::as_slice))
                }
                Term::Literal(..) => {
                    let ty = self.closure.node(class).ty;
                    let constants = (self.closure.constant(class), self.literal(pattern, ty));
                    if constants.0.is_some() && constants.0 == constants.1 {
                        self.solve(by_class, goals, bindings, found);
                    }
                    return;
                }
                Term::Variable(v) => {
                    let class = self.closure.find(class);
                    match bindings[v.index()] {
                        Some(bound) if bound == class => {
                            self.solve(by_class, goals, bindings, found);
                        }
                        Some(_) => {}
                        None => {
                            bindings[v.index()] = Some(class);
                            self.solve(by_class, goals, bindings, found);
                            bindings[v.index()] = None;
                        }
                    }
                    return;
                }
            },
        };
        let Term::Op(op, patterns, _) = pattern else { return };
        let def = self.ctx.registry().def(*op);
        let commutes = def.is_some_and(|def| def.traits.contains(Traits::COMMUTATIVE));
        for &id in candidates {
            let operands = &self.closure.node(id).operands;
            let orders = if commutes && operands.len() == 2 { 2 } else { 1 };
            for order in 0..orders {
                let mut goals = goals.clone();
                for (i, pattern) in patterns.iter().enumerate() {
                    let at = if order == 1 { 1 - i } else { i };
                    goals.push(Goal::Class(pattern, operands[at]));
                }
                self.solve(by_class, goals, bindings, found);
            }
        }
    }

    /// The facts that are known of the terms of a class. Everything that is computed is quiet.
    fn facts(&self, class: Id, positive: Id) -> Facts {
        let ty = self.closure.node(class).ty;
        if let Some(constant) = self.closure.constant(class) {
            return Facts::of_constant(constant, ty);
        }
        let mut facts = Facts { quiet: true, ..Facts::of_type(ty) };
        if class == positive {
            facts.kinds = FloatKinds::PLUS | FloatKinds::ABOVE;
            facts.not_minus_zero = true;
        }
        facts
    }

    fn report(&self, (a, b): (Id, Id)) -> Contradiction {
        let mut steps = vec![self.text(a)];
        for (from, reason, to) in self.closure.path(a, b) {
            let by: Vec<String> = match reason {
                Reason::Rule(name) => vec![name.to_string()],
                Reason::Computed => vec!["computed".to_owned()],
                Reason::Congruence => {
                    let operands = |id: Id| self.closure.node(id).operands.iter().copied();
                    let pairs = operands(from).zip(operands(to));
                    let rules = pairs.flat_map(|(a, b)| self.closure.rules(a, b));
                    rules.map(|name| name.to_string()).collect()
                }
            };
            let by = if by.is_empty() { "computed".to_owned() } else { by.join(", ") };
            steps.push(format!("= {}  [{by}]", self.text(to)));
        }
        Contradiction {
            math: self.math,
            constants: [self.text(a), self.text(b)],
            rules: self.closure.rules(a, b),
            steps,
        }
    }

    /// A term as rules are written.
    fn text(&self, id: Id) -> String {
        let node = self.closure.node(id);
        match node.head {
            Head::Constant(constant) => self.ctx.constant_text(constant),
            Head::Variable(name) => name.to_owned(),
            Head::Op(op) => {
                let operands = node.operands.iter().map(|&operand| {
                    let text = self.text(operand);
                    if text.contains(' ') { format!("({text})") } else { text }
                });
                let name = self.ctx.registry().def(op).map_or("?", |def| def.name);
                format!("{name} {}", operands.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A pattern that is to match a term itself, or some term of its class.
#[derive(Clone, Copy)]
enum Goal<'t> {
    Term(&'t Term, Id),
    Class(&'t Term, Id),
}

fn same_bits(a: Constant, b: Constant) -> bool {
    let quiet = |c: Constant| {
        c.as_float().is_some_and(f64::is_nan)
            && Facts::of_constant(
                c,
                if matches!(c, Constant::F32(_)) { Type::F32 } else { Type::F64 },
            )
            .quiet
    };
    a == b || quiet(a) && quiet(b)
}

fn same_number(a: Constant, b: Constant) -> bool {
    a == b || a.as_float().zip(b.as_float()).is_some_and(|(a, b)| a == b)
}

fn close(a: Constant, b: Constant) -> bool {
    let near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0);
    a == b || a.as_float().zip(b.as_float()).is_some_and(near)
}
