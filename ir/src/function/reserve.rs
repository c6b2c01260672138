//! Building a function whose numbers are given, in any order: what a parser needs.
//!
//! Numbers are reserved first; a reserved value can be an operand before it is defined. At the
//! end [`Function::release_reserved`] turns what was never defined into tombstones.

use super::place::Place;
use super::{AfterOrder, BlockData, Function, State, ValueData};
use crate::entity::MAX_ENTITIES;
use crate::error::IrErrorKind;
use crate::{Block, Inst, IrError, IrResult, Loc, Op, Type, Value};

impl Function {
    /// Reserves the numbers `1..=values` and `1..=blocks`.
    ///
    /// # Errors
    /// If there are more than a function can hold, or if the function is not empty.
    pub fn reserve_numbers(&mut self, values: usize, blocks: usize) -> IrResult<()> {
        if values > MAX_ENTITIES || blocks > MAX_ENTITIES {
            let message = format!("a function has at most {MAX_ENTITIES} values and blocks");
            return Err(IrError::new(IrErrorKind::Limit, message));
        }
        if self.values.len() + self.blocks.len() > 0 {
            let message = format!(
                "numbers can be reserved in an empty function only, @{} is not",
                self.name_str()
            );
            return Err(IrError::new(IrErrorKind::Unsuitable, message));
        }
        for _ in 0..values {
            self.values.alloc(ValueData::empty(Op::MISSING));
        }
        for _ in 0..blocks {
            self.new_block();
        }
        Ok(())
    }

    /// The value with this number, whether it is live, reserved or dead.
    pub fn raw_value(&self, number: u32) -> Option<Value> {
        let index = number.checked_sub(1)? as usize;
        if index >= self.values.len() {
            return None;
        }
        Some(Value((self.values.next_id().0 & !(MAX_ENTITIES as u32)) | index as u32))
    }

    /// The block with this number, whether it is live, reserved or dead.
    pub fn raw_block(&self, number: u32) -> Option<Block> {
        let index = number.checked_sub(1)? as usize;
        if index >= self.blocks.len() {
            return None;
        }
        Some(Block((self.blocks.next_id().0 & !(MAX_ENTITIES as u32)) | index as u32))
    }

    /// Returns whether a value is reserved and not yet defined.
    pub fn is_reserved(&self, v: Value) -> bool {
        self.values.get(v).is_some_and(|data| data.op == Op::MISSING)
    }

    /// Appends the reserved block `b` to the layout.
    ///
    /// # Errors
    /// If it is not reserved.
    pub fn place_reserved_block(&mut self, b: Block) -> IrResult<()> {
        if !self.is_reserved_block(b) {
            return Err(IrError::block_unsuitable(self, b, "is defined twice"));
        }
        self.link_block(b, self.last_block, Block::NONE);
        Ok(())
    }

    /// Says what type the reserved value `v` is going to have, for the inference of its users.
    ///
    /// # Panics
    /// If `v` is not reserved: [`Function::set_type`] changes the type of what is there.
    #[track_caller]
    pub fn set_reserved_type(&mut self, v: Value, ty: Type) {
        assert!(self.is_reserved(v), "{v} of @{} is not reserved", self.name_str());
        self.values[v].ty = ty;
    }

    /// Makes the reserved value `v` the next parameter of `block`; edges are not looked at.
    ///
    /// # Errors
    /// If `v` is not reserved or `block` not live.
    pub fn define_param(&mut self, v: Value, block: Block, ty: Type, loc: Loc) -> IrResult<()> {
        self.checked_block(block)?;
        self.check_reserved(v)?;
        self.check_type(ty)?;
        self.install_param(v, block, ty);
        self.values[v].loc = loc;
        Ok(())
    }

    /// Appends `inst` to `block` as the reserved value `v`.
    ///
    /// # Errors
    /// As [`Function::push`]; also if `v` is not reserved.
    pub fn define_inst(&mut self, v: Value, block: Block, inst: Inst) -> IrResult<()> {
        self.checked_block(block)?;
        self.check_reserved(v)?;
        let ty = self.check_new(&inst)?;
        let place = self.end_of(block);
        self.install(v, place, &inst, ty, inst.loc.unwrap_or(Loc::UNKNOWN));
        Ok(())
    }

    fn check_reserved(&self, v: Value) -> IrResult<()> {
        if self.is_reserved(v) {
            return Ok(());
        }
        if !self.is_live(v) {
            return Err(self.bad_value(v));
        }
        Err(IrError::not_an_inst(self, v, "define a second time"))
    }

    /// A function with the signature, attributes, names and origins of this one, and nothing in it: all its numbers, and
    /// those up to `values` and `blocks`, are reserved. A number that was that of a deleted value is one like the others.
    /// O(size).
    ///
    /// # Errors
    /// If there are more than a function can hold.
    pub fn emptied(&self, values: usize, blocks: usize) -> IrResult<Self> {
        if values > MAX_ENTITIES || blocks > MAX_ENTITIES {
            let message = format!("a function has at most {MAX_ENTITIES} values and blocks");
            return Err(IrError::new(IrErrorKind::Limit, message));
        }
        let mut empty = self.shell();
        while empty.values.len() < values {
            empty.values.alloc(ValueData::empty(Op::MISSING));
        }
        while empty.blocks.len() < blocks {
            empty.new_block();
        }
        for number in 1..=empty.values.len() as u32 {
            let v = empty.raw_value(number).expect("in range");
            empty.values[v].op = Op::MISSING;
        }
        for number in 1..=empty.blocks.len() as u32 {
            let b = empty.raw_block(number).expect("in range");
            empty.blocks[b].state = State::Reserved;
        }
        Ok(empty)
    }

    /// Turns reserved values and blocks that were never defined into tombstones, and returns
    /// those values that are used nevertheless: the function is not valid as long as there are
    /// any.
    pub fn release_reserved(&mut self) -> Vec<Value> {
        let mut used = Vec::new();
        for number in 1..=self.values.len() as u32 {
            let v = self.raw_value(number).expect("in range");
            if self.is_reserved(v) {
                if self.is_used(v) {
                    used.push(v);
                }
                self.forget_name(v);
                self.values[v].op = Op::DEAD;
            }
        }
        for number in 1..=self.blocks.len() as u32 {
            let b = self.raw_block(number).expect("in range");
            if self.is_reserved_block(b) {
                self.blocks[b].state = State::Dead;
            }
        }
        used
    }

    pub(super) fn relink(&mut self, v: Value, place: Place) {
        let ValueData { op, ty, attrs, loc, slots, len, first_use, .. } = self.values[v];
        // Installing an instruction without operands and giving it back its slots moves the
        // record without touching a use list.
        let bare = Inst::new(op).with_attrs(attrs);
        self.install(v, place, &bare, ty, loc);
        let data = &mut self.values[v];
        (data.slots, data.len, data.first_use) = (slots, len, first_use);
        self.live_values -= 1;
    }

    /// An instruction as one that can be inserted: same op, type, operands, attributes, location.
    ///
    /// # Panics
    /// If `v` is a parameter or stale.
    #[track_caller]
    pub fn statement(&self, v: Value) -> Inst {
        let data = self.known(v);
        let Some(op) = self.op(v) else { self.not_an_instruction(v) };
        Inst::new(op)
            .operands(self.operands(v))
            .with_attrs(data.attrs)
            .with_type(data.ty)
            .at(data.loc)
    }

    /// A function with the same signature and names, in which every number of this one is
    /// reserved, and the handles of this one are valid.
    pub(crate) fn shell(&self) -> Self {
        let mut shell = self.clone();
        for number in 1..=shell.values.len() as u32 {
            let v = shell.raw_value(number).expect("in range");
            let op = if self.is_live(v) { Op::MISSING } else { Op::DEAD };
            let ty = shell.values[v].ty;
            shell.values[v] = ValueData { ty, ..ValueData::empty(op) };
        }
        for number in 1..=shell.blocks.len() as u32 {
            let b = shell.raw_block(number).expect("in range");
            let state = if self.is_live_block(b) { State::Reserved } else { State::Dead };
            shell.blocks[b] = BlockData::empty(state);
            shell.blocks[b].term.block = b;
        }
        shell.slots.clear();
        (shell.first_block, shell.last_block) = (Block::NONE, Block::NONE);
        (shell.live_values, shell.live_blocks, shell.dead_slots) = (0, 0, 0);
        shell.lost_slots.clear();
        shell.after = AfterOrder::default();
        shell
    }

    /// Takes an instruction away but keeps its number reserved, so that its uses stay.
    pub(crate) fn undefine(&mut self, v: Value) -> IrResult<()> {
        if v.is_terminator() || self.is_param(v) {
            return Err(IrError::not_an_inst(self, v, "delete"));
        }
        self.forget_after(v);
        self.drop_slots(v);
        self.unlink_inst(v);
        let ValueData { ty, first_use, .. } = self.values[v];
        self.values[v] = ValueData { ty, first_use, ..ValueData::empty(Op::MISSING) };
        self.live_values -= 1;
        self.epochs.insts += 1;
        Ok(())
    }
}
