//! The input of the translation of a function.

use regraft_ir::Function as IrFunction;

use super::emitter::Callee;
use super::functions::Runtime;
use crate::interp::Code;

/// A function to be translated, and what it may refer to.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) code: &'a Code,
    /// The function that the code is of.
    pub(crate) f: &'a IrFunction,
    /// The compiled function in a slot of the world, if it can be called directly.
    pub(crate) callee: &'a dyn Fn(u32) -> Option<Callee>,
    pub(crate) runtime: &'a Runtime,
    /// True if the instructions that run are counted.
    pub(crate) counted: bool,
}
