//! The pass `e-graph`.

use std::sync::Arc;

use regraft_ir::{Diagnostic, DominatorTree, Function, Value};

use super::builder::{Builder, Source};
use super::elaboration::{Elaborated, Elaboration};
use super::explanation::Explainer;
use super::extraction::extract;
use super::graph::{Args, Class};
use crate::analysis::traps::{may_trap, may_trap_given};
use crate::analysis::{LoopForest, Ranges};
use crate::options::{OptionDef, Options};
use crate::rewrite::{Math, RewriteRules, RuleIndex, facts_of_value, is_term};
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
    /// guards of singular points away; `fast` takes floats for real numbers. Errors of the program stay,
    /// but that of a circular function at infinity with `fast`.
    ///
    /// Near linear.
    #[derive(Debug, Default)]
    pub struct EGraphPass {
        math: Math,
        rounds: i64,
        rules: String,
    }
}

impl FunctionPass for EGraphPass {
    const NAME: &'static str = "e-graph";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::choice("math", Math::NAMES, "exact", "the algebra that floats follow"),
        OptionDef::int("rounds", 2, "how often at most the result is simplified again")
            .between(1, 16),
        OptionDef::text("rules", "", "a file of rules that are used beside those that there are"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        self.math = Math::find(options.text("math")).unwrap_or_default();
        self.rounds = options.int("rounds");
        self.rules = options.text("rules").to_owned();
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let rules = rules(f, &self.rules, self.math)?;
        for _ in 0..self.rounds {
            let done = simplify(f, cx, &rules, self.math)?;
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
) -> Result<Elaborated, Diagnostic> {
    let Some(entry) = f.entry() else { return Ok(Elaborated::default()) };
    let (dom, forest) = (cx.analysis::<DominatorTree>(f), cx.analysis::<LoopForest>(f));
    let ranges = cx.analysis::<Ranges>(f);
    let mut class_of: Vec<Option<Class>> = vec![None; f.value_capacity()];
    let mut stays = vec![false; f.value_capacity()];
    let mut own: Vec<bool> = Vec::new();
    let source = Source { f, dom: &dom, forest: &forest, rules, math };
    let mut builder = Builder::new(source, entry);
    let mut roots = Vec::new();
    for &block in dom.order() {
        for v in f.params(block) {
            class_of[v.index()] = Some(builder.leaf(v, facts_of_value(f, &ranges, v)));
        }
        for v in f.body(block) {
            if !is_term(f, v) {
                class_of[v.index()] = Some(builder.leaf(v, facts_of_value(f, &ranges, v)));
                continue;
            }
            let Some(op) = f.op(v) else { continue };
            let args = args(f, v, &class_of, &mut builder);
            let traps = may_trap(f, v)
                && may_trap_given(f, v, &ranges.facts(f, block))
                && !builder.is_in_domain(op, &args);
            if traps {
                stays[v.index()] = true;
                roots.extend_from_slice(&args);
            }
            let class = builder.instruction(v, block, op, args, traps);
            class_of[v.index()] = Some(class);
            own.resize(builder.graph.class_count(), false);
            own[class.index()] = true;
        }
    }
    if builder.graph.is_contradictory() {
        cx.add("functions with contradictory rules", 1);
        return Ok(Elaborated::default());
    }
    own.resize(builder.graph.class_count(), false);
    for v in f.all_insts() {
        let in_graph = class_of.get(v.index()).is_some_and(Option::is_some) && is_term(f, v);
        if !v.is_terminator() && in_graph {
            continue;
        }
        for operand in f.operands(v) {
            if let Some(class) = operand.as_value().and_then(|u| class_of[u.index()]) {
                roots.push(class);
            }
        }
    }
    let Builder { graph, costs, .. } = builder;
    let extraction = extract(&graph, &own, &costs, &roots);
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

/// The classes of the operands of an instruction.
fn args(f: &Function, v: Value, class_of: &[Option<Class>], builder: &mut Builder<'_>) -> Args {
    f.operands(v)
        .filter_map(|operand| match operand.as_value() {
            Some(u) => class_of[u.index()],
            None => operand.as_const().map(|constant| builder.constant(constant)),
        })
        .collect()
}
