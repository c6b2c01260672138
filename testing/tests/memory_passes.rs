//! Passes that move and merge loads, on many programs over arrays that may be the same.

use regraft_testing::Tester;
use regraft_testing::generate::Config;

#[track_caller]
fn preserves(seed: u64, pipeline: &str) {
    let tester = Tester::new().cases(400).seed(seed);
    let runs = tester.preserves(pipeline).runs;
    assert!(runs.returned > runs.trapped, "{pipeline}: {runs:?}");
    let large = Config { max_statements: 60, ..Config::default() };
    let _ = Tester::new().generate(large).cases(150).seed(seed + 1_000_000).preserves(pipeline);
}

#[test]
fn licm_preserves_meaning() {
    preserves(3_000_000, "licm");
    preserves(4_000_000, "simplify-cfg, loop(licm)");
}

#[test]
fn gvn_preserves_meaning() {
    preserves(5_000_000, "gvn");
    preserves(6_000_000, "simplify-cfg, gvn, licm, gvn, dce");
    preserves(6_500_000, "gvn{first-visits}, loop-idiom, loop-delete, dse");
}

#[test]
fn rotated_loops_lose_what_may_trap_and_keep_their_meaning() {
    preserves(7_000_000, "loop-simplify, loop-rotate, licm, gvn, licm, dce");
    preserves(8_000_000, "loop(loop-simplify, loop-rotate, licm), gvn, simplify-cfg");
}
