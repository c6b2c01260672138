//! Traces that passes leave beside the text: epochs, locations and provenance.

use regraft_ir::{Location, Value};
use regraft_passes::transforms::renumber::Renumber;
use regraft_passes::transforms::specialize_getfield::SpecializeGetfield;
use regraft_passes::{Options, run_pass};

use crate::{apply, only, parse, run_text};

#[test]
fn renumber_leaves_a_function_that_is_numbered_so_already() {
    let mut module = parse("func @f(%1: i64) -> i64 {\n^1:\n  return %1\n}\n");
    let f = only(&mut module);
    let before = f.stamp();
    assert!(run_pass::<Renumber>(f).expect("it cannot fail").is_empty());
    assert_eq!(f.stamp(), before);
}

#[test]
fn specialize_getfield_leaves_what_cannot_be_better_known() {
    // `fix` goes on as long as anything is.
    let mut module = parse(
        "func @f(%1: i64, %2: tuple<i64, f64>) -> any {
^1:
  %3: any = core.convert %1
  %4: any = arith.add %3, 2.5
  %5: any = core.get %2, 1
  %6: any = arith.mul %5, 2.5
  br ^2(%5)
^2(%7: any):
  %8: any = arith.sub %7, 2.5
  return %4
}
",
    );
    let before = only(&mut module).stamp();
    apply::<SpecializeGetfield>(&mut module, &Options::default());
    assert_eq!(before, only(&mut module).stamp());
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
    let Location::Inlined { at, callee, call_site } = ctx.location(f.loc(sin)) else {
        panic!("{:?}", ctx.location(f.loc(sin)))
    };
    assert_eq!(ctx.str(callee), "g");
    assert_eq!(ctx.loc_text(call_site), "test.ir:13:3");
    assert_eq!(ctx.loc_text(at), "test.ir:3:3, inlined at test.ir:8:3");
    let origin = f.origin(sin).expect("it is recorded");
    assert_eq!(ctx.str(origin.by), "inline");
}
