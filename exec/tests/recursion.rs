//! Recursion in native code: its frames, and where it ends.

mod common;

use common::{module, native};
use regraft_exec::value::{Array, Val};
use regraft_exec::{Engine, EngineKind, ErrorKind, native_engines};

/// A function of so many arrays that calls itself with them, each in the place of the one before.
fn turning(arrays: usize) -> String {
    let list = |item: &dyn Fn(usize) -> String| {
        let items: Vec<String> = (0..arrays).map(item).collect();
        items.join(", ")
    };
    let params = list(&|i| format!("%a{i}: array<f64, 1>"));
    let turned = list(&|i| format!("%a{}", (i + 1) % arrays));
    format!(
        "
func @f({params}, %n: i64) -> f64 {{
^1:
  %done: bool = arith.lt %n, 1
  br %done, ^2, ^3
^2:
  return 0.0
^3:
  %m: i64 = arith.sub %n, 1
  %rest: f64 = call @f({turned}, %m)
  %first: f64 = mem.load %a0, 1
  %sum: f64 = arith.add %rest, %first
  return %sum
}}"
    )
}

/// The stack of values grows between a caller, which has written the arguments, and a callee.
#[test]
fn arguments_of_deep_recursion_stay_when_the_stack_grows() {
    for arrays in 1..=6 {
        let module = module(&turning(arrays));
        let args = (1..=arrays).map(|i| Val::from(Array::vector(&[i as f64])));
        let args: Vec<Val> = args.chain([Val::from(6000i64)]).collect();
        // Each array is the first one as often as the others.
        let sum = 6000.0 / arrays as f64 * (1..=arrays).sum::<usize>() as f64;
        for engine in native_engines() {
            let found = native(&module, engine).call("f", &args).expect("it ends");
            assert!(matches!(found, Val::F64(x) if x == sum), "{engine:?}, {arrays}: {found:?}");
        }
    }
}

#[test]
fn recursion_without_end_is_an_error() {
    let text = "
func @f(%1: i64) -> i64 {
^1:
  %2: i64 = arith.add %1, 1
  %3: i64 = call @f(%2)
  %4: i64 = arith.add %3, 1
  return %4
}";
    let error = native(&module(text), EngineKind::Cranelift)
        .call("f", &[0i64.into()])
        .expect_err("it does not end");
    assert_eq!(*error.kind(), ErrorKind::Depth);
}
