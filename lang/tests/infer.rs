//! Inference and emission, on lowered bodies that are written as IR text.

#[path = "infer/lab.rs"]
mod lab;

#[path = "infer/programs.rs"]
mod programs;

#[path = "infer/limits.rs"]
mod limits;

#[path = "infer/text.rs"]
mod text;

#[path = "infer/runs.rs"]
mod runs;
