//! Counters whose limits are lengths.

use regraft_passes::AllLoops;
use regraft_passes::transforms::bounds_elim::BoundsElim;

use super::marks;
use crate::check_unchanged;

#[test]
fn the_counter_of_a_while_loop_stays_below_the_length() {
    // `while n < length(x); n += 1; y += x[n]; end`
    marks(
        "func @sum(%x: array<f64, 1>) -> f64 {
^1:
  br ^2(0, 0.0)
^2(%n: i64, %y: f64):
  %5: i64 = mem.length %x
  %6: bool = arith.lt %n, %5
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %n, 1
  %8: f64 = mem.load %x, %7 !
  %9: f64 = arith.add %y, %8
  br ^2(%7, %9)
^4:
  %10: f64 = mem.load %x, %n
  %11: f64 = arith.add %y, %10
  return %11
}
",
    );
}

#[test]
fn loops_over_all_indices_and_over_one_to_the_length() {
    marks(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %4: i64 = mem.length %x
  %5: i64 = arith.max %4, 0
  br ^2(0, 0.0)
^2(%2: i64, %s: f64):
  %6: bool = arith.ge %2, %5
  br %6, ^4, ^3
^3:
  %i: i64 = arith.add %2, 1
  %8: f64 = mem.load %x, %i !
  %9: f64 = arith.add %s, %8
  br ^2(%i, %9)
^4:
  return %s
}
",
    );
}

#[test]
fn loops_over_the_dimensions_of_a_matrix() {
    marks(
        "func @f(%a: array<f64, 2>) -> f64 {
^1:
  %6: i64 = mem.size %a, 2
  %7: i64 = arith.max %6, 0
  br ^2(0, 0.0)
^2(%2: i64, %s: f64):
  %8: bool = arith.ge %2, %7
  br %8, ^7, ^3
^3:
  %j: i64 = arith.add %2, 1
  %10: i64 = mem.size %a, 1
  %11: i64 = arith.max %10, 0
  br ^4(0, %s)
^4(%4: i64, %t: f64):
  %12: bool = arith.ge %4, %11
  br %12, ^2(%j, %t), ^5
^5:
  %i: i64 = arith.add %4, 1
  %14: f64 = mem.load %a, %i, %j !
  %15: f64 = mem.load %a, %j, %i
  %16: f64 = arith.add %t, %14
  br ^4(%i, %16)
^7:
  return %s
}
",
    );
}

#[test]
fn the_neighbours_of_inner_elements_are_there() {
    // `for i in 2:length(x)-1; y[i] = x[i-1] + x[i+1]; end`: nothing is known of `y`.
    marks(
        "func @f(%y: array<f64, 1>, %x: array<f64, 1>) -> unit {
^1:
  %4: i64 = mem.length %x
  %5: i64 = arith.sub %4, 1
  %6: i64 = arith.max %5, 1
  br ^2(0)
^2(%3: i64):
  %7: i64 = arith.sub %6, 2
  %8: bool = arith.gt %3, %7
  br %8, ^4, ^3
^3:
  %i: i64 = arith.add %3, 2
  %10: i64 = arith.sub %i, 1
  %11: f64 = mem.load %x, %10 !
  %12: i64 = arith.add %i, 1
  %13: f64 = mem.load %x, %12 !
  %14: f64 = arith.add %11, %13
  %15: unit = mem.store %y, %14, %i
  %16: i64 = arith.add %3, 1
  %17: i64 = arith.add %12, 1
  %18: f64 = mem.load %x, %17
  br ^2(%16)
^4:
  return nothing
}
",
    );
}

#[test]
fn a_rotated_loop_is_seen_through() {
    marks(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %x
  %3: bool = arith.lt 0, %2
  br %3, ^2(0, 0.0), ^3(0.0)
^2(%4: i64, %5: f64):
  %6: i64 = arith.add %4, 1
  %7: f64 = mem.load %x, %6 !
  %8: f64 = arith.add %5, %7
  %9: bool = arith.lt %6, %2
  br %9, ^2(%6, %8), ^3(%8)
^3(%10: f64):
  return %10
}
",
    );
}

#[test]
fn a_counter_from_one_up_to_the_length_included() {
    marks(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %x
  br ^2(1, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.le %3, %2
  br %5, ^3, ^4
^3:
  %6: f64 = mem.load %x, %3 !
  %7: f64 = arith.add %4, %6
  %8: i64 = arith.add %3, 1
  br ^2(%8, %7)
^4:
  return %4
}
",
    );
}

#[test]
fn a_counter_from_the_length_down() {
    marks(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %x
  br ^2(%2, 0.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.ge %3, 1
  br %5, ^3, ^4
^3:
  %6: f64 = mem.load %x, %3 !
  %7: f64 = arith.add %4, %6
  %8: i64 = arith.sub %3, 1
  br ^2(%8, %7)
^4:
  return %4
}
",
    );
}

#[test]
fn a_range_that_goes_down_counts_up_in_secret() {
    // `for i in length(x):-1:1`, as it is lowered.
    marks(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %4: i64 = mem.length %x
  %6: i64 = arith.sub 1, %4
  %7: i64 = arith.add %6, -1
  %8: i64 = arith.div %7, -1
  br ^2(0, 0.0)
^2(%2: i64, %s: f64):
  %9: bool = arith.ge %2, %8
  br %9, ^4, ^3
^3:
  %10: i64 = arith.mul %2, -1
  %i: i64 = arith.add %4, %10
  %12: f64 = mem.load %x, %i !
  %13: f64 = arith.add %s, %12
  %15: i64 = arith.sub %i, 1
  %16: f64 = mem.load %x, %15
  %14: i64 = arith.add %2, 1
  br ^2(%14, %13)
^4:
  return %s
}
",
    );
}

#[test]
fn what_is_counted_from_the_end_is_there_as_well() {
    // `for i in 1:n÷2; x[n-i+1]; end`
    marks(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %n: i64 = mem.length %x
  %4: i64 = arith.div %n, 2
  br ^2(0)
^2(%2: i64):
  %6: bool = arith.ge %2, %4
  br %6, ^4, ^3
^3:
  %i: i64 = arith.add %2, 1
  %8: i64 = arith.sub %n, %i
  %9: i64 = arith.add %8, 1
  %10: f64 = mem.load %x, %9 !
  %11: i64 = arith.add %9, 1
  %12: f64 = mem.load %x, %11
  br ^2(%i)
^4:
  return 0.0
}
",
    );
}

#[test]
fn a_dimension_can_be_the_greatest_integer() {
    // Of a matrix without elements: then the counter wraps.
    check_unchanged::<AllLoops<BoundsElim>>(
        "func @f(%a: array<f64, 2>) -> f64 {
^1:
  %2: i64 = mem.size %a, 1
  br ^2(1)
^2(%3: i64):
  %4: bool = arith.le %3, %2
  br %4, ^3, ^4
^3:
  %5: f64 = mem.load %a, %3, 1
  %6: i64 = arith.add %3, 1
  br ^2(%6)
^4:
  return 0.0
}
",
    );
}

#[test]
fn a_counter_that_may_wrap_or_starts_anywhere_proves_nothing() {
    check_unchanged::<AllLoops<BoundsElim>>(
        "func @f(%x: array<f64, 1>, %a: i64) -> f64 {
^1:
  %3: i64 = mem.length %x
  br ^2(%a, 0)
^2(%4: i64, %5: i64):
  %6: bool = arith.lt %4, %3
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %7
  %9: i64 = arith.add %5, 3
  %10: f64 = mem.load %x, %9
  br ^2(%7, %9)
^4:
  return 0.0
}
",
    );
}

#[test]
fn a_second_access_with_the_same_index_is_not_checked_again() {
    marks(
        "func @f(%x: array<f64, 1>, %y: array<f64, 1>, %i: i64) -> f64 {
^1:
  %4: f64 = mem.load %x, %i
  %5: unit = mem.store %x, 1.0, %i !
  %6: f64 = mem.load %y, %i
  %7: i64 = arith.sub %i, 1
  %8: f64 = mem.load %x, %7
  %9: bool = arith.gt %i, 1
  br %9, ^2, ^3
^2:
  %10: f64 = mem.load %x, %7 !
  return %10
^3:
  return %4
}
",
    );
}
