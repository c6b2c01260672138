//! Derivatives of whole programs: what they compute, what their adjoints look like, what they cost.

mod adbench;
mod adjoints;
mod math;
mod mooncake;
mod support;
