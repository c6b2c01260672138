//! How derivatives flow through ops that move values and objects around.

use regraft_dialects::{ad, cf, core, data, mem};
use regraft_ir::Op;

/// How derivatives flow through an op that is no call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// From every operand to the result, which may share objects with them.
    Result,
    /// To the result, which is a new object; its elements are those of the operand.
    Copy,
    /// From one operand into the object that another one is.
    Into { object: usize, value: usize },
    /// From the elements of one operand into the object that another one is.
    Elements { object: usize, source: usize },
    /// From what a global name holds to the result.
    Global,
    /// To the result, which shares nothing with the operand.
    Fresh,
    /// Nowhere.
    None,
}

/// How derivatives flow through an op that is [`Structural`](crate::rules::Derivative::Structural)
/// and no call.
pub(crate) fn flow(op: Op) -> Flow {
    match op {
        mem::STORE | mem::PUSH | mem::REF_SET | mem::FILL_IN_PLACE => {
            Flow::Into { object: 0, value: 1 }
        }
        data::SETFIELD => Flow::Into { object: 0, value: 2 },
        mem::COPYTO => Flow::Elements { object: 0, source: 1 },
        // What is added to a shadow becomes no part of it.
        ad::ACCUMULATE | ad::SPREAD | ad::RECOPY => Flow::Elements { object: 0, source: 1 },
        ad::SET_SLOT | ad::PUT_BACK => Flow::Into { object: 0, value: 1 },
        ad::UNCOPY => Flow::Elements { object: 1, source: 0 },
        mem::COPY => Flow::Copy,
        ad::COPY => Flow::Fresh,
        core::GLOBAL => Flow::Global,
        core::THROW
        | core::SET_GLOBAL
        | core::UNDEF
        | mem::ALLOC
        | mem::RESIZE
        | ad::ZERO
        | ad::CLEAR
        | cf::UNREACHABLE => Flow::None,
        _ => Flow::Result,
    }
}

/// Whether an op calls something.
pub(crate) fn is_call(op: Op) -> bool {
    matches!(op, core::CALL | core::APPLY | core::SPLAT)
}
