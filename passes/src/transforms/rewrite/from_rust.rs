//! Passes of rules that stand in a Rust program.

use std::sync::{Arc, OnceLock};

use regraft_ir::{Diagnostic, Registry, render_all};
use regraft_syntax::parse_rewrites;

use super::rewrite;
use crate::PassInfo;
use crate::rewrite::{Math, RewriteRules, RuleIndex, RuleSet};

/// Makes a pass of rewrite rules, which is used as `rewrite{rules=FILE}` uses those of a file.
///
/// The rules are written as in files of [rules](mod@crate::rewrite), without `rule`, name and set. A `;`
/// stands between two of them. They belong to the set `exact`, unless another one is named. The
/// result is a [`PassInfo`](crate::PassInfo), for
/// [`PassRegistry::add_pass`](crate::PassRegistry::add_pass), or for a
/// [`Pipeline`](crate::Pipeline) of this pass alone.
///
/// ```
/// use regraft_passes::{PassRegistry, Pipeline, RunOptions, rewrite, run_pipeline};
///
/// let text = "
/// func @f(%1: i64) -> i64 {
/// ^1:
///   %2: i64 = arith.mul %1, 2
///   return %2
/// }";
/// let mut module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
/// let pipeline = Pipeline::from(rewrite!("mul-to-add": arith.mul ?x, 2 => arith.add ?x, ?x));
/// run_pipeline(&mut module, &pipeline, &RunOptions::default()).unwrap();
/// assert!(module.to_string().contains("%2: i64 = arith.add %1, %1"));
///
/// let mut passes = PassRegistry::standard();
/// passes.add_pass(rewrite!("logs" fast:
///     math.log (math.exp ?x) => ?x;
///     math.exp (math.log ?x) => ?x if positive ?x
/// ));
/// assert!(Pipeline::parse(&passes, "logs, dce").is_ok());
/// ```
///
/// # Errors
/// Ops and types are looked up when the pass runs, in the dialects of the function; an error in them is
/// an error of the pass.
///
/// # Panics
/// If the rules cannot be read, or if there is no such set: a mistake in the program that has to be
/// seen at once.
#[macro_export]
macro_rules! rewrite {
    ($name:literal : $($rules:tt)+) => {
        $crate::rewrite!($name exact: $($rules)+)
    };
    ($name:literal $set:ident : $($rules:tt)+) => {
        $crate::transforms::rewrite::rewrite_pass(
            $name,
            concat!("Rewrites by rules of Rust.\n\n```text\n", stringify!($($rules)+), "\n```\n"),
            stringify!($set),
            stringify!($($rules)+),
        )
    };
}

/// A pass of the rules in `text`, which belong to the set of that name, as
/// [`rewrite!`](crate::rewrite!) makes it. `doc` is its page.
///
/// # Panics
/// If the rules cannot be read, or if there is no such set.
#[track_caller]
pub fn rewrite_pass(name: &'static str, doc: &'static str, set: &str, text: &str) -> PassInfo {
    let rules = rules_text(name, set, text);
    let source = format!("rewrite!({name:?})");
    if let Err(errors) = parse_rewrites(&source, &rules) {
        panic!("{}", render_all(&errors, false));
    }
    let Some(set) = RuleSet::ALL.into_iter().find(|other| other.name() == set) else {
        panic!("there is no set of rules `{set}`");
    };
    let math = Math::ALL.into_iter().find(|&math| set.is_used_by(math)).unwrap_or_default();
    let compiled: Arc<OnceLock<Arc<RuleIndex>>> = Arc::default();
    PassInfo::of_function(name, doc, move |f, cx| {
        let rules = match compiled.get() {
            Some(rules) => Arc::clone(rules),
            None => {
                let rules = compile(f.ctx().registry(), &source, &rules, math)?;
                Arc::clone(compiled.get_or_init(|| rules))
            }
        };
        rewrite(f, cx, &rules, math, true)
    })
}

/// The rules as a file has them, one on a line.
fn rules_text(name: &str, set: &str, text: &str) -> String {
    let rules = text.split(';').map(|rule| rule.replace('\n', " "));
    let rules = rules.filter(|rule| !rule.trim().is_empty()).enumerate();
    let line = |(i, rule): (usize, String)| match i {
        0 => format!("rule {name} {set}: {}\n", rule.trim()),
        _ => format!("rule {name}-{} {set}: {}\n", i + 1, rule.trim()),
    };
    rules.map(line).collect()
}

fn compile(
    registry: &Registry,
    source: &str,
    rules: &str,
    math: Math,
) -> Result<Arc<RuleIndex>, Diagnostic> {
    let mut table = RewriteRules::default();
    table.add(registry, source, rules).map_err(|mut errors| errors.remove(0))?;
    Ok(table.by_op(math))
}
