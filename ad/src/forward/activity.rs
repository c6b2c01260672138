//! Which values of a function may have a derivative that is not zero.
//!
//! ```text
//! func @f(%1: f64, %2: f64, %3: array<f64, 1>) -> f64 {    with respect to %1:
//! ^1:
//!   %4: f64 = arith.mul %2, 2.0                            not active
//!   %5: f64 = arith.mul %1, %4                             active
//!   mem.store %3, %5, 1                                    %3 is active from the start
//! ```
//!
//! Method. Values without objects in them are active if what they are computed from is: a walk
//! along uses. Values with objects in them are put into sets that may share objects, as in
//! B. Steensgaard, "Points-to Analysis in Almost Linear Time" (POPL 1996), and a set is active as a
//! whole. So an object is active everywhere if something active may ever be stored in it, and then
//! it has a shadow from the start.
//!
//! A function is looked at once for each choice of active arguments with which it is called. What
//! it says to its callers ([`Summary`]) only grows, and callers are looked at again when it did.
//!
//! Why it is right: each step only adds, and stops when every instruction agrees; what is not
//! active has a derivative that is zero, or no derivative.
//!
//! Cost: almost linear in the instructions, for each time that a function is looked at; with
//! recursion that is as often as its summary grows, at most twice the number of its parameters.

use indexmap::IndexSet;
use regraft_dialects::{ad, cf, core, data, mem};
use regraft_ir::{FuncId, Function, Module, Op, Type, TypeKind, Value};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::calls::{CallSite, Target, call_site};
use super::classes::Classes;
use crate::rules::{Derivative, ScalarRules, derivative};
use crate::tangent::TangentTypes;

/// A function and which of its arguments are active, by number.
pub(super) type Context = usize;

/// What a function says to its callers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Summary {
    /// The parameters that have to be passed as active: those that are, and those into which the
    /// function stores what is.
    pub(super) params: Vec<bool>,
    /// Whether the result is active.
    pub(super) ret: bool,
    /// Whether anything in it is active.
    pub(super) any: bool,
    /// Which of the parameters, and last the result, may share objects: those with equal numbers.
    classes: Vec<u32>,
}

/// Which values of a function are active.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    active: Vec<bool>,
}

impl Activity {
    pub(super) fn is_active(&self, v: Value) -> bool {
        self.active[v.index()]
    }
}

#[derive(Debug)]
struct Entry {
    function: FuncId,
    /// The arguments that are active.
    passed: Vec<bool>,
    summary: Summary,
    activity: Activity,
    /// Who has to be looked at again when the summary grows.
    callers: IndexSet<Context, FxBuildHasher>,
    is_pending: bool,
}

/// The activity of the functions of a module.
#[derive(Debug)]
pub(super) struct Activities<'m> {
    module: &'m Module,
    rules: &'m ScalarRules,
    pub(super) types: TangentTypes,
    entries: Vec<Entry>,
    numbers: FxHashMap<(FuncId, Vec<bool>), Context>,
    pending: Vec<Context>,
}

impl<'m> Activities<'m> {
    pub(super) fn new(module: &'m Module, rules: &'m ScalarRules) -> Self {
        Self {
            module,
            rules,
            types: TangentTypes::new(module.ctx()),
            entries: Vec::new(),
            numbers: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// A function with these arguments active, and everything that it calls so.
    pub(super) fn of(&mut self, function: FuncId, active: Vec<bool>) -> Context {
        let context = self.context(function, active);
        while let Some(next) = self.pending.pop() {
            self.entries[next].is_pending = false;
            self.look_at(next);
        }
        context
    }

    pub(super) fn function(&self, context: Context) -> FuncId {
        self.entries[context].function
    }

    /// Which arguments of the function are active.
    pub(super) fn passed(&self, context: Context) -> &[bool] {
        &self.entries[context].passed
    }

    pub(super) fn summary(&self, context: Context) -> &Summary {
        &self.entries[context].summary
    }

    pub(super) fn activity(&self, context: Context) -> &Activity {
        &self.entries[context].activity
    }

    /// How a function is called with these arguments active: more of them may have to be.
    pub(super) fn call(&mut self, function: FuncId, active: Vec<bool>) -> Context {
        let mut active = active;
        loop {
            let context = self.context(function, active);
            let entry = &self.entries[context];
            if entry.summary.params == entry.passed {
                return context;
            }
            active = entry.summary.params.clone();
        }
    }

    fn context(&mut self, function: FuncId, active: Vec<bool>) -> Context {
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
        let count = params.len() as u32 + 1;
        let summary = Summary {
            any: active.contains(&true),
            params: active.clone(),
            ret: false,
            classes: (0..count).collect(),
        };
        let context = self.entries.len();
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

    fn look_at(&mut self, context: Context) {
        let (module, rules) = (self.module, self.rules);
        let Some(f) = module.get(self.entries[context].function) else { return };
        let mut solver = Solver::new(self, f, context);
        solver.start(rules);
        solver.run(rules);
        let (activity, summary) = solver.finish();
        let entry = &mut self.entries[context];
        entry.activity = activity;
        if entry.summary == summary {
            return;
        }
        entry.summary = summary;
        for caller in entry.callers.clone() {
            let caller_entry = &mut self.entries[caller];
            if !std::mem::replace(&mut caller_entry.is_pending, true) {
                self.pending.push(caller);
            }
        }
    }
}

/// How derivatives flow through an op that is no call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    /// From every operand to the result, which may share objects with them.
    Result,
    /// To the result, which is a new object; its elements are those of the operand.
    Copy,
    /// From one operand into the object that another one is.
    Into { object: usize, value: usize },
    /// From the elements of one operand into the object that another one is.
    Elements { object: usize, source: usize },
    /// The result has a derivative whatever the operands are.
    Source,
    /// To the result, which shares nothing with the operand.
    Fresh,
    /// Nowhere.
    None,
}

/// How derivatives flow through an op that is [`Derivative::Structural`] and no call.
pub(super) fn flow(op: Op) -> Flow {
    match op {
        mem::STORE | mem::PUSH | mem::REF_SET | mem::FILL_IN_PLACE => {
            Flow::Into { object: 0, value: 1 }
        }
        data::SETFIELD => Flow::Into { object: 0, value: 2 },
        mem::COPYTO => Flow::Elements { object: 0, source: 1 },
        // What is added to a shadow becomes no part of it.
        ad::ACCUMULATE => Flow::Elements { object: 0, source: 1 },
        mem::COPY => Flow::Copy,
        ad::COPY => Flow::Fresh,
        core::GLOBAL | ad::GLOBAL_SHADOW => Flow::Source,
        core::THROW
        | core::SET_GLOBAL
        | core::UNDEF
        | mem::ALLOC
        | mem::RESIZE
        | ad::ZERO
        | ad::CLEAR
        | cf::UNREACHABLE => Flow::None,
        _ => Flow::Result,
    }
}

struct Solver<'a, 'm> {
    all: &'a mut Activities<'m>,
    f: &'m Function,
    context: Context,
    classes: Classes,
    /// The values by their index.
    values: Vec<Option<Value>>,
    calls: Vec<(Value, CallSite)>,
    /// What became active and was not followed yet.
    news: Vec<usize>,
}

impl<'a, 'm> Solver<'a, 'm> {
    fn new(all: &'a mut Activities<'m>, f: &'m Function, context: Context) -> Self {
        // The last node is the result.
        let classes = Classes::new(f.value_capacity() + 1);
        let values = vec![None; f.value_capacity()];
        Self { all, f, context, classes, values, calls: Vec::new(), news: Vec::new() }
    }

    fn ret(&self) -> usize {
        self.f.value_capacity()
    }

    fn has_shadow(&mut self, v: Value) -> bool {
        self.all.types.has_shadow(self.f.ty(v))
    }

    fn activate(&mut self, v: Value) {
        if self.all.types.has_tangent(self.f.ty(v)) {
            self.classes.activate(v.index(), &mut self.news);
        }
    }

    /// Notes that two values may share objects.
    fn share(&mut self, a: Value, b: Value) {
        if self.has_shadow(a) && self.has_shadow(b) {
            self.classes.unite(a.index(), b.index(), &mut self.news);
        }
    }

    /// Puts together what may share objects, and finds where derivatives come from.
    fn start(&mut self, rules: &ScalarRules) {
        let f = self.f;
        for block in f.blocks() {
            for v in f.params(block).chain(f.body(block)) {
                self.values[v.index()] = Some(v);
            }
        }
        for block in f.blocks() {
            for v in f.body(block) {
                self.start_at(v, rules);
            }
            for edge in f.out_edges(block) {
                let params = f.params(f.edge_target(edge));
                for (param, arg) in params.zip(f.edge_args(edge)) {
                    if let Some(arg) = arg.as_value() {
                        self.share(param, arg);
                    }
                }
            }
            let term = Value::terminator(block);
            if f.op(term) == Some(cf::RETURN)
                && let Some(v) = f.operand(term, 0).and_then(|operand| operand.as_value())
                && self.has_shadow(v)
            {
                let ret = self.ret();
                self.classes.unite(v.index(), ret, &mut self.news);
            }
        }
        let passed = self.all.entries[self.context].passed.clone();
        if let Some(entry) = f.entry() {
            for (param, active) in f.params(entry).zip(passed) {
                if active {
                    self.activate(param);
                }
            }
        }
    }

    fn start_at(&mut self, v: Value, rules: &ScalarRules) {
        let f = self.f;
        let Some(op) = f.op(v) else { return };
        let operand = |i| f.operand(v, i).and_then(|operand| operand.as_value());
        let operands = || f.operands(v).filter_map(|operand| operand.as_value());
        if is_call(op) {
            let site = call_site(self.all.module, f, v);
            if matches!(site.target, Target::Dynamic | Target::Rule(_)) {
                operands().for_each(|operand| self.share(v, operand));
                // Those of a call without such a result, too.
                let mut with_shadow = operands().filter(|&operand| self.has_shadow(operand));
                let (first, others): (Option<Value>, Vec<Value>) =
                    (with_shadow.next(), with_shadow.collect());
                if let Some(first) = first {
                    others.into_iter().for_each(|other| self.share(first, other));
                }
            }
            self.calls.push((v, site));
            return;
        }
        if !matches!(derivative(rules, op), Some(Derivative::Structural)) {
            return;
        }
        match flow(op) {
            Flow::Result => operands().for_each(|operand| self.share(v, operand)),
            Flow::Copy => {
                if let Some(array) = operand(0)
                    && self.elements_have_shadow(array)
                {
                    self.share(v, array);
                }
            }
            Flow::Into { object, value } => {
                if let (Some(object), Some(value)) = (operand(object), operand(value)) {
                    self.share(object, value);
                }
            }
            Flow::Elements { object, source } => {
                if op != ad::ACCUMULATE
                    && let (Some(object), Some(source)) = (operand(object), operand(source))
                    && self.elements_have_shadow(source)
                {
                    self.share(object, source);
                }
            }
            Flow::Source => {
                if self.has_shadow(v) {
                    self.activate(v);
                }
            }
            Flow::Fresh | Flow::None => {}
        }
    }

    fn elements_have_shadow(&mut self, array: Value) -> bool {
        match *self.f.ctx().kind(self.f.ty(array)) {
            TypeKind::Array { element, .. } => self.all.types.has_shadow(element),
            _ => true,
        }
    }

    fn run(&mut self, rules: &ScalarRules) {
        loop {
            while let Some(node) = self.news.pop() {
                let Some(v) = self.values.get(node).copied().flatten() else { continue };
                let f = self.f;
                for at in f.uses(v) {
                    self.follow(at.user, at.index as usize, rules);
                }
            }
            let mut changed = false;
            for (v, site) in self.calls.clone() {
                changed |= self.call(v, &site);
            }
            if !changed && self.news.is_empty() {
                return;
            }
        }
    }

    /// The operand of `user` at this position is active.
    fn follow(&mut self, user: Value, position: usize, rules: &ScalarRules) {
        let f = self.f;
        if let Some(block) = user.terminated_block() {
            if f.op(user) == Some(cf::RETURN) {
                let ret = self.ret();
                return self.classes.activate(ret, &mut self.news);
            }
            let edge = f.out_edges(block).take_while(|edge| (edge.position as usize) < position);
            if let Some(edge) = edge.last()
                && let Some(param) =
                    f.param(f.edge_target(edge), position - edge.position as usize - 1)
            {
                self.activate(param);
            }
            return;
        }
        let Some(op) = f.op(user) else { return };
        if is_call(op) {
            return;
        }
        match derivative(rules, op) {
            Some(Derivative::Scalar(rule)) => {
                if rule.partial(position).is_some_and(|partial| !partial.is_zero()) {
                    self.activate(user);
                }
            }
            Some(Derivative::Structural) => match flow(op) {
                Flow::Result | Flow::Copy | Flow::Fresh => self.activate(user),
                Flow::Into { object, value: from } | Flow::Elements { object, source: from } => {
                    let object = f.operand(user, object).and_then(|operand| operand.as_value());
                    if let Some(object) = object
                        && position == from
                    {
                        self.activate(object);
                    }
                }
                Flow::Source | Flow::None => {}
            },
            // Said when code is made.
            Some(Derivative::NotImplemented(_)) | None => self.activate(user),
            Some(Derivative::None) => {}
        }
    }

    /// Takes over what a callee says. Returns whether anything was united.
    fn call(&mut self, v: Value, site: &CallSite) -> bool {
        let f = self.f;
        let args: Vec<Option<Value>> =
            f.operands(v).skip(site.first).map(|operand| operand.as_value()).collect();
        let mut active = Vec::with_capacity(args.len());
        for &arg in &args {
            active.push(arg.is_some_and(|arg| self.classes.is_active(arg.index())));
        }
        match site.target {
            Target::Constant => false,
            Target::Refused(_) | Target::Rule(_) | Target::Dynamic => {
                let operands: Vec<Value> =
                    f.operands(v).filter_map(|operand| operand.as_value()).collect();
                if operands.iter().any(|operand| self.classes.is_active(operand.index())) {
                    self.activate(v);
                    for operand in operands {
                        if self.has_shadow(operand) {
                            self.activate(operand);
                        }
                    }
                }
                false
            }
            Target::Function(callee) => {
                let context = self.all.call(callee, active);
                let entry = &mut self.all.entries[context];
                entry.callers.insert(self.context);
                let summary = entry.summary.clone();
                for (&arg, &needed) in args.iter().zip(&summary.params) {
                    if let Some(arg) = arg
                        && needed
                        && self.has_shadow(arg)
                    {
                        self.activate(arg);
                    }
                }
                if summary.ret {
                    self.activate(v);
                }
                // Of each class, each with the first one.
                let mut firsts: FxHashMap<u32, Value> = FxHashMap::default();
                let mut changed = false;
                for (value, class) in args.iter().copied().chain([Some(v)]).zip(summary.classes) {
                    let Some(value) = value else { continue };
                    if !self.has_shadow(value) {
                        continue;
                    }
                    let first = *firsts.entry(class).or_insert(value);
                    changed |= self.classes.unite(first.index(), value.index(), &mut self.news);
                }
                changed
            }
        }
    }

    fn finish(mut self) -> (Activity, Summary) {
        let f = self.f;
        let active = (0..f.value_capacity()).map(|node| self.classes.is_active(node)).collect();
        let activity = Activity { active };
        let params: Vec<Value> = f.entry().into_iter().flat_map(|entry| f.params(entry)).collect();
        let passed = self.all.entries[self.context].passed.clone();
        let mut needed = Vec::with_capacity(params.len());
        for (&param, passed) in params.iter().zip(passed) {
            needed.push(passed || activity.is_active(param) && self.has_shadow(param));
        }
        let ret = self.ret();
        let nodes: Vec<usize> = params.iter().map(|param| param.index()).chain([ret]).collect();
        let ret_has_tangent = self.all.types.has_tangent(f.ret_type());
        let summary = Summary {
            params: needed,
            ret: ret_has_tangent && self.classes.is_active(ret),
            any: activity.active.contains(&true),
            classes: self.classes.partition(&nodes),
        };
        (activity, summary)
    }
}

/// Whether an op calls something.
pub(super) fn is_call(op: Op) -> bool {
    matches!(op, core::CALL | core::APPLY | core::SPLAT)
}
