//! Functions that are compiled together, and the code that there is for them.

#[cfg(feature = "jit")]
use std::cell::OnceCell;
use std::rc::Rc;
#[cfg(feature = "jit")]
use std::thread::LocalKey;

use super::context::Compiled;
use super::source::Source;
use crate::engine::EngineKind;
use crate::interp::Pc;

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

/// The compiler of this thread, which is made if there is none.
///
/// # Errors
/// If `new` fails.
#[cfg(feature = "jit")]
pub(super) fn compiler_in<T>(
    place: &'static LocalKey<OnceCell<Rc<T>>>,
    new: impl FnOnce() -> Result<T, String>,
) -> Result<Rc<T>, String> {
    place.with(|compiler| {
        if let Some(compiler) = compiler.get() {
            return Ok(Rc::clone(compiler));
        }
        let new = new()?;
        Ok(Rc::clone(compiler.get_or_init(|| Rc::new(new))))
    })
}

/// A loop, by the slot of its function and its header.
pub(crate) type Loop = (u32, Pc);

/// Functions that were compiled together.
pub(crate) struct Unit {
    /// No other unit of the world has or had it.
    pub(crate) number: u64,
    /// Their slots in the world.
    pub(crate) members: Vec<u32>,
    /// The slots of what they call directly.
    pub(crate) callees: Vec<u32>,
    /// The compiler.
    pub(crate) by: EngineKind,
    /// The number of instructions of the compact code.
    pub(crate) size: usize,
    /// The loop that one of them can begin at as well, and the way in there.
    pub(crate) at_loop: Option<(Loop, Compiled)>,
    /// Kept as long as it may run.
    pub(crate) _code: Rc<dyn MachineCode>,
}
