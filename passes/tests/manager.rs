//! Promises of the manager: failures are named and undone, results do not depend on threads,
//! repetition ends by the epochs, analyses are never stale.

mod support;

use std::sync::{Arc, Mutex};

use regraft_ir::{Function, Module};
use regraft_passes::{
    Analyses, DumpFolder, Execution, FailureKind, Log, NamedPipeline, Observer, Pipeline,
    PrintAfter, PrintWhat, Report, RunOptions, Schedule, StopAfter, Unit, diff_modules,
    reproducer_pipeline, run_pipeline,
};
use support::{Density, InstCount, many_functions, module, pipeline, registry};

const DOUBLE: &str = "func @double(%1: i64) -> i64 {
^1:
  %2: i64 = arith.mul %1, 2
  %3: i64 = arith.sub %2, 5
  return %3
}
";

fn run(module: &mut Module, text: &str) -> Report {
    run_pipeline(module, &pipeline(text), &RunOptions::default())
        .unwrap_or_else(|failure| panic!("{failure:?}"))
}

#[test]
fn a_pass_rewrites_and_its_diff_shows_just_that() {
    let mut m = module(DOUBLE);
    let options = RunOptions::default().observe(PrintAfter::new(PrintWhat::Diff));
    let report = run_pipeline(&mut m, &pipeline("mul-to-add, liar"), &options).expect("it runs");
    assert_eq!(report.count("rewritten"), 1_000_001);
    assert_eq!(
        report.text,
        "# after mul-to-add on @double
@@ -1,6 +1,6 @@
 func @double(%1: i64) -> i64 {
 ^1:
-  %2: i64 = arith.mul %1, 2
-  %3: i64 = arith.sub %2, 5
+  %4: i64 = arith.add %1, %1
+  %3: i64 = arith.sub %4, 5
   return %3
 }
"
    );
}

#[test]
fn whether_something_changed_comes_from_the_epochs() {
    let mut m = module(DOUBLE);
    let report = run(&mut m, "liar, mul-to-add, mul-to-add");
    let changed: Vec<u64> = report.passes.iter().map(|pass| pass.changed).collect();
    assert_eq!(changed, [0, 1, 0]);
}

#[test]
fn fix_repeats_until_nothing_changes() {
    // 5, 4, 3, 2, 1 take a run each, and a sixth one sees that nothing is left.
    let mut m = module(DOUBLE);
    let report = run(&mut m, "fix(liar, count-down)");
    assert_eq!(report.count("runs"), 6);
    assert_eq!(report.unsettled, 0);
    let mut m = module(DOUBLE);
    let report = run(&mut m, "fix{max=3}(count-down)");
    assert_eq!((report.count("runs"), report.unsettled), (3, 1));
    let message = "`fix` stopped at its limit of 3 rounds on @double";
    assert_eq!(report.warnings[0].message(), message);
    assert_eq!(report.warnings[0].notes(), ["the last round was still changed by `count-down`"]);
    // A named pipeline says itself how much is enough.
    let mut registry = registry();
    let (name, text) = ("Twice", "fix{max=2}(count-down)");
    registry.add_pipeline(NamedPipeline { name, text, doc: "" });
    let mut m = module(DOUBLE);
    let pipeline = Pipeline::parse(&registry, "Twice").unwrap();
    let report = run_pipeline(&mut m, &pipeline, &RunOptions::default()).unwrap();
    assert_eq!((report.unsettled, report.warnings.len()), (1, 0));
}

#[test]
fn fix_over_module_passes_repeats_the_whole() {
    let mut m = module(DOUBLE);
    let report = run(&mut m, "fix(add-function, count-down)");
    // The first round counts both down by one; five rounds settle them, the sixth sees it.
    assert_eq!(report.count("runs"), 12);
    assert_eq!(report.passes[0].calls, 6);
    assert_eq!(m.ids().len(), 2);
}

#[test]
fn a_panic_is_an_error_that_names_pass_function_and_message() {
    let mut m = many_functions(5);
    let before = m.to_string();
    let text = "fix{max=4}(liar, panics{at=f3}, mul-to-add), dce";
    let failure =
        run_pipeline(&mut m, &pipeline(text), &RunOptions::default()).expect_err("it panics");
    assert_eq!(failure.kind(), FailureKind::Panic);
    assert_eq!((failure.pass(), failure.function()), (Some("panics{at=f3}"), Some("f3")));
    assert_eq!(failure.to_string(), "pass `panics{at=f3}` panicked on @f3: cannot go on with f3");
    assert!(failure.diagnostics()[0].notes()[0].contains("support/mod.rs:"), "{failure:?}");
    assert_eq!(
        reproducer_pipeline(failure.reproducer()).as_deref(),
        Some("panics{at=f3}, mul-to-add, fix{max=3}(liar, panics{at=f3}, mul-to-add), dce")
    );
    let original = module(&before);
    let original = original.function("f3").expect("it is there");
    let restored = m.function("f3").expect("it is there");
    assert_eq!(restored.to_string(), original.to_string(), "it is what it was before the pass");
}

#[test]
fn an_error_of_a_pass_undoes_what_it_did() {
    let mut m = module(DOUBLE);
    let failure = run_pipeline(&mut m, &pipeline("fails"), &RunOptions::default())
        .expect_err("it always fails");
    assert_eq!(failure.kind(), FailureKind::Pass);
    let message = "pass `fails` failed on @double: `arith.mul` is not supported";
    assert_eq!(failure.to_string(), message);
    assert_eq!(m.to_string(), module(DOUBLE).to_string());
}

#[test]
fn what_the_verifier_refuses_has_a_reproducer_that_reproduces() {
    let folder = tempfile_folder("reproducer");
    let mut m = many_functions(3);
    let options = RunOptions::default().reproducer_folder(&folder);
    let failure = run_pipeline(&mut m, &pipeline("mul-to-add, breaks{at=f2}, liar"), &options)
        .expect_err("the verifier refuses it");
    assert_eq!(failure.kind(), FailureKind::Refused);
    assert_eq!((failure.pass(), failure.function()), (Some("breaks{at=f2}"), Some("f2")));
    assert!(failure.diagnostics().len() > 1, "the verifier says why: {failure:?}");

    let file = failure.reproducer_file().expect("it was written");
    let text = std::fs::read_to_string(file).expect("it can be read");
    assert_eq!(text, failure.reproducer());
    let rest = reproducer_pipeline(&text).expect("it says what to run");
    assert_eq!(rest, "breaks{at=f2}, liar");
    let mut again = module(&text);
    let same = run_pipeline(&mut again, &pipeline(&rest), &RunOptions::default())
        .expect_err("it fails again");
    assert_eq!(same.to_string(), failure.to_string());
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn an_invalid_module_is_the_fault_of_no_pass() {
    let mut m = module(DOUBLE);
    let f = m.function_mut("double").expect("it is there");
    let entry = f.entry().expect("it has one");
    f.remove_terminator(entry).expect("it has one");
    let failure = run_pipeline(&mut m, &pipeline("liar"), &RunOptions::default())
        .expect_err("the input is not valid");
    assert_eq!((failure.kind(), failure.pass()), (FailureKind::Input, None));
}

#[test]
fn a_function_pass_must_not_change_a_signature() {
    let mut m = module(DOUBLE);
    let failure = run_pipeline(&mut m, &pipeline("retype"), &RunOptions::default())
        .expect_err("the verifier refuses it");
    let why = failure.diagnostics()[1].message();
    assert_eq!(
        why,
        "a pass over functions cannot change @double(i64) -> i64 into @double(i64, f64) -> i64"
    );
    assert_eq!(m.to_string(), module(DOUBLE).to_string());
}

#[test]
fn of_several_failures_the_first_in_module_order_is_told() {
    for threads in [1, 2, 4] {
        let mut m = many_functions(40);
        let options = RunOptions::default().threads(threads);
        let failure = run_pipeline(&mut m, &pipeline("panics"), &options).expect_err("all panic");
        assert_eq!(failure.function(), Some("f0"));
    }
}

#[test]
fn results_and_output_do_not_depend_on_threads() {
    let text = "liar, mul-to-add, fix(count-down, print), add-function, mul-to-add";
    let run = |options: RunOptions| {
        let mut m = many_functions(600);
        let options = options.observe(PrintAfter::new(PrintWhat::Diff));
        let report = run_pipeline(&mut m, &pipeline(text), &options).expect("it runs");
        (m.to_string(), report.text, report.passes.iter().map(|p| p.changed).collect::<Vec<_>>())
    };
    let sequential = run(RunOptions::default().threads(1));
    assert!(sequential.1.contains("# after count-down on @f599"));
    for threads in [2, 5] {
        assert_eq!(run(RunOptions::default().threads(threads)), sequential);
    }
    assert_eq!(run(RunOptions::default().observe(StopAfter::new(u64::MAX))), sequential);
}

#[test]
fn stopping_after_n_finds_the_execution_that_does_harm() {
    let text = "mul-to-add, liar, breaks{at=f4}, count-down";
    let stop_after = |n: u64| {
        let mut m = many_functions(9);
        let options = RunOptions::default().verify(false).observe(StopAfter::new(n));
        let report = run_pipeline(&mut m, &pipeline(text), &options).expect("it runs");
        (regraft_ir::verify_module(&m).is_ok(), report)
    };
    let (good, all) = stop_after(u64::MAX);
    assert!(!good && all.stopped.is_none());
    assert_eq!(all.executions(), 36);
    let (mut good, mut bad) = (0, all.executions());
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if stop_after(middle).0 { good = middle } else { bad = middle }
    }
    // Four functions of four passes each come first, and two passes on @f4.
    assert_eq!(bad, 4 * 4 + 3);
    let stopped = stop_after(bad).1.stopped.expect("it was stopped");
    assert_eq!(stopped.last.as_deref(), Some("breaks{at=f4} on @f4"));
    assert_eq!(stopped.next, "count-down on @f4");
}

#[test]
fn an_analysis_is_computed_again_only_if_what_it_reads_has_changed() {
    let mut m = module(DOUBLE);
    let report = run(&mut m, "asks, asks, liar, asks, mul-to-add, asks, add-function, asks");
    // `add-function` leaves @double alone, and its result stays; @extra is new.
    assert_eq!((report.analyses_computed, report.analyses_reused), (3, 3));
}

#[test]
fn what_calls_do_is_asked_again_when_a_module_pass_has_changed_it() {
    let mut m = module(
        "func @g(%1: array<i64, 1>, %2: ref<array<i64, 1>>) -> unit {
^1:
  return nothing
}
func @f(%1: ref<array<i64, 1>>) -> i64 {
^1:
  %2: array<i64, 1> = mem.fill 1, 3
  %3: unit = call @g(%2, %1)
  %4: array<i64, 1> = mem.ref_get %1
  %5: i64 = mem.load %2, 1
  %6: unit = mem.store %4, 7, 1
  %7: i64 = mem.load %2, 1
  %8: i64 = arith.sub %7, %5
  return %8
}
",
    );
    // By now %4 may be %2, and then the result is 6.
    run(&mut m, "print{aliases}, keep, gvn");
    let f = m.function("f").expect("it is there").to_string();
    assert_eq!(f.matches("mem.load").count(), 2, "{f}");
    // As long as @g keeps nothing, nobody else knows %2.
    let mut m = module(&m.to_string().replace("  %3: unit = mem.ref_set %2, %1\n", ""));
    run(&mut m, "print{aliases}, gvn");
    let f = m.function("f").expect("it is there").to_string();
    assert_eq!(f.matches("mem.load").count(), 1, "{f}");
}

#[test]
fn a_pass_without_effect_is_not_run_again_on_the_same_state() {
    let mut m = module(DOUBLE);
    let report =
        run(&mut m, "dce, sccp, dce, mul-to-add, dce, fix(dce, sccp), simplify-cfg{plain}");
    let calls: Vec<u64> = report.passes.iter().map(|pass| pass.calls).collect();
    assert_eq!(calls, [1, 1, 0, 1, 1, 0, 1, 1]);
    // What counts something is worth running for that.
    let report = run(&mut m, "liar, liar");
    assert_eq!(report.count("rewritten"), 2_000_000);
}

#[test]
fn an_analysis_made_of_others_is_valid_only_as_long_as_they_are() {
    let mut m = module(DOUBLE);
    let f: &mut Function = m.function_mut("double").expect("it is there");
    let mut analyses = Analyses::default();
    assert_eq!(analyses.get::<Density>(f).0, 2);
    let entry = f.entry().expect("it has one");
    // Instructions are no facet of `Density` itself, but of what it is computed from.
    let (x, one) = (f.param(entry, 0).expect("it has one"), f.constant_id(1_i64));
    f.push(entry, regraft_dialects::arith::add(x, one)).expect("it fits");
    assert_eq!(analyses.get::<Density>(f).0, 3);
    assert_eq!(analyses.get::<InstCount>(f).0, 3);
    assert_eq!((analyses.computed(), analyses.reused()), (4, 1));
}

#[test]
fn an_observer_can_be_shown_the_whole_module() {
    #[derive(Debug)]
    struct Whole(Arc<Mutex<Vec<usize>>>);
    impl Observer for Whole {
        fn name(&self) -> &'static str {
            "the test"
        }
        fn schedule(&self) -> Schedule {
            Schedule::WithModule
        }
        fn after(
            &self,
            execution: &Execution<'_>,
            _: &mut Log,
        ) -> Result<(), Vec<regraft_ir::Diagnostic>> {
            let module = execution.module.expect("it was asked for");
            let Unit::Function(f) = execution.after else { return Ok(()) };
            assert!(std::ptr::eq(module.function(f.name_str()).expect("it is there"), f));
            self.0.lock().expect("one thread").push(module.inst_count());
            Ok(())
        }
    }
    let seen = Arc::default();
    let mut m = many_functions(3);
    let options = RunOptions::default().observe(Whole(Arc::clone(&seen)));
    run_pipeline(&mut m, &pipeline("liar, mul-to-add"), &options).expect("it runs");
    assert_eq!(seen.lock().expect("one thread").len(), 6);
}

#[test]
fn states_are_written_into_a_folder() {
    let folder = tempfile_folder("states");
    let mut m = many_functions(2);
    let options = RunOptions::default().observe(DumpFolder::new(&folder));
    run_pipeline(&mut m, &pipeline("liar, mul-to-add, add-function"), &options).expect("it runs");
    for file in
        ["0000-input.ir", "f0/0002-mul-to-add.ir", "f1/0002-mul-to-add.ir", "0001-add-function.ir"]
    {
        let text = std::fs::read_to_string(folder.join(file)).expect("it was written");
        module(&text);
    }
    assert!(!folder.join("f0/0001-liar.ir").exists(), "nothing changed");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn a_large_function_that_is_mostly_dead_is_compacted() {
    let mut text = String::from("func @big(%1: i64) -> i64 {\n^1:\n");
    for i in 2..6000 {
        text.push_str(&format!("  %{i}: i64 = arith.mul %1, {i}\n"));
    }
    text.push_str("  return %1\n}\n");
    let mut m = module(&text);
    let options = RunOptions::default().observe(PrintAfter::new(PrintWhat::Diff));
    let report = run_pipeline(&mut m, &pipeline("dce"), &options).expect("it runs");
    let f = m.function("big").expect("it is there");
    assert_eq!((f.value_count(), f.value_capacity()), (1, 1));
    assert!(report.text.contains("\n-  %5999: i64 = arith.mul %1, 5999\n"), "the diff is right");
    assert!(report.text.ends_with("# @big was compacted: numbers are new from here on\n"));
}

#[test]
fn a_renumbered_function_has_a_small_diff() {
    let mut m =
        module("func @gap(%1: i64) -> i64 {\n^4:\n  %9: i64 = arith.add %1, 1\n  return %9\n}\n");
    let options = RunOptions::default().observe(PrintAfter::new(PrintWhat::Diff));
    let report = run_pipeline(&mut m, &pipeline("renumber"), &options).expect("it runs");
    assert!(report.text.starts_with("# after renumber on @gap (renumbered"), "{}", report.text);
    assert!(!report.text.contains("@@"), "no line differs under the new numbers: {}", report.text);
}

#[test]
fn modules_are_diffed_by_function() {
    let before = module(DOUBLE);
    let mut after = before.clone();
    run(&mut after, "add-function");
    let diff = diff_modules(&before, &after);
    assert!(diff.starts_with("--- nothing\n+++ @extra\n@@"), "{diff}");
    assert!(!diff.contains("\n-"), "{diff}");
    assert_eq!(diff_modules(&before, &before), "");
}

#[test]
fn a_maker_is_recorded_for_what_a_pass_makes() {
    let mut m = module(DOUBLE);
    run(&mut m, "mul-to-add");
    let f = m.function("double").expect("it is there");
    let origin = f.origin(f.value_by_number(4).expect("made by the pass")).expect("recorded");
    assert_eq!(f.ctx().str(origin.by), "mul-to-add");
    assert_eq!(f.origin(f.value_by_number(3).expect("it was there")), None);
}

#[test]
fn pages_come_from_the_doc_comment() {
    let passes = registry();
    let page = passes.find("print").expect("it is there").page();
    assert!(
        page.contains("}\na pass over functions, each on its own\n\nPrints each function"),
        "{page}"
    );
    assert!(page.contains("\noptions:\n") && page.contains("\n  loop-forest\n"), "{page}");
}

fn tempfile_folder(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("regraft-passes-{name}-{}", std::process::id()))
}

#[test]
fn an_observer_that_panics_is_an_error_too() {
    #[derive(Debug)]
    struct Fragile;
    impl Observer for Fragile {
        fn name(&self) -> &'static str {
            "the fragile one"
        }
        fn after(&self, _: &Execution<'_>, _: &mut Log) -> Result<(), Vec<regraft_ir::Diagnostic>> {
            panic!("too much")
        }
    }
    let mut m = module(DOUBLE);
    let options = RunOptions::default().observe(Fragile);
    let failure = run_pipeline(&mut m, &pipeline("mul-to-add"), &options).expect_err("it panics");
    let message = "the fragile one panicked on what `mul-to-add` left of @double";
    assert_eq!(failure.to_string(), message);
    assert_eq!(m.to_string(), module(DOUBLE).to_string());
}

#[test]
fn options_can_be_used_for_several_runs() {
    let options = RunOptions::default().observe(StopAfter::new(2));
    for _ in 0..2 {
        let mut m = many_functions(3);
        let report =
            run_pipeline(&mut m, &pipeline("liar, mul-to-add"), &options).expect("it runs");
        assert_eq!(report.executions(), 2);
    }
}
