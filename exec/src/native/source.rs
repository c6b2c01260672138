//! The input of the translation of a function.

use regraft_ir::Function as IrFunction;

use super::emitter::Callee;
use super::functions::Runtime;
use crate::interp::{Code, Pc};

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
    /// True if it is left for better code of the function once there is some.
    pub(crate) is_replaceable: bool,
    /// The header of a loop that it begins at instead of the function's beginning, in a frame that is there.
    pub(crate) start: Option<Pc>,
}
