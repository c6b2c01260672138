//! What nothing depends on goes, branches included; what can be noticed stays, running on
//! forever included.

use regraft_passes::transforms::adce::Adce;

use super::{check, check_unchanged};

#[test]
fn a_branch_between_whose_ways_nothing_is_left_goes() {
    check::<Adce>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.mul %2, 3
  br ^4(%3)
^3:
  br ^4(0)
^4(%4: i64):
  return %2
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br ^4
^4:
  return %2
}
",
    );
}

#[test]
fn a_branch_that_decides_what_is_returned_stays() {
    check_unchanged::<Adce>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  %3: i64 = arith.mul %2, 3
  br ^4(%3)
^3:
  br ^4(0)
^4(%4: i64):
  return %4
}
",
    );
}

#[test]
fn an_edge_that_decides_stays_also_if_both_lead_to_one_block() {
    check_unchanged::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2(1), ^2(2)
^2(%2: i64):
  return %2
}
",
    );
    check::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2(1, 5), ^2(2, 5)
^2(%2: i64, %3: i64):
  return %3
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(5)
^2(%3: i64):
  return %3
}
",
    );
}

#[test]
fn what_decides_on_a_dead_branch_goes_with_it() {
    // `%2` decides on the way to a trap that is there; `%4` and the inner diamond on nothing.
    check::<Adce>(
        "func @f(%1: i64, %2: bool, %3: i64) -> i64 {
^1:
  br %2, ^2, ^6
^2:
  %4: bool = arith.lt %1, 5
  %5: i64 = arith.div %1, %3
  br %4, ^3, ^4
^3:
  br ^5(1)
^4:
  br ^5(2)
^5(%6: i64):
  br ^6
^6:
  return %1
}
",
        "func @f(%1: i64, %2: bool, %3: i64) -> i64 {
^1:
  br %2, ^2, ^6
^2:
  %5: i64 = arith.div %1, %3
  br ^5
^5:
  br ^6
^6:
  return %1
}
",
    );
}

#[test]
fn values_that_feed_each_other_around_a_loop_go_and_the_loop_stays() {
    check::<Adce>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%2: i64, %3: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^6
^3:
  %5: bool = arith.lt %3, 3
  br %5, ^4, ^5(0)
^4:
  br ^5(1)
^5(%6: i64):
  %7: i64 = arith.add %3, %6
  %8: i64 = arith.add %2, 1
  br ^2(%8, %7)
^6:
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %4: bool = arith.lt %2, %1
  br %4, ^3, ^6
^3:
  br ^5
^5:
  %8: i64 = arith.add %2, 1
  br ^2(%8)
^6:
  return %1
}
",
    );
}

#[test]
fn a_way_into_an_endless_loop_stays() {
    check_unchanged::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  br ^2
^3:
  return 1
}
",
    );
}

#[test]
fn a_loop_that_may_run_forever_stays_in_a_region_without_anything() {
    // ^2 goes around as long as `%1` is true.
    check_unchanged::<Adce>(
        "func @f(%1: bool, %2: bool) -> i64 {
^1:
  br %2, ^2, ^4
^2:
  br %1, ^2, ^3
^3:
  br ^4
^4:
  return 1
}
",
    );
}

#[test]
fn a_cycle_with_two_ways_in_stays_a_cycle() {
    // Which way it is entered does not matter, as ^2 does nothing.
    check::<Adce>(
        "func @f(%1: bool, %2: bool) -> i64 {
^1:
  br %2, ^2, ^3
^2:
  br ^3
^3:
  br %1, ^2, ^4
^4:
  return 1
}
",
        "func @f(%1: bool, %2: bool) -> i64 {
^1:
  br ^3
^2:
  br ^3
^3:
  br %1, ^2, ^4
^4:
  return 1
}
",
    );
}

#[test]
fn a_branch_on_any_stays_as_it_traps_unless_it_is_a_bool() {
    check_unchanged::<Adce>(
        "func @f(%1: any) -> i64 {
^1:
  br %1, ^2, ^2
^2:
  return 1
}
",
    );
}

#[test]
fn a_switch_goes_like_a_branch() {
    check::<Adce>(
        "func @f(%1: i64) -> i64 {
^1:
  switch %1, ^2, 1: ^3, 2: ^5(7)
^2:
  br ^4
^3:
  br ^4
^4:
  br ^5(8)
^5(%2: i64):
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^5
^5:
  return %1
}
",
    );
}

#[test]
fn a_switch_without_cases_is_a_jump() {
    check::<Adce>(
        "func @f() -> i64 {
^1:
  %1: i64 = arith.and 0, 0
  switch %1, ^2
^2:
  return 0
}
",
        "func @f() -> i64 {
^1:
  br ^2
^2:
  return 0
}
",
    );
}

#[test]
fn a_branch_to_different_ends_stays() {
    check_unchanged::<Adce>(
        "func @f(%1: bool) -> i64 {
^1:
  br %1, ^2, ^3
^2:
  return 1
^3:
  unreachable
}
",
    );
}

#[test]
fn unreachable_blocks_go() {
    check::<Adce>(
        "func @f() -> i64 {
^1:
  return 1
^2:
  br ^3
^3:
  br ^2
}
",
        "func @f() -> i64 {
^1:
  return 1
}
",
    );
}

#[test]
fn arrays_that_are_only_written_go() {
    check::<Adce>(
        "func @f(%1: array<f64, 1>, %2: i64, %3: f64) -> i64 {
^1:
  %4: i64 = mem.length %1
  %5: array<f64, 1> = mem.alloc %4
  %6: array<f64, 2> = mem.fill 1.0, %4, 3
  %7: array<f64, 1> = mem.copy %5
  %8: array<f64, 1> = mem.array %3, 2.0
  mem.store %5, %3, %2 {inbounds=true}
  %9: f64 = mem.load %5, 1 {inbounds=true}
  mem.store %6, %9, %2 {inbounds=true}
  mem.fill_in_place %7, %9
  mem.push %8, %9
  return %4
}
",
        "func @f(%1: array<f64, 1>, %2: i64, %3: f64) -> i64 {
^1:
  %4: i64 = mem.length %1
  return %4
}
",
    );
}

#[test]
fn refs_and_structs_that_are_only_written_go() {
    check::<Adce>(
        "mutable struct @C { x: f64 }

func @f(%1: bool, %2: f64) -> f64 {
^1:
  %3: ref<f64> = mem.ref_new %2
  %4: ref<f64> = mem.ref_new 1.0
  %5: @C = data.new_object %2
  data.setfield %5, :x, 2.0
  br %1, ^2, ^3
^2:
  mem.ref_set %3, 2.0
  br ^3
^3:
  mem.ref_set %4, 3.0
  %6: f64 = mem.ref_get %4
  return %6
}
",
        "mutable struct @C { x: f64 }

func @f(%1: bool, %2: f64) -> f64 {
^1:
  %4: ref<f64> = mem.ref_new 1.0
  br ^3
^3:
  %9: unit = mem.ref_set %4, 3.0
  %6: f64 = mem.ref_get %4
  return %6
}
",
    );
}

#[test]
fn what_increments_an_array_does_not_keep_it() {
    check::<Adce>(
        "func @f(%1: i64, %2: f64) -> f64 {
^1:
  %3: array<f64, 1> = mem.fill 0.0, 10
  %4: array<f64, 1> = mem.fill 0.0, 10
  br ^2(1)
^2(%5: i64):
  %6: f64 = mem.load %3, %5 {inbounds=true}
  %7: f64 = arith.add %6, %2
  mem.store %3, %7, %5 {inbounds=true}
  %8: f64 = mem.load %4, %5 {inbounds=true}
  %9: f64 = arith.add %8, %7
  mem.store %4, %9, %5 {inbounds=true}
  %10: i64 = arith.add %5, 1
  %11: bool = arith.le %10, 10
  br %11, ^2(%10), ^3
^3:
  %12: f64 = mem.load %3, 3 {inbounds=true}
  return %12
}
",
        "func @f(%1: i64, %2: f64) -> f64 {
^1:
  %3: array<f64, 1> = mem.fill 0.0, 10
  br ^2(1)
^2(%5: i64):
  %6: f64 = mem.load %3, %5 {inbounds=true}
  %7: f64 = arith.add %6, %2
  mem.store %3, %7, %5 {inbounds=true}
  %10: i64 = arith.add %5, 1
  %11: bool = arith.le %10, 10
  br %11, ^2(%10), ^3
^3:
  %12: f64 = mem.load %3, 3 {inbounds=true}
  return %12
}
",
    );
}

#[test]
fn objects_in_objects_that_nobody_reads_go() {
    check::<Adce>(
        "func @f(%1: f64) -> f64 {
^1:
  %2: ref<f64> = mem.ref_new %1
  %3: array<ref<f64>, 1> = mem.array %2
  %4: ref<array<ref<f64>, 1>> = mem.ref_new %3
  mem.ref_set %4, %3
  mem.store %3, %2, 1 {inbounds=true}
  mem.ref_set %2, 4.0
  return %1
}
",
        "func @f(%1: f64) -> f64 {
^1:
  return %1
}
",
    );
}

#[test]
fn objects_stay_that_are_returned_passed_or_read() {
    check_unchanged::<Adce>(
        "func @f(%1: f64, %2: i64, %3: bool) -> array<f64, 1> {
^1:
  %4: array<f64, 1> = mem.fill 0.0, 10
  %5: array<f64, 1> = mem.fill 0.0, 10
  %6: array<f64, 1> = core.select %3, %4, %5
  %7: array<f64, 1> = mem.fill 0.0, 10
  %8: array<f64, 1> = mem.fill 0.0, 10
  mem.store %4, %1, %2 {inbounds=true}
  mem.store %7, %1, %2 {inbounds=true}
  mem.store %8, %1, %2 {inbounds=true}
  core.print %7
  br ^2(%8)
^2(%9: array<f64, 1>):
  mem.copyto %6, %9
  return %6
}

func @g(%1: f64) -> i64 {
^1:
  %2: array<f64, 1> = mem.fill 0.0, 10
  mem.push %2, %1
  %3: i64 = mem.length %2
  return %3
}
",
    );
}

#[test]
fn errors_of_making_and_storing_stay() {
    check_unchanged::<Adce>(
        "func @f(%1: i64, %2: array<f64, 1>) -> unit {
^1:
  %3: array<f64, 1> = mem.alloc %1
  %4: i64 = mem.length %2
  %5: array<f64, 1> = mem.fill 0.0, %4
  mem.store %5, 1.0, %1
  return nothing
}
",
    );
}

#[test]
fn a_dimension_may_be_known_from_a_branch() {
    check::<Adce>(
        "func @f(%1: i64, %2: i64) -> unit {
^1:
  %3: bool = arith.lt 0, %1
  br %3, ^2, ^3
^2:
  %4: i64 = arith.max %2, 0
  %5: array<f64, 2> = mem.alloc %1, %4
  mem.store %5, 1.0, 1 {inbounds=true}
  br ^3
^3:
  return nothing
}
",
        "func @f(%1: i64, %2: i64) -> unit {
^1:
  br ^3
^3:
  return nothing
}
",
    );
}
