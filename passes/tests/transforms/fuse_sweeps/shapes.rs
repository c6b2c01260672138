//! Loops in loops, and branches around loops.

use regraft_passes::transforms::fuse_sweeps::FuseSweeps;

use crate::{check, check_unchanged};

#[test]
fn nests_are_fused_from_the_outside_inwards() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 2>, %2: array<f64, 2>) -> unit {
^1:
  %3: i64 = mem.size %1, 1
  %4: i64 = mem.size %1, 2
  %5: array<f64, 2> = mem.alloc %3, %4
  br ^2(0)
^2(%6: i64):
  %7: bool = arith.lt %6, %4
  br %7, ^3, ^7
^3:
  %8: i64 = arith.add %6, 1
  br ^4(0)
^4(%9: i64):
  %10: bool = arith.lt %9, %3
  br %10, ^5, ^6
^5:
  %11: i64 = arith.add %9, 1
  %12: f64 = mem.load %1, %11, %8 {inbounds=true}
  %13: f64 = math.exp %12
  mem.store %5, %13, %11, %8 {inbounds=true}
  br ^4(%11)
^6:
  br ^2(%8)
^7:
  br ^8(%4)
^8(%14: i64):
  %15: bool = arith.ge %14, 1
  br %15, ^9, ^13
^9:
  br ^10(%3)
^10(%16: i64):
  %17: bool = arith.ge %16, 1
  br %17, ^11, ^12
^11:
  %18: f64 = mem.load %5, %16, %14 {inbounds=true}
  %19: f64 = mem.load %2, %16, %14 {inbounds=true}
  %20: f64 = arith.add %18, %19
  mem.store %2, %20, %16, %14 {inbounds=true}
  %21: i64 = arith.sub %16, 1
  br ^10(%21)
^12:
  %22: i64 = arith.sub %14, 1
  br ^8(%22)
^13:
  return nothing
}
",
        "func @f(%1: array<f64, 2>, %2: array<f64, 2>) -> unit {
^1:
  %3: i64 = mem.size %1, 1
  %4: i64 = mem.size %1, 2
  br ^2(0)
^2(%6: i64):
  %25: i64 = arith.add %6, 1
  %7: bool = arith.lt %6, %4
  br %7, ^3, ^13
^3:
  br ^4(0)
^4(%9: i64):
  %26: i64 = arith.add %9, 1
  %10: bool = arith.lt %9, %3
  br %10, ^5, ^12
^5:
  %12: f64 = mem.load %1, %26, %25 {inbounds=true}
  %13: f64 = math.exp %12
  %19: f64 = mem.load %2, %26, %25 {inbounds=true}
  %20: f64 = arith.add %13, %19
  %24: unit = mem.store %2, %20, %26, %25 {inbounds=true}
  br ^4(%26)
^12:
  br ^2(%25)
^13:
  return nothing
}
",
    );
}

#[test]
fn a_branch_around_a_loop_that_would_not_run_is_no_obstacle() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %1
  %4: array<f64, 1> = mem.alloc %3
  br ^2(0)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %5, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = math.exp %8
  mem.store %4, %9, %7 {inbounds=true}
  br ^2(%7)
^4:
  %10: bool = arith.ge 0, %3
  br %10, ^7(0.0), ^5(0, -0.0)
^5(%11: i64, %12: f64):
  %13: bool = arith.ge %11, %3
  br %13, ^7(%12), ^6
^6:
  %14: i64 = arith.add %11, 1
  %15: f64 = mem.load %4, %14 {inbounds=true}
  %16: f64 = arith.add %12, %15
  br ^5(%14, %16)
^7(%17: f64):
  return %17
}
",
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %1
  %10: bool = arith.ge 0, %3
  br ^2(0, -0.0)
^2(%5: i64, %20: f64):
  %6: bool = arith.lt %5, %3
  br %6, ^3, ^8
^3:
  %7: i64 = arith.add %5, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = math.exp %8
  %16: f64 = arith.add %20, %9
  br ^2(%7, %16)
^8:
  %19: f64 = core.select %10, 0.0, %20
  return %19
}
",
    );
}

#[test]
fn a_branch_around_a_loop_that_would_not_run_may_lead_over_other_blocks() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %1
  %4: array<f64, 1> = mem.alloc %3
  br ^2(0)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %5, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = math.exp %8
  mem.store %4, %9, %7 {inbounds=true}
  br ^2(%7)
^4:
  %10: bool = arith.ge 0, %3
  br %10, ^7(0.0), ^8
^8:
  %18: f64 = arith.neg 0.0
  br ^5(0, %18)
^5(%11: i64, %12: f64):
  %13: bool = arith.ge %11, %3
  br %13, ^9, ^6
^6:
  %14: i64 = arith.add %11, 1
  %15: f64 = mem.load %4, %14 {inbounds=true}
  %16: f64 = arith.add %12, %15
  br ^5(%14, %16)
^9:
  %19: f64 = arith.mul %12, 2.0
  br ^7(%19)
^7(%17: f64):
  return %17
}
",
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %1
  %10: bool = arith.ge 0, %3
  %18: f64 = arith.neg 0.0
  br ^2(0, %18)
^2(%5: i64, %22: f64):
  %6: bool = arith.lt %5, %3
  br %6, ^3, ^9
^3:
  %7: i64 = arith.add %5, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = math.exp %8
  %16: f64 = arith.add %22, %9
  br ^2(%7, %16)
^9:
  %19: f64 = arith.mul %22, 2.0
  %21: f64 = core.select %10, 0.0, %19
  return %21
}
",
    );
}

#[test]
fn a_branch_that_says_more_than_that_there_are_no_rounds_stays() {
    check_unchanged::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: i64) -> f64 {
^1:
  %3: i64 = mem.length %1
  %4: array<f64, 1> = mem.alloc %3
  br ^2(0)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %5, 1
  mem.store %4, 2.0, %7 {inbounds=true}
  br ^2(%7)
^4:
  %10: bool = arith.ge 1, %3
  br %10, ^7(0.0), ^5(0, -0.0)
^5(%11: i64, %12: f64):
  %13: bool = arith.ge %11, %3
  br %13, ^7(%12), ^6
^6:
  %14: i64 = arith.add %11, 1
  %15: f64 = mem.load %4, %14 {inbounds=true}
  %16: f64 = arith.add %12, %15
  br ^5(%14, %16)
^7(%17: f64):
  return %17
}
",
    );
}

#[test]
fn a_loop_that_goes_back_where_an_inner_one_is_left_gets_a_latch() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 2>, %2: array<f64, 2>) -> f64 {
^1:
  %3: i64 = mem.size %1, 1
  %4: i64 = mem.size %1, 2
  %5: array<f64, 2> = mem.alloc %3, %4
  br ^2(0, 0.0)
^2(%6: i64, %7: f64):
  %8: bool = arith.lt %6, %4
  br %8, ^3, ^6(%4)
^3:
  %9: i64 = arith.add %6, 1
  br ^4(0, %7)
^4(%10: i64, %11: f64):
  %12: bool = arith.lt %10, %3
  br %12, ^5, ^2(%9, %11)
^5:
  %13: i64 = arith.add %10, 1
  %14: f64 = mem.load %1, %13, %9 {inbounds=true}
  %15: f64 = math.exp %14
  mem.store %5, %15, %13, %9 {inbounds=true}
  %16: f64 = arith.add %11, %15
  br ^4(%13, %16)
^6(%17: i64):
  %18: bool = arith.gt %17, 0
  br %18, ^7(%3), ^10
^7(%19: i64):
  %20: bool = arith.gt %19, 0
  br %20, ^8, ^9
^8:
  %21: f64 = mem.load %5, %19, %17 {inbounds=true}
  %22: f64 = mem.load %2, %19, %17 {inbounds=true}
  %23: f64 = arith.add %21, %22
  mem.store %2, %23, %19, %17 {inbounds=true}
  %24: i64 = arith.sub %19, 1
  br ^7(%24)
^9:
  %25: i64 = arith.sub %17, 1
  br ^6(%25)
^10:
  return %7
}
",
        "func @f(%1: array<f64, 2>, %2: array<f64, 2>) -> f64 {
^1:
  %3: i64 = mem.size %1, 1
  %4: i64 = mem.size %1, 2
  br ^2(0, 0.0)
^2(%6: i64, %7: f64):
  %28: i64 = arith.add %6, 1
  %8: bool = arith.lt %6, %4
  br %8, ^3, ^10
^3:
  br ^4(0, %7)
^4(%10: i64, %11: f64):
  %29: i64 = arith.add %10, 1
  %12: bool = arith.lt %10, %3
  br %12, ^5, ^9
^5:
  %14: f64 = mem.load %1, %29, %28 {inbounds=true}
  %15: f64 = math.exp %14
  %16: f64 = arith.add %11, %15
  %22: f64 = mem.load %2, %29, %28 {inbounds=true}
  %23: f64 = arith.add %15, %22
  %27: unit = mem.store %2, %23, %29, %28 {inbounds=true}
  br ^4(%29, %16)
^9:
  br ^2(%28, %11)
^10:
  return %7
}
",
    );
}
