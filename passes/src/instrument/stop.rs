//! Stopping after a number of executions, to find the one that does harm.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use regraft_ir::{Diagnostic, Module};

use super::{Log, Observer, PassRun, Schedule};
use crate::pipeline::Pipeline;

/// Ends the pipeline after a number of executions (a pass on a function, or on the module, is
/// one). The count is that of a run in module order, each function through a whole sequence of
/// function passes, so that it is the same in every run.
#[derive(Debug)]
pub struct StopAfter {
    limit: u64,
    count: AtomicU64,
}

impl StopAfter {
    /// Lets `limit` executions through.
    pub fn new(limit: u64) -> Self {
        Self { limit, count: AtomicU64::new(0) }
    }
}

impl Observer for StopAfter {
    fn name(&self) -> &'static str {
        "the limit of executions"
    }

    fn schedule(&self) -> Schedule {
        Schedule::InOrder
    }

    fn begin(&self, _: &Module, _: &Pipeline, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        self.count.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn before(&self, _: &PassRun<'_>) -> ControlFlow<()> {
        // One thread counts, see `schedule`.
        if self.count.fetch_add(1, Ordering::Relaxed) < self.limit {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}
