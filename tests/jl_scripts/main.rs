//! Scripts of the Julia subset, from text to values and IR: the command line, errors, the
//! programs in `examples/jl`, and texts that are no programs.

mod command_line;
mod errors;
mod examples;
mod mutations;
mod sessions;
mod shapes;
mod support;
