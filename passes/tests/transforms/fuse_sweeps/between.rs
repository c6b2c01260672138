//! What is between the loops, and errors in them.

use regraft_passes::transforms::fuse_sweeps::FuseSweeps;

use crate::{check, check_text, check_unchanged};

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
