//! One function and its derivatives on one input after the other.

use std::fmt::Write;
use std::sync::Arc;

use regraft_exec::value::{Array, Storage};
use regraft_exec::{Engine, ErrorKind, ExecError, Interpreter, Limits, Val};
use regraft_ir::{Context, Module, Type};
use rustc_hash::FxHashMap;

use super::differences::{Verdict, judge};
use super::floats::{Float, Floats, Root, TOO_LARGE, name};
use super::{Derivatives, RuleArgs, RuleFailure, RuleOptions, RuleProblem, RuleReport, Sweeps};
use crate::choices::Choices;
use crate::inputs::{tame_arguments, tame_float};
use crate::observe::{FloatMatch, Observation};

/// The most floats of arguments for which it is told which one is wrong.
const MAX_TOLD: usize = 300;

pub(super) struct Checker<'a> {
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

/// What a run of the function did, or of a derivative as far as it is the function.
struct Outcome {
    result: Result<Val, ExecError>,
    args: Vec<Val>,
    output: String,
}

/// Why an input is not judged to the end.
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

/// What a sweep forward and back gave.
struct Cotangents {
    /// ȳ, of the floats of the state.
    seeds: Vec<f64>,
    /// x̄, of the floats of the arguments.
    of_args: Vec<f64>,
}

type Checked<T> = Result<T, Stop>;

impl<'a> Checker<'a> {
    pub(super) fn new(
        primal: &Module,
        derived: &Module,
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
        let mut plain = Interpreter::with_table(primal, Arc::clone(&options.table));
        let mut engine = Interpreter::with_table(derived, Arc::clone(&options.table));
        let Limits { fuel, depth, memory } = options.limits;
        plain.set_limits(options.limits);
        engine.set_limits(Limits {
            fuel: fuel.map(|fuel| fuel.saturating_mul(30)),
            depth: depth.saturating_mul(4),
            memory: memory.saturating_mul(8),
        });
        plain.host_mut().set_clock(|| 0);
        engine.host_mut().set_clock(|| 0);
        Ok(Self {
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
            verdicts = self.against_differences(&direction, tangents, &state)?;
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

    fn given(&self) -> Checked<Vec<Val>> {
        match self.args {
            RuleArgs::Values(values) => {
                let mut copies = FxHashMap::default();
                Ok(values.iter().map(|value| copy(value, &mut copies)).collect())
            }
            RuleArgs::Types(types) => {
                let mut choices = Choices::from_seed(self.seed);
                // An object that is passed for a parameter with a shadow and for one without
                // would be two things at once.
                let shared = self.derivatives.active.iter().all(|&active| active);
                tame_arguments(&self.ctx, types, &mut choices, shared).map_err(|why| {
                    self.failure(RuleProblem::Refused, "nothing can be run".to_owned(), why)
                })
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

    // --- forward mode ----------------------------------------------------------------------

    /// ẏ of forward mode; `None` if there is no such function, or if it ended with an error.
    fn forward(
        &mut self,
        plain: &Outcome,
        direction: &[f64],
        random: &mut Choices,
    ) -> Checked<Option<Vec<f64>>> {
        let mut known: Option<Vec<f64>> = None;
        let derivatives = self.derivatives;
        for (function, width) in &derivatives.forward {
            let mut directions = vec![direction.to_vec()];
            while directions.len() < *width {
                directions.push(direction.iter().map(|_| tame_float(random) / 2.0).collect());
            }
            let Some(found) = self.pushed(function, *width, &directions, plain)? else { continue };
            let Some(again) = self.pushed(function, *width, &directions, plain)? else { continue };
            if !found.iter().zip(&again).all(|(a, b)| same_bits(a, b)) {
                let message = "two runs on the same arguments give other tangents".to_owned();
                let mode = format!("@{function}");
                return Err(self.failure(RuleProblem::Unsteady, mode, message));
            }
            // Several directions at once are what each is alone.
            for (i, tangents) in found.into_iter().enumerate() {
                let alone = match (&known, derivatives.forward.first()) {
                    (Some(known), _) if i == 0 => Some(known.clone()),
                    (Some(_), Some((single, 1))) => {
                        let one = self.pushed(single, 1, &directions[i..=i], plain)?;
                        one.and_then(|mut one| one.pop())
                    }
                    _ => None,
                };
                if let Some(alone) = alone {
                    let off = (0..alone.len()).find(|&k| !near(alone[k], tangents[k], 1e-12));
                    if let Some(k) = off {
                        let message = format!(
                            "direction {} of {width}, float {k} of the state: {:?}; alone: {:?}",
                            i + 1,
                            tangents[k],
                            alone[k]
                        );
                        let mode = format!("@{function}");
                        return Err(self.failure(RuleProblem::Forward, mode, message));
                    }
                }
                if known.is_none() {
                    known = Some(tangents);
                }
            }
        }
        Ok(known)
    }

    /// Runs forward mode in these directions.
    fn pushed(
        &mut self,
        function: &str,
        width: usize,
        directions: &[Vec<f64>],
        plain: &Outcome,
    ) -> Checked<Option<Vec<Vec<f64>>>> {
        let args = self.fresh()?;
        let mut sets: Vec<Vec<Option<Val>>> = Vec::new();
        for direction in directions {
            sets.push(self.tangents(&args, direction)?);
        }
        let mut rest = Vec::new();
        for i in 0..args.len() {
            if !self.derivatives.active[i] || !self.floats.types().has_tangent(self.params[i]) {
                continue;
            }
            let of = |set: &Vec<Option<Val>>| set[i].clone().unwrap_or(Val::Unit);
            rest.push(if width == 1 { of(&sets[0]) } else { Val::tuple(sets.iter().map(of)) });
        }
        let mode = format!("@{function}");
        let Some((parts, args)) = self.derived_run(function, &mode, args, rest, plain)? else {
            return Ok(None);
        };
        let tangent = parts.get(1).cloned().unwrap_or(Val::Unit);
        let mut found = Vec::new();
        for (i, set) in sets.iter().enumerate() {
            let tangent = match (width, &tangent) {
                (1, tangent) => tangent.clone(),
                (_, tangent) => {
                    tangent.as_fields().and_then(|all| all.get(i)).cloned().unwrap_or(Val::Unit)
                }
            };
            let state = self
                .state(&parts[0], Some(tangent.clone()), &args, Some(set))
                .map_err(|stop| self.in_mode(stop, &mode))?;
            let mut roots = vec![tangent];
            roots.extend(set.iter().map(|t| t.clone().unwrap_or(Val::Unit)));
            found.push(self.read(&state, &roots, &mode)?);
        }
        Ok(Some(found))
    }

    fn in_mode(&self, stop: Stop, mode: &str) -> Stop {
        match stop {
            Stop::Failure(mut failure) => {
                failure.mode = mode.to_owned();
                Stop::Failure(failure)
            }
            Stop::Unclear => Stop::Unclear,
        }
    }

    /// The numbers at the tangents of floats.
    fn read(&self, floats: &[Float], roots: &[Val], mode: &str) -> Checked<Vec<f64>> {
        let read = |float: &Float| match &float.tangent {
            Some(place) => place.read(roots).map_err(|why| {
                let message = format!("{}: {why}", name(float.root, &float.path));
                self.failure(RuleProblem::Shadow, mode.to_owned(), message)
            }),
            None => Ok(0.0),
        };
        floats.iter().map(read).collect()
    }

    /// Tangents of the active arguments that are these numbers.
    fn tangents(&mut self, args: &[Val], numbers: &[f64]) -> Checked<Vec<Option<Val>>> {
        let zeros = self.zeros(args)?;
        let floats = self.entry(args, Some(&zeros))?;
        let mut roots = vec![Val::Unit];
        roots.extend(zeros.iter().map(|t| t.clone().unwrap_or(Val::Unit)));
        for (float, number) in floats.iter().zip(numbers) {
            if let Some(place) = &float.tangent {
                let done = place.update(&mut roots, |_| *number);
                done.map_err(|why| self.shadow_problem("tangents".to_owned(), why))?;
            }
        }
        Ok(roots.into_iter().skip(1).zip(zeros).map(|(t, had)| had.map(|_| t)).collect())
    }

    fn zeros(&mut self, args: &[Val]) -> Checked<Vec<Option<Val>>> {
        let active: Vec<Val> = (args.iter().zip(&self.derivatives.active))
            .map(|(arg, &active)| if active { arg.clone() } else { Val::Unit })
            .collect();
        let zeros = self.floats.zeros(&active);
        let zeros = zeros.map_err(|why| self.shadow_problem("tangents".to_owned(), why))?;
        Ok(zeros.into_iter().zip(&self.derivatives.active).map(|(t, &a)| a.then_some(t)).collect())
    }

    /// Compares tangents with differences.
    fn against_differences(
        &mut self,
        direction: &[f64],
        tangents: &[f64],
        state: &[Float],
    ) -> Checked<Vec<Verdict>> {
        let verdicts = judge(|h| self.moved(direction, h), tangents);
        let wrong = verdicts.iter().position(|verdict| matches!(verdict, Verdict::Wrong(_)));
        if let Some(k) = wrong
            && let Verdict::Wrong(right) = verdicts[k]
        {
            let count = verdicts.iter().filter(|v| matches!(v, Verdict::Wrong(_))).count();
            let message = format!(
                "the tangent of {} is {:?}; by differences it is {right:?} ({count} of {} differ)",
                name(state[k].root, &state[k].path),
                tangents[k],
                state.len()
            );
            return Err(self.failure(RuleProblem::Forward, "forward mode".to_owned(), message));
        }
        Ok(verdicts)
    }

    /// The state of the function at arguments a step further in a direction.
    fn moved(&mut self, direction: &[f64], h: f64) -> Option<Vec<f64>> {
        let args = self.fresh().ok()?;
        let places = self.entry(&args, None).ok()?;
        let mut roots = vec![Val::Unit];
        roots.extend(args);
        for (float, by) in places.iter().zip(direction) {
            float.place.update(&mut roots, |x| x + h * by).ok()?;
        }
        let run = self.plain_run(roots.split_off(1));
        let result = run.result.ok()?;
        let state = self.state(&result, None, &run.args, None).ok()?;
        Some(state.iter().map(|float| float.value).collect())
    }

    // --- reverse mode ----------------------------------------------------------------------

    /// Both sweeps, with ȳ added to the shadows between them.
    fn sweeps(
        &mut self,
        sweeps: &Sweeps,
        plain: &Outcome,
        seeds: &[f64],
    ) -> Checked<Option<Cotangents>> {
        let mode = mode(sweeps);
        let args = self.fresh()?;
        let shadows = self.zeros(&args)?;
        let entry = self.entry(&args, Some(&shadows))?;
        let rest = self.shadow_args(&shadows);
        let run = self.derived_run(&sweeps.forward, &mode, args, rest, plain)?;
        let Some((parts, args)) = run else { return Ok(None) };
        let [result, shadow, tape] = &parts[..] else {
            let message = format!("@{} returned a tuple of {}", sweeps.forward, parts.len());
            return Err(self.failure(RuleProblem::Primal, mode, message));
        };
        // The shadow of the result has no room for its floats that are in no object; zeros have.
        let state = self
            .state(result, Some(shadow.clone()), &args, Some(&shadows))
            .map_err(|stop| self.in_mode(stop, &mode))?;
        let mut roots = vec![shadow.clone()];
        roots.extend(shadows.iter().map(|s| s.clone().unwrap_or(Val::Unit)));
        let held = self.read(&state, &roots, &mode)?;
        if let Some(k) = held.iter().position(|&x| x != 0.0) {
            let at = name(state[k].root, &state[k].path);
            let message = format!("after the forward sweep, the shadow of {at} is {:?}", held[k]);
            return Err(self.failure(RuleProblem::Shadow, mode, message));
        }
        let zero = self.floats.zeros(std::slice::from_ref(result));
        let zero = zero.map_err(|why| self.shadow_problem(mode.clone(), why))?;
        let mut own = vec![self.floats.cotangent_part(&zero[0])];
        let own_places = self.walked(
            &[Root { value: result.clone(), tangent: Some(own[0].clone()), own: true }],
            &mode,
        )?;
        let own_places: FxHashMap<&str, &Float> =
            own_places.iter().filter(|f| !f.in_object).map(|f| (f.path.as_str(), f)).collect();
        let mut used = vec![0.0; seeds.len()];
        for (k, float) in state.iter().enumerate() {
            let place = match float.in_object {
                true => float.tangent.as_ref(),
                false => own_places.get(float.path.as_str()).and_then(|f| f.tangent.as_ref()),
            };
            let Some(place) = place else { continue };
            let roots = if float.in_object { &mut roots } else { &mut own };
            let done = place.update(roots, |x| x + seeds[k]);
            done.map_err(|why| self.shadow_problem(mode.clone(), why))?;
            used[k] = seeds[k];
        }
        let back = self.back(&sweeps.reverse, &mode, &[tape.clone(), own[0].clone()])?;
        let of_args = self.cotangents(&entry, &back, &shadows, &mode)?;
        let after = Observation::of(&self.ctx, &args);
        if !after.matches(&Observation::of(&self.ctx, &plain.args), FloatMatch::Exact) {
            let message = format!("after the reverse sweep the arguments are {after}");
            return Err(self.failure(RuleProblem::Primal, mode, message));
        }
        Ok(Some(Cotangents { seeds: used, of_args }))
    }

    /// The function that does both sweeps, with ȳ of the result alone.
    fn whole(
        &mut self,
        sweeps: &Sweeps,
        plain: &Outcome,
        seeds: &[f64],
    ) -> Checked<Option<Cotangents>> {
        let (Some(function), Ok(result)) = (&sweeps.vjp, &plain.result) else { return Ok(None) };
        let mode = format!("{}, @{function}", mode(sweeps));
        let args = self.fresh()?;
        let shadows = self.zeros(&args)?;
        let entry = self.entry(&args, Some(&shadows))?;
        let tangent = self.floats.zeros(std::slice::from_ref(result));
        let mut tangent = tangent.map_err(|why| self.shadow_problem(mode.clone(), why))?;
        let root = Root { value: result.clone(), tangent: Some(tangent[0].clone()), own: true };
        let own = self.walked(&[root], &mode)?;
        // The walk of the state begins with that of the result.
        let mut used = vec![0.0; seeds.len()];
        for (k, float) in own.iter().enumerate() {
            let Some(place) = &float.tangent else { continue };
            let done = place.update(&mut tangent, |_| seeds[k]);
            done.map_err(|why| self.shadow_problem(mode.clone(), why))?;
            used[k] = seeds[k];
        }
        let mut rest = self.shadow_args(&shadows);
        rest.push(tangent.swap_remove(0));
        let Some((parts, _)) = self.derived_run(function, &mode, args, rest, plain)? else {
            return Ok(None);
        };
        let back = parts.get(1).and_then(Val::as_fields).unwrap_or_default().to_vec();
        let of_args = self.cotangents(&entry, &back, &shadows, &mode)?;
        Ok(Some(Cotangents { seeds: used, of_args }))
    }

    /// The shadows that are passed.
    fn shadow_args(&mut self, shadows: &[Option<Val>]) -> Vec<Val> {
        let mut rest = Vec::new();
        for (i, shadow) in shadows.iter().enumerate() {
            if let Some(shadow) = shadow
                && self.floats.types().has_shadow(self.params[i])
            {
                rest.push(self.floats.shadow_part(shadow));
            }
        }
        rest
    }

    /// Runs the reverse sweep.
    fn back(&mut self, function: &str, mode: &str, args: &[Val]) -> Checked<Vec<Val>> {
        let result = self.derived.call(function, args);
        self.derived.take_output();
        if is_limit(&result) {
            return Err(Stop::Unclear);
        }
        match result {
            Ok(value) => Ok(value.as_fields().unwrap_or_default().to_vec()),
            Err(error) => {
                let message = format!("@{function}: {error}");
                Err(self.failure(RuleProblem::Error, mode.to_owned(), message))
            }
        }
    }

    /// x̄: what was returned, and what is in the shadows.
    fn cotangents(
        &mut self,
        entry: &[Float],
        back: &[Val],
        shadows: &[Option<Val>],
        mode: &str,
    ) -> Checked<Vec<f64>> {
        if back.len() != shadows.len() {
            let message = format!("{} cotangents for {} arguments", back.len(), shadows.len());
            return Err(self.failure(RuleProblem::Shadow, mode.to_owned(), message));
        }
        let mut roots = vec![Val::Unit];
        roots.extend(back.iter().cloned());
        self.read(entry, &roots, mode)
    }

    /// ⟨ȳ, ẏ⟩ = ⟨x̄, ẋ⟩, with ẏ of forward mode.
    fn against_forward(
        &mut self,
        sweeps: &Sweeps,
        found: &Cotangents,
        tangents: &[f64],
        direction: &[f64],
    ) -> Checked<()> {
        let (y, y_size) = dot(&found.seeds, tangents);
        let (x, x_size) = dot(&found.of_args, direction);
        if (x - y).abs() <= 1e-10 * (x_size + y_size) + 1e-13 {
            return Ok(());
        }
        let finite = tangents.iter().all(|t| t.is_finite());
        if !finite || (x.is_finite() && self.is_sensitive(found, direction, y, (x - y).abs())) {
            return Err(Stop::Unclear);
        }
        let which = self.which(found, &vec![0.0; direction.len()]);
        let message =
            format!("<x̄, ẋ> of reverse mode is {x:?}; <ȳ, ẏ> of forward mode is {y:?}{which}");
        Err(self.failure(RuleProblem::Reverse, mode(sweeps), message))
    }

    /// Whether ⟨ȳ, ẏ⟩ changes as much when all floats of the arguments are a little off: rounding
    /// decides then.
    fn is_sensitive(&mut self, found: &Cotangents, direction: &[f64], y: f64, by: f64) -> bool {
        let derivatives = self.derivatives;
        let Some((function, 1)) = derivatives.forward.first() else { return false };
        let mut most = 0f64;
        for off in [1e-13, -1e-13] {
            self.off = off;
            let nearby = self.fresh().map(|args| self.plain_run(args));
            let directions = [direction.to_vec()];
            let tangents = nearby.and_then(|plain| self.pushed(function, 1, &directions, &plain));
            self.off = 0.0;
            match tangents {
                Ok(Some(found_there)) if found_there[0].len() == found.seeds.len() => {
                    most = most.max((dot(&found.seeds, &found_there[0]).0 - y).abs());
                }
                // It goes another way already.
                _ => return true,
            }
        }
        most >= by
    }

    /// Which of the cotangents are wrong, by a run of forward mode for each float.
    fn which(&mut self, found: &Cotangents, none: &[f64]) -> String {
        let derivatives = self.derivatives;
        let Some((function, 1)) = derivatives.forward.first() else { return String::new() };
        let Ok(args) = self.fresh() else { return String::new() };
        let Ok(entry) = self.entry(&args, None) else { return String::new() };
        let plain = match self.fresh() {
            Ok(args) => self.plain_run(args),
            Err(_) => return String::new(),
        };
        if entry.len() > MAX_TOLD {
            return String::new();
        }
        let mut out = String::new();
        for (k, float) in entry.iter().enumerate() {
            let mut unit = none.to_vec();
            unit[k] = 1.0;
            let Ok(Some(tangents)) = self.pushed(function, 1, &[unit], &plain) else { continue };
            let (y, size) = dot(&found.seeds, &tangents[0]);
            if (found.of_args[k] - y).abs() > 1e-9 * (size + y.abs()) + 1e-12
                || !found.of_args[k].is_finite()
            {
                let at = name(float.root, &float.path);
                let _ = write!(
                    out,
                    "\nthe cotangent of {at} is {:?} in reverse mode, {y:?} by forward mode",
                    found.of_args[k]
                );
            }
            if out.len() > 1_000 {
                break;
            }
        }
        out
    }

    /// ⟨x̄, ẋ⟩ against differences, where there is no forward mode.
    fn alone(
        &mut self,
        sweeps: &Sweeps,
        found: &Cotangents,
        direction: &[f64],
    ) -> Checked<Verdict> {
        let (x, _) = dot(&found.of_args, direction);
        let seeds = found.seeds.clone();
        let along = |this: &mut Self, direction: &[f64], h: f64| {
            let state = this.moved(direction, h)?;
            (state.len() == seeds.len()).then(|| vec![dot(&seeds, &state).0])
        };
        let verdict = judge(|h| along(self, direction, h), &[x])[0];
        let Verdict::Wrong(right) = verdict else { return Ok(verdict) };
        let mut message =
            format!("<x̄, ẋ> of reverse mode is {x:?}; by differences it is {right:?}");
        let args = self.fresh()?;
        let entry = self.entry(&args, None)?;
        for (k, float) in entry.iter().enumerate().take(MAX_TOLD) {
            let mut unit = vec![0.0; direction.len()];
            unit[k] = 1.0;
            let own = judge(|h| along(self, &unit, h), &found.of_args[k..=k])[0];
            if let Verdict::Wrong(right) = own {
                let at = name(float.root, &float.path);
                let _ = write!(
                    message,
                    "\nthe cotangent of {at} is {:?} in reverse mode, {right:?} by differences",
                    found.of_args[k]
                );
            }
        }
        Err(self.failure(RuleProblem::Reverse, mode(sweeps), message))
    }

    /// Whether two plans agree bit for bit; an error if not even about.
    fn plans_agree(
        &self,
        (a, found, _): &(&Sweeps, Cotangents, Option<Cotangents>),
        (b, other, _): &(&Sweeps, Cotangents, Option<Cotangents>),
        entry: &[Float],
    ) -> Checked<bool> {
        let most = found.of_args.iter().fold(0f64, |most, x| most.max(x.abs()));
        for (k, (&x, &y)) in found.of_args.iter().zip(&other.of_args).enumerate() {
            if !near(x, y, 1e-12) && (x - y).abs() > 1e-13 * most {
                let at = name(entry[k].root, &entry[k].path);
                let message = format!(
                    "the cotangent of {at} is {x:?} with {}, {y:?} with {}",
                    a.label, b.label
                );
                return Err(self.failure(RuleProblem::Plans, mode(b), message));
            }
        }
        Ok(same_bits(&found.of_args, &other.of_args))
    }

    fn failure(&self, problem: RuleProblem, mode: String, message: String) -> Stop {
        let inputs = match self.args {
            RuleArgs::Values(values) => Observation::of(&self.ctx, values).to_string(),
            RuleArgs::Types(types) => {
                let shared = self.derivatives.active.iter().all(|&active| active);
                let mut choices = Choices::from_seed(self.seed);
                match tame_arguments(&self.ctx, types, &mut choices, shared) {
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

/// A scalar product, and the sum of the sizes of its terms.
fn dot(a: &[f64], b: &[f64]) -> (f64, f64) {
    let terms = || a.iter().zip(b).map(|(x, y)| if *x == 0.0 { 0.0 } else { x * y });
    (terms().sum(), terms().map(f64::abs).sum())
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(same)
}

fn near(x: f64, y: f64, tolerance: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * x.abs().max(y.abs())
}

/// A copy in depth, with objects shared as they were. As deep as values are nested.
fn copy(value: &Val, copies: &mut FxHashMap<*const (), Val>) -> Val {
    use std::rc::Rc;
    let mut all = |items: &[Val]| -> Vec<Val> { items.iter().map(|v| copy(v, copies)).collect() };
    match value {
        Val::Tuple(fields) => Val::tuple(all(fields.items())),
        Val::Named(fields) => Val::named_of(fields.ty(), all(fields.items()).into_iter().collect()),
        Val::Struct(fields) => Val::structure(fields.ty(), all(fields.items())),
        Val::Array(array) => {
            let address = Rc::as_ptr(array).cast();
            if let Some(known) = copies.get(&address) {
                return known.clone();
            }
            let new = Val::from(Array::duplicate(array));
            copies.insert(address, new.clone());
            if let (Val::Array(new), Storage::Val(_)) = (&new, array.storage()) {
                for i in 0..array.len() {
                    if let Some(item) = array.get(i) {
                        new.set(i, copy(&item, copies));
                    }
                }
            }
            new
        }
        Val::Ref(cell) => {
            let address = Rc::as_ptr(cell).cast();
            if let Some(known) = copies.get(&address) {
                return known.clone();
            }
            let new = Val::reference(cell.element(), Val::Unit);
            copies.insert(address, new.clone());
            let held = copy(&cell.get(), copies);
            if let Val::Ref(new) = &new {
                new.set(held);
            }
            new
        }
        Val::Object(object) => {
            let address = Rc::as_ptr(object).cast();
            if let Some(known) = copies.get(&address) {
                return known.clone();
            }
            let new = Val::object(object.ty(), object.fields());
            copies.insert(address, new.clone());
            for (i, field) in object.fields().iter().enumerate() {
                let field = copy(field, copies);
                if let Val::Object(new) = &new {
                    new.set(i, field);
                }
            }
            new
        }
        other => other.clone(),
    }
}
