//! Programs of other people, run piece by piece at the prompt: how many pieces run, how many of
//! their tests pass, and what stops the others.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use regraft_dialects::context;
use regraft_exec::Limits;
use regraft_lang::{Completeness, Session};

/// Instructions that one piece may execute.
const FUEL: u64 = 3_000_000_000;
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
    let mut runner = Runner {
        name,
        setup,
        session: fresh(setup),
        counts: Counts::default(),
        failures: Vec::new(),
    };
    runner.run_all(pieces(text, 1));
    (runner.counts, runner.failures)
}

/// A session that runs the pieces of one file, and what came of them.
struct Runner<'a> {
    name: &'a str,
    setup: Option<&'a str>,
    session: Session,
    counts: Counts,
    failures: Vec<Failure>,
}

/// What became of a text.
struct Outcome {
    /// The first error; `None` if there was none.
    error: Option<String>,
    /// The tests that passed, and all that ran; `None` where that was not said, as no test failed.
    tests: Option<(f64, f64)>,
    /// Whether every statement ran, whatever became of tests.
    ended: bool,
}

impl Runner<'_> {
    /// Runs pieces one after the other. One statement that fails is not to hide the tests behind
    /// it: a module that does not run is run as its statements, a set of tests as
    /// [`run_set`](Self::run_set) does.
    fn run_all(&mut self, pieces: Vec<(usize, String)>) {
        for (line, piece) in pieces {
            let tests = tests_in(&piece);
            // Several tests of one statement are counted by a set around it, which hides what it assigns.
            let is_block = ["for", "let", "begin", "if"].contains(&first_word(&piece));
            let run = if tests > 0 && is_block { set_of(&piece) } else { piece.clone() };
            let outcome = self.run_piece(&run);
            let parts = match outcome.ended {
                true => Vec::new(),
                false => statements(&piece, line),
            };
            if parts.is_empty() {
                self.note(line, piece, &outcome);
            } else if first_word(&piece) == "module" {
                self.run_all(parts);
            } else {
                self.run_set(parts);
            }
        }
    }

    /// Runs the statements of a set of tests that stopped at one of them: each in a set after those
    /// before it that ran, so that it sees what they define. Quadratic in the statements.
    fn run_set(&mut self, mut waiting: Vec<(usize, String)>) {
        waiting.reverse();
        let mut kept = String::new();
        // The tests in what is kept.
        let (mut passed, mut all) = (0.0, 0.0);
        while let Some((line, piece)) = waiting.pop() {
            let mut outcome = self.run_piece(&set_of(&format!("{kept}{piece}")));
            let parts = match outcome.ended {
                true => Vec::new(),
                false => statements(&piece, line),
            };
            if !parts.is_empty() {
                waiting.extend(parts.into_iter().rev());
                continue;
            }
            let with_kept = outcome.tests;
            outcome.tests = with_kept.map(|(p, a)| (p - passed, a - all));
            let is_test = first_word(&piece).starts_with("@test");
            if outcome.ended && !is_test {
                kept += &piece;
                (passed, all) = with_kept.unwrap_or((passed, all));
            }
            if outcome.ended && outcome.tests.is_some_and(|(passed, all)| passed == all) {
                outcome.error = None;
            }
            self.note(line, piece, &outcome);
        }
    }

    fn run_piece(&mut self, text: &str) -> Outcome {
        let session = &mut self.session;
        let result = catch_unwind(AssertUnwindSafe(|| session.run(self.name, text)));
        let printed = catch_unwind(AssertUnwindSafe(|| session.take_output())).unwrap_or_default();
        let error = match result {
            Ok(Ok(_)) => return Outcome { error: None, tests: None, ended: true },
            Ok(Err(errors)) => {
                errors.first().map_or_else(String::new, |error| error.message().to_owned())
            }
            Err(_) => {
                self.session = fresh(self.setup);
                "panic".to_owned()
            }
        };
        let tests = counts_in(&error);
        let ended = tests.is_some() && !printed.contains("outside of a @test");
        Outcome { error: Some(cause(&error, &printed)), tests, ended }
    }

    fn note(&mut self, line: usize, text: String, outcome: &Outcome) {
        let tests = tests_in(&text) as f64;
        self.counts.pieces += 1;
        self.counts.tests += tests_in(&text);
        let Some(error) = outcome.error.clone() else {
            self.counts.ran += 1;
            self.counts.passed += tests;
            return;
        };
        let share = match outcome.tests {
            Some((passed, all)) if all > 0.0 => passed / all * tests,
            _ => 0.0,
        };
        self.counts.passed += share;
        self.failures.push(Failure { line, text, error, tests: tests - share });
    }
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

/// The tests of a set that passed (broken ones among them) and all of them, by the error of the
/// set.
fn counts_in(error: &str) -> Option<(f64, f64)> {
    let (_, counts) = error.split_once("Some tests did not pass: ")?;
    let counts: Vec<f64> = counts
        .split(", ")
        .filter_map(|part| part.split_whitespace().next()?.parse().ok())
        .collect();
    Some((counts.first()? + counts.get(3).unwrap_or(&0.0), counts.iter().sum()))
}

/// The first line of an error; of a set of tests, what stopped it or what the first test that did
/// not pass printed.
fn cause(error: &str, printed: &str) -> String {
    let mut lines = printed.lines().map(str::trim);
    let stopped = printed.split_once("Got exception outside of a @test\n");
    if let Some((_, thrown)) = stopped {
        return thrown.lines().next().unwrap_or_default().trim().to_owned();
    }
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

/// The top-level pieces of a text with the numbers of their first lines: what the prompt takes for
/// one input each.
pub(crate) fn pieces(text: &str, first: usize) -> Vec<(usize, String)> {
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

/// The first word of a piece.
fn first_word(piece: &str) -> &str {
    piece.split_whitespace().next().unwrap_or_default()
}

/// A set of tests around statements.
fn set_of(statements: &str) -> String {
    format!("@testset begin\n{statements}\nend")
}

/// The statements of a set of tests or of a module; none of anything else.
fn statements(piece: &str, line: usize) -> Vec<(usize, String)> {
    let Some(first) = piece.lines().next() else { return Vec::new() };
    // A name may have a `#` in it.
    let name_end = first.rfind('"').unwrap_or(0);
    let end = first[name_end..].find('#').map_or(first.len(), |at| name_end + at);
    let words = first[..end].trim();
    let is_set = words.starts_with("@testset") && words.ends_with("begin");
    let is_module = words.starts_with("module ") && !words.ends_with("end");
    let lines: Vec<&str> = piece.lines().collect();
    let last = lines.iter().rposition(|line| line.trim() == "end").unwrap_or(0);
    match is_set || is_module {
        true if last > 0 => pieces(&lines[1..last].join("\n"), line + 1),
        _ => Vec::new(),
    }
}
