//! `profile`.

use regraft_ir::Value;
use regraft_passes::transforms::profile::Profile;
use regraft_passes::{FunctionPass, Options, Setting};

use crate::{apply, check, check_with, only, parse};

/// The function of the lecture, with itself as the first parameter as IRTools has it.
const FOO: &str = "func @foo(%1: any, %2: f64, %3: f64) -> f64 {
^1:
  %4: f64 = arith.mul %2, %3
  %5: f64 = math.sin %3
  %6: f64 = arith.add %4, %5
  return %6
}
";

#[test]
fn the_statements_of_the_lecture_stand_in_its_order() {
    let mut module = parse(FOO);
    apply::<Profile>(&mut module, &Options::defaults(Profile::OPTIONS));
    let f = only(&mut module);
    let entry = f.entry().unwrap();
    let numbers: Vec<u32> = f.body(entry).map(Value::number).collect();
    assert_eq!(numbers, [7, 4, 8, 9, 5, 10, 11, 6, 12]);
}

#[test]
fn each_computation_is_between_its_records() {
    check::<Profile>(
        FOO,
        "func @foo(%1: any, %2: f64, %3: f64) -> f64 {
^1:
  %7: unit = prof.record_start :mul
  %4: f64 = arith.mul %2, %3
  %8: unit = prof.record_end :mul
  %9: unit = prof.record_start :sin
  %5: f64 = math.sin %3
  %10: unit = prof.record_end :sin
  %11: unit = prof.record_start :add
  %6: f64 = arith.add %4, %5
  %12: unit = prof.record_end :add
  return %6
}
",
    );
}

const CALLS: &str = "func @f(%1: any) -> any {
^1:
  %2: i64 = arith.add 1, 2
  %3: i64 = call @g(%2)
  %4: any = core.apply %1, %3
  %5: unit = core.print %4
  return %4
}
func @g(%1: i64) -> i64 {
^1:
  return %1
}
";

#[test]
fn calls_are_recorded_by_the_name_of_what_is_called() {
    let mut options = Options::defaults(Profile::OPTIONS);
    options.set(&Profile::OPTIONS[0], Setting::Text("calls".into())).unwrap();
    check_with::<Profile>(
        &options,
        CALLS,
        "func @f(%1: any) -> any {
^1:
  %2: i64 = arith.add 1, 2
  %6: unit = prof.record_start :g
  %3: i64 = call @g(%2)
  %7: unit = prof.record_end :g
  %8: unit = prof.record_start :apply
  %4: any = core.apply %1, %3
  %9: unit = prof.record_end :apply
  %5: unit = core.print %4
  return %4
}
func @g(%1: i64) -> i64 {
^1:
  return %1
}
",
    );
}

#[test]
fn computations_alone_can_be_recorded() {
    let mut options = Options::defaults(Profile::OPTIONS);
    options.set(&Profile::OPTIONS[0], Setting::Text("ops".into())).unwrap();
    check_with::<Profile>(
        &options,
        CALLS,
        "func @f(%1: any) -> any {
^1:
  %6: unit = prof.record_start :add
  %2: i64 = arith.add 1, 2
  %7: unit = prof.record_end :add
  %3: i64 = call @g(%2)
  %4: any = core.apply %1, %3
  %5: unit = core.print %4
  return %4
}
func @g(%1: i64) -> i64 {
^1:
  return %1
}
",
    );
}
