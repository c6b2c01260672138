//! The outcome of the tests of a rule, as data and as text.

use std::fmt;
use std::sync::Arc;

use regraft_ir::Diagnostic;
use regraft_passes::rewrite::{Math, Rule};

/// The outcome of the tests of a rule.
#[derive(Clone, Debug)]
pub struct RewriteReport {
    /// The rule; that from left to right stands for both of a `<=>`.
    pub rule: Arc<Rule>,
    /// The number of choices of types that it was tested at.
    pub typings: usize,
    /// The number of inputs at which both sides were compared.
    pub compared: u64,
    /// The number of inputs at which a side has no value that the set of the rule speaks of.
    pub skipped: u64,
    /// The first thing that is wrong with it.
    pub failure: Option<RewriteFailure>,
}

/// A mistake in a rule.
#[derive(Clone, Debug)]
pub enum RewriteFailure {
    /// The two sides are not the same.
    Refuted(Refutation),
    /// No input was found at which the sides could be compared: the types, and why.
    Untested {
        /// The types of the variables.
        types: String,
        /// The reason.
        reason: String,
    },
    /// The rule holds where this condition does not as well.
    Superfluous {
        /// The condition, as it is written.
        condition: String,
    },
}

/// Values that refute a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// The variables with their types and values: `?a: f64 = -0.0`.
    pub values: Vec<String>,
    /// The value of the left side, or the trap that it ends in.
    pub from: String,
    /// The value of the right side, or the trap that it ends in.
    pub to: String,
}

/// Rules that make unequal constants one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The algebra under which they are used together.
    pub math: Math,
    /// The constants.
    pub constants: [String; 2],
    /// The rules on the way.
    pub rules: Vec<Arc<str>>,
    /// The terms from one constant to the other, each with the rules that lead to it.
    pub steps: Vec<String>,
}

impl RewriteReport {
    /// Returns whether nothing is wrong with the rule.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }

    /// The error to show, if something is wrong with the rule.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let failure = self.failure.as_ref()?;
        let error = Diagnostic::error(format!("rule `{}` {failure}", self.rule.name()));
        let mut error = error.note(format!("{}: {}", self.rule.place(), self.rule.text()));
        match failure {
            RewriteFailure::Refuted(_) if self.rule.conditions().is_empty() => {
                error = error.help("conditions after `if` keep values out");
            }
            RewriteFailure::Superfluous { .. } => error = error.help("leave the condition out"),
            _ => {}
        }
        Some(error)
    }
}

impl fmt::Display for RewriteFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refuted(refutation) => write!(f, "is wrong: {refutation}"),
            Self::Untested { types, reason } => write!(f, "is not tested at {types}: {reason}"),
            Self::Superfluous { condition } => write!(f, "holds without `{condition}`"),
        }
    }
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, from, to } = self;
        let at = if values.is_empty() { "everywhere".to_owned() } else { values.join(", ") };
        write!(f, "{at}: left {from}, right {to}")
    }
}

impl Contradiction {
    /// The error to show.
    pub fn diagnostic(&self) -> Diagnostic {
        let [a, b] = &self.constants;
        let names: Vec<String> = self.rules.iter().map(|name| format!("`{name}`")).collect();
        let error = Diagnostic::error(format!(
            "under `math={}`, {a} and {b} become one by {}",
            self.math.name(),
            names.join(", ")
        ));
        error.note(self.steps.join("\n"))
    }
}
