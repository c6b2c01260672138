//! Programs of other people, run piece by piece at the prompt: how many pieces run, how many of
//! their tests pass, and what stops the others.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use regraft_dialects::context;
use regraft_exec::Limits;
use regraft_exec::value::Val;
use regraft_ir::Diagnostic;
use regraft_lang::{Completeness, Session};

/// Instructions that one piece may execute.
const FUEL: u64 = 300_000_000;
/// Bytes that one piece may take.
const MEMORY: usize = 1 << 30;

/// The counts of one file, or of several.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Top-level pieces; those of the bodies of test sets and modules that do not run as a whole.
    pub pieces: usize,
    /// Those that ran without an error.
    pub ran: usize,
    /// Tests, as they stand in the text.
    pub tests: usize,
    /// Those that passed; of tests within loops the share that passed.
    pub passed: f64,
}

impl Counts {
    /// Adds the counts of another file.
    pub fn add(&mut self, other: Self) {
        self.pieces += other.pieces;
        self.ran += other.ran;
        self.tests += other.tests;
        self.passed += other.passed;
    }
}

/// A piece that failed, with the first line of the error.
#[derive(Debug)]
pub struct Failure {
    /// The number of the first line.
    pub line: usize,
    /// The text of the piece.
    pub text: String,
    /// The first line of the error.
    pub error: String,
    /// The tests that it took with it.
    pub tests: f64,
}

/// Returns the `.jl` files below a folder, or the file itself, in the order of their names.
///
/// # Errors
/// If a folder cannot be read.
pub fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "jl") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs the pieces of a text in one session, after the text of `setup`.
pub fn run(name: &str, text: &str, setup: Option<&str>) -> (Counts, Vec<Failure>) {
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    let mut session = fresh(setup);
    // The first piece stands on top.
    let mut waiting = pieces(text, 1);
    waiting.reverse();
    while let Some((line, piece)) = waiting.pop() {
        let tests = tests_in(&piece);
        // Several tests of one statement are counted by a set around it, which hides what it assigns.
        let first = piece.split_whitespace().next().unwrap_or_default();
        let run = match tests > 0 && ["for", "let", "begin", "if"].contains(&first) {
            true => format!("@testset begin\n{piece}\nend"),
            false => piece.clone(),
        };
        let result = catch_unwind(AssertUnwindSafe(|| session.run(name, &run)));
        let printed = catch_unwind(AssertUnwindSafe(|| session.take_output())).unwrap_or_default();
        let parts = body(&piece).map(|body| pieces(&body, line + 1)).unwrap_or_default();
        // One statement that fails is not to hide the tests behind it.
        if !matches!(result, Ok(Ok(_))) && !parts.is_empty() && !ran_to_its_end(&result, &printed) {
            if result.is_err() {
                session = fresh(setup);
            }
            waiting.extend(parts.into_iter().rev());
            continue;
        }
        counts.pieces += 1;
        counts.tests += tests;
        let error = match result {
            Ok(Ok(_)) => {
                counts.ran += 1;
                counts.passed += tests as f64;
                continue;
            }
            Ok(Err(errors)) => {
                errors.first().map_or_else(String::new, |error| error.message().to_owned())
            }
            Err(_) => {
                session = fresh(setup);
                "panic".to_owned()
            }
        };
        let share = share_passed(&error) * tests as f64;
        counts.passed += share;
        let error = cause(&error, &printed);
        failures.push(Failure { line, text: piece, error, tests: tests as f64 - share });
    }
    (counts, failures)
}

/// The number of pieces and tests that each error stops, the most frequent one first. Names and
/// numbers within errors are left as they are.
pub fn causes(failures: &[Failure]) -> Vec<(String, usize, f64)> {
    let mut causes: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    for failure in failures {
        let (pieces, tests) = causes.entry(&failure.error).or_default();
        *pieces += 1;
        *tests += failure.tests;
    }
    let mut causes: Vec<_> = causes
        .into_iter()
        .map(|(error, (pieces, tests))| (error.to_owned(), pieces, tests))
        .collect();
    causes.sort_by(|a, b| b.2.total_cmp(&a.2).then(b.1.cmp(&a.1)));
    causes
}

fn fresh(setup: Option<&str>) -> Session {
    let mut session = Session::new(&context());
    session.set_limits(Limits { fuel: Some(FUEL), memory: MEMORY, ..Limits::default() });
    if let Some(Err(errors)) = setup.map(|setup| session.run("setup", setup)) {
        for error in errors {
            eprintln!("in the setup: {}", error.message());
        }
    }
    session
}

/// The share of the tests of a set that passed, by the error of the set.
fn share_passed(error: &str) -> f64 {
    let Some(counts) = error.split_once("Some tests did not pass: ").map(|(_, counts)| counts)
    else {
        return 0.0;
    };
    let counts: Vec<f64> = counts
        .split(", ")
        .filter_map(|part| part.split_whitespace().next()?.parse().ok())
        .collect();
    let all: f64 = counts.iter().sum();
    if all == 0.0 { 0.0 } else { (counts[0] + counts.get(3).unwrap_or(&0.0)) / all }
}

/// The first line of an error; of a set of tests, what the first test that did not pass printed.
fn cause(error: &str, printed: &str) -> String {
    let mut lines = printed.lines().map(str::trim);
    let first = lines.find(|line| line.starts_with("Expression: "));
    // An expression of several lines goes on in the next ones.
    let is_reason = |line: &str| {
        let word = line.split([':', '(']).next().unwrap_or_default();
        ["Evaluated", "Expected"].contains(&word)
            || word.ends_with("Error")
            || word.ends_with("Exception")
    };
    let rest: Vec<&str> = first.map_or_else(Vec::new, |_| lines.collect());
    let of_test = rest.iter().find(|line| is_reason(line)).or_else(|| rest.first());
    match of_test {
        Some(line) if line.starts_with("Evaluated: ") => "the value is another one".to_owned(),
        Some(line) => (*line).to_owned(),
        None => error.lines().next().unwrap_or_default().to_owned(),
    }
}

/// The number of tests that stand in a text.
fn tests_in(text: &str) -> usize {
    let code = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    code.map(|line| line.matches("@test").count() - line.matches("@testset").count()).sum()
}

/// Returns whether a set of tests ran through, whatever became of its tests.
fn ran_to_its_end(
    result: &std::thread::Result<Result<Val, Vec<Diagnostic>>>,
    printed: &str,
) -> bool {
    let Ok(Err(errors)) = result else { return false };
    let failed = errors.iter().any(|error| error.message().contains("Some tests did not pass: "));
    failed && !printed.contains("outside of a @test")
}

/// The top-level pieces of a text with the numbers of their first lines: what the prompt takes for
/// one input each.
fn pieces(text: &str, first: usize) -> Vec<(usize, String)> {
    let context = context();
    let mut found = Vec::new();
    let mut pending = String::new();
    let mut start = first;
    for (at, line) in text.lines().enumerate() {
        if pending.is_empty() {
            start = first + at;
            if line.trim().is_empty() || line.trim_start().starts_with('#') && !line.contains("#=")
            {
                continue;
            }
        }
        pending.push_str(line);
        pending.push('\n');
        if Completeness::of(context.registry(), &pending) == Completeness::Incomplete {
            continue;
        }
        found.push((start, std::mem::take(&mut pending)));
    }
    if !pending.trim().is_empty() {
        found.push((start, pending));
    }
    found
}

/// The body of a set of tests or of a module.
fn body(piece: &str) -> Option<String> {
    let first = piece.lines().next()?;
    // A name may have a `#` in it.
    let name_end = first.rfind('"').unwrap_or(0);
    let end = first[name_end..].find('#').map_or(first.len(), |at| name_end + at);
    let words = first[..end].trim();
    let is_set = words.starts_with("@testset") && words.ends_with("begin");
    let is_module = words.starts_with("module ") && !words.ends_with("end");
    let lines: Vec<&str> = piece.lines().collect();
    let last = lines.iter().rposition(|line| line.trim() == "end")?;
    ((is_set || is_module) && last > 0).then(|| lines[1..last].join("\n"))
}
