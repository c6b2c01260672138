//! Reverse mode.

use regraft_exec::{Engine, Val};
use rustc_hash::FxHashMap;

use super::super::floats::{Float, Root, name};
use super::super::{RuleProblem, Sweeps};
use super::{Checked, Checker, Cotangents, Outcome, Stop, is_limit, mode};
use crate::observe::{FloatMatch, Observation};

impl Checker<'_> {
    /// Both sweeps, with ȳ added to the shadows between them.
    pub(super) fn sweeps(
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
    pub(super) fn whole(
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
    pub(super) fn shadow_args(&mut self, shadows: &[Option<Val>]) -> Vec<Val> {
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
    pub(super) fn back(&mut self, function: &str, mode: &str, args: &[Val]) -> Checked<Vec<Val>> {
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
    pub(super) fn cotangents(
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
}
