//! Makes the derivatives of a function, and has them checked.

use regraft_ad::{Checkpoints, ForwardOptions, PlanKind, ReverseOptions};
use regraft_ir::{Diagnostic, Module, Symbol, render_all, verify_module};
use regraft_lang::Session;
use regraft_passes::{Pipeline, RunOptions, guarded, run_pipeline};

use super::{
    Derivatives, RuleArgs, RuleFailure, RuleOptions, RuleProblem, RuleReport, Sweeps,
    check_derivatives,
};

/// The passes that add derivatives.
pub const DERIVATIVE_PASSES: [&str; 2] = ["forward-diff", "reverse-diff"];

/// Differentiates a function of a module in both modes, with all plans, and checks by running that
/// the derivatives are right and that the function is as it was. See the module
/// [`test_rule`](mod@crate::test_rule).
///
/// # Errors
/// The mistake, with the first input that shows it: a derivative that cannot be made is wrong,
/// too.
pub fn test_rule(
    module: &Module,
    function: &str,
    args: &RuleArgs,
    options: &RuleOptions,
) -> Result<RuleReport, Box<RuleFailure>> {
    let mut derived = module.clone();
    let make = Make { function, options };
    make.pipeline(&mut derived, &options.before, "the pipeline before")?;
    let derivatives = make.derivatives(&mut derived)?;
    make.pipeline(&mut derived, &options.after, "the pipeline after")?;
    check_derivatives(module, &derived, function, &derivatives, args, options)
}

/// The driver that makes derivatives.
pub(crate) struct Make<'a> {
    pub(crate) function: &'a str,
    pub(crate) options: &'a RuleOptions,
}

impl Make<'_> {
    fn refused(&self, mode: &str, message: String) -> Box<RuleFailure> {
        Box::new(RuleFailure {
            function: self.function.to_owned(),
            problem: RuleProblem::Refused,
            mode: mode.to_owned(),
            inputs: String::new(),
            message,
        })
    }

    /// Runs a pipeline, which the error names.
    pub(crate) fn pipeline(
        &self,
        module: &mut Module,
        pipeline: &Pipeline,
        name: &str,
    ) -> Result<(), Box<RuleFailure>> {
        if pipeline.is_empty() {
            return Ok(());
        }
        let result = run_pipeline(module, pipeline, &RunOptions::default().threads(1));
        match result {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.refused(name, render_all(failure.diagnostics(), false))),
        }
    }

    /// Adds the derivatives to the module.
    pub(crate) fn derivatives(&self, module: &mut Module) -> Result<Derivatives, Box<RuleFailure>> {
        let Some(f) = module.function(self.function) else {
            return Err(self.refused("nothing can be made", "there is no such function".to_owned()));
        };
        let count = f.param_types().len();
        let is_active = |n: usize| self.options.wrt.as_ref().is_none_or(|wrt| wrt.contains(&n));
        let active: Vec<bool> = (1..=count).map(is_active).collect();
        let name = module.ctx().symbol(self.function);
        let before = module.clone();
        let ctx = std::sync::Arc::clone(module.ctx());
        let text = |name: Symbol| ctx.str(name).to_owned();
        // What dispatches calls of values is not there: a program that has any stops there.
        let dynamic = Some(ctx.symbol("dynamic calls"));
        let mut found = Derivatives { active: active.clone(), ..Derivatives::default() };
        for &width in &self.options.widths {
            let options = ForwardOptions { width, dynamic, ..ForwardOptions::default() };
            let make = |module: &mut Module| regraft_ad::forward(module, name, &active, &options);
            let made = self.made("forward mode", module, make)?;
            found.forward.push((text(made), width));
        }
        for &(plan, checkpoints) in &self.options.plans {
            let mut label = match plan {
                PlanKind::Best => "plan=best".to_owned(),
                PlanKind::Naive => "plan=naive".to_owned(),
            };
            match checkpoints {
                None => {}
                Some(Checkpoints::Snapshots(n)) => label.push_str(&format!(",snapshots={n}")),
                Some(Checkpoints::Bytes(n)) => label.push_str(&format!(",memory={n}")),
            }
            let options =
                ReverseOptions { plan, checkpoints, dynamic, ..ReverseOptions::default() };
            let make = |module: &mut Module| regraft_ad::reverse(module, name, &active, &options);
            let made = self.made(&format!("reverse mode, {label}"), module, make)?;
            found.reverse.push(Sweeps {
                label,
                reordered: checkpoints.is_some(),
                forward: text(made.forward),
                reverse: text(made.reverse),
                vjp: Some(text(made.vjp)),
            });
        }
        for f in before.functions() {
            let same = module.function(f.name_str()).is_some_and(|g| f.structural_eq(g));
            if !same {
                let message = format!("@{} is not as it was", f.name_str());
                return Err(self.refused("a derivative", message));
            }
        }
        Ok(found)
    }

    /// Runs what makes a derivative, and verifies what it made.
    fn made<T>(
        &self,
        mode: &str,
        module: &mut Module,
        make: impl FnOnce(&mut Module) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Box<RuleFailure>> {
        let made = match guarded(|| make(module)) {
            Ok(Ok(made)) => made,
            Ok(Err(errors)) => return Err(self.refused(mode, render_all(&errors, false))),
            Err(caught) => {
                let place = caught.place.as_deref().unwrap_or("an unknown place");
                let message = format!("it panicked at {place}: {}", caught.message);
                return Err(self.refused(mode, message));
            }
        };
        if let Err(errors) = verify_module(module) {
            let message = format!(
                "what was made is refused by the verifier: {}\n\n{module}",
                render_all(&errors, false)
            );
            return Err(self.refused(mode, message));
        }
        for f in module.functions() {
            if let Err(error) = f.check_invariants() {
                let message = format!("@{} is inconsistent in itself: {error}", f.name_str());
                return Err(self.refused(mode, message));
            }
        }
        Ok(made)
    }
}

/// Tests the derivatives of the method that a call like `f(1.0, [1.0, 2.0])` runs, on its arguments.
/// All functions that it calls have to be known before it runs.
///
/// # Errors
/// The mistake in the call, or in a derivative.
pub fn test_call(
    session: &mut Session,
    call: &str,
    options: &RuleOptions,
) -> Result<RuleReport, Box<RuleFailure>> {
    let refused = |errors: Vec<Diagnostic>| {
        Box::new(RuleFailure {
            function: call.to_owned(),
            problem: RuleProblem::Refused,
            mode: "nothing can be run".to_owned(),
            inputs: String::new(),
            message: render_all(&errors, false),
        })
    };
    let module = session.typed(call).map_err(refused)?;
    let inner = call.split_once('(').map_or("", |(_, rest)| rest);
    let inner = inner.rsplit_once(')').map_or("", |(args, _)| args).trim();
    let args = match inner.is_empty() {
        true => Vec::new(),
        false => {
            let args = session.eval(&format!("({inner},)")).map_err(refused)?;
            args.as_fields().unwrap_or_default().to_vec()
        }
    };
    let name = module.functions().next().map(|f| f.name_str().to_owned()).unwrap_or_default();
    test_rule(&module, &name, &RuleArgs::Values(args), options)
}
