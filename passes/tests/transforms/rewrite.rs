//! `rewrite` and `rewrite!`: which rules are used, and that it ends.

use regraft_ir::Module;
use regraft_passes::{PassRegistry, Pipeline, RunOptions, guarded, rewrite, run_pipeline};

fn module(body: &str) -> Module {
    let text = format!("func @f(%1: i64, %2: i64) -> i64 {{\n^1:\n{body}\n}}");
    regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", &text).unwrap()
}

fn run(body: &str, pipeline: &Pipeline) -> Result<String, String> {
    let mut module = module(body);
    match run_pipeline(&mut module, pipeline, &RunOptions::default()) {
        Ok(_) => Ok(module.to_string()),
        Err(stopped) => Err(stopped.to_string()),
    }
}

fn parsed(text: &str) -> Pipeline {
    Pipeline::parse(&PassRegistry::standard(), text).unwrap()
}

const BODY: &str = "  %3: i64 = arith.mul %1, 2
  %4: i64 = arith.neg %3
  %5: i64 = arith.neg %4
  return %5";

#[test]
fn a_file_of_rules_takes_the_place_of_those_that_there_are() {
    let folder = std::env::temp_dir().join(format!("regraft-rewrite-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mine.rules");
    std::fs::write(&file, "rule mine exact: arith.mul ?x, 2 => arith.add ?x, ?x\n").unwrap();
    let with_file = parsed(&format!("rewrite{{rules={:?}}}", file.to_str().unwrap()));
    let mine = run(BODY, &with_file).unwrap();
    assert!(mine.contains("arith.add %1, %1") && mine.contains("arith.neg %4"), "{mine}");
    let standard = run(BODY, &parsed("rewrite")).unwrap();
    assert!(standard.contains("arith.add %1, %1") && !standard.contains("neg"), "{standard}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let error = run(BODY, &parsed("rewrite{rules=\"no/such.rules\"}")).unwrap_err();
    assert!(error.contains("cannot read the rules in `no/such.rules`"), "{error}");
}

#[test]
fn rules_that_lead_in_a_circle_at_equal_cost_come_to_an_end() {
    let circle = rewrite!("circle":
        arith.lt ?a, ?b => arith.gt ?b, ?a;
        arith.gt ?a, ?b => arith.lt ?b, ?a
    );
    let body = "  %3: bool = arith.lt %1, %2\n  %4: i64 = core.select %3, %1, %2\n  return %4";
    let text = run(body, &circle.into()).unwrap();
    assert!(text.contains("arith.lt %1, %2") || text.contains("arith.gt %2, %1"), "{text}");
}

#[test]
fn a_rule_that_costs_more_is_not_used() {
    let dearer = rewrite!("dearer": arith.add ?a, ?a => arith.mul ?a, 2);
    let text = run("  %3: i64 = arith.add %1, %1\n  return %3", &dearer.into()).unwrap();
    assert!(text.contains("arith.add %1, %1"), "{text}");
}

#[test]
fn conditions_and_sets_can_be_named_in_rust() {
    let rules = rewrite!("powers" fast: math.pow ?a, 1.0 => ?a; arith.max ?a, ?b => ?a if positive ?a, nonpositive ?b);
    let body = "  %3: i64 = arith.max %1, 1\n  %4: i64 = arith.min %2, 0
  %5: i64 = arith.max %3, %4\n  return %5";
    let text = run(body, &rules.into()).unwrap();
    assert!(text.contains("return %3"), "{text}");
}

#[test]
fn a_rule_in_rust_that_cannot_be_read_is_shown_where_it_is_made() {
    let caught = guarded(|| rewrite!("wrong": arith.mul ?x 2 => ?x)).unwrap_err();
    assert!(caught.message.contains("rewrite!(\"wrong\")"), "{}", caught.message);
}

#[test]
fn an_op_that_the_dialects_of_the_function_do_not_have_is_an_error_of_the_pass() {
    let error = run(BODY, &rewrite!("unknown": arith.mull ?x, 2 => ?x).into()).unwrap_err();
    assert!(error.contains("there is no op `arith.mull`"), "{error}");
}
