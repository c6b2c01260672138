//! Inserting, replacing and deleting instructions.

use smallvec::SmallVec;

use super::place::Place;
use super::{Function, ValueData};
use crate::error::IrErrorKind;
use crate::signature::{Types, result_type};
use crate::{
    Block, Inst, InstView, IrError, IrResult, Loc, Op, OpDef, Operand, OperandKind, ResultType,
    Type, Value,
};

/// The most operands that one instruction can have, edges included.
pub const MAX_OPERANDS: usize = u16::MAX as usize;

impl Function {
    /// Inserts an instruction just before `v`. At a block parameter, that is the start of the
    /// block. Repeated calls at one place keep call order.
    ///
    /// The location is that of `v`, unless `inst` has one.
    ///
    /// # Errors
    /// If `v` or an operand is stale or of another function, or if the operands do not fit the
    /// op. A terminator cannot be inserted: see [`Function::set_terminator`].
    #[inline]
    pub fn insert(&mut self, v: Value, inst: Inst) -> IrResult<Value> {
        let data = *self.checked(v)?;
        if data.op == Op::PARAM {
            return self.insert_after(v, inst);
        }
        self.create(self.place_before(v), &inst, data.loc, Some(v))
    }

    /// Inserts an instruction just after `v`. At a block parameter, that is the start of the
    /// block. Repeated calls at one place keep call order (until [`Function::set_provenance`],
    /// which every pass begins with).
    ///
    /// # Errors
    /// As [`Function::insert`]; also if `v` is a terminator, after which there is nothing.
    pub fn insert_after(&mut self, v: Value, inst: Inst) -> IrResult<Value> {
        let data = *self.checked(v)?;
        if v.is_terminator() {
            return Err(IrError::not_an_inst(self, v, "insert after"));
        }
        let is_param = data.op == Op::PARAM;
        // The start of the block is one place, whichever parameter names it; its key is the
        // terminator's handle, which nothing is ever inserted after.
        let anchor = if is_param { Value::terminator(data.block) } else { v };
        let tail = self
            .after
            .tail
            .get(&anchor)
            .copied()
            .filter(|&tail| self.is_live(tail) && self.values[tail].block == data.block);
        let place = match tail {
            Some(tail) => Place { block: data.block, prev: tail, next: self.values[tail].next },
            None if is_param => self.start_of(data.block),
            None => Place { block: data.block, prev: v, next: data.next },
        };
        let new = self.create(place, &inst, data.loc, Some(v))?;
        self.after.tail.insert(anchor, new);
        self.after.anchor.insert(new, anchor);
        Ok(new)
    }

    /// Appends an instruction to a block, before its terminator.
    ///
    /// # Errors
    /// As [`Function::insert`].
    #[inline]
    pub fn push(&mut self, block: Block, inst: Inst) -> IrResult<Value> {
        let place = Place { block, prev: self.checked_block(block)?.last, next: Value::NONE };
        self.create(place, &inst, Loc::UNKNOWN, None)
    }

    /// Puts an instruction at the start of a block; a second one stands before the first.
    ///
    /// # Errors
    /// As [`Function::insert`].
    pub fn push_front(&mut self, block: Block, inst: Inst) -> IrResult<Value> {
        self.checked_block(block)?;
        let place = self.start_of(block);
        self.create(place, &inst, Loc::UNKNOWN, None)
    }

    /// Replaces the right-hand side of an instruction; it keeps its id, its location (unless
    /// `inst` has one) and its users.
    ///
    /// # Errors
    /// As [`Function::insert`]; also if `v` is a parameter, if the new type cannot stand for
    /// the old one while `v` is used, or if one of the two is a terminator and the other not.
    pub fn replace(&mut self, v: Value, inst: Inst) -> IrResult<()> {
        let data = *self.checked(v)?;
        if data.op == Op::PARAM {
            return Err(IrError::not_an_inst(
                self,
                v,
                "replace the right-hand side of the parameter",
            ));
        }
        if v.is_terminator() {
            return self.set_terminator(data.block, inst);
        }
        let ty = self.check_new(&inst)?;
        if inst.operands.contains(&Operand::from(v)) {
            return Err(IrError::not_an_inst(self, v, "make an operand of itself"));
        }
        if self.is_used(v) && !ty.is_assignable_to(data.ty) {
            let (have, want) = (self.ctx.type_text(ty), self.ctx.type_text(data.ty));
            let message = format!(
                "{} of type {want} is used and cannot become of type {have}",
                self.value_text(v)
            );
            return Err(IrError::new(IrErrorKind::Mismatch, message));
        }
        self.replace_slots(v, &inst.operands);
        let data = &mut self.values[v];
        (data.op, data.attrs, data.ty) = (inst.op, inst.attrs, ty);
        if let Some(loc) = inst.loc {
            data.loc = loc;
        }
        self.record_origin(v, Some(inst.from.unwrap_or(v)));
        self.epochs.insts += 1;
        self.epochs.types += 1;
        Ok(())
    }

    /// Deletes an instruction. Its number is not used again.
    ///
    /// # Errors
    /// If it is stale, a parameter ([`Function::remove_param`] deletes those), a terminator, or
    /// still used; the message names the users.
    pub fn delete(&mut self, v: Value) -> IrResult<()> {
        let data = *self.checked(v)?;
        if v.is_terminator() {
            return Err(IrError::not_an_inst(self, v, "delete"));
        }
        if data.op == Op::PARAM {
            return Err(IrError::not_an_inst(self, v, "delete the parameter"));
        }
        if self.is_used(v) {
            return Err(IrError::still_used(self, v));
        }
        self.remove_inst(v);
        Ok(())
    }

    /// Deletes an instruction, and then every operand that nobody else uses and that can be
    /// dropped, and so on. Returns how many were deleted. O(deleted).
    ///
    /// # Errors
    /// As [`Function::delete`], for `v` itself.
    pub fn delete_tree(&mut self, v: Value) -> IrResult<usize> {
        let mut candidates: SmallVec<[Value; 8]> =
            self.operands(self.checked(v).map(|_| v)?).filter_map(Operand::as_value).collect();
        self.delete(v)?;
        let mut deleted = 1;
        while let Some(v) = candidates.pop() {
            if !self.is_live(v) || self.is_used(v) || !self.is_removable(v) {
                continue;
            }
            candidates.extend(self.operands(v).filter_map(Operand::as_value));
            self.remove_inst(v);
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Deletes an instruction that nobody uses (or whose users are about to go too).
    pub(super) fn remove_inst(&mut self, v: Value) {
        if !self.after.anchor.is_empty() {
            self.forget_after(v);
        }
        self.drop_slots(v);
        self.unlink_inst(v);
        self.bury(v);
    }

    /// Turns a record that is in no list any more into a tombstone.
    pub(super) fn bury(&mut self, v: Value) {
        self.forget_name(v);
        self.values[v] = ValueData::empty(Op::DEAD);
        self.live_values -= 1;
        self.epochs.insts += 1;
    }

    /// Keeps the order of `insert_after` right when one of the inserted values goes.
    pub(super) fn forget_after(&mut self, v: Value) {
        let Some(anchor) = self.after.anchor.remove(&v) else { return };
        if self.after.tail.get(&anchor) != Some(&v) {
            return;
        }
        // What stands before it marks the same place, whoever put it there.
        match self.values[v].prev.some() {
            Some(prev) if prev != anchor => {
                self.after.tail.insert(anchor, prev);
                self.after.anchor.entry(prev).or_insert(anchor);
            }
            _ => drop(self.after.tail.remove(&anchor)),
        }
    }

    /// Moves an instruction to just before `at` (which may be a terminator), in its block or
    /// another. Dominance is not checked.
    ///
    /// # Errors
    /// If either is stale, or if `v` is a parameter or a terminator or `at` a parameter.
    pub fn move_before(&mut self, v: Value, at: Value) -> IrResult<()> {
        let data = *self.checked(v)?;
        let target = self.checked(at)?.op;
        if v.is_terminator() || data.op == Op::PARAM {
            return Err(IrError::not_an_inst(self, v, "move"));
        }
        if target == Op::PARAM {
            return Err(IrError::not_an_inst(self, at, "move something before"));
        }
        if v == at || self.next_inst(v) == Some(at) {
            return Ok(());
        }
        // It no longer marks a place, and what was inserted after it stays where it is.
        self.forget_after(v);
        self.after.tail.remove(&v);
        self.unlink_inst(v);
        self.relink(v, self.place_before(at));
        Ok(())
    }

    #[inline]
    fn create(
        &mut self,
        place: Place,
        inst: &Inst,
        loc: Loc,
        from: Option<Value>,
    ) -> IrResult<Value> {
        let ty = self.check_new(inst)?;
        let v = self.append_inst(place, inst, ty, inst.loc.unwrap_or(loc))?;
        self.record_origin(v, inst.from.or(from));
        Ok(v)
    }

    /// Checks a new instruction that is no terminator, and finds its type.
    #[inline]
    pub(super) fn check_new(&self, inst: &Inst) -> IrResult<Type> {
        if let Some(ty) = self.plain_binary_type(inst) {
            return Ok(ty);
        }
        let def = self.declaration(inst.op)?;
        if def.is_terminator() {
            let message = format!("`{}` is a terminator and has to end a block", def.mnemonic());
            return Err(IrError::new(IrErrorKind::Unsuitable, message));
        }
        self.check_signature(inst)
    }

    /// The declaration of an op, or the error that no dialect has it.
    #[inline]
    pub(super) fn declaration(&self, op: Op) -> IrResult<&'static OpDef> {
        self.ctx.registry().def(op).ok_or_else(|| IrError::unknown_op(self, op))
    }

    /// Checks that a type is one of the context.
    #[inline]
    pub(crate) fn check_type(&self, ty: Type) -> IrResult<()> {
        if self.ctx.has_type(ty) { Ok(()) } else { Err(IrError::foreign_type(self)) }
    }

    /// The type of an instruction with two live operands of one type that its signature asks
    /// nothing else of, which is most of them; `None` sends the others down the general path.
    #[inline]
    fn plain_binary_type(&self, inst: &Inst) -> Option<Type> {
        let &[x, y] = inst.operands.as_slice() else { return None };
        let plain = self.ctx.plain_binaries.get(inst.op);
        if plain.is_none() || !inst.attrs.is_empty() || inst.ty.is_some() {
            return None;
        }
        let ty = self.live_type(x)?;
        if self.live_type(y)? != ty {
            return None;
        }
        plain.result(ty)
    }

    /// The type of an operand, if it is a constant or a value that can be used.
    #[inline(always)]
    fn live_type(&self, operand: Operand) -> Option<Type> {
        match operand.kind() {
            OperandKind::Value(v) => {
                self.values.get(v).filter(|data| data.op != Op::DEAD).map(|data| data.ty)
            }
            OperandKind::Const(c) => self.ctx.try_constant_type(c),
            OperandKind::Block(_) => None,
        }
    }

    /// Checks the operands of an instruction, and finds its type.
    #[inline]
    pub(super) fn check_signature(&self, inst: &Inst) -> IrResult<Type> {
        if inst.operands.len() > MAX_OPERANDS {
            return Err(IrError::too_many_operands());
        }
        let def = self.declaration(inst.op)?;
        if !self.ctx.has_attrs(inst.attrs) {
            return Err(IrError::foreign_attrs(format_args!("`{}`", def.name)));
        }
        self.check_type(inst.ty.unwrap_or(Type::ANY))?;
        for &operand in &inst.operands {
            self.check_operand(operand)?;
            if operand.is_block() && !def.is_terminator() {
                let message = format!("`{}` cannot branch to a block", def.mnemonic());
                return Err(IrError::new(IrErrorKind::Mismatch, message));
            }
        }
        let declared = matches!(def.result, ResultType::Declared);
        if let (Some(ty), false) = (inst.ty, declared) {
            return Ok(ty);
        }
        let mut few = [Type::ANY; 8];
        let many: Types;
        let types = match few.get_mut(..inst.operands.len()) {
            Some(few) => {
                for (ty, &operand) in few.iter_mut().zip(&inst.operands) {
                    *ty = self.operand_type(operand);
                }
                &*few
            }
            None => {
                many = inst.operands.iter().map(|&o| self.operand_type(o)).collect();
                &many
            }
        };
        let view = InstView {
            ctx: &self.ctx,
            def,
            operands: &inst.operands,
            types,
            attrs: inst.attrs,
            ty: inst.ty.unwrap_or(Type::ANY),
        };
        result_type(&view).map_err(|message| IrError::new(IrErrorKind::Mismatch, message))
    }

    /// Checks that an instruction as it stands fits its op, and that its type still covers what
    /// the op gives.
    pub(super) fn check_inst(&self, v: Value) -> IrResult<()> {
        let mismatch = |message| IrError::new(IrErrorKind::Mismatch, message);
        let ty = self.infer_type(v).map_err(mismatch)?;
        if v.is_terminator() || ty.is_assignable_to(self.ty(v)) {
            return Ok(());
        }
        let (have, want) = (self.ctx.type_text(ty), self.ctx.type_text(self.ty(v)));
        Err(mismatch(format!("{} would be of type {have} instead of {want}", self.value_text(v))))
    }

    /// The place right before an instruction or a terminator.
    #[inline]
    fn place_before(&self, v: Value) -> Place {
        let &ValueData { block, prev, .. } = self.data(v);
        if v.is_terminator() { self.end_of(block) } else { Place { block, prev, next: v } }
    }

    #[inline]
    pub(super) fn end_of(&self, block: Block) -> Place {
        Place { block, prev: self.blocks[block].last, next: Value::NONE }
    }

    pub(super) fn start_of(&self, block: Block) -> Place {
        Place { block, prev: Value::NONE, next: self.blocks[block].first }
    }
}
