//! Random programs through random pipelines, for as long as one likes.
//!
//! A case is determined by two numbers, the seed and the number of the case: what is generated,
//! which passes run on it with which options, and what it is run on. So a run can be repeated
//! from any case on, and it does not matter how long the ones before took.

use std::sync::Arc;

use regraft_exec::EngineKind;
use regraft_ir::{Context, Extensions, Module, Op, OpDef, render_all};
use regraft_lang::Session;
use regraft_passes::{Caught, PassRegistry, guarded};

use crate::choices::Choices;
use crate::compare::{Agreement, CompareConfig};
use crate::contexts::ContextCase;
use crate::generate::{Config, ModuleCase, unknown_ops};
use crate::plan::Plan;
use crate::reduce::{Suspect, reduce};
use crate::repro::Repro;
use crate::script::{Drawn, DynamicCase, ScriptCase};
use crate::shrink::Shrinker;
use crate::test_orders::{test_orders, test_redefinition};
use crate::test_rule::{RuleProblem, RuleReport};
use crate::trial::{BrokenKind, PassFailure, Trial, shrink_choices};

/// The most simpler cases that are tried to shrink a find, by each way to do it.
const ATTEMPTS: u32 = 3_000;
/// The same if there are passes that are written in the language, which begin a session for each.
const ATTEMPTS_WITH_SESSIONS: u32 = 100;

/// The source of cases.
#[derive(Clone, Debug)]
pub struct Fuzzer {
    extensions: Arc<Extensions>,
    pipeline: Option<String>,
    compare: CompareConfig,
    seed: u64,
    /// Of 100 cases, how many are scripts.
    scripts: u32,
    /// True if derivatives are tested, rather than pipelines.
    derivatives: bool,
    /// True if scripts are run within contexts, rather than pipelines.
    contexts: bool,
    /// The engines that run programs after their pipelines in turn; none for the interpreter.
    engines: Vec<EngineKind>,
    /// True if finds are made small.
    small: bool,
    /// Only these ops, where there is a choice.
    only: Option<Vec<Op>>,
    /// The most simpler cases that are tried to shrink a find, by each way to do it.
    attempts: u32,
    /// The command that reproducers name.
    tool: String,
}

/// The counts of cases that found nothing wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// The cases: modules, and scripts.
    pub cases: u64,
    /// The number of them that were scripts.
    pub scripts: u64,
    /// Scripts whose calls are dispatched when they run, and which say nothing therefore.
    pub skipped: u64,
    /// Cases that fail like one that was found before.
    pub repeated: u64,
    /// The number of them that the pipeline changed.
    pub changed: u64,
    /// The agreement of the runs before and after.
    pub runs: Agreement,
    /// Programs whose derivatives depend on types that are only known when they run.
    pub untyped: u64,
    /// Programs with ops of which the rules say that their derivative is not known.
    pub declared: u64,
    /// The agreement of derivatives, if they are tested.
    pub rules: RuleReport,
}

impl Tally {
    /// Adds what other cases found.
    pub fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.scripts += other.scripts;
        self.skipped += other.skipped;
        self.repeated += other.repeated;
        self.changed += other.changed;
        self.runs.add(other.runs);
        self.untyped += other.untyped;
        self.declared += other.declared;
        self.rules.add(other.rules);
    }
}

/// A pipeline does something wrong to a program.
#[derive(Clone, Debug)]
pub struct Find {
    /// The number of the case.
    pub case: u64,
    /// The pipeline, as short as possible.
    pub pipeline: String,
    /// The program, as small as possible.
    pub suspect: Suspect,
    /// The mistake.
    pub kind: BrokenKind,
    /// The script that the program comes from.
    pub script: Option<String>,
    compare: CompareConfig,
    tool: String,
}

impl Find {
    /// Returns whether this shows, as far as one can tell, the same as another one: see
    /// [`BrokenKind::is_like`]. What is a difference of results has to be one of the same
    /// pipeline.
    pub fn is_like(&self, other: &Self) -> bool {
        let same = is_refused(&self.kind) || self.pipeline == other.pipeline;
        same && self.kind.is_like(&other.kind)
    }

    /// The text of a file that shows it: see [`Repro`].
    pub fn reproducer(&self) -> String {
        let Self { suspect, pipeline, compare, kind, tool, .. } = self;
        Repro::write(tool, suspect, pipeline, compare, kind)
    }
}

/// A program to be tried.
struct Program {
    suspect: Suspect,
    /// The module as it was drawn, if it was.
    case: Option<(Config, ModuleCase)>,
    /// The same of a script.
    drawn: Option<ScriptCase>,
}

impl Fuzzer {
    /// Cases of these passes over modules of these ops, which have to be those of
    /// `regraft-dialects` or more.
    pub fn new(extensions: &Arc<Extensions>, seed: u64) -> Self {
        let passes: &PassRegistry = extensions.get();
        let attempts = match passes.iter().any(|pass| passes.is_defined(pass.name)) {
            true => ATTEMPTS_WITH_SESSIONS,
            false => ATTEMPTS,
        };
        Self {
            attempts,
            extensions: Arc::clone(extensions),
            pipeline: None,
            compare: CompareConfig { inputs: 4, ..CompareConfig::default() },
            seed,
            scripts: 12,
            derivatives: false,
            contexts: false,
            engines: Vec::new(),
            small: true,
            only: None,
            tool: "regraft".to_owned(),
        }
    }

    /// Makes modules of these ops, besides those of control flow and calls, and no scripts.
    #[must_use]
    pub fn ops(mut self, ops: impl IntoIterator<Item = Op>) -> Self {
        self.only = Some(ops.into_iter().collect());
        self.scripts(0)
    }

    /// The ops of which no programs are made because it is not known what they compute or, if
    /// derivatives are tested, what these are. O(ops).
    pub fn unknown_ops(&self) -> Vec<&'static OpDef> {
        unknown_ops(&self.extensions, self.derivatives)
    }

    /// Names the command in reproducers, `regraft` at first.
    #[must_use]
    pub fn tool(mut self, name: &str) -> Self {
        name.clone_into(&mut self.tool);
        self
    }

    /// Tests derivatives of programs that have some, by [`test_rule`](crate::test_rule()), rather
    /// than pipelines.
    #[must_use]
    pub fn derivatives(mut self) -> Self {
        self.derivatives = true;
        self.compare.inputs = 2;
        self
    }

    /// Runs scripts within contexts and compares what they do, rather than running pipelines.
    #[must_use]
    pub fn contexts(mut self) -> Self {
        self.contexts = true;
        self
    }

    /// Compares these engines with the interpreter, in turn: on what a pipeline has made of a program, or
    /// on derivatives.
    #[must_use]
    pub fn engines(mut self, engines: impl IntoIterator<Item = EngineKind>) -> Self {
        self.engines = engines.into_iter().collect();
        self
    }

    /// Leaves finds as large as they are.
    #[must_use]
    pub fn large(mut self) -> Self {
        self.small = false;
        self
    }

    /// Makes scripts of so many of 100 cases, 12 at first.
    #[must_use]
    pub fn scripts(mut self, percent: u32) -> Self {
        self.scripts = percent;
        self
    }

    /// Runs this pipeline in all cases.
    ///
    /// # Errors
    /// The mistakes in the text.
    pub fn pipeline(mut self, text: &str) -> Result<Self, Vec<regraft_ir::Diagnostic>> {
        Trial::new(self.extensions.get(), text, &self.compare)?;
        self.pipeline = Some(text.to_owned());
        Ok(self)
    }

    /// Runs a case. What fails like one of `known` is counted and not looked at further.
    ///
    /// # Errors
    /// The find, made as small as possible.
    pub fn case(&self, number: u64, known: &[Find]) -> Result<Tally, Box<Find>> {
        let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        if self.contexts {
            return self.in_context(number, seed, known);
        }
        let mut choices = Choices::from_seed(seed);
        let plan = match self.derivatives {
            true => Plan::differentiating(self.extensions.get(), &mut choices),
            false => Plan::random(self.extensions.get(), &mut choices),
        };
        let text = self.pipeline.clone().unwrap_or_else(|| plan.to_string());
        let is_script = choices.chance(self.scripts);
        let one = Tally { cases: 1, scripts: u64::from(is_script), ..Tally::default() };
        if is_script && self.derivatives && choices.chance(33) {
            let case = DynamicCase::from_seed(seed);
            let order = if choices.chance(20) && !case.is_singular { 3 } else { 2 };
            return self.dynamic(number, case, order, known, one);
        }
        let program =
            if is_script { self.script(seed) } else { Ok(Some(self.module(&mut choices, seed))) };
        let program = match program {
            Ok(Some(program)) => program,
            Ok(None) => return Ok(Tally { skipped: 1, ..one }),
            Err(refused) => {
                let (script, failure) = *refused;
                let kind = BrokenKind::Failed(failure);
                if known.iter().any(|find| find.kind.is_like(&kind)) {
                    return Ok(Tally { repeated: 1, ..one });
                }
                return Err(self.refused(number, script, kind));
            }
        };
        let suspect = &program.suspect;
        // A panic of a pass is caught before it gets here; this would be one of an engine.
        let trial = self.trial(&text, number);
        let judge = || match trial.derivatives(&suspect.module, &suspect.entries)? {
            Some(rules) => Ok(Tally { rules, ..one }),
            None => {
                let (changed, runs) = trial.run(&suspect.module, &suspect.entries)?;
                Ok(Tally { changed: u64::from(changed), runs, ..one })
            }
        };
        let kind = match guarded(judge) {
            Ok(Ok(tally)) => return Ok(tally),
            Ok(Err(BrokenKind::Derivative(failure))) if failure.is_untyped() => {
                return Ok(Tally { untyped: 1, ..one });
            }
            Ok(Err(BrokenKind::Derivative(failure))) if failure.is_declared() => {
                return Ok(Tally { declared: 1, ..one });
            }
            Ok(Err(kind)) => kind,
            Err(caught) => {
                let kind = BrokenKind::Failed(panicked(&caught));
                return Err(self.find(number, program, text, kind));
            }
        };
        // Of two differences one cannot tell before they are small whether they are the same.
        let is_known = |find: &Find| is_refused(&kind) && find.kind.is_like(&kind);
        if known.iter().any(is_known) {
            return Ok(Tally { repeated: 1, ..one });
        }
        if !self.small {
            return Err(self.find(number, program, text, kind));
        }
        let find = self.shrink(number, program, plan, kind);
        if known.iter().any(|other| find.is_like(other)) {
            return Ok(Tally { repeated: 1, ..one });
        }
        Err(find)
    }

    /// Runs a case of derivatives up to an order, of a script whose types are known when it runs.
    fn dynamic(
        &self,
        number: u64,
        case: DynamicCase,
        order: usize,
        known: &[Find],
        one: Tally,
    ) -> Result<Tally, Box<Find>> {
        let kind = match self.orders(&case, order) {
            Ok(rules) => return Ok(Tally { rules, ..one }),
            Err(kind) => kind,
        };
        let is_known = |kind: &BrokenKind| known.iter().any(|find| find.kind.is_like(kind));
        if is_known(&kind) {
            return Ok(Tally { repeated: 1, ..one });
        }
        let attempts = if self.small { self.attempts / 4 } else { 0 };
        Err(self.find_script(number, case, kind, attempts, |case| self.orders(case, order).err()))
    }

    /// Compares what a script does in a context with what it does without.
    fn in_context(&self, number: u64, seed: u64, known: &[Find]) -> Result<Tally, Box<Find>> {
        let judge = |case: &ContextCase| match guarded(|| case.compare(&self.context())) {
            Ok(Ok(tells)) => Ok(tells),
            Ok(Err(message)) => Err(BrokenKind::Failed(PassFailure::other(message, None))),
            Err(caught) => Err(BrokenKind::Failed(panicked(&caught))),
        };
        let one = Tally { cases: 1, scripts: 1, ..Tally::default() };
        let case = ContextCase::from_seed(seed);
        let kind = match judge(&case) {
            Ok(tells) => return Ok(Tally { skipped: u64::from(!tells), ..one }),
            Err(kind) => kind,
        };
        if known.iter().any(|find| find.kind.is_like(&kind)) {
            return Ok(Tally { repeated: 1, ..one });
        }
        let attempts = if self.small { self.attempts / 8 } else { 0 };
        Err(self.find_script(number, case, kind, attempts, |case| judge(case).err()))
    }

    /// The find that a script is which `judge` says something wrong of, made as small as possible.
    fn find_script<C: Drawn>(
        &self,
        number: u64,
        case: C,
        kind: BrokenKind,
        attempts: u32,
        judge: impl Fn(&C) -> Option<BrokenKind>,
    ) -> Box<Find> {
        let (choices, spans) = case.parts();
        let mut shrinker = Shrinker::new(choices.to_vec(), spans.to_vec(), attempts);
        let mut best = (case, kind);
        while let Some(candidate) = shrinker.candidate() {
            let case = best.0.again(&candidate);
            if let Some(kind) = judge(&case)
                && kind.is_like(&best.1)
            {
                let (choices, spans) = case.parts();
                shrinker.accept(choices.to_vec(), spans.to_vec());
                best = (case, kind);
            }
        }
        Box::new(Find {
            case: number,
            pipeline: String::new(),
            suspect: Suspect { module: Module::new(&self.context()), entries: Vec::new() },
            kind: best.1,
            script: Some(best.0.text().to_owned()),
            compare: self.compare_case(number),
            tool: self.tool.clone(),
        })
    }

    /// Tests the derivatives of a script, and what they are of.
    fn orders(&self, case: &DynamicCase, order: usize) -> Result<RuleReport, BrokenKind> {
        let judge = || {
            let mut session = Session::new(&self.context());
            session.set_output(Box::new(std::io::sink()));
            session.run("script.jl", &case.text).map_err(|errors| {
                BrokenKind::Failed(PassFailure::other(render_all(&errors, false), None))
            })?;
            let mut report =
                test_orders(&mut session, "main", &[0.7], order).map_err(BrokenKind::Derivative)?;
            let anew = DynamicCase::DEFINED_ANEW;
            let more = test_redefinition(&mut session, "main", 0.7, anew);
            report.add(more.map_err(BrokenKind::Derivative)?);
            Ok(report)
        };
        match guarded(judge) {
            Ok(found) => found,
            Err(caught) => Err(BrokenKind::Failed(panicked(&caught))),
        }
    }

    fn find(&self, case: u64, program: Program, pipeline: String, kind: BrokenKind) -> Box<Find> {
        let script = program.drawn.map(|script| script.text);
        Box::new(Find {
            case,
            pipeline,
            suspect: program.suspect,
            kind,
            script,
            compare: self.compare_case(case),
            tool: self.tool.clone(),
        })
    }

    /// The way in which the runs of a case are compared.
    fn compare_case(&self, number: u64) -> CompareConfig {
        let count = self.engines.len().max(1) as u64;
        let engine = self.engines.get((number % count) as usize).copied().unwrap_or_default();
        CompareConfig { seed: number, engine, ..self.compare.clone() }
    }

    fn context(&self) -> Arc<Context> {
        Context::with_extensions(&self.extensions)
    }

    fn trial(&self, pipeline: &str, number: u64) -> Trial {
        match Trial::new(self.extensions.get(), pipeline, &self.compare_case(number)) {
            Ok(trial) => trial.seed(number),
            Err(errors) => panic!("`{pipeline}`: {}", render_all(&errors, false)),
        }
    }

    fn module(&self, choices: &mut Choices, seed: u64) -> Program {
        let config = if self.derivatives { smooth_config(choices) } else { random_config(choices) };
        let config = Config { ops: self.only.clone(), ..config };
        let case = ModuleCase::from_seed(&self.context(), &config, seed);
        Program { suspect: self.suspect(&case), case: Some((config, case)), drawn: None }
    }

    /// Returns the functions of a case that are run: of those that are differentiated, the function that calls the others.
    fn suspect(&self, case: &ModuleCase) -> Suspect {
        let mut suspect = Suspect::from(case);
        if self.derivatives {
            let main = suspect.entries.pop();
            suspect.entries = main.into_iter().collect();
        }
        suspect
    }

    /// A script, or what is wrong if it is refused.
    fn script(&self, seed: u64) -> Result<Option<Program>, Box<(ScriptCase, PassFailure)>> {
        let script = match self.derivatives {
            true => ScriptCase::smooth_from_seed(seed),
            false => ScriptCase::from_seed(seed),
        };
        match self.typed(&script) {
            Ok(None) => Ok(None),
            Ok(Some(module)) => {
                let suspect = entry_of(&module);
                Ok(Some(Program { suspect, case: None, drawn: Some(script) }))
            }
            Err(failure) => Err(Box::new((script, failure))),
        }
    }

    fn typed(&self, script: &ScriptCase) -> Result<Option<Module>, PassFailure> {
        match guarded(|| script.typed(&self.context())) {
            Ok(Ok(module)) => Ok(module),
            Ok(Err(errors)) => Err(PassFailure::other(render_all(&errors, false), None)),
            Err(caught) => Err(panicked(&caught)),
        }
    }

    /// The find that a script is which is refused: a mistake of the language, or of the
    /// generator.
    fn refused(&self, number: u64, script: ScriptCase, kind: BrokenKind) -> Box<Find> {
        let judge = |script: &ScriptCase| self.typed(script).err().map(BrokenKind::Failed);
        self.find_script(number, script, kind, self.attempts / 4, judge)
    }

    /// The simplest script found that fails alike.
    fn shrink_script(
        &self,
        trial: &Trial,
        script: ScriptCase,
        suspect: Suspect,
        kind: BrokenKind,
    ) -> (ScriptCase, Suspect, BrokenKind) {
        let (choices, spans) = (script.choices.clone(), script.spans.clone());
        let mut shrinker = Shrinker::new(choices, spans, self.attempts);
        let mut best = (script, suspect, kind);
        while let Some(candidate) = shrinker.candidate() {
            let script = best.0.again(&candidate);
            let Ok(Some(module)) = self.typed(&script) else { continue };
            let suspect = entry_of(&module);
            if let Err(kind) = trial.run(&suspect.module, &suspect.entries)
                && kind.is_like(&best.2)
            {
                shrinker.accept(script.choices.clone(), script.spans.clone());
                best = (script, suspect, kind);
            }
        }
        best
    }

    fn shrink(&self, number: u64, program: Program, plan: Plan, kind: BrokenKind) -> Box<Find> {
        let shorter = |plan: Plan, suspect: &Suspect, kind: &BrokenKind| {
            if self.pipeline.is_some() {
                return plan;
            }
            plan.shrink(|plan| {
                let trial = self.trial(&plan.to_string(), number);
                let result = trial.run(&suspect.module, &suspect.entries);
                result.is_err_and(|other| other.is_like(kind))
            })
        };
        let Program { mut suspect, case, mut drawn } = program;
        let mut kind = kind;
        let plan = shorter(plan, &suspect, &kind);
        let text = |plan: &Plan| self.pipeline.clone().unwrap_or_else(|| plan.to_string());
        let trial = self.trial(&text(&plan), number);
        if let Some((config, case)) = case {
            let replay = |choices: &[u32]| ModuleCase::replay(&self.context(), &config, choices);
            let only_main = self.derivatives;
            let (case, smaller) =
                shrink_choices(&trial, case, kind, replay, only_main, self.attempts);
            (suspect, kind) = (self.suspect(&case), smaller);
        }
        if let Some(script) = drawn {
            let (script, smaller, found) = self.shrink_script(&trial, script, suspect, kind);
            (drawn, suspect, kind) = (Some(script), smaller, found);
        }
        (suspect, kind) = reduce(&trial, suspect, kind, self.attempts);
        let plan = shorter(plan, &suspect, &kind);
        // A shorter pipeline may say it in other words.
        let pipeline = text(&plan);
        let again = self.trial(&pipeline, number).run(&suspect.module, &suspect.entries);
        let kind = again.err().unwrap_or(kind);
        self.find(number, Program { suspect, case: None, drawn }, pipeline, kind)
    }
}

/// Returns whether a program is refused, rather than run with another result: then one can tell before it
/// is made small whether another one is refused likewise.
fn is_refused(kind: &BrokenKind) -> bool {
    match kind {
        BrokenKind::Failed(_) => true,
        BrokenKind::Derivative(failure) => failure.problem == RuleProblem::Refused,
        BrokenKind::Differs(_) => false,
    }
}

fn panicked(caught: &Caught) -> PassFailure {
    let place = caught.place.as_deref().unwrap_or("an unknown place");
    let report = format!("it panicked at {place}: {}", caught.message);
    PassFailure::other(report, caught.place.clone())
}

/// A typed module, of which the first function is run.
fn entry_of(module: &Module) -> Suspect {
    let mut suspect = Suspect::of(module);
    suspect.entries.truncate(1);
    suspect
}

/// The same of modules that have derivatives.
fn smooth_config(c: &mut Choices) -> Config {
    let all = Config::differentiable();
    match c.below(10) {
        0 => Config { max_statements: 14, ..all }.without_objects(),
        1 => Config { max_functions: 5, max_statements: 6, ..all },
        2 => Config { max_functions: 1, max_statements: 16, ..all },
        3 => Config { max_functions: 1, max_depth: 5, max_statements: 14, ..all },
        4 => Config { dynamic: true, ..all },
        5 => Config { trap_percent: 8, ..all },
        _ => all,
    }
}

/// Modules of different kinds: most with everything, some with what is interesting alone.
fn random_config(c: &mut Choices) -> Config {
    let config = match c.below(8) {
        0 => Config { max_statements: 25, ..Config::scalar() },
        1 => Config { max_functions: 6, max_statements: 8, ..Config::default() },
        2 => Config { max_functions: 1, dynamic: false, max_statements: 20, ..Config::default() },
        3 => Config { dynamic: false, irreducible: false, ..Config::default() },
        4 => Config { max_functions: 1, max_depth: 5, max_statements: 18, ..Config::default() },
        _ => Config::default(),
    };
    Config { trap_percent: c.pick(&[4, 0, 4, 12, 2]), ..config }
}
