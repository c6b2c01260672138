//! The parts that benchmarks share: synthetic modules, functions that are prone to take long, adjoints of
//! programs, programs in C, the sizes of simplified derivatives, a counting allocator, and a table of figures beside their targets.

pub mod adjoints;
pub mod c_library;
pub mod counted_loops;
pub mod cpu;
pub mod dynamic;
pub mod growth;
pub mod julia;
pub mod lecture;
pub mod llvm;
pub mod memory;
pub mod peers;
pub mod pieces;
pub mod published;
pub mod simplified;
pub mod smooth;
pub mod synthetic;
pub mod table;
