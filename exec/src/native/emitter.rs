//! The operations that a back end offers to the translation.
//!
//! They are those of a machine with 64-bit integers, two float formats and flat memory. A back end
//! writes one function at a time: it gives values, flags and blocks of its own, and keeps the
//! registers of the compact form as variables that it takes to SSA form by its own means.

use std::cell::Cell;
use std::ptr;

use regraft_ir::Type;

use crate::interp::{Class, Code, Reg, Scalar};
use crate::value::offsets::type_bits;

/// The type of a place in memory. Integers are loaded with their sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mem {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    /// An address.
    Ptr,
}

impl Mem {
    /// The size in bytes.
    pub(crate) fn size(self) -> i64 {
        match self {
            Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 | Self::Ptr => 8,
        }
    }
}

/// The kinds of memory. Two places of different kinds are never the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Area {
    /// The registers of frames.
    Frame,
    /// The counts of pointers to objects.
    Count,
    /// The parts of objects beside what they hold: addresses and lengths.
    Header,
    /// The elements of arrays of that type.
    Elements(Mem),
    /// The same in one alias scope of the function. In two of them are no elements in common.
    Scope(Mem, u32),
    /// The fields of tuples, structs and refs.
    Fields,
    /// The context of the run: limits, fuel, the interrupt flag.
    Context,
}

/// An operation on two integers. The quotient and the remainder are those rounded toward zero; they
/// are asked for only where the divisor is neither 0 nor -1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum Int2 {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    /// Shifts by 0 to 63.
    Shl,
    Shr,
    Sar,
    Min,
    Max,
    Div,
    Rem,
}

/// An operation on one integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Int1 {
    Clz,
    Ctz,
    Popcount,
    Bitreverse,
    Bswap,
    /// The low 8, 16 or 32 bits with their sign.
    Low(Mem),
}

/// An operation on two floats of the same format. The least and the greatest are NaN if either is,
/// and -0 is less than 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Float2 {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Copysign,
}

/// An operation on one float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Float1 {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest, ties to even.
    Round,
}

/// A conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cast {
    IntToDouble,
    IntToSingle,
    /// The whole part of a float that fits.
    DoubleToInt,
    SingleToDouble,
    DoubleToSingle,
    /// The same bits; those of an `f32` with their sign.
    BitsOfDouble,
    DoubleOfBits,
    BitsOfSingle,
    SingleOfBits,
}

/// A comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntCmp {
    Eq,
    Ne,
    Lt,
    Le,
    /// Of the bits without a sign.
    Below,
    AboveOrEq,
}

/// A comparison of floats, false for NaN but for `Ne`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FloatCmp {
    Eq,
    Ne,
    Lt,
    Le,
}

/// The class of a value that is passed to a function of ours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arg {
    Int,
    Ptr,
    Single,
    Double,
}

impl From<Class> for Arg {
    fn from(class: Class) -> Self {
        match class {
            Class::Int => Self::Int,
            Class::Single => Self::Single,
            Class::Double => Self::Double,
        }
    }
}

/// A function of ours, with the C calling convention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// A name that is unique.
    pub(crate) name: &'static str,
    pub(crate) address: *const u8,
    pub(crate) params: &'static [Arg],
    pub(crate) result: Option<Arg>,
    pub(crate) touches: Touches,
}

/// The memory that a function of ours touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Touches {
    /// None: the result depends on the arguments alone, and nothing else happens.
    Nothing,
    /// Only what arguments are addresses of.
    Arguments,
    /// The same, and what compiled code does not see.
    Context,
    /// Anything.
    Everything,
}

/// The parameters that stand before the scalars in every compiled function: the context of the run,
/// the scalar registers of the frame, and those of values.
pub(crate) const FRAME_PARAMS: usize = 3;

/// The signature of a compiled function: scalars in, at most one scalar out, and a status.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Signature {
    /// The scalars behind the [frame](FRAME_PARAMS).
    pub(crate) params: Vec<Class>,
    pub(crate) result: Option<Class>,
}

/// Something that machine code works on by its address.
#[derive(Clone, Copy)]
pub(crate) enum Address<'a> {
    /// The compact code of a function.
    Code(&'a Code),
    /// A constant of a function, by its number.
    Constant(&'a Code, u32),
    /// The table of a switch of a function, by its number.
    Switch(&'a Code, u32),
}

impl Address<'_> {
    /// The place in the memory of this process.
    pub(super) fn pointer(self) -> *const u8 {
        match self {
            Self::Code(code) => ptr::from_ref(code).cast(),
            Self::Constant(code, index) => ptr::from_ref(&code.vals[index as usize]).cast(),
            Self::Switch(code, index) => ptr::from_ref(&code.switches[index as usize]).cast(),
        }
    }
}

/// A compiled function that another one calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callee {
    pub(crate) target: Target,
    /// The type of its result, if that is a scalar.
    pub(crate) result: Option<Scalar>,
}

/// The place of the code of a callee.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// In the same unit: its number there.
    Member(u32),
    /// In another one.
    Address(*const u8),
    /// Wherever this says when it is called.
    Cell(*const Cell<*const u8>),
}

/// Writes a function.
pub(crate) trait Emitter {
    /// A value of some class.
    type Value: Copy;
    /// The outcome of a comparison.
    type Flag: Copy;
    /// A block.
    type Block: Copy;

    /// A parameter of the function; those of the frame come first.
    fn param(&mut self, index: usize) -> Self::Value;

    /// A block; a cold one is rarely entered.
    fn block(&mut self, cold: bool) -> Self::Block;
    /// Goes on in a block, which nothing has been written to.
    fn enter(&mut self, block: Self::Block);

    /// Reads a register.
    fn read(&mut self, reg: Reg) -> Self::Value;
    /// Sets a register.
    fn write(&mut self, reg: Reg, value: Self::Value);
    /// Sets a register at the beginning of the function. Nothing else writes to it.
    fn fix(&mut self, reg: Reg, value: Self::Value);

    /// True if values are to be settled around loops.
    const SETTLES: bool = false;
    /// Settles the value of a register: from here on, it is another one for the register allocator.
    fn settle(&mut self, _reg: Reg) {}

    fn int(&mut self, value: i64) -> Self::Value;
    fn double(&mut self, bits: u64) -> Self::Value;
    fn single(&mut self, bits: u32) -> Self::Value;
    fn address(&mut self, address: Address<'_>) -> Self::Value;
    /// A type as it stands in memory; `None` if the code is for other processes, too.
    fn type_bits(&mut self, ty: Type) -> Option<Self::Value> {
        Some(self.int(type_bits(ty).into()))
    }

    fn int2(&mut self, op: Int2, a: Self::Value, b: Self::Value) -> Self::Value;
    fn int1(&mut self, op: Int1, a: Self::Value) -> Self::Value;
    fn float2(&mut self, op: Float2, a: Self::Value, b: Self::Value) -> Self::Value;
    fn float1(&mut self, op: Float1, a: Self::Value) -> Self::Value;
    /// The product and the sum, rounded once.
    fn fma(&mut self, a: Self::Value, b: Self::Value, c: Self::Value) -> Self::Value;
    fn cast(&mut self, op: Cast, a: Self::Value) -> Self::Value;
    fn int_cmp(&mut self, op: IntCmp, a: Self::Value, b: Self::Value) -> Self::Flag;
    fn float_cmp(&mut self, op: FloatCmp, a: Self::Value, b: Self::Value) -> Self::Flag;
    /// 1 or 0.
    fn flag(&mut self, flag: Self::Flag) -> Self::Value;
    fn and(&mut self, a: Self::Flag, b: Self::Flag) -> Self::Flag;
    fn select(&mut self, flag: Self::Flag, a: Self::Value, b: Self::Value) -> Self::Value;

    /// The address `bytes` behind another one.
    fn offset(&mut self, address: Self::Value, bytes: i64) -> Self::Value;
    /// The address of element `index`, of that size in bytes.
    fn element(&mut self, address: Self::Value, index: Self::Value, size: i64) -> Self::Value;
    fn load(&mut self, mem: Mem, area: Area, address: Self::Value, at: i32) -> Self::Value;
    /// The address of an object of so many bytes at least.
    fn load_object(
        &mut self,
        area: Area,
        address: Self::Value,
        at: i32,
        _bytes: i64,
    ) -> Self::Value {
        self.load(Mem::Ptr, area, address, at)
    }
    fn store(&mut self, mem: Mem, area: Area, address: Self::Value, at: i32, value: Self::Value);

    /// Calls a function of ours.
    fn call(&mut self, function: &Function, args: &[Self::Value]) -> Option<Self::Value>;
    /// Calls a compiled function; gives its result, if it has one, and the status.
    fn call_compiled(
        &mut self,
        callee: Callee,
        args: &[Self::Value],
    ) -> (Option<Self::Value>, Self::Value);
    /// The address of the present frame of the machine's stack.
    fn stack_pointer(&mut self) -> Self::Value;

    fn jump(&mut self, to: Self::Block);
    fn branch(&mut self, flag: Self::Flag, then: Self::Block, otherwise: Self::Block);
    fn switch(&mut self, value: Self::Value, cases: &[(u64, Self::Block)], default: Self::Block);
    /// Returns with a status, and the result if there is one.
    fn ret(&mut self, result: Option<Self::Value>, status: Self::Value);
}
