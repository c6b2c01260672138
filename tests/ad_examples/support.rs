//! Running programs and comparing numbers.

use regraft::dialects::context;
use regraft::exec::value::Val;
use regraft::ir::Diagnostic;
use regraft::lang::Session;

/// The text of a file in `examples`.
#[track_caller]
pub fn example(file: &str) -> String {
    let path = format!("{}/examples/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A session that has run these files of `examples`, one after the other.
#[track_caller]
pub fn session(files: &[&str]) -> Session {
    let mut session = Session::new(&context());
    for file in files {
        session.run(file, &example(file)).unwrap_or_else(|errors| panic!("{}", told(&errors)));
    }
    session
}

/// The value of an expression.
#[track_caller]
pub fn value(session: &mut Session, text: &str) -> Val {
    session.run("test", text).unwrap_or_else(|errors| panic!("{text}: {}", told(&errors)))
}

/// All numbers in the value of an expression.
#[track_caller]
pub fn numbers_of(session: &mut Session, text: &str) -> Vec<f64> {
    numbers(&value(session, text))
}

/// All numbers in a value, in order: those of arrays by column.
pub fn numbers(value: &Val) -> Vec<f64> {
    let mut found = Vec::new();
    let mut pending = vec![value.clone()];
    while let Some(value) = pending.pop() {
        match &value {
            Val::F64(x) => found.push(*x),
            Val::I64(x) => found.push(*x as f64),
            Val::Array(array) => {
                pending.extend((0..array.len()).rev().filter_map(|i| array.get(i)));
            }
            other => pending.extend(other.as_fields().unwrap_or_default().iter().rev().cloned()),
        }
    }
    found
}

/// Says where two lists of numbers differ by more than `tolerance`, relative to the expected ones.
#[track_caller]
pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} and not {expected:?}");
    assert!(!expected.is_empty(), "{what}: there is something to compare");
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        let near = (x - y).abs() <= tolerance * y.abs();
        assert!(near, "{what}, number {}: {x:e} and not {y:e}", i + 1);
    }
}

/// The messages of diagnostics.
pub fn told(errors: &[Diagnostic]) -> String {
    errors.iter().map(Diagnostic::message).collect::<Vec<_>>().join("\n")
}
