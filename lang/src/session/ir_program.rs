//! Programs that come as IR, in a session.

use std::sync::Arc;

use regraft_ir::{Diagnostic, Module};

use super::Session;

impl Session {
    /// Defines the functions of a module of the context of the session, as methods for arguments
    /// of the types of their parameters, and its structs as types. From then on they are functions
    /// like those of scripts: `f(1.0)` calls `@f`, and so does `gradient(f, 1.0)`.
    ///
    /// ```
    /// # use regraft_lang::Session;
    /// let ctx = regraft_dialects::context();
    /// let text = "func @f(%x: f64) -> f64 {\n^1:\n  %y: f64 = arith.mul %x, %x\n  return %y\n}\n";
    /// let module = regraft_syntax::parse_and_verify(&ctx, "f.ir", text).unwrap();
    /// let mut session = Session::new(&ctx);
    /// session.define_module(&module).unwrap();
    /// let value = session.eval("(f(3.0), gradient(f, 3.0))").unwrap();
    /// assert_eq!(session.show(&value), "(9.0, (6.0,))");
    /// ```
    ///
    /// # Errors
    /// If a name stands for something else, such as a variable.
    ///
    /// # Panics
    /// If the module is one of another context.
    pub fn define_module(&mut self, module: &Module) -> Result<(), Vec<Diagnostic>> {
        assert!(Arc::ptr_eq(module.ctx(), &self.ctx), "the module is one of another context");
        self.with_world(|world| world.define_module(module))
    }
}
