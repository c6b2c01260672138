//! Errors of functions that have no derivative, with the calls that lead there.

use super::*;

#[test]
fn an_op_without_derivative() {
    let text = "
func @h(%x: f64) -> f64 {
^1:
  %1: f64 = arith.bitcast %x
  return %1
}
func @g(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = call @h(%x)
  %2: f64 = call @h(%y)
  return %1
}
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = call @g(%x, 2.0)
  return %1
}";
    insta::assert_snapshot!(errors(text, &[true]));
}

#[test]
fn a_function_that_refuses_and_a_call_that_is_not_known() {
    let text = "
func @g(%x: f64) -> f64 {derivative=\"it is a table\"} {
^1:
  return %x
}
func @f(%x: f64, %g: any) -> f64 {
^1:
  %1: f64 = call @g(%x)
  %2 = core.apply %g, %x
  core.set_global :y, %x
  %3: f64 = core.typeassert %2
  return %3
}";
    insta::assert_snapshot!(errors(text, &[true, false]));
}

#[test]
fn what_is_not_active_may_be_anything() {
    let text = "
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = arith.bitcast %y
  %2: f64 = arith.mul %x, %1
  return %2
}";
    Run::new(text, &[true, false], 1).check(&[0.7.into(), 1.3.into()]);
}

#[test]
fn types_that_are_not_known() {
    let text = "
func @f(%x: any, %a: any) -> any {
^1:
  %1 = arith.mul %x, 2.0
  %2 = mem.load %a, 1
  %3 = data.getfield %a, :x
  return %1
}";
    insta::assert_snapshot!(errors(text, &[true, true]));
}

#[test]
fn there_is_no_such_function() {
    let mut module = parse("");
    let f = module.ctx().symbol("f");
    let errors = forward(&mut module, f, &[], &ForwardOptions::default()).unwrap_err();
    assert_eq!(errors[0].message(), "there is no function @f");
}
