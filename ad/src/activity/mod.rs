//! Activity: the values of a function whose derivative may be other than zero.
//!
//! ```text
//! func @f(%1: f64, %2: f64, %3: array<f64, 1>) -> f64 {    with respect to %1:
//! ^1:
//!   %4: f64 = arith.mul %2, 2.0                            not active
//!   %5: f64 = arith.mul %1, %4                             active
//!   mem.store %3, %5, 1                                    %3 is active from the start
//! ```
//!
//! # Method
//! A value is *varied* if its numbers depend on an active parameter in a way that has a derivative:
//! a walk along uses. Values with objects in them are put into sets that may share objects by
//! union-find, without fields (Steensgaard: "Points-to Analysis in Almost Linear Time", 1996), and a
//! set is active as a whole. So an object is active everywhere if something varied may ever be stored
//! in it, and then it has a shadow from the start. What is read from an active object is varied.
//!
//! An object that a global name holds is active if any function puts something active into it, and
//! then it is active in all of them. What is called when the program runs may put something into
//! each, if it is given anything active.
//!
//! On the way to an error nothing is active: nobody sees derivatives there.
//!
//! Forward mode looks at all functions together ([`Activities`]); reverse mode at one at a time
//! ([`Activity::of`]), after it was prepared.
//!
//! Why it is right: each step only adds, and stops when every instruction agrees; what is not
//! active has a derivative that is zero, or no derivative.
//!
//! Cost: almost linear in the instructions, and in the calls for each time that one adds something.

mod active_globals;
mod classes;
mod globals;
mod interprocedural;
mod local;
mod solver;

pub(crate) use active_globals::ActiveGlobals;
pub use globals::reads_globals;
pub(crate) use interprocedural::{Activities, ActivityId};
pub(crate) use local::{OnlyRead, local_activity};
pub(crate) use solver::Activity;
