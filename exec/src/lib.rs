//! Runs programs: values, limits, run-time errors, and the interpreter.

mod chain;
mod engine;
mod error;
mod eval;
mod host;
mod interp;
mod linker;
mod profiler;
mod trace;
pub mod value;

pub use chain::{Chain, Spot};
pub use engine::{Engine, Limits};
pub use error::{ErrorKind, ExecError, Trap};
pub use eval::{EvalCx, EvalFn, EvalRow, EvalTable};
pub use host::Host;
pub use interp::{Interpreter, Repeated};
pub use linker::{Linked, Linker};
pub use profiler::Calls;
pub use value::{Names, Pool, Shown, Tangents, Texts, Val, print_string, show_string, to_json};
