//! One function on its way through neighbouring function passes.

use std::time::{Duration, Instant};

use regraft_ir::{Block, Diagnostic, FuncId, Function, Module, Stamp};

use crate::analysis::Analyses;
use crate::instrument::{Execution, Log, PassRun, Unit};
use crate::loop_run::LoopWalk;
use crate::panic_guard::{Caught, guarded};
use crate::pass::{AnyPass, Output, PassContext, PassResult};
use crate::pipeline::{PassStep, Step, fix_limit, unsettled_warning};
use crate::pipeline_error::{PipelineError, pass_result, unit_text};
use crate::report::PassReport;
use crate::shared::{Shared, observe};

/// A function of fewer records is not worth compacting.
const COMPACT_FROM: usize = 4096;

/// The state of a function that is kept from one sequence of passes to the next.
#[derive(Debug, Default)]
pub(crate) struct FunctionState {
    pub(crate) analyses: Analyses,
    /// The number of executions.
    executions: u32,
    /// For each place of the pipeline, the state of the function in which its pass last had no
    /// effect. Only the first of the places with the same pass is used.
    idle: Vec<Option<Stamp>>,
    /// The surroundings in which that was so: [`Shared::surroundings`].
    surroundings: u64,
}

/// The home of the function.
pub(crate) enum Home<'m> {
    /// Taken out of its module, so that others can be run at the same time.
    Alone(&'m mut Function),
    /// In its module, which observers want to see.
    In(&'m mut Module, FuncId),
}

impl Home<'_> {
    fn function_mut(&mut self) -> &mut Function {
        match self {
            Self::Alone(f) => f,
            Self::In(module, id) => module.get_mut(*id).expect("function passes remove none"),
        }
    }

    fn function(&self) -> &Function {
        match self {
            Self::Alone(f) => f,
            Self::In(module, id) => module.get(*id).expect("function passes remove none"),
        }
    }

    fn module(&self) -> Option<&Module> {
        match self {
            Self::Alone(_) => None,
            Self::In(module, _) => Some(module),
        }
    }
}

/// The outcome for a function.
pub(crate) struct Outcome {
    pub(crate) result: Result<(), PipelineError>,
    pub(crate) state: FunctionState,
    pub(crate) passes: Vec<PassReport>,
    pub(crate) log: Log,
    /// The number of times that a `fix` reached its limit.
    pub(crate) unsettled: u64,
    pub(crate) copying: Duration,
    pub(crate) observing: Duration,
    /// The last execution.
    pub(crate) last: Option<String>,
}

/// A copy of the function, to restore it from and to compare with.
struct Copy {
    function: Function,
    /// The state of the original that it is a copy of.
    of: Stamp,
}

pub(crate) struct FunctionRun<'a> {
    shared: &'a Shared<'a>,
    id: FuncId,
    home: Home<'a>,
    name: String,
    copy: Option<Copy>,
    state: FunctionState,
    passes: Vec<PassReport>,
    log: Log,
    unsettled: u64,
    copying: Duration,
    observing: Duration,
    last: Option<(&'a PassStep, u32)>,
    /// The loops to be visited, within `loop(..)`.
    walk: Option<LoopWalk>,
}

impl<'a> FunctionRun<'a> {
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        id: FuncId,
        home: Home<'a>,
        mut state: FunctionState,
    ) -> Self {
        state.analyses.set_effects(&shared.effects);
        if state.surroundings != shared.surroundings {
            state.surroundings = shared.surroundings;
            state.idle = vec![None; shared.same_pass.len()];
        }
        Self {
            shared,
            id,
            name: home.function().name_str().to_owned(),
            home,
            copy: None,
            state,
            passes: vec![PassReport::default(); shared.passes.len()],
            log: Log::default(),
            unsettled: 0,
            copying: Duration::ZERO,
            observing: Duration::ZERO,
            last: None,
            walk: None,
        }
    }

    /// Runs the steps and gives back everything but the function.
    pub(crate) fn finish_after(mut self, steps: &'a [Step]) -> Outcome {
        let result = self.steps(steps);
        self.home.function_mut().set_provenance(None);
        let last = self
            .last
            .map(|(pass, number)| PassRun { pass, function: Some(&self.name), number }.to_string());
        Outcome {
            result,
            state: self.state,
            passes: self.passes,
            log: self.log,
            unsettled: self.unsettled,
            copying: self.copying,
            observing: self.observing,
            last,
        }
    }

    /// The depth of the recursion is that of the pipeline.
    fn steps(&mut self, steps: &'a [Step]) -> Result<(), PipelineError> {
        for (i, step) in steps.iter().enumerate() {
            let result = match step {
                Step::Pass(pass) => self.pass(pass),
                Step::Group { body, .. } => self.steps(body),
                Step::Fix { options, body, is_named, .. } => {
                    self.fix(step, fix_limit(options), body, *is_named)
                }
                Step::Loop { body } => self.each_nesting_depth(body),
            };
            result.map_err(|error| error.before(&steps[i + 1..]))?;
        }
        Ok(())
    }

    fn fix(
        &mut self,
        step: &Step,
        limit: u32,
        body: &'a [Step],
        is_named: bool,
    ) -> Result<(), PipelineError> {
        let mut changes = Vec::new();
        for round in 1..=limit {
            changes = changes_of(&self.passes);
            let before = self.home.function().stamp();
            self.steps(body).map_err(|error| error.in_fix(limit - round, body))?;
            if self.home.function().stamp() == before {
                return Ok(());
            }
        }
        self.unsettled += 1;
        if !is_named {
            let changing = since(&changes, &self.passes, &self.shared.passes);
            self.log.warn(unsettled_warning(step, &unit_text(Some(&self.name)), &changing));
        }
        Ok(())
    }

    /// Runs passes on the loops of one nesting depth after the other.
    fn each_nesting_depth(&mut self, body: &'a [Step]) -> Result<(), PipelineError> {
        let mut walk = LoopWalk::new(self.home.function(), &mut self.state.analyses);
        while walk.advance(self.home.function(), &mut self.state.analyses) {
            self.walk = Some(walk);
            self.steps(body).map_err(|error| error.in_loop(body))?;
            walk = self.walk.take().expect("nobody else takes it");
        }
        self.compact();
        Ok(())
    }

    fn pass(&mut self, step: &'a PassStep) -> Result<(), PipelineError> {
        let loops = match &self.walk {
            Some(walk) => {
                let loops = walk.loops(self.home.function(), &mut self.state.analyses);
                if loops.is_empty() {
                    return Ok(());
                }
                Some(loops)
            }
            None => None,
        };
        // A pass sees the function, its surroundings and its options, and nothing else.
        let place = self.shared.same_pass[step.position];
        let stamp = self.home.function().stamp();
        if loops.is_none() && self.state.idle[place] == Some(stamp) {
            return Ok(());
        }
        let number = self.state.executions + 1;
        let pass_run = PassRun { pass: step, function: Some(&self.name), number };
        if self.shared.observers.iter().any(|o| o.before(&pass_run).is_break()) {
            return Err(PipelineError::Stopped(pass_run.to_string()));
        }
        self.state.executions = number;
        self.last = Some((step, number));
        self.refresh_copy();

        let f = self.home.function_mut();
        let before = f.stamp();
        f.set_provenance(Some(f.ctx().symbol(step.name())));
        let mut output = Output::explained(self.shared.options.explain);
        let start = Instant::now();
        let signatures = self.shared.signatures();
        let mut cx = PassContext::new(Some(signatures), &mut self.state.analyses, &mut output);
        let result = run_pass(step, f, loops.as_deref(), &mut cx);
        let elapsed = start.elapsed();
        let after = f.stamp();
        let changed = after != before;
        let is_idle =
            loops.is_none() && !changed && matches!(result, Ok(Ok(()))) && output.is_idle();
        self.state.idle[place] = is_idle.then_some(after);

        self.log.text.push_str(&output.text);
        let pass_run = PassRun { pass: step, function: Some(&self.name), number };
        self.log.take_warnings(&mut output.warnings, &pass_run);
        self.log.take_explanations(&mut output, &pass_run);
        let call = PassReport::of_call(changed, elapsed, std::mem::take(&mut output.counts));
        self.passes[step.position].absorb(&call);
        let rebuilt = after.lineage != before.lineage;
        if rebuilt {
            self.state.analyses.keep_only(after.lineage);
        }
        let result = pass_result(step, Some(&self.name), result, &mut output).and_then(|()| {
            let execution = Execution {
                pass_run,
                id: Some(self.id),
                before: Unit::Function(&self.copy.as_ref().expect("a copy was made").function),
                after: Unit::Function(self.home.function()),
                module: self.home.module(),
                signatures: self.shared.signatures(),
                changed,
                renumbering: output.renumbering.as_ref(),
                rebuilt,
                elapsed,
            };
            self.observing += observe(self.shared, &execution, &mut self.log)?;
            Ok(())
        });
        match result {
            // Within `loop(..)` blocks keep their numbers, by which loops are known.
            Ok(()) if changed && self.walk.is_none() => self.compact(),
            Ok(()) => {}
            Err(_) => self.restore(),
        }
        result
    }

    /// Makes sure that there is a copy of the present state. O(1) if nothing has changed since
    /// the last one was made.
    fn refresh_copy(&mut self) {
        let stamp = self.home.function().stamp();
        if self.copy.as_ref().is_some_and(|copy| copy.of == stamp) {
            return;
        }
        let start = Instant::now();
        self.copy = Some(Copy { function: self.home.function().clone(), of: stamp });
        self.copying += start.elapsed();
    }

    fn restore(&mut self) {
        if let Some(copy) = self.copy.take() {
            self.state.analyses.keep_only(copy.function.stamp().lineage);
            *self.home.function_mut() = copy.function;
        }
    }

    /// Drops what is dead, if that is most of a large function.
    fn compact(&mut self) {
        let f = self.home.function_mut();
        if f.value_capacity() < COMPACT_FROM || !f.is_mostly_dead() {
            return;
        }
        f.compact();
        self.state.analyses.keep_only(f.stamp().lineage);
        for observer in &self.shared.observers {
            observer.compacted(self.home.function(), &mut self.log);
        }
    }
}

/// Returns how often each pass has changed something.
pub(crate) fn changes_of(passes: &[PassReport]) -> Vec<u64> {
    passes.iter().map(|pass| pass.changed).collect()
}

/// The passes that have changed something since then, quoted.
pub(crate) fn since(before: &[u64], reports: &[PassReport], passes: &[&PassStep]) -> Vec<String> {
    let all = before.iter().zip(reports).zip(passes);
    let changing = all.filter(|((before, report), _)| report.changed > **before);
    changing.map(|(_, pass)| format!("`{pass}`")).collect()
}

/// Runs a pass on a function; a loop pass on these loops, or on all if none are given.
fn run_pass(
    step: &PassStep,
    f: &mut Function,
    loops: Option<&[Block]>,
    cx: &mut PassContext<'_>,
) -> Result<PassResult, Caught> {
    guarded(|| match step.info.make(&step.options) {
        Ok(AnyPass::Function(run)) => run(f, cx),
        Ok(AnyPass::Loop(run)) => run(f, loops, cx),
        Ok(AnyPass::Module(_)) => {
            Err(Diagnostic::error(format!("`{}` is a pass over modules", step.name())))
        }
        Err(message) => Err(Diagnostic::error(message)),
    })
}
