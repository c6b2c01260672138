//! Generated modules as a `proptest` strategy.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use regraft_dialects::arith;
use regraft_ir::verify_module;
use regraft_testing::generate::{Config, ModuleCase};
use regraft_testing::modules;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_copy_is_structurally_equal_and_valid(case in modules(Config::default())) {
        let copy = case.module.clone();
        prop_assert!(copy.structural_eq(&case.module));
        prop_assert!(verify_module(&copy).is_ok());
    }

    #[test]
    fn new_numbers_change_nothing_else(case in modules(Config::default())) {
        let mut copy = case.module.clone();
        for (_, f) in copy.functions_mut() {
            f.renumber();
            prop_assert_eq!(f.check_invariants(), Ok(()));
        }
        prop_assert!(copy.structural_eq(&case.module));
        prop_assert!(verify_module(&copy).is_ok());
    }
}

fn multiplications(case: &ModuleCase) -> usize {
    let count =
        |f: &regraft_ir::Function| f.all_insts().filter(|&v| f.op(v) == Some(arith::MUL)).count();
    case.module.functions().map(count).sum()
}

#[test]
fn a_failing_case_shrinks_to_what_makes_it_fail() {
    let config = ProptestConfig { failure_persistence: None, cases: 5_000, ..Default::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // Branches, nests of loops and irreducible regions have two multiplications in one decision, and are
    // small to the shrinker.
    let config = Config { max_functions: 1, max_depth: 0, ..Config::default() };
    let found = runner.run(&modules(config), |case| {
        if multiplications(&case) >= 2 {
            return Err(TestCaseError::fail("two multiplications"));
        }
        Ok(())
    });
    let Err(TestError::Fail(_, case)) = found else { panic!("{found:?}") };
    let text = "\
func @main() -> i64 {
^1:
  %1: i64 = arith.mul 0, 0
  %2: i64 = arith.mul 0, 0
  return 0
}
";
    assert_eq!(case.module.to_string(), text);
}
