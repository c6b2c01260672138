//! A module of a specialisation and all that it calls.

use std::rc::Rc;

use regraft_dialects::core as core_ops;
use regraft_ir::{FuncId, Function, Module, Operand, Symbol};
use rustc_hash::FxHashSet;

use super::Emitter;
use crate::infer::Spec;
use crate::world::SpecId;

impl Emitter<'_> {
    /// The function of a specialisation, and behind it every function that it calls directly, in
    /// the order in which the calls stand. Struct types that occur are part of the module.
    /// O(size).
    pub(crate) fn module_of(&mut self, id: SpecId) -> Module {
        self.module_within(id, |_, _| true)
    }

    /// The same with only those functions, behind the first, that are `wanted`, and what these call.
    pub(crate) fn module_within(
        &mut self,
        id: SpecId,
        wanted: impl Fn(&Spec, &Function) -> bool,
    ) -> Module {
        let mut functions: Vec<Rc<Function>> = Vec::new();
        let mut seen: FxHashSet<SpecId> = FxHashSet::default();
        let mut work = vec![id];
        seen.insert(id);
        while let Some(id) = work.pop() {
            let function = self.function(id);
            if !functions.is_empty() && !wanted(self.spec(id), &function) {
                continue;
            }
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
    let callees = f.all_insts().flat_map(|v| {
        let count = match f.op(v) {
            Some(core_ops::CALL) => 1,
            Some(core_ops::TRY) => 2,
            _ => 0,
        };
        f.operands(v).take(count)
    });
    callees.filter_map(|callee| f.const_func(callee)).collect()
}

/// Removes the functions that neither are among `roots` nor named by an operand in what is kept;
/// `name_of` says which function an operand names.
pub(crate) fn keep_reached(
    module: &mut Module,
    roots: impl IntoIterator<Item = FuncId>,
    name_of: impl Fn(&Function, Operand) -> Option<Symbol>,
) {
    let mut pending: Vec<FuncId> = roots.into_iter().collect();
    let mut reached: FxHashSet<FuncId> = pending.iter().copied().collect();
    while let Some(f) = pending.pop().and_then(|id| module.get(id)) {
        let operands = f.all_insts().flat_map(|v| f.operands(v));
        let found = operands.filter_map(|operand| module.find(name_of(f, operand)?));
        pending.extend(found.filter(|&id| reached.insert(id)));
    }
    for id in module.ids().to_vec() {
        if !reached.contains(&id) {
            module.remove(id);
        }
    }
}
