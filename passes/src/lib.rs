//! Passes of Regraft: what a pass is, the manager that runs pipelines of them, and the passes
//! that come with it.
//!
//! A pass implements [`FunctionPass`] or [`ModulePass`]; a [`PassRegistry`] finds passes by
//! name.

pub mod analysis;
pub mod builtin;
mod options;
mod pass;
mod registry;
pub mod transforms;

pub use analysis::{Analyses, Analysis, Facets};
pub use options::{DefaultSetting, OptionDef, OptionKind, Options, Setting};
pub use pass::{FunctionPass, ModulePass, PassContext, PassResult, run_pass, run_pass_with};
pub use registry::{PassInfo, PassKind, PassRegistry};
