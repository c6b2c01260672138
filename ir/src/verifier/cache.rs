//! Verifying only what has changed.

use rustc_hash::FxHashMap;

use super::module::verify_items;
use super::verify_function_in;
use crate::{Diagnostic, FuncId, Module, Stamp, StructDef, Symbol, Type};

/// The functions that were found to be right, each with its state.
///
/// A function is right or wrong by what it is, by the signatures of the functions that it
/// calls, and by the struct types: as long as those are the same, one whose [`Stamp`] is the
/// same need not be looked at again.
#[derive(Clone, Debug, Default)]
pub struct VerifyCache {
    clean: FxHashMap<FuncId, Stamp>,
    interface: Interface,
}

impl VerifyCache {
    /// A cache that knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that a function was found to be right in this state, among functions and structs as
    /// they were the last time.
    pub fn mark_clean(&mut self, id: FuncId, stamp: Stamp) {
        self.clean.insert(id, stamp);
    }

    /// The number of functions that are known to be right, as of the last time.
    pub fn clean_count(&self) -> usize {
        self.clean.len()
    }
}

/// The signatures that functions of a module see of each other, compared as a whole.
#[derive(Clone, PartialEq, Debug, Default)]
struct Interface {
    /// Of each function its name, the type of its result, and its parameters.
    functions: Vec<(Symbol, Type, u32)>,
    params: Vec<Type>,
    structs: Vec<StructDef>,
}

impl Interface {
    fn of(module: &Module) -> Self {
        let mut interface = Self::default();
        for f in module.functions() {
            let before = interface.params.len();
            if let Some(entry) = f.entry() {
                interface.params.extend(f.params(entry).map(|v| f.ty(v)));
            }
            let params = (interface.params.len() - before) as u32;
            interface.functions.push((f.name(), f.ret_type(), params));
        }
        let structs = module.structs().iter();
        interface.structs.extend(structs.map(|&(id, _)| (*module.ctx().struct_def(id)).clone()));
        interface
    }
}

/// Verifies those functions of a module that have changed since they were found to be right, and
/// the module as a whole. O(functions + size of what has changed); when a signature or a struct
/// type has changed, everything is looked at.
///
/// # Errors
/// As [`verify_module`](super::verify_module); a function that is wrong is looked at, and
/// reported, again the next time.
pub fn verify_changed(module: &Module, cache: &mut VerifyCache) -> Result<(), Vec<Diagnostic>> {
    let interface = Interface::of(module);
    let mut errors = Vec::new();
    if cache.interface != interface || cache.clean.is_empty() {
        cache.clean.clear();
        cache.interface = interface;
        errors = verify_items(module);
        if !errors.is_empty() {
            // They have to be found again the next time.
            cache.interface = Interface::default();
        }
    }
    cache.clean.retain(|&id, _| module.get(id).is_some());
    for &id in module.ids() {
        let Some(f) = module.get(id) else { continue };
        let stamp = f.stamp();
        if cache.clean.get(&id) == Some(&stamp) {
            continue;
        }
        match verify_function_in(f, module) {
            Ok(()) => {
                cache.clean.insert(id, stamp);
            }
            Err(found) => {
                cache.clean.remove(&id);
                errors.extend(found);
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
