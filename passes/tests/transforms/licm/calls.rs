//! Calls without effects.

use crate::{parse, verify};

/// Checks what a pipeline makes of the first function of a module.
#[track_caller]
fn check_pipeline(pipeline: &str, before: &str, after: &str) {
    let mut module = parse(before);
    let steps =
        regraft_passes::Pipeline::parse(&regraft_passes::PassRegistry::standard(), pipeline)
            .expect("the pipeline is right");
    let options = regraft_passes::RunOptions::default();
    regraft_passes::run_pipeline(&mut module, &steps, &options).expect("it runs");
    verify(&module);
    let first = module.functions().next().expect("there is one").to_string();
    assert_eq!(first, after);
}

const CALLEE: &str = "func @sum(%1: array<i64, 1>, %2: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%3: i64, %4: i64):
  %5: bool = arith.lt %3, %2
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %3, 1
  %7: i64 = mem.load %1, %6 {inbounds=true}
  %8: i64 = arith.add %4, %7
  br ^2(%6, %8)
^4:
  return %4
}
";

#[test]
fn a_call_without_effects_leaves_a_loop_that_does_not_write_what_it_reads() {
    let caller = "func @f(%1: array<i64, 1>, %2: array<f64, 1>, %3: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%4: i64, %5: i64):
  %6: i64 = call @sum(%1, %3)
  %7: unit = mem.store %2, 1.0, 1
  %8: i64 = arith.add %5, %6
  %9: i64 = arith.add %4, 1
  %10: bool = arith.lt %9, %3
  br %10, ^2(%9, %8), ^3
^3:
  return %8
}
";
    let line = "  %6: i64 = call @sum(%1, %3)\n";
    let after =
        caller.replace(line, "").replace("  br ^2(0, 0)\n", &format!("{line}  br ^2(0, 0)\n"));
    check_pipeline("licm", &format!("{caller}{CALLEE}"), &after);
    // Of the arrays, the second may be the first.
    let caller = caller.replace("array<f64, 1>", "array<i64, 1>").replace("%2, 1.0", "%2, 1");
    check_pipeline("licm", &format!("{caller}{CALLEE}"), &caller);
}

#[test]
fn calls_without_effects_are_merged_and_dropped() {
    let caller = "func @f(%1: array<i64, 1>, %2: i64) -> i64 {
^1:
  %3: i64 = call @sum(%1, %2)
  %4: i64 = call @sum(%1, %2)
  %5: i64 = call @sum(%1, 5)
  %6: i64 = arith.add %3, %4
  return %6
}
";
    let after = caller
        .replace("  %4: i64 = call @sum(%1, %2)\n  %5: i64 = call @sum(%1, 5)\n", "")
        .replace("%3, %4", "%3, %3");
    check_pipeline("gvn, dce", &format!("{caller}{CALLEE}"), &after);
}
