//! Tests one rule: at all types, then without each of its conditions.

use std::ops::ControlFlow;
use std::sync::Arc;

use regraft_dialects::semantics::from_slot;
use regraft_ir::{Context, Trap, Type};
use regraft_passes::rewrite::{
    Condition, ConditionKind, Facts, RewriteRules, Rule, RuleSet, Typing,
};

use super::RewriteOptions;
use super::inputs::{Demand, Inputs};
use super::program::Program;
use super::report::{Refutation, RewriteFailure, RewriteReport};

/// Of so many inputs of real numbers, one may differ: two sides differ by more than rounding where
/// numbers cancel.
const ONE_IN: u64 = 64;

/// Tests a rule.
pub(super) fn test_rule(
    ctx: &Context,
    rule: &Arc<Rule>,
    options: &RewriteOptions,
) -> RewriteReport {
    let typings = typings(rule, rule.conditions());
    let report = RewriteReport {
        rule: Arc::clone(rule),
        typings: typings.len(),
        compared: 0,
        skipped: 0,
        failure: None,
    };
    Tester { ctx, rule, options, report }.run(&typings)
}

struct Tester<'a> {
    ctx: &'a Context,
    rule: &'a Arc<Rule>,
    options: &'a RewriteOptions,
    report: RewriteReport,
}

impl Tester<'_> {
    fn run(mut self, typings: &[Typing]) -> RewriteReport {
        self.report.failure = self.holds(typings).or_else(|| self.needs_conditions(typings));
        self.report
    }

    /// Tests that it holds where its conditions do.
    fn holds(&mut self, typings: &[Typing]) -> Option<RewriteFailure> {
        let untested = |types: String, reason: String| RewriteFailure::Untested { types, reason };
        if typings.is_empty() {
            let reason = "no types satisfy its conditions";
            return Some(untested("any types".to_owned(), reason.to_owned()));
        }
        let demands = demands(self.rule, None);
        for typing in typings {
            let types = self.types(typing);
            let case = match Case::new(self.ctx, self.rule, typing, &demands) {
                Ok(case) => case,
                Err(reason) => return Some(untested(types, reason)),
            };
            let tally = case.run(self.samples(typings.len()), self.options.seed);
            self.report.compared += tally.compared;
            self.report.skipped += tally.skipped;
            if let Some(values) = tally.refuting() {
                return Some(RewriteFailure::Refuted(self.refutation(&case, values)));
            }
            if tally.compared == 0 {
                let reason = match tally.skipped {
                    0 => "no value satisfies its conditions",
                    _ => "a side has no value wherever its conditions hold",
                };
                return Some(untested(types, reason.to_owned()));
            }
        }
        None
    }

    /// Tests that it does not hold where just one of its conditions does not.
    fn needs_conditions(&self, typings: &[Typing]) -> Option<RewriteFailure> {
        let superfluous = |condition: &&Condition| match condition.kind {
            ConditionKind::Const => false,
            kind if kind.is_formal() => !self.needs_class(condition),
            _ => !self.fails_without(self.rule, typings, &demands(self.rule, Some(condition))),
        };
        let found = self.rule.conditions().iter().find(superfluous)?;
        let name = self.rule.variables().nth(found.variable.index()).map_or("", |(_, name)| name);
        let not = if found.negated { "not " } else { "" };
        let condition = format!("{not}{} ?{name}", found.kind.name());
        Some(RewriteFailure::Superfluous { condition })
    }

    /// Returns whether the rule fails at types that a condition excludes.
    fn needs_class(&self, condition: &Condition) -> bool {
        // The condition is part of what types are inferred from: the rule is compiled without it.
        let at = self.rule.conditions().iter().position(|c| c == condition);
        let (head, list) = self.rule.text().split_once(" if ").unwrap_or((self.rule.text(), ""));
        let kept: Vec<&str> =
            list.split(',').enumerate().filter(|&(i, _)| Some(i) != at).map(|(_, c)| c).collect();
        let tail = if kept.is_empty() { String::new() } else { format!(" if {}", kept.join(",")) };
        let mut rules = RewriteRules::default();
        if rules.add(self.ctx.registry(), "", &format!("{head}{tail}")).is_err() {
            return true;
        }
        let Some(wider) = rules.all().find(|rule| !rule.is_reversed()) else { return true };
        let excluded: Vec<Typing> = typings(wider, wider.conditions())
            .into_iter()
            .filter(|typing| !holds_for(condition, typing))
            .collect();
        self.fails_without(wider, &excluded, &demands(wider, None))
    }

    /// Returns whether a rule is wrong, or has no value, where the inputs are as demanded.
    fn fails_without(&self, rule: &Rule, typings: &[Typing], demands: &[Demand]) -> bool {
        typings.iter().any(|typing| {
            let Ok(case) = Case::new(self.ctx, rule, typing, demands) else { return true };
            let tally = case.run(self.samples(typings.len()), self.options.seed);
            tally.refuting().is_some() || tally.compared == 0 && tally.singular > 0
        })
    }

    fn samples(&self, typings: usize) -> usize {
        self.options.samples / typings.max(1)
    }

    /// The types of the variables, as text.
    fn types(&self, typing: &Typing) -> String {
        let texts = self.rule.variables().zip(&typing.variables);
        let texts: Vec<String> =
            texts.map(|((_, name), &ty)| format!("?{name}: {}", self.ctx.type_text(ty))).collect();
        if texts.is_empty() { self.ctx.type_text(typing.root) } else { texts.join(", ") }
    }

    fn refutation(&self, case: &Case, values: &[u64]) -> Refutation {
        // Which quiet NaN it is is up to the machine.
        let text = |ty: Type, slot: u64| match from_slot(ty, slot) {
            Some(_) if is_quiet_nan(ty, slot) => "nan".to_owned(),
            constant => constant.map_or(String::new(), |c| self.ctx.constant_text(c)),
        };
        let side = |result: Result<u64, Trap>| match result {
            Ok(slot) => text(case.root, slot),
            Err(trap) => trap.name().to_owned(),
        };
        let types = case.left.types.iter();
        let variables = self.rule.variables().zip(types.zip(values));
        Refutation {
            values: variables
                .map(|((_, name), (&ty, &slot))| {
                    format!("?{name}: {} = {}", self.ctx.type_text(ty), text(ty, slot))
                })
                .collect(),
            from: side(case.left.run(&mut values.to_vec())),
            to: side(case.right.run(&mut values.to_vec())),
        }
    }
}

/// The types that a rule is used at: of those that its ops admit, those that its conditions do.
pub(crate) fn typings(rule: &Rule, conditions: &[Condition]) -> Vec<Typing> {
    let mut typings = rule.typings();
    // The widest types first: they are what is shown.
    typings.reverse();
    typings.retain(|typing| conditions.iter().all(|condition| holds_for(condition, typing)));
    typings
}

/// Returns whether a condition may hold at these types.
fn holds_for(condition: &Condition, typing: &Typing) -> bool {
    let ty = typing.variables[condition.variable.index()];
    !is_class(condition) || condition.holds(&Facts::of_type(ty))
}

fn is_class(condition: &Condition) -> bool {
    condition.kind.is_formal() && condition.kind != ConditionKind::Const
}

/// The conditions of a rule on values, `dropped` turned into its opposite.
fn demands(rule: &Rule, dropped: Option<&Condition>) -> Vec<Demand> {
    let of_value = rule.conditions().iter().filter(|condition| !condition.kind.is_formal());
    of_value.map(|condition| (*condition, dropped != Some(condition))).collect()
}

/// A rule at a choice of types.
struct Case {
    left: Program,
    right: Program,
    root: Type,
    inputs: Inputs,
    sameness: Sameness,
}

/// The condition under which the sides are the same.
#[derive(Clone, Copy, PartialEq)]
enum Sameness {
    /// All bits are, but those of a quiet NaN; both sides end in a trap or none.
    Bits,
    /// As numbers, where nothing is NaN or infinite.
    Finite,
    /// Up to this, relative to the largest number that is computed.
    Real(f64),
}

/// The result of one comparison.
enum Compared {
    Same,
    Different,
    /// A variable is outside of what the set speaks of.
    Outside,
    /// A result or intermediate is, though the variables are not.
    Singular,
}

/// The counts of a run.
#[derive(Default)]
struct Tally {
    compared: u64,
    skipped: u64,
    singular: u64,
    different: u64,
    /// The number of differences that is not put down to rounding.
    allowed: u64,
    first: Option<Vec<u64>>,
}

impl Tally {
    /// The first values that refute the rule, if it is refuted.
    fn refuting(&self) -> Option<&[u64]> {
        self.first.as_deref().filter(|_| self.different > self.allowed)
    }
}

impl Case {
    fn new(
        ctx: &Context,
        rule: &Rule,
        typing: &Typing,
        demands: &[Demand],
    ) -> Result<Self, String> {
        let left = Program::new(ctx.registry(), rule.from(), typing)?;
        let right = Program::new(ctx.registry(), rule.to(), typing)?;
        let narrow = [&left, &right].iter().any(|program| program.types.contains(&Type::F32));
        let sameness = match rule.set() {
            RuleSet::Exact => Sameness::Bits,
            _ if !left.has_floats() && !right.has_floats() => Sameness::Bits,
            RuleSet::Finite | RuleSet::Guard => Sameness::Finite,
            RuleSet::Fast => Sameness::Real(if narrow { 1e-3 } else { 1e-6 }),
        };
        let real = matches!(sameness, Sameness::Real(_));
        let inputs = Inputs::new(&typing.variables, demands, real);
        Ok(Self { left, right, root: typing.root, inputs, sameness })
    }

    fn run(&self, samples: usize, seed: u64) -> Tally {
        let mut tally = Tally::default();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let real = matches!(self.sameness, Sameness::Real(_));
        // Elementary functions cost more, and there is less to find where nothing is special.
        let samples = if real { samples / 4 } else { samples };
        let _ = self.inputs.each(samples, seed, |values| {
            match self.compare(values, &mut left, &mut right) {
                Compared::Same => tally.compared += 1,
                Compared::Outside => tally.skipped += 1,
                Compared::Singular => {
                    tally.skipped += 1;
                    tally.singular += 1;
                }
                Compared::Different => {
                    tally.compared += 1;
                    tally.different += 1;
                    tally.first.get_or_insert_with(|| values.to_vec());
                    if !real {
                        return ControlFlow::Break(());
                    }
                }
            }
            ControlFlow::Continue(())
        });
        tally.allowed = if real { tally.compared / ONE_IN } else { 0 };
        tally
    }

    fn compare(&self, values: &[u64], left: &mut Vec<u64>, right: &mut Vec<u64>) -> Compared {
        let side = |program: &Program, registers: &mut Vec<u64>| {
            registers.clear();
            registers.extend_from_slice(values);
            program.run(registers)
        };
        let results = (side(&self.left, left), side(&self.right, right));
        let same = |same: bool| if same { Compared::Same } else { Compared::Different };
        if self.sameness == Sameness::Bits {
            return match results {
                (Ok(x), Ok(y)) => same(is_same(self.root, x, y)),
                (x, y) => same(x.is_err() == y.is_err()),
            };
        }
        let mut largest = 0f64;
        for (program, registers) in [(&self.left, &*left), (&self.right, &*right)] {
            for (i, (&ty, &slot)) in program.types.iter().zip(registers).enumerate() {
                if let Some(x) = number(ty, slot) {
                    if !x.is_finite() {
                        let variable = i < values.len();
                        return if variable { Compared::Outside } else { Compared::Singular };
                    }
                    largest = largest.max(x.abs());
                }
            }
        }
        let (x, y) = match results {
            (Ok(x), Ok(y)) => (x, y),
            (x, y) if self.sameness == Sameness::Finite && x.is_err() != y.is_err() => {
                return Compared::Different;
            }
            _ => return Compared::Singular,
        };
        match (number(self.root, x), number(self.root, y), self.sameness) {
            (Some(x), Some(y), Sameness::Real(tolerance)) => {
                same((x - y).abs() <= tolerance * largest)
            }
            (Some(x), Some(y), _) => same(x == y),
            _ => same(x == y),
        }
    }
}

/// The number in a slot, if it is a float.
fn number(ty: Type, slot: u64) -> Option<f64> {
    match ty {
        Type::F64 => Some(f64::from_bits(slot)),
        Type::F32 => Some(f32::from_bits(slot as u32).into()),
        _ => None,
    }
}

/// Returns whether two values are the same bit for bit, or quiet NaNs both.
fn is_same(ty: Type, x: u64, y: u64) -> bool {
    x == y || is_quiet_nan(ty, x) && is_quiet_nan(ty, y)
}

fn is_quiet_nan(ty: Type, slot: u64) -> bool {
    match ty {
        Type::F64 => f64::from_bits(slot).is_nan() && slot & (1 << 51) != 0,
        Type::F32 => f32::from_bits(slot as u32).is_nan() && slot & (1 << 22) != 0,
        _ => false,
    }
}
