//! The functions that threads may share.
//!
//! A kernel runs on other threads in an interpreter that has nothing but it and what it calls. So of all that it
//! runs if it returns, nothing may ask the session or the running program: no call of a value, no global name, no
//! output, no handler of errors. And since arrays that are given to it are lent, it changes no length of one. Code
//! that only leads to an error is not looked at: a call that fails is made again by the thread of the program.
//!
//! O(size of the functions), once for each kernel that is run.

use regraft_ad::without_failing_code;
use regraft_dialects::core;
use regraft_ir::{Function, Module, Symbol};
use regraft_passes::analysis::{Access, EffectSummaries};
use rustc_hash::FxHashSet;

use crate::compiler::Compiler;

impl Compiler {
    /// Returns whether calls of a function may run on other threads.
    pub(crate) fn may_share(&mut self, name: Symbol) -> bool {
        let Some(id) = self.spec_by_name(name) else { return false };
        let module = self.module_of(id);
        without_failing_code(&module).is_ok_and(|module| is_closed(&module, name))
    }
}

/// Returns whether a function, and all that it calls, needs nothing but the module.
fn is_closed(module: &Module, root: Symbol) -> bool {
    let mut seen: FxHashSet<Symbol> = FxHashSet::default();
    let mut pending = vec![root];
    while let Some(name) = pending.pop() {
        if !seen.insert(name) {
            continue;
        }
        let Some(f) = module.find(name).and_then(|id| module.get(id)) else { return false };
        if !asks_nobody(f) {
            return false;
        }
        let calls = f.all_insts().filter(|&v| f.op(v) == Some(core::CALL));
        pending.extend(calls.filter_map(|v| f.const_func(f.operand(v, 0)?)));
    }
    let summaries = EffectSummaries::compute(module);
    let summary = summaries.of(root);
    let mut accesses = summary.params.iter().map(|param| param.access).chain([summary.elsewhere]);
    !summary.opaque
        && !summary.observable
        && !accesses.any(|access| access.contains(Access::WRITES_SHAPE))
}

fn asks_nobody(f: &Function) -> bool {
    f.all_insts().all(|v| {
        let Some(def) = f.op_def(v) else { return false };
        let effects = def.effects;
        f.op(v) == Some(core::CALL)
            || !effects.opaque && !effects.observable && !effects.reads_globals
    })
}
