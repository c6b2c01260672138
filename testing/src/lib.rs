//! What it takes to test a pass: random programs, inputs, comparison, snapshots.

pub mod choices;
pub mod generate;
pub mod shrink;
