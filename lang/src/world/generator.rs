//! A method whose code a program gives, and the wish for its code.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Diagnostic, Function, Symbol, Type};
use rustc_hash::FxHashMap;

use super::entities::{SpecId, StaticValue};
use crate::definition::MethodHead;

/// The code of a method, or what is wrong with it.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) code: Result<Arc<Function>, Diagnostic>,
    /// Becomes wrong when something changes that the code came from.
    pub(super) from: SpecId,
}

/// A method whose code a program gives.
#[derive(Debug)]
pub struct Generator {
    /// The function of the program that gives it.
    pub function: Symbol,
    /// The names of its parameters: those of the type parameters first.
    pub params: Vec<Option<Symbol>>,
    /// The method.
    pub head: MethodHead,
    /// The code for arguments of some types, or what is wrong with it.
    pub(super) code: RefCell<FxHashMap<Box<[Type]>, Made>>,
}

/// The wish for the code of a generated function.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub generator: Rc<Generator>,
    /// The types of the arguments, that of the callee first if it is a method of values.
    pub args: Box<[Type]>,
    /// The values of the type parameters.
    pub statics: Rc<[StaticValue]>,
    /// The name that those who want it wait for.
    pub(super) waits: Symbol,
}

impl Request {
    /// Returns whether it has been carried out.
    pub(crate) fn is_done(&self) -> bool {
        self.generator.code.borrow().contains_key(&self.args)
    }
}
