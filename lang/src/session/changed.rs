//! Running changed copies of the functions of a session.

use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use regraft_exec::{Engine, Interpreter};
use regraft_ir::Module;

use super::Session;
use crate::world_resolver::WorldResolver;

impl Session {
    /// An interpreter of the functions of a module for the time that `run` takes: with the world,
    /// the globals, the output and the limits of the session. What [`typed`](Self::typed) gave can
    /// be run so after it was changed; functions that are not in the module are those of the
    /// session.
    pub fn with_interpreter<T>(
        &mut self,
        module: &Module,
        run: impl FnOnce(&mut Interpreter) -> T,
    ) -> T {
        let mut interpreter = Interpreter::new(module);
        let services = Rc::new(self.services());
        let resolver = WorldResolver::new(&self.compiler).generating(services);
        interpreter.set_call_resolver(Box::new(resolver));
        // The session has set the same before, so there is such an engine.
        let set = interpreter.set_engine(self.interpreter.engine());
        debug_assert!(set.is_ok(), "{set:?}");
        interpreter.set_limits(self.limits);
        interpreter.set_threads(self.interpreter.threads());
        swap(interpreter.host_mut(), self.interpreter.host_mut());
        let result = catch_unwind(AssertUnwindSafe(|| run(&mut interpreter)));
        // Whatever happened, the globals belong to the session.
        swap(interpreter.host_mut(), self.interpreter.host_mut());
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
