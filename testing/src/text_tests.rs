//! Tests of passes that are text alone: a program that says what to run on it, and beside it what
//! is expected.
//!
//! ```text
//! # RUN: licm --diff                         licm_nested.ir
//! func @f(%1: i64) -> i64 {
//! ..
//!
//! --- @f                                     licm_nested.expected
//! +++ @f
//! ..
//! ```
//!
//! A line `# RUN: PIPELINE [options]` anywhere in a file (`.ir` or `.jl`) is a test:
//!
//! - `--diff` expects the difference instead of the program that comes out;
//! - `--entry 'foo(Float64, Vector{Float64})'` names the method to work on, in a script above all;
//! - `--printed` expects only what passes print, as `print{loop-forest}` does; without it that
//!   comes before the program;
//! - `--fails` expects the errors with which the pipeline ends;
//! - `--lowered` expects the untyped code that a script is lowered to; there is no pipeline then;
//! - `--idempotent` in addition runs the pipeline again, which has to change nothing;
//! - `--check N` in addition runs the program on N inputs before and after each pass, and compares.
//!
//! A program is always verified, and so are the use lists of its functions and all else that
//! [`check_invariants`](regraft_ir::Function::check_invariants) knows of.
//!
//! Of several lines in one file, the expected text of each stands under its line. Blanks at the
//! ends of lines do not count.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use regraft_ir::{Context, Diagnostic, Extensions, Module, render_all, verify_module};
use regraft_lang::{Entry, Session};
use regraft_passes::{Pipeline, RunOptions, diff_modules, diff_text, run_pipeline};
use regraft_syntax::{decode, parse_and_verify};

use crate::check::Check;
use crate::lowered::lowered_text;
use crate::snapshot::ir_text;

/// The beginning of a line that says what to run.
const RUN: &str = "# RUN:";

/// Runs text tests, those of passes and dialects of one's own included.
#[derive(Clone, Debug)]
pub struct TextTests {
    extensions: Arc<Extensions>,
    bless: bool,
}

/// The outcome of a file of tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextOutcome {
    /// All of it is as expected: so many tests.
    Passed(usize),
    /// The output was written down as the expected one.
    Blessed,
    /// Something is not as expected, or cannot be run: a report, with a diff from what is expected
    /// to what came out.
    Failed(String),
}

/// The request of a `# RUN:` line.
struct Run {
    line: String,
    pipeline: String,
    expect: Expect,
    /// Tells whether the file is lowered, and no pipeline run.
    lowered: bool,
    idempotent: bool,
    check: Option<u32>,
    entry: Option<String>,
}

/// The part of what comes out that is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expect {
    Program,
    Diff,
    Printed,
    Errors,
}

/// Runs the text tests in a folder, and in those within it, with the passes that come with
/// Regraft. With the environment variable `REGRAFT_BLESS` set, what comes out is written down as
/// what is expected.
///
/// ```no_run
/// #[test]
/// fn text_tests() {
///     regraft_testing::text_tests("tests/text");
/// }
/// ```
///
/// # Panics
/// If something is not as expected, with all reports, or if there is no test.
#[track_caller]
pub fn text_tests(folder: impl AsRef<Path>) {
    TextTests::new(&Arc::new(regraft_ad::extensions())).assert_all(folder);
}

impl TextTests {
    /// Tests of these passes, over programs of these ops.
    pub fn new(extensions: &Arc<Extensions>) -> Self {
        Self { extensions: Arc::clone(extensions), bless: false }
    }

    /// Sets whether the output is written down as the expected one.
    #[must_use]
    pub fn bless(mut self, bless: bool) -> Self {
        self.bless = bless;
        self
    }

    /// Runs all tests in a folder, as [`text_tests`] does.
    ///
    /// # Panics
    /// If something is not as expected, or if there is no test.
    #[track_caller]
    pub fn assert_all(&self, folder: impl AsRef<Path>) {
        let folder = folder.as_ref();
        let tests = self.clone().bless(self.bless || std::env::var_os("REGRAFT_BLESS").is_some());
        let files = match text_test_files(folder) {
            Ok(files) => files,
            Err(error) => panic!("{error}"),
        };
        assert!(!files.is_empty(), "there is no text test in {}", folder.display());
        let reports = files.par_iter().map(|file| match tests.run(file) {
            TextOutcome::Failed(report) => format!("{}:\n{report}\n", file.display()),
            _ => String::new(),
        });
        let failed: String = reports.collect::<Vec<_>>().concat();
        assert!(failed.is_empty(), "{failed}\nREGRAFT_BLESS=1 writes down what comes out now");
    }

    /// Runs the tests of a file.
    pub fn run(&self, file: &Path) -> TextOutcome {
        self.try_run(file).unwrap_or_else(TextOutcome::Failed)
    }

    fn try_run(&self, file: &Path) -> Result<TextOutcome, String> {
        if has_extension(file, "expected") {
            return Err(format!("no test beside it has a line `{RUN} PIPELINE`: delete it\n"));
        }
        let text = read(file)?;
        let runs: Vec<Run> = runs(&text)?;
        if runs.is_empty() {
            return Err(format!("there is no line `{RUN} PIPELINE` in it\n"));
        }
        let mut actual = String::new();
        for (i, run) in runs.iter().enumerate() {
            if runs.len() > 1 {
                let _ = writeln!(actual, "{}{}", if i == 0 { "" } else { "\n" }, run.line);
            }
            let output = self
                .output(file, &text, run)
                .map_err(|errors| format!("{}\n{}", run.line, render_all(&errors, false)))?;
            actual.push_str(&output);
        }
        let actual = ir_text(&actual) + "\n";
        let beside = file.with_extension("expected");
        let expected = match beside.exists() {
            true => Some(ir_text(&read(&beside)?) + "\n"),
            false => None,
        };
        if expected.as_ref() == Some(&actual) {
            return Ok(TextOutcome::Passed(runs.len()));
        }
        if self.bless {
            let written = std::fs::write(&beside, actual);
            written.map_err(|error| format!("cannot write {}: {error}\n", beside.display()))?;
            return Ok(TextOutcome::Blessed);
        }
        Err(match expected {
            Some(expected) => diff_text(&expected, &actual),
            None => format!(
                "there is no {} with what is expected; what comes out is\n{actual}",
                beside.display()
            ),
        })
    }

    /// Returns the output of one run.
    fn output(&self, file: &Path, text: &str, run: &Run) -> Result<String, Vec<Diagnostic>> {
        let ctx = Context::with_extensions(&self.extensions);
        let output = match run.lowered {
            true if !is_script(file) => Err(vec![Diagnostic::error("only a script is lowered")]),
            true => lowered_text(&ctx, &file.display().to_string(), text),
            false => {
                let pipeline = Pipeline::parse(self.extensions.get(), &run.pipeline)?;
                rewritten(module(&ctx, file, text, run)?, &pipeline, run)
            }
        };
        match (output, run.expect == Expect::Errors) {
            (Ok(_), true) => Err(vec![Diagnostic::error("the pipeline does not fail")]),
            (Err(errors), true) => Ok(render_all(&errors, false)),
            (output, false) => output,
        }
    }
}

/// Runs a pipeline on a program, and gives what is compared.
fn rewritten(before: Module, pipeline: &Pipeline, run: &Run) -> Result<String, Vec<Diagnostic>> {
    let run_on = |module: &mut Module, options: RunOptions| {
        let report = run_pipeline(module, pipeline, &options.threads(1))
            .map_err(|failure| failure.diagnostics().to_vec())?;
        verify_module(module)?;
        match module.functions().find_map(|f| f.check_invariants().err()) {
            None => Ok(report.text),
            Some(wrong) => Err(vec![Diagnostic::error(wrong)]),
        }
    };
    if let Some(inputs) = run.check {
        // A run of its own: what the check tells is not what is expected.
        run_on(&mut before.clone(), RunOptions::default().observe(Check::new(inputs)))?;
    }
    let mut after = before.clone();
    let mut out = run_on(&mut after, RunOptions::default())?;
    if run.idempotent {
        let mut again = after.clone();
        run_on(&mut again, RunOptions::default())?;
        if again.to_string() != after.to_string() {
            let changed = diff_modules(&after, &again);
            let error = format!("a second run of the pipeline changes more\n{changed}");
            return Err(vec![Diagnostic::error(error)]);
        }
    }
    match run.expect {
        Expect::Program => out.push_str(&after.to_string()),
        Expect::Diff if before.to_string() == after.to_string() => out.push_str("unchanged\n"),
        Expect::Diff => out.push_str(&diff_modules(&before, &after)),
        Expect::Printed | Expect::Errors => {}
    }
    Ok(out)
}

/// The files with tests in a folder and in those within it, in order; a file stands for itself. An
/// `.expected` file without a test is among them, so that it fails.
///
/// # Errors
/// If a folder or a file cannot be read.
pub fn text_test_files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries: Result<Vec<_>, _> = std::fs::read_dir(path).map_err(cannot)?.collect();
    let mut paths: Vec<PathBuf> =
        entries.map_err(cannot)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    let mut expected = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(text_test_files(&path)?);
        } else if has_extension(&path, "expected") {
            expected.push(path);
        } else if (has_extension(&path, "ir") || is_script(&path))
            && read(&path)?.lines().any(|line| line.starts_with(RUN))
        {
            files.push(path);
        }
    }
    let tested: HashSet<PathBuf> =
        files.iter().map(|file| file.with_extension("expected")).collect();
    files.extend(expected.into_iter().filter(|file| !tested.contains(file)));
    Ok(files)
}

fn is_script(file: &Path) -> bool {
    has_extension(file, "jl")
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}

fn read(file: &Path) -> Result<String, String> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {name}: {error}\n"))?;
    decode(&name, &bytes).map_err(|error| error.render(false))
}

/// The program that a run works on.
fn module(
    ctx: &Arc<Context>,
    file: &Path,
    text: &str,
    run: &Run,
) -> Result<Module, Vec<Diagnostic>> {
    let name = file.display().to_string();
    let is_script = is_script(file);
    let Some(entry) = &run.entry else {
        if is_script {
            let error = Diagnostic::error("a script needs the method to work on");
            let help = "say which: --entry 'foo(Float64, Vector{Float64})'";
            return Err(vec![error.help(help)]);
        }
        return parse_and_verify(ctx, &name, text);
    };
    let mut session = Session::new(ctx);
    if is_script {
        session.run(&name, text)?;
    } else {
        session.define_module(&parse_and_verify(ctx, &name, text)?)?;
    }
    session.typed(Entry::Types(entry))
}

/// Returns the requests of the lines of a text.
fn runs(text: &str) -> Result<Vec<Run>, String> {
    let lines = text.lines().filter(|line| line.starts_with(RUN));
    lines.map(|line| Run::read(line).map_err(|why| format!("{line}\n{why}\n"))).collect()
}

impl Run {
    fn read(line: &str) -> Result<Self, String> {
        let rest = line[RUN.len()..].trim();
        // Options follow the pipeline; there is no ` --` in one.
        let at = if rest.starts_with("--") { Some(0) } else { rest.find(" --") };
        let (pipeline, options) = rest.split_at(at.unwrap_or(rest.len()));
        let mut run = Self {
            line: line.trim_end().to_owned(),
            pipeline: pipeline.trim().to_owned(),
            expect: Expect::Program,
            lowered: false,
            idempotent: false,
            check: None,
            entry: None,
        };
        let mut words = words(options)?.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
            match &*word {
                "--diff" => run.expect = Expect::Diff,
                "--printed" => run.expect = Expect::Printed,
                "--fails" => run.expect = Expect::Errors,
                "--lowered" => run.lowered = true,
                "--idempotent" => run.idempotent = true,
                "--entry" => run.entry = Some(value()?),
                "--check" => {
                    let value = value()?;
                    let inputs = value.parse();
                    run.check =
                        Some(inputs.map_err(|_| format!("`{value}` is no number of inputs"))?);
                }
                _ => {
                    let known = "--diff, --printed, --fails, --lowered, --idempotent, \
                                 --entry METHOD and --check N";
                    return Err(format!("unknown option `{word}`: there are {known}"));
                }
            }
        }
        match run.lowered && !run.pipeline.is_empty() {
            true => Err("what is lowered goes through no pipeline".to_owned()),
            false => Ok(run),
        }
    }
}

/// Splits a text into words, those in quotes whole.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '\'' | '"' => rest[1..].split_once(first).ok_or("a quote is not closed")?,
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_pipeline_and_options() {
        let run = Run::read("# RUN: loop(licm, unroll{factor=4}), dce --diff --entry 'f(Int64)'  ");
        let run = run.unwrap();
        assert_eq!(run.pipeline, "loop(licm, unroll{factor=4}), dce");
        assert!(run.expect == Expect::Diff && !run.idempotent && run.check.is_none());
        assert_eq!(run.entry.as_deref(), Some("f(Int64)"));
        assert_eq!(Run::read("# RUN: dce --check 8").unwrap().check, Some(8));
        assert_eq!(Run::read("# RUN: --diff").unwrap().pipeline, "");
        for (line, why) in [
            ("# RUN: dce --dif", "unknown option `--dif`"),
            ("# RUN: dce --lowered", "what is lowered goes through no pipeline"),
            ("# RUN: dce --check", "`--check` needs a value"),
            ("# RUN: dce --check x", "`x` is no number"),
            ("# RUN: dce --entry 'f(", "a quote is not closed"),
        ] {
            let error = Run::read(line).err().unwrap_or_default();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
