//! Loops whose test is in the header get it into the latch, behind a first test.

use regraft_ir::{ControlFlow, DominatorTree};
use regraft_passes::analysis::{LoopForest, TripCounts};
use regraft_passes::transforms::loop_rotate::LoopRotate;
use regraft_passes::{AllLoops, Analyses, LoopPass, Options, Setting};

use super::{check, check_unchanged, check_with, only, parse};

type Pass = AllLoops<LoopRotate>;

const COUNT: &str = "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = arith.lt %i, %1
  br %3, ^3, ^4
^3:
  %4: i64 = arith.add %i, 1
  br ^2(%4)
^4:
  return %i
}
";

#[test]
fn the_test_of_a_while_loop_moves_to_the_latch() {
    check::<Pass>(
        COUNT,
        "func @f(%1: i64) -> i64 {
^1:
  %6: bool = arith.lt 0, %1
  br %6, ^5, ^4(0)
^5:
  br ^3(0)
^3(%i: i64):
  %4: i64 = arith.add %i, 1
  %3: bool = arith.lt %4, %1
  br %3, ^3(%4), ^4(%4)
^4(%i.1: i64):
  return %i.1
}
",
    );
}

#[test]
fn the_trip_count_is_still_known() {
    let mut module = parse(COUNT);
    super::apply::<Pass>(&mut module, &Options::defaults(LoopRotate::OPTIONS));
    let f = only(&mut module);
    let counts = Analyses::default().get::<TripCounts>(f);
    assert_eq!(counts.describe(f), "loop ^3: -1 + %1, exit ^3 -> ^4\n");
    let forest = LoopForest::compute(f, &ControlFlow::compute(f), &DominatorTree::compute(f));
    let l = forest.get(forest.loops().next().expect("it is a loop"));
    assert_eq!((l.preheader, l.single_latch()), (f.block_by_number(5), Some(l.header)));
}

#[test]
fn a_loop_that_its_latch_leaves_stays() {
    check_unchanged::<Pass>(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, %1
  br %3, ^3, ^4
^3:
  %4: i64 = arith.add %2, 1
  %5: bool = arith.lt %4, 100
  br %5, ^2(%4), ^4
^4:
  return %2
}
",
    );
}

#[test]
fn a_loop_without_a_test_in_its_header_stays() {
    check_unchanged::<Pass>(
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  br ^3
^3:
  br %2, ^4, ^5
^4:
  %4: i64 = arith.add %3, 1
  br ^2(%4)
^5:
  return %3
}
",
    );
}

#[test]
fn a_large_header_stays() {
    let mut options = Options::defaults(LoopRotate::OPTIONS);
    options.set(&LoopRotate::OPTIONS[0], Setting::Int(0)).expect("it is a number");
    check_with::<Pass>(&options, COUNT, COUNT);
}

#[test]
fn values_that_are_swapped_each_time_stay_apart() {
    check::<Pass>(
        "func @f(%1: i64, %2: i64, %3: i64) -> i64 {
^1:
  br ^2(%1, %2, %3)
^2(%a: i64, %b: i64, %n: i64):
  %7: bool = arith.lt 0, %n
  br %7, ^3, ^4
^3:
  %8: i64 = arith.sub %n, 1
  br ^2(%b, %a, %8)
^4:
  return %a
}
",
        "func @f(%1: i64, %2: i64, %3: i64) -> i64 {
^1:
  %12: bool = arith.lt 0, %3
  br %12, ^5, ^4(%1)
^5:
  br ^3(%1, %2, %3)
^3(%a: i64, %b: i64, %n: i64):
  %8: i64 = arith.sub %n, 1
  %7: bool = arith.lt 0, %8
  br %7, ^3(%b, %a, %8), ^4(%b)
^4(%a.1: i64):
  return %a.1
}
",
    );
}

#[test]
fn a_header_that_leads_to_an_inner_loop_gets_a_block_between() {
    check::<Pass>(
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  br ^2(0)
^2(%3: i64):
  %4: unit = core.print %3
  %5: bool = arith.lt %3, %1
  br %5, ^3, ^5
^3:
  %6: unit = core.print 7
  br %2, ^3, ^4
^4:
  %7: i64 = arith.add %3, 1
  br ^2(%7)
^5:
  return %3
}
",
        "func @f(%1: i64, %2: bool) -> i64 {
^1:
  %8: unit = core.print 0
  %9: bool = arith.lt 0, %1
  br %9, ^7, ^5(0)
^7:
  br ^6(0)
^6(%10: i64):
  br ^3
^3:
  %6: unit = core.print 7
  br %2, ^3, ^4
^4:
  %7: i64 = arith.add %10, 1
  %4: unit = core.print %7
  %5: bool = arith.lt %7, %1
  br %5, ^6(%7), ^5(%7)
^5(%11: i64):
  return %11
}
",
    );
}

#[test]
fn an_inner_loop_may_be_the_latch_of_the_outer_one_and_values_may_leave_both() {
    check::<Pass>(
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %i2: i64 = arith.add %i, 1
  %a: bool = arith.lt %i, %n
  br %a, ^3, ^5
^3:
  br ^4(0)
^4(%j: i64):
  %j2: i64 = arith.add %j, %i2
  %b: bool = arith.lt %j, %m
  br %b, ^6, ^2(%j2)
^6:
  br ^4(%j2)
^5:
  br %a, ^7, ^8
^7:
  br ^8
^8:
  %s: i64 = arith.add %i, %i2
  return %s
}
",
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  %i2.1: i64 = arith.add 0, 1
  %a.1: bool = arith.lt 0, %n
  br %a.1, ^11, ^5(0, %i2.1, %a.1)
^11:
  br ^3(%i2.1)
^3(%i2.2: i64):
  %j2.1: i64 = arith.add 0, %i2.2
  %b.1: bool = arith.lt 0, %m
  br %b.1, ^10, ^9(%j2.1)
^10:
  br ^6(%j2.1)
^9(%j2.2: i64):
  %i2: i64 = arith.add %j2.2, 1
  %a: bool = arith.lt %j2.2, %n
  br %a, ^3(%i2), ^5(%j2.2, %i2, %a)
^6(%j2.3: i64):
  %j2: i64 = arith.add %j2.3, %i2.2
  %b: bool = arith.lt %j2.3, %m
  br %b, ^6(%j2), ^9(%j2)
^5(%i: i64, %i2.3: i64, %a.2: bool):
  br %a.2, ^7, ^8
^7:
  br ^8
^8:
  %s: i64 = arith.add %i, %i2.3
  return %s
}
",
    );
}
