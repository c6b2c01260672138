//! `dce`.

use regraft_passes::transforms::dce::Dce;

use crate::{check, check_unchanged};

#[test]
fn what_only_feeds_itself_around_a_loop_goes() {
    check::<Dce>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0, 1)
^2(%2: i64, %3: i64):
  %4: i64 = arith.mul %3, 3
  %5: i64 = arith.add %2, 1
  %6: bool = arith.lt %5, %1
  br %6, ^2(%5, %4), ^3
^3:
  return %5
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %5: i64 = arith.add %2, 1
  %6: bool = arith.lt %5, %1
  br %6, ^2(%5), ^3
^3:
  return %5
}
",
    );
}

#[test]
fn parameters_that_are_swapped_around_a_loop_go_together() {
    check::<Dce>(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(1, 2, 3)
^2(%2: i64, %3: i64, %4: i64):
  br %1, ^2(%3, %2, %4), ^3(%4)
^3(%5: i64):
  return %5
}
",
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(3)
^2(%4: i64):
  br %1, ^2(%4), ^3(%4)
^3(%5: i64):
  return %5
}
",
    );
}

#[test]
fn a_parameter_used_through_a_swap_stays_with_its_partner() {
    check_unchanged::<Dce>(
        "func @f(%1: bool) -> i64 {
^1:
  br ^2(1, 2)
^2(%2: i64, %3: i64):
  br %1, ^2(%3, %2), ^3
^3:
  return %3
}
",
    );
}

#[test]
fn unused_parameters_of_blocks_that_feed_each_other_go_from_an_irreducible_loop() {
    // ^2 and ^3 form a loop that is entered at both.
    check::<Dce>(
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(%2, 1), ^3(2, %2)
^2(%3: i64, %4: i64):
  %5: i64 = arith.add %4, 1
  br %1, ^3(%5, %3), ^4(%3)
^3(%6: i64, %7: i64):
  br ^2(%7, %6)
^4(%8: i64):
  return %8
}
",
        "func @f(%1: bool, %2: i64) -> i64 {
^1:
  br %1, ^2(%2), ^3(%2)
^2(%3: i64):
  br %1, ^3(%3), ^4(%3)
^3(%7: i64):
  br ^2(%7)
^4(%8: i64):
  return %8
}
",
    );
}

#[test]
fn effects_and_traps_stay_unused() {
    check_unchanged::<Dce>(
        "func @f(%1: i64, %2: any, %3: f64) -> unit {
^1:
  %4: i64 = arith.div 1, %1
  %5: any = arith.add %2, 1
  %6: f64 = math.sin %3
  %7: unit = core.print %1
  %8: i64 = call @g()
  %9: any = data.getfield %2, 1
  return nothing
}
func @g() -> i64 {
^1:
  return 1
}
",
    );
}

#[test]
fn what_cannot_trap_goes_with_its_operands() {
    check::<Dce>(
        "func @f(%1: i64, %2: any) -> unit {
^1:
  %3: i64 = arith.add %1, 1
  %4: tuple<i64, any> = core.tuple %3, %2
  %5: bool = core.isa %2, !i64
  %6: ref<i64> = mem.ref_new %3
  %7: i64 = mem.ref_get %6
  return nothing
}
",
        "func @f(%1: i64, %2: any) -> unit {
^1:
  return nothing
}
",
    );
}

#[test]
fn what_an_effect_uses_stays() {
    check::<Dce>(
        "func @f(%1: i64) -> unit {
^1:
  %2: i64 = arith.add %1, 1
  %3: i64 = arith.add %2, 1
  %4: i64 = arith.add %3, 1
  %5: unit = core.print %3
  return nothing
}
",
        "func @f(%1: i64) -> unit {
^1:
  %2: i64 = arith.add %1, 1
  %3: i64 = arith.add %2, 1
  %5: unit = core.print %3
  return nothing
}
",
    );
}

#[test]
fn parameters_of_the_function_stay_even_if_its_entry_is_a_loop() {
    check_unchanged::<Dce>(
        "func @f(%1: bool, %2: i64, %3: i64) -> i64 {
^1:
  br %1, ^1(%1, %3, %2), ^2
^2:
  return 0
}
",
    );
}

#[test]
fn an_unused_parameter_goes_from_every_edge_of_a_switch() {
    check::<Dce>(
        "func @f(%1: i64) -> i64 {
^1:
  switch %1, ^2(1, %1), 1: ^2(2, 7), 2: ^3
^2(%2: i64, %3: i64):
  return %3
^3:
  return 0
}
",
        "func @f(%1: i64) -> i64 {
^1:
  switch %1, ^2(%1), 1: ^2(7), 2: ^3
^2(%3: i64):
  return %3
^3:
  return 0
}
",
    );
}

#[test]
fn loops_without_an_end_and_unreachable_loops_stay_loops() {
    check::<Dce>(
        "func @f() -> i64 {
^1:
  br ^2(0)
^2(%1: i64):
  %2: i64 = arith.add %1, 1
  br ^2(%2)
^3(%3: i64):
  br ^3(%3)
}
",
        "func @f() -> i64 {
^1:
  br ^2
^2:
  br ^2
^3:
  br ^3
}
",
    );
}

#[test]
fn what_cannot_trap_with_these_operands_goes() {
    check::<Dce>(
        "func @f(%1: array<f64, 1>, %2: i64) -> i64 {
^1:
  %3: i64 = arith.div %2, 3
  %4: i64 = arith.div 3, %2
  %5: f64 = mem.load %1, %2 {inbounds=true}
  %6: f64 = mem.load %1, %2
  %7: f64 = math.sqrt 2.0
  return 0
}
",
        "func @f(%1: array<f64, 1>, %2: i64) -> i64 {
^1:
  %4: i64 = arith.div 3, %2
  %6: f64 = mem.load %1, %2
  return 0
}
",
    );
}
