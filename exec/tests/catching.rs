//! `core.try`: what a handler sees, what it does not, and what is left of the calls that failed.

mod common;

use common::{engine, error, run, shown};
use regraft_exec::value::{Val, live_bytes};
use regraft_exec::{Engine, ErrorKind, Limits};

/// A program whose `@f` gives the first part of what was caught: the name of the exception.
fn naming(body: &str) -> String {
    format!(
        "{body}
func @handler(%1: any, %2: any) -> any {{
^1:
  %3: any = data.getfield %1, 1
  return %3
}}
func @f(%1: any) -> any {{
^1:
  %2: any = core.try @body, @handler, %1
  return %2
}}"
    )
}

#[test]
fn the_trap_of_an_op_is_a_tuple() {
    let text = "
func @body(%1: f64) -> any {
^1:
  %2: f64 = math.asin %1
  %3: any = core.convert %2
  return %3
}
func @handler(%1: any, %2: f64) -> any {
^1:
  return %1
}
func @f(%1: f64) -> any {
^1:
  %2: any = core.try @body, @handler, %1
  return %2
}";
    assert_eq!(run(text, &[0.0.into()]), "0.0");
    let caught = "(:DomainError, \"with 2.0:\\nasin(x) is not defined for |x| > 1.\", (2.0,))";
    assert_eq!(run(text, &[2.0.into()]), caught);
}

#[test]
fn a_message_is_told_by_the_exception_that_it_names() {
    let thrown = |message: &str| {
        naming(&format!(
            "func @body(%1: any) -> any {{\n^1:\n  core.throw \"{message}\"\n  unreachable\n}}"
        ))
    };
    assert_eq!(run(&thrown("it went wrong"), &[Val::Unit]), ":ErrorException");
    assert_eq!(run(&thrown("KeyError: key 1 not found"), &[Val::Unit]), ":KeyError");
    assert_eq!(run(&thrown("note: nothing"), &[Val::Unit]), ":ErrorException");
}

#[test]
fn a_value_comes_to_the_handler_as_it_is() {
    let text = "
func @body(%1: any) -> any {
^1:
  core.throw %1
  unreachable
}
func @handler(%1: any, %2: any) -> any {
^1:
  %3: bool = core.same %1, %2
  %4: any = core.convert %3
  return %4
}
func @f(%1: any) -> any {
^1:
  %2: any = core.try @body, @handler, %1
  return %2
}";
    assert_eq!(run(text, &[Val::tuple([Val::I64(1)])]), "true");
    let array = regraft_exec::value::Array::vector(&[1.0]);
    assert_eq!(run(text, &[array.into()]), "true");
}

const RECURSION: &str = "func @body(%1: any) -> any {
^1:
  %2: any = call @body(%1)
  %3: any = core.tuple %2, %1
  return %3
}";
const LIST: &str = "func @body(%1: any) -> any {
^1:
  br ^2(%1)
^2(%2: any):
  %3: tuple<any, i64> = core.tuple %2, 1
  br ^2(%3)
}";

#[test]
fn limits_are_caught_but_for_the_fuel() {
    let limits = Limits { depth: 1_000, memory: 1 << 24, ..Limits::default() };
    let mut deep = engine(&naming(RECURSION));
    deep.set_limits(limits);
    assert_eq!(shown(&mut deep, "f", &[Val::Unit]), ":StackOverflowError");
    let mut list = engine(&naming(LIST));
    list.set_limits(limits);
    assert_eq!(shown(&mut list, "f", &[Val::Unit]), ":OutOfMemoryError");
    let fuel = Limits { fuel: Some(1_000), ..limits };
    assert_eq!(*error(&naming(LIST), &[Val::Unit], fuel).kind(), ErrorKind::Fuel);
}

#[test]
fn an_interrupt_is_caught_once() {
    let text = naming(
        "func @body(%1: any) -> any {
^1:
  br ^2(0)
^2(%2: i64):
  %3: i64 = arith.add %2, 1
  br ^2(%3)
}",
    );
    let mut engine = engine(&text);
    let flag = engine.interrupt_flag();
    let setter = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(shown(&mut engine, "f", &[Val::Unit]), ":InterruptException");
    setter.join().unwrap();
}

#[test]
fn memory_is_as_the_calls_left_it_and_what_they_held_is_dropped() {
    let text = "
func @inner(%1: array<i64, 1>, %2: i64) -> i64 {
^1:
  %3: array<f64, 1> = mem.alloc 1000
  mem.store %1, %2, 1
  %4: i64 = arith.div 10, %2
  %5: i64 = mem.length %3
  return %5
}
func @body(%1: array<i64, 1>, %2: i64) -> i64 {
^1:
  %3: array<f64, 1> = mem.alloc 1000
  %4: i64 = call @inner(%1, %2)
  %5: i64 = mem.length %3
  %6: i64 = arith.add %4, %5
  return %6
}
func @handler(%1: any, %2: array<i64, 1>, %3: i64) -> i64 {
^1:
  %4: i64 = mem.load %2, 1
  return %4
}
func @f(%1: i64) -> i64 {
^1:
  %2: array<i64, 1> = mem.fill 7, 1
  %3: i64 = core.try @body, @handler, %2, %1
  return %3
}";
    let mut engine = engine(text);
    assert_eq!(shown(&mut engine, "f", &[5i64.into()]), "2000");
    let before = live_bytes();
    for _ in 0..1_000 {
        assert_eq!(shown(&mut engine, "f", &[0i64.into()]), "0");
    }
    assert_eq!(live_bytes(), before);
}

#[test]
fn handlers_nest_and_their_own_errors_go_on() {
    let text = "
func @fails(%1: i64) -> i64 {
^1:
  %2: i64 = arith.div 1, %1
  core.throw \"first\"
  unreachable
}
func @again(%1: any, %2: i64) -> i64 {
^1:
  %3: i64 = arith.add %2, 1
  %4: i64 = core.try @fails, @ends, %3
  core.rethrow %1
  unreachable
}
func @ends(%1: any, %2: i64) -> i64 {
^1:
  core.println \"ends with \", %2
  return 5
}
func @outer(%1: i64) -> i64 {
^1:
  %2: i64 = core.try @fails, @again, %1
  return %2
}
func @last(%1: any, %2: i64) -> any {
^1:
  %3: any = core.caught
  %4: bool = core.same %1, %3
  core.println %4
  return %1
}
func @f(%1: i64) -> any {
^1:
  %2: any = core.try @outer, @last, %1
  return %2
}
func @uncaught(%1: i64) -> i64 {
^1:
  %2: i64 = call @outer(%1)
  return %2
}";
    let mut program = engine(text);
    let caught = "(:DivideError, \"integer division error\", ())";
    assert_eq!(shown(&mut program, "f", &[0i64.into()]), caught);
    assert_eq!(program.take_output(), "ends with 1\ntrue\n");
    // What is thrown on is told where it happened first.
    let error = program.call("uncaught", &[0i64.into()]).unwrap_err();
    let names: Vec<&str> =
        error.chain().spots().map(|spot| program.ctx().str(spot.function)).collect();
    assert_eq!(names, ["fails", "outer", "uncaught"]);
}

#[test]
fn nothing_is_caught_where_nothing_is_handled() {
    let text = "func @f() -> any {\n^1:\n  %1: any = core.caught\n  return %1\n}";
    assert_eq!(run(text, &[]), "rethrow() not allowed outside a catch block");
    let text = "func @f() -> any {\n^1:\n  %1: any = core.backtrace\n  return %1\n}";
    assert_eq!(run(text, &[]), "String[]");
}
