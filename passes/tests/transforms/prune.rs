//! `prune`.

use regraft_passes::transforms::prune::Prune;

use crate::{check, check_unchanged};

#[test]
fn a_parameter_that_goes_around_a_loop_unchanged_is_what_came_in() {
    check::<Prune>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1, 0)
^2(%2: i64, %3: i64):
  %4: i64 = arith.add %3, %2
  %5: bool = arith.lt %4, 100
  br %5, ^2(%2, %4), ^3(%2)
^3(%6: i64):
  return %6
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: i64 = arith.add %3, %1
  %5: bool = arith.lt %4, 100
  br %5, ^2(%4), ^3
^3:
  return %1
}
",
    );
}

#[test]
fn swapped_parameters_that_start_alike_are_one_value() {
    check::<Prune>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(%2, %2)
^2(%3: i64, %4: i64):
  br %1, ^2(%4, %3), ^3
^3:
  %5: i64 = arith.sub %3, %4
  return %5
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2
^2:
  br %1, ^2, ^3
^3:
  %5: i64 = arith.sub %2, %2
  return %5
}
",
    );
}

#[test]
fn swapped_parameters_that_start_apart_stay() {
    check_unchanged::<Prune>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(%2, 0)
^2(%3: i64, %4: i64):
  br %1, ^2(%4, %3), ^3
^3:
  %5: i64 = arith.sub %3, %4
  return %5
}
",
    );
}

#[test]
fn a_value_of_the_iteration_before_is_not_that_of_this_one() {
    // %3 is what %2 was one iteration ago, although nothing but %2 and 0 flows into it.
    check_unchanged::<Prune>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1, 0)
^2(%2: i64, %3: i64):
  %4: i64 = arith.sub %2, 1
  %5: bool = arith.lt 0, %4
  br %5, ^2(%4, %2), ^3
^3:
  return %3
}
",
    );
}

#[test]
fn the_parameter_of_an_outer_loop_stands_for_those_of_an_inner_one() {
    // %4 and %5 pass %3 around the inner loop in a circle of two.
    check::<Prune>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(%2)
^2(%3: i64):
  br ^3(%3)
^3(%4: i64):
  br %1, ^4(%4), ^5
^4(%5: i64):
  br %1, ^3(%5), ^3(%4)
^5:
  %6: i64 = arith.add %4, 1
  br %1, ^2(%6), ^6
^6:
  return %4
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^2(%2)
^2(%3: i64):
  br ^3
^3:
  br %1, ^4, ^5
^4:
  br %1, ^3, ^3
^5:
  %6: i64 = arith.add %3, 1
  br %1, ^2(%6), ^6
^6:
  return %3
}
",
    );
}

#[test]
fn an_irreducible_loop_that_passes_one_constant_is_seen_through() {
    check::<Prune>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2(7), ^3(7)
^2(%2: i64):
  br %1, ^3(%2), ^4
^3(%3: i64):
  br %1, ^2(%3), ^5
^4:
  return %2
^5:
  return %3
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br %1, ^3, ^4
^3:
  br %1, ^2, ^5
^4:
  return 7
^5:
  return 7
}
",
    );
}

#[test]
fn parameters_that_only_feed_parameters_are_unused() {
    check::<Prune>(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(1, 2)
^2(%2: i64, %3: i64):
  br %1, ^3(%3), ^4
^3(%4: i64):
  br ^2(%4, 5)
^4:
  return 0
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2
^2:
  br %1, ^3, ^4
^3:
  br ^2
^4:
  return 0
}
",
    );
}

#[test]
fn instructions_stay_even_if_unused() {
    check_unchanged::<Prune>(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(1)
^2(%2: i64):
  %3: i64 = arith.add %2, 1
  br %1, ^2(%3), ^3
^3:
  return 0
}
",
    );
}

#[test]
fn a_parameter_of_a_wider_type_stays_but_stands_for_those_after_it() {
    check::<Prune>(
        "func @f(%1: i64) -> any {
^1:
  br ^2(%1)
^2(%2: any):
  br ^3(%2)
^3(%3: any):
  %4: any = arith.add %3, 0.5
  return %4
}
",
        "func @f(%1: i64) -> any {
^1:
  br ^2(%1)
^2(%2: any):
  br ^3
^3:
  %4: any = arith.add %2, 0.5
  return %4
}
",
    );
}

#[test]
fn edges_that_are_never_taken_do_not_count() {
    check::<Prune>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(%1)
^2(%2: i64):
  return %2
^3(%3: i64):
  br ^2(5)
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2
^2:
  return %1
^3:
  br ^2
}
",
    );
}

#[test]
fn the_parameters_of_the_function_stay() {
    check_unchanged::<Prune>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^1(%1, %2), ^2
^2:
  return 0
}
",
    );
}
