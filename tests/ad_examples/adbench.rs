//! The programs in `examples/adbench` on the data beside them: values and derivatives are those of
//! adjoints that were written by hand, in another language.

use regraft::lang::Session;
use regraft_ad::PlanKind;
use regraft_bench::adjoints::{ADBENCH, Adjoint, Program};

use crate::support::{assert_close, numbers, numbers_of, session, told};

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

/// Checks the derivatives of a program in reverse mode against the numbers of these names.
#[track_caller]
fn derivatives_agree(session: &mut Session, program: &Program, expected: &[&str]) {
    for plan in [PlanKind::Best, PlanKind::Naive] {
        let adjoint = Adjoint::new(program, plan, "");
        let adjoint = adjoint.unwrap_or_else(|errors| panic!("{}", told(&errors)));
        let gradient = adjoint.gradient(0);
        for (name, found) in expected.iter().zip(&gradient.tangents) {
            let expected = numbers_of(session, name);
            assert_close(&format!("{name}, {plan:?}"), &numbers(found), &expected, TOLERANCE);
        }
    }
}

#[test]
fn the_mixture_model_has_its_derivatives() {
    let expected = ["expected_alphas", "expected_means", "expected_icf"];
    derivatives_agree(&mut with_data("gmm"), &ADBENCH[0], &expected);
}

#[test]
fn bundle_adjustment_has_its_derivatives() {
    let expected = ["expected_cameras", "expected_points", "expected_weights"];
    derivatives_agree(&mut with_data("ba"), &ADBENCH[1], &expected);
}

#[test]
fn the_language_model_has_its_derivatives() {
    let expected = ["expected_main", "expected_extra"];
    derivatives_agree(&mut with_data("lstm"), &ADBENCH[2], &expected);
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

#[test]
fn the_language_knows_the_derivatives_of_the_mixture_model() {
    let gradient = "gradient((a, m, c) -> gmm_objective(a, m, c, x, prior), alphas, means, icf)";
    let expected = "(expected_alphas, expected_means, expected_icf)";
    agree(&mut with_data("gmm"), gradient, expected);
}

#[test]
fn the_language_knows_the_derivatives_of_bundle_adjustment() {
    let mut ba = with_data("ba");
    let gradient = "gradient((c, p, w) -> squared_errors(c, p, w, observations, features), \
                    cameras, points, weights)";
    let expected = "(expected_cameras, expected_points, expected_weights)";
    agree(&mut ba, gradient, expected);
    // Each row of the Jacobian is a gradient: that of one error.
    let definition = "
function jacobian_row(i, k)
    c, p = observations[i]
    feature = features[:, i]
    f = (camera, point, weight) -> reprojection_error(camera, point, weight, feature)[k]
    camera, point, weight = gradient(f, cameras[:, c], points[:, p], weights[i])
    return vcat(camera, point, weight)
end";
    numbers_of(&mut ba, definition);
    let rows = "[jacobian_row(i, k) for k in 1:2, i in 1:5]";
    agree(&mut ba, rows, "permutedims(expected_jacobian)");
    let whole = "ba_jacobian!(zeros(15, 10), cameras, points, weights, observations, features)";
    agree(&mut ba, whole, "permutedims(expected_jacobian)");
}

#[test]
fn the_language_knows_the_derivatives_of_the_language_model() {
    let gradient = "gradient((m, e) -> lstm_objective(m, e, state, sequence), main, extra)";
    agree(&mut with_data("lstm"), gradient, "(expected_main, expected_extra)");
}
