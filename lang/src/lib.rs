//! The Julia subset: syntax trees to lowered IR, the world of methods, and inference, which turns
//! lowered methods into typed functions.

pub mod definition;
mod derive;
pub mod emit;
pub mod infer;
pub mod lower;
mod phases;
pub mod prelude;
mod session;
mod start_up;
pub mod world;
mod world_resolver;

pub use phases::{Phase, measure_phases, phase_times};
pub use session::{Completeness, Entry, Gradient, Mode, PreparedGradient, Session};
pub use start_up::{Setup, StartUp};
pub use world_resolver::WorldResolver;
