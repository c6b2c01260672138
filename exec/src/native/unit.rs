//! Functions that are compiled together, and the code that there is for them.

use std::rc::Rc;

use super::context::Compiled;
use super::source::Source;

/// Memory that holds machine code, and is freed with it.
pub(crate) trait MachineCode {}

/// A compiler to machine code.
pub(crate) trait Backend {
    /// Compiles functions, which may call each other. The results are in their order.
    ///
    /// # Errors
    /// If the back end refuses one: a function may be too large for it.
    fn compile(
        &self,
        members: &[Source<'_>],
    ) -> Result<(Rc<dyn MachineCode>, Vec<Compiled>), String>;
}

/// Functions that were compiled together.
pub(crate) struct Unit {
    /// Their slots in the world.
    pub(crate) members: Vec<u32>,
    /// The slots of what they call directly.
    pub(crate) callees: Vec<u32>,
    /// Kept as long as it may run.
    pub(crate) _code: Rc<dyn MachineCode>,
}
