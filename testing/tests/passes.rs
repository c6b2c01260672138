//! Every registered pass, alone and with others, preserves the meaning of generated programs.

use regraft_passes::{PassKind, PassRegistry};
use regraft_testing::choices::Choices;
use regraft_testing::generate::Config;
use regraft_testing::{CompareConfig, Tester};

/// Runs `cases` modules through a pipeline, and checks that this said something: most runs have
/// to be conclusive.
#[track_caller]
fn preserves(tester: &Tester, pipeline: &str) {
    let preserved = tester.preserves(pipeline);
    let runs = preserved.runs;
    assert!(runs.returned > runs.trapped, "{pipeline}: {preserved:?}");
    assert!(runs.returned + runs.trapped > 20 * runs.inconclusive, "{pipeline}: {preserved:?}");
}

fn names() -> Vec<&'static str> {
    PassRegistry::standard().iter().map(|pass| pass.name).filter(|&name| name != "print").collect()
}

#[test]
fn doing_nothing_preserves_meaning() {
    preserves(&Tester::new().cases(1_000), "verify");
}

#[test]
fn each_pass_preserves_meaning() {
    for name in names() {
        preserves(&Tester::new().cases(300), name);
    }
}

#[test]
fn each_pass_preserves_the_meaning_of_code_on_numbers() {
    let tester = Tester::new().generate(Config { max_statements: 25, ..Config::scalar() });
    let tester = tester.cases(200).seed(1_000_000);
    for name in names() {
        preserves(&tester, name);
    }
}

#[test]
fn random_pipelines_preserve_meaning() {
    let names = names();
    let registry = PassRegistry::standard();
    let loops: Vec<&str> =
        registry.iter().filter(|pass| pass.kind == PassKind::Loop).map(|pass| pass.name).collect();
    for seed in 0..60 {
        let mut choices = Choices::from_seed(seed);
        let count = 2 + choices.below(5);
        let mut steps: Vec<String> = Vec::new();
        for _ in 0..count {
            let name = choices.pick(&names);
            steps.push(match choices.below(4) {
                0 => format!("fix{{max=3}}({name}, {})", choices.pick(&names)),
                1 => format!("loop({}, {})", choices.pick(&loops), choices.pick(&loops)),
                _ => name.to_owned(),
            });
        }
        let tester = Tester::new().cases(15).seed(2_000_000 + 100 * seed);
        preserves(
            &tester.compare(CompareConfig { inputs: 4, ..CompareConfig::default() }),
            &steps.join(", "),
        );
    }
}
