//! Derivatives of whole programs: what they compute, what their adjoints look like, what they cost.

mod adbench;
mod adjoints;
mod mooncake;
mod support;
