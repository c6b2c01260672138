//! What the benchmarks share: synthetic modules, adjoints of programs, a counting allocator, and a
//! table of figures beside their targets.

pub mod adjoints;
pub mod counted_loops;
pub mod julia;
pub mod memory;
pub mod smooth;
pub mod synthetic;
pub mod table;
