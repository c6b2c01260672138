//! Putting instructions, parameters and blocks into their lists.

use super::order::{Labelled, label_between};
use super::{BlockData, Function, NIL, Origin, State, ValueData};
use crate::entity::MAX_ENTITIES;
use crate::error::IrErrorKind;
use crate::{Attrs, Block, Inst, IrError, IrResult, Loc, Op, Operand, Type, Value};

/// The place of a new instruction.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) block: Block,
    /// Its neighbours; `NONE` at the ends of the block.
    pub(super) prev: Value,
    pub(super) next: Value,
}

/// The instructions of one block as a labelled list.
struct InstList<'a>(&'a mut Function);

impl Labelled for InstList<'_> {
    type Id = Value;
    #[inline]
    fn label(&self, id: Value) -> u32 {
        self.0.values[id].seq
    }
    fn set_label(&mut self, id: Value, label: u32) {
        self.0.values[id].seq = label;
    }
    fn before(&self, id: Value) -> Option<Value> {
        self.0.values[id].prev.some()
    }
    fn after(&self, id: Value) -> Option<Value> {
        self.0.values[id].next.some()
    }
}

/// The blocks of a function as a labelled list.
struct BlockList<'a>(&'a mut Function);

impl Labelled for BlockList<'_> {
    type Id = Block;
    fn label(&self, id: Block) -> u32 {
        self.0.blocks[id].seq
    }
    fn set_label(&mut self, id: Block, label: u32) {
        self.0.blocks[id].seq = label;
    }
    fn before(&self, id: Block) -> Option<Block> {
        self.0.blocks[id].prev.some()
    }
    fn after(&self, id: Block) -> Option<Block> {
        self.0.blocks[id].next.some()
    }
}

impl ValueData {
    pub(super) const fn empty(op: Op) -> Self {
        Self {
            op,
            len: 0,
            slots: 0,
            ty: Type::ANY,
            block: Block::NONE,
            prev: Value::NONE,
            next: Value::NONE,
            seq: 0,
            first_use: NIL,
            attrs: Attrs::NONE,
            loc: Loc::UNKNOWN,
        }
    }
}

impl BlockData {
    pub(super) const fn empty(state: State) -> Self {
        Self {
            term: ValueData::empty(Op::MISSING),
            prev: Block::NONE,
            next: Block::NONE,
            seq: 0,
            first: Value::NONE,
            last: Value::NONE,
            first_param: Value::NONE,
            last_param: Value::NONE,
            param_count: 0,
            first_use: NIL,
            state,
        }
    }
}

impl Function {
    /// A new value record. Fails rather than panics when the function is full.
    #[inline]
    pub(super) fn alloc_value(&mut self, data: ValueData) -> IrResult<Value> {
        if self.values.len() >= MAX_ENTITIES {
            return Err(self.too_many_values());
        }
        Ok(self.values.alloc(data))
    }

    #[cold]
    fn too_many_values(&self) -> IrError {
        let message = format!("@{} has more than {MAX_ENTITIES} values", self.name_str());
        IrError::new(IrErrorKind::Limit, message)
    }

    /// Makes a new record for `inst` at `place`.
    #[inline]
    pub(super) fn append_inst(
        &mut self,
        place: Place,
        inst: &Inst,
        ty: Type,
        loc: Loc,
    ) -> IrResult<Value> {
        if self.values.len() >= MAX_ENTITIES {
            return Err(self.too_many_values());
        }
        let v = self.values.next_id();
        let slots = self.add_slots(v, &inst.operands);
        let data = self.inst_record(place, inst, slots, ty, loc);
        self.values.alloc(data);
        self.link_inst(v, place);
        Ok(v)
    }

    /// Makes `v` (a reserved record, which may have uses) the instruction `inst` at `place`.
    pub(super) fn install(&mut self, v: Value, place: Place, inst: &Inst, ty: Type, loc: Loc) {
        let slots = self.add_slots(v, &inst.operands);
        let first_use = self.values[v].first_use;
        self.values[v] = ValueData { first_use, ..self.inst_record(place, inst, slots, ty, loc) };
        self.link_inst(v, place);
    }

    #[inline]
    fn inst_record(
        &mut self,
        place: Place,
        inst: &Inst,
        slots: u32,
        ty: Type,
        loc: Loc,
    ) -> ValueData {
        let (prev, next) = (place.prev.some(), place.next.some());
        ValueData {
            op: inst.op,
            len: inst.operands.len() as u16,
            slots,
            ty,
            block: place.block,
            prev: place.prev,
            next: place.next,
            seq: label_between(&mut InstList(self), prev, next),
            first_use: NIL,
            attrs: inst.attrs,
            loc,
        }
    }

    /// Lets the neighbours of a new instruction point to it.
    #[inline]
    fn link_inst(&mut self, v: Value, place: Place) {
        match place.prev.some() {
            Some(prev) => self.values[prev].next = v,
            None => self.blocks[place.block].first = v,
        }
        match place.next.some() {
            Some(next) => self.values[next].prev = v,
            None => self.blocks[place.block].last = v,
        }
        self.live_values += 1;
        self.epochs.insts += 1;
    }

    /// Records who made `v`, if anybody is to be recorded.
    #[inline]
    pub(super) fn record_origin(&mut self, v: Value, from: Option<Value>) {
        if let Some(by) = self.origin
            && !v.is_terminator()
        {
            if self.origins.len() <= v.index() {
                self.origins.resize(self.values.len(), None);
            }
            self.origins[v.index()] = Some(Origin { by, from });
        }
    }

    /// Takes an instruction out of the list of its block; the record stays.
    pub(super) fn unlink_inst(&mut self, v: Value) {
        let ValueData { block, prev, next, .. } = self.values[v];
        match prev.some() {
            Some(prev) => self.values[prev].next = next,
            None => self.blocks[block].first = next,
        }
        match next.some() {
            Some(next) => self.values[next].prev = prev,
            None => self.blocks[block].last = prev,
        }
    }

    /// Appends the fresh record `v` to the parameters of `block`.
    pub(super) fn install_param(&mut self, v: Value, block: Block, ty: Type) {
        let last = self.blocks[block].last_param;
        let data = &mut self.values[v];
        *data = ValueData {
            ty,
            block,
            prev: last,
            slots: self.blocks[block].param_count,
            first_use: data.first_use,
            ..ValueData::empty(Op::PARAM)
        };
        match last.some() {
            Some(last) => self.values[last].next = v,
            None => self.blocks[block].first_param = v,
        }
        let block = &mut self.blocks[block];
        block.last_param = v;
        block.param_count += 1;
        self.live_values += 1;
        self.epochs.insts += 1;
        self.epochs.types += 1;
    }

    /// Takes a parameter out of the list of its block and renumbers those behind it.
    pub(super) fn unlink_param(&mut self, v: Value) {
        let ValueData { block, prev, next, .. } = self.values[v];
        match prev.some() {
            Some(prev) => self.values[prev].next = next,
            None => self.blocks[block].first_param = next,
        }
        match next.some() {
            Some(next) => self.values[next].prev = prev,
            None => self.blocks[block].last_param = prev,
        }
        self.blocks[block].param_count -= 1;
        let mut at = next;
        while let Some(param) = at.some() {
            self.values[param].slots -= 1;
            at = self.values[param].next;
        }
    }

    /// Puts a block that is not in the layout between two neighbours.
    pub(super) fn link_block(&mut self, b: Block, prev: Block, next: Block) {
        let seq = label_between(&mut BlockList(self), prev.some(), next.some());
        let data = &mut self.blocks[b];
        (data.prev, data.next, data.seq, data.state) = (prev, next, seq, State::Live);
        match prev.some() {
            Some(prev) => self.blocks[prev].next = b,
            None => self.first_block = b,
        }
        match next.some() {
            Some(next) => self.blocks[next].prev = b,
            None => self.last_block = b,
        }
        self.live_blocks += 1;
        self.epochs.cfg += 1;
    }

    pub(super) fn unlink_block(&mut self, b: Block) {
        let BlockData { prev, next, .. } = self.blocks[b];
        match prev.some() {
            Some(prev) => self.blocks[prev].next = next,
            None => self.first_block = next,
        }
        match next.some() {
            Some(next) => self.blocks[next].prev = prev,
            None => self.last_block = prev,
        }
        self.live_blocks -= 1;
        self.epochs.cfg += 1;
    }

    /// Moves the instructions of `from`, from `first` on, to the end of `to`. O(moved).
    pub(super) fn move_tail(&mut self, from: Block, first: Value, to: Block) {
        let prev = self.values[first].prev;
        let last = self.blocks[from].last;
        match prev.some() {
            Some(prev) => self.values[prev].next = Value::NONE,
            None => self.blocks[from].first = Value::NONE,
        }
        self.blocks[from].last = prev;
        let mut at = first;
        let mut tail = self.blocks[to].last;
        loop {
            let next = self.values[at].next;
            let seq = label_between(&mut InstList(self), tail.some(), None);
            let data = &mut self.values[at];
            (data.block, data.prev, data.next, data.seq) = (to, tail, Value::NONE, seq);
            match tail.some() {
                Some(tail) => self.values[tail].next = at,
                None => self.blocks[to].first = at,
            }
            self.blocks[to].last = at;
            tail = at;
            if at == last {
                break;
            }
            at = next;
        }
        self.epochs.insts += 1;
    }

    /// Checks that an operand is live, of this function, and can be used.
    #[inline]
    pub(crate) fn check_operand(&self, operand: Operand) -> IrResult<()> {
        use crate::OperandKind;
        match operand.kind() {
            OperandKind::Value(v) => match self.values.get(v) {
                Some(data) if data.op != Op::DEAD => Ok(()),
                _ if v.is_terminator() => Err(IrError::terminator_value(self, v)),
                _ => Err(self.bad_value(v)),
            },
            OperandKind::Const(c) if self.ctx.has_constant(c) => Ok(()),
            OperandKind::Const(c) => Err(IrError::foreign_const(self, c)),
            OperandKind::Block(b) => match self.blocks.get(b) {
                Some(data) if data.state != State::Dead => Ok(()),
                _ => Err(self.bad_block(b)),
            },
        }
    }
}
