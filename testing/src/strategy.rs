//! Generated modules for `proptest`.

use std::sync::Arc;

use proptest::prelude::Rng;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use regraft_ir::{Context, Extensions};

use crate::generate::{Config, ModuleCase};
use crate::shrink::Shrinker;

/// The most simpler cases that are tried to shrink one.
const ATTEMPTS: u32 = 20_000;

/// Random valid modules of the ops of `regraft-dialects`.
///
/// ```
/// use proptest::prelude::*;
/// use regraft_testing::{generate::Config, modules};
///
/// proptest!(ProptestConfig::with_cases(8), |(case in modules(Config::scalar()))| {
///     prop_assert!(regraft_ir::verify_module(&case.module).is_ok());
/// });
/// ```
pub fn modules(config: Config) -> ModuleStrategy {
    modules_of(&Arc::new(Extensions::new(regraft_dialects::registry())), config)
}

/// Random valid modules of the ops of `extensions`, which have to hold the dialects `core`, `cf`
/// and `arith`.
pub fn modules_of(extensions: &Arc<Extensions>, config: Config) -> ModuleStrategy {
    ModuleStrategy { extensions: Arc::clone(extensions), config: Arc::new(config) }
}

/// A strategy of modules: see [`modules`].
#[derive(Clone, Debug)]
pub struct ModuleStrategy {
    extensions: Arc<Extensions>,
    config: Arc<Config>,
}

impl ModuleStrategy {
    fn replay(&self, choices: &[u32]) -> ModuleCase {
        ModuleCase::replay(&Context::with_extensions(&self.extensions), &self.config, choices)
    }
}

impl Strategy for ModuleStrategy {
    type Tree = ModuleTree;
    type Value = ModuleCase;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = runner.rng().next_u64();
        let ctx = Context::with_extensions(&self.extensions);
        let case = ModuleCase::from_seed(&ctx, &self.config, seed);
        let shrinker = Shrinker::new(case.choices.clone(), case.spans.clone(), ATTEMPTS);
        Ok(ModuleTree { strategy: self.clone(), case, shrinker, pending: false })
    }
}

/// A module that shrinks.
#[derive(Clone, Debug)]
pub struct ModuleTree {
    strategy: ModuleStrategy,
    case: ModuleCase,
    shrinker: Shrinker,
    /// True if the case is a candidate of which it is not yet known whether it fails.
    pending: bool,
}

impl ModuleTree {
    fn next_candidate(&mut self) -> bool {
        match self.shrinker.candidate() {
            Some(candidate) => {
                self.case = self.strategy.replay(&candidate);
                self.pending = true;
                true
            }
            None => false,
        }
    }
}

impl ValueTree for ModuleTree {
    type Value = ModuleCase;

    fn current(&self) -> ModuleCase {
        self.case.clone()
    }

    fn simplify(&mut self) -> bool {
        // To be asked for something simpler says that the case at hand fails.
        if std::mem::take(&mut self.pending) {
            self.shrinker.accept(self.case.choices.clone(), self.case.spans.clone());
        }
        self.next_candidate()
    }

    fn complicate(&mut self) -> bool {
        self.pending = false;
        if self.next_candidate() {
            return true;
        }
        self.case = self.strategy.replay(self.shrinker.best());
        false
    }
}
