//! Tests of passes: what one changes, and that it preserves meaning.

use std::fmt;
use std::sync::Arc;

use regraft_ir::{Context, Extensions, render_all, verify_module};
use regraft_passes::{PassRegistry, Pipeline, diff_modules};
use regraft_syntax::parse_module;

use crate::compare::{Agreement, CompareConfig};
use crate::generate::{Config, ModuleCase};
use crate::reduce::{Suspect, reduce};
use crate::trial::{BrokenKind, Trial, run, shrink_choices};

/// The most simpler cases that are tried to shrink one that fails.
const ATTEMPTS: u32 = 5_000;

/// Runs a pipeline of the standard passes on IR text and gives what it changed, as a diff with
/// stable names: the golden of a pass test. See [`Tester::check`].
///
/// # Panics
/// If the text or the pipeline is wrong, or if a pass fails.
#[track_caller]
pub fn check_pass(pipeline: &str, input: &str) -> String {
    Tester::new().check(pipeline, input)
}

/// Runs a pipeline of the standard passes on `cases` generated modules and compares what they
/// do before and after. See [`Tester::preserves`].
///
/// # Panics
/// If a module changes its meaning, or if a pass fails; the message shows a small module.
#[track_caller]
pub fn check_pass_preserves(pipeline: &str, cases: u32) {
    Tester::new().cases(cases).preserves(pipeline);
}

/// Tests pipelines of passes: those that come with Regraft, the ones that differentiate included,
/// and those of other crates.
///
/// ```
/// use regraft_ir::{Cursor, Function};
/// use regraft_dialects::arith;
/// use regraft_passes::{FunctionPass, PassContext, PassResult};
/// use regraft_testing::Tester;
///
/// /// Replaces `x * 2` by `x + x`.
/// #[derive(Default)]
/// struct MulToAdd;
///
/// impl FunctionPass for MulToAdd {
///     const NAME: &'static str = "mul-to-add";
///     fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
///         let mut at = Cursor::new(f);
///         while let Some(v) = at.next() {
///             if let Some([x, k]) = at.matches(v, arith::MUL)
///                 && at.const_i64(k) == Some(2)
///             {
///                 let sum = at.insert(arith::add(x, x));
///                 at.replace_with(v, sum);
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let tester = Tester::new().with_passes(|passes| passes.add::<MulToAdd>());
/// let diff = tester.check("mul-to-add", "
/// func @f(%1: i64) -> i64 {
/// ^1:
///   %2: i64 = arith.mul %1, 2
///   return %2
/// }");
/// assert!(diff.contains("arith.add %1, %1"), "{diff}");
/// tester.cases(50).preserves("mul-to-add");
/// ```
#[derive(Debug)]
pub struct Tester {
    extensions: Extensions,
    generate: Config,
    compare: CompareConfig,
    cases: u32,
    seed: u64,
}

impl Default for Tester {
    fn default() -> Self {
        Self::new()
    }
}

/// The counts of a [`Tester::try_preserves`] that found nothing wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Preserved {
    /// The modules that were generated.
    pub cases: u32,
    /// The number of them that the pipeline changed.
    pub changed: u32,
    /// The agreement of the runs before and after.
    pub runs: Agreement,
}

impl fmt::Display for Preserved {
    /// As `200 modules, 150 of them changed; 800 inputs: 790 agreed, 10 inconclusive`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, changed, runs } = self;
        let plural = if *cases == 1 { "" } else { "s" };
        write!(f, "{cases} module{plural}, {changed} of them changed; {runs}")
    }
}

/// A pipeline does something wrong: the smallest module that was found which shows it.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The pipeline.
    pub pipeline: String,
    /// The seed of the case that was found first.
    pub seed: u64,
    /// The case, as small as the generator makes one.
    pub case: ModuleCase,
    /// The same, as small as possible.
    pub small: Suspect,
    /// The mistake.
    pub kind: BrokenKind,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pipeline, seed, small, kind, .. } = self;
        match kind {
            BrokenKind::Failed(failure) => writeln!(f, "`{pipeline}` fails\n{}", failure.report)?,
            BrokenKind::Derivative(failure) => writeln!(f, "`{pipeline}`: {failure}")?,
            BrokenKind::Differs(difference) => {
                writeln!(f, "`{pipeline}` does not preserve meaning: {difference}")?;
            }
        }
        writeln!(f, "The module (case.ir), shrunk from seed {seed}:\n\n{}", small.module)?;
        writeln!(f, "To see what is done to it: regraft opt case.ir -p '{pipeline}' --diff")?;
        write!(f, "To find it again: Tester::seed({seed}).cases(1).preserves(\"{pipeline}\")")
    }
}

impl std::error::Error for Broken {}

impl Tester {
    /// A tester of the standard passes, those that differentiate included, on modules of the
    /// standard dialects. What such a pass adds is judged by [`test_rule`](crate::test_rule()).
    pub fn new() -> Self {
        Self {
            extensions: regraft_ad::extensions(),
            generate: Config::default(),
            compare: CompareConfig { inputs: 4, ..CompareConfig::default() },
            cases: 200,
            seed: 0,
        }
    }

    /// Adds passes.
    #[must_use]
    pub fn with_passes(mut self, add: impl FnOnce(&mut PassRegistry)) -> Self {
        add(self.extensions.edit());
        self
    }

    /// Takes passes, ops, and all that is known of them, from `extensions`, which have to hold those
    /// of `regraft-dialects`: [`regraft_ad::extensions`], with what was added to them.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Says what generated modules are made of.
    #[must_use]
    pub fn generate(mut self, config: Config) -> Self {
        self.generate = config;
        self
    }

    /// Says how functions are compared.
    #[must_use]
    pub fn compare(mut self, config: CompareConfig) -> Self {
        self.compare = config;
        self
    }

    /// Sets how many modules are generated, 200 at first.
    #[must_use]
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = cases;
        self
    }

    /// Sets the seed of the first module, 0 at first; the others have those that follow.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Reads IR text, verifies it, runs the pipeline (verifying after each pass), and gives what
    /// changed: a diff for each function that did, with stable names; or `unchanged`.
    ///
    /// # Panics
    /// If the text or the pipeline is wrong, or if a pass fails; the message is the report.
    #[track_caller]
    pub fn check(&self, pipeline: &str, input: &str) -> String {
        match self.try_check(pipeline, input) {
            Ok(diff) => diff,
            Err(report) => panic!("{report}"),
        }
    }

    /// As [`Tester::check`].
    ///
    /// # Errors
    /// The message that `check` panics with.
    pub fn try_check(&self, pipeline: &str, input: &str) -> Result<String, String> {
        let ctx = self.context();
        let report = |errors: Vec<_>| render_all(&errors, false);
        let before =
            parse_module(&ctx, "input.ir", input.trim_start_matches('\n')).map_err(report)?;
        verify_module(&before).map_err(report)?;
        let pipeline = Pipeline::parse(self.extensions.get(), pipeline).map_err(report)?;
        let mut after = before.clone();
        run(&mut after, &pipeline).map_err(|failure| failure.report)?;
        let diff = diff_modules(&before, &after);
        Ok(if diff.is_empty() { "unchanged\n".to_owned() } else { diff })
    }

    /// Generates modules, runs the pipeline on each (verifying after each pass), and compares
    /// what each of its functions does before and after by [`compare_functions`](crate::compare_functions).
    ///
    /// # Panics
    /// If anything is wrong. The module is shrunk first; the message shows it, the difference,
    /// and how to reproduce it. Also if not one of the runs was conclusive.
    #[track_caller]
    pub fn preserves(&self, pipeline: &str) -> Preserved {
        match self.try_preserves(pipeline) {
            Ok(preserved) if preserved.runs.says_nothing() => {
                panic!("nothing is known of `{pipeline}`: {preserved}")
            }
            Ok(preserved) => preserved,
            Err(broken) => panic!("{broken}"),
        }
    }

    /// As [`Tester::preserves`]. How many runs were conclusive, [`Preserved::runs`] tells.
    ///
    /// # Errors
    /// If anything is wrong.
    ///
    /// # Panics
    /// If there is no such pipeline.
    #[track_caller]
    pub fn try_preserves(&self, pipeline: &str) -> Result<Preserved, Box<Broken>> {
        let trial = match Trial::new(self.extensions.get(), pipeline, &self.compare) {
            Ok(trial) => trial,
            Err(errors) => panic!("{}", render_all(&errors, false)),
        };
        let mut preserved = Preserved::default();
        for seed in self.seed..self.seed + u64::from(self.cases) {
            let case = ModuleCase::from_seed(&self.context(), &self.generate, seed);
            match trial.run(&case.module, &case.entries) {
                Ok((changed, runs)) => {
                    preserved.cases += 1;
                    preserved.changed += u32::from(changed);
                    preserved.runs.add(runs);
                }
                // What the derivative is compared with cannot be made.
                Err(BrokenKind::Derivative(failure)) if failure.is_a_limit() => {
                    preserved.cases += 1;
                    preserved.runs.inconclusive += 1;
                }
                Err(kind) => return Err(self.shrink(pipeline, &trial, seed, case, kind)),
            }
        }
        Ok(preserved)
    }

    fn context(&self) -> Arc<Context> {
        Context::with_extensions(&Arc::new(self.extensions.clone()))
    }

    fn shrink(
        &self,
        pipeline: &str,
        trial: &Trial,
        seed: u64,
        case: ModuleCase,
        kind: BrokenKind,
    ) -> Box<Broken> {
        let replay = |choices: &[u32]| ModuleCase::replay(&self.context(), &self.generate, choices);
        let (case, kind) = shrink_choices(trial, case, kind, replay, false, ATTEMPTS);
        // What the generator cannot make smaller may be made smaller as it stands.
        let (small, kind) = reduce(trial, Suspect::from(&case), kind, ATTEMPTS);
        Box::new(Broken { pipeline: pipeline.to_owned(), seed, case, small, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_passes_that_differentiate_are_there() {
        let text = "func @f(%1: f64) -> f64 {\n^1:\n  %2: f64 = arith.mul %1, %1\n  return %2\n}\n";
        let diff = Tester::new().check("forward-diff, O1", text);
        assert!(diff.contains("func @f.jvp("), "{diff}");
        let preserved = Tester::new().cases(5).preserves("fold, reverse-diff, dce");
        assert!(preserved.runs.agreed() > 0, "{preserved}");
    }

    #[test]
    fn what_was_preserved_is_told_in_a_line() {
        let runs = Agreement { returned: 700, trapped: 90, inconclusive: 10 };
        let preserved = Preserved { cases: 200, changed: 150, runs };
        let want = "200 modules, 150 of them changed; 800 inputs: 790 agreed, 10 inconclusive";
        assert_eq!(preserved.to_string(), want);
    }

    #[test]
    #[should_panic(expected = "nothing is known of `dce`: 3 modules, ")]
    fn a_test_in_which_no_run_is_conclusive_fails() {
        let mut config = CompareConfig { inputs: 2, ..CompareConfig::default() };
        config.limits.fuel = Some(0);
        Tester::new().compare(config).seed(1_000).cases(3).preserves("dce");
    }
}
