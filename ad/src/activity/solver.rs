//! The activity of one function, from what its callees say: see [`activity`](super).

use regraft_dialects::{ad, cf};
use regraft_ir::{Block, Function, Operand, Symbol, TypeKind, Value};
use rustc_hash::FxHashMap;

use super::calls::{CallSite, Target, call_site};
use super::classes::Classes;
use super::flow::{Flow, flow, is_call};
use super::globals::global_name;
use super::{Activities, Activity, Context, Summary};
use crate::derivative_table::Derivative;

/// Looks at one function.
pub(super) struct Solver<'a, 'm> {
    all: &'a mut Activities<'m>,
    f: &'m Function,
    context: Context,
    classes: Classes,
    /// The values by their index.
    values: Vec<Option<Value>>,
    calls: Vec<(Value, CallSite)>,
    /// The blocks that can come to a return.
    returns: Vec<bool>,
    /// The parameters of each block, and the targets at the end of each with their positions.
    params: Vec<Vec<Value>>,
    targets: Vec<Vec<(usize, Block)>>,
    /// What became active and was not followed yet.
    news: Vec<usize>,
}

impl<'a, 'm> Solver<'a, 'm> {
    pub(super) fn new(all: &'a mut Activities<'m>, f: &'m Function, context: Context) -> Self {
        // After the values, the result, and the globals.
        let classes = Classes::new(f.value_capacity() + 1 + all.globals.len());
        let values = vec![None; f.value_capacity()];
        let mut params = vec![Vec::new(); f.block_capacity()];
        let mut targets = vec![Vec::new(); f.block_capacity()];
        for block in f.blocks() {
            params[block.index()] = f.params(block).collect();
            let edges = f.out_edges(block);
            targets[block.index()] =
                edges.map(|edge| (edge.position as usize, f.edge_target(edge))).collect();
        }
        let (calls, news, returns) = (Vec::new(), Vec::new(), returning(f));
        Self { all, f, context, classes, values, calls, returns, params, targets, news }
    }

    fn ret(&self) -> usize {
        self.f.value_capacity()
    }

    /// The node of what a global name holds, if that is objects.
    fn global(&self, name: Symbol) -> Option<usize> {
        Some(self.ret() + 1 + self.all.globals.get_index_of(&name)?)
    }

    fn globals(&self) -> std::ops::Range<usize> {
        self.ret() + 1..self.ret() + 1 + self.all.globals.len()
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
    pub(super) fn start(&mut self) {
        let f = self.f;
        for block in f.blocks() {
            for v in f.params(block).chain(f.body(block)) {
                self.values[v.index()] = Some(v);
            }
        }
        for block in f.blocks() {
            if !self.returns[block.index()] {
                continue;
            }
            for v in f.body(block) {
                self.start_at(v);
            }
            for edge in f.out_edges(block) {
                let target = f.edge_target(edge);
                if !self.returns[target.index()] {
                    continue;
                }
                for (param, arg) in f.params(target).zip(f.edge_args(edge)) {
                    if let Some(arg) = arg.as_value() {
                        self.share(param, arg);
                    }
                }
            }
            let term = Value::terminator(block);
            if f.op(term) == Some(cf::RETURN)
                && let Some(v) = f.operand(term, 0).and_then(Operand::as_value)
                && self.has_shadow(v)
            {
                let ret = self.ret();
                self.classes.unite(v.index(), ret, &mut self.news);
            }
        }
        for (at, node) in self.globals().enumerate() {
            if self.all.global_is_active[at] {
                self.classes.activate(node, &mut self.news);
            }
        }
        let passed = self.all.passed(self.context).to_vec();
        if let Some(entry) = f.entry() {
            for (param, active) in f.params(entry).zip(passed) {
                if active {
                    self.activate(param);
                }
            }
        }
    }

    fn start_at(&mut self, v: Value) {
        let f = self.f;
        let Some(op) = f.op(v) else { return };
        let operand = |i| f.operand(v, i).and_then(Operand::as_value);
        let operands = || f.operands(v).filter_map(Operand::as_value);
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
        if !matches!(self.all.table.get(op), Derivative::Structural) {
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
                if !matches!(op, ad::ACCUMULATE | ad::SPREAD | ad::UNCOPY | ad::RECOPY)
                    && let (Some(object), Some(source)) = (operand(object), operand(source))
                    && self.elements_have_shadow(source)
                {
                    self.share(object, source);
                }
            }
            Flow::Global => {
                if let Some(name) = global_name(f, v)
                    && let Some(node) = self.global(name)
                    && self.has_shadow(v)
                {
                    self.classes.unite(v.index(), node, &mut self.news);
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

    pub(super) fn run(&mut self) {
        loop {
            while let Some(node) = self.news.pop() {
                let Some(v) = self.values.get(node).copied().flatten() else { continue };
                let f = self.f;
                for at in f.uses(v) {
                    self.follow(at.user, at.index as usize);
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
    fn follow(&mut self, user: Value, position: usize) {
        let f = self.f;
        let block = user.terminated_block().unwrap_or_else(|| f.block_of(user));
        if !self.returns[block.index()] {
            return;
        }
        if user.is_terminator() {
            if f.op(user) == Some(cf::RETURN) {
                let ret = self.ret();
                return self.classes.activate(ret, &mut self.news);
            }
            // The target stands in front of what is passed to it.
            let targets = &self.targets[block.index()];
            let next = targets.partition_point(|&(at, _)| at < position);
            if let Some(&(at, target)) = next.checked_sub(1).and_then(|i| targets.get(i))
                && self.returns[target.index()]
                && let Some(&param) = self.params[target.index()].get(position - at - 1)
            {
                self.activate(param);
            }
            return;
        }
        let Some(op) = f.op(user) else { return };
        if is_call(op) {
            return;
        }
        match self.all.table.get(op) {
            Derivative::Scalar(rule) => {
                if rule.partial(position).is_some_and(|partial| !partial.is_zero()) {
                    self.activate(user);
                }
            }
            Derivative::Written(written) => {
                self.activate(user);
                for &object in written.changes {
                    if let Some(object) = f.operand(user, object).and_then(Operand::as_value) {
                        self.activate(object);
                    }
                }
            }
            Derivative::Structural => match flow(op) {
                Flow::Result | Flow::Copy | Flow::Fresh => self.activate(user),
                Flow::Into { object, value: from } | Flow::Elements { object, source: from } => {
                    let object = f.operand(user, object).and_then(Operand::as_value);
                    if let Some(object) = object
                        && position == from
                    {
                        self.activate(object);
                    }
                }
                Flow::Global | Flow::None => {}
            },
            // Said when code is made.
            Derivative::NotImplemented(_) => self.activate(user),
            Derivative::None => {}
        }
    }

    /// Takes over what a callee says. Returns whether anything was united.
    fn call(&mut self, v: Value, site: &CallSite) -> bool {
        let f = self.f;
        let args: Vec<Option<Value>> =
            f.operands(v).skip(site.first).map(Operand::as_value).collect();
        let mut active = Vec::with_capacity(args.len());
        for &arg in &args {
            active.push(arg.is_some_and(|arg| self.classes.is_active(arg.index())));
        }
        match site.target {
            Target::Constant => false,
            Target::Refused(_) | Target::Rule(_) | Target::Dynamic => {
                let operands: Vec<Value> = f.operands(v).filter_map(Operand::as_value).collect();
                let is_dynamic = matches!(site.target, Target::Dynamic);
                let mut any =
                    operands.iter().any(|operand| self.classes.is_active(operand.index()));
                if is_dynamic {
                    // It may put something into what each global holds, and may read that.
                    if any {
                        self.globals().for_each(|at| self.classes.activate(at, &mut self.news));
                    }
                    any |= self.globals().any(|at| self.classes.is_active(at));
                }
                if any {
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
                self.all.note_call(self.context, context);
                let summary = self.all.summary(context).clone();
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
                let mut firsts: FxHashMap<u32, usize> = FxHashMap::default();
                let mut changed = false;
                let values = args.iter().copied().chain([Some(v)]);
                let mut nodes: Vec<Option<usize>> = Vec::with_capacity(summary.classes.len());
                for value in values {
                    let with_shadow = value.filter(|&value| self.has_shadow(value));
                    nodes.push(with_shadow.map(Value::index));
                }
                nodes.extend(self.globals().map(Some));
                for (node, class) in nodes.into_iter().zip(summary.classes) {
                    let Some(node) = node else { continue };
                    let first = *firsts.entry(class).or_insert(node);
                    changed |= self.classes.unite(first, node, &mut self.news);
                }
                changed
            }
        }
    }

    /// The activity of the function, what it says to its callers, and which globals are active.
    pub(super) fn finish(mut self) -> (Activity, Summary, Vec<bool>) {
        let f = self.f;
        let active = (0..f.value_capacity()).map(|node| self.classes.is_active(node)).collect();
        let activity = Activity { active, returns: self.returns.clone() };
        let params: Vec<Value> = f.entry().into_iter().flat_map(|entry| f.params(entry)).collect();
        let passed = self.all.passed(self.context).to_vec();
        let mut needed = Vec::with_capacity(params.len());
        for (&param, passed) in params.iter().zip(passed) {
            needed.push(passed || activity.is_active(param) && self.has_shadow(param));
        }
        let ret = self.ret();
        let nodes: Vec<usize> =
            params.iter().map(|param| param.index()).chain([ret]).chain(self.globals()).collect();
        let globals: Vec<bool> = self.globals().map(|node| self.classes.is_active(node)).collect();
        let ret_has_tangent = self.all.types.has_tangent(f.ret_type());
        let summary = Summary {
            params: needed,
            ret: ret_has_tangent && self.classes.is_active(ret),
            any: activity.active.contains(&true),
            classes: self.classes.partition(&nodes),
        };
        (activity, summary, globals)
    }
}

/// The blocks from which control can come to a return.
fn returning(f: &Function) -> Vec<bool> {
    let mut returns = vec![false; f.block_capacity()];
    let is_return = |&block: &Block| f.op(Value::terminator(block)) == Some(cf::RETURN);
    let mut pending: Vec<Block> = f.blocks().filter(is_return).collect();
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut returns[block.index()], true) {
            pending.extend(f.in_edges(block).map(|edge| edge.from));
        }
    }
    returns
}
