//! Objects that global names hold: a function may put something active into one, and another, to
//! which nothing active is passed, may read it.

use regraft_ir::Module;

use super::solver::{GlobalNames, global_name};
use crate::tangent::TangentTypes;

/// The global names of a module that hold objects with shadows, in the order of the module.
/// O(size).
pub(super) fn global_names(module: &Module, types: &mut TangentTypes) -> GlobalNames {
    let mut names = GlobalNames::default();
    for f in module.functions() {
        let reads = f.all_insts().filter_map(|v| Some((v, global_name(f, v)?)));
        names.extend(reads.filter(|&(v, _)| types.has_shadow(f.ty(v))).map(|(_, name)| name));
    }
    names
}

/// Returns whether a module reads a global name that may hold an object with a shadow. O(size).
pub fn reads_globals(module: &Module, types: &mut TangentTypes) -> bool {
    !global_names(module, types).is_empty()
}
