//! What the benchmarks share: synthetic modules, a counting allocator, and a table of figures
//! beside their targets.

pub mod julia;
pub mod memory;
pub mod synthetic;
pub mod table;
