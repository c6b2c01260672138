//! The analysis of one function: a worklist over what became active.

use indexmap::IndexSet;
use regraft_dialects::{cf, core};
use regraft_ir::{Block, Function, Module, Operand, OperandSet, Symbol, Type, TypeKind, Value};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::classes::Classes;
use crate::calls::{CallSite, Mode, call_site, is_call};
use crate::derivative_table::{Derivative, DerivativeTable};
use crate::flow::Flow;
use crate::returning::returning_blocks;
use crate::tangent::TangentTypes;

/// The activity of the values of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    /// By [`Value::index`].
    varied: Vec<bool>,
    objects: Vec<bool>,
    returns: Vec<bool>,
    /// The calls that may read what is put into objects of globals.
    reads_globals: FxHashSet<Value>,
}

impl Activity {
    /// Returns whether a value has a cotangent, or a tangent outside of objects.
    pub(crate) fn is_varied(&self, operand: impl Into<Operand>) -> bool {
        let v = operand.into().as_value();
        v.is_some_and(|v| self.varied.get(v.index()).copied().unwrap_or(false))
    }

    /// Returns whether a value is, or holds, an object that has a shadow.
    pub(crate) fn has_shadow(&self, operand: impl Into<Operand>) -> bool {
        let v = operand.into().as_value();
        v.is_some_and(|v| self.objects.get(v.index()).copied().unwrap_or(false))
    }

    /// Returns whether a value is varied or has a shadow.
    pub(crate) fn is_active(&self, operand: impl Into<Operand>) -> bool {
        let operand = operand.into();
        self.is_varied(operand) || self.has_shadow(operand)
    }

    /// Returns whether a call is given, or may read, something with a derivative.
    pub(crate) fn is_active_call(&self, f: &Function, v: Value) -> bool {
        self.reads_globals.contains(&v) || f.plain_operands(v).any(|o| self.is_active(o))
    }

    /// Returns whether a block can come to a return. Otherwise nobody sees derivatives there.
    pub(crate) fn returns(&self, block: Block) -> bool {
        self.returns[block.index()]
    }

    /// Returns whether anything is active.
    pub(super) fn any(&self) -> bool {
        self.varied.contains(&true) || self.objects.contains(&true)
    }
}

/// The names of the globals that are read, in order.
pub(super) type GlobalNames = IndexSet<Symbol, FxBuildHasher>;

/// The state of the analysis of one function.
///
/// Its nodes are the values by their index, then the result, then what global names hold.
pub(super) struct Solver<'m> {
    pub(super) f: &'m Function,
    table: &'m DerivativeTable,
    /// Tells whether the objects in a varied value are active: in forward mode, where a tangent is one of
    /// the whole value, each object in it has one shadow from the start.
    is_whole: bool,
    /// By [`Value::index`].
    varied: Vec<bool>,
    has_shadow: Vec<bool>,
    has_cotangent: Vec<bool>,
    pub(super) classes: Classes,
    /// Tells whether what is returned is varied.
    pub(super) returns_varied: bool,
    names: &'m GlobalNames,
    /// The values by their index.
    values: Vec<Option<Value>>,
    pub(super) calls: Vec<(Value, CallSite)>,
    /// The blocks that can come to a return.
    returns: Vec<bool>,
    /// The parameters of each block, and the targets at the end of each with their positions.
    params: Vec<Vec<Value>>,
    targets: Vec<Vec<(usize, Block)>>,
    /// The nodes that became active and were not followed yet.
    news: Vec<usize>,
}

impl<'m> Solver<'m> {
    /// Puts together what may share objects. `names` are the globals whose objects have nodes.
    pub(super) fn new(
        module: &Module,
        f: &'m Function,
        mode: Mode,
        types: &mut TangentTypes,
        names: &'m GlobalNames,
    ) -> Self {
        let n = f.value_capacity();
        let mut this = Self {
            f,
            table: f.ctx().extensions().get(),
            is_whole: mode == Mode::Forward,
            varied: vec![false; n],
            has_shadow: vec![false; n],
            has_cotangent: vec![false; n],
            classes: Classes::new(n + 1 + names.len()),
            returns_varied: false,
            names,
            values: vec![None; n],
            calls: Vec::new(),
            returns: returning_blocks(f),
            params: vec![Vec::new(); f.block_capacity()],
            targets: vec![Vec::new(); f.block_capacity()],
            news: Vec::new(),
        };
        for block in f.blocks() {
            this.params[block.index()] = f.params(block).collect();
            let edges = f.out_edges(block);
            this.targets[block.index()] =
                edges.map(|edge| (edge.position as usize, f.edge_target(edge))).collect();
            for v in f.params(block).chain(f.body(block)) {
                this.values[v.index()] = Some(v);
                this.has_shadow[v.index()] = types.has_shadow(f.ty(v));
                this.has_cotangent[v.index()] = types.has_cotangent(f.ty(v));
            }
        }
        for block in f.blocks() {
            if this.returns(block) {
                this.share_in(module, mode, types, block);
            }
        }
        this
    }

    fn returns(&self, block: Block) -> bool {
        self.returns[block.index()]
    }

    pub(super) fn ret(&self) -> usize {
        self.f.value_capacity()
    }

    pub(super) fn globals(&self) -> std::ops::Range<usize> {
        self.ret() + 1..self.ret() + 1 + self.names.len()
    }

    pub(super) fn has_shadow(&self, v: Value) -> bool {
        self.has_shadow[v.index()]
    }

    fn is_varied(&self, operand: Operand) -> bool {
        operand.as_value().is_some_and(|v| self.varied[v.index()])
    }

    fn holds_active(&mut self, operand: Operand) -> bool {
        operand.as_value().is_some_and(|v| self.has_shadow(v) && self.classes.is_active(v.index()))
    }

    pub(super) fn is_active(&mut self, operand: Operand) -> bool {
        self.is_varied(operand) || self.holds_active(operand)
    }

    /// Makes a value varied, if it can be.
    fn vary(&mut self, v: Value) {
        if self.has_cotangent[v.index()] && !self.varied[v.index()] {
            self.varied[v.index()] = true;
            self.news.push(v.index());
            if self.is_whole {
                self.activate_objects(v);
            }
        }
    }

    /// Makes the objects that a value is or holds active.
    pub(super) fn activate_objects(&mut self, operand: impl Into<Operand>) {
        if let Some(v) = operand.into().as_value().filter(|&v| self.has_shadow(v)) {
            self.activate_node(v.index());
        }
    }

    pub(super) fn activate_node(&mut self, node: usize) {
        self.classes.activate(node, &mut self.news);
    }

    pub(super) fn activate(&mut self, v: Value) {
        self.vary(v);
        self.activate_objects(v);
    }

    /// Makes what a call gives varied or active.
    pub(super) fn activate_result(&mut self, v: Value, varied: bool, objects: bool) {
        if varied {
            self.vary(v);
        }
        if objects {
            self.activate_objects(v);
        }
    }

    /// Notes that two nodes may share objects. Returns whether that is news.
    pub(super) fn unite(&mut self, a: usize, b: usize) -> bool {
        self.classes.unite(a, b, &mut self.news)
    }

    /// Notes that two values may share objects.
    fn share(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) {
        if let (Some(a), Some(b)) = (a.into().as_value(), b.into().as_value())
            && self.has_shadow(a)
            && self.has_shadow(b)
        {
            self.unite(a.index(), b.index());
        }
    }

    /// Notes that all of these, as far as they have objects, may share them.
    pub(super) fn share_all(&mut self, all: impl IntoIterator<Item = Operand>) {
        let mut first = None;
        for v in all.into_iter().filter_map(Operand::as_value) {
            if self.has_shadow(v) {
                let first = *first.get_or_insert(v);
                self.share(first, v);
            }
        }
    }

    fn share_in(&mut self, module: &Module, mode: Mode, types: &mut TangentTypes, block: Block) {
        let f = self.f;
        for v in f.body(block) {
            if f.op(v).is_some_and(is_call) {
                self.calls.push((v, call_site(module, f, v, mode)));
            } else {
                self.share_op(v, types);
            }
        }
        for edge in f.out_edges(block) {
            let target = f.edge_target(edge);
            if self.returns(target) {
                for (param, arg) in f.params(target).zip(f.edge_args(edge)) {
                    self.share(param, arg);
                }
            }
        }
        let term = Value::terminator(block);
        if f.op(term) == Some(cf::RETURN)
            && let Some(v) = f.operand(term, 0).and_then(Operand::as_value)
            && self.has_shadow(v)
        {
            self.unite(v.index(), self.ret());
        }
    }

    fn flow(&self, v: Value) -> Flow {
        self.f.op(v).map_or(Flow::None, |op| self.table.flow(op))
    }

    fn share_op(&mut self, v: Value, types: &mut TangentTypes) {
        let f = self.f;
        let operand = |i| f.operand(v, i);
        match self.flow(v) {
            Flow::Value | Flow::Objects | Flow::Read | Flow::Field | Flow::New => {
                f.plain_operands(v).for_each(|operand| self.share(v, operand));
            }
            Flow::Copy => {
                if let Some(array) = operand(0)
                    && elements_have_shadow(f, array, types)
                {
                    self.share(v, array);
                }
            }
            Flow::Into { object, value } => {
                if let (Some(object), Some(value)) = (operand(object), operand(value)) {
                    self.share(object, value);
                }
            }
            Flow::Elements { object, source, shares: true } => {
                if let (Some(object), Some(source)) = (operand(object), operand(source))
                    && elements_have_shadow(f, source, types)
                {
                    self.share(object, source);
                }
            }
            Flow::Global => {
                let name = global_name(f, v).and_then(|name| self.names.get_index_of(&name));
                if let Some(at) = name.filter(|_| self.has_shadow(v)) {
                    self.unite(v.index(), self.ret() + 1 + at);
                }
            }
            Flow::Elements { shares: false, .. } | Flow::Fresh | Flow::Computed | Flow::None => {}
        }
    }

    /// Makes parameters active.
    pub(super) fn activate_params(&mut self, active: &[bool]) {
        let Some(entry) = self.f.entry() else { return };
        for (param, _) in self.f.params(entry).zip(active).filter(|&(_, &active)| active) {
            self.activate(param);
        }
    }

    /// Follows what became active through everything but calls. Returns whether anything did.
    pub(super) fn propagate(&mut self) -> bool {
        let any = !self.news.is_empty();
        while let Some(node) = self.news.pop() {
            let Some(v) = self.values.get(node).copied().flatten() else { continue };
            for at in self.f.uses(v) {
                self.follow(v, at.user, at.index as usize);
            }
        }
        any
    }

    /// The operand `v` of `user` at this position is active.
    fn follow(&mut self, v: Value, user: Value, position: usize) {
        let f = self.f;
        let block = user.terminated_block().unwrap_or_else(|| f.block_of(user));
        if !self.returns(block) {
            return;
        }
        if !user.is_terminator() {
            return self.follow_op(user, position);
        }
        if f.op(user) == Some(cf::RETURN) {
            self.returns_varied |= self.varied[v.index()];
            return;
        }
        // The target stands in front of what is passed to it.
        let targets = &self.targets[block.index()];
        let next = targets.partition_point(|&(at, _)| at < position);
        if let Some(&(at, target)) = next.checked_sub(1).and_then(|i| targets.get(i))
            && self.returns(target)
            && let Some(&param) = self.params[target.index()].get(position - at - 1)
        {
            if self.varied[v.index()] {
                self.vary(param);
            }
            if self.holds_active(v.into()) {
                self.activate_objects(param);
            }
        }
    }

    fn follow_op(&mut self, user: Value, position: usize) {
        let f = self.f;
        let Some(op) = f.op(user).filter(|&op| !is_call(op)) else { return };
        let Some(operand) = f.operand(user, position) else { return };
        let varied = self.is_varied(operand);
        if let Derivative::Scalar(rule) = self.table.get(op) {
            if varied && rule.partial(position).is_some_and(|partial| !partial.is_zero()) {
                self.vary(user);
            }
            return;
        }
        match self.table.flow(op) {
            Flow::Value => {
                let reads = f.op_def(user).is_some_and(|def| !def.effects.reads.is_empty());
                if varied || reads && self.holds_active(operand) {
                    self.vary(user);
                }
            }
            Flow::Read => {
                if position == 0 && self.holds_active(operand) {
                    self.vary(user);
                }
            }
            Flow::Field => {
                if varied || is_object(f, operand) && self.holds_active(operand) {
                    self.vary(user);
                }
            }
            Flow::New => {
                if varied {
                    self.activate_objects(user);
                }
            }
            Flow::Copy => self.activate_objects(user),
            Flow::Fresh => {
                if varied {
                    self.vary(user);
                }
                self.activate_objects(user);
            }
            Flow::Into { object, value } => {
                if position == value && varied {
                    f.operand(user, object).into_iter().for_each(|o| self.activate_objects(o));
                }
            }
            Flow::Elements { object, source, .. } => {
                if position == source {
                    f.operand(user, object).into_iter().for_each(|o| self.activate_objects(o));
                }
            }
            Flow::Computed => {
                self.activate(user);
                let changes = f.op_def(user).map_or(OperandSet::NONE, |def| def.effects.writes);
                let changed =
                    f.plain_operands(user).enumerate().filter(|&(i, _)| changes.contains(i));
                changed.for_each(|(_, object)| self.activate_objects(object));
            }
            Flow::Objects | Flow::Global | Flow::None => {}
        }
    }

    /// The activity of the function, in which these calls may read what is put into globals.
    pub(super) fn finish(mut self, reads_globals: FxHashSet<Value>) -> Activity {
        let count = self.varied.len();
        let objects = (0..count).map(|i| self.has_shadow[i] && self.classes.is_active(i)).collect();
        Activity { varied: self.varied, objects, returns: self.returns, reads_globals }
    }
}

/// The name that `v` reads, if it reads a global.
pub(super) fn global_name(f: &Function, v: Value) -> Option<Symbol> {
    let [name] = f.matches(v, core::GLOBAL)?;
    f.const_sym(name)
}

/// Returns whether fields of it are read from memory.
fn is_object(f: &Function, operand: Operand) -> bool {
    let ty = f.operand_type(operand);
    ty == Type::ANY || f.ctx().struct_of(ty).is_some_and(|def| def.mutable)
}

fn elements_have_shadow(f: &Function, array: Operand, types: &mut TangentTypes) -> bool {
    match *f.ctx().kind(f.operand_type(array)) {
        TypeKind::Array { element, .. } => types.has_shadow(element),
        _ => true,
    }
}
