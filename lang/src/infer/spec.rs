//! Specialisations, and how many there may be.

use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Function, Symbol, Type};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::frame::{Frame, Order};
use super::lattice::Lattice;
use crate::definition::Space;
use crate::world::{MethodId, SpecId, StaticValue};

/// After so many nested calls of one method, each with larger types than all around it, no larger ones
/// are inferred.
pub const MAX_GROWING: usize = 4;
/// The depth to which calls of one method nest in the inference of each other, if each is another
/// specialisation.
pub const MAX_NESTED: usize = 64;
/// The most specialisations that are in inference at once.
pub const MAX_DEEP: usize = 10_000;
/// The most specialisations of one method for static calls.
pub const MAX_SPECS: u32 = 10_000;

/// The state of the inference of a specialisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It has to be inferred (again).
    New,
    /// It is on the stack at this place.
    Running(usize),
    /// It is right if the estimates of those on the stack from this place on are.
    Provisional(usize),
    /// It is settled.
    Done,
}

/// A specialisation that is being inferred.
#[derive(Debug)]
pub(super) struct Running {
    /// The method whose code it is.
    pub(super) origin: Option<MethodId>,
    /// The lowest place on the stack of which an estimate was used.
    pub(super) low: usize,
    /// True if somebody used its own estimate.
    pub(super) was_read: bool,
    /// True if an estimate changed that somebody used.
    pub(super) unstable: bool,
    /// The size of its types.
    pub(super) size: u32,
}

/// A method with what is known of its arguments.
#[derive(Debug)]
pub struct Spec {
    /// Its id.
    pub id: SpecId,
    /// The method; `None` for a thunk and for what wraps an op.
    pub method: Option<MethodId>,
    /// The method that its code was taken from: another one, if a dynamo made it of that.
    pub(super) origin: Option<MethodId>,
    /// The type of what is called.
    pub callee: Type,
    /// The lattice value of each parameter of its function.
    pub key: SmallVec<[Lattice; 4]>,
    /// The name of the generic function.
    pub shown: Symbol,
    /// The space in which names in it are looked up.
    pub space: Space,
    /// The values of the type parameters.
    pub statics: Rc<[StaticValue]>,
    /// The names of the type parameters.
    pub static_names: Rc<[Symbol]>,
    /// True if the callee is the first parameter.
    pub takes_callee: bool,
    /// The number of arguments before those that are packed into a tuple, if any are.
    pub fixed: Option<usize>,
    /// `@inline` or `@noinline`.
    pub inline: Option<bool>,
    /// The lattice value of its result.
    pub result: Lattice,
    /// True if calls that are not needed for their result can be left away.
    pub effect_free: bool,
    pub(super) state: State,
    /// The frame of inference, until the function is emitted.
    pub(crate) frame: Option<Box<Frame>>,
    pub(crate) body: Arc<Function>,
    pub(super) order: Rc<Order>,
    pub(crate) function: Option<Rc<Function>>,
    /// The name of its function, once it has one.
    pub(crate) name: Option<Symbol>,
    pub(crate) is_emitting: bool,
}

impl Spec {
    /// A specialisation of code that is no method's, before its inference.
    pub(super) fn of_body(
        id: SpecId,
        shown: Symbol,
        space: Space,
        key: &[Lattice],
        body: Arc<Function>,
        order: Rc<Order>,
    ) -> Self {
        Self {
            id,
            method: None,
            origin: None,
            callee: Type::ANY,
            key: SmallVec::from_slice(key),
            shown,
            space,
            statics: Rc::new([]),
            static_names: Rc::new([]),
            takes_callee: false,
            fixed: None,
            inline: None,
            result: Lattice::Bottom,
            effect_free: false,
            state: State::New,
            frame: None,
            body,
            order,
            function: None,
            name: None,
            is_emitting: false,
        }
    }

    /// Returns whether it is settled.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns whether its code may be put in the place of calls of it.
    pub fn may_inline(&self) -> bool {
        match self.inline {
            Some(inline) => inline,
            // Anonymous functions are part of the code around them.
            None => self.method.is_some() && (self.space == Space::Base || self.takes_callee),
        }
    }

    /// Returns whether its function was made without code of the language, as derivatives are.
    pub(crate) fn is_made(&self) -> bool {
        self.body.entry().is_none()
    }

    pub(super) fn hash(&self) -> u64 {
        hash(self.method, self.callee, &self.key)
    }
}

pub(super) fn hash(method: Option<MethodId>, callee: Type, key: &[Lattice]) -> u64 {
    FxBuildHasher.hash_one((method, callee, key))
}
