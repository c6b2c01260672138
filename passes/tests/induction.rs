//! Induction variables, trip counts and invariants of small programs, as text.

use regraft_ir::{Function, render_all, verify_module};
use regraft_passes::Analyses;
use regraft_passes::analysis::{InductionVariables, TripCounts};

/// The only function of a module that has to be valid.
fn parse(text: &str) -> Function {
    let ctx = regraft_dialects::context();
    let module = regraft_syntax::parse_module(&ctx, "test.ir", text)
        .unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    verify_module(&module).unwrap_or_else(|errors| panic!("{}", render_all(&errors, false)));
    let id = module.ids()[0];
    module.get(id).expect("the id is of this module").clone()
}

#[track_caller]
fn check(text: &str, induction: &str, counts: &str) {
    let f = parse(text);
    let mut analyses = Analyses::default();
    let ivs = analyses.get::<InductionVariables>(&f);
    let counted = analyses.get::<TripCounts>(&f);
    let found = (ivs.describe(&f), counted.describe(&f));
    let same = found.0 == induction && found.1 == counts;
    assert!(same, "found\n{}{}wanted\n{induction}{counts}", found.0, found.1);
}

#[test]
fn a_counter_from_zero_to_a_length() {
    check(
        "func @f(%x: array<f64, 1>) -> f64 {
^1:
  %2: i64 = mem.length %x
  br ^2(0, 0.0)
^2(%3: i64, %s: f64):
  %4: bool = arith.ge %3, %2
  br %4, ^4, ^3
^3:
  %n: i64 = arith.add %3, 1
  %5: f64 = mem.load %x, %n {inbounds=true}
  %6: f64 = arith.add %s, %5
  br ^2(%n, %6)
^4:
  return %s
}
",
        "loop ^2:
  %3: from 0 by 1
  %3 = i(^2)
  %n = 1 + i(^2)
",
        "loop ^2: %2, exit ^2 -> ^4\n",
    );
}

#[test]
fn a_nest_of_loops_with_a_linear_index() {
    check(
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %s: i64):
  %5: bool = arith.lt %i, %n
  br %5, ^3, ^7
^3:
  %6: i64 = arith.mul %i, %m
  br ^4(0, %s)
^4(%j: i64, %t: i64):
  %9: bool = arith.lt %j, %m
  br %9, ^5, ^6
^5:
  %10: i64 = arith.add %6, %j
  %11: i64 = arith.add %t, %10
  %12: i64 = arith.add %j, 1
  br ^4(%12, %11)
^6:
  %13: i64 = arith.add %i, 1
  br ^2(%13, %t)
^7:
  return %s
}
",
        "loop ^2:
  %i: from 0 by 1
  %i = i(^2)
  %6 = %m*i(^2)
  %13 = 1 + i(^2)
  loop ^4:
    %j: from 0 by 1
    %t: from %s by %m*i(^2) + i(^4)
    %j = i(^4)
    %10 = %m*i(^2) + i(^4)
    %11 = %t + %m*i(^2) + i(^4)
    %12 = 1 + i(^4)
",
        "loop ^2: 0 up to %n, exit ^2 -> ^7
  loop ^4: 0 up to %m, exit ^4 -> ^6
",
    );
}

#[test]
fn rotated_loops_count_back_edges() {
    // The body runs for %3 = 10, 8, ..., 2: five times, so that it goes back four times.
    check(
        "func @f() -> i64 {
^1:
  br ^2(10, 1)
^2(%3: i64, %4: i64):
  %5: i64 = arith.mul %4, 3
  %6: i64 = arith.sub %3, 2
  %7: bool = arith.gt %6, 0
  br %7, ^2(%6, %5), ^3
^3:
  return %5
}
",
        "loop ^2:
  %3: from 10 by -2
  %4: from 1 times 3 plus 0
  %3 = 10 - 2*i(^2)
  %6 = 8 - 2*i(^2)
",
        "loop ^2: 4, exit ^2 -> ^3\n",
    );
}

#[test]
fn chains_of_higher_degree_and_wrapping_bounds() {
    check(
        "func @f(%n: i8, %b: i8) -> i8 {
^1:
  br ^2(%n, 0i8, 1i8)
^2(%i: i8, %s: i8, %q: i8):
  %6: i8 = arith.add %s, %i
  %7: i8 = arith.add %q, %6
  %8: i8 = arith.add %i, 3i8
  %9: bool = arith.le %i, %b
  br %9, ^3, ^4
^3:
  %10: bool = arith.ne %8, 100i8
  br %10, ^2(%8, %6, %7), ^4
^4:
  return %s
}
",
        "loop ^2:
  %i: from %n by 3
  %s: from 0 by %n + 3*i(^2)
  %i = %n + 3*i(^2)
  %6 = %n + %s + 3*i(^2)
  %7 = %n + %s + %q + 3*i(^2)
  %8 = 3 + %n + 3*i(^2)
",
        "loop ^2: at most -53 + 85*%n, exit ^3 -> ^4\n",
    );
}

#[test]
fn a_counter_of_two_loops_grows_by_the_count_of_the_inner_one() {
    // %k runs over all of 0 .. 12 * 5 - 1.
    check(
        "func @f(%x: array<i64, 1>) -> i64 {
^1:
  br ^2(0, 0)
^2(%i: i64, %k: i64):
  %4: bool = arith.lt %i, 12
  br %4, ^3, ^6
^3:
  br ^4(0, %k)
^4(%j: i64, %l: i64):
  %7: unit = mem.store %x, %j, %l
  %8: i64 = arith.add %j, 1
  %9: i64 = arith.add %l, 1
  %10: bool = arith.ne %8, 5
  br %10, ^4(%8, %9), ^5
^5:
  %11: i64 = arith.add %i, 1
  br ^2(%11, %9)
^6:
  %12: i64 = arith.add %k, 1
  return %12
}
",
        "loop ^2:
  %i: from 0 by 1
  %k: from 0 by 5
  %i = i(^2)
  %k = 5*i(^2)
  %11 = 1 + i(^2)
  loop ^4:
    %j: from 0 by 1
    %l: from 5*i(^2) by 1
    %j = i(^4)
    %l = 5*i(^2) + i(^4)
    %8 = 1 + i(^4)
    %9 = 1 + 5*i(^2) + i(^4)
",
        "loop ^2: 12, exit ^2 -> ^6
  loop ^4: 4, exit ^4 -> ^5
",
    );
}

#[test]
fn a_branch_before_the_loop_says_where_the_bound_is() {
    check(
        "func @f(%n: i64, %m: i64) -> i64 {
^1:
  %3: bool = arith.lt 0, %n
  br %3, ^2(0), ^3(0)
^2(%i: i64):
  %5: i64 = arith.add %i, 1
  %6: bool = arith.lt %5, %n
  br %6, ^2(%5), ^3(%5)
^3(%7: i64):
  %8: bool = arith.lt %m, %7
  br %8, ^5, ^4(%7)
^4(%j: i64):
  %10: bool = arith.le %j, %m
  %11: i64 = arith.add %j, 1
  br %10, ^4(%11), ^5
^5:
  return %7
}
",
        "loop ^2:
  %i: from 0 by 1
  %i = i(^2)
  %5 = 1 + i(^2)
loop ^4:
  %j: from %7 by 1
  %j = %7 + i(^4)
  %11 = 1 + %7 + i(^4)
",
        "loop ^2: -1 + %n, exit ^2 -> ^3
loop ^4: 1 - %7 + %m, if it ends, exit ^4 -> ^5
",
    );
}
