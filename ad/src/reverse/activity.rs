//! Activity: which values have a derivative that is asked for.
//!
//! A value is **varied** if it depends on an active parameter in a way that has a derivative. An
//! object is **active** if it comes in as an active parameter, or if something varied is put into
//! it; then it has a shadow.
//!
//! # Method
//! Objects are put into groups by union-find: what a value may be, or hold, is in one group with it
//! (Steensgaard: "Points-to Analysis in Almost Linear Time", 1996, without fields). A whole group
//! is active or not, so that whatever an object is known as, its shadow is known too. What is varied
//! flows from operands to results, and by way of active groups from stores to loads, until nothing
//! changes.
//!
//! # Cost
//! Near linear for each round; a round more for each time that a dependence goes back through a
//! loop or through memory.

use regraft_dialects::{ad, cf, core, data, mem};
use regraft_ir::{Block, Function, Module, Operand, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callee::{CallKind, call_kind};
use crate::activity::globals::ActiveGlobals;
use crate::derivative_table::{Derivative, DerivativeTable};
use crate::tangent::TangentTypes;

/// What is varied, and which objects are active.
#[derive(Debug)]
pub(super) struct Activity {
    /// By [`Value::index`].
    varied: Vec<bool>,
    has_shadow: Vec<bool>,
    groups: Vec<u32>,
    /// By representative of the group.
    active: Vec<bool>,
    /// The calls that may read what is put into objects of globals.
    reads_globals: FxHashSet<Value>,
}

impl Activity {
    /// For the parameters of `f` that are active. `blocks` are those that are reachable, in an order
    /// in which most definitions come before their uses.
    pub(super) fn compute(
        f: &Function,
        module: &Module,
        types: &mut TangentTypes,
        active: &[bool],
        blocks: &[Block],
        active_globals: &ActiveGlobals,
    ) -> Self {
        let table: &DerivativeTable = f.ctx().extensions().get();
        let n = f.value_capacity();
        let mut this = Self {
            varied: vec![false; n],
            has_shadow: vec![false; n],
            groups: (0..n as u32).collect(),
            active: vec![false; n],
            reads_globals: FxHashSet::default(),
        };
        for &block in blocks {
            for v in f.params(block).chain(f.body(block)) {
                this.has_shadow[v.index()] = types.has_shadow(f.ty(v));
            }
        }
        let mut globals = FxHashMap::default();
        for &block in blocks {
            for v in f.body(block) {
                this.unite(f, module, table, v, &mut globals);
                this.find_global(f, module, v, active_globals);
            }
            for edge in f.out_edges(block) {
                for (param, arg) in f.params(f.edge_target(edge)).zip(f.edge_args(edge)) {
                    this.join(param.into(), arg);
                }
            }
        }
        if let Some(entry) = f.entry() {
            for (param, _) in f.params(entry).zip(active).filter(|&(_, &active)| active) {
                this.varied[param.index()] = types.has_cotangent(f.ty(param));
                this.activate(param.into());
            }
        }
        // A caller may do with what is returned what it does with what it gave.
        for &block in blocks {
            let at = Value::terminator(block);
            if f.op(at) == Some(cf::RETURN)
                && let Some(result) = f.operand(at, 0)
            {
                this.activate(result);
            }
        }
        while this.round(f, module, types, table, blocks) {}
        this
    }

    /// Whether a cotangent flows back to it.
    pub(super) fn is_varied(&self, operand: impl Into<Operand>) -> bool {
        let v = operand.into().as_value();
        v.is_some_and(|v| self.varied.get(v.index()).copied().unwrap_or(false))
    }

    /// Whether it is, or holds, an object that has a shadow.
    pub(super) fn has_shadow(&self, operand: impl Into<Operand>) -> bool {
        let Some(v) = operand.into().as_value() else { return false };
        self.has_shadow.get(v.index()).copied().unwrap_or(false)
            && self.active[self.find(v.index()) as usize]
    }

    /// Whether it is either.
    pub(super) fn is_active(&self, operand: impl Into<Operand>) -> bool {
        let operand = operand.into();
        self.is_varied(operand) || self.has_shadow(operand)
    }

    fn find(&self, mut index: usize) -> u32 {
        while self.groups[index] as usize != index {
            index = self.groups[index] as usize;
        }
        index as u32
    }

    fn representative(&mut self, index: usize) -> usize {
        let root = self.find(index);
        let mut at = index;
        while self.groups[at] != root {
            at = std::mem::replace(&mut self.groups[at], root) as usize;
        }
        root as usize
    }

    /// Puts two values that are or hold objects into one group.
    fn join(&mut self, a: Operand, b: Operand) {
        let (Some(a), Some(b)) = (a.as_value(), b.as_value()) else { return };
        if self.has_shadow[a.index()] && self.has_shadow[b.index()] {
            let (a, b) = (self.representative(a.index()), self.representative(b.index()));
            // The lower one stays, so that groups do not depend on the order of calls.
            let (low, high) = (a.min(b), a.max(b));
            self.groups[high] = low as u32;
            self.active[low] |= self.active[high];
        }
    }

    /// Makes the objects that a value is or holds active. Returns whether that is news.
    fn activate(&mut self, operand: Operand) -> bool {
        let Some(v) = operand.as_value() else { return false };
        if !self.has_shadow[v.index()] {
            return false;
        }
        let group = self.representative(v.index());
        !std::mem::replace(&mut self.active[group], true)
    }

    fn unite(
        &mut self,
        f: &Function,
        module: &Module,
        table: &DerivativeTable,
        v: Value,
        globals: &mut FxHashMap<regraft_ir::Symbol, Value>,
    ) {
        let Some(op) = f.op(v) else { return };
        match op {
            mem::STORE | mem::REF_SET | mem::PUSH | mem::FILL_IN_PLACE => {
                if let (Some(object), Some(value)) = (f.operand(v, 0), f.operand(v, 1)) {
                    self.join(object, value);
                }
            }
            mem::COPYTO | mem::COPY if !self.holds_objects(f, v) => {}
            ad::ACCUMULATE | ad::SPREAD | ad::UNCOPY | ad::RECOPY => {}
            ad::SET_SLOT | ad::PUT_BACK => {
                if let (Some(shadow), Some(slot)) = (f.operand(v, 0), f.operand(v, 1)) {
                    self.join(shadow, slot);
                }
            }
            data::SETFIELD => {
                if let (Some(object), Some(value)) = (f.operand(v, 0), f.operand(v, 2)) {
                    self.join(object, value);
                }
            }
            mem::COPYTO => {
                if let (Some(dest), Some(source)) = (f.operand(v, 0), f.operand(v, 1)) {
                    self.join(dest, source);
                }
            }
            core::GLOBAL => {
                if let Some(name) = f.operand(v, 0).and_then(|name| f.const_sym(name)) {
                    let first = *globals.entry(name).or_insert(v);
                    self.join(first.into(), v.into());
                }
            }
            core::CALL | core::APPLY | core::SPLAT => {
                if matches!(call_kind(f, module, v), CallKind::Constant) {
                    return;
                }
                let operands: Vec<Operand> = f.operands(v).collect();
                let first = operands.iter().copied().find(|&o| self.may_shadow(o));
                for &operand in &operands {
                    self.join(first.unwrap_or(operand), operand);
                }
                self.join(first.unwrap_or(v.into()), v.into());
            }
            ad::ZERO | ad::COPY | ad::IGNORE => {}
            _ if matches!(table.get(op), Derivative::Written(_)) => {}
            _ => {
                // What is made of others, is one of them, or is in one of them.
                let operands: Vec<Operand> = f.plain_operands(v).collect();
                for operand in operands {
                    self.join(v.into(), operand);
                }
            }
        }
    }

    /// Finds where objects of globals come from that something varied may be put into elsewhere.
    fn find_global(&mut self, f: &Function, module: &Module, v: Value, globals: &ActiveGlobals) {
        let reads = match f.op(v) {
            Some(core::GLOBAL) => {
                let name = f.operand(v, 0).and_then(|name| f.const_sym(name));
                if name.is_some_and(|name| globals.holds(name)) {
                    self.activate(v.into());
                }
                false
            }
            Some(core::CALL | core::APPLY | core::SPLAT) => match call_kind(f, module, v) {
                CallKind::Function { name, .. } | CallKind::Checkpoint { name, .. } => {
                    globals.are_read_by(module, name)
                }
                CallKind::Dynamic => globals.reach_dynamic_calls(),
                CallKind::Constant | CallKind::Refused(_) | CallKind::Rule { .. } => false,
            },
            _ => false,
        };
        if reads {
            self.reads_globals.insert(v);
        }
    }

    /// Returns whether a call is given, or may read, something with a derivative.
    pub(super) fn is_active_call(&self, f: &Function, v: Value) -> bool {
        self.reads_globals.contains(&v) || f.plain_operands(v).any(|o| self.is_active(o))
    }

    fn may_shadow(&self, operand: Operand) -> bool {
        operand.as_value().is_some_and(|v| self.has_shadow[v.index()])
    }

    /// Whether the elements of the arrays of a copy are, or hold, objects.
    fn holds_objects(&self, f: &Function, v: Value) -> bool {
        let array = f.operand(v, 0).map(|array| f.operand_type(array));
        let element = array.and_then(|ty| match *f.ctx().kind(ty) {
            regraft_ir::TypeKind::Array { element, .. } => Some(element),
            _ => None,
        });
        element.is_none_or(|ty| regraft_passes::analysis::may_reach_objects(f.ctx(), ty))
    }

    fn round(
        &mut self,
        f: &Function,
        module: &Module,
        types: &mut TangentTypes,
        table: &DerivativeTable,
        blocks: &[Block],
    ) -> bool {
        let mut changed = false;
        for &block in blocks {
            for v in f.body(block) {
                changed |= self.flow(f, module, types, table, v);
            }
            for edge in f.out_edges(block) {
                for (param, arg) in f.params(f.edge_target(edge)).zip(f.edge_args(edge)) {
                    if self.is_varied(arg)
                        && !self.varied[param.index()]
                        && types.has_cotangent(f.ty(param))
                    {
                        self.varied[param.index()] = true;
                        changed = true;
                    }
                    if self.has_shadow(arg) {
                        changed |= self.activate(param.into());
                    }
                }
            }
        }
        changed
    }

    /// Lets what is varied flow through an instruction. Returns whether something is new.
    fn flow(
        &mut self,
        f: &Function,
        module: &Module,
        types: &mut TangentTypes,
        table: &DerivativeTable,
        v: Value,
    ) -> bool {
        let Some(op) = f.op(v) else { return false };
        let mut changed = false;
        let operand = |i: usize| f.operand(v, i);
        let (varied, active) = match op {
            mem::STORE | mem::REF_SET | mem::PUSH | mem::FILL_IN_PLACE | ad::SPREAD => {
                if let (Some(object), Some(value)) = (operand(0), operand(1))
                    && self.is_varied(value)
                {
                    changed |= self.activate(object);
                }
                (false, false)
            }
            data::SETFIELD => {
                if let (Some(object), Some(value)) = (operand(0), operand(2))
                    && self.is_varied(value)
                {
                    changed |= self.activate(object);
                }
                (false, false)
            }
            mem::COPYTO | ad::ACCUMULATE | ad::RECOPY => {
                if let (Some(dest), Some(source)) = (operand(0), operand(1))
                    && self.is_active(source)
                {
                    changed |= self.activate(dest);
                }
                (false, false)
            }
            ad::UNCOPY => {
                if let (Some(from), Some(to)) = (operand(0), operand(1))
                    && self.is_active(from)
                {
                    changed |= self.activate(to);
                }
                (false, false)
            }
            mem::COPY => (false, operand(0).is_some_and(|o| self.is_active(o))),
            // Of a value, parts are copied that are no objects.
            ad::COPY => {
                let source = operand(0);
                let is_varied = source.is_some_and(|o| self.is_varied(o));
                (is_varied, source.is_some_and(|o| self.is_active(o)))
            }
            mem::LOAD | mem::REF_GET | mem::POP | ad::TOTAL => {
                (operand(0).is_some_and(|object| self.has_shadow(object)), false)
            }
            mem::FILL | mem::ARRAY | mem::REF_NEW | data::NEW_OBJECT => {
                (false, f.plain_operands(v).any(|o| self.is_varied(o)))
            }
            data::GETFIELD => {
                let object = operand(0);
                let varied = object
                    .is_some_and(|o| self.is_varied(o) || self.has_shadow(o) && is_object(f, o));
                (varied, false)
            }
            core::CALL | core::APPLY | core::SPLAT => match call_kind(f, module, v) {
                CallKind::Constant => (false, false),
                _ => {
                    let any = self.is_active_call(f, v);
                    if any {
                        // Whatever objects it is given, it may put something varied into.
                        let operands: Vec<Operand> = f.plain_operands(v).collect();
                        for operand in operands {
                            changed |= self.activate(operand);
                        }
                    }
                    (any, any)
                }
            },
            // Numbers are left out of shadows.
            core::GLOBAL | core::UNDEF | ad::ZERO | ad::SHADOW | ad::SLOT | ad::IGNORE => {
                (false, false)
            }
            cf::BR | cf::SWITCH | cf::RETURN | cf::UNREACHABLE => (false, false),
            _ => match table.get(op) {
                Derivative::Scalar(rule) => {
                    let varied = f.plain_operands(v).enumerate().any(|(i, o)| {
                        rule.partial(i).is_some_and(|p| !p.is_zero()) && self.is_varied(o)
                    });
                    (varied, false)
                }
                Derivative::Written(written) => {
                    let any = f.plain_operands(v).any(|o| self.is_active(o));
                    if any {
                        for &object in written.changes {
                            changed |= operand(object).is_some_and(|o| self.activate(o));
                        }
                    }
                    (any, any)
                }
                Derivative::None => (false, false),
                Derivative::Structural | Derivative::NotImplemented(_) => {
                    let reads = f.op_def(v).is_some_and(|def| !def.effects.reads.is_empty());
                    let varied = f
                        .plain_operands(v)
                        .any(|o| self.is_varied(o) || reads && self.has_shadow(o));
                    (varied, false)
                }
            },
        };
        if varied && !self.varied[v.index()] && types.has_cotangent(f.ty(v)) {
            self.varied[v.index()] = true;
            changed = true;
        }
        if active {
            changed |= self.activate(v.into());
        }
        changed
    }
}

/// Whether fields of it are read from memory.
fn is_object(f: &Function, operand: Operand) -> bool {
    let ty = f.operand_type(operand);
    ty == regraft_ir::Type::ANY || f.ctx().struct_of(ty).is_some_and(|def| def.mutable)
}
