//! The globals that are active in a derivative, and the functions that may read them.

use regraft_ir::{FuncId, Function, Module, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::interprocedural::Activities;
use super::solver::global_name;
use crate::calls::{Mode, Target, call_site, is_call};

/// The globals whose objects may have something active put into them, and the functions that may
/// read these, themselves or by what they call.
#[derive(Debug)]
pub(crate) struct ActiveGlobals {
    names: FxHashSet<Symbol>,
    /// Of each function that was there, whether it reads one.
    reads: FxHashMap<Symbol, bool>,
}

impl ActiveGlobals {
    /// Finds the globals that are active in the derivative of `f` for these active parameters;
    /// `shared` as in [`Activities::new`].
    ///
    /// # Cost
    /// O(size of the module), and the analysis of activity if there are globals.
    pub(crate) fn of(module: &Module, f: FuncId, active: &[bool], shared: bool) -> Self {
        let mut all = Activities::new(module, Mode::Reverse, shared);
        if !all.globals.is_empty() && !shared {
            all.of(f, active.to_vec());
        }
        let names: FxHashSet<Symbol> = all.active_globals().collect();
        let mut this = Self { names, reads: FxHashMap::default() };
        if !this.names.is_empty() {
            this.find_readers(module);
        }
        this
    }

    fn find_readers(&mut self, module: &Module) {
        let mut callers: FxHashMap<FuncId, Vec<Symbol>> = FxHashMap::default();
        let mut pending = Vec::new();
        for f in module.functions() {
            let reads = self.reads(module, f, |callee| {
                callers.entry(callee).or_default().push(f.name());
                false
            });
            self.reads.insert(f.name(), reads);
            if reads {
                pending.extend(module.find(f.name()));
            }
        }
        while let Some(callee) = pending.pop() {
            for caller in callers.remove(&callee).unwrap_or_default() {
                if self.reads.insert(caller, true) == Some(false) {
                    pending.extend(module.find(caller));
                }
            }
        }
    }

    /// Returns whether an instruction of `f` may read one; `calls` says so of the functions that it
    /// calls.
    fn reads(&self, module: &Module, f: &Function, mut calls: impl FnMut(FuncId) -> bool) -> bool {
        f.all_insts().fold(false, |reads, v| {
            reads
                | match f
                    .op(v)
                    .filter(|&op| is_call(op))
                    .map(|_| call_site(module, f, v, Mode::Reverse).target)
                {
                    Some(Target::Function(callee)) => calls(callee),
                    Some(Target::Dynamic) => true,
                    Some(_) => false,
                    None => global_name(f, v).is_some_and(|name| self.holds(name)),
                }
        })
    }

    /// Returns whether something active may be put into an object that this name holds.
    pub(crate) fn holds(&self, name: Symbol) -> bool {
        self.names.contains(&name)
    }

    /// Returns whether dynamic calls may read one.
    pub(crate) fn reach_dynamic_calls(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns whether a function may read one. A function that was outlined from another one after
    /// the analysis is scanned here.
    pub(crate) fn are_read_by(&self, module: &Module, name: Symbol) -> bool {
        if self.names.is_empty() {
            return false;
        }
        if let Some(&reads) = self.reads.get(&name) {
            return reads;
        }
        let Some(f) = module.find(name).and_then(|id| module.get(id)) else { return false };
        self.reads(module, f, |callee| {
            let callee = module.get(callee).map(Function::name);
            callee.is_some_and(|callee| callee != name && self.are_read_by(module, callee))
        })
    }
}
