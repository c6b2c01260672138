//! Which of two loops is turned, and when neither is.

use regraft_passes::transforms::fuse_sweeps::FuseSweeps;

use crate::{check, check_unchanged};

#[test]
fn the_reverse_loop_is_turned_and_nothing_is_kept() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> f64 {
^1:
  %4: i64 = arith.max 0, %3
  %5: array<f64, 1> = mem.alloc %4
  br ^2(0, 0.0)
^2(%6: i64, %7: f64):
  %8: bool = arith.lt %6, %3
  br %8, ^3, ^4
^3:
  %9: i64 = arith.add %6, 1
  %10: f64 = mem.load %1, %9 {inbounds=true}
  %11: f64 = math.exp %10
  mem.store %5, %11, %9 {inbounds=true}
  %12: f64 = arith.add %7, %11
  br ^2(%9, %12)
^4:
  %13: i64 = arith.sub %4, 1
  br ^5(%13)
^5(%14: i64):
  %15: bool = arith.ge %14, 0
  br %15, ^6, ^7
^6:
  %16: i64 = arith.add %14, 1
  %17: f64 = mem.load %5, %16 {inbounds=true}
  %18: f64 = mem.load %2, %16 {inbounds=true}
  %19: f64 = arith.add %18, %17
  mem.store %2, %19, %16 {inbounds=true}
  %20: i64 = arith.sub %14, 1
  br ^5(%20)
^7:
  return %7
}
",
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>, %3: i64) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%6: i64, %7: f64):
  %8: bool = arith.lt %6, %3
  br %8, ^3, ^7
^3:
  %9: i64 = arith.add %6, 1
  %10: f64 = mem.load %1, %9 {inbounds=true}
  %11: f64 = math.exp %10
  %12: f64 = arith.add %7, %11
  %18: f64 = mem.load %2, %9 {inbounds=true}
  %19: f64 = arith.add %18, %11
  %22: unit = mem.store %2, %19, %9 {inbounds=true}
  br ^2(%9, %12)
^7:
  return %7
}
",
    );
}

#[test]
fn the_forward_loop_is_turned_if_the_reverse_loop_adds_up() {
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
  br ^5(%3, 0.0)
^5(%10: i64, %11: f64):
  %12: bool = arith.ge %10, 1
  br %12, ^6, ^7
^6:
  %13: f64 = mem.load %4, %10 {inbounds=true}
  %14: f64 = arith.add %11, %13
  %15: i64 = arith.sub %10, 1
  br ^5(%15, %14)
^7:
  return %11
}
",
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %1
  br ^2(%3, 0.0)
^2(%17: i64, %18: f64):
  %19: i64 = arith.add %17, -1
  %12: bool = arith.ge %17, 1
  br %12, ^3, ^7
^3:
  %8: f64 = mem.load %1, %17 {inbounds=true}
  %9: f64 = math.exp %8
  %14: f64 = arith.add %18, %9
  br ^2(%19, %14)
^7:
  return %18
}
",
    );
}

#[test]
fn two_sums_in_opposite_orders_are_computed_together() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %1
  br ^2(0, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt %3, %2
  br %5, ^3, ^4
^3:
  %6: i64 = arith.add %3, 1
  %7: f64 = mem.load %1, %6 {inbounds=true}
  %8: f64 = arith.add %4, %7
  br ^2(%6, %8)
^4:
  br ^5(%2, 0.0)
^5(%9: i64, %10: f64):
  %11: bool = arith.ge %9, 1
  br %11, ^6, ^7
^6:
  %12: f64 = mem.load %1, %9 {inbounds=true}
  %13: f64 = arith.add %10, %12
  %14: i64 = arith.sub %9, 1
  br ^5(%14, %13)
^7:
  %15: f64 = arith.sub %4, %10
  return %15
}
",
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %1
  br ^2(0, 0.0, %2, 0.0)
^2(%3: i64, %4: f64, %16: i64, %17: f64):
  %5: bool = arith.lt %3, %2
  br %5, ^3, ^7
^3:
  %6: i64 = arith.add %3, 1
  %7: f64 = mem.load %1, %6 {inbounds=true}
  %8: f64 = arith.add %4, %7
  %12: f64 = mem.load %1, %16 {inbounds=true}
  %13: f64 = arith.add %17, %12
  %14: i64 = arith.sub %16, 1
  br ^2(%6, %8, %14, %13)
^7:
  %15: f64 = arith.sub %4, %17
  return %15
}
",
    );
}

#[test]
fn a_sum_in_memory_keeps_its_order() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: ref<f64>) -> f64 {
^1:
  %3: i64 = mem.length %1
  br ^2(0, 0.0)
^2(%4: i64, %5: f64):
  %6: bool = arith.lt %4, %3
  br %6, ^3, ^5(%3)
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = arith.mul %5, %8
  br ^2(%7, %9)
^5(%10: i64):
  %11: bool = arith.ge %10, 1
  br %11, ^6, ^7
^6:
  %12: f64 = mem.load %1, %10 {inbounds=true}
  %13: f64 = mem.ref_get %2
  %14: f64 = arith.add %13, %12
  mem.ref_set %2, %14
  %15: i64 = arith.sub %10, 1
  br ^5(%15)
^7:
  return %5
}
",
        "func @f(%1: array<f64, 1>, %2: ref<f64>) -> f64 {
^1:
  %3: i64 = mem.length %1
  br ^2(0, 0.0, %3)
^2(%4: i64, %5: f64, %17: i64):
  %6: bool = arith.lt %4, %3
  br %6, ^3, ^7
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = arith.mul %5, %8
  %12: f64 = mem.load %1, %17 {inbounds=true}
  %13: f64 = mem.ref_get %2
  %14: f64 = arith.add %13, %12
  %16: unit = mem.ref_set %2, %14
  %15: i64 = arith.sub %17, 1
  br ^2(%7, %9, %15)
^7:
  return %5
}
",
    );
}

#[test]
fn two_sums_of_which_one_keeps_what_the_other_needs_first_stay_apart() {
    check_unchanged::<FuseSweeps>(
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %1
  %3: array<f64, 1> = mem.alloc %2
  br ^2(0, 0.0)
^2(%4: i64, %5: f64):
  %6: bool = arith.lt %4, %2
  br %6, ^3, ^5(%2, 1.0)
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = arith.add %5, %8
  mem.store %3, %9, %7 {inbounds=true}
  br ^2(%7, %9)
^5(%10: i64, %11: f64):
  %12: bool = arith.ge %10, 1
  br %12, ^6, ^7
^6:
  %13: f64 = mem.load %3, %10 {inbounds=true}
  %14: f64 = arith.mul %11, %13
  %15: i64 = arith.sub %10, 1
  br ^5(%15, %14)
^7:
  return %11
}
",
    );
}

#[test]
fn a_loop_with_a_sum_in_memory_is_not_turned() {
    check_unchanged::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: ref<f64>) -> f64 {
^1:
  %3: i64 = mem.length %1
  %16: array<f64, 1> = mem.alloc %3
  br ^2(0, 0.0)
^2(%4: i64, %5: f64):
  %6: bool = arith.lt %4, %3
  br %6, ^3, ^5(%3)
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = arith.mul %5, %8
  mem.store %16, %9, %7 {inbounds=true}
  br ^2(%7, %9)
^5(%10: i64):
  %11: bool = arith.ge %10, 1
  br %11, ^6, ^7
^6:
  %12: f64 = mem.load %16, %10 {inbounds=true}
  %13: f64 = mem.ref_get %2
  %14: f64 = arith.add %13, %12
  mem.ref_set %2, %14
  %15: i64 = arith.sub %10, 1
  br ^5(%15)
^7:
  return %5
}
",
    );
}

#[test]
fn an_iteration_that_needs_another_one_keeps_its_place() {
    check_unchanged::<FuseSweeps>(
        "func @f(%1: array<f64, 1>) -> array<f64, 1> {
^1:
  %2: i64 = mem.length %1
  %3: i64 = arith.add %2, 1
  %4: array<f64, 1> = mem.fill 1.0, %3
  br ^2(0, 0.0)
^2(%5: i64, %6: f64):
  %7: bool = arith.lt %5, %2
  br %7, ^3, ^5(%2)
^3:
  %8: i64 = arith.add %5, 1
  %9: f64 = mem.load %1, %8 {inbounds=true}
  %10: f64 = arith.add %6, %9
  mem.store %1, %10, %8 {inbounds=true}
  br ^2(%8, %10)
^5(%11: i64):
  %12: bool = arith.ge %11, 1
  br %12, ^6, ^7
^6:
  %13: i64 = arith.add %11, 1
  %14: f64 = mem.load %4, %13 {inbounds=true}
  %15: f64 = mem.load %1, %11 {inbounds=true}
  %16: f64 = arith.add %14, %15
  mem.store %4, %16, %11 {inbounds=true}
  %17: i64 = arith.sub %11, 1
  br ^5(%17)
^7:
  return %4
}
",
    );
}

#[test]
fn loops_that_run_the_same_way_need_not_be_turned() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %1
  %3: array<f64, 1> = mem.alloc %2
  br ^2(0, 0.0)
^2(%4: i64, %5: f64):
  %6: bool = arith.lt %4, %2
  br %6, ^3, ^5(1, 1.0)
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = arith.add %5, %8
  mem.store %3, %9, %7 {inbounds=true}
  br ^2(%7, %9)
^5(%10: i64, %11: f64):
  %12: bool = arith.le %10, %2
  br %12, ^6, ^7
^6:
  %13: f64 = mem.load %3, %10 {inbounds=true}
  %14: f64 = arith.mul %11, %13
  %15: i64 = arith.add %10, 1
  br ^5(%15, %14)
^7:
  return %11
}
",
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %1
  br ^2(0, 0.0, 1.0)
^2(%4: i64, %5: f64, %17: f64):
  %18: i64 = arith.add %4, 1
  %6: bool = arith.lt %4, %2
  br %6, ^3, ^7
^3:
  %8: f64 = mem.load %1, %18 {inbounds=true}
  %9: f64 = arith.add %5, %8
  %14: f64 = arith.mul %17, %9
  br ^2(%18, %9, %14)
^7:
  return %17
}
",
    );
}
