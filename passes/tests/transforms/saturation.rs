//! `e-graph{engine=egg}`: limits, contradictions, determinism.

use regraft_ir::Module;
use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};

use super::parse;

const TEXT: &str = "
func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.mul %1, 0
  %4: i64 = arith.add %3, %2
  %5: i64 = arith.mul %4, 5
  %6: i64 = arith.mul %4, 7
  %7: i64 = arith.add %5, %6
  return %7
}
";

fn run(module: &mut Module, pipeline: &str) -> u64 {
    let pipeline = Pipeline::parse(&PassRegistry::standard(), pipeline).unwrap();
    let report = run_pipeline(module, &pipeline, &RunOptions::default()).unwrap();
    report.count("functions with contradictory rules")
}

#[test]
fn a_function_stays_as_it_is_where_rules_contradict_each_other() {
    let file = std::env::temp_dir().join(format!("regraft-wrong-{}.rules", std::process::id()));
    let wrong = "rule wrong exact: arith.add ?a, (arith.neg ?a) => 1  if int ?a\n";
    std::fs::write(&file, wrong).unwrap();
    let mut module = parse(
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.neg %1
  %3: i64 = arith.add %1, %2
  return %3
}
",
    );
    let before = module.to_string();
    let pipeline = format!("e-graph{{engine=egg, rules={:?}}}", file.to_str().unwrap());
    assert_eq!((run(&mut module, &pipeline), module.to_string()), (1, before));
    std::fs::remove_file(file).unwrap();
}

#[test]
fn the_result_does_not_depend_on_what_the_context_has_seen_before() {
    let results = [
        "",
        "func @g() -> i64 {\n^1:\n  %1: i64 = arith.add 12, 7\n  %2: i64 = arith.add %1, 5\n  return %2\n}\n",
    ]
    .map(|before| {
        let mut module = parse(&format!("{before}{TEXT}"));
        run(&mut module, "e-graph{engine=egg}");
        module.function("f").unwrap().to_string()
    });
    assert_eq!(results[0], results[1]);
    assert!(results[0].contains("arith.mul %2, 12"), "{}", results[0]);
}
