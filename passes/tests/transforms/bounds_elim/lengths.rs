//! Lengths of arrays, and what changes them.

use regraft_passes::AllLoops;
use regraft_passes::transforms::bounds_elim::BoundsElim;

use super::marks;
use crate::check_unchanged;

#[test]
fn an_array_made_with_the_length_of_another_has_it() {
    marks(
        "func @f(%x: array<f64, 1>) -> array<f64, 1> {
^1:
  %3: i64 = mem.length %x
  %y: array<f64, 1> = mem.alloc %3
  %z: array<f64, 1> = mem.copy %x
  %5: i64 = mem.length %y
  br ^2(0)
^2(%2: i64):
  %7: bool = arith.ge %2, %5
  br %7, ^4, ^3
^3:
  %i: i64 = arith.add %2, 1
  %9: f64 = mem.load %x, %i !
  %10: unit = mem.store %y, %9, %i !
  %11: unit = mem.store %z, %9, %i !
  br ^2(%i)
^4:
  return %y
}
",
    );
}

#[test]
fn the_shadow_of_an_array_has_its_length() {
    marks(
        "func @f(%x: array<f64, 1>, %m: array<tuple<i64, f64>, 2>) -> array<f64, 1> {
^1:
  %3: i64 = mem.length %x
  %y: array<f64, 1> = ad.zero %x
  %z: array<f64, 1> = ad.copy %y
  %n: array<tuple<unit, f64>, 2> = ad.zero %m
  %8: i64 = mem.length %m
  br ^2(0)
^2(%2: i64):
  %10: bool = arith.ge %2, %3
  br %10, ^4(0), ^3
^3:
  %i: i64 = arith.add %2, 1
  %13: f64 = mem.load %y, %i !
  %14: unit = mem.store %z, %13, %i !
  br ^2(%i)
^4(%4: i64):
  %17: bool = arith.ge %4, %8
  br %17, ^6, ^5
^5:
  %j: i64 = arith.add %4, 1
  %20: tuple<unit, f64> = mem.load %n, %j !
  %21: f64 = core.get %20, 2
  %22: unit = mem.store %z, %21, 1
  br ^4(%j)
^6:
  return %z
}
",
    );
}

#[test]
fn a_matrix_made_with_the_dimensions_of_another_has_them() {
    marks(
        "func @f(%a: array<f64, 2>) -> array<f64, 2> {
^1:
  %2: tuple<i64, i64> = mem.shape %a
  %3: i64 = core.get %2, 1
  %4: i64 = core.get %2, 2
  %b: array<f64, 2> = mem.alloc %4, %3
  br ^2(0)
^2(%j: i64):
  %7: bool = arith.lt %j, %4
  br %7, ^3, ^6
^3:
  %8: i64 = arith.add %j, 1
  br ^4(0)
^4(%i: i64):
  %10: bool = arith.lt %i, %3
  br %10, ^5, ^2(%8)
^5:
  %11: i64 = arith.add %i, 1
  %12: f64 = mem.load %a, %11, %8 !
  %13: unit = mem.store %b, %12, %8, %11 !
  br ^4(%11)
^6:
  return %b
}
",
    );
}

#[test]
fn what_may_change_the_length_is_kept_in_mind() {
    marks(
        "func @f(%x: array<f64, 1>, %y: array<f64, 1>, %a: array<i64, 1>) -> f64 {
^1:
  %4: i64 = mem.length %x
  %5: i64 = mem.length %a
  br ^2(0)
^2(%6: i64):
  %7: bool = arith.lt %6, %4
  br %7, ^3, ^4
^3:
  %8: i64 = arith.add %6, 1
  %9: f64 = mem.load %x, %8
  %10: f64 = mem.load %x, %8 !
  %11: f64 = mem.pop %y
  %12: f64 = mem.load %x, %8
  %13: bool = arith.lt %6, %5
  br %13, ^5, ^2(%8)
^5:
  %14: i64 = mem.load %a, %8 !
  br ^2(%8)
^4:
  return 0.0
}
",
    );
}

#[test]
fn a_new_array_is_as_long_as_it_was_made_until_it_grows() {
    marks(
        "func @f(%y: array<f64, 1>) -> f64 {
^1:
  %x: array<f64, 1> = mem.array 1.0, 2.0, 3.0
  %3: f64 = mem.load %x, 3 !
  %4: f64 = mem.load %x, 4
  %5: unit = mem.push %y, %3
  %6: f64 = mem.load %x, 3 !
  %7: f64 = mem.pop %x
  %8: f64 = mem.load %x, 3
  return %8
}
",
    );
}

#[test]
fn bounds_that_go_around_a_loop_with_the_length_are_not_those_of_the_next_time() {
    // In the second iteration `%3` is the length before the array became shorter.
    check_unchanged::<AllLoops<BoundsElim>>(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.length %x
  %5: bool = arith.ge %3, 1
  br %5, ^3, ^4
^3:
  %6: f64 = mem.load %x, %3
  br ^4
^4:
  %7: f64 = mem.pop %x
  br ^2(%4)
}
",
    );
}
