//! Verifying after every pass.

use std::sync::{Mutex, MutexGuard, PoisonError};

use regraft_ir::{Diagnostic, Function, Module, VerifyCache, verify_changed, verify_function_in};

use super::{Execution, Log, Observer, Unit};
use crate::pipeline::Pipeline;

/// Verifies the module before the first pass, and after each pass what it changed. What a pass
/// did not change by the word of the epochs is not looked at again.
///
/// A pass over functions must not change the signature of a function: functions are run
/// independently of each other, so that nobody could look after the callers.
#[derive(Debug, Default)]
pub struct Verify {
    /// The functions that are known to be valid, for module passes.
    cache: Mutex<VerifyCache>,
}

impl Verify {
    fn cache(&self) -> MutexGuard<'_, VerifyCache> {
        // Every entry of the cache is right by itself, also where a panic ended its filling.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Verify {
    fn name(&self) -> &'static str {
        "the verifier"
    }

    fn begin(&self, module: &Module, _: &Pipeline, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        verify_changed(module, &mut self.cache())
    }

    fn after(&self, execution: &Execution<'_>, _: &mut Log) -> Result<(), Vec<Diagnostic>> {
        if !execution.changed {
            return Ok(());
        }
        match (execution.before, execution.after) {
            (Unit::Function(before), Unit::Function(after)) => {
                verify_function_in(after, execution.signatures)?;
                same_signature(before, after)?;
                if let Some(id) = execution.id {
                    self.cache().mark_clean(id, after.stamp());
                }
                Ok(())
            }
            (_, Unit::Module(module)) => verify_changed(module, &mut self.cache()),
            (Unit::Module(_), Unit::Function(_)) => Ok(()),
        }
    }
}

fn same_signature(before: &Function, after: &Function) -> Result<(), Vec<Diagnostic>> {
    let parts = |f: &Function| (f.name(), f.ret_type(), f.param_types());
    if parts(before) == parts(after) {
        return Ok(());
    }
    let message = format!(
        "a pass over functions cannot change {} into {}",
        signature(before),
        signature(after)
    );
    Err(vec![Diagnostic::error(message).help("make it a pass over modules that sees all callers")])
}

/// The signature as IR text.
fn signature(f: &Function) -> String {
    let types: Vec<String> = f.param_types().iter().map(|&ty| f.ctx().type_text(ty)).collect();
    format!("@{}({}) -> {}", f.name_str(), types.join(", "), f.ctx().type_text(f.ret_type()))
}
