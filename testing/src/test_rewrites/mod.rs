//! Tests rewrite rules: that both sides of each are the same, that it needs its conditions, and that
//! the rules that are used together do not contradict each other.
//!
//! ```
//! use regraft_passes::rewrite::RewriteRules;
//! use regraft_testing::{RewriteOptions, test_rewrites};
//!
//! let ctx = regraft_dialects::context();
//! let mut rules = RewriteRules::default();
//! let text = "rule add-zero exact: arith.add ?a, 0.0 => ?a  if quiet ?a";
//! rules.add(ctx.registry(), "mine.rules", text).unwrap();
//! let reports = test_rewrites(&ctx, &rules, &RewriteOptions::default());
//! let error = reports[0].diagnostic().unwrap();
//! assert!(error.message().contains("?a: f64 = -0.0: left 0.0, right -0.0"), "{error}");
//! ```
//!
//! # Method
//! A rule is tested at all scalar types that its ops and conditions admit. Its variables take all
//! combinations of special values (zeros, ones, numbers near the ends of the range, infinities, NaNs,
//! of both signs), and then random ones: any bits, small numbers, numbers near each other, opposites. Of
//! types of 8 bits and less, all values are tried. Inputs satisfy the conditions of the rule.
//!
//! - `exact`: both sides are the same bit for bit, except that quiet NaNs are all one; both end in a
//!   trap, or none.
//! - `finite` and `guard`: both sides are the same number at inputs for which nothing is NaN or
//!   infinite, intermediates included.
//! - `fast`: the inputs are numbers of moderate size. The sides differ by less than 1e-6, relative to
//!   the largest number that is computed, but for one input in 64: that is where numbers cancel. A trap
//!   of one side only is allowed: real algebra does not say where a function is defined.
//!
//! Terms without floats are compared bit for bit in all sets.
//!
//! Then the inputs satisfy all conditions but one. The rule has to be refuted there, or a side has no
//! value; otherwise the condition is superfluous. `const` is exempt: it says when a rule pays. For a
//! class of types, the other types are tried.
//!
//! # Cost
//! Some ten million evaluations of ops a second on one core. Rules are tested in parallel.

mod closure;
mod inputs;
mod one_rule;
mod program;
mod report;
mod sets;

use std::sync::Arc;

use rayon::prelude::*;
use regraft_ir::Context;
use regraft_passes::rewrite::{Math, RewriteRules, Rule};

pub(crate) use one_rule::typings;
pub use report::{Contradiction, Refutation, RewriteFailure, RewriteReport};

/// The configuration of a test of rewrite rules.
#[derive(Clone, Copy, Debug)]
pub struct RewriteOptions {
    /// The number of random inputs for each rule; its choices of types share them. A `fast` rule takes
    /// a quarter.
    pub samples: usize,
    /// The seed of the random inputs.
    pub seed: u64,
}

impl Default for RewriteOptions {
    /// 100,000 random inputs of seed 0.
    fn default() -> Self {
        Self { samples: 100_000, seed: 0 }
    }
}

/// Tests each rule by itself. The reports are in the order of the rules; a `<=>` is tested once.
pub fn test_rewrites(
    ctx: &Context,
    rules: &RewriteRules,
    options: &RewriteOptions,
) -> Vec<RewriteReport> {
    let rules: Vec<&Arc<Rule>> = rules.all().filter(|rule| !rule.is_reversed()).collect();
    rules.par_iter().map(|rule| test_rewrite(ctx, rule, options)).collect()
}

/// Tests one rule.
pub fn test_rewrite(ctx: &Context, rule: &Arc<Rule>, options: &RewriteOptions) -> RewriteReport {
    one_rule::test_rule(ctx, rule, options)
}

/// Looks for rules that contradict each other: under each algebra, the rules that it uses are
/// applied to terms over a few constants and variables, and so are the results, until nothing is new or
/// enough terms are there. A contradiction is a constant that becomes equal to another one.
///
/// A set without one may still have one in larger terms.
pub fn test_rewrite_sets(ctx: &Context, rules: &RewriteRules) -> Vec<Contradiction> {
    Math::ALL.par_iter().filter_map(|&math| sets::contradiction(ctx, rules, math)).collect()
}
