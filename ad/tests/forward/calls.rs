//! Calls: rules, constant functions, calls that are only known when the program runs.

use super::*;

#[test]
fn a_rule_takes_the_place_of_a_derivative() {
    let text = "
func @g(%x: f64, %y: f64) -> f64 {frule=@g_rule} {
^1:
  %1: f64 = arith.mul %x, %y
  return %1
}
func @g_rule(%t: tuple<unit, f64, f64>, %x: f64, %y: f64) -> tuple<f64, f64> {
^1:
  %1: f64 = call @g(%x, %y)
  %2: f64 = core.get %t, 2
  %3: f64 = core.get %t, 3
  %4: f64 = arith.mul %3, 100.0
  %5: f64 = arith.add %2, %4
  %6: tuple<f64, f64> = core.tuple %1, %5
  return %6
}
func @f(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = call @g(%x, %y)
  %2: f64 = call @g(2.0, 3.0)
  %3: f64 = arith.add %1, %2
  return %3
}";
    let mut run = Run::new(text, &[true, true], 1);
    let args = [2.0.into(), 5.0.into(), 1.0.into(), 0.5.into()];
    let pair = run.call("f.jvp", &args);
    assert_eq!(show_string(&run.ctx, &pair), "(16.0, 51.0)");
    let mut run = Run::new(text, &[true, true], 2);
    let (first, second) =
        (Val::tuple([1.0.into(), 0.0.into()]), Val::tuple([0.0.into(), 1.0.into()]));
    let pair = run.call("f.jvp.x2", &[2.0.into(), 5.0.into(), first, second]);
    assert_eq!(show_string(&run.ctx, &pair), "(16.0, (1.0, 100.0))");
}

#[test]
fn a_rule_may_know_no_types() {
    let text = "
func @g(%x: f64) -> f64 {frule=@g_rule} {
^1:
  return %x
}
func @g_rule(%t: any, %x: any) -> any {
^1:
  %1 = data.getfield %t, 2
  %2 = arith.mul %1, 10.0
  %3 = core.tuple %x, %2
  return %3
}
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = call @g(%x)
  return %1
}";
    let mut run = Run::new(text, &[true], 1);
    let pair = run.call("f.jvp", &[2.0.into(), 3.0.into()]);
    assert_eq!(show_string(&run.ctx, &pair), "(2.0, 30.0)");
}

#[test]
fn what_is_declared_constant_is() {
    let text = "
func @g(%x: f64) -> f64 {derivative=:none} {
^1:
  %1: f64 = arith.bitcast %x
  return %1
}
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = call @g(%x)
  %2: f64 = arith.mul %1, %x
  return %2
}";
    let mut run = Run::new(text, &[true], 1);
    let args = [2.0.into(), 1.0.into()];
    let pair = run.call("f.jvp", &args);
    let pair = pair.as_fields().unwrap();
    assert_eq!(pair[0].as_f64().unwrap(), 2.0 * pair[1].as_f64().unwrap());
}

const DYNAMIC: &str = "
func @apply(%g: any, %x: f64) -> f64 {
^1:
  %1 = core.apply %g, %x, 2
  %2: f64 = core.typeassert %1
  return %2
}
func @times(%x: f64, %n: i64) -> f64 {
^1:
  %1: f64 = arith.int_to_float %n
  %2: f64 = arith.mul %x, %1
  return %2
}
func @dynamic(%g: any, %t: any, %x: any, %n: any) -> any {
^1:
  %1 = core.apply %g, %x, %n
  %2 = data.getfield %t, 2
  %3: f64 = core.typeassert %2
  %4: f64 = arith.mul %3, 2.0
  %5: tuple<any, f64> = core.tuple %1, %4
  return %5
}
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = call @apply(@times, %x)
  %2: f64 = call @apply(@times, 3.0)
  %3: f64 = arith.mul %1, %2
  return %3
}";

#[test]
fn what_is_called_may_be_left_to_the_language() {
    let mut module = parse(DYNAMIC);
    let dynamic = Some(module.ctx().symbol("dynamic"));
    let options = ForwardOptions { dynamic, ..ForwardOptions::default() };
    let mut run = Run::with(&mut module, &[true], &options);
    run.check(&[1.5.into()]);
}

#[test]
fn each_function_is_made_once_for_each_choice_of_arguments() {
    let text = "
func @g(%x: f64, %y: f64) -> f64 {
^1:
  %1: f64 = arith.mul %x, %y
  return %1
}
func @f(%x: f64) -> f64 {
^1:
  %1: f64 = call @g(%x, 2.0)
  %2: f64 = call @g(%1, 3.0)
  %3: f64 = call @g(%2, %1)
  %4: f64 = call @g(2.0, 3.0)
  %5: f64 = arith.add %3, %4
  return %5
}";
    let mut module = parse(text);
    let options = ForwardOptions::default();
    differentiate(&mut module, &[true], &options);
    let all = ["g", "f", "f.jvp", "g.jvp_1", "g.jvp"];
    assert_eq!(names(&module), all);
    // Asked again, it is there already; in another width, it is another one.
    assert_eq!(differentiate(&mut module, &[true], &options), "f.jvp");
    assert_eq!(names(&module), all);
    let wide = ForwardOptions { width: 3, ..ForwardOptions::default() };
    assert_eq!(differentiate(&mut module, &[true], &wide), "f.jvp.x3");
    check(text, &[1.3.into()]);
}

#[test]
fn a_name_that_is_taken_is_not_touched() {
    let text = "
func @f(%x: f64) -> f64 {
^1:
  return %x
}
func @f.jvp(%x: f64, %y: f64) -> tuple<f64, f64> {
^1:
  %1: tuple<f64, f64> = core.tuple %x, 7.0
  return %1
}";
    let mut module = parse(text);
    assert_eq!(differentiate(&mut module, &[true], &ForwardOptions::default()), "f.jvp.1");
}
