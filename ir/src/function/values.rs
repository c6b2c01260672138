//! Looking at values: what they are, their operands, types, attributes and constants.

use smallvec::SmallVec;

use super::{BlockData, Facts, Function, OperandIter, Slot, State, ValueData, ValueDef};
use crate::{
    Attrs, Block, Const, Constant, InstView, IrError, IrResult, Loc, Op, OpDef, Operand,
    OperandKind, Symbol, Type, Value,
};

impl Function {
    /// Returns whether `v` is a live value (or terminator) of this function.
    #[inline]
    pub fn is_live(&self, v: Value) -> bool {
        match v.terminated_block() {
            Some(b) => self
                .blocks
                .get(b)
                .is_some_and(|b| b.state == State::Live && b.term.op != Op::MISSING),
            None => self.values.get(v).is_some_and(|d| d.op != Op::DEAD && d.op != Op::MISSING),
        }
    }

    /// The record of `v`, dead or not; `None` if it is of another function. For the
    /// terminator of a block, also of one that has none yet.
    #[inline]
    pub(crate) fn facts(&self, v: Value) -> Option<Facts> {
        self.record(v).map(ValueData::facts)
    }

    /// The same of an instruction, with its operands.
    #[inline]
    pub(crate) fn facts_and_operands(&self, v: Value) -> Option<(Facts, OperandIter<'_>)> {
        let data = self.record(v).filter(|data| data.op != Op::PARAM)?;
        let slots = &self.slots[data.slots as usize..][..usize::from(data.len)];
        Some((data.facts(), OperandIter::new(slots)))
    }

    #[inline]
    pub(super) fn record(&self, v: Value) -> Option<&ValueData> {
        match v.terminated_block() {
            None => self.values.get(v),
            Some(b) => self.blocks.get(b).map(|block| &block.term),
        }
    }

    /// Returns whether `b` is a block of this function, dead or not.
    pub(crate) fn has_block(&self, b: Block) -> bool {
        self.blocks.get(b).is_some()
    }

    /// Returns whether `b` is a live block of this function.
    #[inline]
    pub fn is_live_block(&self, b: Block) -> bool {
        self.blocks.get(b).is_some_and(|b| b.state == State::Live)
    }

    /// The record of a value that a user asks for: live, or reserved.
    ///
    /// # Panics
    /// If it was deleted or is of another function; the message names it and the function.
    #[inline]
    #[track_caller]
    pub(super) fn known(&self, v: Value) -> &ValueData {
        match v.terminated_block() {
            None => match self.values.get(v) {
                Some(data) if data.op != Op::DEAD => data,
                _ => self.no_value(v),
            },
            Some(b) => &self.known_block(b).term,
        }
    }

    /// The same of a block.
    #[inline]
    #[track_caller]
    pub(super) fn known_block(&self, b: Block) -> &BlockData {
        match self.blocks.get(b) {
            Some(data) if data.state != State::Dead => data,
            _ => self.no_block(b),
        }
    }

    #[cold]
    #[track_caller]
    fn no_value(&self, v: Value) -> ! {
        panic!("{}", self.bad_value(v))
    }

    #[cold]
    #[track_caller]
    pub(super) fn not_an_instruction(&self, v: Value) -> ! {
        panic!("{v} of @{} is no instruction", self.name_str())
    }

    #[cold]
    #[track_caller]
    fn no_block(&self, b: Block) -> ! {
        panic!("{}", self.bad_block(b))
    }

    /// The record of a value that is known to be live: a stale handle panics or gives a tombstone.
    #[inline]
    pub(super) fn data(&self, v: Value) -> &ValueData {
        match v.terminated_block() {
            None => &self.values[v],
            Some(b) => &self.blocks[b].term,
        }
    }

    #[inline]
    pub(super) fn data_mut(&mut self, v: Value) -> &mut ValueData {
        match v.terminated_block() {
            None => &mut self.values[v],
            Some(b) => &mut self.blocks[b].term,
        }
    }

    /// The record of a value, or the error that says why there is none.
    #[inline]
    pub(super) fn checked(&self, v: Value) -> IrResult<&ValueData> {
        if self.is_live(v) { Ok(self.data(v)) } else { Err(self.bad_value(v)) }
    }

    #[inline]
    pub(super) fn checked_block(&self, b: Block) -> IrResult<&BlockData> {
        match self.blocks.get(b) {
            Some(data) if data.state == State::Live => Ok(data),
            _ => Err(self.bad_block(b)),
        }
    }

    /// The error that says why there is no such value, if there is none.
    pub(crate) fn ensure_value(&self, v: Value) -> IrResult<()> {
        self.checked(v).map(|_| ())
    }

    /// The same of a block.
    pub(crate) fn ensure_block(&self, b: Block) -> IrResult<()> {
        self.checked_block(b).map(|_| ())
    }

    #[cold]
    pub(super) fn bad_value(&self, v: Value) -> IrError {
        match v.terminated_block() {
            Some(b) if self.is_live_block(b) => IrError::no_terminator(self, b),
            Some(b) => self.bad_block(b),
            None if self.values.get(v).is_some() => IrError::stale_value(self, v),
            None => IrError::foreign_value(self, v),
        }
    }

    #[cold]
    pub(super) fn bad_block(&self, b: Block) -> IrError {
        if self.blocks.get(b).is_some() {
            IrError::stale_block(self, b)
        } else {
            IrError::foreign_block(self, b)
        }
    }

    /// The definition of a value. For a terminator, the instruction of its block.
    ///
    /// # Panics
    /// If it is stale.
    #[track_caller]
    pub fn def(&self, v: Value) -> ValueDef {
        let data = self.known(v);
        match data.op {
            Op::PARAM => ValueDef::Param(data.block, data.slots),
            Op::DEAD | Op::MISSING => panic!("{}", self.bad_value(v)),
            _ => ValueDef::Inst(data.block),
        }
    }

    /// Returns whether it is a block parameter.
    #[inline]
    #[track_caller]
    pub fn is_param(&self, v: Value) -> bool {
        self.known(v).op == Op::PARAM
    }

    /// The op of an instruction; `None` for a parameter and for what is not live, so that a list of
    /// instructions some of which were deleted can be gone through.
    ///
    /// # Panics
    /// If it is a value of another function.
    #[inline]
    #[track_caller]
    pub fn op(&self, v: Value) -> Option<Op> {
        match self.record(v) {
            Some(data) => match data.op {
                Op::PARAM | Op::DEAD | Op::MISSING => None,
                op => Some(op),
            },
            None => self.no_value(v),
        }
    }

    /// The declaration of the op of an instruction; `None` where [`Function::op`] is.
    #[inline]
    #[track_caller]
    pub fn op_def(&self, v: Value) -> Option<&'static OpDef> {
        let op = self.op(v)?;
        Some(self.ctx.def(op))
    }

    /// The block that a value belongs to.
    #[inline]
    #[track_caller]
    pub fn block_of(&self, v: Value) -> Block {
        self.known(v).block
    }

    /// The type of a value.
    #[inline]
    #[track_caller]
    pub fn ty(&self, v: Value) -> Type {
        self.known(v).ty
    }

    /// The type of an operand; `never` for the target of an edge.
    #[inline]
    #[track_caller]
    pub fn operand_type(&self, operand: Operand) -> Type {
        match operand.kind() {
            OperandKind::Value(v) => self.known(v).ty,
            OperandKind::Const(c) => self.ctx.constant_type(c),
            OperandKind::Block(_) => Type::NEVER,
        }
    }

    /// The operands of an instruction, edges included; none for a parameter.
    #[inline]
    #[track_caller]
    pub fn operands(&self, v: Value) -> OperandIter<'_> {
        OperandIter::new(self.slots_of(v))
    }

    /// The operand at `index`.
    #[inline]
    #[track_caller]
    pub fn operand(&self, v: Value, index: usize) -> Option<Operand> {
        self.slots_of(v).get(index).map(|slot| slot.operand)
    }

    /// The number of operands.
    #[inline]
    #[track_caller]
    pub fn operand_count(&self, v: Value) -> usize {
        self.slots_of(v).len()
    }

    #[inline]
    #[track_caller]
    pub(super) fn slots_of(&self, v: Value) -> &[Slot] {
        let data = self.known(v);
        if data.op == Op::PARAM {
            return &[];
        }
        &self.slots[data.slots as usize..][..usize::from(data.len)]
    }

    /// The operands as an array, if `v` is an instruction of `op` with exactly that many.
    #[inline]
    #[track_caller]
    pub fn matches<const N: usize>(&self, v: Value, op: Op) -> Option<[Operand; N]> {
        if self.op(v) != Some(op) {
            return None;
        }
        let slots: &[Slot; N] = self.slots_of(v).try_into().ok()?;
        Some(slots.map(|slot| slot.operand))
    }

    /// The attributes of an instruction.
    #[inline]
    #[track_caller]
    pub fn attrs(&self, v: Value) -> Attrs {
        self.known(v).attrs
    }

    /// One attribute of an instruction.
    #[track_caller]
    pub fn attr(&self, v: Value, name: &str) -> Option<Constant> {
        self.ctx.attr(self.attrs(v), name).map(|c| self.ctx.constant(c))
    }

    /// The source location of an instruction.
    #[inline]
    #[track_caller]
    pub fn loc(&self, v: Value) -> Loc {
        self.known(v).loc
    }

    /// The constant behind an operand, if it is one.
    #[inline]
    #[track_caller]
    pub fn constant(&self, operand: impl Into<Operand>) -> Option<Constant> {
        let c = operand.into().as_const()?;
        Some(self.ctx.constant(c))
    }

    /// The number of an operand that is an `i64` constant. [`const_i64`](crate::Interned::const_i64)
    /// makes one.
    #[inline]
    #[track_caller]
    pub fn const_i64(&self, operand: impl Into<Operand>) -> Option<i64> {
        match self.constant(operand)? {
            Constant::I64(x) => Some(x),
            _ => None,
        }
    }

    /// The number of an operand that is an `f64` constant.
    #[inline]
    #[track_caller]
    pub fn const_f64(&self, operand: impl Into<Operand>) -> Option<f64> {
        match self.constant(operand)? {
            Constant::F64(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The value of an operand that is a `bool` constant.
    #[inline]
    #[track_caller]
    pub fn const_bool(&self, operand: impl Into<Operand>) -> Option<bool> {
        match self.constant(operand)? {
            Constant::Bool(x) => Some(x),
            _ => None,
        }
    }

    /// The symbol that an operand is, if it is one.
    #[track_caller]
    pub fn const_sym(&self, operand: impl Into<Operand>) -> Option<Symbol> {
        match self.constant(operand)? {
            Constant::Sym(x) => Some(x),
            _ => None,
        }
    }

    /// The function that an operand names, if it does.
    #[track_caller]
    pub fn const_func(&self, operand: impl Into<Operand>) -> Option<Symbol> {
        match self.constant(operand)? {
            Constant::Func(x) => Some(x),
            _ => None,
        }
    }

    /// Makes a constant of the function's context; a plain integer is an `i64`. The context itself
    /// ([`Function::ctx`]) has a method for each type: `f.ctx().const_i32(3)`,
    /// `f.ctx().const_str("text")`.
    #[track_caller]
    pub fn constant_id(&self, constant: impl Into<Constant>) -> Const {
        self.ctx.constant_id(constant)
    }

    /// Calls `with` with the view of an instruction that its [`OpDef`] works on.
    ///
    /// # Panics
    /// If `v` is a parameter or stale.
    #[track_caller]
    pub fn with_view<R>(&self, v: Value, with: impl FnOnce(&InstView<'_>) -> R) -> R {
        self.known(v);
        let Some(def) = self.op_def(v) else { self.not_an_instruction(v) };
        let operands: SmallVec<[Operand; 8]> = self.operands(v).collect();
        let types: SmallVec<[Type; 8]> = operands.iter().map(|&o| self.operand_type(o)).collect();
        let (attrs, ty) = (self.attrs(v), self.ty(v));
        with(&InstView { ctx: &self.ctx, def, operands: &operands, types: &types, attrs, ty })
    }

    /// The type that the signature of its op gives an instruction as it stands.
    ///
    /// # Errors
    /// A sentence that tells what is wrong with its operands.
    ///
    /// # Panics
    /// If `v` is a parameter or stale.
    #[track_caller]
    pub fn infer_type(&self, v: Value) -> Result<Type, String> {
        self.with_view(v, crate::signature::result_type)
    }
}
