//! Tests the derivative of a function.
//!
//! ```text
//! test_rule(module, "f", (f64, array<f64, 1>)):
//!   @f.jvp       runs as @f does, bit for bit; its tangents are the central differences of @f
//!   @f.forward   runs as @f does; what is one object has one shadow
//!   @f.reverse   <x̄, ẋ> = <ȳ, ẏ>, for random ẋ and ȳ
//! ```
//!
//! # Method
//! A function takes its arguments to its *state*: its result, and all that its arguments hold
//! afterwards. As a vector of floats, both have derivatives whose product along a random
//! direction ẋ is known three times: by forward mode (ẏ), by central differences with Richardson
//! extrapolation, and by reverse mode, for a random ȳ, as ⟨ȳ, ẏ⟩ = ⟨x̄, ẋ⟩. Reverse mode is tried
//! with every plan; all runs are repeated and have to repeat themselves bit for bit. Where a
//! cotangent is wrong, forward mode runs once more for each float of the arguments, to tell which.
//!
//! # What is no failure
//! If the differences to either side are not the same, there is a kink, and whatever is chosen
//! there is right. Where a run exceeds a limit, where numbers overflow (in the state, or on the way if
//! reverse mode gives no number), or where a derivative is so sensitive that rounding decides, nothing
//! is said. All of this is counted.
//!
//! # Cost
//! Some twelve runs of the function and six of its derivatives for each input.

mod derive;
mod differences;
mod floats;
mod places;
mod run;

use std::fmt;

use regraft_ad::{Checkpoints, PlanKind};
use regraft_exec::EngineKind;
use regraft_exec::{Limits, Val};
use regraft_ir::{Module, Type};
use regraft_passes::Pipeline;

use crate::compare::{Agreement, CompareConfig};
pub(crate) use derive::Make;
pub use derive::{DERIVATIVE_PASSES, test_call, test_rule};
use run::Checker;

/// The arguments that a function is run on.
#[derive(Clone, Debug)]
pub enum RuleArgs {
    /// Random arguments of these types.
    Types(Vec<Type>),
    /// These, once; they are copied and stay as they are.
    Values(Vec<Val>),
}

/// The configuration of a test of derivatives.
#[derive(Clone, Debug)]
pub struct RuleOptions {
    /// On how many inputs.
    pub inputs: u32,
    /// The seed of the inputs and of the directions.
    pub seed: u64,
    /// The limits of a run of the function; its derivatives may use 30 times as much.
    pub limits: Limits,
    /// The engine that runs the derivatives.
    pub engine: EngineKind,
    /// With respect to which parameters [`test_rule`] differentiates, counted from 1; `None` for
    /// all.
    pub wrt: Option<Vec<usize>>,
    /// The numbers of directions that forward mode takes at once, each tried; empty for no forward mode.
    pub widths: Vec<usize>,
    /// The plans of reverse mode that it tries, with how much loops may keep; none for no reverse
    /// mode.
    pub plans: Vec<(PlanKind, Option<Checkpoints>)>,
    /// True if arguments are arrays of the same lengths, and no object twice: as the arguments of a
    /// derivative that is differentiated again have to be.
    pub alike: bool,
    /// The pipeline that runs on the function before it is differentiated.
    pub before: Pipeline,
    /// The pipeline that runs on the derivatives.
    pub after: Pipeline,
}

impl Default for RuleOptions {
    /// Four inputs of seed 0, 20,000 instructions each; all parameters, both modes, no pipelines.
    fn default() -> Self {
        let CompareConfig { limits, .. } = CompareConfig::default();
        let limits = Limits { fuel: Some(20_000), ..limits };
        Self {
            inputs: 4,
            seed: 0,
            limits,
            engine: EngineKind::Interpreter,
            wrt: None,
            widths: vec![1],
            plans: vec![
                (PlanKind::Best, None),
                (PlanKind::Naive, None),
                (PlanKind::Best, Some(Checkpoints::Snapshots(2))),
            ],
            alike: false,
            before: Pipeline::default(),
            after: Pipeline::default(),
        }
    }
}

/// The functions that are to be the derivatives of one, by their names.
#[derive(Clone, Debug, Default)]
pub struct Derivatives {
    /// With respect to which of the parameters.
    pub active: Vec<bool>,
    /// `(x.., t..) -> (y, ẏ)`, with how many directions at once it takes.
    pub forward: Vec<(String, usize)>,
    /// Pairs of sweeps: different plans of one derivative.
    pub reverse: Vec<Sweeps>,
}

/// The functions of reverse mode, by their names.
#[derive(Clone, Debug)]
pub struct Sweeps {
    /// The name that tells them from others: the plan.
    pub label: String,
    /// True if cotangents are summed in another order than by other plans.
    pub reordered: bool,
    /// `(x.., s..) -> (y, shadow of y, tape)`.
    pub forward: String,
    /// `(tape, r) -> (c..)`.
    pub reverse: String,
    /// `(x.., s.., r) -> (y, (c..))`, if there is one.
    pub vjp: Option<String>,
}

/// The counts of a test that found nothing wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleReport {
    /// The inputs on which all agreed.
    pub agreed: u32,
    /// The number of inputs on which the function, and its derivatives alike, stopped with an error.
    pub trapped: u32,
    /// The number of inputs on which forward and reverse mode agreed, but at a kink.
    pub kinks: u32,
    /// The number of inputs on which derivatives say nothing, or not everything: a limit was exceeded, a number
    /// overflowed, differences did not settle.
    pub inconclusive: u32,
    /// The derivatives that were compared: floats of states.
    pub floats: u64,
    /// The number of them that are not zero.
    pub moving: u64,
    /// The inputs on which two plans agreed bit for bit, and those on which they did but about.
    pub plans: (u32, u32),
}

impl RuleReport {
    /// The same as an agreement of two functions: at a kink, both modes agree.
    pub fn agreement(&self) -> Agreement {
        let &Self { agreed, trapped, kinks, inconclusive, .. } = self;
        Agreement { returned: agreed + kinks, trapped, inconclusive }
    }

    /// Adds what was found on other inputs.
    pub fn add(&mut self, other: Self) {
        self.agreed += other.agreed;
        self.trapped += other.trapped;
        self.kinks += other.kinks;
        self.inconclusive += other.inconclusive;
        self.floats += other.floats;
        self.moving += other.moving;
        self.plans.0 += other.plans.0;
        self.plans.1 += other.plans.1;
    }
}

impl fmt::Display for RuleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agreed, trapped, kinks, inconclusive, floats, moving, plans } = self;
        write!(
            f,
            "{agreed} inputs agreed, {trapped} ended with the same error, {kinks} were at kinks, \
             {inconclusive} inconclusive; {floats} derivatives compared, {moving} of them not zero; plans agreed on {} \
             inputs, on {} of them bit for bit",
            plans.0 + plans.1,
            plans.0
        )
    }
}

/// A mistake in a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleProblem {
    /// It could not be made.
    Refused,
    /// It does not run as the function does.
    Primal,
    /// It stops with an error where the function does not, or with another one.
    Error,
    /// A shadow has another shape than its object, or is shared otherwise.
    Shadow,
    /// Forward mode and differences do not agree.
    Forward,
    /// Reverse mode and forward mode, or differences, do not agree.
    Reverse,
    /// Two plans do not agree.
    Plans,
    /// Two runs on the same arguments do not agree.
    Unsteady,
}

/// A derivative is wrong.
#[derive(Clone, Debug)]
pub struct RuleFailure {
    /// The function.
    pub function: String,
    /// The mistake.
    pub problem: RuleProblem,
    /// The derivative: `forward mode`, `reverse mode, plan=best`.
    pub mode: String,
    /// The arguments on which it is, as text; empty if that does not matter.
    pub inputs: String,
    /// The difference, with both numbers.
    pub message: String,
}

impl RuleOptions {
    /// The parameters that an option `wrt` of a pass names: `1,3`; all if it names none.
    pub(crate) fn wrt_of(text: &str) -> Option<Vec<usize>> {
        let numbers: Vec<usize> =
            text.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        (!numbers.is_empty()).then_some(numbers)
    }
}

impl RuleFailure {
    /// Returns whether a derivative was refused because it depends on what is only known when the program
    /// runs: what is differentiated has to be typed.
    pub fn is_untyped(&self) -> bool {
        self.refuses("not known") || self.refuses("known only")
    }

    /// Returns whether a derivative was refused because the rules say of an op that its derivative is not
    /// known, such as of `arith.bitcast`.
    pub fn is_declared(&self) -> bool {
        self.refuses("has no derivative: ")
    }

    /// Returns whether a derivative was refused for a reason that says nothing against what there is of it.
    pub(crate) fn is_a_limit(&self) -> bool {
        self.is_untyped() || self.is_declared()
    }

    /// Returns whether a derivative was refused with a message that contains these words.
    fn refuses(&self, words: &str) -> bool {
        // Messages come in lines, each behind a bar.
        let plain = self.message.replace('│', " ");
        let plain: Vec<&str> = plain.split_whitespace().collect();
        self.problem == RuleProblem::Refused && plain.join(" ").contains(words)
    }

    /// Returns whether this is, as far as one can tell, the same bug as another.
    pub fn is_like(&self, other: &Self) -> bool {
        // What refuses a program says why, with names and numbers of values, and parts of types.
        let words = |text: &str| -> String {
            let mut depth = 0;
            let bare = text.chars().filter(|c| {
                depth += i32::from(matches!(c, '<' | '{')) - i32::from(matches!(c, '>' | '}'));
                depth == 0 && c.is_ascii_alphabetic()
            });
            bare.take(50).collect()
        };
        let forward = |failure: &Self| failure.mode.contains("forward mode");
        self.problem == other.problem
            && forward(self) == forward(other)
            && (!matches!(self.problem, RuleProblem::Refused | RuleProblem::Error)
                || words(&self.message) == words(&other.message))
    }
}

impl fmt::Display for RuleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the derivative of @{} is wrong: {}", self.function, self.mode)?;
        if !self.inputs.is_empty() {
            writeln!(f, "on ({})", self.inputs)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuleFailure {}

/// Checks that functions of `derived` are derivatives of a function of `primal`, a module of the
/// same context; it may be the same module.
///
/// # Errors
/// The mistake on the first input that shows one.
pub fn check_derivatives(
    primal: &Module,
    derived: &Module,
    function: &str,
    derivatives: &Derivatives,
    args: &RuleArgs,
    options: &RuleOptions,
) -> Result<RuleReport, Box<RuleFailure>> {
    let mut checker = Checker::new(primal, derived, function, derivatives, args, options)?;
    let inputs = match args {
        RuleArgs::Types(types) if types.is_empty() => 1,
        RuleArgs::Types(_) => options.inputs,
        RuleArgs::Values(_) => 1,
    };
    let mut report = RuleReport::default();
    for input in 0..inputs {
        report.add(checker.input(u64::from(input))?);
    }
    Ok(report)
}
