//! Loading the prelude.

use std::rc::Rc;

use regraft_ir::Diagnostic;
use regraft_syntax::julia;

use super::Session;
use crate::definition::Space;
use crate::lower::{Statement, lower_signatures};
use crate::prelude::FILES;

impl Session {
    /// Runs the files of the prelude. They are parsed as a whole; their methods are lowered and
    /// inferred when something calls them.
    pub(super) fn load_prelude(&mut self) {
        let mut errors = Vec::new();
        for (name, text) in FILES {
            if let Err(more) = self.load(name, text) {
                errors.extend(more);
            }
        }
        assert!(
            errors.is_empty(),
            "the prelude is wrong\n{}",
            regraft_ir::render_all(&errors, false)
        );
    }

    fn load(&mut self, name: &str, text: &str) -> Result<(), Vec<Diagnostic>> {
        let parsed = julia::parse(&self.ctx, name, text, julia::Options { prelude: true });
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        let counter = Rc::clone(&self.prelude_counter);
        let statements = lower_signatures(&self.ctx, parsed.ast, Space::Base, &counter)?;
        let mut errors = Vec::new();
        for statement in statements {
            match statement {
                Statement::Item(item) => {
                    errors.extend(self.run_item(item, Space::Base).err().into_iter().flatten());
                }
                Statement::Signatures(methods) => {
                    for (def, code) in methods {
                        let world = &mut self.compiler.borrow_mut().world;
                        let defined = world.define_later(&def, code);
                        errors.extend(defined.err().into_iter().flatten());
                    }
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}
