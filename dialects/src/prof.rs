//! `prof`: a recording profiler.
//!
//! Events go into a buffer of fixed capacity that belongs to the running program, so that
//! recording allocates nothing. Once it is full, further events are counted but not kept.
//!
//! ```
//! use regraft_dialects::{context, prof};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::F64], Type::F64);
//! let event = b.function().constant_id(regraft_ir::Constant::Sym(ctx.symbol("solve")));
//! b.push(prof::record_start(event))?;
//! assert_eq!(b.function().body(b.block()).count(), 1);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::ir::Effects;

/// Neither removed nor moved across anything else that can be observed, although no object of
/// the program is touched.
const RECORDING: Effects = Effects { opaque: true, ..Effects::NONE };

crate::dialect! {
    /// A recording profiler: a log of when calls start and end.
    dialect prof = 6;

    /// Records that an event starts. The time is taken last, so that recording is not measured.
    ///
    /// `prof.record_start :sin`
    RECORD_START = record_start(event: sym) -> unit { effects: RECORDING };

    /// Records that an event ends. The time is taken first, so that recording is not measured.
    ///
    /// `prof.record_end :sin`
    RECORD_END = record_end(event: sym) -> unit { effects: RECORDING };

    /// Forgets what was recorded; the capacity stays.
    ///
    /// `prof.reset`
    RESET = reset() -> unit { effects: RECORDING };

    /// Sets how many events the buffer holds, at first 101. What was recorded is forgotten.
    /// Traps (`ArgumentError`) on a negative capacity.
    ///
    /// `prof.resize 1000`
    RESIZE = resize(capacity: i64) -> unit [MAY_TRAP] { effects: RECORDING };

    /// Prints the events in order, one a line, indented by nesting, each with its time since
    /// the first in nanoseconds; and first a warning if the buffer was too small.
    ///
    /// `prof.report`
    REPORT = report() -> unit { effects: RECORDING };
}
