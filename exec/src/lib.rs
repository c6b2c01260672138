//! Runs programs: values, limits, run-time errors, and the interpreter.

mod budget;
mod call_resolver;
mod chain;
mod engine;
mod error;
mod eval;
mod host;
mod interp;
mod profiler;
mod tangent;
mod trace;
pub mod value;

pub use call_resolver::{CallResolver, ResolvedCall};
pub use chain::{Chain, Spot};
pub use engine::{Engine, Limits};
pub use error::{ErrorKind, ExecError, Trap};
pub use eval::{EvalCx, EvalFn, EvalRow, EvalTable};
pub use host::Host;
pub use interp::{Interpreter, PreparedCall};
pub use profiler::Calls;
pub use tangent::Tangents;
pub use value::{Names, Pool, Shown, Texts, Val, print_string, show_string, to_json};
