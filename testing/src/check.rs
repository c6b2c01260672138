//! Checking while a pipeline runs: what a function does before and after each pass.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use regraft_ad::{Checkpoints, PlanKind, REVERSE_OF};
use regraft_dialects::attrs::is_fast;
use regraft_ir::{Diagnostic, Function, Module};
use regraft_passes::{Execution, Log, Observer, PassStep, Pipeline, Schedule, Unit};

use crate::choices::Choices;
use crate::compare::{Agreement, CompareConfig, compare_functions};
use crate::generate::Entry;
use crate::inputs::arguments;
use crate::repro::Repro;
use crate::test_rule::{
    DERIVATIVE_PASSES, Make, RuleArgs, RuleFailure, RuleOptions, check_derivatives,
};

/// An observer that runs each function on generated inputs before and after each pass, and
/// blames the pass that changed what it does. See [`compare_functions`] for what is compared. What
/// passes that differentiate have added is tested by [`check_derivatives`].
///
/// At the end it prints how many inputs agreed, pass by pass. It fails if there were inputs and not
/// one of them was conclusive, since nothing is known then; it warns if that is so of one pass.
#[derive(Clone, Debug)]
pub struct Check {
    config: CompareConfig,
    /// By pass of the pipeline. A clone checks another run.
    tally: Tally,
    /// Arguments to pass to some of the functions, rather than any that fit their parameters.
    entries: Vec<Entry>,
}

impl Check {
    /// Compares on `inputs` inputs, as [`CompareConfig::default`] says otherwise.
    pub fn new(inputs: u32) -> Self {
        Self::with(CompareConfig { inputs, ..CompareConfig::default() })
    }

    /// Compares as `config` says.
    pub fn with(config: CompareConfig) -> Self {
        Self { config, tally: Tally::default(), entries: Vec::new() }
    }

    /// Runs functions on what a reproducer says.
    #[must_use]
    pub fn like(mut self, repro: &Repro) -> Self {
        self.entries.clone_from(&repro.suspect.entries);
        self.config.seed = repro.seed;
        self.config.engine = repro.engine;
        self
    }

    /// Compares a function, if there are arguments for it. `Err` has the difference.
    fn compare(
        &self,
        pass: &PassStep,
        before: &Module,
        after: &Module,
        f: &Function,
        log: &mut Log,
    ) -> Result<(), Vec<Diagnostic>> {
        let fast = pass.is_fast() || is_fast(f);
        let mut config = self.config.clone().fast(fast);
        if let Some(entry) = self.entries.iter().find(|entry| entry.name == f.name_str()) {
            config.params = Some(entry.params.clone());
        }
        let types = config.params.clone().unwrap_or_else(|| f.param_types());
        if let Err(why) = arguments(f.ctx(), &types, &mut Choices::from_seed(0)) {
            let message = format!("@{} cannot be checked: {why}", f.name_str());
            log.warn(Diagnostic::warning(message));
            return Ok(());
        }
        if f.ctx().attr(f.function_attrs(), REVERSE_OF).is_some() {
            // What it gets is what the other sweep has kept; nothing random will do.
            return Ok(());
        }
        match compare_functions(before, after, f.name_str(), &config) {
            Ok(runs) => {
                self.tally.add(pass, runs);
                Ok(())
            }
            Err(difference) => Err(vec![Diagnostic::error(difference.to_string())]),
        }
    }
}

impl Check {
    /// Tests what a pass has added that differentiates.
    fn derivatives(
        &self,
        pass: &PassStep,
        before: &Module,
        after: &Module,
    ) -> Result<(), Vec<Diagnostic>> {
        if !DERIVATIVE_PASSES.contains(&pass.name()) {
            return Ok(());
        }
        let wanted = pass.options().text("function");
        let f = match wanted.is_empty() {
            true => before.functions().next(),
            false => before.function(wanted),
        };
        let Some(f) = f else { return Ok(()) };
        let forward = pass.name() == DERIVATIVE_PASSES[0];
        let naive = !forward && pass.options().text("plan") == "naive";
        let plan = if naive { PlanKind::Naive } else { PlanKind::Best };
        let amount = |name: &str| if forward { 0 } else { pass.options().size(name) as u64 };
        let checkpoints = match (amount("snapshots"), amount("memory")) {
            (0, 0) => None,
            (0, bytes) => Some(Checkpoints::Bytes(bytes)),
            (n, _) => Some(Checkpoints::Snapshots(n)),
        };
        let width = if forward { pass.options().size("width") } else { 1 };
        let options = RuleOptions {
            inputs: self.config.inputs,
            seed: self.config.seed,
            limits: self.config.limits,
            wrt: RuleOptions::wrt_of(pass.options().text("wrt")),
            widths: if forward { vec![width] } else { Vec::new() },
            plans: if forward { Vec::new() } else { vec![(plan, checkpoints)] },
            ..RuleOptions::default()
        };
        let entry = self.entries.iter().find(|entry| entry.name == f.name_str());
        let types = entry.map_or_else(|| f.param_types(), |entry| entry.params.clone());
        let error = |failure: Box<RuleFailure>| vec![Diagnostic::error(failure.to_string())];
        // Made again, it has the same names.
        let make = Make { function: f.name_str(), options: &options };
        let names = make.derivatives(&mut before.clone()).map_err(error)?;
        let args = RuleArgs::Types(types);
        let tested = check_derivatives(before, after, f.name_str(), &names, &args, &options);
        self.tally.add(pass, tested.map_err(error)?.agreement());
        Ok(())
    }
}

impl Observer for Check {
    fn name(&self) -> &'static str {
        "the check by running"
    }

    fn schedule(&self) -> Schedule {
        // A function is run together with those that it calls.
        Schedule::WithModule
    }

    fn needs_valid(&self) -> bool {
        true
    }

    fn begin(&self, _: &Module, pipeline: &Pipeline, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        self.tally.begin(pipeline);
        Ok(())
    }

    fn end(&self, _: &Module, log: &mut Log) -> Result<(), Vec<Diagnostic>> {
        self.tally.tell(&self.config, log)
    }

    fn after(&self, execution: &Execution<'_>, log: &mut Log) -> Result<(), Vec<Diagnostic>> {
        if !execution.changed {
            return Ok(());
        }
        if let (Unit::Module(before), Some(after)) = (execution.before, execution.module) {
            self.derivatives(execution.pass_run.pass, before, after)?;
        }
        let pass = execution.pass_run.pass;
        self.tally.changed(pass);
        match (execution.before, execution.module) {
            (Unit::Function(f), Some(after)) => {
                let mut before = after.clone();
                let id = before.find(f.name()).expect("a function pass keeps the function");
                before.set(id, f.clone()).expect("it has the same name");
                self.compare(pass, &before, after, f, log)
            }
            (Unit::Module(before), Some(after)) => before
                .functions()
                .filter(|f| after.find(f.name()).is_some())
                .try_for_each(|f| self.compare(pass, before, after, f, log)),
            (_, None) => Err(vec![Diagnostic::error("there is no module to run the function in")]),
        }
    }
}

/// The agreement of the runs before and after each pass.
#[derive(Debug, Default)]
struct Tally(Mutex<Vec<Row>>);

#[derive(Clone, Debug)]
struct Row {
    pass: String,
    changed: bool,
    runs: Agreement,
}

impl Clone for Tally {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Tally {
    fn begin(&self, pipeline: &Pipeline) {
        let row =
            |pass: &&PassStep| Row { pass: pass.to_string(), changed: false, runs: <_>::default() };
        *self.rows() = pipeline.passes().iter().map(row).collect();
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Vec<Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, pass: &PassStep) {
        self.rows()[pass.position()].changed = true;
    }

    fn add(&self, pass: &PassStep, runs: Agreement) {
        self.rows()[pass.position()].runs.add(runs);
    }

    /// Prints what is known of each pass that changed something, and of all of them.
    fn tell(&self, config: &CompareConfig, log: &mut Log) -> Result<(), Vec<Diagnostic>> {
        let rows = self.rows().clone();
        let (mut total, mut silent) = (Agreement::default(), Vec::new());
        let width = rows.iter().map(|row| row.pass.chars().count()).max().unwrap_or(0).max(5);
        let mut text = String::from("checked by running:\n");
        for Row { pass, changed, runs } in &rows {
            total.add(*runs);
            let what = match (changed, runs.inputs()) {
                (false, _) => "changed nothing".to_owned(),
                (true, 0) => "changed what cannot be run by itself".to_owned(),
                _ => runs.to_string(),
            };
            let _ = writeln!(text, "  {pass:width$}  {what}");
            if runs.says_nothing() {
                silent.push(format!("`{pass}`"));
            }
        }
        if rows.len() > 1 {
            let _ = writeln!(text, "  {:width$}  {total}", "total");
        }
        log.print(&text);
        if silent.is_empty() {
            return Ok(());
        }
        let limits = config.limits;
        let fuel = limits.fuel.map_or("any number of".to_owned(), |fuel| fuel.to_string());
        let help = format!(
            "a run before or after a pass is inconclusive when it takes more than {fuel} \
             instructions, {} nested calls or {} MiB: check functions that do less",
            limits.depth,
            limits.memory >> 20
        );
        if total.says_nothing() {
            let message = format!("the check says nothing of what was changed: {total}");
            return Err(vec![Diagnostic::error(message).help(help)]);
        }
        let message = format!("the check says nothing of {}", silent.join(", "));
        log.warn(Diagnostic::warning(message).help(help));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use regraft_dialects::arith;
    use regraft_ir::{Cursor, render_all};
    use regraft_passes::{
        FunctionPass, ModulePass, OptionDef, PassContext, PassRegistry, PassResult, Pipeline,
        RunOptions, run_pipeline,
    };
    use regraft_syntax::{parse_module, parse_module_into};

    use super::*;

    /// Swaps the operands of subtractions, which is wrong.
    #[derive(Default)]
    struct SwapSub;

    impl FunctionPass for SwapSub {
        const NAME: &'static str = "swap-sub";

        fn run(&mut self, f: &mut Function, _: &mut PassContext<'_>) -> PassResult {
            let mut at = Cursor::new(f);
            while let Some(v) = at.next() {
                if let Some([x, y]) = at.matches(v, arith::SUB) {
                    at.replace(v, arith::sub(y, x));
                }
            }
            Ok(())
        }
    }

    #[test]
    fn the_pass_that_changes_the_meaning_is_blamed() {
        let text = "func @f(%1: i64) -> i64 {\n^1:\n  %2: i64 = call @g(%1)\n  return %2\n}\n\n\
            func @g(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.sub %1, 3\n  return %2\n}\n";
        let mut module = parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
        let mut registry = PassRegistry::standard();
        registry.add::<SwapSub>();
        let pipeline = Pipeline::parse(&registry, "fold, cse, swap-sub, dce").unwrap();
        let options = RunOptions::default().observe(Check::new(20));
        let failure = run_pipeline(&mut module, &pipeline, &options).unwrap_err();
        assert_eq!((failure.pass(), failure.function()), (Some("swap-sub"), Some("g")));
        let right = Pipeline::parse(&registry, "fold, cse, profile, expand, dce").unwrap();
        run_pipeline(&mut module, &right, &options).unwrap();
    }

    /// Says that the derivative of everything is zero.
    #[derive(Default)]
    struct Zero;

    impl ModulePass for Zero {
        const NAME: &'static str = "forward-diff";
        const OPTIONS: &'static [OptionDef] = &[
            OptionDef::int("width", 1, ""),
            OptionDef::text("wrt", "", ""),
            OptionDef::text("function", "", ""),
        ];

        fn run(&mut self, module: &mut Module, _: &mut PassContext<'_>) -> PassResult {
            let text = "func @f.jvp(%1: f64, %2: f64) -> tuple<f64, f64> {\n^1:\n  \
                %3: f64 = math.sin %1\n  %4: tuple<f64, f64> = core.tuple %3, 0.0\n  \
                return %4\n}\n";
            parse_module_into(module, "f.ir", text).unwrap();
            Ok(())
        }
    }

    #[test]
    fn derivatives_that_a_pass_adds_are_tested() {
        let text = "func @f(%1: f64) -> f64 {\n^1:\n  %2: f64 = math.sin %1\n  return %2\n}\n";
        let run = |registry: &PassRegistry, pipeline: &str| {
            let mut module = parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
            let pipeline = Pipeline::parse(registry, pipeline).unwrap();
            run_pipeline(&mut module, &pipeline, &RunOptions::default().observe(Check::new(20)))
        };
        let mut registry = PassRegistry::standard();
        registry.add_module::<Zero>();
        let failure = run(&registry, "fold, forward-diff").unwrap_err();
        assert_eq!(failure.pass(), Some("forward-diff"));
        let report = render_all(failure.diagnostics(), false);
        assert!(report.contains("by differences it is"), "{report}");
        let right = regraft_ad::registry();
        run(&right, "O1, forward-diff{width=3}, reverse-diff, O2").unwrap();
        run(&right, "reverse-diff{plan=naive, wrt=\"1\"}, reverse-diff, dce").unwrap();
    }

    /// A loop of a billion trips, then `x - y`.
    const LONG: &str = "\
func @f(%1: i64, %2: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.add %3, 1
  %5: bool = arith.lt %4, 1000000000
  br %5, ^2(%4), ^3
^3:
  %6: i64 = arith.sub %1, %2
  return %6
}
";

    #[test]
    fn a_check_that_knows_nothing_fails_and_says_so() {
        let mut registry = PassRegistry::standard();
        registry.add::<SwapSub>();
        let mut module = parse_module(&regraft_dialects::context(), "f.ir", LONG).unwrap();
        let pipeline = Pipeline::parse(&registry, "swap-sub, dce").unwrap();
        let options = RunOptions::default().observe(Check::new(20));
        let failure = run_pipeline(&mut module, &pipeline, &options).unwrap_err();
        assert_eq!(failure.pass(), None);
        let message = failure.diagnostics()[0].message();
        let want =
            "the check says nothing of what was changed: 20 inputs: 0 agreed, 20 inconclusive";
        assert_eq!(message, want);
        let help = failure.diagnostics()[0].help_text().unwrap();
        assert!(
            help.contains("more than 50000 instructions, 1000 nested calls or 16 MiB"),
            "{help}"
        );
        let table = "checked by running:\n  swap-sub  20 inputs: 0 agreed, 20 inconclusive\n  \
            dce       changed nothing\n  total     20 inputs: 0 agreed, 20 inconclusive\n";
        assert_eq!(failure.report().text, table);
    }

    #[test]
    fn a_check_tells_of_each_pass_how_many_inputs_were_conclusive() {
        let short = "func @g(%1: i64) -> i64 {\n^1:\n  %2: i64 = arith.add %1, %1\n  \
            %3: i64 = arith.mul %1, %1\n  return %2\n}\n";
        let mut registry = PassRegistry::standard();
        registry.add::<SwapSub>();
        let text = format!("{LONG}\n{short}");
        let mut module = parse_module(&regraft_dialects::context(), "f.ir", &text).unwrap();
        let pipeline = Pipeline::parse(&registry, "dce, swap-sub").unwrap();
        let options = RunOptions::default().observe(Check::new(7));
        let report = run_pipeline(&mut module, &pipeline, &options).unwrap();
        let table = "checked by running:\n  dce       7 inputs: 7 agreed\n  \
            swap-sub  7 inputs: 0 agreed, 7 inconclusive\n  \
            total     14 inputs: 7 agreed, 7 inconclusive\n";
        assert_eq!(report.text, table);
        assert_eq!(report.warnings[0].message(), "the check says nothing of `swap-sub`");
    }
}
