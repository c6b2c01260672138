//! `fuse-sweeps`.

use regraft_passes::transforms::fuse_sweeps::FuseSweeps;

use crate::{check, check_text, check_unchanged};

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
fn what_is_between_goes_before_or_after() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: f64) -> array<f64, 1> {
^1:
  %3: i64 = mem.length %1
  %4: array<f64, 1> = mem.alloc %3
  br ^2(0, 0.0)
^2(%5: i64, %6: f64):
  %7: bool = arith.lt %5, %3
  br %7, ^3, ^4(%6)
^3:
  %8: i64 = arith.add %5, 1
  %9: f64 = mem.load %1, %8 {inbounds=true}
  %10: f64 = math.exp %9
  mem.store %4, %10, %8 {inbounds=true}
  %11: f64 = arith.add %6, %10
  br ^2(%8, %11)
^4(%12: f64):
  %13: array<f64, 1> = mem.fill 0.0, %3
  %14: f64 = arith.mul %12, %2
  %15: f64 = arith.mul %2, %2
  core.print %14
  br ^5(%3)
^5(%16: i64):
  %17: bool = arith.ge %16, 1
  br %17, ^6, ^7
^6:
  %18: f64 = mem.load %4, %16 {inbounds=true}
  %19: f64 = arith.mul %18, %15
  %20: f64 = mem.load %13, %16 {inbounds=true}
  %21: f64 = arith.add %20, %19
  mem.store %13, %21, %16 {inbounds=true}
  %22: i64 = arith.sub %16, 1
  br ^5(%22)
^7:
  return %13
}
",
        "func @f(%1: array<f64, 1>, %2: f64) -> array<f64, 1> {
^1:
  %3: i64 = mem.length %1
  %13: array<f64, 1> = mem.fill 0.0, %3
  %15: f64 = arith.mul %2, %2
  br ^2(0, 0.0)
^2(%5: i64, %6: f64):
  %26: i64 = arith.add %5, 1
  %7: bool = arith.lt %5, %3
  br %7, ^3, ^4
^3:
  %9: f64 = mem.load %1, %26 {inbounds=true}
  %10: f64 = math.exp %9
  %11: f64 = arith.add %6, %10
  %19: f64 = arith.mul %10, %15
  %21: f64 = arith.add 0.0, %19
  %25: unit = mem.store %13, %21, %26 {inbounds=true}
  br ^2(%26, %11)
^4:
  %14: f64 = arith.mul %6, %2
  %24: unit = core.print %14
  br ^7
^7:
  return %13
}
",
    );
}

#[test]
fn what_the_first_loop_computes_is_not_there_yet() {
    check_unchanged::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.length %1
  br ^2(0, 0.0)
^2(%4: i64, %5: f64):
  %6: bool = arith.lt %4, %3
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %1, %7 {inbounds=true}
  %9: f64 = arith.add %5, %8
  br ^2(%7, %9)
^4:
  %10: f64 = arith.mul 2.0, %5
  br ^5(%3)
^5(%11: i64):
  %12: bool = arith.ge %11, 1
  br %12, ^6, ^7
^6:
  mem.store %1, %10, %11 {inbounds=true}
  %13: i64 = arith.sub %11, 1
  br ^5(%13)
^7:
  return nothing
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
fn an_error_stops_neither_earlier_nor_later() {
    check_unchanged::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.length %1
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %3
  br %5, ^3, ^5(%3)
^3:
  %6: i64 = arith.add %4, 1
  mem.store %1, 1.0, %6 {inbounds=true}
  br ^2(%6)
^5(%7: i64):
  %8: bool = arith.ge %7, 1
  br %8, ^6, ^7
^6:
  mem.store %2, 2.0, %7
  %9: i64 = arith.sub %7, 1
  br ^5(%9)
^7:
  return nothing
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
fn several_values_are_kept_for_each_round() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.length %1
  %4: i64 = arith.mul %3, 2
  %5: i64 = arith.max 0, %4
  %6: array<f64, 1> = mem.alloc %5
  br ^2(0)
^2(%7: i64):
  %8: bool = arith.lt %7, %3
  br %8, ^3, ^5(%3)
^3:
  %9: i64 = arith.add %7, 1
  %10: f64 = mem.load %1, %9 {inbounds=true}
  %11: f64 = math.exp %10
  %12: i64 = arith.mul %9, 2
  mem.store %6, %11, %12 {inbounds=true}
  %13: f64 = math.tanh %11
  %14: i64 = arith.sub %12, 1
  mem.store %6, %13, %14 {inbounds=true}
  br ^2(%9)
^5(%15: i64):
  %16: bool = arith.ge %15, 1
  br %16, ^6, ^7
^6:
  %17: i64 = arith.mul %15, 2
  %18: i64 = arith.sub %17, 1
  %19: f64 = mem.load %6, %17 {inbounds=true}
  %20: f64 = mem.load %6, %18 {inbounds=true}
  %21: f64 = arith.mul %19, %20
  mem.store %2, %21, %15 {inbounds=true}
  %22: i64 = arith.sub %15, 1
  br ^5(%22)
^7:
  return nothing
}
",
        "func @f(%1: array<f64, 1>, %2: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.length %1
  br ^2(0)
^2(%7: i64):
  %26: i64 = arith.add %7, 1
  %8: bool = arith.lt %7, %3
  br %8, ^3, ^7
^3:
  %10: f64 = mem.load %1, %26 {inbounds=true}
  %11: f64 = math.exp %10
  %13: f64 = math.tanh %11
  %21: f64 = arith.mul %11, %13
  %25: unit = mem.store %2, %21, %26 {inbounds=true}
  br ^2(%26)
^7:
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
fn what_is_cleared_after_it_was_read_is_not_kept() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 1>, %2: f64) -> unit {
^1:
  %3: i64 = mem.length %1
  %4: array<f64, 1> = mem.alloc %3
  br ^2(%3)
^2(%5: i64):
  %6: bool = arith.gt %5, 0
  br %6, ^3, ^4(%3)
^3:
  %7: f64 = mem.load %4, %5 {inbounds=true}
  %8: f64 = arith.add %7, %2
  mem.store %4, %8, %5 {inbounds=true}
  %9: i64 = arith.sub %5, 1
  br ^2(%9)
^4(%10: i64):
  %11: bool = arith.gt %10, 0
  br %11, ^5, ^6
^5:
  %12: f64 = mem.load %4, %10 {inbounds=true}
  mem.store %4, 0.0, %10 {inbounds=true}
  %13: f64 = mem.load %1, %10 {inbounds=true}
  %14: f64 = arith.add %13, %12
  mem.store %1, %14, %10 {inbounds=true}
  %15: i64 = arith.sub %10, 1
  br ^4(%15)
^6:
  return nothing
}
",
        "func @f(%1: array<f64, 1>, %2: f64) -> unit {
^1:
  %3: i64 = mem.length %1
  br ^2(%3)
^2(%5: i64):
  %6: bool = arith.gt %5, 0
  br %6, ^3, ^6
^3:
  %8: f64 = arith.add 0.0, %2
  %9: i64 = arith.sub %5, 1
  %13: f64 = mem.load %1, %5 {inbounds=true}
  %14: f64 = arith.add %13, %8
  %18: unit = mem.store %1, %14, %5 {inbounds=true}
  br ^2(%9)
^6:
  return nothing
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
fn what_inner_loops_keep_for_each_other_is_kept_by_rows() {
    check::<FuseSweeps>(
        "func @f(%1: array<f64, 2>, %2: array<f64, 1>) -> unit {
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
  br ^4(0, 1.0)
^4(%9: i64, %30: f64):
  %10: bool = arith.lt %9, %3
  br %10, ^5, ^6
^5:
  %11: i64 = arith.add %9, 1
  %12: f64 = mem.load %1, %11, %8 {inbounds=true}
  %13: f64 = arith.mul %12, %30
  mem.store %5, %13, %11, %8 {inbounds=true}
  br ^4(%11, %13)
^6:
  br ^2(%8)
^7:
  br ^8(%4)
^8(%14: i64):
  %15: bool = arith.ge %14, 1
  br %15, ^9, ^13
^9:
  br ^10(%3, 0.0)
^10(%16: i64, %31: f64):
  %17: bool = arith.ge %16, 1
  br %17, ^11, ^12
^11:
  %18: f64 = mem.load %5, %16, %14 {inbounds=true}
  %20: f64 = arith.add %18, %31
  %21: i64 = arith.sub %16, 1
  br ^10(%21, %20)
^12:
  mem.store %2, %31, %14 {inbounds=true}
  %22: i64 = arith.sub %14, 1
  br ^8(%22)
^13:
  return nothing
}
",
        "func @f(%1: array<f64, 2>, %2: array<f64, 1>) -> unit {
^1:
  %3: i64 = mem.size %1, 1
  %4: i64 = mem.size %1, 2
  br ^2(0)
^2(%6: i64):
  %34: i64 = arith.add %6, 1
  %7: bool = arith.lt %6, %4
  br %7, ^3, ^13
^3:
  %35: array<f64, 1> = mem.alloc %3
  br ^4(0, 1.0)
^4(%9: i64, %30: f64):
  %10: bool = arith.lt %9, %3
  br %10, ^5, ^6
^5:
  %11: i64 = arith.add %9, 1
  %12: f64 = mem.load %1, %11, %34 {inbounds=true}
  %13: f64 = arith.mul %12, %30
  %32: unit = mem.store %35, %13, %11 {inbounds=true}
  br ^4(%11, %13)
^6:
  br ^10(%3, 0.0)
^10(%16: i64, %31: f64):
  %17: bool = arith.ge %16, 1
  br %17, ^11, ^12
^11:
  %18: f64 = mem.load %35, %16 {inbounds=true}
  %20: f64 = arith.add %18, %31
  %21: i64 = arith.sub %16, 1
  br ^10(%21, %20)
^12:
  %33: unit = mem.store %2, %31, %34 {inbounds=true}
  br ^2(%34)
^13:
  return nothing
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

#[test]
fn it_may_not_matter_what_was_stored_before_a_domain_error() {
    let before = "func @f(%1: array<f64, 1>) -> unit {
^1:
  %2: i64 = mem.length %1
  %3: array<f64, 1> = mem.alloc %2
  br ^2(0)
^2(%4: i64):
  %5: bool = arith.lt %4, %2
  br %5, ^3, ^4(%2)
^3:
  %6: i64 = arith.add %4, 1
  %7: f64 = mem.load %1, %6 {inbounds=true}
  %8: f64 = math.sin %7
  mem.store %3, %8, %6 {inbounds=true}
  br ^2(%6)
^4(%9: i64):
  %10: bool = arith.gt %9, 0
  br %10, ^5, ^6
^5:
  %11: f64 = mem.load %3, %9 {inbounds=true}
  %12: f64 = math.log %11
  mem.store %1, %12, %9 {inbounds=true}
  %13: i64 = arith.sub %9, 1
  br ^4(%13)
^6:
  return nothing
}
";
    check_unchanged::<FuseSweeps>(before);
    check_text(
        "fuse-sweeps{domain-errors=false}",
        before,
        "func @f(%1: array<f64, 1>) -> unit {
^1:
  %2: i64 = mem.length %1
  br ^2(0)
^2(%4: i64):
  %16: i64 = arith.add %4, 1
  %5: bool = arith.lt %4, %2
  br %5, ^3, ^6
^3:
  %7: f64 = mem.load %1, %16 {inbounds=true}
  %8: f64 = math.sin %7
  %12: f64 = math.log %8
  %15: unit = mem.store %1, %12, %16 {inbounds=true}
  br ^2(%16)
^6:
  return nothing
}
",
    );
}
