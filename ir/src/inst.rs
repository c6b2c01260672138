//! An instruction that is not yet in a function.

use smallvec::SmallVec;

use crate::{Attrs, Block, Loc, Op, Operand, Type, Value};

/// The number of operands that need no allocation.
const INLINE: usize = 4;

/// The operands of an instruction under construction.
pub type Operands = SmallVec<[Operand; INLINE]>;

/// An instruction to be inserted: what the builder functions of a dialect return.
///
/// Its type is found from the signature of its op unless [`Inst::with_type`] says it. Its location
/// is that of the value it is inserted at unless [`Inst::at`] says it.
#[derive(Clone, Debug)]
#[must_use = "an instruction does nothing until it is inserted"]
pub struct Inst {
    pub(crate) op: Op,
    pub(crate) attrs: Attrs,
    pub(crate) ty: Option<Type>,
    pub(crate) loc: Option<Loc>,
    pub(crate) from: Option<Value>,
    pub(crate) operands: Operands,
}

impl Inst {
    /// An instruction of `op` without operands.
    #[inline]
    pub fn new(op: Op) -> Self {
        Self { op, attrs: Attrs::NONE, ty: None, loc: None, from: None, operands: Operands::new() }
    }

    /// An instruction of `op` with these operands.
    #[inline]
    pub fn of<const N: usize>(op: Op, operands: [Operand; N]) -> Self {
        let operands = if N <= INLINE {
            // Filling the inline room at once is cheaper than appending one by one.
            let mut room = [Operand::from(Value::NONE); INLINE];
            room[..N].copy_from_slice(&operands);
            Operands::from_buf_and_len(room, N)
        } else {
            Operands::from_slice(&operands)
        };
        Self { operands, ..Self::new(op) }
    }

    /// Appends an operand.
    #[inline]
    pub fn operand(mut self, operand: impl Into<Operand>) -> Self {
        self.operands.push(operand.into());
        self
    }

    /// Appends several operands.
    #[inline]
    pub fn operands<T: Into<Operand>>(mut self, operands: impl IntoIterator<Item = T>) -> Self {
        self.operands.extend(operands.into_iter().map(Into::into));
        self
    }

    /// Appends an edge to `target` with its arguments.
    #[inline]
    pub fn edge<T: Into<Operand>>(self, target: Block, args: impl IntoIterator<Item = T>) -> Self {
        self.operand(target).operands(args)
    }

    /// States the type of the result.
    #[inline]
    pub fn with_type(mut self, ty: Type) -> Self {
        self.ty = Some(ty);
        self
    }

    /// Sets the attributes.
    #[inline]
    pub fn with_attrs(mut self, attrs: Attrs) -> Self {
        self.attrs = attrs;
        self
    }

    /// Sets the location.
    #[inline]
    pub fn at(mut self, loc: Loc) -> Self {
        self.loc = Some(loc);
        self
    }

    /// Names the value that this one is made from, for its [`Origin`](crate::Origin).
    #[inline]
    pub fn made_from(mut self, value: Value) -> Self {
        self.from = Some(value);
        self
    }

    /// Its op.
    pub fn op(&self) -> Op {
        self.op
    }

    /// Its operands.
    pub fn operand_list(&self) -> &[Operand] {
        &self.operands
    }

    /// Its operands, to be changed.
    pub fn operand_list_mut(&mut self) -> &mut Operands {
        &mut self.operands
    }

    /// Its attributes.
    pub fn attrs(&self) -> Attrs {
        self.attrs
    }

    /// The stated type of its result.
    pub fn ty(&self) -> Option<Type> {
        self.ty
    }

    /// The stated location.
    pub fn loc(&self) -> Option<Loc> {
        self.loc
    }
}
