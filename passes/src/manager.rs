//! Runs pipelines.
//!
//! Neighbouring function passes are run function by function: each function goes through all
//! of them while it is in the cache of the processor, and functions run in parallel. Each
//! function has its own analyses, its own log and its own statistics, and these are put
//! together in module order, so that neither results nor output depend on threads.
//!
//! Before a pass runs there is a copy of what it works on (a copy of plain memory, made only if
//! something has changed since the last one): what a failing pass leaves is thrown away, and
//! observers are shown the state before and after.

use std::io::Write as _;
use std::time::Instant;

use rayon::prelude::*;
use regraft_ir::{Diagnostic, FuncId, Function, Module, Stamp, StructId, Type};
use rustc_hash::FxHashMap;

use crate::analysis::{Analyses, EffectSummaries};
use crate::function_run::{FunctionRun, FunctionState, Home, Outcome, changes_of, since};
use crate::instrument::{Execution, Log, Observer, PassRun, Schedule, Unit};
use crate::panic_guard::guarded;
use crate::pass::{AnyPass, Output, PassContext};
use crate::pipeline::{PassStep, Pipeline, Step, fix_limit, unsettled_warning};
use crate::pipeline_error::{PipelineError, pass_result, unit_text};
use crate::report::{PassReport, Report, Stopped};
use crate::reproducer::{Failure, FailureKind};
use crate::run_options::RunOptions;
use crate::shared::{Shared, observe};

/// More threads than this are of no use to anybody, and a strain on the system.
const MAX_THREADS: usize = 256;
/// The number of functions that are run before their output is written.
const BATCH: usize = 256;

/// Runs a pipeline on a module.
///
/// # Errors
/// If the module is not valid, if a pass fails or panics, or if an observer (the verifier, say)
/// refuses what a pass left. The first failure in module order is reported; what else was run
/// does not depend on threads.
pub fn run_pipeline(
    module: &mut Module,
    pipeline: &Pipeline,
    options: &RunOptions,
) -> Result<Report, Failure> {
    let pool = options.threads.filter(|&threads| threads > 1).and_then(|threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads.min(MAX_THREADS)).build().ok()
    });
    let mut run = || Runner::new(pipeline, options).run(module);
    match pool {
        Some(pool) => pool.install(run),
        // Without threads of its own the run still gives the same result.
        None => run(),
    }
}

struct Runner<'a> {
    shared: Shared<'a>,
    pipeline: &'a Pipeline,
    schedule: Schedule,
    states: FxHashMap<FuncId, FunctionState>,
    analyses: Analyses,
    report: Report,
    /// True if the signatures and the effects have to be made again.
    is_stale: bool,
    /// The number of executions on the module.
    executions: u32,
    /// The last execution, where functions are run one after the other.
    last: Option<String>,
}

impl<'a> Runner<'a> {
    fn new(pipeline: &'a Pipeline, options: &'a RunOptions) -> Self {
        let observers = options.observers_in_order();
        let schedule = observers.iter().map(|o| o.schedule()).max().unwrap_or(Schedule::Parallel);
        Self {
            shared: Shared {
                options,
                observers,
                passes: pipeline.passes(),
                same_pass: pipeline.same_pass(),
                signatures: None,
                effects: EffectSummaries::unknown(),
                surroundings: 0,
            },
            is_stale: true,
            pipeline,
            schedule,
            states: FxHashMap::default(),
            analyses: Analyses::default(),
            report: Report::for_pipeline(pipeline),
            executions: 0,
            last: None,
        }
    }

    fn run(mut self, module: &mut Module) -> Result<Report, Failure> {
        let start = Instant::now();
        let result =
            self.begin(module).and_then(|()| self.steps(module, &self.pipeline.steps, true));
        let result = result.and_then(|()| self.end(module));
        self.report.wall = start.elapsed();
        for state in self.states.values() {
            self.report.analyses_computed += state.analyses.computed();
            self.report.analyses_reused += state.analyses.reused();
        }
        self.report.analyses_computed += self.analyses.computed();
        self.report.analyses_reused += self.analyses.reused();
        match result {
            Ok(()) => Ok(self.report),
            Err(PipelineError::Stopped(next)) => {
                self.report.stopped = Some(Stopped { last: self.last, next });
                Ok(self.report)
            }
            Err(PipelineError::Failed(fault)) => {
                Err(Failure::new(*fault, module, self.shared.options, self.report))
            }
        }
    }

    /// Lets the observers see what the pipeline is about to run on.
    fn begin(&mut self, module: &Module) -> Result<(), PipelineError> {
        let pipeline = self.pipeline;
        self.ask(FailureKind::Input, |observer, log| observer.begin(module, pipeline, log))
    }

    /// Lets the observers say what they have seen.
    fn end(&mut self, module: &Module) -> Result<(), PipelineError> {
        self.ask(FailureKind::Refused, |observer, log| observer.end(module, log))
    }

    /// Asks all observers, and fails with what they say.
    fn ask(
        &mut self,
        kind: FailureKind,
        what: impl Fn(&dyn Observer, &mut Log) -> Result<(), Vec<Diagnostic>>,
    ) -> Result<(), PipelineError> {
        let start = Instant::now();
        let mut log = Log::default();
        let results = self.shared.observers.iter().map(|&observer| what(observer, &mut log));
        let diagnostics: Vec<Diagnostic> = results.filter_map(Result::err).flatten().collect();
        self.report.observing += start.elapsed();
        self.write(log)?;
        if diagnostics.is_empty() { Ok(()) } else { Err(PipelineError::of_run(kind, diagnostics)) }
    }

    /// Runs steps on the module, the last ones of the pipeline or not. The depth of the recursion is that of the
    /// pipeline, which the parser limits.
    fn steps(
        &mut self,
        module: &mut Module,
        steps: &[Step],
        are_last: bool,
    ) -> Result<(), PipelineError> {
        let mut rest = steps;
        while let Some((step, tail)) = rest.split_first() {
            let functions = rest.iter().take_while(|step| step.is_functions_only()).count();
            let result = if functions > 0 {
                let (sequence, tail) = rest.split_at(functions);
                rest = tail;
                self.function_steps(module, sequence, are_last && rest.is_empty())
            } else {
                rest = tail;
                match step {
                    Step::Pass(pass) => self.module_pass(module, pass),
                    Step::Group { body, .. } => {
                        self.steps(module, body, are_last && rest.is_empty())
                    }
                    Step::Loop { .. } => {
                        self.function_steps(module, std::slice::from_ref(step), false)
                    }
                    Step::Fix { options, body, is_named, .. } => {
                        self.module_fix(module, step, fix_limit(options), body, *is_named)
                    }
                }
            };
            result.map_err(|error| error.before(rest))?;
        }
        Ok(())
    }

    fn module_fix(
        &mut self,
        module: &mut Module,
        step: &Step,
        limit: u32,
        body: &[Step],
        is_named: bool,
    ) -> Result<(), PipelineError> {
        let mut changes = Vec::new();
        for round in 1..=limit {
            changes = changes_of(&self.report.passes);
            let before = stamps(module);
            self.steps(module, body, false).map_err(|error| error.in_fix(limit - round, body))?;
            if stamps(module) == before {
                return Ok(());
            }
        }
        self.report.unsettled += 1;
        if !is_named {
            let changing = since(&changes, &self.report.passes, &self.shared.passes);
            self.report.warnings.push(unsettled_warning(step, &unit_text(None), &changing));
        }
        Ok(())
    }

    // --- function passes -------------------------------------------------------------------

    fn function_steps(
        &mut self,
        module: &mut Module,
        steps: &[Step],
        are_last: bool,
    ) -> Result<(), PipelineError> {
        if std::mem::take(&mut self.is_stale) {
            self.look_around(module);
        }
        let needed = self.shared.options.needed.filter(|_| are_last);
        let is_needed = |f: &Function| needed.is_none_or(|name| f.name() == name);
        if self.schedule != Schedule::Parallel {
            return self.one_by_one(module, steps, is_needed);
        }
        let place: FxHashMap<FuncId, usize> =
            module.ids().iter().enumerate().map(|(i, &id)| (id, i)).collect();
        let mut work: Vec<(FuncId, Option<FunctionRun<'_>>)> = module
            .functions_mut()
            .filter(|(_, f)| is_needed(f))
            .map(|(id, f)| {
                let state = self.states.remove(&id).unwrap_or_default();
                (id, Some(FunctionRun::new(&self.shared, id, Home::Alone(f), state)))
            })
            .collect();
        work.sort_unstable_by_key(|(id, _)| place[id]);
        let run = |(id, run): &mut (FuncId, Option<FunctionRun<'_>>)| {
            let run = run.take().expect("each function is run once");
            (*id, run.finish_after(steps))
        };
        let mut first_error = None;
        let mut done = Vec::with_capacity(work.len());
        for batch in work.chunks_mut(BATCH) {
            let outcomes: Vec<(FuncId, Outcome)> = match self.shared.options.threads {
                Some(1) => batch.iter_mut().map(run).collect(),
                _ => batch.par_iter_mut().map(run).collect(),
            };
            let failed = outcomes.iter().any(|(_, outcome)| outcome.result.is_err());
            done.extend(outcomes);
            if failed {
                break;
            }
        }
        drop(work);
        for (id, outcome) in done {
            let error = self.absorb(id, outcome).err();
            first_error = first_error.or(error);
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Finds out what function passes see of other functions.
    fn look_around(&mut self, module: &Module) {
        let signatures = signatures_of(module);
        // Of a module that breaks the analysis, nothing is known.
        let effects = guarded(|| EffectSummaries::compute(module)).unwrap_or_default();
        let shared = &mut self.shared;
        let known = shared.signatures.as_ref();
        if !known.is_some_and(|known| known.structural_eq(&signatures)) || shared.effects != effects
        {
            shared.signatures = Some(signatures);
            shared.effects = effects;
            shared.surroundings += 1;
        }
    }

    /// Functions in module order, in their module, so that observers can be shown it.
    fn one_by_one(
        &mut self,
        module: &mut Module,
        steps: &[Step],
        is_needed: impl Fn(&Function) -> bool,
    ) -> Result<(), PipelineError> {
        for id in module.ids().to_vec() {
            if !module.get(id).is_some_and(&is_needed) {
                continue;
            }
            let state = self.states.remove(&id).unwrap_or_default();
            let run = FunctionRun::new(&self.shared, id, Home::In(module, id), state);
            let outcome = run.finish_after(steps);
            self.last = outcome.last.clone().or(self.last.take());
            self.absorb(id, outcome)?;
        }
        Ok(())
    }

    fn absorb(&mut self, id: FuncId, outcome: Outcome) -> Result<(), PipelineError> {
        self.states.insert(id, outcome.state);
        for (total, of_function) in self.report.passes.iter_mut().zip(&outcome.passes) {
            total.absorb(of_function);
        }
        self.report.unsettled += outcome.unsettled;
        self.report.copying += outcome.copying;
        self.report.observing += outcome.observing;
        let written = self.write(outcome.log);
        outcome.result.and(written)
    }

    fn write(&mut self, log: Log) -> Result<(), PipelineError> {
        self.report.warnings.extend(log.warnings);
        self.report.explanations.extend(log.explanations);
        let Some(writer) = &self.shared.options.writer else {
            self.report.text.push_str(&log.text);
            return Ok(());
        };
        let mut writer = writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        writer.write_all(log.text.as_bytes()).map_err(|error| {
            let error = Diagnostic::error(format!("cannot write the output: {error}"));
            PipelineError::of_run(FailureKind::Output, vec![error])
        })
    }

    // --- module passes ---------------------------------------------------------------------

    fn module_pass(&mut self, module: &mut Module, step: &PassStep) -> Result<(), PipelineError> {
        self.executions += 1;
        let pass_run = PassRun { pass: step, function: None, number: self.executions };
        if self.shared.observers.iter().any(|o| o.before(&pass_run).is_break()) {
            return Err(PipelineError::Stopped(pass_run.to_string()));
        }
        self.last = Some(pass_run.to_string());
        let copy_start = Instant::now();
        let before = module.clone();
        let before_state = stamps(module);
        self.report.copying += copy_start.elapsed();

        self.gather_analyses();
        let mut output = Output::explained(self.shared.options.explain);
        let mut log = Log::default();
        let maker = module.ctx().symbol(step.name());
        for (_, f) in module.functions_mut() {
            f.set_provenance(Some(maker));
        }
        let start = Instant::now();
        let result = run_module_pass(step, module, &mut self.analyses, &mut output);
        let elapsed = start.elapsed();
        for (_, f) in module.functions_mut() {
            f.set_provenance(None);
        }
        self.hand_out_analyses(module);
        let changed = stamps(module) != before_state;
        self.is_stale |= changed;

        let call = PassReport::of_call(changed, elapsed, std::mem::take(&mut output.counts));
        self.report.passes[step.position].absorb(&call);
        log.text.push_str(&output.text);
        log.take_warnings(&mut output.warnings, &pass_run);
        log.take_explanations(&mut output, &pass_run);
        let result = result.and_then(|()| {
            let execution = Execution {
                pass_run,
                id: None,
                before: Unit::Module(&before),
                after: Unit::Module(module),
                module: Some(module),
                signatures: module,
                changed,
                renumbering: None,
                rebuilt: false,
                elapsed,
            };
            self.report.observing += observe(&self.shared, &execution, &mut log)?;
            Ok(())
        });
        if result.is_err() {
            *module = before;
        }
        let written = self.write(log);
        result.and(written)
    }

    /// Makes the analyses of the functions available to a module pass.
    fn gather_analyses(&mut self) {
        for state in self.states.values_mut() {
            for (_, result) in state.analyses.drain() {
                self.analyses.put(result);
            }
        }
    }

    /// Gives each function its analyses back, and forgets those of functions that are gone.
    fn hand_out_analyses(&mut self, module: &Module) {
        self.states.retain(|&id, _| module.get(id).is_some());
        let owners: FxHashMap<u64, FuncId> = module
            .ids()
            .iter()
            .filter_map(|&id| Some((module.get(id)?.stamp().lineage, id)))
            .collect();
        for (lineage, result) in self.analyses.drain() {
            if let Some(&id) = owners.get(&lineage) {
                self.states.entry(id).or_default().analyses.put(result);
            }
        }
    }
}

fn run_module_pass(
    step: &PassStep,
    module: &mut Module,
    analyses: &mut Analyses,
    output: &mut Output,
) -> Result<(), PipelineError> {
    let result = guarded(|| match step.info.make(&step.options) {
        Ok(AnyPass::Module(run)) => run(module, &mut PassContext::new(None, analyses, output)),
        Ok(AnyPass::Function(_) | AnyPass::Loop(_)) => {
            Err(Diagnostic::error(format!("`{}` is a pass over functions", step.name())))
        }
        Err(message) => Err(Diagnostic::error(message)),
    });
    pass_result(step, None, result, output)
}

/// A module of the same functions without their bodies.
fn signatures_of(module: &Module) -> Module {
    let mut bare = Module::new(module.ctx());
    for f in module.functions() {
        let bodyless = Function::new(f.ctx(), f.name_str(), &f.param_types(), f.ret_type());
        // A name that occurs twice is for the verifier to report.
        let _ = bare.add(bodyless);
    }
    bare
}

/// Identifies a state of a module: its functions in order, each with its state, and its structs.
type ModuleStamp = (Vec<(FuncId, Stamp)>, Vec<(StructId, Type)>);

fn stamps(module: &Module) -> ModuleStamp {
    let functions = module.ids().iter().filter_map(|&id| Some((id, module.get(id)?.stamp())));
    (functions.collect(), module.structs().to_vec())
}
