//! Native code and the interpreter do the same, on programs that random pipelines have been through,
//! and on derivatives.

use std::sync::Arc;

use regraft_exec::native_engines;
use regraft_ir::Extensions;
use regraft_testing::Fuzzer;

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
