//! Differentiation of typed functions, by rewriting them.
//!
//! - [`tangent`] says what the derivative of a value of each type is made of.
//! - [`DerivativeTable`] says what the derivative of each op is; of ops on floats, [`rules`] do.
//! - [`forward()`] computes derivatives beside the values; `forward-diff` as a pass.
//! - [`reverse()`] goes forward, and back with cotangents; `reverse-diff` as a pass.
//!
//! ```
//! use regraft_ad::registry;
//! use regraft_passes::{Pipeline, RunOptions, run_pipeline};
//!
//! let text = "
//! func @square(%x: f64) -> f64 {
//! ^1:
//!   %1: f64 = arith.mul %x, %x
//!   return %1
//! }";
//! let mut module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let pipeline = Pipeline::parse(&registry(), "forward-diff{function=square}").unwrap();
//! run_pipeline(&mut module, &pipeline, &RunOptions::default()).unwrap();
//! assert_eq!(module.functions().len(), 2);
//! ```

mod activity;
mod calls;
mod derivative_table;
mod flow;
mod forward;
mod marks;
mod nesting;
mod op_derivative;
mod ops;
mod passes;
mod returning;
mod reverse;
pub mod rules;
mod split_chunks;
mod tangent_builder;

pub use activity::reads_globals;
pub use derivative_table::{Derivative, DerivativeTable};
pub use flow::Flow;
pub use forward::{ForwardOptions, forward};
pub use marks::{FORWARD_OF, JVP_OF, REVERSE_OF, SHADOWS, VJP_OF};
pub use nesting::scope_level;
pub use op_derivative::{
    AdjointCx, AdjointFn, OpCx, OpDerivative, ShadowCx, ShadowFn, TangentCx, TangentFn,
};
pub use passes::{add_passes, extensions, registry};
pub use regraft_dialects::tangent;
pub use reverse::{
    Checkpoints, PlanKind, ReverseFunctions, ReverseOptions, reverse, without_failing_code,
};
pub use split_chunks::split_chunks;
