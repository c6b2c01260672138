//! `loop-fuse`.

use regraft_passes::transforms::loop_fuse::LoopFuse;

use crate::{check, check_unchanged};

#[test]
fn loops_with_their_tests_first() {
    check::<LoopFuse>(
        "func @while(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^4(0)
^3:
  %6: i64 = arith.add %4, 1
  %7: unit = mem.store %1, 1.0, %6 {inbounds=true}
  br ^2(%6)
^4(%8: i64):
  %9: bool = arith.lt %8, %3
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  %11: f64 = mem.load %1, %10 {inbounds=true}
  %12: unit = mem.store %2, %11, %10 {inbounds=true}
  br ^4(%10)
^6:
  return nothing
}
",
        "func @while(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^6
^3:
  %6: i64 = arith.add %4, 1
  %7: unit = mem.store %1, 1.0, %6 {inbounds=true}
  %10: i64 = arith.add %4, 1
  %11: f64 = mem.load %1, %10 {inbounds=true}
  %12: unit = mem.store %2, %11, %10 {inbounds=true}
  br ^2(%6)
^6:
  return nothing
}
",
    );
}

#[test]
fn loops_with_their_tests_last() {
    check::<LoopFuse>(
        "func @rotated(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  br ^2(1, 0.0)
^2(%4: i64, %15: f64):
  %7: f64 = mem.load %1, %4 {inbounds=true}
  %14: f64 = arith.add %7, %15
  %6: i64 = arith.add %4, 1
  %5: bool = arith.le %6, 100
  br %5, ^2(%6, %14), ^3(%14)
^3(%16: f64):
  %17: i64 = arith.add 0, 1
  br ^4(%17)
^4(%8: i64):
  %11: f64 = mem.load %2, %8 {inbounds=true}
  %18: f64 = arith.mul %11, 2.0
  %12: unit = mem.store %2, %18, %8 {inbounds=true}
  %10: i64 = arith.add %8, 1
  %9: bool = arith.le %10, 100
  br %9, ^4(%10), ^6
^6:
  %20: f64 = mem.load %2, 1 {inbounds=true}
  %19: f64 = arith.add %16, %20
  return %19
}
",
        "func @rotated(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  %17: i64 = arith.add 0, 1
  br ^2(1, 0.0)
^2(%4: i64, %15: f64):
  %7: f64 = mem.load %1, %4 {inbounds=true}
  %14: f64 = arith.add %7, %15
  %6: i64 = arith.add %4, 1
  %11: f64 = mem.load %2, %4 {inbounds=true}
  %18: f64 = arith.mul %11, 2.0
  %12: unit = mem.store %2, %18, %4 {inbounds=true}
  %10: i64 = arith.add %4, 1
  %9: bool = arith.le %10, 100
  br %9, ^2(%6, %14), ^6
^6:
  %20: f64 = mem.load %2, 1 {inbounds=true}
  %19: f64 = arith.add %14, %20
  return %19
}
",
    );
}

#[test]
fn an_iteration_that_needs_a_later_one_stays_behind() {
    check_unchanged::<LoopFuse>(
        "func @ahead(%1: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^4(0)
^3:
  %6: i64 = arith.add %4, 1
  %7: unit = mem.store %1, 1.0, %6 {inbounds=true}
  br ^2(%6)
^4(%8: i64):
  %9: bool = arith.lt %8, %3
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  %13: i64 = arith.add %8, 2
  %11: f64 = mem.load %1, %13 {inbounds=true}
  %12: unit = mem.store %1, %11, %10 {inbounds=true}
  br ^4(%10)
^6:
  return nothing
}
",
    );
}

#[test]
fn an_iteration_that_needs_earlier_ones_may_come_at_once() {
    check::<LoopFuse>(
        "func @behind(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^4(0)
^3:
  %6: i64 = arith.add %4, 1
  %14: i64 = arith.add %4, 2
  %7: unit = mem.store %1, 1.0, %14 {inbounds=true}
  br ^2(%6)
^4(%8: i64):
  %9: bool = arith.lt %8, %3
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  %11: f64 = mem.load %1, %10 {inbounds=true}
  %12: unit = mem.store %2, %11, %10 {inbounds=true}
  br ^4(%10)
^6:
  return nothing
}
",
        "func @behind(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^6
^3:
  %6: i64 = arith.add %4, 1
  %14: i64 = arith.add %4, 2
  %7: unit = mem.store %1, 1.0, %14 {inbounds=true}
  %10: i64 = arith.add %4, 1
  %11: f64 = mem.load %1, %10 {inbounds=true}
  %12: unit = mem.store %2, %11, %10 {inbounds=true}
  br ^2(%6)
^6:
  return nothing
}
",
    );
}

#[test]
fn three_loops_become_one() {
    check::<LoopFuse>(
        "func @three(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^4(0, 1)
^3:
  %5: i64 = arith.add %2, 1
  %6: i64 = arith.add %3, %2
  br ^2(%5, %6)
^4(%7: i64, %8: i64):
  %9: bool = arith.lt %7, %1
  br %9, ^5, ^6(0, 7)
^5:
  %10: i64 = arith.add %7, 1
  %11: i64 = arith.mul %8, 3
  br ^4(%10, %11)
^6(%12: i64, %13: i64):
  %14: bool = arith.lt %12, %1
  br %14, ^7, ^8
^7:
  %15: i64 = arith.add %12, 1
  %16: i64 = arith.xor %13, %12
  %21: unit = core.print %16
  br ^6(%15, %16)
^8:
  %17: i64 = arith.add %3, %8
  %18: i64 = arith.add %17, %13
  return %18
}
",
        "func @three(%1: i64) -> i64 {
^1:
  br ^2(0, 0, 1, 7)
^2(%2: i64, %3: i64, %22: i64, %23: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^8
^3:
  %5: i64 = arith.add %2, 1
  %6: i64 = arith.add %3, %2
  %10: i64 = arith.add %2, 1
  %11: i64 = arith.mul %22, 3
  %15: i64 = arith.add %2, 1
  %16: i64 = arith.xor %23, %2
  %21: unit = core.print %16
  br ^2(%5, %6, %11, %16)
^8:
  %17: i64 = arith.add %3, %22
  %18: i64 = arith.add %17, %23
  return %18
}
",
    );
}

#[test]
fn other_counts_make_other_loops() {
    check_unchanged::<LoopFuse>(
        "func @counts(%1: i64, %2: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %1
  br %5, ^3, ^4(0)
^3:
  %6: i64 = arith.add %4, 1
  br ^2(%6)
^4(%8: i64):
  %9: bool = arith.lt %8, %2
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  br ^4(%10)
^6:
  return nothing
}
",
    );
}

#[test]
fn what_the_first_loop_computes_is_not_there_before_it_ends() {
    check_unchanged::<LoopFuse>(
        "func @sum_used(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%4: i64, %7: i64):
  %5: bool = arith.lt %4, %1
  br %5, ^3, ^4(0, 0)
^3:
  %6: i64 = arith.add %4, 1
  %11: i64 = arith.add %4, %7
  br ^2(%6, %11)
^4(%8: i64, %13: i64):
  %9: bool = arith.lt %8, %1
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  %12: i64 = arith.add %13, %7
  br ^4(%10, %12)
^6:
  return %13
}
",
    );
}

#[test]
fn an_error_comes_before_what_is_stored_after_it() {
    check_unchanged::<LoopFuse>(
        "func @traps(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^4(0)
^3:
  %6: i64 = arith.add %4, 1
  %7: f64 = mem.load %1, %6
  br ^2(%6)
^4(%8: i64):
  %9: bool = arith.lt %8, %3
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  %12: unit = mem.store %2, 0.0, %10 {inbounds=true}
  br ^4(%10)
^6:
  return nothing
}
",
    );
}

#[test]
fn output_keeps_its_order() {
    check_unchanged::<LoopFuse>(
        r#"func @prints(%3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^4(0)
^3:
  %6: i64 = arith.add %4, 1
  %7: unit = core.print %4
  br ^2(%6)
^4(%8: i64):
  %9: bool = arith.lt %8, %3
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %8, 1
  %12: unit = core.print "x"
  br ^4(%10)
^6:
  return nothing
}
"#,
    );
}
