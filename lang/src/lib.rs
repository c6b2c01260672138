//! The Julia subset: syntax trees to lowered IR, the world of methods, and inference, which turns
//! lowered methods into typed functions.
//!
//! ```
//! use regraft_lang::Session;
//!
//! let mut session = Session::new(&regraft_dialects::context());
//! let value = session.run("f.jl", "f(x) = x^2 + 1\nf(3.0)").unwrap();
//! assert_eq!(session.show(&value), "10.0");
//! let module = session.typed("f(3.0)").unwrap();
//! assert_eq!(module.functions().next().unwrap().name_str(), "f(Float64)");
//! ```

mod code;
mod compiler;
pub mod definition;
mod derive;
mod dynamo;
mod emit;
mod infer;
mod intrinsics;
mod listing;
mod lower;
mod packages;
mod phases;
mod prelude;
mod session;
mod sharing;
mod start_up;
pub mod world;
mod world_resolver;

pub use intrinsics::{Form, INTRINSICS, Intrinsic};
pub use listing::{Listing, parse_listing};
pub use phases::{Phase, measure_phases, phase_times};
pub use session::{
    Closed, Completeness, Entry, Gradient, GradientCall, Mode, PassFiles, PreparedGradient,
    ProfileOptions, Session, TypedGradient, TypedHvp, TypedJvp, passes_of_files,
};
pub use start_up::{Setup, SharedDynamo, StartUp};

/// The single steps, for tests and benchmarks.
#[doc(hidden)]
pub mod testing {
    pub use crate::compiler::Compiler;
    pub use crate::infer::{Lattice, MAX_NESTED, MAX_SPECS};
    pub use crate::lower::{Library, LowerOptions, Statement, lower};
    pub use crate::prelude::{files, statements};
    pub use crate::world_resolver::WorldResolver;
}
