//! One rule.

use std::fmt;
use std::sync::Arc;

use regraft_ir::{Op, Type};

use super::term::{Term, TypeSource, Variable};
use super::typing::{Slot, TypeSet, Typing, Unifier};
use super::{Condition, Facts, Math};

/// The set that a rule belongs to: for which values it holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleSet {
    /// For every value.
    Exact,
    /// For values and results that are finite, up to the sign of zero.
    Finite,
    /// As [`RuleSet::Finite`]; it takes a guard of a singular point away.
    Guard,
    /// For real numbers.
    Fast,
}

impl RuleSet {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Finite, Self::Guard, Self::Fast];

    /// The name in rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Finite => "finite",
            Self::Guard => "guard",
            Self::Fast => "fast",
        }
    }

    /// Returns whether its rules are used under `math`.
    pub fn is_used_by(self, math: Math) -> bool {
        match self {
            Self::Exact => true,
            Self::Finite => math != Math::Exact,
            Self::Guard => math == Math::Finite,
            Self::Fast => math == Math::Fast,
        }
    }
}

/// A rewrite rule.
#[derive(Clone)]
pub struct Rule {
    pub(super) name: Arc<str>,
    pub(super) set: RuleSet,
    pub(super) from: Term,
    pub(super) to: Term,
    pub(super) conditions: Vec<Condition>,
    pub(super) variables: Vec<Arc<str>>,
    /// The text of the rule, and where it stands.
    pub(super) text: Arc<str>,
    pub(super) place: Arc<str>,
    /// Tells whether it is the rule of a `<=>` from right to left.
    pub(super) reversed: bool,
    /// Tells whether it is one of the rules of a `<=>`.
    pub(super) both_ways: bool,
    pub(super) slots: Slots,
}

/// The types that a rule may be used at.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// The types that are the same as each other, by a number: of the variables, and of the whole.
    pub(super) variables: Vec<usize>,
    pub(super) root: usize,
    /// The types that those of a number can be.
    pub(super) sets: Vec<TypeSet>,
}

impl Slots {
    /// Of the slots of variables and of the whole term.
    pub(super) fn new(unifier: &Unifier, variables: &[Slot], root: Slot) -> Self {
        let mut seen: Vec<Slot> = Vec::new();
        let mut sets = Vec::new();
        let mut number = |slot: Slot| {
            let slot = unifier.find(slot);
            seen.iter().position(|&other| other == slot).unwrap_or_else(|| {
                seen.push(slot);
                sets.push(unifier.set(slot));
                seen.len() - 1
            })
        };
        let variables = variables.iter().map(|&slot| number(slot)).collect();
        let root = number(root);
        Self { variables, root, sets }
    }
}

impl Rule {
    /// Its name. Those of one set of rules need not differ: `<=>` makes two of one name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Its set.
    pub fn set(&self) -> RuleSet {
        self.set
    }

    /// The term that it matches.
    pub fn from(&self) -> &Term {
        &self.from
    }

    /// The term that it puts in the place of that.
    pub fn to(&self) -> &Term {
        &self.to
    }

    /// Its conditions, all of which must hold.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns whether a variable stands for constants alone.
    pub(super) fn wants_constant(&self, variable: Variable) -> bool {
        let asks = |c: &Condition| c.kind.needs_constant() && !c.negated;
        self.conditions.iter().any(|c| c.variable == variable && asks(c))
    }

    /// The names of its variables, without question marks, in the order in which they occur.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = (Variable, &str)> {
        self.variables.iter().enumerate().map(|(i, name)| (Variable(i as u8), &**name))
    }

    /// Its text, on one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file and line of the text: `exact.rules:12`.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns whether it is the rule of a `<=>` from right to left.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Returns whether it is one of the two rules of a `<=>`.
    pub fn is_both_ways(&self) -> bool {
        self.both_ways
    }

    /// The op at the root of what it matches.
    pub fn root(&self) -> Op {
        match &self.from {
            Term::Op(op, ..) => *op,
            _ => unreachable!("a rule matches an op"),
        }
    }

    /// All choices of scalar types that it may be used at.
    pub fn typings(&self) -> Vec<Typing> {
        let mut found: Vec<Vec<Type>> = vec![Vec::new()];
        for set in &self.slots.sets {
            found = found
                .into_iter()
                .flat_map(|types| {
                    set.scalars().map(move |ty| {
                        let mut types = types.clone();
                        types.push(ty);
                        types
                    })
                })
                .collect();
        }
        let typing = |types: Vec<Type>| Typing {
            variables: self.slots.variables.iter().map(|&slot| types[slot]).collect(),
            root: types[self.slots.root],
        };
        found.into_iter().map(typing).collect()
    }

    /// The types that the whole term may be of.
    pub(super) fn root_types(&self) -> TypeSet {
        self.slots.sets[self.slots.root]
    }

    /// Returns whether it may be used for operands of which this is known: their types fit, and all
    /// conditions hold.
    #[inline]
    pub(crate) fn admits_facts<'f>(&self, of: impl Fn(Variable) -> Option<&'f Facts>) -> bool {
        let fits = |(i, &slot): (usize, &usize)| {
            of(Variable(i as u8)).is_some_and(|facts| self.slots.sets[slot].contains(facts.ty))
        };
        self.slots.variables.iter().enumerate().all(fits)
            && self.conditions.iter().all(|c| of(c.variable).is_some_and(|facts| c.holds(facts)))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let back = if self.reversed { ", reversed" } else { "" };
        write!(f, "{}{back}", self.text)
    }
}

/// The place of the type of a slot where a rule matches, if what matches tells it.
pub(super) fn source_of(
    unifier: &Unifier,
    slot: Slot,
    variables: &[Slot],
    root: Slot,
) -> Option<TypeSource> {
    let slot = unifier.find(slot);
    if unifier.find(root) == slot {
        return Some(TypeSource::Root);
    }
    if let Some(i) = variables.iter().position(|&other| unifier.find(other) == slot) {
        return Some(TypeSource::Of(Variable(i as u8)));
    }
    let mut types = unifier.set(slot).scalars();
    let only = types.next()?;
    types.next().is_none().then_some(TypeSource::Is(only))
}
