//! Running the command and sessions.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use regraft::dialects::context;
use regraft::exec::Limits;
use regraft::lang::Session;
use regraft::prelude::Diagnostic;

/// The path of a program in `examples/jl`.
pub fn example(name: &str) -> String {
    format!("{}/examples/jl/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs the command with this standard input.
pub fn regraft(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_regraft"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it early.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs the command, which succeeds, and returns its results.
#[track_caller]
pub fn succeeds(args: &[&str], input: &str) -> String {
    let output = regraft(args, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the command, which fails with this code, and returns results and diagnostics.
#[track_caller]
pub fn fails(args: &[&str], input: &str, code: i32) -> (String, String) {
    let output = regraft(args, input);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {errors}");
    assert!(!errors.is_empty(), "{args:?} says why it fails");
    (String::from_utf8(output.stdout).unwrap(), errors)
}

/// Runs a script from the standard input, which fails when it is run or read; the diagnostics.
#[track_caller]
pub fn script_fails(script: &str) -> String {
    fails(&["run", "-"], script, 1).1
}

/// A fresh session that keeps what programs print.
pub fn session() -> Session {
    Session::new(&context())
}

/// Limits that end a runaway script soon.
pub fn small_limits() -> Limits {
    Limits { fuel: Some(50_000), depth: 200, memory: 16 << 20 }
}

/// The value of a text, as Julia shows it, or the messages of its errors.
pub fn value(session: &mut Session, text: &str) -> Result<String, String> {
    match session.run("test.jl", text) {
        Ok(value) => Ok(session.show(&value)),
        Err(errors) => Err(messages(&errors)),
    }
}

/// The messages of diagnostics, one a line.
pub fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(Diagnostic::message).collect::<Vec<_>>().join("\n")
}

/// Runs `work` with the stack that commands have.
pub fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        match thread.spawn_scoped(scope, work).unwrap().join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
