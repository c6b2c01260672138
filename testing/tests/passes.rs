//! Every registered pass, alone and with others, preserves the meaning of generated programs:
//! 2,000 cases. `regraft fuzz` runs as many more as one likes.

use std::sync::Arc;

use regraft_ir::Extensions;
use regraft_passes::overdub::OverdubPass;
use regraft_passes::{FunctionPass, PassKind, PassRegistry};
use regraft_testing::generate::Config;
use regraft_testing::{Agreement, Fuzzer, Tally, Tester};

/// Runs `cases` modules through a pipeline, and checks that this said something: most runs have
/// to be conclusive.
#[track_caller]
fn preserves(tester: &Tester, pipeline: &str) {
    let preserved = tester.preserves(pipeline);
    tells_something(preserved.runs, pipeline);
}

/// Checks that most runs were conclusive, and did not end with an error.
#[track_caller]
fn tells_something(runs: Agreement, pipeline: &str) {
    assert!(runs.returned > runs.trapped, "{pipeline}: {runs:?}");
    assert!(runs.agreed() > 20 * runs.inconclusive, "{pipeline}: {runs:?}");
}

/// Runs cases through each pass by itself. Each returns more often than not; most runs of all together have to be conclusive, as
/// there are few of one pass.
#[track_caller]
fn each_preserves(tester: impl Fn(u64) -> Tester) {
    let mut all = Agreement::default();
    for (pass, number) in passes().iter().zip(0..) {
        let Agreement { returned, trapped, inconclusive } = tester(number).preserves(pass).runs;
        assert!(returned > trapped, "{pass}: {returned} returned, {trapped} did not");
        all.returned += returned;
        all.trapped += trapped;
        all.inconclusive += inconclusive;
    }
    tells_something(all, "all passes");
}

/// The passes by name, those of loops as they stand in `loop(..)`.
fn passes() -> Vec<String> {
    let registry = PassRegistry::standard();
    let text = |kind: PassKind, name: &str| match kind {
        PassKind::Loop => format!("loop({name})"),
        _ => name.to_owned(),
    };
    // Code that `overdub` has been over does what the context says.
    let passes = registry.iter().filter(|pass| pass.name != OverdubPass::NAME);
    passes.map(|pass| text(pass.kind, pass.name)).collect()
}

/// The number of cases that each of `count` pipelines has to run so that they are `total` together.
fn share(total: usize, count: usize) -> u32 {
    u32::try_from(total.div_ceil(count)).expect("a small number")
}

#[test]
fn doing_nothing_preserves_meaning() {
    preserves(&Tester::new().cases(100), "verify");
}

#[test]
fn each_pass_preserves_meaning() {
    let cases = share(600, passes().len());
    each_preserves(|number| Tester::new().cases(cases).seed(10_000 * number));
}

#[test]
fn each_pass_preserves_the_meaning_of_code_on_numbers() {
    let cases = share(300, passes().len());
    let config = || Config { max_statements: 25, ..Config::scalar() };
    each_preserves(|_| Tester::new().generate(config()).cases(cases).seed(1_000_000));
}

#[test]
fn pipelines_as_they_are_used_preserve_meaning() {
    let pipelines = [
        "O1",
        "O2",
        "loop-simplify, loop(licm, indvars, bounds-elim), O1",
        "inline, O2, loop(indvars, unroll), O2",
        "fix{max=3}(sccp, simplify-cfg, gvn, dce)",
    ];
    for (i, pipeline) in pipelines.iter().enumerate() {
        let tester = Tester::new().cases(share(300, pipelines.len()));
        preserves(&tester.seed(2_000_000 + 10_000 * i as u64), pipeline);
    }
}

/// Cases of the fuzzer, from one on.
#[track_caller]
fn fuzz(scripts: u32, cases: std::ops::Range<u64>) -> Tally {
    let extensions = Arc::new(Extensions::new(regraft_dialects::registry()));
    let fuzzer = Fuzzer::new(&extensions, 1).scripts(scripts);
    let mut tally = Tally::default();
    for number in cases {
        match fuzzer.case(number, &[]) {
            Ok(more) => tally.add(more),
            Err(find) => panic!("case {number}:\n{}", find.reproducer()),
        }
    }
    let runs = tally.runs;
    assert!(runs.returned > runs.trapped, "{tally:?}");
    assert!(runs.returned + runs.trapped > 20 * runs.inconclusive, "{tally:?}");
    tally
}

#[test]
fn random_pipelines_preserve_meaning() {
    let tally = fuzz(0, 0..650);
    assert!(tally.changed > 400, "{tally:?}");
}

#[test]
fn random_pipelines_preserve_the_meaning_of_scripts() {
    let tally = fuzz(100, 0..50);
    assert!(tally.scripts == 50 && tally.skipped < 10, "{tally:?}");
}
