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

/// It would happen once for each direction.
#[test]
fn in_several_directions_nothing_may_be_changed_by_what_is_called_for_each() {
    let text = "
func @g(%a: array<f64, 1>, %x: f64) -> f64 {frule=@g_rule} {
^1:
  return %x
}
func @g_rule(%t: tuple<unit, array<f64, 1>, f64>, %a: array<f64, 1>, %x: f64) -> tuple<f64, f64> {
^1:
  mem.store %a, %x, 1
  %1: f64 = core.get %t, 3
  %2: tuple<f64, f64> = core.tuple %x, %1
  return %2
}
func @dynamic(%g: any, %t: any, %x: any) -> any {
^1:
  return %x
}
func @f(%x: f64, %a: array<f64, 1>, %h: any) -> f64 {
^1:
  %1: f64 = call @g(%a, %x)
  %2 = core.apply %h, %x
  %3: f64 = core.typeassert %2
  %4: f64 = arith.add %1, %3
  return %4
}";
    let mut module = parse(text);
    let (f, dynamic) = (module.ctx().symbol("f"), module.ctx().symbol("dynamic"));
    let mut options = ForwardOptions { dynamic: Some(dynamic), ..ForwardOptions::default() };
    assert!(forward(&mut module.clone(), f, &[true, true, false], &options).is_ok());
    options.width = 2;
    let errors = forward(&mut module, f, &[true, true, false], &options).unwrap_err();
    let messages: Vec<_> = errors.iter().map(Diagnostic::message).collect();
    assert_eq!(
        messages,
        [
            "the rule @g_rule may change objects or print, so that there can be only one direction at a time",
            "what is called is not known here, so that there can be only one direction at a time",
        ]
    );
}

#[test]
fn there_is_no_such_function() {
    let mut module = parse("");
    let f = module.ctx().symbol("f");
    let errors = forward(&mut module, f, &[], &ForwardOptions::default()).unwrap_err();
    assert_eq!(errors[0].message(), "there is no function @f");
}
