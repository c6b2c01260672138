//! `fuse-sweeps`.

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
        "",
    );
}
