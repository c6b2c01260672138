//! `loop-interchange`.

use regraft_passes::transforms::loop_interchange::LoopInterchange;

use crate::{check, check_unchanged};

#[test]
fn a_copy_goes_along_columns() {
    check::<LoopInterchange>(
        "func @copy(%1: array<f64, 2>, %2: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^2(1)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(1), ^6
^3(%7: i64):
  %8: bool = arith.lt %7, %4
  br %8, ^4, ^5
^4:
  %9: f64 = mem.load %1, %5, %7 {inbounds=true}
  %10: unit = mem.store %2, %9, %5, %7 {inbounds=true}
  %11: i64 = arith.add %7, 1
  br ^3(%11)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12)
^6:
  return nothing
}
",
        "func @copy(%1: array<f64, 2>, %2: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^7(1)
^7(%13: i64):
  %15: bool = arith.lt %13, %4
  br %15, ^8(1), ^6
^8(%14: i64):
  %16: bool = arith.lt %14, %3
  br %16, ^9, ^10
^9:
  %9: f64 = mem.load %1, %14, %13 {inbounds=true}
  %10: unit = mem.store %2, %9, %14, %13 {inbounds=true}
  %17: i64 = arith.add %14, 1
  br ^8(%17)
^10:
  %18: i64 = arith.add %13, 1
  br ^7(%18)
^6:
  return nothing
}
",
    );
}

#[test]
fn sums_in_elements_keep_their_order() {
    check::<LoopInterchange>(
        "func @rows(%y: array<f64, 1>, %a: array<f64, 2>, %x: array<f64, 2>, %m: i64, %n: i64) -> unit {
^1:
  br ^2(0)
^2(%i: i64):
  %more: bool = arith.ge %i, %m
  br %more, ^7, ^3
^3:
  %row: i64 = arith.add %i, 1
  %width: i64 = arith.mul %n, 1
  br ^4(0)
^4(%j: i64):
  %less: bool = arith.lt %j, %width
  br %less, ^5, ^6
^5:
  %column: i64 = arith.add %j, 1
  %old: f64 = mem.load %y, %row {inbounds=true}
  %entry: f64 = mem.load %a, %row, %column {inbounds=true}
  %factor: f64 = mem.load %x, %column, 1 {inbounds=true}
  %product: f64 = arith.mul %entry, %factor
  %new: f64 = arith.add %old, %product
  %10: unit = mem.store %y, %new, %row {inbounds=true}
  br ^4(%column)
^6:
  br ^2(%row)
^7:
  return nothing
}
",
        "func @rows(%y: array<f64, 1>, %a: array<f64, 2>, %x: array<f64, 2>, %m: i64, %n: i64) -> unit {
^1:
  br ^8(0)
^8(%j: i64):
  %30: i64 = arith.mul %n, 1
  %31: bool = arith.lt %j, %30
  br %31, ^9(0), ^7
^9(%i: i64):
  %32: bool = arith.ge %i, %m
  br %32, ^11, ^10
^10:
  %row: i64 = arith.add %i, 1
  %column: i64 = arith.add %j, 1
  %old: f64 = mem.load %y, %row {inbounds=true}
  %entry: f64 = mem.load %a, %row, %column {inbounds=true}
  %factor: f64 = mem.load %x, %column, 1 {inbounds=true}
  %product: f64 = arith.mul %entry, %factor
  %new: f64 = arith.add %old, %product
  %10: unit = mem.store %y, %new, %row {inbounds=true}
  %33: i64 = arith.add %i, 1
  br ^9(%33)
^11:
  %34: i64 = arith.add %j, 1
  br ^8(%34)
^7:
  return nothing
}
",
    );
}

#[test]
fn what_goes_along_columns_stays() {
    check_unchanged::<LoopInterchange>(
        "func @columns(%1: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^2(1)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(1), ^6
^3(%7: i64):
  %8: bool = arith.lt %7, %4
  br %8, ^4, ^5
^4:
  %10: unit = mem.store %1, 1.0, %7, %5 {inbounds=true}
  %11: i64 = arith.add %7, 1
  br ^3(%11)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12)
^6:
  return nothing
}
",
    );
}

#[test]
fn an_element_that_is_read_before_it_is_overwritten_stays_so() {
    check_unchanged::<LoopInterchange>(
        "func @skewed(%1: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^2(2)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(1), ^6
^3(%7: i64):
  %8: bool = arith.lt %7, %4
  br %8, ^4, ^5
^4:
  %11: i64 = arith.add %7, 1
  %13: i64 = arith.sub %5, 1
  %9: f64 = mem.load %1, %13, %11 {inbounds=true}
  %10: unit = mem.store %1, %9, %5, %7 {inbounds=true}
  br ^3(%11)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12)
^6:
  return nothing
}
",
    );
}

#[test]
fn distances_of_one_sign_do_not_mind() {
    check::<LoopInterchange>(
        "func @parallel(%1: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^2(2)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(2), ^6
^3(%7: i64):
  %8: bool = arith.lt %7, %4
  br %8, ^4, ^5
^4:
  %11: i64 = arith.sub %7, 1
  %13: i64 = arith.sub %5, 1
  %9: f64 = mem.load %1, %13, %11 {inbounds=true}
  %10: unit = mem.store %1, %9, %5, %7 {inbounds=true}
  %14: i64 = arith.add %7, 1
  br ^3(%14)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12)
^6:
  return nothing
}
",
        "func @parallel(%1: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^7(2)
^7(%15: i64):
  %17: bool = arith.lt %15, %4
  br %17, ^8(2), ^6
^8(%16: i64):
  %18: bool = arith.lt %16, %3
  br %18, ^9, ^10
^9:
  %11: i64 = arith.sub %15, 1
  %13: i64 = arith.sub %16, 1
  %9: f64 = mem.load %1, %13, %11 {inbounds=true}
  %10: unit = mem.store %1, %9, %16, %15 {inbounds=true}
  %19: i64 = arith.add %16, 1
  br ^8(%19)
^10:
  %20: i64 = arith.add %15, 1
  br ^7(%20)
^6:
  return nothing
}
",
    );
}

#[test]
fn a_count_that_depends_on_the_other_loop_stays() {
    check_unchanged::<LoopInterchange>(
        "func @triangle(%1: array<f64, 2>, %3: i64) -> unit {
^1:
  br ^2(1)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(1), ^6
^3(%7: i64):
  %8: bool = arith.lt %7, %5
  br %8, ^4, ^5
^4:
  %10: unit = mem.store %1, 1.0, %5, %7 {inbounds=true}
  %11: i64 = arith.add %7, 1
  br ^3(%11)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12)
^6:
  return nothing
}
",
    );
}

#[test]
fn a_sum_of_floats_keeps_its_order() {
    check_unchanged::<LoopInterchange>(
        "func @sum(%1: array<f64, 2>, %3: i64, %4: i64) -> f64 {
^1:
  br ^2(1, 0.0)
^2(%5: i64, %13: f64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(1, %13), ^6
^3(%7: i64, %14: f64):
  %8: bool = arith.lt %7, %4
  br %8, ^4, ^5
^4:
  %10: f64 = mem.load %1, %5, %7 {inbounds=true}
  %15: f64 = arith.add %14, %10
  %11: i64 = arith.add %7, 1
  br ^3(%11, %15)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12, %14)
^6:
  return %13
}
",
    );
}

#[test]
fn what_may_trap_keeps_its_order() {
    check_unchanged::<LoopInterchange>(
        "func @checked(%1: array<f64, 2>, %3: i64, %4: i64) -> unit {
^1:
  br ^2(1)
^2(%5: i64):
  %6: bool = arith.lt %5, %3
  br %6, ^3(1), ^6
^3(%7: i64):
  %8: bool = arith.lt %7, %4
  br %8, ^4, ^5
^4:
  %10: unit = mem.store %1, 1.0, %5, %7
  %11: i64 = arith.add %7, 1
  br ^3(%11)
^5:
  %12: i64 = arith.add %5, 1
  br ^2(%12)
^6:
  return nothing
}
",
    );
}

#[test]
fn arrays_that_may_be_one_are_compared_by_their_indices() {
    // `x` may be `y`; then `y[i]` is changed while other iterations still read it.
    check_unchanged::<LoopInterchange>(
        "func @f(%y: array<f64, 1>, %a: array<f64, 2>, %x: array<f64, 1>, %m: i64) -> unit {
^1:
  br ^2(0)
^2(%i: i64):
  %1: bool = arith.lt %i, %m
  br %1, ^3(0), ^5
^3(%j: i64):
  %2: bool = arith.lt %j, %m
  br %2, ^4, ^6
^4:
  %3: f64 = mem.load %a, %i, %j {inbounds=true}
  %4: f64 = mem.load %x, %j {inbounds=true}
  %5: f64 = arith.mul %3, %4
  %6: unit = mem.store %y, %5, %i {inbounds=true}
  %7: i64 = arith.add %j, 1
  br ^3(%7)
^6:
  %8: i64 = arith.add %i, 1
  br ^2(%8)
^5:
  return nothing
}
",
    );
}
