//! Random programs through random pipelines, for as long as one likes.
//!
//! A case is determined by two numbers, the seed and the number of the case: what is generated,
//! which passes run on it with which options, and what it is run on. So a run can be repeated
//! from any case on, and it does not matter how long the ones before took.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use regraft_ir::{Context, Registry, render_all};
use regraft_passes::PassRegistry;

use crate::choices::Choices;
use crate::compare::{Agreement, CompareConfig};
use crate::generate::{Config, ModuleCase};
use crate::plan::Plan;
use crate::reduce::{Suspect, reduce};
use crate::repro::Repro;
use crate::trial::{BrokenKind, PassFailure, Trial, shrink_choices};

/// How many simpler cases are tried to shrink a find, by each way to do it.
const ATTEMPTS: u32 = 3_000;

/// Where cases come from.
#[derive(Clone, Debug)]
pub struct Fuzzer {
    passes: PassRegistry,
    ops: Arc<Registry>,
    pipeline: Option<String>,
    compare: CompareConfig,
    seed: u64,
}

/// What cases found when they found nothing wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// The cases: modules, and scripts.
    pub cases: u64,
    /// Those that were scripts.
    pub scripts: u64,
    /// Those that the pipeline changed.
    pub changed: u64,
    /// How the runs before and after agreed.
    pub runs: Agreement,
}

impl Tally {
    /// Adds what other cases found.
    pub fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.scripts += other.scripts;
        self.changed += other.changed;
        self.runs.add(other.runs);
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
    /// What is wrong.
    pub kind: BrokenKind,
    /// The script that the program comes from.
    pub script: Option<String>,
    inputs: u32,
    seed: u64,
}

impl Find {
    /// The text of a file that shows it: see [`Repro`].
    pub fn reproducer(&self) -> String {
        Repro::write(&self.suspect, &self.pipeline, self.inputs, self.seed, &self.kind)
    }
}

/// A program to be tried.
struct Program {
    suspect: Suspect,
    script: Option<String>,
    /// The module as it was drawn, if it was.
    case: Option<(Config, ModuleCase)>,
}

impl Fuzzer {
    /// Cases of these passes over modules of these ops, which have to be those of
    /// `regraft-dialects` or more.
    pub fn new(passes: &PassRegistry, ops: &Arc<Registry>, seed: u64) -> Self {
        Self {
            passes: passes.clone(),
            ops: Arc::clone(ops),
            pipeline: None,
            compare: CompareConfig { inputs: 4, ..CompareConfig::default() },
            seed,
        }
    }

    /// Runs this pipeline in all cases.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn pipeline(mut self, text: &str) -> Result<Self, Vec<regraft_ir::Diagnostic>> {
        Trial::new(&self.passes, text, &self.compare)?;
        self.pipeline = Some(text.to_owned());
        Ok(self)
    }

    /// Runs a case.
    ///
    /// # Errors
    /// What is wrong, made as small as possible.
    pub fn case(&self, number: u64) -> Result<Tally, Box<Find>> {
        let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        let mut choices = Choices::from_seed(seed);
        let program = self.program(&mut choices, seed);
        let plan = Plan::random(&self.passes, &mut choices);
        let text = self.pipeline.clone().unwrap_or_else(|| plan.to_string());
        let suspect = &program.suspect;
        // A panic of a pass is caught before it gets here; this would be one of an engine.
        let judged = catch_unwind(AssertUnwindSafe(|| {
            self.trial(&text, number).run(&suspect.module, &suspect.entries)
        }));
        match judged {
            Ok(Ok((changed, runs))) => Ok(Tally {
                cases: 1,
                scripts: u64::from(program.script.is_some()),
                changed: u64::from(changed),
                runs,
            }),
            Ok(Err(kind)) => Err(self.shrink(number, program, plan, kind)),
            Err(_) => Err(Box::new(Find {
                case: number,
                pipeline: text,
                suspect: program.suspect,
                kind: BrokenKind::Failed(PassFailure::panicked()),
                script: program.script,
                inputs: self.compare.inputs,
                seed: number,
            })),
        }
    }

    fn trial(&self, pipeline: &str, number: u64) -> Trial {
        match Trial::new(&self.passes, pipeline, &self.compare) {
            Ok(trial) => trial.seed(number),
            Err(errors) => panic!("`{pipeline}`: {}", render_all(&errors, false)),
        }
    }

    fn program(&self, choices: &mut Choices, seed: u64) -> Program {
        let config = random_config(choices);
        let case = ModuleCase::from_seed(&Context::new(Arc::clone(&self.ops)), &config, seed);
        Program { suspect: Suspect::from(&case), script: None, case: Some((config, case)) }
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
        let Program { mut suspect, script, case } = program;
        let mut kind = kind;
        let plan = shorter(plan, &suspect, &kind);
        let text = |plan: &Plan| self.pipeline.clone().unwrap_or_else(|| plan.to_string());
        let trial = self.trial(&text(&plan), number);
        if let Some((config, case)) = case {
            let replay = |choices: &[u32]| {
                ModuleCase::replay(&Context::new(Arc::clone(&self.ops)), &config, choices)
            };
            let (case, smaller) = shrink_choices(&trial, case, kind, replay, ATTEMPTS);
            (suspect, kind) = (Suspect::from(&case), smaller);
        }
        (suspect, kind) = reduce(&trial, suspect, kind, ATTEMPTS);
        let plan = shorter(plan, &suspect, &kind);
        // A shorter pipeline may say it in other words.
        let pipeline = text(&plan);
        let again = self.trial(&pipeline, number).run(&suspect.module, &suspect.entries);
        let kind = again.err().unwrap_or(kind);
        let inputs = self.compare.inputs;
        Box::new(Find { case: number, pipeline, suspect, kind, script, inputs, seed: number })
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
