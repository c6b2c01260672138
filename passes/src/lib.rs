//! Passes of Regraft: what a pass is, the manager that runs pipelines of them, and the passes
//! that come with it.
//!
//! A pass implements [`FunctionPass`], [`LoopPass`] or [`ModulePass`]; a [`PassRegistry`] finds passes by
//! name; a [`Pipeline`] says which passes to run; [`run_pipeline`] runs it, watched by
//! [`Observer`]s. This crate never runs the code that it rewrites.
//!
//! ```
//! use regraft_passes::{PassRegistry, Pipeline, RunOptions, run_pipeline};
//!
//! let text = "
//! func @f(%x: f64) -> f64 {
//! ^1:
//!   %1: f64 = arith.mul %x, %x
//!   %2: f64 = arith.add %x, %x
//!   return %1
//! }";
//! let mut module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let pipeline = Pipeline::parse(&PassRegistry::standard(), "fold, dce").unwrap();
//! run_pipeline(&mut module, &pipeline, &RunOptions::default()).unwrap();
//! assert_eq!(module.inst_count(), 1);
//! ```

pub mod analysis;
mod builtin;
mod check;
pub mod diff;
pub mod egraph;
mod function_run;
pub mod instrument;
mod loop_run;
mod manager;
mod options;
pub mod overdub;
mod panic_guard;
mod pass;
mod pass_info;
mod pipeline;
mod pipeline_error;
mod registry;
mod report;
mod reproducer;
pub mod rewrite;
mod run_options;
mod shared;
mod standard;
pub mod transforms;

pub use analysis::{Analyses, Analysis, Facets};
pub use diff::{diff_functions, diff_modules, diff_text};
pub use instrument::{
    DumpFolder, Execution, Log, Observer, PassRun, PrintAfter, PrintWhat, Schedule, StopAfter,
    Unit, Verify,
};
pub use manager::run_pipeline;
pub use options::{DefaultSetting, OptionDef, OptionKind, Options, Setting};
pub use panic_guard::{Caught, guarded};
pub use pass::{
    AllLoops, FunctionPass, LoopPass, ModulePass, PassContext, PassResult, run_pass, run_pass_with,
};
pub use pass_info::{PassInfo, PassKind};
pub use pipeline::{PassStep, Pipeline};
pub use registry::{NamedPipeline, PassRegistry};
pub use report::{Explanation, PassReport, Report, Stopped};
pub use reproducer::{Failure, FailureKind, reproducer_pipeline};
pub use run_options::RunOptions;
pub use standard::{O1, O2, O3};
