//! The constructs of the language, one by one, against what Julia gives.
//!
//! Each file of `constructs/` is a transcript: what is put in, and what Julia 1.10 prints and shows
//! for it (as `show` does, so that arrays are on one line).
//!
//! ```text
//! # a heading begins a new session
//! > x = [1, 2]                     an input of the REPL: loops may assign to globals
//! [1, 2]                           its value; nothing is shown for `nothing`, and after `;`
//! $ function f(x)                  a script, whose loops have variables of their own
//! .     x[3]                       further lines of the input
//! . end;
//! > f(x)
//! error: BoundsError               a part of the message of each error
//! $ f(x)
//! . f(1
//! error 2: expected                the same, and the line of its input that it is shown at
//! help: ...                        a part of what is added to the error before it
//! ```
//!
//! The files are read when the tests run. What differs in one of them is told all at once.

use std::fmt::Write;
use std::path::PathBuf;

use regraft_exec::Limits;
use regraft_ir::Diagnostic;
use regraft_lang::Session;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/constructs")
}

/// One input and what is to come of it.
#[derive(Default)]
struct Row {
    line: usize,
    fresh: bool,
    script: bool,
    input: String,
    expected: Vec<String>,
}

/// Reads a transcript.
fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut fresh = true;
    for (k, line) in text.lines().enumerate() {
        let rest = line.get(2..).unwrap_or_default();
        match line.as_bytes() {
            [b'#', b' ', ..] => fresh = true,
            [] => {}
            [b'>' | b'$', b' ', ..] => {
                let script = line.starts_with('$');
                rows.push(Row { line: k + 1, fresh, script, ..Row::default() });
                rows.last_mut().unwrap().input.push_str(rest);
                fresh = false;
            }
            [b'.'] | [b'.', b' ', ..] => {
                let row = rows.last_mut().expect("an input goes on before it begins");
                row.input.push('\n');
                row.input.push_str(rest);
            }
            _ => {
                let row = rows.last_mut().expect("there is no input before the first output");
                row.expected.push(line.to_owned());
            }
        }
    }
    rows
}

/// A session, and the texts that it was given, by the names of their sources.
struct Transcript {
    session: Session,
    sources: Vec<(String, String)>,
    repl_lines: usize,
}

impl Transcript {
    fn new() -> Self {
        let session = Session::new(&regraft_dialects::context());
        Self { session, sources: Vec::new(), repl_lines: 0 }
    }

    /// Puts in a row: returns what the input prints, its value, and its errors.
    fn put_in(&mut self, row: &Row) -> Vec<String> {
        let name = match row.script {
            true => format!("script {}", row.line),
            false => {
                self.repl_lines += 1;
                format!("REPL[{}]", self.repl_lines)
            }
        };
        self.sources.push((name.clone(), row.input.clone()));
        let result = match row.script {
            true => self.session.run(&name, &row.input),
            false => self.session.eval(&row.input),
        };
        let mut text = self.session.take_output();
        match result {
            Ok(value) => {
                let shown = self.session.show(&value);
                if shown != "nothing" && !row.input.ends_with(';') {
                    text.push_str(&shown);
                }
            }
            Err(errors) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                for error in &errors {
                    self.describe(&mut text, error);
                }
            }
        }
        text.lines().map(without_time).collect()
    }

    /// One line for an error, with the line of the input that it is shown at; what is added to it.
    fn describe(&self, text: &mut String, error: &Diagnostic) {
        let source =
            self.sources.iter().find(|(name, _)| Some(name.as_str()) == error.source_name());
        match (source, error.labels().first()) {
            (Some((_, source)), Some(label)) => {
                let before = source.bytes().take(label.span.start);
                let line = 1 + before.filter(|byte| *byte == b'\n').count();
                write!(text, "error {line}: ").unwrap();
            }
            _ => text.push_str("error: "),
        }
        writeln!(text, "{}", error.message().replace('\n', " ")).unwrap();
        if let Some(help) = error.help_text() {
            writeln!(text, "help: {}", help.replace('\n', "; ")).unwrap();
        }
        for note in error.notes() {
            writeln!(text, "note: {}", note.replace('\n', "; ")).unwrap();
        }
    }
}

/// A line without the seconds that a set of tests took: they depend on the machine.
fn without_time(line: &str) -> String {
    let time = line.rsplit_once(' ').filter(|(_, last)| {
        let number = last.strip_suffix('s').unwrap_or_default();
        number.starts_with(|c: char| c.is_ascii_digit()) && number.parse::<f64>().is_ok()
    });
    time.map_or_else(|| line.to_owned(), |(before, _)| format!("{before} 0.0s"))
}

/// Returns whether the found lines are the expected ones. Of errors a part is enough, and help may be
/// left out.
fn fits(found: &[String], expected: &[String]) -> bool {
    let is_help = |line: &str| line.starts_with("help: ") || line.starts_with("note: ");
    let mut found = found.iter();
    for expected in expected {
        let error = expected.strip_prefix("error: ").map(|part| ("error", part));
        let error = error.or_else(|| {
            let (head, part) = expected.split_once(": ")?;
            (head.starts_with("error ") || is_help(expected)).then_some((head, part))
        });
        loop {
            let Some(line) = found.next() else { return false };
            let same = match error {
                Some((head, part)) => {
                    line.strip_prefix(head).is_some_and(|rest| rest.contains(part))
                }
                None => line == expected,
            };
            if same {
                break;
            }
            if !is_help(line) {
                return false;
            }
        }
    }
    found.all(|line| is_help(line))
}

/// Puts in all inputs of a file.
#[track_caller]
fn check(name: &str) {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let rows = rows(&text);
    assert!(rows.len() >= 8, "{name} has too few rows");
    let mut session: Option<Transcript> = None;
    let mut wrong = String::new();
    for row in &rows {
        if row.fresh {
            session = Some(Transcript::new());
        }
        let found = session.as_mut().unwrap().put_in(row);
        if !fits(&found, &row.expected) {
            let (found, expected) = (found.join("\n"), row.expected.join("\n"));
            let Row { line, input, .. } = row;
            writeln!(wrong, "{name}:{line}: {input}\n  expected\n{expected}\n  found\n{found}\n")
                .unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// `x .= a .* b .+ 1` is one loop, and makes nothing.
#[test]
fn a_dotted_assignment_allocates_nothing() {
    let mut session = Session::new(&regraft_dialects::context());
    let program = "f!(x, a, b) = (x .= a .* b .+ 1; nothing)
        g(a, b) = a .* b .+ 1
        a = ones(100_000); b = ones(100_000); x = zeros(100_000);";
    session.run("program", program).unwrap();
    let text = session.typed("f!(x, a, b)").unwrap().to_string();
    for op in ["mem.alloc", "mem.copy", "mem.array"] {
        assert!(!text.contains(op), "{op} in {text}");
    }
    // The function that runs if the arrays are of one size.
    let mut functions = text.split("func @");
    let fused = functions.find(|f| f.starts_with("\"#broadcast_into!")).expect("it is a function");
    assert_eq!((fused.matches("mem.load").count(), fused.matches("mem.store").count()), (2, 1));
    assert_eq!(fused.matches("arith.lt").count(), 1, "one loop: {fused}");
    // A run may take less than one more array does.
    session.set_limits(Limits { memory: 400_000, ..session.limits() });
    session.run("in place", "f!(x, a, b)").unwrap();
    let sum = session.run("sum", "sum(x)").unwrap();
    assert_eq!(session.show(&sum), "200000.0");
    let errors = session.run("anew", "g(a, b)").unwrap_err();
    assert!(errors[0].message().contains("memory"), "{errors:?}");
}

#[test]
fn a_dictionary_that_may_not_grow_stays_as_it_was() {
    let mut session = Session::new(&regraft_dialects::context());
    session
        .run("d", "d = Dict{Int, Int}(); for i in 1:5\n d[i] = i\n delete!(d, 3)\n end")
        .unwrap();
    let all = session.limits();
    // Each limit stops it at another step of growing.
    for memory in (20_000..200_000).step_by(7_100) {
        session.set_limits(Limits { memory, ..all });
        let errors = session.run("fill", "for i in 1:100_000\n d[i] = i\n end").unwrap_err();
        assert!(errors[0].message().contains("memory"), "{errors:?}");
        session.set_limits(all);
        let ok = "n = length(d); (n >= 4, n == length(collect(d)), all(d[i] == i for i in 1:n), !haskey(d, n + 1))";
        let value = session.run("ok", ok).unwrap();
        assert_eq!(session.show(&value), "(true, true, true, true)", "{memory}");
    }
}

macro_rules! constructs {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[test] fn $name() { check(concat!(stringify!($name), ".txt")); })*

        #[test]
        fn every_file_is_run() {
            let mut listed = vec![$(concat!(stringify!($name), ".txt")),*];
            listed.sort_unstable();
            let entries = std::fs::read_dir(folder()).unwrap();
            let mut there: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            there.sort_unstable();
            assert_eq!(listed, there);
        }
    };
}

constructs! {
    functions
    anonymous
    closures
    varargs
    annotations
    structs
    parametric
    dispatch
    conditions
    loops
    jumps
    scopes
    blocks
    tuples
    characters
    complex
    dictionaries
    rationals
    strings
    unsigned
    ranks
    factorisations
    missing
    unions
    intrinsics
    wide
    collections
    exponentials
    dense
    decompositions
    hermitian
    special
    statistics
    sparse
    destructuring
    keywords
    exceptions
    modules
    reflection
    random
    dims
    arrays
    arrays_of_structs
    matrices
    comprehensions
    indexing
    ranges
    updates
    integers
    floats
    comparisons
    broadcasting changes
    text
    refs_and_vals
    operators
    macros
    quotes
    user_macros
    library_macros
    generated
    irtools
    cassette
    contexts
    unsupported
    recursion
    any
    errors
    printing
    guide
}
