//! The functions of the derivatives of a function, as they are asked for here.

use regraft_ir::{Diagnostic, Module, Symbol, Type};

/// The functions that reverse mode makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reverse {
    pub(super) forward: Symbol,
    pub(super) reverse: Symbol,
    pub(super) vjp: Symbol,
    pub(super) tape: Type,
}

/// Adds the function of forward mode.
pub(super) fn forward(
    _module: &mut Module,
    _f: Symbol,
    _active: &[bool],
    _width: usize,
    _dynamic: Symbol,
) -> Result<Symbol, Vec<Diagnostic>> {
    Err(vec![Diagnostic::error("forward mode is not there yet")])
}

/// Adds the functions of reverse mode.
pub(super) fn reverse(
    _module: &mut Module,
    _f: Symbol,
    _active: &[bool],
    _dynamic: Symbol,
) -> Result<Reverse, Vec<Diagnostic>> {
    Err(vec![Diagnostic::error("reverse mode is not there yet")])
}
