//! What is kept for the second loop.

use regraft_passes::transforms::fuse_sweeps::FuseSweeps;

use crate::check;

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
