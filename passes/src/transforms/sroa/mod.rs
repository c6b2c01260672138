//! Takes aggregates apart: tuples, structs and closures become their elements, and objects that
//! nobody else sees become values.
//!
//! ```text
//! ^1(%1: i64):
//!   %2: tuple<i64, f64> = core.tuple 0, 1.0       br ^2(0, 1.0)
//!   br ^2(%2)                                   ^2(%9: i64, %10: f64):
//! ^2(%3: tuple<i64, f64>):
//!   %4: i64 = core.get %3, 1               =>
//!   %5: f64 = core.get %3, 2
//!   %6: i64 = arith.add %4, 1                     %6: i64 = arith.add %9, 1
//!   %7: f64 = arith.mul %5, 2.0                   %7: f64 = arith.mul %10, 2.0
//!   %8: tuple<i64, f64> = core.tuple %6, %7       br ^2(%6, %7)
//!   br ^2(%8)
//! ```
//!
//! # Method
//! In turns, until nothing changes:
//! - Refs, mutable structs and small arrays that nobody else sees become values, as in
//!   [`mem2reg`](super::mem2reg), and so do arrays of at most 16 elements that parameters of blocks carry, of which
//!   elements are passed then (`carried`).
//! - A part that is taken out of what was put together here is what was put in. So are the parts
//!   of one of two aggregates (`core.select`), and those of the shape of an array are its sizes. Two
//!   aggregates are compared (`core.same`) part by part.
//! - A parameter into which something comes that was put together, and of which parts are looked
//!   at, becomes several, one for each part that is needed. Where it is needed as a whole as well,
//!   it is put together again there, if nothing is put together more often than before.
//!
//! What to split is found optimistically, so that a parameter that only goes around a loop, or
//! through several, is found (Wegman and Zadeck did so for constants, "Constant Propagation with
//! Conditional Branches", TOPLAS 1991). Nested aggregates are split level by level.
//!
//! # Why it is right
//! Tuples, named tuples and immutable structs are their parts: nothing can tell a copy from the
//! original, so that it does not matter where, and how often, one is put together. Parts of type
//! `any` stay of type `any`, whatever is known of what was put in.
//!
//! # Cost
//! Near linear in the size of the result and in the uses of aggregates and their parts, for each turn
//! (benchmark `growth`); there are as many turns as aggregates are nested, at most 8.

mod carried;
mod forward;
mod split;

use regraft_ir::{ControlFlow, Function};

use crate::transforms::util::edit::delete_unreachable;
use crate::transforms::util::promote::{self, Kinds};
use crate::{FunctionPass, PassContext, PassResult};

/// The most levels of nesting; deeper ones wait for another run.
const MAX_TURNS: usize = 8;

crate::pass! {
    /// Takes aggregates apart: tuples, structs, closures, and objects that nobody else sees.
    ///
    /// They become their elements, also where they are passed to parameters of blocks.
    ///
    /// ```text
    /// %2: tuple<i64, f64> = core.tuple 0, 1.0       br ^2(0, 1.0)
    /// br ^2(%2)
    /// ^2(%3: tuple<i64, f64>):                =>    ^2(%9: i64, %10: f64):
    ///   %4: i64 = core.get %3, 1                      %6: i64 = arith.add %9, 1
    ///   %6: i64 = arith.add %4, 1
    /// ```
    ///
    /// Objects are refs, mutable structs and arrays of at most 64 elements; all that is done to
    /// them has to be known: fields and indices are constants, and nothing traps. A copy of a matrix
    /// is an object like others where branches say how large the matrix is. Unreachable blocks are deleted.
    #[derive(Debug, Default)]
    pub struct Sroa;
}

impl FunctionPass for Sroa {
    const NAME: &'static str = "sroa";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        for _ in 0..MAX_TURNS {
            let cfg = cx.analysis::<ControlFlow>(f);
            let arrays = carried::run(f, &cfg)?;
            let objects = promote::run(f, Kinds::All, cx.analyses())?.objects;
            delete_unreachable(f, cx.analyses())?;
            let cfg = cx.analysis::<ControlFlow>(f);
            let instructions = forward::run(f, &cfg)?;
            let parameters = split::run(f, &cfg)?;
            cx.add("objects promoted", objects as u64);
            cx.add("parameters split", (parameters + arrays) as u64);
            cx.add("instructions taken apart", instructions as u64);
            if arrays + objects + parameters + instructions == 0 {
                break;
            }
        }
        Ok(())
    }
}
