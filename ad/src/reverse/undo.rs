//! What undoes an action: the adjoint of each op.
//!
//! A scalar op gives each of its operands the cotangent of its result times a partial derivative
//! (see `rules`). A load adds to the shadow of what was loaded; a store takes from the shadow of what
//! was stored and leaves zero, since what had been there before was overwritten. What is needed for
//! that are the shadow and the indices, and nothing has to be kept that is known otherwise.

use std::sync::Arc;

use regraft_dialects::{ad, arith, core, data, mem};
use regraft_ir::{Constant, Effects, Inst, Operand, Type, Value};

use super::augment::{Action, ActionKind};
use super::backward::{Backward, Clearing, Increment};
use super::derivative_of;
use super::driver::Pair;
use super::parts::{self, Cell, element_type, field_of, replace_part};
use crate::rules::{Derivative, Product, ScalarRule};

impl Backward<'_, '_> {
    /// Appends what undoes an action. Increments of shadows by cotangents of what was read wait
    /// until something else is done to memory: see [`Backward::settle`].
    pub(super) fn undo(&mut self, action: &Action) {
        let v = action.v;
        let def = self.plan.aug.f.op_def(v);
        let waits = matches!(action.kind, ActionKind::Op)
            && def.is_some_and(|def| {
                matches!(def.op, mem::LOAD | mem::REF_GET) || def.effects == Effects::NONE
            });
        if !waits {
            self.settle();
        }
        match &action.kind {
            ActionKind::Op => self.undo_op(v),
            ActionKind::Resize { length } => {
                let array = self.operand(v, 0);
                let (shadow, length) = (self.shadow(array), self.primal(*length));
                self.emit(mem::resize(shadow, length));
            }
            ActionKind::Call { pair, tape, args } => {
                let tape = self.primal(*tape);
                self.undo_call(v, pair, tape, args);
            }
            ActionKind::Again { pair, args, shadows } => {
                let mut all = Vec::with_capacity(args.len() + shadows.len());
                for &operand in args.iter().chain(shadows) {
                    all.push(self.primal(operand));
                }
                let callee = self.constant(Constant::Func(pair.forward));
                let triple = self.emit(core::call(callee, all, pair.forward_type));
                if self.plan.activity.has_shadow(v) {
                    let (new, old) = (self.part(triple, 1), self.shadow(v.into()));
                    self.emit(ad::accumulate(new, old));
                }
                let tape = self.part(triple, 2);
                self.undo_call(v, pair, tape, args);
            }
            ActionKind::Rule { pullback, args, closure } => {
                self.undo_rule(v, *pullback, args, *closure);
            }
            ActionKind::Dynamic { back, tape, args } => self.undo_dynamic(v, *back, *tape, args),
        }
    }

    fn operand(&self, v: Value, index: usize) -> Operand {
        self.plan.aug.f.operand(v, index).expect("the verifier has counted the operands")
    }

    fn primal_type(&self, operand: impl Into<Operand>) -> Type {
        self.plan.aug.f.operand_type(operand.into())
    }

    fn undo_op(&mut self, v: Value) {
        let f = &self.plan.aug.f;
        let Some(op) = f.op(v) else { return };
        match op {
            mem::LOAD | mem::REF_GET => self.undo_read(v),
            mem::STORE | mem::REF_SET => self.undo_write(v),
            mem::PUSH => self.undo_push(v),
            mem::POP => self.undo_pop(v),
            mem::FILL_IN_PLACE => {
                let (array, value) = (self.operand(v, 0), self.operand(v, 1));
                let element = element_type(&self.ctx, self.primal_type(array));
                let shadow = self.shadow(array);
                self.give_total(value, shadow, element);
                let cell = Cell::of(&mut self.driver.types, element);
                match cell {
                    Cell::Float | Cell::Value => {
                        let ty = self.driver.types.tangent(element);
                        let zero = self.zero(ty);
                        self.emit(mem::fill_in_place(shadow, zero));
                    }
                    Cell::Mixed => {
                        self.fail(
                            "filling an array with values that hold objects has no derivative",
                        );
                    }
                    Cell::Shadow | Cell::None => {}
                }
            }
            mem::FILL => {
                let value = self.operand(v, 0);
                let element = element_type(&self.ctx, self.primal_type(v));
                let shadow = self.shadow(v.into());
                self.give_total(value, shadow, element);
            }
            mem::ARRAY | mem::REF_NEW => {
                let element = element_type(&self.ctx, self.primal_type(v));
                let shadow = self.shadow(v.into());
                let operands: Vec<Operand> = f.plain_operands(v).collect();
                for (i, operand) in operands.into_iter().enumerate() {
                    if self.plan.activity.is_varied(operand) {
                        let inst = if op == mem::ARRAY {
                            let index = self.constant(Constant::I64(i as i64 + 1));
                            mem::load(shadow, [index])
                        } else {
                            mem::ref_get(shadow)
                        };
                        let tangent = self.emit(inst);
                        self.give_tangent(operand, tangent, element);
                    }
                }
            }
            data::NEW_OBJECT => {
                let Some(named) = self.object_content(v.into()) else { return };
                let content = self.emit(mem::ref_get(named.0));
                let fields: Vec<Type> = match self.ctx.struct_of(self.primal_type(v)) {
                    Some(def) => def.fields.iter().map(|&(_, field)| field).collect(),
                    None => Vec::new(),
                };
                let operands: Vec<Operand> = f.plain_operands(v).collect();
                for (i, operand) in operands.into_iter().enumerate() {
                    if self.plan.activity.is_varied(operand) {
                        let tangent = self.part(content, i);
                        self.give_tangent(operand, tangent, fields[i]);
                    }
                }
            }
            data::SETFIELD => self.undo_set_field(v),
            data::GETFIELD => self.undo_get_field(v),
            mem::COPY => {
                let source = self.operand(v, 0);
                let element = element_type(&self.ctx, self.primal_type(v));
                let cell = Cell::of(&mut self.driver.types, element);
                if self.plan.activity.has_shadow(source) {
                    match cell {
                        Cell::Float | Cell::Value => {
                            let (to, from) = (self.shadow(source), self.shadow(v.into()));
                            self.emit(ad::accumulate(to, from));
                        }
                        Cell::Mixed => {
                            let (to, from) = (self.shadow(source), self.shadow(v.into()));
                            let count = self.emit(mem::length(from));
                            self.emit(ad::uncopy(from, to, count));
                        }
                        Cell::Shadow | Cell::None => {}
                    }
                }
            }
            mem::COPYTO => {
                let (dest, source) = (self.operand(v, 0), self.operand(v, 1));
                let from = self.shadow(dest);
                if self.plan.activity.has_shadow(source) {
                    let to = self.shadow(source);
                    let count = self.emit(mem::length(to));
                    self.emit(ad::uncopy(from, to, count));
                } else {
                    // What came instead of what was there is a constant.
                    let source = self.primal(source);
                    let count = self.emit(mem::length(source));
                    let nothing = self.constant(Constant::Unit);
                    self.emit(ad::uncopy(from, nothing, count));
                }
            }
            ad::COPY => {
                let source = self.operand(v, 0);
                if let Some(adjoint) = self.take(v) {
                    self.give(source, adjoint);
                }
                if self.plan.activity.has_shadow(source) && self.plan.activity.has_shadow(v) {
                    let (to, from) = (self.shadow(source), self.shadow(v.into()));
                    self.emit(ad::accumulate(to, from));
                }
            }
            ad::ACCUMULATE => {
                let (shadow, tangent) = (self.operand(v, 0), self.operand(v, 1));
                if self.plan.activity.has_shadow(tangent) {
                    let (to, from) = (self.shadow(tangent), self.shadow(shadow));
                    self.emit(ad::accumulate(to, from));
                }
                if self.plan.activity.is_varied(tangent) {
                    self.fail("the derivative of an increment by parts of a value is not there");
                }
            }
            ad::CLEAR => {
                let shadow = self.shadow(self.operand(v, 0));
                self.emit(ad::clear(shadow));
            }
            _ => self.undo_value(v),
        }
    }

    /// An op that gives a value.
    fn undo_value(&mut self, v: Value) {
        let f = &self.plan.aug.f;
        let Some(op) = f.op(v) else { return };
        let operands: Vec<Operand> = f.plain_operands(v).collect();
        if matches!(op, core::TUPLE | data::NAMED | data::NEW) {
            let ty = self.driver.types.cotangent(self.primal_type(v));
            if ty == Type::ANY {
                let Some(adjoint) = self.take(v) else { return };
                for (i, &operand) in operands.iter().enumerate() {
                    if self.plan.activity.is_varied(operand) {
                        let index = self.constant(Constant::I64(i as i64 + 1));
                        let part = self.emit(data::getfield(adjoint, index));
                        let part = self.fit(part, Type::ANY, self.primal_type(operand));
                        self.give(operand, part);
                    }
                }
                return;
            }
            let Some(found) = self.take_parts(v) else { return };
            let types = match self.ctx.struct_of(self.primal_type(v)) {
                Some(def) => def.fields.iter().map(|&(_, field)| field).collect(),
                None => parts::part_types(&self.ctx, self.primal_type(v)),
            };
            for (i, &operand) in operands.iter().enumerate() {
                if let Some(part) = found.get(i).copied().flatten()
                    && self.plan.activity.is_varied(operand)
                {
                    let part = self.fit(part, types[i], self.primal_type(operand));
                    self.give(operand, part);
                }
            }
            return;
        }
        let Some(adjoint) = self.take(v) else { return };
        let ty = self.primal_type(v);
        match op {
            core::GET => {
                let index = f.const_i64(operands[1]).and_then(|i| usize::try_from(i - 1).ok());
                self.give_part(operands[0], index.unwrap_or(0), adjoint);
            }
            core::SELECT => {
                let condition = self.primal(operands[0]);
                let zero_type = self.driver.types.cotangent(ty);
                let zero = self.zero(zero_type);
                if self.plan.activity.is_varied(operands[1]) {
                    let x = self.emit(core::select(condition, adjoint, zero));
                    let x = self.fit(x, ty, self.primal_type(operands[1]));
                    self.give(operands[1], x);
                }
                if self.plan.activity.is_varied(operands[2]) {
                    let y = self.emit(core::select(condition, zero, adjoint));
                    let y = self.fit(y, ty, self.primal_type(operands[2]));
                    self.give(operands[2], y);
                }
            }
            core::CONVERT | core::TYPEASSERT | arith::FLOAT_CAST => {
                let from = self.primal_type(operands[0]);
                let part = if from.is_float() && ty.is_float() && from != ty {
                    self.emit(arith::float_cast(adjoint, from))
                } else {
                    self.fit(adjoint, ty, from)
                };
                self.give(operands[0], part);
            }
            ad::COTANGENT | ad::UNBOX | ad::SHADOW => {
                let part = self.fit(adjoint, ty, self.primal_type(operands[0]));
                self.give(operands[0], part);
            }
            ad::JOIN => {
                let part = self.fit(adjoint, ty, self.primal_type(operands[1]));
                self.give(operands[1], part);
            }
            ad::ADD => {
                for &operand in &operands {
                    let part = self.fit(adjoint, ty, self.primal_type(operand));
                    self.give(operand, part);
                }
            }
            _ => {
                let rules = Arc::clone(&self.driver.options.rules);
                match derivative_of(&rules, op) {
                    Derivative::Scalar(rule) => self.undo_scalar(v, rule, adjoint, &operands),
                    Derivative::NotImplemented(text) => self.fail(text),
                    _ => {
                        let name = self.ctx.def(op).name;
                        self.fail(&format!("`{name}` has no derivative"));
                    }
                }
            }
        }
    }

    fn undo_scalar(&mut self, v: Value, rule: &ScalarRule, adjoint: Operand, operands: &[Operand]) {
        let strong = self.plan.discardable.get(v.index()).copied().unwrap_or(false);
        let mut needed = vec![false; operands.len()];
        let mut needs_result = false;
        for (i, &operand) in operands.iter().enumerate() {
            if let Some(partial) = rule.partial(i)
                && self.plan.activity.is_varied(operand)
            {
                let needs = partial.needs();
                for (j, needed) in needed.iter_mut().enumerate() {
                    *needed |= needs.operand(j);
                }
                needs_result |= needs.result;
            }
        }
        let mut here = Vec::with_capacity(operands.len());
        for (&operand, needed) in operands.iter().zip(needed) {
            here.push(if needed { self.primal(operand) } else { operand });
        }
        let result = if needs_result { self.primal(v.into()) } else { v.into() };
        let ty = self.primal_type(v);
        for (i, &operand) in operands.iter().enumerate() {
            if let Some(partial) = rule.partial(i)
                && self.plan.activity.is_varied(operand)
            {
                if let Err(why) = partial.expr() {
                    return self.fail(why);
                }
                let ctx = Arc::clone(&self.ctx);
                let at =
                    Product { seed: adjoint, operands: &here, result, ty, strong_zero: strong };
                let product = partial.product(&ctx, &at, &mut |inst| self.emit(inst));
                if let Some(product) = product {
                    self.give(operand, product);
                }
            }
        }
    }

    /// Gives an operand the cotangent part of the tangent of a value of type `ty`.
    fn give_tangent(&mut self, operand: Operand, tangent: Operand, ty: Type) {
        if !self.plan.activity.is_varied(operand) {
            return;
        }
        let (of, cell) = (self.driver.types.of(ty), Cell::of(&mut self.driver.types, ty));
        if !cell.has_cotangent() {
            return;
        }
        let ctx = Arc::clone(&self.ctx);
        let part = parts::cotangent_part(&ctx, of, cell, tangent, &mut |inst| self.emit(inst));
        let part = self.fit(part, ty, self.primal_type(operand));
        self.give(operand, part);
    }

    /// Gives a value that all elements of an array were set to the sum of their cotangents.
    fn give_total(&mut self, value: Operand, shadow: Operand, element: Type) {
        if self.plan.activity.is_varied(value) {
            let ty = self.driver.types.cotangent(element);
            let total = self.emit(ad::total(shadow, ty));
            let total = self.fit(total, element, self.primal_type(value));
            self.give(value, total);
        }
    }

    /// Indices of an access, restored.
    fn indices(&mut self, v: Value, from: usize) -> Vec<Operand> {
        let operands: Vec<Operand> = self.plan.aug.f.plain_operands(v).skip(from).collect();
        operands.into_iter().map(|index| self.primal(index)).collect()
    }

    fn access(&self, inst: Inst) -> Inst {
        // The same access was made to the object itself, which has the shape of its shadow.
        let name = self.ctx.symbol("inbounds");
        let yes = self.ctx.constant_id(Constant::Bool(true));
        inst.with_attrs(self.ctx.attrs(&[(name, yes)]))
    }

    /// `x = a[i]`: adds to the shadow of `a`, in a while.
    fn undo_read(&mut self, v: Value) {
        if let Some(adjoint) = self.take(v) {
            self.increments.push(Increment { read: v, adjoint, loc: self.loc });
        }
    }

    /// Appends the increments that wait, in order, and before them the clearing of what was
    /// overwritten. In `y[i] = y[i] + x[i]`, what was written goes to the place that it was taken
    /// from: then that place is set to it, rather than to zero first.
    pub(super) fn settle(&mut self) {
        let after = self.loc;
        let mut increments = std::mem::take(&mut self.increments);
        if let Some(clearing) = self.clearing.take() {
            self.loc = clearing.loc;
            let f = &self.plan.aug.f;
            let place = |v: Value, skip: usize| -> Vec<Operand> {
                let object = f.operand(v, 0);
                object.into_iter().chain(f.plain_operands(v).skip(skip)).collect()
            };
            let wanted = place(clearing.write, 2);
            let same = |i: &Increment| place(i.read, 1) == wanted;
            let same_type = |v: Value, i: &Increment| {
                element_type(&self.ctx, self.primal_type(self.operand(v, 0)))
                    == self.primal_type(i.read)
            };
            let found = increments.iter().position(|i| same(i) && same_type(clearing.write, i));
            let new = match found {
                Some(i) => increments.remove(i).adjoint,
                None => {
                    let object = self.primal_type(self.operand(clearing.write, 0));
                    let ty = self.driver.types.cotangent(element_type(&self.ctx, object));
                    self.zero(ty)
                }
            };
            if clearing.old != Some(new) {
                let shadow = self.shadow(self.operand(clearing.write, 0));
                let indices = self.indices(clearing.write, 2);
                self.set_place(clearing.write, shadow, indices, new);
            }
        }
        for increment in increments {
            self.loc = increment.loc;
            self.increase(increment.read, increment.adjoint);
        }
        self.loc = after;
    }

    /// Sets the place in a shadow that the read or write `v` is about.
    fn set_place(&mut self, v: Value, shadow: Operand, indices: Vec<Operand>, new: Operand) {
        if matches!(self.plan.aug.f.op(v), Some(mem::REF_GET | mem::REF_SET)) {
            self.emit(mem::ref_set(shadow, new));
        } else {
            let inst = self.access(mem::store(shadow, new, indices));
            self.emit(inst);
        }
    }

    /// What is in the place in a shadow that the read or write `v` is about.
    fn get_place(&mut self, v: Value, shadow: Operand, indices: &[Operand]) -> Operand {
        if matches!(self.plan.aug.f.op(v), Some(mem::REF_GET | mem::REF_SET)) {
            self.emit(mem::ref_get(shadow))
        } else {
            let inst = self.access(mem::load(shadow, indices.iter().copied()));
            self.emit(inst)
        }
    }

    fn increase(&mut self, v: Value, adjoint: Operand) {
        let shadow = self.shadow(self.operand(v, 0));
        let indices = self.indices(v, 1);
        let element = self.primal_type(v);
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        let old = self.get_place(v, shadow, &indices);
        let new = self.increased(of, cell, old, adjoint);
        self.set_place(v, shadow, indices, new);
    }

    /// A tangent with something added to its cotangent part.
    fn increased(
        &mut self,
        of: crate::tangent::TangentType,
        cell: Cell,
        tangent: Operand,
        adjoint: Operand,
    ) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        let old = parts::cotangent_part(&ctx, of, cell, tangent, &mut |inst| self.emit(inst));
        let new = self.sum(of.cotangent, old, adjoint);
        self.rejoin(of, cell, tangent, new)
    }

    /// A tangent with another cotangent part.
    fn rejoin(
        &mut self,
        of: crate::tangent::TangentType,
        cell: Cell,
        tangent: Operand,
        cotangent: Operand,
    ) -> Operand {
        let ctx = Arc::clone(&self.ctx);
        let mut emit = |inst| self.emit(inst);
        let shadow = match cell {
            Cell::Mixed => parts::shadow_part(&ctx, of, cell, tangent, &mut emit),
            _ => tangent,
        };
        parts::join_parts(&ctx, of, cell, shadow, cotangent, &mut emit)
    }

    /// `a[i] = x`: what is in the shadow goes to `x`, and zero stays.
    fn undo_write(&mut self, v: Value) {
        let (object, value) = (self.operand(v, 0), self.operand(v, 1));
        let element = element_type(&self.ctx, self.primal_type(object));
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        if !cell.has_cotangent() {
            return;
        }
        let shadow = self.shadow(object);
        let indices = self.indices(v, 2);
        let needs_old = cell == Cell::Mixed || self.plan.activity.is_varied(value);
        let old = needs_old.then(|| self.get_place(v, shadow, &indices));
        if let Some(old) = old {
            self.give_tangent(value, old, element);
            if cell == Cell::Mixed {
                let zero = self.zero(of.cotangent);
                let new = self.rejoin(of, cell, old, zero);
                self.set_place(v, shadow, indices, new);
                return;
            }
        }
        self.clearing = Some(Clearing { write: v, old, loc: self.loc });
    }

    fn undo_push(&mut self, v: Value) {
        let (array, value) = (self.operand(v, 0), self.operand(v, 1));
        let element = element_type(&self.ctx, self.primal_type(array));
        let shadow = self.shadow(array);
        let tangent = self.emit(mem::pop(shadow));
        self.give_tangent(value, tangent, element);
    }

    fn undo_pop(&mut self, v: Value) {
        let array = self.operand(v, 0);
        let element = self.primal_type(v);
        let (of, cell) = (self.driver.types.of(element), Cell::of(&mut self.driver.types, element));
        let shadow = self.shadow(array);
        let adjoint = self.take(v);
        let cotangent = match adjoint {
            Some(adjoint) => adjoint,
            None => self.zero(of.cotangent),
        };
        let own = if matches!(cell, Cell::Shadow | Cell::Mixed) {
            self.shadow(v.into())
        } else {
            cotangent
        };
        let ctx = Arc::clone(&self.ctx);
        let tangent =
            parts::join_parts(&ctx, of, cell, own, cotangent, &mut |inst| self.emit(inst));
        self.emit(mem::push(shadow, tangent));
    }

    /// The shadow of an object of a mutable struct, and the type of what it holds.
    fn object_content(&mut self, object: Operand) -> Option<(Operand, Type)> {
        let Some(want) = self.driver.types.object_shadow(self.primal_type(object)) else {
            self.fail("fields of a value whose type is not known have no derivative");
            return None;
        };
        let mut shadow = self.shadow(object);
        if self.type_of(shadow) != want {
            shadow = self.emit(core::typeassert(shadow, want));
        }
        Some((shadow, element_type(&self.ctx, want)))
    }

    fn undo_get_field(&mut self, v: Value) {
        let Some(adjoint) = self.take(v) else { return };
        let f = &self.plan.aug.f;
        let (object, field) = (self.operand(v, 0), self.operand(v, 1));
        let ty = self.primal_type(object);
        let known = f.constant(field).and_then(|field| field_of(&self.ctx, ty, field));
        if !self.ctx.struct_of(ty).is_some_and(|def| def.mutable) {
            if let Some((index, field)) = known {
                let part = self.fit(adjoint, self.primal_type(v), field);
                return self.give_part(object, index, part);
            }
            if self.primal_type(field) != Type::I64 || parts::part_types(&self.ctx, ty).is_empty() {
                return self
                    .fail("a field that is known only when the program runs has no derivative");
            }
            let index = self.primal(field);
            for (i, part_type) in parts::part_types(&self.ctx, ty).into_iter().enumerate() {
                if !self.driver.types.has_cotangent(part_type) {
                    continue;
                }
                let number = self.constant(Constant::I64(i as i64 + 1));
                let here = self.emit(arith::eq(index, number));
                let zero_type = self.driver.types.cotangent(self.primal_type(v));
                let zero = self.zero(zero_type);
                let part = self.emit(core::select(here, adjoint, zero));
                let part = self.fit(part, self.primal_type(v), part_type);
                self.give_part(object, i, part);
            }
            return;
        }
        let Some((index, field)) = known else {
            return self.fail("a field that is known only when the program runs has no derivative");
        };
        let Some((shadow, named)) = self.object_content(object) else { return };
        let content = self.emit(mem::ref_get(shadow));
        let old = self.part(content, index);
        let (of, cell) = (self.driver.types.of(field), Cell::of(&mut self.driver.types, field));
        let adjoint = self.fit(adjoint, self.primal_type(v), field);
        let new = self.increased(of, cell, old, adjoint);
        self.set_part(shadow, named, content, index, new);
    }

    fn set_part(
        &mut self,
        shadow: Operand,
        named: Type,
        content: Operand,
        index: usize,
        new: Operand,
    ) {
        let ctx = Arc::clone(&self.ctx);
        let made = replace_part(&ctx, named, content, index, new, &mut |inst| self.emit(inst));
        self.emit(mem::ref_set(shadow, made));
    }

    fn undo_set_field(&mut self, v: Value) {
        let f = &self.plan.aug.f;
        let (object, value) = (self.operand(v, 0), self.operand(v, 2));
        let ty = self.primal_type(object);
        let known = f.constant(self.operand(v, 1)).and_then(|field| field_of(&self.ctx, ty, field));
        let Some((index, field)) = known else {
            return self.fail("a field that is known only when the program runs has no derivative");
        };
        let (of, cell) = (self.driver.types.of(field), Cell::of(&mut self.driver.types, field));
        if !cell.has_cotangent() {
            return;
        }
        let Some((shadow, named)) = self.object_content(object) else { return };
        let content = self.emit(mem::ref_get(shadow));
        let old = self.part(content, index);
        self.give_tangent(value, old, field);
        let zero = self.zero(of.cotangent);
        let new = self.rejoin(of, cell, old, zero);
        self.set_part(shadow, named, content, index, new);
    }

    /// The cotangent of the result of a call as one of type `ty`.
    fn call_seed(&mut self, v: Value, ty: Type) -> Operand {
        match self.take(v) {
            Some(adjoint) => self.fit(adjoint, self.primal_type(v), ty),
            None => {
                let zero = self.driver.types.cotangent(ty);
                self.zero(zero)
            }
        }
    }

    fn undo_call(&mut self, v: Value, pair: &Pair, tape: Operand, args: &[Operand]) {
        let seed = self.call_seed(v, pair.result);
        let callee = self.constant(Constant::Func(pair.reverse));
        let back = self.emit(core::call(callee, [tape, seed], pair.reverse_type));
        for (i, &arg) in args.iter().enumerate() {
            if pair.active[i]
                && self.plan.activity.is_varied(arg)
                && self.driver.types.has_cotangent(pair.params[i])
            {
                let part = self.part(back, i);
                let part = self.fit(part, pair.params[i], self.primal_type(arg));
                self.give(arg, part);
            }
        }
    }

    fn undo_rule(&mut self, v: Value, pullback: Operand, args: &[Operand], closure: bool) {
        let ty = self.primal_type(v);
        let of = self.driver.types.of(ty);
        let cell = Cell::of(&mut self.driver.types, ty);
        let adjoint = self.take(v);
        let has_shadow = self.plan.activity.has_shadow(v);
        if adjoint.is_none() && !has_shadow {
            return;
        }
        let cotangent = match adjoint {
            Some(adjoint) => adjoint,
            None => self.zero(of.cotangent),
        };
        let shadow = if has_shadow { self.shadow(v.into()) } else { self.zero(of.shadow) };
        let ctx = Arc::clone(&self.ctx);
        let seed =
            parts::join_parts(&ctx, of, cell, shadow, cotangent, &mut |inst| self.emit(inst));
        let called = self.driver.call_type(self.primal_type(pullback));
        let pullback = self.primal(pullback);
        let back = self.emit(core::apply(pullback, [seed], called));
        let first = usize::from(!closure);
        for (i, &arg) in args.iter().enumerate() {
            if !self.plan.activity.is_active(arg) {
                continue;
            }
            let part = if called == Type::ANY {
                let index = self.constant(Constant::I64((i + first) as i64 + 1));
                self.emit(data::getfield(back, index))
            } else {
                self.part(back, i + first)
            };
            let have = self.type_of(part);
            if have == Type::UNIT {
                continue;
            }
            if self.plan.activity.has_shadow(arg) {
                let shadow = self.shadow(arg);
                self.emit(ad::accumulate(shadow, part));
            }
            if self.plan.activity.is_varied(arg) {
                let want = self.driver.types.cotangent(self.primal_type(arg));
                let part = if have == want {
                    part
                } else {
                    let boxed = self.emit(ad::cotangent(part, Type::ANY));
                    if want == Type::ANY { boxed } else { self.emit(ad::unbox(boxed, want)) }
                };
                self.give(arg, part);
            }
        }
    }

    fn undo_dynamic(&mut self, v: Value, back: Operand, tape: Operand, args: &[Operand]) {
        let seed = self.call_seed(v, Type::ANY);
        let (back, tape) = (self.primal(back), self.primal(tape));
        let all = self.emit(core::apply(back, [tape, seed], Type::ANY));
        for (i, &arg) in args.iter().enumerate() {
            if self.plan.activity.is_varied(arg) {
                let index = self.constant(Constant::I64(i as i64 + 1));
                let part = self.emit(data::getfield(all, index));
                let part = self.fit(part, Type::ANY, self.primal_type(arg));
                self.give(arg, part);
            }
        }
    }
}
