//! Runs programs: values, limits, run-time errors, and the interpreter.
//!
//! ```
//! use regraft_exec::{Engine, Interpreter, Val};
//!
//! let text = "
//! func @square(%x: f64) -> f64 {
//! ^1:
//!   %1: f64 = arith.mul %x, %x
//!   return %1
//! }";
//! let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let result = Interpreter::new(&module).call("square", &[Val::F64(3.0)]).unwrap();
//! assert_eq!(result.as_f64(), Some(9.0));
//! ```

mod budget;
mod call_resolver;
mod chain;
mod clock;
mod engine;
mod error;
mod eval;
mod host;
mod interp;
mod native;
pub mod profiler;
mod recording_cost;
mod tangent;
mod trace;
pub mod typed;
pub mod value;
pub mod vector_math;

pub use call_resolver::{CallResolver, ResolvedCall};
pub use chain::{Chain, Spot};
pub use engine::{Engine, EngineKind, Limits, Tiers, preset_threads};
pub use error::{ErrorKind, ExecError, Trap};
pub use eval::{EvalCx, EvalFn, EvalRow, EvalTable};
pub use host::{Host, Services, no_service};
pub use interp::{CodeForm, Interpreter, PreparedCall, RunBy};
pub use native::{allow_background_code, native_engines};
pub use profiler::{Profile, Profiler, ProfilerOptions};
pub use recording_cost::recording_cost;
pub use tangent::Tangents;
pub use value::{Names, Pool, Shown, Texts, Val, print_string, show_string, to_json};
