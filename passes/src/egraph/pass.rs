//! The pass `e-graph`.

use std::sync::Arc;

use regraft_dialects::attrs::set_fast;
use regraft_ir::{Diagnostic, DominatorTree, Function};

use super::builder::{Builder, Source};
use super::elaboration::{Elaborated, Elaboration};
use super::explanation::Explainer;
use super::region::Region;
use super::saturation::Limits;
use crate::analysis::{LoopForest, Ranges};
use crate::options::{OptionDef, Options};
use crate::pipeline::MATH;
use crate::rewrite::{Math, RewriteRules, RuleIndex, is_term};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Simplifies values by rewrite rules over an e-graph.
    ///
    /// ```text
    /// %2: f64 = arith.neg %1
    /// %3: f64 = math.exp %1             =>    %3: f64 = math.exp %1
    /// %4: f64 = arith.mul %2, %3              %5: f64 = arith.mul %1, %3
    /// %5: f64 = arith.neg %4
    /// ```
    ///
    /// All ways to compute a value that the rules find are kept beside each other, and in the end
    /// the cheapest program is chosen, in which what is shared counts once: it never costs more than
    /// what was there. `regraft rules` lists the rules. With `math=exact` results stay the same, bit for
    /// bit, but for which quiet NaN it is; `finite` assumes that nothing is infinite or NaN, and takes
    /// guards of singular points away; `fast` takes floats for real numbers, which leaves guards where the program does not divide by the same
    /// value, and notes it as the attribute `math=:fast` of the function, so that
    /// LLVM does too. Errors of the program stay, but that of a circular function at infinity with `fast`.
    ///
    /// With `engine=acyclic` the rules are applied once to each value, in near linear time. `engine=egg`
    /// applies them again and again, until nothing is new or there are as many nodes or rounds as
    /// `nodes` and `iterations` say. That can find a little more, and is many times slower: it is for
    /// small functions, and for trying rules out.
    #[derive(Debug, Default)]
    pub struct EGraphPass {
        math: Math,
        rounds: i64,
        rules: String,
        saturates: Option<Limits>,
    }
}

impl FunctionPass for EGraphPass {
    const NAME: &'static str = "e-graph";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        MATH,
        OptionDef::int("rounds", 2, "how often at most the result is simplified again")
            .between(1, 16),
        OptionDef::text("rules", "", "a file of rules that are used beside those that there are"),
        OptionDef::choice(
            "engine",
            &["acyclic", "egg"],
            "acyclic",
            "rules applied once to each value, or full equality saturation",
        ),
        OptionDef::int("nodes", 3000, "the most nodes of a saturation").between(1, 1_000_000),
        OptionDef::int("iterations", 6, "the most rounds of a saturation").between(1, 1000),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.math = Math::find(options.text(MATH.name)).unwrap_or_default();
        self.rounds = options.int("rounds");
        self.rules = options.text("rules").to_owned();
        let limit = |name| usize::try_from(options.int(name)).unwrap_or(usize::MAX);
        self.saturates = (options.text("engine") == "egg")
            .then(|| Limits { nodes: limit("nodes"), iterations: limit("iterations") });
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let rules = rules(f, &self.rules, self.math)?;
        if self.math == Math::Fast {
            set_fast(f);
        }
        for _ in 0..self.rounds {
            let done = simplify(f, cx, &rules, self.math, self.saturates)?;
            cx.add("values simplified", done.replaced);
            cx.add("instructions added", done.added);
            if done.replaced == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The rules of a function's program, with those of a file.
fn rules(f: &Function, file: &str, math: Math) -> Result<Arc<RuleIndex>, Diagnostic> {
    let known: &RewriteRules = f.ctx().extensions().get();
    if file.is_empty() {
        return Ok(known.by_op(math));
    }
    let mut all = known.clone();
    all.add_file(f.ctx().registry(), file)?;
    Ok(all.by_op(math))
}

/// Simplifies a function once.
fn simplify(
    f: &mut Function,
    cx: &mut PassContext<'_>,
    rules: &RuleIndex,
    math: Math,
    saturates: Option<Limits>,
) -> Result<Elaborated, Diagnostic> {
    let Some(entry) = f.entry() else { return Ok(Elaborated::default()) };
    let (dom, forest) = (cx.analysis::<DominatorTree>(f), cx.analysis::<LoopForest>(f));
    let ranges = cx.analysis::<Ranges>(f);
    let source = Source { f, dom: &dom, forest: &forest, rules, math };
    let Some(region) = Region::new(source, entry, &ranges, saturates) else {
        cx.add("functions with contradictory rules", 1);
        return Ok(Elaborated::default());
    };
    let extraction = region.extract();
    let Region { builder: Builder { graph, .. }, class_of, stays, .. } = region;
    if cx.explains() {
        let explainer = Explainer::new(f, &graph, &extraction, rules, &class_of);
        for v in f.all_insts().filter(|&v| !v.is_terminator() && is_term(f, v)) {
            if let Some(text) = class_of[v.index()].and_then(|class| explainer.explain(v, class)) {
                cx.explain(v, text);
            }
        }
    }
    let elaboration = Elaboration {
        graph: &graph,
        extraction: &extraction,
        class_of: &class_of,
        stays: &stays,
        dom: &dom,
        forest: &forest,
        rules,
    };
    Ok(elaboration.run(f)?)
}
