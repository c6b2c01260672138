//! Scripts do within contexts what they do without: 1,000 cases. `regraft fuzz --contexts` runs as many more as one likes.

use std::sync::Arc;

use regraft_testing::{Fuzzer, Tally};

/// Cases of the fuzzer, from one on.
#[track_caller]
fn fuzz(cases: std::ops::Range<u64>) {
    let extensions = Arc::new(regraft_ad::extensions());
    let fuzzer = Fuzzer::new(&extensions, 1).contexts();
    let mut tally = Tally::default();
    for number in cases {
        match fuzzer.case(number, &[]) {
            Ok(more) => tally.add(more),
            Err(find) => {
                panic!("case {number}:\n{}\n{}", find.kind, find.script.unwrap_or_default())
            }
        }
    }
    // Most runs say something.
    assert!(20 * tally.skipped < tally.cases, "{tally:?}");
}

#[test]
fn scripts_do_the_same_within_contexts() {
    fuzz(0..500);
}

#[test]
fn scripts_do_the_same_within_contexts_as_well_from_another_case_on() {
    fuzz(500..1000);
}
