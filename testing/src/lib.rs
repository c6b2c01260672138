//! Tests of a pass in a few lines: goldens, random programs, comparison by
//! running.
//!
//! - [`check_pass`] runs a pipeline on IR text and gives a diff; [`assert_ir_snapshot!`] compares
//!   it with a golden.
//! - [`check_pass_preserves`] runs it on generated modules, compares what they do before and
//!   after, and shows a small module if that differs.
//! - [`text_tests()`] runs tests that are text alone, in a folder.
//! - [`Tester`] does both for passes of your own.
//! - [`test_rule`](test_rule()) differentiates a function, and compares its derivatives with each
//!   other and with differences.
//! - [`modules`] is a `proptest` strategy for everything else that takes a module, and
//!   [`compare_functions`] compares any two functions.
//!
//! Modules are drawn from [`choices`], and shrink because choices do ([`shrink`]).
//!
//! ```
//! let input = "
//! func @f() -> i64 {
//! ^1:
//!   %1: i64 = arith.add 1, 2
//!   return %1
//! }";
//! assert!(regraft_testing::check_pass("fold", input).contains("+  return 3"));
//! regraft_testing::check_pass_preserves("fold", 3);
//! ```

mod check;
pub mod choices;
mod compare;
mod contexts;
mod fuzz;
mod fuzz_run;
pub mod generate;
mod inputs;
mod lowered;
mod observe;
mod perturb;
mod plan;
pub mod prove_rewrites;
pub mod reduce;
mod repro;
pub mod script;
pub mod shrink;
mod snapshot;
mod strategy;
mod test_orders;
pub mod test_rewrites;
pub mod test_rule;
mod tester;
mod text_tests;
mod trial;

pub use check::Check;
pub use compare::{Agreement, CompareConfig, Difference, compare_functions};
pub use fuzz::{Find, Fuzzer, Tally};
pub use fuzz_run::FuzzRun;
pub use inputs::arguments;
pub use observe::{FloatMatch, Observation};
pub use plan::Plan;
pub use prove_rewrites::{Proof, RewriteQuestion, prove_rewrites, rewrite_questions};
pub use repro::Repro;
pub use snapshot::ir_text;
pub use strategy::{ModuleStrategy, ModuleTree, modules, modules_of};
pub use test_orders::{test_orders, test_redefinition};
pub use test_rewrites::{
    Contradiction, Refutation, RewriteFailure, RewriteOptions, RewriteReport, test_rewrite,
    test_rewrite_sets, test_rewrites,
};
pub use test_rule::{
    DERIVATIVE_PASSES, Derivatives, RuleArgs, RuleFailure, RuleOptions, RuleProblem, RuleReport,
    Sweeps, check_derivatives, test_call, test_rule,
};
pub use tester::{Broken, Preserved, Tester, check_pass, check_pass_preserves};
pub use text_tests::{TextOutcome, TextTests, text_test_files, text_tests};
pub use trial::{BrokenKind, PassFailure, Trial};

/// The crate that [`assert_ir_snapshot!`] is made of, so that the calling crate need not depend on it.
pub use insta;
