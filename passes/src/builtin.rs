//! The passes that the manager itself offers: `verify` and `print`.

use regraft_ir::Function;

use crate::pass::{FunctionPass, PassContext, PassResult};
use crate::registry::PassRegistry;

/// Adds the passes of this file.
pub fn register(registry: &mut PassRegistry) {
    registry.add::<Print>();
}

crate::pass! {
    /// Prints each function as it is at this place of the pipeline.
    ///
    /// Nothing is changed. The text goes to where the report of the pipeline goes, function
    /// after function in module order.
    #[derive(Debug, Default)]
    pub struct Print;
}

impl FunctionPass for Print {
    const NAME: &'static str = "print";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        cx.print(&f.to_string());
        Ok(())
    }
}
