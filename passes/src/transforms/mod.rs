//! The transformations that come with Regraft, one file or folder each, named as the pass. Each is a
//! pass, whose fields are its options, and is run as one, by code too ([`run_pass`](crate::run_pass)).
//! [`util`] has the parts that several of them are made with.
//!
//! ```
//! use regraft_passes::run_pass;
//! use regraft_passes::transforms::dce::Dce;
//!
//! let text = "
//! func @f(%x: f64) -> f64 {
//! ^1:
//!   %1: f64 = arith.mul %x, %x
//!   %2: f64 = arith.add %x, %x
//!   return %1
//! }";
//! let mut module = regraft_syntax::parse_module(&regraft_dialects::context(), "f.ir", text).unwrap();
//! run_pass::<Dce>(module.function_mut("f").unwrap()).unwrap();
//! assert_eq!(module.inst_count(), 1);
//! ```

use crate::PassRegistry;

pub mod adce;
pub mod alias_scopes;
pub mod bounds_elim;
pub mod cse;
pub mod dce;
pub mod dse;
pub mod expand;
pub mod fold;
pub mod fuse_sweeps;
pub mod gvn;
pub mod hoist_common;
pub mod indvars;
pub mod inline;
pub mod join_exits;
pub mod licm;
pub mod load_pre;
pub mod loop_coalesce;
pub mod loop_delete;
pub mod loop_fuse;
pub mod loop_idiom;
pub mod loop_interchange;
pub mod loop_rotate;
pub mod loop_simplify;
pub mod lower_try;
pub mod mem2reg;
pub mod merge_returns;
pub mod peel;
pub mod profile;
pub mod prune;
pub mod reassociate;
pub mod reciprocals;
pub mod reduction_factor;
pub mod renumber;
pub mod rewrite;
pub mod sccp;
pub mod simplify_cfg;
pub mod sink;
pub mod specialize;
pub mod specialize_getfield;
pub mod specialize_tangents;
pub mod split_elements;
pub mod sroa;
pub mod strength_reduce;
pub mod strip_math;
pub mod tail_calls;
pub mod tile;
pub mod unroll;
pub mod unroll_and_jam;
pub mod unswitch;
pub mod util;

/// Adds the transformations of this folder.
pub fn register(registry: &mut PassRegistry) {
    registry.add::<adce::Adce>();
    registry.add_loop::<bounds_elim::BoundsElim>();
    registry.add::<cse::Cse>();
    registry.add::<dce::Dce>();
    registry.add::<dse::Dse>();
    registry.add::<expand::Expand>();
    registry.add::<fold::Fold>();
    registry.add::<fuse_sweeps::FuseSweeps>();
    registry.add::<hoist_common::HoistCommon>();
    registry.add_loop::<indvars::Indvars>();
    registry.add::<load_pre::LoadPre>();
    registry.add_loop::<join_exits::JoinExits>();
    registry.add::<loop_coalesce::LoopCoalesce>();
    registry.add_loop::<loop_delete::LoopDelete>();
    registry.add::<loop_fuse::LoopFuse>();
    registry.add::<alias_scopes::AliasScopes>();
    registry.add::<loop_idiom::LoopIdiom>();
    registry.add::<loop_interchange::LoopInterchange>();
    registry.add_loop::<loop_rotate::LoopRotate>();
    registry.add_loop::<loop_simplify::LoopSimplify>();
    registry.add_module::<inline::Inline>();
    registry.add_module::<lower_try::LowerTry>();
    registry.add::<gvn::Gvn>();
    registry.add_loop::<licm::Licm>();
    registry.add::<mem2reg::Mem2reg>();
    registry.add::<merge_returns::MergeReturns>();
    registry.add_loop::<peel::Peel>();
    registry.add::<profile::Profile>();
    registry.add::<prune::Prune>();
    registry.add::<reassociate::Reassociate>();
    registry.add::<reciprocals::Reciprocals>();
    registry.add::<reduction_factor::ReductionFactor>();
    registry.add::<renumber::Renumber>();
    registry.add::<rewrite::Rewrite>();
    registry.add::<sccp::Sccp>();
    registry.add::<simplify_cfg::SimplifyCfg>();
    registry.add::<specialize::Specialize>();
    registry.add::<sink::Sink>();
    registry.add::<split_elements::SplitElements>();
    registry.add::<specialize_getfield::SpecializeGetfield>();
    registry.add::<specialize_tangents::SpecializeTangents>();
    registry.add_loop::<strength_reduce::StrengthReduce>();
    registry.add::<strip_math::StripMath>();
    registry.add::<tail_calls::TailCalls>();
    registry.add::<tile::Tile>();
    registry.add_loop::<unroll::Unroll>();
    registry.add::<unroll_and_jam::UnrollAndJam>();
    registry.add_loop::<unswitch::Unswitch>();
    registry.add::<sroa::Sroa>();
}
