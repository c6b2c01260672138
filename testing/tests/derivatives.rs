//! Derivatives of random programs are right: 5,000 programs, in both modes, with all plans, before
//! and after pipelines. `regraft fuzz --ad` runs as many more as one likes.

use std::sync::Arc;

use regraft_ir::Extensions;
use regraft_testing::{Fuzzer, Tally};

/// Of 1,000 modules, so many may still show something wrong: reverse mode of some graphs with several
/// ways into a loop is.
const OPEN_MODULES: u64 = 0;

/// The same of scripts: reverse mode gives no shadow to what a call returns that gets nothing active,
/// such as an array that a comprehension of constants has made, even if it is written to later.
const OPEN_SCRIPTS: u64 = 0;

/// Cases from one on, of which so many of 100 are scripts.
#[track_caller]
fn fuzz(scripts: u32, cases: std::ops::Range<u64>) -> Tally {
    let extensions = Arc::new(Extensions::new(regraft_dialects::registry()));
    let fuzzer = Fuzzer::new(&extensions, 1).scripts(scripts);
    let fuzzer = fuzzer.derivatives().large();
    let (mut tally, mut wrong) = (Tally::default(), Vec::new());
    let count = cases.end - cases.start;
    for number in cases {
        match fuzzer.case(number, &[]) {
            Ok(more) => tally.add(more),
            Err(find) => wrong.push((number, find.kind.to_string())),
        }
    }
    let rules = tally.rules;
    println!("{} programs: {rules}; {} wrong", tally.cases, wrong.len());
    for (number, kind) in &wrong {
        println!("case {number}: {}", kind.lines().take(4).collect::<Vec<_>>().join(" "));
    }
    let open = if scripts == 0 { OPEN_MODULES } else { OPEN_SCRIPTS };
    assert!(wrong.len() as u64 * 1_000 <= open * count, "{} are wrong", wrong.len());
    assert!(rules.agreed > 3 * (rules.inconclusive + rules.trapped + rules.kinks), "{rules}");
    assert!(20 * tally.untyped < tally.cases, "{tally:?}");
    assert!(100 * tally.declared < tally.cases, "{tally:?}");
    tally
}

#[test]
fn derivatives_of_random_modules_are_right() {
    fuzz(0, 0..2_200);
}

#[test]
fn derivatives_of_more_random_modules_are_right() {
    fuzz(0, 2_200..4_400);
}

#[test]
fn derivatives_of_random_scripts_are_right() {
    let tally = fuzz(100, 0..600);
    assert!(tally.skipped < 60, "{tally:?}");
}
