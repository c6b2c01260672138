//! Proves rewrite rules with an SMT solver: `z3`, if it is installed.
//!
//! Integer rules are proved over bit vectors, exact rules on floats over IEEE floats. SMT-LIB knows one
//! NaN, so that a proof does not say what becomes of signalling ones, and rules with `quiet` are not
//! proved; nor are rules with ops that may trap, or that SMT-LIB does not know.
//!
//! ```
//! use regraft_passes::rewrite::RewriteRules;
//! use regraft_testing::rewrite_questions;
//!
//! let ctx = regraft_dialects::context();
//! let mut rules = RewriteRules::default();
//! let text = "rule double exact: arith.add ?a, ?a => arith.mul ?a, 2  if int ?a";
//! rules.add(ctx.registry(), "mine.rules", text).unwrap();
//! let questions = rewrite_questions(&ctx, &rules);
//! let text = questions[0].text.as_ref().unwrap();
//! assert!(text.contains("(assert (not (= (bvadd ?a ?a) (bvmul ?a #x0000000000000002))))"), "{text}");
//! ```

mod smt;

use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rayon::prelude::*;
use regraft_ir::Context;
use regraft_passes::rewrite::{RewriteRules, Rule};

use crate::test_rewrites::typings;

/// The question whether a rule can be refuted at a choice of types.
#[derive(Clone, Debug)]
pub struct RewriteQuestion {
    /// The rule.
    pub rule: Arc<Rule>,
    /// The types of its variables: `f64, f64`; of the whole, if it has none.
    pub types: String,
    /// The question as SMT-LIB text, or why it cannot be asked.
    pub text: Result<String, String>,
}

/// The answer of the solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// The rule holds.
    Proved,
    /// It does not: the values, as the solver writes them.
    Refuted(String),
    /// The solver has not found an answer in time.
    TimedOut,
    /// It was not asked, for this reason.
    NotAsked(String),
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved => f.write_str("proved"),
            Self::Refuted(values) => write!(f, "wrong: {values}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::NotAsked(reason) => write!(f, "not asked: {reason}"),
        }
    }
}

/// The questions about rules: one for each rule and choice of types. A `<=>` is asked once.
pub fn rewrite_questions(ctx: &Context, rules: &RewriteRules) -> Vec<RewriteQuestion> {
    let mut questions = Vec::new();
    for rule in rules.all().filter(|rule| !rule.is_reversed()) {
        for typing in typings(rule, rule.conditions()) {
            let mut types: Vec<String> =
                typing.variables.iter().map(|&ty| ctx.type_text(ty)).collect();
            if types.is_empty() {
                types.push(ctx.type_text(typing.root));
            }
            let text = smt::question(ctx, rule, &typing);
            questions.push(RewriteQuestion {
                rule: Arc::clone(rule),
                types: types.join(", "),
                text,
            });
        }
    }
    questions
}

/// Asks the solver, for at most so many seconds each. `solver` is its command: `z3`.
///
/// # Errors
/// If the solver cannot be run, or answers something else than SMT-LIB says: a sentence.
pub fn prove_rewrites(
    questions: &[RewriteQuestion],
    solver: &str,
    seconds: u32,
) -> Result<Vec<Proof>, String> {
    let ask = |question: &RewriteQuestion| match &question.text {
        Ok(text) => ask(text, solver, seconds),
        Err(reason) => Ok(Proof::NotAsked(reason.clone())),
    };
    questions.par_iter().map(ask).collect()
}

fn ask(text: &str, solver: &str, seconds: u32) -> Result<Proof, String> {
    let failed = |error: std::io::Error| format!("cannot run the solver `{solver}`: {error}");
    let mut child = Command::new(solver)
        .args(["-smt2", "-in", &format!("-T:{seconds}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let (first, rest) = answer.split_once('\n').unwrap_or((&answer, ""));
    match first.trim() {
        "unsat" => Ok(Proof::Proved),
        "sat" => Ok(Proof::Refuted(rest.split_whitespace().collect::<Vec<_>>().join(" "))),
        "unknown" | "timeout" => Ok(Proof::TimedOut),
        _ => {
            Err(format!("the solver `{solver}` does not understand the question: {answer}\n{text}"))
        }
    }
}
