//! Places in memory that are kept in values.

use super::Pass;
use crate::{check, check_unchanged};

#[test]
fn a_place_is_kept_in_a_value_while_a_loop_runs() {
    check::<Pass>(
        "func @f(%1: ref<i64>, %2: i64) -> unit {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.ref_get %1
  %5: i64 = arith.add %4, %3
  %6: unit = mem.ref_set %1, %5
  %7: i64 = arith.add %3, 1
  %8: bool = arith.lt %7, %2
  br %8, ^2(%7), ^3
^3:
  return %6
}
",
        "func @f(%1: ref<i64>, %2: i64) -> unit {
^1:
  %9: i64 = mem.ref_get %1
  br ^2(0, %9)
^2(%3: i64, %11: i64):
  %5: i64 = arith.add %11, %3
  %7: i64 = arith.add %3, 1
  %8: bool = arith.lt %7, %2
  br %8, ^2(%7, %5), ^3
^3:
  %10: unit = mem.ref_set %1, %5
  return nothing
}
",
    );
}

#[test]
fn a_place_stays_in_memory_if_an_error_would_show_it() {
    // With %3 = 0 the division stops the program after the first store.
    check_unchanged::<Pass>(
        "func @f(%1: ref<i64>, %2: i64) -> unit {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.ref_get %1
  %5: i64 = arith.add %4, 1
  mem.ref_set %1, %5
  %7: i64 = arith.div %2, %3
  %8: bool = arith.lt %7, %2
  br %8, ^2(%7), ^3
^3:
  return nothing
}
",
    );
}

#[test]
fn a_place_that_is_written_on_one_way_only_gets_a_parameter_where_they_meet() {
    check::<Pass>(
        "func @f(%1: array<i64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  br ^2(0)
^2(%4: i64):
  %5: i64 = mem.load %1, 1 {inbounds=true}
  %6: bool = arith.lt %5, %4
  br %6, ^3, ^4
^3:
  %7: unit = mem.store %1, %4, 1 {inbounds=true}
  br ^4
^4:
  %8: i64 = arith.add %4, 1
  %9: bool = arith.lt %8, %3
  br %9, ^2(%8), ^5
^5:
  return nothing
}
",
        "func @f(%1: array<i64, 1>, %2: array<f64, 1>, %3: i64) -> unit {
^1:
  %10: i64 = mem.load %1, 1 {inbounds=true}
  br ^2(0, %10)
^2(%4: i64, %12: i64):
  %6: bool = arith.lt %12, %4
  br %6, ^3, ^4(%12)
^3:
  br ^4(%4)
^4(%13: i64):
  %8: i64 = arith.add %4, 1
  %9: bool = arith.lt %8, %3
  br %9, ^2(%8, %13), ^5
^5:
  %11: unit = mem.store %1, %13, 1 {inbounds=true}
  return nothing
}
",
    );
}
