//! How the body of a function takes the place of a call.

use regraft_ir::{Location, Value};

use super::{SQUARE, check};
use crate::{parse, run_text};

const CLAMP: &str = "func @clamp(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 0
  br %2, ^2, ^3
^2:
  return 0
^3:
  return %1
}
";

#[test]
fn one_block_goes_in_front_of_the_call() {
    check(
        SQUARE,
        "func @f(%1: f64) -> f64 {
^1:
  %2: f64 = call @square(%1)
  %3: f64 = math.exp %2
  %4: f64 = call @square(%3)
  return %4
}
",
        "func @f(%1: f64) -> f64 {
^1:
  %6: f64 = arith.mul %1, %1
  %3: f64 = math.exp %6
  %5: f64 = arith.mul %3, %3
  return %5
}
",
    );
}

#[test]
fn several_returns_become_jumps_that_pass_the_result() {
    check(
        CLAMP,
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = call @clamp(%1)
  %3: i64 = arith.add %2, 1
  return %3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %5: bool = arith.lt %1, 0
  br %5, ^3, ^4
^3:
  br ^2(0)
^4:
  br ^2(%1)
^2(%4: i64):
  %3: i64 = arith.add %4, 1
  return %3
}
",
    );
}

#[test]
fn a_result_that_nobody_uses_is_not_passed() {
    check(
        CLAMP,
        "func @f(%1: i64) -> unit {
^1:
  %2: i64 = call @clamp(%1)
  return nothing
}
",
        "func @f(%1: i64) -> unit {
^1:
  %3: bool = arith.lt %1, 0
  br %3, ^3, ^4
^3:
  br ^2
^4:
  br ^2
^2:
  return nothing
}
",
    );
}

#[test]
fn a_loop_with_one_return_keeps_its_shape() {
    // The entry of @count is the head of its loop, so it stays a block of its own.
    check(
        "func @count(%1: i64) -> i64 {
^1:
  %2: bool = arith.lt %1, 10
  br %2, ^2, ^3
^2:
  %3: i64 = arith.add %1, 1
  br ^1(%3)
^3:
  return %1
}
",
        "func @f(%1: i64) -> i64 {
^1:
  %2: i64 = call @count(%1)
  %3: i64 = arith.mul %2, 2
  return %3
}
",
        "func @f(%1: i64) -> i64 {
^1:
  br ^3(%1)
^3(%4: i64):
  %5: bool = arith.lt %4, 10
  br %5, ^4, ^5
^4:
  %6: i64 = arith.add %4, 1
  br ^3(%6)
^5:
  br ^2
^2:
  %3: i64 = arith.mul %4, 2
  return %3
}
",
    );
}

#[test]
fn a_value_that_is_never_there_does_no_harm() {
    // Nothing reaches `^2`, where values may depend on themselves.
    let text = "func @id(%1: i64) -> i64 {
^1:
  return %1
}
func @f(%1: i64) -> i64 {
^1:
  return %1
^2:
  %2: i64 = call @id(%3)
  %3: i64 = call @id(%2)
  br ^2
}
";
    let mut module = parse(text);
    run_text("inline", &mut module);
}

#[test]
fn names_are_kept_apart() {
    check(
        "func @g(%x: f64) -> f64 {
^1:
  %y: f64 = arith.mul %x, 2.0
  %z: f64 = arith.add %y, %x
  return %z
}
",
        "func @f(%x: f64, %y: f64) -> f64 {
^1:
  %a: f64 = call @g(%x)
  %4: f64 = call @g(%a)
  return %4
}
",
        "func @f(%x: f64, %y: f64) -> f64 {
^1:
  %y.2: f64 = arith.mul %x, 2.0
  %z.1: f64 = arith.add %y.2, %x
  %y.1: f64 = arith.mul %z.1, 2.0
  %z: f64 = arith.add %y.1, %z.1
  return %z
}
",
    );
}

#[test]
fn the_places_of_calls_are_kept() {
    let text = "func @h(%1: f64) -> f64 {
^1:
  %2: f64 = math.sin %1
  return %2
}
func @g(%1: f64) -> f64 {
^1:
  %2: f64 = call @h(%1)
  return %2
}
func @f(%1: f64) -> f64 {
^1:
  %2: f64 = call @g(%1)
  return %2
}
";
    let mut module = parse(text);
    run_text("inline", &mut module);
    let f = module.function("f").expect("it is there");
    let sin: Value = f.all_insts().next().expect("there is an instruction");
    let ctx = f.ctx();
    let Location::Inlined { at, call_site } = ctx.location(f.loc(sin)) else {
        panic!("{:?}", ctx.location(f.loc(sin)))
    };
    assert_eq!(ctx.loc_text(call_site), "test.ir:13:3");
    assert_eq!(ctx.loc_text(at), "test.ir:3:3, inlined at test.ir:8:3");
    let origin = f.origin(sin).expect("it is recorded");
    assert_eq!(ctx.str(origin.by), "inline");
}

#[test]
fn a_mark_on_a_call_goes_over_to_the_accesses() {
    check(
        "func @first(%1: array<f64, 1>) -> f64 {
^1:
  %2: f64 = mem.load %1, 1
  mem.store %1, %2, 2
  return %2
}
",
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %2: f64 = call @first(%1) {inbounds=true}
  %3: f64 = call @first(%1)
  %4: f64 = arith.add %2, %3
  return %4
}
",
        "func @f(%1: array<f64, 1>) -> f64 {
^1:
  %7: f64 = mem.load %1, 1 {inbounds=true}
  mem.store %1, %7, 2 {inbounds=true}
  %5: f64 = mem.load %1, 1
  %6: unit = mem.store %1, %5, 2
  %4: f64 = arith.add %7, %5
  return %4
}
",
    );
}

#[test]
fn what_is_passed_or_returned_as_any_stays_any() {
    // `arith.add` of an i64 and a constant f64 would not verify; of an `any` it traps.
    check(
        "func @add(%1: any) -> any {
^1:
  %2: any = arith.add %1, 1.0
  return %2
}
func @one() -> i64 {
^1:
  return 1
}
",
        "func @f(%1: i64) -> any {
^1:
  %2: any = call @add(%1)
  %3: any = call @one()
  %4: any = arith.add %3, 1.0
  return %4
}
",
        "func @f(%1: i64) -> any {
^1:
  %6: any = core.convert %1
  %7: any = arith.add %6, 1.0
  %5: any = core.convert 1
  %4: any = arith.add %5, 1.0
  return %4
}
",
    );
}
