//! Functions: an arena of values, an arena of blocks, and the links between them.
//!
//! # Layout of the data
//! An instruction is a 40-byte record in an arena; a block parameter is one too. Operands are
//! 16-byte [`Slot`]s in one vector, contiguous per instruction, and each slot is also a link of
//! the use list of what it holds: value uses and, for the targets of edges, predecessor lists
//! cost no memory of their own. Instructions of a block, parameters of a block, and blocks of
//! a function are intrusive doubly linked lists. The terminator of a block lives in the record
//! of the block. So an instruction of two operands takes 72 bytes, everything included, and a
//! clone of a function is a copy of three vectors of plain numbers.
//!
//! # Identity
//! Ids are never reused. A deleted value or block leaves a tombstone, and every method that is
//! given one says so. Numbers follow the order of creation, so that printed functions do not
//! churn when something is inserted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use id_arena::Arena;
use rustc_hash::FxHashMap;

use self::name_table::NameTable;
use crate::entity::{BlockBehavior, ValueBehavior};
use crate::{
    Attrs, Block, Context, IrError, IrResult, Loc, Op, Operand, Symbol, Type, TypeKind, Value,
};

mod bulk;
mod control;
mod edit;
mod invariants;
mod iter;
mod name_table;
mod names;
mod order;
mod place;
mod rebuild;
mod refusals;
mod reserve;
mod traits;
mod uses;
mod values;

pub use edit::MAX_OPERANDS;
pub use iter::{Blocks, Body, Edges, Insts, OperandIter, Params, Uses};
pub use rebuild::Renumbering;

/// No link.
const NIL: u32 = u32::MAX;

/// An instruction or a block parameter.
#[derive(Clone, Copy, Debug)]
struct ValueData {
    op: Op,
    /// The number of its operand slots.
    len: u16,
    /// Its first operand slot; for a parameter, its position among the parameters.
    slots: u32,
    ty: Type,
    /// The block it belongs to.
    block: Block,
    /// Neighbours among the instructions (or parameters) of the block.
    prev: Value,
    next: Value,
    /// Its place in the block: greater than that of `prev`.
    seq: u32,
    /// The first slot that holds it.
    first_use: u32,
    attrs: Attrs,
    loc: Loc,
}

/// A block with its terminator.
#[derive(Clone, Copy, Debug)]
struct BlockData {
    /// The terminator; its op is [`Op::MISSING`] until it is set.
    term: ValueData,
    prev: Block,
    next: Block,
    seq: u32,
    first: Value,
    last: Value,
    first_param: Value,
    last_param: Value,
    param_count: u32,
    /// The first slot that holds it as the target of an edge.
    first_use: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Part of the function.
    Live,
    /// Its number is taken, it is not yet placed.
    Reserved,
    /// Deleted.
    Dead,
}

/// An operand of an instruction, and its link in the use list of what it holds.
#[derive(Clone, Copy, Debug)]
struct Slot {
    operand: Operand,
    user: Value,
    next: u32,
    prev: u32,
}

const _: () = {
    assert!(size_of::<ValueData>() == 40);
    assert!(size_of::<Slot>() == 16);
    assert!(size_of::<BlockData>() == 80);
};

/// One use of a value, or of a block as the target of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Use {
    /// The instruction that uses it.
    pub user: Value,
    /// The position among the operands of `user`.
    pub index: u32,
}

/// An edge of the control flow graph. It is valid until the terminator of `from` changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// The block that it leaves.
    pub from: Block,
    /// The position of its target among the operands of the terminator of `from`.
    pub position: u32,
}

/// The definition of a [`Value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// An instruction of this block.
    Inst(Block),
    /// A parameter of this block, at this position.
    Param(Block, u32),
}

/// The number of changes of each facet of a function. An analysis is valid as long as the facets
/// that it reads have not changed. Setting something to what it is already is no change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Epochs {
    /// Blocks and edges.
    pub cfg: u64,
    /// Instructions, parameters and operands.
    pub insts: u64,
    /// The types of values.
    pub types: u64,
}

/// Identifies one state of a function: which function object it is, and its epochs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stamp {
    /// The function object; a clone is another one.
    pub lineage: u64,
    /// Its epochs.
    pub epochs: Epochs,
}

/// The facts that the verifier needs of a value that is used, from one look at its record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) op: Op,
    pub(crate) ty: Type,
    pub(crate) block: Block,
    pub(crate) seq: u32,
    pub(crate) attrs: Attrs,
}

/// The pass that made a value, and the value that it was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The pass or rule that made it.
    pub by: Symbol,
    /// The value that it was made from.
    pub from: Option<Value>,
}

/// The state by which repeated calls of [`Function::insert_after`] keep their order.
#[derive(Clone, Debug, Default)]
struct AfterOrder {
    /// The last value inserted after each anchor.
    tail: FxHashMap<Value, Value>,
    /// The anchor of each value inserted that way.
    anchor: FxHashMap<Value, Value>,
}

/// A function in SSA form.
///
/// Every change goes through a method, which keeps use lists, predecessor lists and order right
/// and refuses what would break them with an [`IrError`](crate::IrError) that names the entities.
///
/// In a clone, every handle of the original is valid. Its [`Stamp`] differs from that of the
/// original from the start. It takes O(size), a copy of plain memory.
///
/// # Panics
/// Methods that return an [`IrResult`] take any handle. Those that only look at something take
/// handles of what is there: one of another function, or of what was deleted, makes them panic
/// with a message that names it, the function, and what is wrong; the panic is at the line that
/// called the method. [`Function::is_live`] and [`Function::is_live_block`] take any handle.
#[derive(Clone, Debug)]
pub struct Function {
    ctx: Arc<Context>,
    name: Symbol,
    ret: Type,
    attrs: Attrs,
    loc: Loc,
    values: Arena<ValueData, ValueBehavior>,
    blocks: Arena<BlockData, BlockBehavior>,
    slots: Vec<Slot>,
    first_block: Block,
    last_block: Block,
    live_values: u32,
    live_blocks: u32,
    dead_slots: u32,
    /// The first of slots beside each other that nobody owns, by their size class.
    lost_slots: Vec<Vec<u32>>,
    lineage: Lineage,
    epochs: Epochs,
    names: NameTable,
    after: AfterOrder,
    origin: Option<Symbol>,
    origins: Vec<Option<Origin>>,
}

impl ValueData {
    #[inline]
    fn facts(&self) -> Facts {
        let &Self { op, ty, block, seq, attrs, .. } = self;
        Facts { op, ty, block, seq, attrs }
    }
}

/// The identity of a function. A clone is another one.
#[derive(Debug)]
struct Lineage(u64);

impl Lineage {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Lineage {
    fn clone(&self) -> Self {
        Self::next()
    }
}

impl Function {
    /// A function with an entry block that has `params` as its parameters, and nothing in it.
    ///
    /// # Panics
    /// If a type is of another context.
    #[track_caller]
    pub fn new(ctx: &Arc<Context>, name: &str, params: &[Type], ret: Type) -> Self {
        // Room to begin with, so that small functions are not moved while they grow.
        let mut f = Self::with_capacity(ctx, name, ret, 64, 0, 128);
        let entry = f.add_block();
        for &ty in params {
            if let Err(error) = f.append_param(entry, ty) {
                panic!("{error}");
            }
        }
        f
    }

    /// A function without any block; the first block that is added becomes its entry.
    ///
    /// # Panics
    /// If the type is of another context.
    #[track_caller]
    pub fn without_entry(ctx: &Arc<Context>, name: &str, ret: Type) -> Self {
        Self::with_capacity(ctx, name, ret, 0, 0, 0)
    }

    /// The same, with room for so many values, blocks and operands.
    ///
    /// # Panics
    /// If the type is of another context.
    #[track_caller]
    pub fn with_capacity(
        ctx: &Arc<Context>,
        name: &str,
        ret: Type,
        values: usize,
        blocks: usize,
        operands: usize,
    ) -> Self {
        assert!(ctx.has_type(ret), "@{name} cannot return a type of another context");
        Self {
            ctx: Arc::clone(ctx),
            name: ctx.symbol(name),
            ret,
            attrs: Attrs::NONE,
            loc: Loc::UNKNOWN,
            values: Arena::with_capacity(values),
            blocks: Arena::with_capacity(blocks),
            slots: Vec::with_capacity(operands),
            first_block: Block::NONE,
            last_block: Block::NONE,
            live_values: 0,
            live_blocks: 0,
            dead_slots: 0,
            lost_slots: Vec::new(),
            lineage: Lineage::next(),
            epochs: Epochs::default(),
            names: NameTable::default(),
            after: AfterOrder::default(),
            origin: None,
            origins: Vec::new(),
        }
    }

    // --- the function as a whole -----------------------------------------------------------

    /// The context of its types and constants.
    #[inline]
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// Its name.
    pub fn name(&self) -> Symbol {
        self.name
    }

    /// Its name as a string.
    pub fn name_str(&self) -> &str {
        self.ctx.str(self.name)
    }

    /// Renames it. In a module, use [`Module::rename`](crate::Module::rename).
    ///
    /// # Panics
    /// If the name is of another context.
    #[track_caller]
    pub fn set_name(&mut self, name: Symbol) {
        self.own_symbol(name);
        self.name = name;
    }

    #[track_caller]
    fn own_symbol(&self, name: Symbol) {
        let owned = self.ctx.has_symbol(name);
        assert!(owned, "a symbol of another context than that of @{} was used", self.name_str());
    }

    /// The type of what it returns.
    pub fn ret_type(&self) -> Type {
        self.ret
    }

    /// Changes the type of what it returns.
    ///
    /// # Panics
    /// If it is of another context.
    #[track_caller]
    pub fn set_ret_type(&mut self, ty: Type) {
        if let Err(error) = self.check_type(ty) {
            panic!("{error}");
        }
        self.epochs.types += u64::from(self.ret != ty);
        self.ret = ty;
    }

    /// Its attributes.
    pub fn function_attrs(&self) -> Attrs {
        self.attrs
    }

    /// Sets its attributes.
    ///
    /// # Panics
    /// If they are of another context.
    #[track_caller]
    pub fn set_function_attrs(&mut self, attrs: Attrs) {
        if !self.ctx.has_attrs(attrs) {
            panic!("{}", IrError::foreign_attrs(format_args!("@{}", self.name_str())));
        }
        self.epochs.insts += u64::from(self.attrs != attrs);
        self.attrs = attrs;
    }

    /// The location of its definition.
    pub fn function_loc(&self) -> Loc {
        self.loc
    }

    /// Sets where it is defined.
    pub fn set_function_loc(&mut self, loc: Loc) {
        self.loc = loc;
    }

    /// Identifies its present state.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp { lineage: self.lineage.0, epochs: self.epochs }
    }

    /// The number of changes of each facet.
    #[inline]
    pub fn epochs(&self) -> Epochs {
        self.epochs
    }

    /// Sets the pass that is recorded as the provenance of values from now on (see
    /// [`Function::origin`]). `None` stops recording. Also forgets the order of earlier
    /// [`Function::insert_after`]s.
    ///
    /// # Panics
    /// If the name is of another context.
    #[track_caller]
    pub fn set_provenance(&mut self, by: Option<Symbol>) {
        if let Some(by) = by {
            self.own_symbol(by);
        }
        self.origin = by;
        self.after = AfterOrder::default();
    }

    /// The pass that is recorded as the provenance of new values, if one is.
    pub fn provenance(&self) -> Option<Symbol> {
        self.origin
    }

    /// The provenance of a value; `None` if it was there from the start. Of a value that was
    /// deleted it is still known, so that one can follow what others were made from.
    ///
    /// # Panics
    /// If it is a value of another function.
    #[track_caller]
    pub fn origin(&self, v: Value) -> Option<Origin> {
        if self.record(v).is_none() {
            panic!("{}", self.bad_value(v));
        }
        if v.is_terminator() { None } else { self.origins.get(v.index()).copied().flatten() }
    }

    /// The number of instructions, terminators not counted.
    pub fn inst_count(&self) -> usize {
        let params: u32 = self.blocks().map(|b| self.blocks[b].param_count).sum();
        (self.live_values - params) as usize
    }

    /// The number of live values: instructions (terminators not counted) and parameters. O(1).
    pub fn value_count(&self) -> usize {
        self.live_values as usize
    }

    /// The number of live blocks. O(1).
    pub fn block_count(&self) -> usize {
        self.live_blocks as usize
    }

    /// One more than the largest [`Value::index`] there is: the length of a side table.
    #[inline]
    pub fn value_capacity(&self) -> usize {
        self.values.len()
    }

    /// One more than the largest [`Block::index`] there is.
    #[inline]
    pub fn block_capacity(&self) -> usize {
        self.blocks.len()
    }

    /// The value with the printed number `number`, if it is live.
    pub fn value_by_number(&self, number: u32) -> Option<Value> {
        let v = self.raw_value(number)?;
        self.is_live(v).then_some(v)
    }

    /// The block with the printed number `number`, if it is live.
    pub fn block_by_number(&self, number: u32) -> Option<Block> {
        let b = self.raw_block(number)?;
        self.is_live_block(b).then_some(b)
    }

    /// The memory that it takes in bytes, side tables included.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.values.len() * size_of::<ValueData>()
            + self.blocks.len() * size_of::<BlockData>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.origins.capacity() * size_of::<Option<Origin>>()
            + self.names.memory()
    }

    // --- types and locations of what is there ----------------------------------------------

    /// Changes the type of a value. The users are not checked.
    ///
    /// # Errors
    /// If `v` is stale.
    pub fn set_type(&mut self, v: Value, ty: Type) -> IrResult<()> {
        self.checked(v)?;
        self.check_type(ty)?;
        let old = std::mem::replace(&mut self.data_mut(v).ty, ty);
        self.epochs.types += u64::from(old != ty);
        Ok(())
    }

    /// Changes the location of an instruction.
    ///
    /// # Errors
    /// If `v` is stale.
    pub fn set_loc(&mut self, v: Value, loc: Loc) -> IrResult<()> {
        self.checked(v)?;
        self.data_mut(v).loc = loc;
        Ok(())
    }

    /// Changes the attributes of an instruction.
    ///
    /// # Errors
    /// If `v` is stale.
    pub fn set_attrs(&mut self, v: Value, attrs: Attrs) -> IrResult<()> {
        self.checked(v)?;
        if !self.ctx.has_attrs(attrs) {
            return Err(IrError::foreign_attrs(self.value_text(v)));
        }
        let old = std::mem::replace(&mut self.data_mut(v).attrs, attrs);
        self.epochs.insts += u64::from(old != attrs);
        Ok(())
    }

    /// The types of its parameters.
    pub fn param_types(&self) -> Vec<Type> {
        match self.entry() {
            Some(entry) => self.params(entry).map(|v| self.ty(v)).collect(),
            None => Vec::new(),
        }
    }

    /// Its type as a function value: `fn<@name>`.
    pub fn fn_type(&self) -> Type {
        self.ctx.ty(TypeKind::Fn(self.name))
    }
}
