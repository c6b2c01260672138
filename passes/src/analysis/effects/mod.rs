//! The effects of functions on memory and the world, beyond computing a result.
//!
//! ```text
//! func @add!(%1: array<f64, 1>, %2: array<f64, 1>)
//!   ..                                           @add!: reads %1; writes the contents of %1;
//!                                                reads %2; may trap; may not end; returns %1
//! ```
//!
//! An object has two parts, contents and shape ([`Effects`](regraft_ir::Effects)): a function
//! that stores to an array does not change its length.
//!
//! # Method
//! The summary of a function ([`EffectSummary`]) is the union of what its instructions do, said in
//! terms of its parameters, where a call counts as the summary of what is called. The strongly
//! connected components of the [`CallGraph`](super::CallGraph) are summarized callees first; the
//! functions of a component that calls itself start with no effect, and are looked at again
//! until nothing changes (the least fixpoint, as in interprocedural side effect analysis since
//! Banning, 1979).
//!
//! # Why it is right
//! A summary is an upper bound. What is done to an object of which the base is not known
//! ([`Aliases`](super::Aliases)) counts as done to any object that is not hidden. A function that
//! the module does not have is opaque. A pass never makes a function do more, so that summaries
//! stay right while functions are rewritten, each on its own.
//!
//! # Cost
//! O(instructions + operands) for functions that do not call each other in circles; a function of
//! a circle is looked at again for each change in what it calls, of which there are a few for each
//! parameter (`examples/analysis_speed.rs`).

mod inst;
mod module;
mod summary;

pub use inst::{InstEffects, inst_effects, may_be_object, may_reach_objects};
pub(crate) use inst::{callee_summary, copied_shape, may_reach_others, shape_writers};
pub use summary::{Access, EffectSummaries, EffectSummary, ParamEffects, Returns};
