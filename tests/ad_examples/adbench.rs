//! The programs in `examples/adbench` on the data beside them: values and derivatives are those of
//! adjoints that were written by hand, in another language.

use regraft::lang::Session;

use crate::support::{assert_close, numbers_of, session};

const TOLERANCE: f64 = 1e-10;

fn with_data(name: &str) -> Session {
    session(&[&format!("adbench/{name}.jl"), &format!("adbench/data/{name}.jl")])
}

/// Checks that the numbers in two expressions are the same.
#[track_caller]
fn agree(session: &mut Session, found: &str, expected: &str) {
    let expected = numbers_of(session, expected);
    assert_close(found, &numbers_of(session, found), &expected, TOLERANCE);
}

#[test]
fn the_mixture_model_has_its_value() {
    let mut gmm = with_data("gmm");
    agree(&mut gmm, "gmm_objective(alphas, means, icf, x, prior)", "expected_value");
}

#[test]
fn bundle_adjustment_has_its_errors() {
    let mut ba = with_data("ba");
    let arguments = "(cameras, points, weights, observations, features)";
    agree(&mut ba, &format!("ba_objective{arguments}[1]"), "expected_errors");
    agree(&mut ba, &format!("ba_objective{arguments}[2]"), "[1 - w^2 for w in weights]");
    agree(&mut ba, &format!("squared_errors{arguments}"), "expected_value");
}

#[test]
fn the_language_model_has_its_value() {
    let mut lstm = with_data("lstm");
    agree(&mut lstm, "lstm_objective(main, extra, state, sequence)", "expected_value");
    // The state of the caller stays as it was.
    let state = numbers_of(&mut lstm, "state");
    numbers_of(&mut lstm, "lstm_objective(main, extra, state, sequence)");
    assert_eq!(numbers_of(&mut lstm, "state"), state);
}
