//! One function and its derivatives on one input after the other.

mod agreement;
mod copy;
mod forward_mode;
mod overflow;
mod reverse_mode;
mod rounding;

use std::fmt::Write;
use std::sync::Arc;

use regraft_exec::{Engine, ErrorKind, ExecError, Interpreter, Limits, Val};
use regraft_ir::{Context, Module, Type};
use rustc_hash::FxHashMap;

use super::differences::Verdict;
use agreement::same_bits;
use copy::copy;

use super::floats::{Float, Floats, Root, TOO_LARGE};
use super::{Derivatives, RuleArgs, RuleFailure, RuleOptions, RuleProblem, RuleReport, Sweeps};
use crate::choices::Choices;
use crate::inputs::{tame_arguments, tame_float};
use crate::observe::{FloatMatch, Observation};

/// The largest number from which a difference of 1 can be told.
const LARGEST: f64 = (1u64 << 53) as f64;

pub(super) struct Checker<'a> {
    primal: &'a Module,
    derivative: &'a Module,
    function: &'a str,
    derivatives: &'a Derivatives,
    args: &'a RuleArgs,
    options: &'a RuleOptions,
    ctx: Arc<Context>,
    floats: Floats,
    plain: Interpreter,
    derived: Interpreter,
    /// The declared types of the parameters.
    params: Vec<Type>,
    /// The seed of the input at hand.
    seed: u64,
    /// By how much its floats are off, relatively.
    off: f64,
}

/// The outcome of a run of the function, or of a derivative as far as it is the function.
struct Outcome {
    result: Result<Val, ExecError>,
    args: Vec<Val>,
    output: String,
}

/// The reason why an input is not judged to the end.
enum Stop {
    Failure(Box<RuleFailure>),
    /// It says nothing.
    Unclear,
}

impl From<Box<RuleFailure>> for Stop {
    fn from(failure: Box<RuleFailure>) -> Self {
        Self::Failure(failure)
    }
}

/// The results of a forward sweep and its reverse sweep.
struct Cotangents {
    /// ȳ, of the floats of the state.
    seeds: Vec<f64>,
    /// x̄, of the floats of the arguments.
    of_args: Vec<f64>,
}

type Checked<T> = Result<T, Stop>;

impl<'a> Checker<'a> {
    pub(super) fn new(
        primal: &'a Module,
        derived: &'a Module,
        function: &'a str,
        derivatives: &'a Derivatives,
        args: &'a RuleArgs,
        options: &'a RuleOptions,
    ) -> Result<Self, Box<RuleFailure>> {
        let refused = |message: String| {
            Box::new(RuleFailure {
                function: function.to_owned(),
                problem: RuleProblem::Refused,
                mode: "nothing can be run".to_owned(),
                inputs: String::new(),
                message,
            })
        };
        let Some(f) = primal.function(function) else {
            return Err(refused("there is no such function".to_owned()));
        };
        let sweeps = derivatives.reverse.iter();
        let names = sweeps.flat_map(|s| [Some(&s.forward), Some(&s.reverse), s.vjp.as_ref()]);
        let names = derivatives.forward.iter().map(|(name, _)| name).chain(names.flatten());
        for name in names {
            if derived.function(name).is_none() {
                return Err(refused(format!("there is no function @{name}")));
            }
        }
        if derivatives.active.len() != f.param_types().len() {
            return Err(refused("it has another number of parameters".to_owned()));
        }
        let mut plain = Interpreter::new(primal);
        let mut engine = Interpreter::new(derived);
        let Limits { fuel, depth, memory } = options.limits;
        plain.set_limits(options.limits);
        engine.set_limits(Limits {
            fuel: fuel.map(|fuel| fuel.saturating_mul(30)),
            depth: depth.saturating_mul(4),
            memory: memory.saturating_mul(8),
        });
        engine.set_engine(options.engine).map_err(refused)?;
        plain.host_mut().set_clock(|| 0);
        engine.host_mut().set_clock(|| 0);
        Ok(Self {
            primal,
            derivative: derived,
            function,
            derivatives,
            args,
            options,
            ctx: Arc::clone(primal.ctx()),
            floats: Floats::new(primal.ctx()),
            plain,
            derived: engine,
            params: f.param_types(),
            seed: 0,
            off: 0.0,
        })
    }

    /// Judges one input.
    pub(super) fn input(&mut self, number: u64) -> Result<RuleReport, Box<RuleFailure>> {
        self.seed = self.options.seed.wrapping_mul(0x1_0000).wrapping_add(number);
        match self.judged() {
            Ok(report) => Ok(report),
            Err(Stop::Failure(failure)) => Err(failure),
            Err(Stop::Unclear) => Ok(RuleReport { inconclusive: 1, ..RuleReport::default() }),
        }
    }

    fn judged(&mut self) -> Checked<RuleReport> {
        let args = self.fresh()?;
        let entry = self.entry(&args, None)?;
        let mut random = Choices::from_seed(self.seed ^ 0x5851_f42d_4c95_7f2d);
        let direction: Vec<f64> = entry.iter().map(|_| tame_float(&mut random) / 2.0).collect();
        let plain = self.plain_run(args);
        if is_limit(&plain.result) {
            return Err(Stop::Unclear);
        }
        let state = match &plain.result {
            Ok(result) => Some(self.state(result, None, &plain.args, None)?),
            Err(_) => None,
        };
        let seeds: Vec<f64> =
            state.iter().flatten().map(|_| tame_float(&mut random) / 2.0).collect();
        let forward = self.forward(&plain, &direction, &mut random)?;
        let mut reverse: Vec<(&Sweeps, Cotangents, Option<Cotangents>)> = Vec::new();
        for sweeps in &self.derivatives.reverse {
            let Some(found) = self.sweeps(sweeps, &plain, &seeds)? else { continue };
            let again = self.sweeps(sweeps, &plain, &seeds)?;
            let same = again.is_some_and(|again| same_bits(&found.of_args, &again.of_args));
            if !same {
                let message = "two runs on the same arguments give other cotangents".to_owned();
                return Err(self.failure(RuleProblem::Unsteady, mode(sweeps), message));
            }
            let whole = self.whole(sweeps, &plain, &seeds)?;
            reverse.push((sweeps, found, whole));
        }
        let Some(state) = state else {
            return Ok(RuleReport { trapped: 1, ..RuleReport::default() });
        };
        if !state.iter().all(|float| float.value.is_finite()) {
            return Err(Stop::Unclear);
        }
        let mut report = RuleReport { floats: state.len() as u64, ..RuleReport::default() };
        let mut verdicts = Vec::new();
        if let Some(tangents) = &forward {
            report.moving = tangents.iter().filter(|&&t| t != 0.0).count() as u64;
            // What functions of period 2π make of larger numbers, differences do not show.
            verdicts = match state.iter().all(|float| float.value.abs() <= LARGEST) {
                true => self.against_differences(&direction, tangents, &state)?,
                false => vec![Verdict::Unclear],
            };
        }
        for (sweeps, found, whole) in &reverse {
            for found in std::iter::once(found).chain(whole) {
                match &forward {
                    Some(tangents) => self.against_forward(sweeps, found, tangents, &direction)?,
                    None => verdicts.push(self.alone(sweeps, found, &direction)?),
                }
            }
        }
        if let Some((best, others)) = reverse.split_first() {
            for other in others {
                let bits = self.plans_agree(best, other, &entry)?;
                if other.0.reordered {
                    continue;
                }
                report.plans.0 += u32::from(bits);
                report.plans.1 += u32::from(!bits);
            }
        }
        if verdicts.contains(&Verdict::Kink) {
            report.kinks = 1;
        } else if verdicts.contains(&Verdict::Unclear) {
            report.inconclusive = 1;
        } else {
            report.agreed = 1;
        }
        Ok(report)
    }

    // --- runs ------------------------------------------------------------------------------

    /// The arguments, made or copied anew.
    fn fresh(&mut self) -> Checked<Vec<Val>> {
        let args = self.given()?;
        if self.off == 0.0 {
            return Ok(args);
        }
        let places = self.entry(&args, None)?;
        let mut roots = vec![Val::Unit];
        roots.extend(args);
        for (k, float) in places.iter().enumerate() {
            let by = if k % 2 == 0 { 1.0 + self.off } else { 1.0 - self.off };
            let done = float.place.update(&mut roots, |x| x * by);
            done.map_err(|why| self.shadow_problem("the arguments".to_owned(), why))?;
        }
        Ok(roots.split_off(1))
    }

    /// Returns whether an object may be passed twice. For a parameter with a shadow and for one without it
    /// would be two things at once.
    fn shared(&self) -> bool {
        !self.options.alike && self.derivatives.active.iter().all(|&active| active)
    }

    fn given(&self) -> Checked<Vec<Val>> {
        match self.args {
            RuleArgs::Values(values) => {
                let mut copies = FxHashMap::default();
                Ok(values.iter().map(|value| copy(value, &mut copies)).collect())
            }
            RuleArgs::Types(types) => {
                let mut choices = Choices::from_seed(self.seed);
                let alike = self.options.alike;
                tame_arguments(&self.ctx, types, &mut choices, self.shared(), alike).map_err(
                    |why| self.failure(RuleProblem::Refused, "nothing can be run".to_owned(), why),
                )
            }
        }
    }

    /// The floats of the active arguments.
    fn entry(&mut self, args: &[Val], tangents: Option<&[Option<Val>]>) -> Checked<Vec<Float>> {
        let mut roots = vec![Root { value: Val::Unit, tangent: None, own: false }];
        for (i, arg) in args.iter().enumerate() {
            let active = self.derivatives.active[i];
            let value = if active { arg.clone() } else { Val::Unit };
            let tangent = tangents.and_then(|tangents| tangents[i].clone());
            roots.push(Root { value, tangent, own: true });
        }
        self.walked(&roots, "the arguments")
    }

    /// The floats of the result, and of what active arguments hold.
    fn state(
        &mut self,
        result: &Val,
        tangent: Option<Val>,
        args: &[Val],
        tangents: Option<&[Option<Val>]>,
    ) -> Checked<Vec<Float>> {
        let mut roots = vec![Root { value: result.clone(), tangent, own: true }];
        for (i, arg) in args.iter().enumerate() {
            let active = self.derivatives.active[i];
            let value = if active { arg.clone() } else { Val::Unit };
            let tangent = tangents.and_then(|tangents| tangents[i].clone());
            roots.push(Root { value, tangent, own: false });
        }
        self.walked(&roots, "after a run")
    }

    fn walked(&mut self, roots: &[Root], mode: &str) -> Checked<Vec<Float>> {
        self.floats.of(roots).map_err(|why| self.shadow_problem(mode.to_owned(), why))
    }

    fn shadow_problem(&self, mode: String, why: String) -> Stop {
        if why == TOO_LARGE {
            return Stop::Unclear;
        }
        self.failure(RuleProblem::Shadow, mode, why)
    }

    fn plain_run(&mut self, args: Vec<Val>) -> Outcome {
        let result = self.plain.call(self.function, &args);
        let output = self.plain.take_output();
        Outcome { result, args, output }
    }

    /// Runs a derivative, and compares what it does as a function with `plain`. `None` if both
    /// end with the same error.
    fn derived_run(
        &mut self,
        function: &str,
        mode: &str,
        mut args: Vec<Val>,
        rest: Vec<Val>,
        plain: &Outcome,
    ) -> Checked<Option<(Vec<Val>, Vec<Val>)>> {
        let own = args.len();
        args.extend(rest);
        let result = self.derived.call(function, &args);
        let output = self.derived.take_output();
        if is_limit(&result) {
            return Err(Stop::Unclear);
        }
        args.truncate(own);
        let (parts, result) = match (&plain.result, result) {
            (Ok(_), Ok(value)) => {
                let parts: Vec<Val> = value.as_fields().unwrap_or_default().to_vec();
                let Some(first) = parts.first().cloned() else {
                    let message = format!("@{function} returned {value:?}, which is no tuple");
                    return Err(self.failure(RuleProblem::Primal, mode.to_owned(), message));
                };
                (parts, Some(first))
            }
            (Err(a), Err(b)) if a.kind() == b.kind() && a.message() == b.message() => {
                (Vec::new(), None)
            }
            (a, b) => {
                let text = |r: Result<(), String>| r.err().unwrap_or("it returned".to_owned());
                let a = text(a.as_ref().map(|_| ()).map_err(ToString::to_string));
                let b = text(b.as_ref().map(|_| ()).map_err(ToString::to_string));
                let message = format!("the function: {a}\n@{function}: {b}");
                return Err(self.failure(RuleProblem::Error, mode.to_owned(), message));
            }
        };
        let returned = plain.result.as_ref().ok();
        let before = Observation::of(&self.ctx, returned.into_iter().chain(&plain.args));
        let after = Observation::of(&self.ctx, result.iter().chain(&args));
        if !before.matches(&after, FloatMatch::Exact) || plain.output != output {
            let mut message = format!(
                "the result, then arguments afterwards, of the function: {before}\n\
                 the same of @{function}: {after}"
            );
            if plain.output != output {
                let _ = write!(message, "\noutput: {:?}, {:?}", plain.output, output);
            }
            return Err(self.failure(RuleProblem::Primal, mode.to_owned(), message));
        }
        Ok(result.map(|_| (parts, args)))
    }

    fn failure(&self, problem: RuleProblem, mode: String, message: String) -> Stop {
        let inputs = match self.args {
            RuleArgs::Values(values) => Observation::of(&self.ctx, values).to_string(),
            RuleArgs::Types(types) => {
                let mut choices = Choices::from_seed(self.seed);
                let (shared, alike) = (self.shared(), self.options.alike);
                match tame_arguments(&self.ctx, types, &mut choices, shared, alike) {
                    Ok(args) => Observation::of(&self.ctx, &args).to_string(),
                    Err(_) => String::new(),
                }
            }
        };
        let function = self.function.to_owned();
        Stop::Failure(Box::new(RuleFailure { function, problem, mode, inputs, message }))
    }
}

fn mode(sweeps: &Sweeps) -> String {
    format!("reverse mode, {}", sweeps.label)
}

fn is_limit(result: &Result<Val, ExecError>) -> bool {
    result.as_ref().is_err_and(|error| {
        matches!(
            error.kind(),
            ErrorKind::Fuel | ErrorKind::Depth | ErrorKind::Memory | ErrorKind::Interrupted
        )
    })
}
