//! Helpers of several passes: copies of blocks, the form of loops, repair of SSA.
//!
//! ```
//! use regraft_passes::analysis::{Analyses, LoopForest};
//! use regraft_passes::transforms::util::loop_form::LoopForm;
//!
//! let text = "
//! func @f(%n: i64) -> i64 {
//! ^1:
//!   br ^2(%n)
//! ^2(%i: i64):
//!   %1: i64 = arith.sub %i, 1
//!   %2: bool = arith.lt 0, %1
//!   br %2, ^2(%1), ^3
//! ^3:
//!   return %1
//! }";
//! let module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! let f = module.function("f").unwrap();
//! let forest = Analyses::default().get::<LoopForest>(f);
//! let form = LoopForm::new(&forest, forest.loops().next().unwrap());
//! assert_eq!(form.preheader(f), f.entry());
//! ```

pub(crate) mod add_params;
pub(crate) mod aggregate;
pub(crate) mod allocation_sites;
pub mod clone_blocks;
pub mod continuation;
pub(crate) mod counters;
pub mod cover;
pub(crate) mod edit;
pub(crate) mod function_analyses;
pub(crate) mod loop_accesses;
pub mod loop_form;
pub(crate) mod loop_pair;
pub mod materialize;
pub(crate) mod promote;
mod recorded_domains;
pub(crate) mod redundant_inductions;
pub(crate) mod repair_below;
pub mod ssa_repair;
pub(crate) mod steps;
pub(crate) mod versioning;
