//! Derivatives that calls ask for, and what there is for them.

use std::rc::Rc;

use regraft_ir::{Diagnostic, Type};

use crate::world::SpecId;

/// The kind of a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum DerivativeKind {
    /// Value and gradient: `(x…) -> (y, (dx…))`.
    Gradient,
    /// The gradient alone: `(x…) -> (dx…)`.
    GradientAlone,
    /// Forward mode: `(x…, (df, dx…)) -> (y, dy)`, of so many directions at once.
    Pushforward(Option<u8>),
    /// The same in one direction, for a dynamic call.
    DynamicPushforward,
    /// Reverse mode in two parts: `(x…) -> (y, state, back)`, `(state, dy) -> (dx…)`, of which
    /// `back` is the second.
    Pullback,
    /// The same for a dynamic call: `(f, df, x, dx, …) -> (y, shadow of y, pullback)` and
    /// `(pullback, dy) -> (df, dx…)`, with shadows going in.
    Dynamic,
}

/// A derivative that is asked for. The callee does not count as an argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DerivativeKey {
    pub(crate) kind: DerivativeKind,
    /// The type of what is differentiated.
    pub(crate) callee: Type,
    pub(crate) args: Box<[Type]>,
    /// The types of the tangents or shadows that are passed, that of the callee first.
    pub(crate) tangents: Box<[Type]>,
}

/// The entry of the table of derivatives for a key.
#[derive(Clone, Debug)]
pub(crate) enum DerivativeEntry {
    /// The wrappers.
    Generated(GeneratedFunctions),
    /// There is none, and why.
    Fails(SpecId, Rc<[Diagnostic]>),
    /// The function never returns, so that its derivative is never there.
    Never(SpecId),
    /// The running program will know.
    Deferred,
}

/// The wrappers of a derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeneratedFunctions {
    /// The id of the derivation.
    pub(crate) from: SpecId,
    /// The first of the functions that [`DerivativeKind`] tells of.
    pub(crate) first: SpecId,
    /// True if the callee is the first parameter.
    pub(crate) takes_callee: bool,
    /// The number of arguments before those that are packed into a tuple.
    pub(crate) fixed: Option<usize>,
}
