//! Helpers of several passes: copies of blocks, the form of loops, repair of SSA.

pub(crate) mod add_params;
pub(crate) mod aggregate;
pub(crate) mod allocation_sites;
pub mod clone_blocks;
pub(crate) mod counters;
pub(crate) mod edit;
pub(crate) mod loop_accesses;
pub mod loop_form;
pub(crate) mod loop_pair;
pub mod materialize;
pub(crate) mod promote;
pub(crate) mod redundant_inductions;
pub(crate) mod repair_below;
pub mod ssa_repair;
