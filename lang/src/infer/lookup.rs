//! Answers to questions for methods.

use std::rc::Rc;

use regraft_ir::Type;
use smallvec::SmallVec;

use super::method_facts::MethodFacts;
use crate::world::{MethodMatch, SpecId};

/// The method that was found for a combination of argument types.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// This one.
    Method(Rc<MethodFacts>, MethodMatch),
    /// None, or several: the call fails when control gets to it.
    Fails,
    /// It depends on the values.
    Unknown,
}

/// An answer to a question for a method.
#[derive(Debug)]
pub(super) struct Lookup {
    pub(super) callee: Type,
    pub(super) args: SmallVec<[Type; 4]>,
    pub(super) id: SpecId,
    pub(super) found: Found,
}
