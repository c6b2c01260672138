//! Loading the prelude.

use regraft_ir::Diagnostic;
use regraft_syntax::julia;

use super::Session;
use crate::definition::Space;
use crate::lower::{LowerOptions, lower};
use crate::prelude::FILES;

impl Session {
    /// Runs the files of the prelude. They are parsed and lowered as a whole; their methods are
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
        let options = LowerOptions {
            soft_scope: false,
            is_global: &|_| false,
            space: Space::Base,
            counter: &self.counter,
        };
        let items = lower(&self.ctx, &parsed.ast, &options)?;
        let mut errors = Vec::new();
        for item in items {
            if let Err(more) = self.run_item(item, Space::Base) {
                errors.extend(more);
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}
