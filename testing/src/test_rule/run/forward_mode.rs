//! Forward mode, and differences.

use regraft_exec::Val;

use super::super::RuleProblem;
use super::super::differences::{Verdict, judge};
use super::super::floats::{Float, name};
use super::agreement::{near, same_bits};
use super::{Checked, Checker, Outcome, Stop};
use crate::choices::Choices;
use crate::inputs::tame_float;

impl Checker<'_> {
    /// ẏ of forward mode; `None` if there is no such function, or if it ended with an error.
    pub(super) fn forward(
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
    pub(super) fn pushed(
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

    pub(super) fn in_mode(&self, stop: Stop, mode: &str) -> Stop {
        match stop {
            Stop::Failure(mut failure) => {
                failure.mode = mode.to_owned();
                Stop::Failure(failure)
            }
            Stop::Unclear => Stop::Unclear,
        }
    }

    /// The numbers at the tangents of floats.
    pub(super) fn read(&self, floats: &[Float], roots: &[Val], mode: &str) -> Checked<Vec<f64>> {
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
    pub(super) fn tangents(&mut self, args: &[Val], numbers: &[f64]) -> Checked<Vec<Option<Val>>> {
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

    pub(super) fn zeros(&mut self, args: &[Val]) -> Checked<Vec<Option<Val>>> {
        let active: Vec<Val> = (args.iter().zip(&self.derivatives.active))
            .map(|(arg, &active)| if active { arg.clone() } else { Val::Unit })
            .collect();
        let zeros = self.floats.zeros(&active);
        let zeros = zeros.map_err(|why| self.shadow_problem("tangents".to_owned(), why))?;
        Ok(zeros.into_iter().zip(&self.derivatives.active).map(|(t, &a)| a.then_some(t)).collect())
    }

    /// Compares tangents with differences.
    pub(super) fn against_differences(
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
            if self.overflows(direction) {
                return Err(Stop::Unclear);
            }
            let count = verdicts.iter().filter(|v| matches!(v, Verdict::Wrong(_))).count();
            let message = format!(
                "in a random direction, the tangent of {} is {:?}; by differences it is {right:?} \
                 ({count} of {} differ)",
                name(state[k].root, &state[k].path),
                tangents[k],
                state.len()
            );
            return Err(self.failure(RuleProblem::Forward, "forward mode".to_owned(), message));
        }
        Ok(verdicts)
    }

    /// The state of the function at arguments a step further in a direction.
    pub(super) fn moved(&mut self, direction: &[f64], h: f64) -> Option<Vec<f64>> {
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
}
