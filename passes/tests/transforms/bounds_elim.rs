//! `bounds-elim`.

use regraft_passes::transforms::bounds_elim::BoundsElim;
use regraft_passes::{AllLoops, FunctionPass, Options, Setting};

use crate::{check, check_unchanged, check_with};

/// Checks that just the accesses that end in `!` are found to be in bounds.
#[track_caller]
fn marks(text: &str) {
    let before: String = text.replace(" !", "");
    check::<AllLoops<BoundsElim>>(&before, &text.replace(" !", " {inbounds=true}"));
}

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

#[track_caller]
fn versions(before: &str, after: &str) {
    let defs = AllLoops::<BoundsElim>::OPTIONS;
    let mut options = Options::defaults(defs);
    options.set(&defs[0], Setting::Flag(true)).unwrap();
    check_with::<AllLoops<BoundsElim>>(&options, before, after);
}

#[test]
fn a_loop_over_two_arrays_has_a_version_for_when_the_second_is_long_enough() {
    versions(
        "func @dot(%x: array<f64, 1>, %y: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %x
  br ^2(0, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.ge %4, %3
  br %6, ^4, ^3
^3:
  %i: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %i
  %9: f64 = mem.load %y, %i
  %10: f64 = arith.mul %8, %9
  %11: f64 = arith.add %s, %10
  br ^2(%i, %11)
^4:
  return %s
}
",
        "func @dot(%x: array<f64, 1>, %y: array<f64, 1>) -> f64 {
^1:
  %3: i64 = mem.length %x
  %16: i64 = mem.length %y
  %17: bool = arith.le %3, %16
  br %17, ^5(0, 0.0), ^2(0, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.ge %4, %3
  br %6, ^4(%s), ^3
^3:
  %i: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %i {inbounds=true}
  %9: f64 = mem.load %y, %i {inbounds=false}
  %10: f64 = arith.mul %8, %9
  %11: f64 = arith.add %s, %10
  br ^2(%i, %11)
^5(%19: i64, %s.2: f64):
  %21: bool = arith.ge %19, %3
  br %21, ^4(%s.2), ^6
^6:
  %i.1: i64 = arith.add %19, 1
  %23: f64 = mem.load %x, %i.1 {inbounds=true}
  %24: f64 = mem.load %y, %i.1 {inbounds=true}
  %25: f64 = arith.mul %23, %24
  %26: f64 = arith.add %s.2, %25
  br ^5(%i.1, %26)
^4(%s.1: f64):
  return %s.1
}
",
    );
}

#[test]
fn a_limit_and_a_start_that_are_arguments_are_asked_for_before_the_loop() {
    versions(
        "func @f(%x: array<f64, 1>, %a: i64, %n: i64) -> f64 {
^1:
  br ^2(%a, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.lt %4, %n
  br %6, ^3, ^4
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %7
  %9: f64 = arith.add %s, %8
  br ^2(%7, %9)
^4:
  return %s
}
",
        "func @f(%x: array<f64, 1>, %a: i64, %n: i64) -> f64 {
^1:
  %14: bool = arith.le 0, %a
  %15: i64 = mem.length %x
  %16: bool = arith.le %n, %15
  %17: bool = arith.and %14, %16
  br %17, ^5(%a, 0.0), ^2(%a, 0.0)
^2(%4: i64, %s: f64):
  %6: bool = arith.lt %4, %n
  br %6, ^3, ^4(%s)
^3:
  %7: i64 = arith.add %4, 1
  %8: f64 = mem.load %x, %7 {inbounds=false}
  %9: f64 = arith.add %s, %8
  br ^2(%7, %9)
^5(%19: i64, %s.2: f64):
  %21: bool = arith.lt %19, %n
  br %21, ^6, ^4(%s.2)
^6:
  %22: i64 = arith.add %19, 1
  %23: f64 = mem.load %x, %22 {inbounds=true}
  %24: f64 = arith.add %s.2, %23
  br ^5(%22, %24)
^4(%s.1: f64):
  return %s.1
}
",
    );
}

#[test]
fn what_depends_on_the_loop_cannot_be_asked_before() {
    let text = "func @f(%x: array<i64, 1>, %n: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = mem.load %x, %3
  %5: bool = arith.lt %4, %n
  br %5, ^2(%4), ^3
^3:
  return %3
}
";
    versions(text, text);
}
