//! One question: does a pipeline do something wrong to a module? And is what it does wrong the
//! same as before? The tester, the fuzzer and the reducer all ask it here.

use std::fmt;

use regraft_ad::PlanKind;
use regraft_exec::EngineKind;
use regraft_ir::{Diagnostic, Function, Module, Type, render_all};
use regraft_passes::{FailureKind, PassRegistry, Pipeline, RunOptions, run_pipeline};

use crate::compare::{Agreement, CompareConfig, Difference, SIGNATURE, compare_functions};
use crate::generate::{Entry, ModuleCase};
use crate::observe::FloatMatch;
use crate::shrink::Shrinker;
use crate::test_rule::{
    DERIVATIVE_PASSES, Make, RuleArgs, RuleFailure, RuleOptions, RuleReport, test_rule,
};

/// A pipeline, and how what it does is judged.
#[derive(Clone, Debug)]
pub struct Trial {
    pipeline: Pipeline,
    compare: CompareConfig,
    /// The test of derivatives, if the pipeline differentiates. Its `before` and `after`
    /// are the steps around those that differentiate: both modes are tested, with all plans.
    rules: Option<RuleOptions>,
    /// The passes that differentiate before it: it is a derivative then that is differentiated.
    inner: Vec<String>,
}

/// A failure of a pipeline.
#[derive(Clone, Debug)]
pub enum BrokenKind {
    /// A pass failed, panicked, or left a module that does not verify.
    Failed(PassFailure),
    /// A function changed its meaning.
    Differs(Box<Difference>),
    /// A derivative is wrong.
    Derivative(Box<RuleFailure>),
}

/// A pipeline did not come to its end.
#[derive(Clone, Debug)]
pub struct PassFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The whole report.
    pub report: String,
    /// The text that tells this failure from others: see [`BrokenKind::is_like`].
    what: String,
}

impl BrokenKind {
    /// Returns whether this is, as far as one can tell, the same bug: the same pass is refused by the
    /// verifier, fails with the same message (numbers apart), or panics at the same place; or a
    /// meaning changed likewise, from a result to an error, from one result to another.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Failed(a), Self::Failed(b)) => a.kind == b.kind && a.what == b.what,
            (Self::Differs(a), Self::Differs(b)) => {
                // An error, a signature, or what a run gave.
                let kind = |text: &str| (text.starts_with("error"), text.starts_with(SIGNATURE));
                kind(&a.before) == kind(&b.before) && kind(&a.after) == kind(&b.after)
            }
            (Self::Derivative(a), Self::Derivative(b)) => a.is_like(b),
            _ => false,
        }
    }
}

impl fmt::Display for BrokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => f.write_str(&failure.report),
            Self::Differs(difference) => write!(f, "{difference}"),
            Self::Derivative(failure) => write!(f, "{failure}"),
        }
    }
}

impl Trial {
    /// A trial of the pipeline that `text` is. If a pass in it differentiates, it is the
    /// derivatives that are judged, by [`test_rule`]; if several do, those of the derivative that
    /// the ones before the last give.
    ///
    /// # Errors
    /// The mistakes in the text.
    pub fn new(
        passes: &PassRegistry,
        text: &str,
        compare: &CompareConfig,
    ) -> Result<Self, Vec<Diagnostic>> {
        if let Some((before, own, after)) = around_derivatives(text) {
            let wrt = own.split_once("wrt=\"").and_then(|(_, rest)| rest.split('"').next());
            let rules = RuleOptions {
                inputs: compare.inputs,
                engine: compare.engine,
                before: Pipeline::parse(passes, &before)?,
                after: Pipeline::parse(passes, &after)?,
                widths: vec![1, 2],
                wrt: wrt.and_then(RuleOptions::wrt_of),
                ..RuleOptions::default()
            };
            let (pipeline, compare) = (Pipeline::default(), compare.clone());
            let mut inner: Vec<String> = own.split(", ").map(str::to_owned).collect();
            inner.retain(|step| DERIVATIVE_PASSES.iter().any(|name| step.starts_with(name)));
            // Of a derivative, forward mode may be asked for alone.
            let last = inner.pop().unwrap_or_default();
            let mut rules = rules;
            if !inner.is_empty() && last.starts_with(DERIVATIVE_PASSES[0]) {
                rules.plans.clear();
            }
            return Ok(Self { pipeline, compare, rules: Some(rules), inner });
        }
        let pipeline = Pipeline::parse(passes, text)?;
        let compare = compare.clone().fast(pipeline.is_fast());
        Ok(Self { pipeline, compare, rules: None, inner: Vec::new() })
    }

    /// Takes the inputs from this seed on.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.compare.seed = seed;
        if let Some(rules) = &mut self.rules {
            rules.seed = seed;
        }
        self
    }

    /// Checks the derivatives of the entries, if the pipeline differentiates.
    ///
    /// # Errors
    /// The mistake.
    pub fn derivatives(
        &self,
        module: &Module,
        entries: &[Entry],
    ) -> Result<Option<RuleReport>, BrokenKind> {
        let Some(rules) = &self.rules else { return Ok(None) };
        let mut report = RuleReport::default();
        for entry in entries.iter().rev() {
            if self.inner.is_empty() {
                let args = RuleArgs::Types(entry.params.clone());
                let tested = test_rule(module, &entry.name, &args, rules);
                report.add(tested.map_err(BrokenKind::Derivative)?);
                continue;
            }
            // A derivative of a derivative.
            let (mut module, mut name) = (module.clone(), entry.name.clone());
            let make = Make { function: &name, options: rules };
            let prepared = make.pipeline(&mut module, &rules.before, "the pipeline before");
            prepared.map_err(BrokenKind::Derivative)?;
            for step in &self.inner {
                let forward = step.starts_with(DERIVATIVE_PASSES[0]);
                let options = RuleOptions {
                    widths: if forward { vec![1] } else { Vec::new() },
                    plans: if forward { Vec::new() } else { vec![(PlanKind::Best, None)] },
                    ..rules.clone()
                };
                let make = Make { function: &name, options: &options };
                let made = make.derivatives(&mut module).map_err(BrokenKind::Derivative)?;
                let forward = made.forward.into_iter().map(|(name, _)| name);
                let reverse = made.reverse.into_iter().filter_map(|sweeps| sweeps.vjp);
                name = forward.chain(reverse).next().unwrap_or_default();
            }
            let types = module.function(&name).map(Function::param_types).unwrap_or_default();
            if types.contains(&Type::ANY) {
                // What to pass to it depends on what is passed for others.
                continue;
            }
            let options = RuleOptions { alike: true, wrt: None, ..rules.clone() };
            let tested = test_rule(&module, &name, &RuleArgs::Types(types), &options);
            report.add(tested.map_err(BrokenKind::Derivative)?);
        }
        Ok(Some(report))
    }

    /// Runs the pipeline on a copy of the module, verifying after each pass, and compares what
    /// the entries do before and after. Gives whether anything changed, and how the runs agreed.
    ///
    /// # Errors
    /// The mistake.
    pub fn run(&self, module: &Module, entries: &[Entry]) -> Result<(bool, Agreement), BrokenKind> {
        if let Some(report) = self.derivatives(module, entries)? {
            return Ok((true, report.agreement()));
        }
        let mut after = module.clone();
        run(&mut after, &self.pipeline).map_err(BrokenKind::Failed)?;
        // Engines are compared on the same program.
        let before = match self.compare.engine {
            EngineKind::Interpreter => module,
            _ => &after,
        };
        // What a fast pipeline leaves may be computed in another order, and with another sign of zero.
        let floats = match (self.compare.engine, self.compare.floats) {
            (EngineKind::Interpreter, floats) | (_, floats @ FloatMatch::Relative(_)) => floats,
            _ => FloatMatch::AnyNan,
        };
        let mut runs = Agreement::default();
        // Callers come first: what is wrong with what they call mostly shows in them.
        for entry in entries.iter().rev() {
            let config = CompareConfig {
                params: Some(entry.params.clone()),
                floats,
                ..self.compare.clone()
            };
            let same = compare_functions(before, &after, &entry.name, &config);
            runs.add(same.map_err(BrokenKind::Differs)?);
        }
        Ok((!module.structural_eq(&after), runs))
    }
}

/// Returns the steps before the passes of a pipeline that differentiate, these passes, and the steps after
/// them; `None` if there are none among its steps.
fn around_derivatives(text: &str) -> Option<(String, String, String)> {
    let (mut steps, mut depth, mut start, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                steps.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    steps.push(text[start..].trim());
    let differentiates = |step: &&str| {
        DERIVATIVE_PASSES.contains(&step.split('{').next().unwrap_or_default().trim())
    };
    let first = steps.iter().position(&differentiates)?;
    let last = steps.iter().rposition(differentiates)?;
    let joined = |steps: &[&str]| steps.join(", ");
    Some((joined(&steps[..first]), joined(&steps[first..=last]), joined(&steps[last + 1..])))
}

impl PassFailure {
    /// Something other than a pass did something wrong, at this place of its source if it
    /// panicked.
    pub(crate) fn other(report: String, place: Option<String>) -> Self {
        let letters =
            |text: &str| text.chars().filter(char::is_ascii_alphabetic).take(60).collect();
        let what = place.unwrap_or_else(|| letters(report.lines().next().unwrap_or_default()));
        Self { kind: FailureKind::Input, report, what }
    }
}

/// The simplest case found, among those that `replay` makes of fewer and smaller choices, on
/// which `trial` does something wrong that is like `kind`: to any function, or to the main one.
pub(crate) fn shrink_choices(
    trial: &Trial,
    case: ModuleCase,
    kind: BrokenKind,
    replay: impl Fn(&[u32]) -> ModuleCase,
    only_main: bool,
    attempts: u32,
) -> (ModuleCase, BrokenKind) {
    let mut shrinker = Shrinker::new(case.choices.clone(), case.spans.clone(), attempts);
    let mut best = (case, kind);
    while let Some(candidate) = shrinker.candidate() {
        let case = replay(&candidate);
        // The last one is the one that calls the others.
        let first = if only_main { case.entries.len() - 1 } else { 0 };
        // Another kind of failure would be another bug.
        if let Err(kind) = trial.run(&case.module, &case.entries[first..])
            && kind.is_like(&best.1)
        {
            shrinker.accept(case.choices.clone(), case.spans.clone());
            best = (case, kind);
        }
    }
    best
}

/// Runs a pipeline, verifying after each pass.
pub(crate) fn run(module: &mut Module, pipeline: &Pipeline) -> Result<(), PassFailure> {
    let Err(failure) = run_pipeline(module, pipeline, &RunOptions::default().threads(1)) else {
        return consistent(module);
    };
    let report = render_all(failure.diagnostics(), false);
    let pass = failure.pass().unwrap_or_default();
    let pass = pass.split('{').next().unwrap_or_default();
    let first = failure.diagnostics().first();
    let detail = match failure.kind() {
        FailureKind::Panic => first.map(|d| d.notes().join(" ")).unwrap_or_default(),
        FailureKind::Pass => {
            // Without the options of the pass and the name of the function.
            let message = first.map(Diagnostic::message).unwrap_or_default();
            let errors = failure.diagnostics().iter().skip(1).map(Diagnostic::message);
            message.split_once(": ").map(|(_, why)| why).into_iter().chain(errors).collect()
        }
        _ => String::new(),
    };
    // The numbers of values and blocks change when a module shrinks; places in the source do not.
    let detail = match failure.kind() {
        FailureKind::Panic => detail,
        _ => detail.chars().filter(|c| !c.is_ascii_digit()).collect(),
    };
    Err(PassFailure { kind: failure.kind(), report, what: format!("{pass}: {detail}") })
}

/// Checks the lists that a function keeps of itself, which the verifier does not look at.
fn consistent(module: &Module) -> Result<(), PassFailure> {
    for f in module.functions() {
        if let Err(error) = f.check_invariants() {
            let report = format!("@{} is inconsistent in itself: {error}", f.name_str());
            let kind = FailureKind::Refused;
            return Err(PassFailure { kind, report, what: "invariants".to_owned() });
        }
    }
    Ok(())
}
