//! Activity of all functions of a module together.
//!
//! A function is looked at once for each choice of active arguments with which it is called. Its
//! [`Summary`] for its callers only grows, and callers are looked at again when it did: with recursion
//! as often as the summary grows, at most twice the number of parameters.

use std::sync::Arc;

use indexmap::IndexSet;
use regraft_ir::{FuncId, Function, Module, Operand, Symbol, Type, Value};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::globals::global_names;
use super::solver::{Activity, GlobalNames, Solver};
use crate::calls::{CallSite, Mode, Target};
use crate::derivative_table::DerivativeTable;
use crate::tangent::TangentTypes;

/// A function with a choice of active arguments, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ActivityId(usize);

/// The effect of a call on activity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Summary {
    /// The parameters that have to be passed as active: those that are, and those into which the
    /// function stores what is.
    pub(crate) params: Vec<bool>,
    /// Tells whether the result is varied.
    pub(crate) ret_varied: bool,
    /// Tells whether the objects of the result are active.
    pub(crate) ret_objects: bool,
    /// Tells whether anything in it is active.
    pub(crate) any: bool,
    /// The numbers of the parameters, the result and the globals, in this order: those that may share
    /// objects have equal ones.
    pub(crate) classes: Vec<u32>,
}

#[derive(Debug)]
struct Entry {
    function: FuncId,
    /// The arguments that are active.
    passed: Vec<bool>,
    summary: Summary,
    activity: Activity,
    /// The functions that are looked at again when the summary grows.
    callers: IndexSet<ActivityId, FxBuildHasher>,
    is_pending: bool,
}

/// The activity of the functions of a module.
#[derive(Debug)]
pub(crate) struct Activities<'m> {
    pub(crate) module: &'m Module,
    pub(crate) table: &'m DerivativeTable,
    pub(crate) types: TangentTypes,
    entries: Vec<Entry>,
    numbers: FxHashMap<(FuncId, Vec<bool>), ActivityId>,
    pending: Vec<ActivityId>,
    mode: Mode,
    /// The global names that hold objects, and whether these are active.
    pub(super) globals: Arc<GlobalNames>,
    global_is_active: Vec<bool>,
}

impl<'m> Activities<'m> {
    /// Of a module of which nothing was looked at yet. With `shared`, code outside of the module
    /// may put something active into what its globals hold.
    pub(crate) fn new(module: &'m Module, mode: Mode, shared: bool) -> Self {
        let mut types = TangentTypes::new(module.ctx());
        let globals = Arc::new(global_names(module, &mut types));
        Self {
            module,
            mode,
            table: module.ctx().extensions().get(),
            types,
            global_is_active: vec![shared; globals.len()],
            globals,
            entries: Vec::new(),
            numbers: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// A function with these arguments active, and everything that it calls so.
    pub(crate) fn of(&mut self, function: FuncId, active: Vec<bool>) -> ActivityId {
        let context = self.context(function, active);
        while let Some(next) = self.pending.pop() {
            self.entries[next.0].is_pending = false;
            self.look_at(next);
        }
        context
    }

    pub(crate) fn function(&self, context: ActivityId) -> FuncId {
        self.entries[context.0].function
    }

    /// By argument of the function, whether it is active.
    pub(crate) fn passed(&self, context: ActivityId) -> &[bool] {
        &self.entries[context.0].passed
    }

    pub(crate) fn summary(&self, context: ActivityId) -> &Summary {
        &self.entries[context.0].summary
    }

    pub(crate) fn activity(&self, context: ActivityId) -> &Activity {
        &self.entries[context.0].activity
    }

    /// The activity with which a function is called if these arguments are active: more of them may have
    /// to be.
    pub(crate) fn call(&mut self, function: FuncId, active: Vec<bool>) -> ActivityId {
        let mut active = active;
        loop {
            let context = self.context(function, active);
            let entry = &self.entries[context.0];
            if entry.summary.params == entry.passed {
                return context;
            }
            active = entry.summary.params.clone();
        }
    }

    fn context(&mut self, function: FuncId, active: Vec<bool>) -> ActivityId {
        let mut active = active;
        let f = self.module.get(function);
        let params: Vec<Type> = f.map(Function::param_types).unwrap_or_default();
        active.resize(params.len(), false);
        for (active, &ty) in active.iter_mut().zip(&params) {
            *active &= self.types.has_tangent(ty);
        }
        if let Some(&known) = self.numbers.get(&(function, active.clone())) {
            return known;
        }
        let count = (params.len() + 1 + self.globals.len()) as u32;
        let summary = Summary {
            any: active.contains(&true),
            params: active.clone(),
            ret_varied: false,
            ret_objects: false,
            classes: (0..count).collect(),
        };
        let context = ActivityId(self.entries.len());
        let activity = Activity::default();
        self.entries.push(Entry {
            function,
            passed: active.clone(),
            summary,
            activity,
            callers: IndexSet::default(),
            is_pending: true,
        });
        self.numbers.insert((function, active), context);
        self.pending.push(context);
        context
    }

    /// The global names that hold active objects.
    pub(crate) fn active_globals(&self) -> impl Iterator<Item = Symbol> {
        let all = self.globals.iter().zip(&self.global_is_active);
        all.filter(|&(_, &is_active)| is_active).map(|(&name, _)| name)
    }

    fn look_at(&mut self, context: ActivityId) {
        let module = self.module;
        let Some(f) = module.get(self.entries[context.0].function) else { return };
        let names = Arc::clone(&self.globals);
        let mut solver = Solver::new(module, f, self.mode, &mut self.types, &names);
        self.solve(&mut solver, context);
        let globals: Vec<bool> =
            solver.globals().map(|node| solver.classes.is_active(node)).collect();
        let (activity, summary) = self.finish(solver, context);
        if globals != self.global_is_active {
            self.global_is_active = globals;
            for (context, entry) in self.entries.iter_mut().enumerate() {
                if !std::mem::replace(&mut entry.is_pending, true) {
                    self.pending.push(ActivityId(context));
                }
            }
        }
        let entry = &mut self.entries[context.0];
        entry.activity = activity;
        if entry.summary == summary {
            return;
        }
        entry.summary = summary;
        for caller in entry.callers.clone() {
            let caller_entry = &mut self.entries[caller.0];
            if !std::mem::replace(&mut caller_entry.is_pending, true) {
                self.pending.push(caller);
            }
        }
    }

    fn solve(&mut self, solver: &mut Solver<'_>, context: ActivityId) {
        let calls = std::mem::take(&mut solver.calls);
        for (v, site) in &calls {
            if matches!(site.target, Target::Dynamic | Target::Rule(_)) {
                solver.share_all(solver.f.operands(*v).chain([Operand::from(*v)]));
            }
        }
        for (at, node) in solver.globals().enumerate() {
            if self.global_is_active[at] {
                solver.activate_node(node);
            }
        }
        solver.activate_params(&self.entries[context.0].passed);
        loop {
            solver.propagate();
            let mut changed = false;
            for (v, site) in &calls {
                changed |= self.follow_call(solver, context, *v, site);
            }
            if !solver.propagate() && !changed {
                return;
            }
        }
    }

    /// Takes over what a callee says. Returns whether anything was united.
    fn follow_call(
        &mut self,
        solver: &mut Solver<'_>,
        context: ActivityId,
        v: Value,
        site: &CallSite,
    ) -> bool {
        let f = solver.f;
        match site.target {
            Target::Constant => false,
            Target::Refused(_) | Target::Rule(_) | Target::Dynamic => {
                let mut any = f.operands(v).any(|operand| solver.is_active(operand));
                if site.target == Target::Dynamic {
                    // It may put something into what each global holds, and may read that.
                    if any {
                        solver.globals().for_each(|at| solver.activate_node(at));
                    }
                    any |= solver.globals().any(|at| solver.classes.is_active(at));
                }
                if any {
                    solver.activate(v);
                    f.operands(v).for_each(|operand| solver.activate_objects(operand));
                }
                false
            }
            Target::Function(callee) => {
                let args: Vec<Operand> = f.operands(v).skip(site.first).collect();
                let active = args.iter().map(|&arg| solver.is_active(arg)).collect();
                let callee = self.call(callee, active);
                self.entries[callee.0].callers.insert(context);
                let summary = &self.entries[callee.0].summary;
                for (&arg, _) in args.iter().zip(&summary.params).filter(|&(_, &needed)| needed) {
                    solver.activate_objects(arg);
                }
                solver.activate_result(v, summary.ret_varied, summary.ret_objects);
                // Of each class, each with the first one.
                let mut firsts: FxHashMap<u32, usize> = FxHashMap::default();
                let mut changed = false;
                let values = args.iter().map(|arg| arg.as_value()).chain([Some(v)]);
                let mut nodes: Vec<Option<usize>> = Vec::with_capacity(summary.classes.len());
                for value in values {
                    let with_shadow = value.filter(|&value| solver.has_shadow(value));
                    nodes.push(with_shadow.map(Value::index));
                }
                nodes.extend(solver.globals().map(Some));
                for (node, &class) in nodes.into_iter().zip(&summary.classes) {
                    let Some(node) = node else { continue };
                    let first = *firsts.entry(class).or_insert(node);
                    changed |= solver.unite(first, node);
                }
                changed
            }
        }
    }

    /// The activity of a function, and its summary.
    fn finish(&mut self, mut solver: Solver<'_>, context: ActivityId) -> (Activity, Summary) {
        let f = solver.f;
        let ret = solver.ret();
        let params: Vec<Value> = f.entry().into_iter().flat_map(|entry| f.params(entry)).collect();
        let nodes: Vec<usize> =
            params.iter().map(|param| param.index()).chain([ret]).chain(solver.globals()).collect();
        let classes = solver.classes.partition(&nodes);
        let types = &mut self.types;
        let ret_varied = solver.returns_varied && types.has_cotangent(f.ret_type());
        let ret_objects = solver.classes.is_active(ret) && types.has_shadow(f.ret_type());
        let activity = solver.finish(FxHashSet::default());
        let passed = &self.entries[context.0].passed;
        let needed =
            params.iter().zip(passed).map(|(&p, &passed)| passed || activity.has_shadow(p));
        let params = needed.collect();
        let any = activity.any();
        (activity, Summary { params, ret_varied, ret_objects, any, classes })
    }
}
