//! From rules as they are written to rules over ops: which ops the names stand for, and which
//! types everything has.

use std::sync::Arc;

use regraft_dialects::semantics::to_slot;
use regraft_ir::{
    Constant, Diagnostic, OpDef, Registry, ResultType, Traits, Type, TypeClass, suggest,
};
use regraft_syntax::{
    Name, RewriteCondition, RewriteRule, RewriteTerm, RewriteTermKind, RewriteText, parse_rewrites,
};
use rustc_hash::FxHashSet;

use super::condition::{Condition, ConditionKind};
use super::rule::{Rule, RuleSet, Slots, source_of};
use super::term::{Term, TypeSource, Variable};
use super::typing::{Slot, TypeSet, Unifier};

/// The most variables of a rule.
const MAX_VARIABLES: usize = 16;

/// Reads rules over ops of these dialects. `name` is what errors call the text, which begins at line `first` of a file.
pub(super) fn compile_at(
    registry: &Registry,
    name: &str,
    text: &str,
    first: usize,
) -> Result<Vec<Rule>, Vec<Diagnostic>> {
    let text = parse_rewrites(name, text)?;
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    let mut names = FxHashSet::default();
    let (mut line, mut counted) = (first, 0);
    for written in &text.rules {
        if !names.insert(written.name.text.as_str()) {
            let message = format!("there is a rule `{}` already", written.name.text);
            errors.push(text.error(written.name.span.clone(), message, "the second one"));
        }
        line += text.text(counted..written.span.start).matches('\n').count();
        counted = written.span.start;
        let backward = written.both_ways.then_some(true);
        for reversed in [Some(false), backward].into_iter().flatten() {
            let place = format!("{name}:{line}");
            match Compiler::new(registry, &text, written, reversed).rule(place) {
                Ok(rule) => rules.push(rule),
                Err(error) => {
                    errors.push(error);
                    break;
                }
            }
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

struct Compiler<'a> {
    registry: &'a Registry,
    text: &'a RewriteText,
    written: &'a RewriteRule,
    reversed: bool,
    unifier: Unifier,
    variables: Vec<(String, Slot)>,
}

/// A term whose types are not known yet.
enum Typed<'a> {
    Variable(Variable),
    Literal(Constant, Slot, &'a RewriteTerm),
    Op(&'static OpDef, Vec<Typed<'a>>, Slot, &'a RewriteTerm),
}

impl<'a> Compiler<'a> {
    fn new(
        registry: &'a Registry,
        text: &'a RewriteText,
        written: &'a RewriteRule,
        reversed: bool,
    ) -> Self {
        let (unifier, variables) = (Unifier::default(), Vec::new());
        Self { registry, text, written, reversed, unifier, variables }
    }

    /// The rule, which stands at `place`.
    fn rule(mut self, place: String) -> Result<Rule, Diagnostic> {
        let written = self.written;
        let (from, to) = match self.reversed {
            false => (&written.from, &written.to),
            true => (&written.to, &written.from),
        };
        let set = self.set()?;
        if !matches!(from.kind, RewriteTermKind::Op(..)) {
            return Err(self.error(from, "a rule replaces the result of an op", "this is no op"));
        }
        let (from_typed, root) = self.term(from, true)?;
        let (to_typed, result) = self.term(to, false)?;
        if !self.unifier.unify(root, result) {
            return Err(self.error(
                to,
                "both sides of a rule have the same type",
                "never the same",
            ));
        }
        let mut conditions = Vec::new();
        for condition in &written.conditions {
            conditions.push(self.condition(condition)?);
        }
        let slots: Vec<Slot> = self.variables.iter().map(|&(_, slot)| slot).collect();
        let from = self.finish(from_typed, &slots, root)?;
        let to = self.finish(to_typed, &slots, root)?;
        let text: Vec<&str> = self.text.text(written.span.clone()).lines().map(line).collect();
        Ok(Rule {
            name: written.name.text.as_str().into(),
            set,
            from,
            to,
            conditions,
            slots: Slots::new(&self.unifier, &slots, root),
            variables: self.variables.into_iter().map(|(name, _)| Arc::from(name)).collect(),
            text: text.join(" ").into(),
            place: place.into(),
            reversed: self.reversed,
            both_ways: written.both_ways,
        })
    }

    fn error(&self, at: &RewriteTerm, message: impl Into<String>, label: &str) -> Diagnostic {
        self.text.error(at.span.clone(), message, label)
    }

    /// An error about a name that is none of `names`.
    fn unknown<'n>(
        &self,
        kind: &str,
        name: &Name,
        names: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let hint =
            suggest(&name.text, names).map_or(String::new(), |s| format!("did you mean `{s}`?"));
        let message = format!("there is no {kind} `{}`", name.text);
        self.text.error(name.span.clone(), message, hint)
    }

    fn set(&self) -> Result<RuleSet, Diagnostic> {
        let name = &self.written.set;
        let found = RuleSet::ALL.into_iter().find(|set| set.name() == name.text);
        found.ok_or_else(|| {
            self.unknown("set of rules", name, RuleSet::ALL.iter().map(|s| s.name()))
        })
    }

    /// Finds the ops and the types of a term. Only the left side may bring in variables.
    fn term(
        &mut self,
        term: &'a RewriteTerm,
        binds: bool,
    ) -> Result<(Typed<'a>, Slot), Diagnostic> {
        match &term.kind {
            RewriteTermKind::Variable(name) => {
                let known = self.variables.iter().position(|(other, _)| other == name);
                let at = match known {
                    Some(at) => at,
                    None if !binds => {
                        let message = format!("`?{name}` does not occur in what is replaced");
                        return Err(self.error(term, message, "not known"));
                    }
                    None if self.variables.len() == MAX_VARIABLES => {
                        let message = format!("a rule has at most {MAX_VARIABLES} variables");
                        return Err(self.error(term, message, "one too many"));
                    }
                    None => {
                        let slot = self.unifier.fresh(TypeSet::ALL);
                        self.variables.push((name.clone(), slot));
                        self.variables.len() - 1
                    }
                };
                Ok((Typed::Variable(Variable(at as u8)), self.variables[at].1))
            }
            &RewriteTermKind::Literal(constant) => {
                let set = match constant {
                    Constant::I64(_) => TypeSet::of_class(TypeClass::Number),
                    Constant::F64(_) => TypeSet::of_class(TypeClass::Float),
                    other => TypeSet::of_type(type_of(other)),
                };
                let slot = self.unifier.fresh(set);
                Ok((Typed::Literal(constant, slot, term), slot))
            }
            RewriteTermKind::Op(name, operands) => self.op(term, name, operands, binds),
        }
    }

    fn op(
        &mut self,
        term: &'a RewriteTerm,
        name: &Name,
        operands: &'a [RewriteTerm],
        binds: bool,
    ) -> Result<(Typed<'a>, Slot), Diagnostic> {
        let Some(def) = self.registry.find(&name.text) else {
            return Err(self.unknown("op", name, self.registry.ops().map(OpDef::mnemonic)));
        };
        let wrong = |this: &Self, message: String| {
            Err(this.text.error(name.span.clone(), message, "this op"))
        };
        if !def.traits.contains(Traits::PURE) || def.attrs.iter().any(|attr| attr.required) {
            return wrong(self, format!("`{}` is not pure, rules are about values", name.text));
        }
        if def.variadic || def.operands.len() != operands.len() {
            let want = def.operands.len();
            return match def.variadic {
                true => wrong(self, format!("`{}` takes any number of operands", name.text)),
                false => wrong(
                    self,
                    format!("`{}` takes {want} operands, found {}", name.text, operands.len()),
                ),
            };
        }
        let mut variables = Vec::new();
        let mut typed = Vec::with_capacity(operands.len());
        for (spec, operand) in def.operands.iter().zip(operands) {
            let Some(want) = self.unifier.operand(spec.pattern, def.type_vars, &mut variables)
            else {
                return wrong(
                    self,
                    format!("`{}` is about memory, rules are about values", name.text),
                );
            };
            let (part, have) = self.term(operand, binds)?;
            if !self.unifier.unify(want, have) {
                let message =
                    format!("operand `{}` of `{}` cannot be of this type", spec.name, name.text);
                return Err(self.error(operand, message, "no scalar type fits"));
            }
            typed.push(part);
        }
        let result = match def.result {
            ResultType::Is(ty) => self.unifier.fresh(TypeSet::of_type(ty)),
            ResultType::Var(var) => self.unifier.variable(var, def.type_vars, &mut variables),
            ResultType::Declared => self.unifier.fresh(TypeSet::ALL),
            ResultType::RefOf(_) | ResultType::Computed(_) => {
                return wrong(self, format!("the result of `{}` is no scalar", name.text));
            }
        };
        Ok((Typed::Op(def, typed, result, term), result))
    }

    fn condition(&mut self, written: &RewriteCondition) -> Result<Condition, Diagnostic> {
        let name = &written.name;
        let kind = ConditionKind::ALL.iter().copied().find(|kind| kind.name() == name.text);
        let Some(kind) = kind else {
            let names = ConditionKind::ALL.iter().map(|kind| kind.name());
            return Err(self.unknown("condition", name, names));
        };
        if written.negated && !kind.is_formal() {
            let message = format!("`not {}` is no condition: it could not be known", name.text);
            return Err(self.text.error(name.span.clone(), message, ""));
        }
        let at = self.variables.iter().position(|(other, _)| *other == written.variable.text);
        let Some(at) = at else {
            let message = format!("there is no variable `?{}`", written.variable.text);
            return Err(self.text.error(written.variable.span.clone(), message, "not known"));
        };
        let class = match kind {
            ConditionKind::Int => Some(TypeSet::of_class(TypeClass::Int)),
            ConditionKind::Float | ConditionKind::PowerOfTwo => {
                Some(TypeSet::of_class(TypeClass::Float))
            }
            ConditionKind::Bool => Some(TypeSet::of_type(Type::BOOL)),
            _ => None,
        };
        if let Some(class) = class.filter(|_| !written.negated) {
            let slot = self.unifier.fresh(class);
            if !self.unifier.unify(self.variables[at].1, slot) {
                let message = format!("`?{}` is never that", written.variable.text);
                return Err(self.text.error(name.span.clone(), message, "of another type"));
            }
        }
        Ok(Condition { kind, negated: written.negated, variable: Variable(at as u8) })
    }

    /// The term with the places that its types are taken from.
    fn finish(&self, typed: Typed<'_>, variables: &[Slot], root: Slot) -> Result<Term, Diagnostic> {
        let source = |slot, term: &RewriteTerm, kind: &str| {
            source_of(&self.unifier, slot, variables, root).ok_or_else(|| {
                let message = format!("the type of this {kind} is not known");
                self.error(term, message, "nothing beside it says which")
            })
        };
        Ok(match typed {
            Typed::Variable(v) => Term::Variable(v),
            Typed::Literal(constant, slot, term) => {
                Term::Literal(constant, source(slot, term, "literal")?)
            }
            Typed::Op(def, operands, slot, term) => {
                let ty: TypeSource = source(slot, term, "result")?;
                let operands = operands.into_iter().map(|part| self.finish(part, variables, root));
                Term::Op(def.op, operands.collect::<Result<_, _>>()?, ty)
            }
        })
    }
}

/// The type of a literal that is written with it.
fn type_of(literal: Constant) -> Type {
    to_slot(literal).map_or(Type::ANY, |(ty, _)| ty)
}

/// A line without its comment and the blanks around it.
fn line(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}
