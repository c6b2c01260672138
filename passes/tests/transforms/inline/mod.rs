//! `inline`.

mod bodies;
mod which;

use crate::check_text;

/// Checks what becomes of the last function of a module; the others stay as they are.
#[track_caller]
fn check(others: &str, before: &str, after: &str) {
    check_with("inline", others, before, after);
}

#[track_caller]
fn check_with(pipeline: &str, others: &str, before: &str, after: &str) {
    check_text(pipeline, &format!("{others}{before}"), &format!("{others}{after}"));
}

const SQUARE: &str = "func @square(%1: f64) -> f64 {
^1:
  %2: f64 = arith.mul %1, %1
  return %2
}
";
