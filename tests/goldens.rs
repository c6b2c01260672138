//! Each pass on a program that shows what it does: the golden is the diff.

use regraft::testing::{assert_ir_snapshot, check_pass};

fn example(name: &str) -> String {
    let path = format!("{}/examples/ir/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn fold() {
    assert_ir_snapshot!(check_pass(
        "fold",
        "
func @f(%1: i64, %2: f64) -> f64 {
^1:
  %3: i64 = arith.mul 6, 7
  %4: i64 = arith.sub %3, 42
  %5: i64 = arith.add %1, %4
  %6: bool = arith.eq %5, %1
  %7: f64 = arith.add %2, 0.0
  %8: i64 = arith.div 1, %4
  %9: f64 = core.select %6, %7, %2
  return %9
}
"
    ));
}

#[test]
fn dce() {
    assert_ir_snapshot!(check_pass(
        "dce",
        "
func @f(%1: i64, %2: array<f64, 1>) -> i64 {
^1:
  %3: i64 = arith.add %1, 1
  %4: i64 = arith.mul %3, %3
  %5: i64 = arith.div 10, %1
  %6: unit = mem.store %2, 1.0, 1
  br ^2(0, %1)
^2(%7: i64, %8: i64):
  %9: i64 = arith.add %8, 1
  %10: bool = arith.lt %7, %1
  br %10, ^3, ^4
^3:
  %11: i64 = arith.add %7, 1
  br ^2(%11, %9)
^4:
  return %7
}
"
    ));
}

#[test]
fn cse() {
    assert_ir_snapshot!(check_pass(
        "cse",
        "
func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, %2
  %4: i64 = arith.add %2, %1
  %5: bool = arith.lt %3, %4
  br %5, ^2, ^3
^2:
  %6: i64 = arith.add %1, %2
  %7: i64 = arith.mul %6, 3
  return %7
^3:
  %8: i64 = arith.mul %3, 3
  return %8
}
"
    ));
}

#[test]
fn cse_within_blocks() {
    assert_ir_snapshot!(check_pass(
        "cse{scope=local}",
        "
func @f(%1: i64, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %1, %2
  br ^2
^2:
  %4: i64 = arith.add %1, %2
  %5: i64 = arith.add %1, %2
  %6: i64 = arith.mul %4, %5
  %7: i64 = arith.sub %6, %3
  return %7
}
"
    ));
}

#[test]
fn simplify_cfg_on_foo_bang() {
    assert_ir_snapshot!(check_pass("simplify-cfg", &example("foo_bang.ir")));
}

#[test]
fn merge_returns() {
    assert_ir_snapshot!(check_pass(
        "merge-returns",
        "
func @max(%1: i64, %2: i64) -> i64 {
^1:
  %3: bool = arith.lt %1, %2
  br %3, ^2, ^3
^2:
  return %2
^3:
  return %1
}
"
    ));
}

#[test]
fn expand_on_pow() {
    assert_ir_snapshot!(check_pass("expand", &example("pow.ir")));
}

#[test]
fn prune_after_expand_on_pow() {
    assert_ir_snapshot!(check_pass("expand, prune", &example("pow.ir")));
}

#[test]
fn renumber() {
    assert_ir_snapshot!(check_pass(
        "renumber",
        "
func @f(%4: i64) -> i64 {
^3:
  %9: i64 = arith.add %4, 1
  br ^7(%9)
^7(%2: i64):
  %sum: i64 = arith.add %2, %4
  return %sum
}
"
    ));
}

#[test]
fn profile_on_nested() {
    assert_ir_snapshot!(check_pass("profile", &example("nested.ir")));
}

#[test]
fn foo_bang_through_a_whole_pipeline() {
    let pipeline = "fix(fold, cse, simplify-cfg, dce)";
    assert_ir_snapshot!(check_pass(pipeline, &example("foo_bang.ir")));
}
