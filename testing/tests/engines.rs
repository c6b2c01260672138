//! Native code and the interpreter do the same, on programs that random pipelines have been through,
//! and on derivatives.

use std::sync::Arc;

use regraft_exec::native_engines;
use regraft_ir::{Extensions, Type};
use regraft_passes::PassRegistry;
use regraft_syntax::parse_module;
use regraft_testing::generate::Entry;
use regraft_testing::{CompareConfig, Fuzzer, Trial};

/// Runs so many cases; the first find is shown.
fn check(fuzzer: &Fuzzer, cases: u64) {
    for number in 0..cases {
        if let Err(find) = fuzzer.case(number, &[]) {
            panic!("case {number}:\n{}", find.reproducer());
        }
    }
}

fn fuzzer(seed: u64) -> Fuzzer {
    let extensions = Arc::new(Extensions::new(regraft_dialects::registry()));
    Fuzzer::new(&extensions, seed).engines(native_engines())
}

#[test]
fn two_thousand_programs_do_the_same_natively() {
    check(&fuzzer(1).scripts(30), 2_000);
}

#[test]
fn derivatives_that_run_natively_are_right() {
    check(&fuzzer(2).derivatives(), 60);
}

/// Found by the fuzzer: LLVM gives `min(0.0, -0.0)` as `0.0` where the sign of zero does not count.
#[test]
fn after_a_fast_pipeline_zero_may_have_another_sign() {
    let ctx = regraft_dialects::context();
    let text = "
func @main(%1: f64) -> any {
^1:
  %2: f64 = arith.abs %1
  %3: f64 = arith.min %2, -0.0
  return %3
}";
    let module = parse_module(&ctx, "test.ir", text).expect("it is a program");
    let main = Entry { name: "main".to_owned(), params: vec![Type::F64] };
    for engine in native_engines() {
        let compare = CompareConfig { engine, inputs: 200, ..CompareConfig::default() };
        let trial = Trial::new(&PassRegistry::standard(), "e-graph{math=fast}", &compare);
        let trial = trial.expect("there is such a pipeline");
        let (_, runs) = trial.run(&module, std::slice::from_ref(&main)).expect("they agree");
        assert_eq!(runs.agreed(), 200, "{}", engine.name());
    }
}
