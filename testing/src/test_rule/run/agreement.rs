//! Compares the results of several ways of computing.

use std::fmt::Write;

use super::super::differences::{Verdict, judge};
use super::super::floats::{Float, name};
use super::super::{RuleProblem, Sweeps};
use super::{Checked, Checker, Cotangents, Stop, mode};

/// The most floats of arguments for which it is told which one is wrong.
const MAX_TOLD: usize = 300;

impl Checker<'_> {
    /// ⟨ȳ, ẏ⟩ = ⟨x̄, ẋ⟩, with ẏ of forward mode.
    pub(super) fn against_forward(
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
        let decided = match x.is_finite() {
            true => {
                let by = (x - y).abs();
                self.is_sensitive(found, direction, y, by)
                    || self.is_rounded(sweeps, found, direction, by)
            }
            false => self.overflows(direction),
        };
        if !finite || decided {
            return Err(Stop::Unclear);
        }
        let which = self.which(found, &vec![0.0; direction.len()]);
        let message =
            format!("<x̄, ẋ> of reverse mode is {x:?}; <ȳ, ẏ> of forward mode is {y:?}{which}");
        Err(self.failure(RuleProblem::Reverse, mode(sweeps), message))
    }

    /// Returns whether ⟨ȳ, ẏ⟩ changes as much when all floats of the arguments are a little off and the
    /// direction is longer or shorter: rounding decides then.
    pub(super) fn is_sensitive(
        &mut self,
        found: &Cotangents,
        direction: &[f64],
        y: f64,
        by: f64,
    ) -> bool {
        let derivatives = self.derivatives;
        let Some((function, 1)) = derivatives.forward.first() else { return false };
        let mut most = 0f64;
        // How rounding turns out is a matter of luck.
        for (off, scale) in [(1e-13, 1.37), (-1e-13, 0.83), (1.9e-13, 1.71), (-1.9e-13, 0.59)] {
            self.off = off;
            let nearby = self.fresh().map(|args| self.plain_run(args));
            let directions = [direction.iter().map(|x| x * scale).collect()];
            let tangents = nearby.and_then(|plain| self.pushed(function, 1, &directions, &plain));
            self.off = 0.0;
            match tangents {
                Ok(Some(found_there)) if found_there[0].len() == found.seeds.len() => {
                    let there = dot(&found.seeds, &found_there[0]).0 / scale;
                    most = most.max((there - y).abs());
                }
                // It goes another way already.
                _ => return true,
            }
        }
        most >= by
    }

    /// Finds the cotangents that are wrong, by a run of forward mode for each float.
    pub(super) fn which(&mut self, found: &Cotangents, none: &[f64]) -> String {
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
    pub(super) fn alone(
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
        if self.overflows(direction) {
            return Err(Stop::Unclear);
        }
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

    /// Returns whether two plans agree bit for bit; an error if they do not even agree to rounding.
    pub(super) fn plans_agree(
        &self,
        (a, found, _): &(&Sweeps, Cotangents, Option<Cotangents>),
        (b, other, _): &(&Sweeps, Cotangents, Option<Cotangents>),
        entry: &[Float],
    ) -> Checked<bool> {
        // Where terms are summed in another order, what is left of terms that cancel out differs.
        let least = if b.reordered { 1.0 } else { 0.0 };
        let most = found.of_args.iter().fold(least, |most: f64, x| most.max(x.abs()));
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
}

/// A scalar product, and the sum of the sizes of its terms.
pub(super) fn dot(a: &[f64], b: &[f64]) -> (f64, f64) {
    let terms = || a.iter().zip(b).map(|(x, y)| if *x == 0.0 { 0.0 } else { x * y });
    (terms().sum(), terms().map(f64::abs).sum())
}

pub(super) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(same)
}

pub(super) fn near(x: f64, y: f64, tolerance: f64) -> bool {
    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * x.abs().max(y.abs())
}
