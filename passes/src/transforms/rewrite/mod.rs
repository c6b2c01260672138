//! Rewrites instructions by rules wherever that makes the program cheaper.
//!
//! ```text
//! %2: f64 = arith.neg %1
//! %3: f64 = arith.add %4, %2        =>    %3: f64 = arith.sub %4, %1
//! ```
//!
//! # Method
//! Greedy rewriting: instructions wait in a queue. For each, the [rules](mod@crate::rewrite) are matched
//! against it and what its operands are made of, and of those that apply the one that saves most is
//! used, the first in a tie. What is used no more goes, and everything that may match now waits
//! again. Nothing is kept beside what is there, so that the result depends on the order: where that
//! matters, `e-graph` finds more.
//!
//! # Why it ends
//! The cost of a program is the latency of its instructions, eight times for each loop around
//! them, and, where that is equal, their number. A rule is used where the cost falls. Where it stays
//! the same, a rule with `=>` is used as well: its author says which side is the better one. What such
//! a rule makes is one generation younger than what it replaced, and the last generation is left
//! alone. So (cost, number, generations) falls with each step, in the order of multisets.
//!
//! # Why it is right
//! Each rule is: see its set. What a rule brings in dominates what it matched, hence its root. An
//! instruction that may trap stays, and none that may trap is made.
//!
//! # Cost
//! For each instruction that waits, O(rules of its op), each with at most `MAX_MATCHES` matches.

mod from_rust;
mod known;
mod replacement;
mod rewriter;

use std::sync::Arc;

use regraft_ir::{Diagnostic, Function};

use crate::options::{OptionDef, Options};
use crate::pipeline::MATH;
use crate::rewrite::{Math, RewriteRules, RuleIndex};
use crate::{FunctionPass, PassContext, PassResult};

pub use from_rust::rewrite_pass;
use rewriter::{Rewriter, may_match};

crate::pass! {
    /// Rewrites instructions by rules wherever that makes the program cheaper.
    ///
    /// ```text
    /// %2: f64 = arith.neg %1
    /// %3: f64 = arith.add %4, %2        =>    %3: f64 = arith.sub %4, %1
    /// ```
    ///
    /// With `rules=FILE` those of the file are used and no others, without it those that `regraft rules`
    /// lists. A rule is used where latencies fall, or the number of instructions while they stay; one
    /// with `=>` also where nothing changes in either. `math` says which sets of rules are used, as for
    /// `e-graph`, which keeps all ways to compute a value until it can compare them. Here the first
    /// step that pays is taken. Without `ties`, a rule is used only where the cost falls, or where it takes
    /// fewer instructions than it matches: so `O2` uses it.
    #[derive(Debug, Default)]
    pub struct Rewrite {
        math: Math,
        ties: bool,
        rules: String,
    }
}

impl FunctionPass for Rewrite {
    const NAME: &'static str = "rewrite";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        MATH,
        OptionDef::flag("ties", true, "use a rule with `=>` also where the cost stays the same"),
        OptionDef::text(
            "rules",
            "",
            "a file of rules that are used in place of those that there are",
        ),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.math = Math::find(options.text(MATH.name)).unwrap_or_default();
        self.ties = options.flag("ties");
        self.rules = options.text("rules").to_owned();
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let rules = self.rules(f).map_err(|error| cx.wrong_options(error))?;
        rewrite(f, cx, &rules, self.math, self.ties)
    }
}

impl Rewrite {
    fn rules(&self, f: &Function) -> Result<Arc<RuleIndex>, Diagnostic> {
        if self.rules.is_empty() {
            return Ok(f.ctx().extensions().get::<RewriteRules>().by_op(self.math));
        }
        let mut rules = RewriteRules::default();
        rules.add_file(f.ctx().registry(), &self.rules)?;
        Ok(rules.by_op(self.math))
    }
}

/// Rewrites a function by these rules.
fn rewrite(
    f: &mut Function,
    cx: &mut PassContext<'_>,
    rules: &RuleIndex,
    math: Math,
    ties: bool,
) -> PassResult {
    if !f.all_insts().any(|v| may_match(f, rules, v)) {
        cx.add("values rewritten", 0);
        return Ok(());
    }
    let mut rewriter = Rewriter::new(f, cx, rules, math, ties);
    let rewritten = rewriter.run(f)?;
    cx.add("values rewritten", rewritten);
    Ok(())
}
