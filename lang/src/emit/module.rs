//! A module of a specialisation and all that it calls.

use std::rc::Rc;

use regraft_dialects::core as core_ops;
use regraft_ir::{Function, Module, Symbol};
use rustc_hash::FxHashSet;

use super::Emitter;
use crate::world::SpecId;

impl Emitter<'_> {
    /// The function of a specialisation, and behind it every function that it calls directly, in
    /// the order in which the calls stand. Struct types that occur are part of the module.
    /// O(size).
    pub(crate) fn module_of(&mut self, id: SpecId) -> Module {
        let mut functions: Vec<Rc<Function>> = Vec::new();
        let mut seen: FxHashSet<SpecId> = FxHashSet::default();
        let mut work = vec![id];
        seen.insert(id);
        while let Some(id) = work.pop() {
            let function = self.function(id);
            let mut callees = Vec::new();
            for name in called(&function) {
                if let Some(callee) = self.spec_by_name(name)
                    && seen.insert(callee)
                {
                    callees.push(callee);
                }
            }
            work.extend(callees.into_iter().rev());
            functions.push(function);
        }
        let functions = functions.iter().map(|function| Function::clone(function));
        Module::of_functions(self.ctx(), functions)
            .expect("specialisations have names of their own")
    }
}

/// The functions that are called by name, in order.
fn called(f: &Function) -> Vec<Symbol> {
    let calls = f.all_insts().filter(|&v| f.op(v) == Some(core_ops::CALL));
    calls.filter_map(|v| f.operand(v, 0).and_then(|callee| f.const_func(callee))).collect()
}
