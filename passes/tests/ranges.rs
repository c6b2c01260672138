//! Ranges of values, as text.

use regraft_passes::Analyses;
use regraft_passes::analysis::Ranges;
use regraft_syntax::parse_module;

#[track_caller]
fn check(text: &str, expected: &str) {
    let module = parse_module(&regraft_dialects::context(), "ranges.ir", text)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    regraft_ir::verify_module(&module)
        .unwrap_or_else(|errors| panic!("{}", regraft_ir::render_all(&errors, false)));
    let f = module.function("f").expect("it is there");
    let found = Analyses::default().get::<Ranges>(f).describe(f);
    assert!(found == expected, "found\n{found}\nexpected\n{expected}");
}

#[test]
fn a_counter_stays_between_its_start_and_its_limit() {
    check(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: bool = arith.lt %2, 10
  br %3, ^3, ^4
^3:
  %4: i64 = arith.add %2, 1
  br ^2(%4)
^4:
  return %2
}
",
        "^2
  %2: 0 .. 10
^3
  %4: 1 .. 10
  %2: 0 .. 9 from here
  %3: true from here
^4
  %2: 10 from here
  %3: false from here
",
    );
}

#[test]
fn a_counter_up_to_an_unknown_limit_does_not_wrap() {
    // Also where the test stands at the end of the loop, on the edge that goes back.
    check(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: i64 = arith.add %2, 1
  %4: bool = arith.lt %3, %1
  br %4, ^2(%3), ^3
^3:
  return %3
}
",
        "^2
  %2: 0 .. 9223372036854775806
  %3: 1 ..
^3
  %4: false from here
",
    );
}

#[test]
fn counting_down_stops_at_zero_and_nested_counters_are_apart() {
    check(
        "func @f(%1: i8) -> i8 {
^1:
  br ^2(100i8)
^2(%2: i8):
  %3: bool = arith.gt %2, 0i8
  br %3, ^3(0i8), ^5
^3(%4: i8):
  %5: bool = arith.ge %4, %2
  br %5, ^6, ^4
^4:
  %6: i8 = arith.add %4, 2i8
  br ^3(%6)
^5:
  return %2
^6:
  %7: i8 = arith.sub %2, 1i8
  br ^2(%7)
}
",
        "^2
  %2: 0 .. 100
^3
  %4: 0 .. 101
  %2: 1 .. 100 from here
  %3: true from here
^4
  %6: 2 .. 101
  %2: 1 .. 100 from here
  %4: 0 .. 99 from here
  %5: false from here
^5
  %2: 0i8 from here
  %3: false from here
^6
  %7: 0 .. 99
  %2: 1 .. 100 from here
  %5: true from here
",
    );
}

#[test]
fn what_may_wrap_can_be_anything() {
    check(
        "func @f(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%2: i64):
  %3: i64 = arith.add %2, 3
  %4: bool = arith.ne %3, %1
  br %4, ^2(%3), ^3
^3:
  return %3
}
",
        "^3
  %4: false from here
",
    );
}

#[test]
fn floats_are_known_by_their_kinds() {
    check(
        "func @f(%1: f64, %2: i32) -> f64 {
^1:
  %3: f64 = arith.mul %1, %1
  %4: f64 = math.sqrt %3
  %5: f64 = arith.int_to_float %2
  %6: bool = arith.lt %1, 0.0
  br %6, ^2, ^3
^2:
  %7: unit = core.print %1
  return %4
^3:
  %8: f64 = math.sqrt %1
  return %8
}
",
        "^1
  %3: 0, 0 to 1, above 1, inf, NaN
  %4: 0, 0 to 1, above 1, inf, NaN
  %5: below -1, -1 to 0, 0, 0 to 1, above 1
^2
  %1: -inf, below -1, -1 to 0 from here
  %6: true from here
^3
  %8: 0, 0 to 1, above 1, inf, NaN
  %1: 0, 0 to 1, above 1, inf, NaN from here
  %6: false from here
",
    );
}

#[test]
fn what_is_never_reached_is_said() {
    check(
        "func @f(%1: array<f64, 2>) -> i64 {
^1:
  %2: i64 = mem.size %1, 2
  %3: tuple<i64, i64> = mem.shape %1
  %4: i64 = core.get %3, 1
  %5: bool = arith.lt %4, 0
  br %5, ^2, ^3
^2:
  return 1
^3:
  return %2
}
",
        "^1
  %2: 0 ..
  %4: 0 ..
  %5: false
^2 is never reached
",
    );
}
