//! The handles by which everything in the IR is named.
//!
//! Handles are `Copy` newtypes over `u32`. [`Value`] and [`Block`] carry a five-bit tag of the
//! function that made them beside a 25-bit index, so that a handle of another function is
//! caught where it is used (with certainty for functions made within the same 32, and with
//! probability 31/32 otherwise) at no cost in space. Constants, types, symbols and attributes carry
//! a tag of their context likewise. Everything that can stand in an operand
//! slot is packed into an [`Operand`], also 32 bits.

use std::fmt;

use id_arena::ArenaBehavior;
use std::sync::atomic::{AtomicU32, Ordering};

const INDEX_BITS: u32 = 25;
pub(crate) const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
const TAG_MASK: u32 = 31;
const TERMINATOR_BIT: u32 = 1 << 30;
const NON_VALUE_BIT: u32 = 1 << 31;
const BLOCK_BITS: u32 = NON_VALUE_BIT | (1 << 30);

/// The largest number of values, and of blocks, that one function can hold.
pub const MAX_ENTITIES: usize = INDEX_MASK as usize;

/// The tag of the function that a block is of.
pub(crate) fn tag_of(block: Block) -> u32 {
    block.0 >> INDEX_BITS
}

/// Tags are handed out in turn, so that functions made one after the other never share one.
fn next_tag() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed) & TAG_MASK
}

/// An SSA value: the result of an instruction, or a block parameter.
///
/// One instruction defines exactly one value, so the same handle names the instruction. The
/// terminator of a block is named by its block ([`Value::terminator`]): it defines nothing that
/// could be used, takes no number, and is the same handle however often it is replaced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(crate) u32);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub(crate) u32);

impl Value {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The handle of the terminator of `block`, whether it has one yet or not.
    #[inline]
    pub const fn terminator(block: Block) -> Self {
        Self(block.0 | TERMINATOR_BIT)
    }

    /// Returns whether this names the terminator of a block.
    #[inline]
    pub const fn is_terminator(self) -> bool {
        self.0 & TERMINATOR_BIT != 0
    }

    /// For the handle of a terminator, the block that it ends.
    #[inline]
    pub const fn terminated_block(self) -> Option<Block> {
        if self.is_terminator() { Some(Block(self.0 & !TERMINATOR_BIT)) } else { None }
    }

    /// A dense index for side tables. Values and block parameters of one function have the
    /// indices `0..function.value_capacity()`; a terminator has the index of its block.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & INDEX_MASK) as usize
    }

    /// The number that is printed: `%1` is the first value of its function.
    #[inline]
    pub const fn number(self) -> u32 {
        (self.0 & INDEX_MASK) + 1
    }

    #[inline]
    pub(crate) fn some(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

impl Block {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// A dense index for side tables: `0..function.block_capacity()`.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & INDEX_MASK) as usize
    }

    /// The number that is printed: `^1` is the first block of its function.
    #[inline]
    pub const fn number(self) -> u32 {
        (self.0 & INDEX_MASK) + 1
    }

    #[inline]
    pub(crate) fn some(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            f.write_str("%none")
        } else if let Some(block) = self.terminated_block() {
            write!(f, "the terminator of {block}")
        } else {
            write!(f, "%{}", self.number())
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE { f.write_str("^none") } else { write!(f, "^{}", self.number()) }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Lets `id_arena` make and read [`Value`]s.
#[derive(Clone, Debug)]
pub(crate) struct ValueBehavior;

impl ArenaBehavior for ValueBehavior {
    type Id = Value;

    #[inline]
    fn new_id(arena_id: u32, index: usize) -> Value {
        // One more than there can be is what the id of the next value is when the function is full.
        assert!(index <= MAX_ENTITIES, "a function holds at most {MAX_ENTITIES} values");
        Value((arena_id << INDEX_BITS) | index as u32)
    }

    #[inline]
    fn index(id: Value) -> usize {
        id.index()
    }

    #[inline]
    fn arena_id(id: Value) -> u32 {
        // The kind bits stay in, so that a terminator's handle is never looked up here.
        id.0 >> INDEX_BITS
    }

    fn new_arena_id() -> u32 {
        next_tag()
    }
}

/// Lets `id_arena` make and read [`Block`]s.
#[derive(Clone, Debug)]
pub(crate) struct BlockBehavior;

impl ArenaBehavior for BlockBehavior {
    type Id = Block;

    #[inline]
    fn new_id(arena_id: u32, index: usize) -> Block {
        assert!(index <= MAX_ENTITIES, "a function holds at most {MAX_ENTITIES} blocks");
        Block((arena_id << INDEX_BITS) | index as u32)
    }

    #[inline]
    fn index(id: Block) -> usize {
        id.index()
    }

    #[inline]
    fn arena_id(id: Block) -> u32 {
        id.0 >> INDEX_BITS
    }

    fn new_arena_id() -> u32 {
        next_tag()
    }
}

/// A constant interned in a [`Context`](crate::Context), whose tag it carries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Const(pub(crate) u32);

impl fmt::Debug for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "const{}", self.0 & INDEX_MASK)
    }
}

/// The content of an operand slot: a value, a constant, or the target of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operand(u32);

/// An [`Operand`] taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// A value of the same function.
    Value(Value),
    /// A constant of the same context.
    Const(Const),
    /// The target of an edge; the operands up to the next block are the arguments of the edge.
    Block(Block),
}

impl Operand {
    /// Takes the operand apart.
    #[inline]
    pub const fn kind(self) -> OperandKind {
        if self.0 & NON_VALUE_BIT == 0 {
            OperandKind::Value(Value(self.0))
        } else if self.0 & BLOCK_BITS == BLOCK_BITS {
            OperandKind::Block(Block(self.0 & !BLOCK_BITS))
        } else {
            OperandKind::Const(Const(self.0 & !NON_VALUE_BIT))
        }
    }

    /// The value, if it is one.
    #[inline]
    pub const fn as_value(self) -> Option<Value> {
        if self.0 & NON_VALUE_BIT == 0 { Some(Value(self.0)) } else { None }
    }

    /// The constant, if it is one.
    #[inline]
    pub const fn as_const(self) -> Option<Const> {
        match self.kind() {
            OperandKind::Const(c) => Some(c),
            _ => None,
        }
    }

    /// The block, if it is the target of an edge.
    #[inline]
    pub const fn as_block(self) -> Option<Block> {
        match self.kind() {
            OperandKind::Block(b) => Some(b),
            _ => None,
        }
    }

    /// Returns whether it is the target of an edge.
    #[inline]
    pub const fn is_block(self) -> bool {
        self.0 & BLOCK_BITS == BLOCK_BITS
    }
}

impl From<Value> for Operand {
    #[inline]
    fn from(value: Value) -> Self {
        Self(value.0)
    }
}

impl From<Const> for Operand {
    #[inline]
    fn from(constant: Const) -> Self {
        Self(constant.0 | NON_VALUE_BIT)
    }
}

impl From<Block> for Operand {
    #[inline]
    fn from(block: Block) -> Self {
        Self(block.0 | BLOCK_BITS)
    }
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            OperandKind::Value(v) => fmt::Display::fmt(&v, f),
            OperandKind::Const(c) => fmt::Debug::fmt(&c, f),
            OperandKind::Block(b) => fmt::Display::fmt(&b, f),
        }
    }
}

/// An interned string: the name of a function, a struct, a field, an attribute or a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub(crate) u32);

/// An interned dictionary of attributes; [`Attrs::NONE`] is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Attrs(pub(crate) u32);

impl Attrs {
    /// No attributes.
    pub const NONE: Self = Self(0);

    /// Returns whether there are none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

slotmap::new_key_type! {
    /// A function of a [`Module`](crate::Module).
    pub struct FuncId;
    /// A struct type of a [`Context`](crate::Context).
    pub struct StructId;
}

const _: () = {
    assert!(size_of::<Value>() == 4);
    assert!(size_of::<Block>() == 4);
    assert!(size_of::<Operand>() == 4);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_keep_kind_and_id() {
        let v = ValueBehavior::new_id(31, 77);
        let b = BlockBehavior::new_id(30, MAX_ENTITIES - 1);
        assert_eq!(Operand::from(v).kind(), OperandKind::Value(v));
        assert_eq!(Operand::from(b).kind(), OperandKind::Block(b));
        let c = Const((1 << 30) - 1);
        assert_eq!(Operand::from(c).kind(), OperandKind::Const(c));
        let t = Value::terminator(b);
        assert_eq!(Operand::from(t).kind(), OperandKind::Value(t));
        assert_eq!(t.terminated_block(), Some(b));
        assert_eq!(v.terminated_block(), None);
    }

    #[test]
    fn the_tag_tells_functions_apart() {
        assert_ne!(ValueBehavior::new_id(1, 5), ValueBehavior::new_id(2, 5));
        assert_eq!(ValueBehavior::arena_id(ValueBehavior::new_id(3, 5)), 3);
    }
}
