//! Programs of floats: branches, loops, recursion.

use super::*;

#[test]
fn straight_line() {
    let text = "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = math.sin %x
  %2: f64 = arith.mul %1, %y
  %3: f64 = arith.sub %2, %x
  %4: f64 = arith.fdiv %3, %y
  %5: f64 = arith.fma %4, %x, %1
  return %5
}";
    check(text, &[0.7.into(), 1.3.into()]);
}

#[test]
fn a_float_of_single_precision() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  %1: f32 = arith.float_cast %x
  %2: f32 = arith.mul %1, 3.0f32
  %3: f64 = core.convert %2
  return %3
}";
    let mut run = Run::new(text, &[true], 1);
    let pair = run.call("f.jvp", &[0.5.into(), 1.25.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(1.5, 3.75)");
}

#[test]
fn integers_and_constants_on_the_way() {
    let text = "
func @f(%x: f64, %n: i64) -> tuple<f64, i64, f64, f64> {
^1:
  %1: i64 = arith.add %n, 1
  %2: f64 = arith.int_to_float %1
  %3: f64 = math.powi %x, %n
  %4: f64 = arith.mul %3, %2
  %5: i64 = arith.float_to_int %x
  %6: f64 = arith.floor %x
  %7: tuple<f64, i64, f64, f64> = core.tuple %4, %5, %2, %6
  return %7
}";
    check(text, &[1.7.into(), 3i64.into()]);
}

#[test]
fn branches() {
    let text = "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: bool = arith.lt %x, %y
  br %1, ^2(%x), ^3
^2(%2: f64):
  %3: f64 = arith.mul %2, %y
  br ^4(%3)
^3:
  br ^4(2.0)
^4(%4: f64):
  %5: f64 = arith.add %4, %x
  return %5
}";
    check(text, &[0.7.into(), 1.3.into()]);
    check(text, &[1.7.into(), 1.3.into()]);
}

#[test]
fn a_switch() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  switch %n, ^2(%x, 1.0), 1: ^3(%x), 2: ^2(3.0, %x)
^2(%1: f64, %2: f64):
  %3: f64 = arith.mul %1, %2
  %4: f64 = arith.add %3, %2
  return %4
^3(%5: f64):
  %6: f64 = math.exp %5
  return %6
}";
    for n in 0..4i64 {
        check(text, &[0.7.into(), n.into()]);
    }
}

/// `x^n`, as in the first example of the design of the text format.
const POW: &str = "
func @f(%1: f64, %2: i64) -> f64 {
^1:
  br ^2(%2, 1.0)
^2(%3: i64, %4: f64):
  %5: bool = arith.lt 0, %3
  br %5, ^3, ^4
^3:
  %6: i64 = arith.sub %3, 1
  %7: f64 = arith.mul %4, %1
  br ^2(%6, %7)
^4:
  return %4
}";

#[test]
fn a_loop() {
    check(POW, &[1.1.into(), 5i64.into()]);
    let mut run = Run::new(POW, &[true, false], 1);
    let pair = run.call("f.jvp", &[2.0.into(), 5i64.into(), 1.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(32.0, 80.0)");
    let pair = run.call("f.jvp", &[2.0.into(), 0i64.into(), 1.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(1.0, 0.0)");
}

#[test]
fn an_entry_that_is_a_loop_header() {
    let text = "
func @f(%x: f64, %acc: f64, %n: i64) -> f64 {
^1:
  %1: bool = arith.lt 0, %n
  br %1, ^2, ^3
^2:
  %2: i64 = arith.sub %n, 1
  %3: f64 = arith.mul %acc, %x
  br ^1(%x, %3, %2)
^3:
  return %acc
}";
    check(text, &[1.3.into(), 0.4.into(), 4i64.into()]);
}

#[test]
fn an_irreducible_loop() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  %1: bool = arith.lt %n, 3
  br %1, ^2(%x, %n), ^3(2.0, %n)
^2(%2: f64, %3: i64):
  %4: f64 = arith.mul %2, %x
  %5: i64 = arith.sub %3, 1
  %6: bool = arith.lt 0, %5
  br %6, ^3(%4, %5), ^4(%4)
^3(%7: f64, %8: i64):
  %9: f64 = math.sin %7
  %10: i64 = arith.sub %8, 1
  %11: bool = arith.lt 0, %10
  br %11, ^2(%9, %10), ^4(%9)
^4(%12: f64):
  return %12
}";
    for n in 1..7i64 {
        check(text, &[1.3.into(), n.into()]);
    }
}

#[test]
fn blocks_out_of_order() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  br ^3
^2:
  %1: f64 = arith.mul %2, %2
  return %1
^3:
  %2: f64 = math.exp %x
  br ^2
}";
    check(text, &[0.3.into()]);
}

#[test]
fn swaps_around_a_loop() {
    let text = "
func @f(%x: f64, %y: f64, %n: i64) -> tuple<f64, f64> {
^1:
  br ^2(%x, %y, 2.5, %n)
^2(%1: f64, %2: f64, %3: f64, %4: i64):
  %5: bool = arith.lt 0, %4
  %6: i64 = arith.sub %4, 1
  br %5, ^2(%2, %3, %1, %6), ^3
^3:
  %7: tuple<f64, f64> = core.tuple %1, %3
  return %7
}";
    for n in 0..4i64 {
        check(text, &[0.7.into(), 1.3.into(), n.into()]);
    }
}

#[test]
fn recursion() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  %1: bool = arith.le %n, 0
  br %1, ^2, ^3
^2:
  return 1.0
^3:
  %2: i64 = arith.sub %n, 1
  %3: f64 = call @f(%x, %2)
  %4: f64 = arith.mul %3, %x
  %5: f64 = math.sin %4
  return %5
}";
    check(text, &[1.2.into(), 5i64.into()]);
}

#[test]
fn mutual_recursion() {
    let text = "
func @f(%x: f64, %n: i64) -> f64 {
^1:
  %1: bool = arith.le %n, 0
  br %1, ^2, ^3
^2:
  return %x
^3:
  %2: i64 = arith.sub %n, 1
  %3: f64 = call @g(2.0, %2, %x)
  return %3
}
func @g(%k: f64, %n: i64, %x: f64) -> f64 {
^1:
  %1: f64 = call @f(%x, %n)
  %2: f64 = arith.mul %1, %k
  %3: f64 = math.sin %2
  return %3
}";
    check(text, &[1.2.into(), 5i64.into()]);
}

#[test]
fn a_select_of_what_is_infinite_is_not_spoilt() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = math.log %x
  %2: bool = arith.gt %x, 0.0
  %3: f64 = core.select %2, %1, 0.0
  return %3
}";
    let mut run = Run::new(text, &[true], 1);
    let pair = run.call("f.jvp", &[0.0.into(), 0.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(0.0, 0.0)");
    check(text, &[0.3.into()]);
}

#[test]
fn what_is_ignored_is_constant() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = ad.ignore %x
  %2: f64 = arith.mul %x, %1
  return %2
}";
    let mut run = Run::new(text, &[true], 1);
    let pair = run.call("f.jvp", &[3.0.into(), 1.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(9.0, 3.0)");
}

#[test]
fn what_is_printed_and_thrown_stays() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  core.println \"x = \", %x
  %1: bool = arith.lt %x, 0.0
  br %1, ^2, ^3
^2:
  core.throw \"negative\"
  unreachable
^3:
  return %x
}";
    let mut run = Run::new(text, &[true], 1);
    run.call("f.jvp", &[3.0.into(), 1.0.into()]);
    assert_eq!(run.engine.take_output(), "x = 3.0\n");
    let error = run.engine.call("f.jvp", &[(-3.0).into(), 1.0.into()]).unwrap_err();
    assert!(error.message().contains("negative"), "{}", error.message());
}

#[test]
fn variables_without_a_value_yet() {
    let text = "
func @f(%x: f64, %c: bool) -> f64 {
^1:
  %1: f64 = core.undef
  br %c, ^2(%x), ^2(%1)
^2(%2: f64):
  br %c, ^3, ^4
^3:
  %3: f64 = arith.mul %2, %2
  return %3
^4:
  return %x
}";
    check(text, &[1.2.into(), true.into()]);
    check(text, &[1.2.into(), false.into()]);
}

/// On the way to an error there are no derivatives, nor need there be any.
#[test]
fn the_way_to_an_error_is_as_it_was() {
    let text = "
func @f(%x: f64, %a: array<f64, 1>, %g: any) -> f64 {
^1:
  %1: bool = arith.lt %x, 0.0
  br %1, ^2(%x), ^4
^2(%2: f64):
  %3: f64 = arith.bitcast %2
  mem.store %a, %3, 1
  %4 = core.apply %g, %a
  %5: bool = arith.lt %3, 0.0
  br %5, ^2(%3), ^3
^3:
  core.throw %4
  unreachable
^4:
  %6: f64 = arith.mul %x, %x
  return %6
}";
    let text_made = made(text, &[true, true, false], 1);
    assert_eq!(text_made.matches("mem.store").count(), 1, "{text_made}");
    assert_eq!(text_made.matches("core.apply").count(), 1, "{text_made}");
    let mut run = Run::new(text, &[true, true, false], 1);
    let args = [3.0.into(), vector(&[1.0]), Val::Unit, 1.0.into(), vector(&[0.0])];
    let pair = run.call("f.jvp_1_2", &args);
    assert_eq!(show_string(&run.ctx, &pair), "(9.0, 6.0)");
}
