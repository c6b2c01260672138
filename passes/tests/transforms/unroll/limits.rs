//! What stays as it is.

use crate::{check_text, parse, run_text};

#[test]
fn large_loops_stay() {
    // 17 times through the header, and 64 copies of 4 instructions.
    let text = "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, %1)
^2(%2: i64, %3: i64):
  %4: bool = arith.ge %2, 16
  br %4, ^4, ^3
^3:
  %5: i64 = arith.mul %3, %3
  %6: i64 = arith.add %2, 1
  br ^2(%6, %5)
^4:
  return %3
}
";
    check_text("unroll", text, text);
    check_text("unroll{factor=64, size=255}", text, text);
}

#[test]
fn an_irreducible_region_is_not_copied() {
    let text = "func @f(%1: bool) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  br %1, ^3, ^4
^3:
  %3: unit = core.print 3
  br %1, ^4, ^5
^4:
  %4: unit = core.print 4
  br %1, ^3, ^5
^5:
  %5: i64 = arith.add %2, 1
  %6: bool = arith.lt %5, 3
  br %6, ^2(%5), ^6
^6:
  return %2
}
";
    check_text("unroll{factor=4, any-count}", text, text);
}

#[test]
fn edges_that_lost_arguments_are_still_found() {
    // The exit moves within its terminator when `dce` drops the second parameter of ^2.
    let text = "func @f(%1: array<f64, 1>, %2: i64) -> i64 {
^1:
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: f64 = mem.load %1, %3
  %6: bool = arith.le 0, %2
  br %6, ^2(0, 0.0), ^3
^3:
  return 0
}
";
    let mut module = parse(text);
    run_text("loop-simplify, dce, unroll{factor=3}", &mut module);
    // A condition that never changes: the exit is taken at once, or never.
    assert!(module.to_string().contains("arith.ge 0, 3"), "{module}");
}
