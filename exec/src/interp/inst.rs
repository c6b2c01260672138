//! The instructions of the compact form.

use regraft_ir::{Symbol, Type};

use super::register::{Reg, Scalar, Src};

/// A position in [`Code::insts`](super::code::Code::insts).
pub(crate) type Pc = u32;

/// An instruction. The registers of scalars are `d`, `a`, `b`; those of values `vd`, `va`.
#[derive(Clone, Copy, Debug)]
#[rustfmt::skip] // One instruction a line.
pub(crate) enum Inst {
    Mov { d: Reg, a: Reg },
    MovVal { vd: Reg, va: Reg },
    /// Moves a value that is not needed in its register any more.
    TakeVal { vd: Reg, va: Reg },
    /// Lets go of a value that is not needed any more.
    Drop { va: Reg },
    LoadConst { vd: Reg, index: u32 },
    Box { ty: Scalar, vd: Reg, a: Reg },
    Unbox { ty: Scalar, d: Reg, va: Reg },

    AddI { d: Reg, a: Reg, b: Reg },
    /// An integer and a small constant.
    AddImm { d: Reg, a: Reg, imm: i32 },
    SubI { d: Reg, a: Reg, b: Reg },
    MulI { d: Reg, a: Reg, b: Reg },
    AddI32 { d: Reg, a: Reg, b: Reg },
    SubI32 { d: Reg, a: Reg, b: Reg },
    MulI32 { d: Reg, a: Reg, b: Reg },
    And { d: Reg, a: Reg, b: Reg },
    Or { d: Reg, a: Reg, b: Reg },
    Xor { d: Reg, a: Reg, b: Reg },
    NegI { d: Reg, a: Reg },
    NotI { d: Reg, a: Reg },
    NotBool { d: Reg, a: Reg },
    AddF { d: Reg, a: Reg, b: Reg },
    SubF { d: Reg, a: Reg, b: Reg },
    MulF { d: Reg, a: Reg, b: Reg },
    DivF { d: Reg, a: Reg, b: Reg },
    NegF { d: Reg, a: Reg },
    AddF32 { d: Reg, a: Reg, b: Reg },
    SubF32 { d: Reg, a: Reg, b: Reg },
    MulF32 { d: Reg, a: Reg, b: Reg },
    DivF32 { d: Reg, a: Reg, b: Reg },
    /// Of any integer, or bool, to `f64`.
    IntToF { d: Reg, a: Reg },
    Select { d: Reg, condition: Reg, a: Reg, b: u16 },

    EqI { d: Reg, a: Reg, b: Reg },
    NeI { d: Reg, a: Reg, b: Reg },
    LtI { d: Reg, a: Reg, b: Reg },
    LeI { d: Reg, a: Reg, b: Reg },
    EqF { d: Reg, a: Reg, b: Reg },
    NeF { d: Reg, a: Reg, b: Reg },
    LtF { d: Reg, a: Reg, b: Reg },
    LeF { d: Reg, a: Reg, b: Reg },

    Jump { to: Pc },
    JumpIf { a: Reg, to: Pc },
    JumpUnless { a: Reg, to: Pc },
    JumpEqI { a: Reg, b: Reg, to: Pc },
    JumpNeI { a: Reg, b: Reg, to: Pc },
    JumpLtI { a: Reg, b: Reg, to: Pc },
    JumpLeI { a: Reg, b: Reg, to: Pc },
    JumpEqImm { a: Reg, imm: i32, to: Pc },
    JumpNeImm { a: Reg, imm: i32, to: Pc },
    JumpLtImm { a: Reg, imm: i32, to: Pc },
    JumpGeImm { a: Reg, imm: i32, to: Pc },
    JumpEqF { a: Reg, b: Reg, to: Pc },
    JumpNeF { a: Reg, b: Reg, to: Pc },
    JumpLtF { a: Reg, b: Reg, to: Pc },
    JumpLeF { a: Reg, b: Reg, to: Pc },
    /// Unless less: taken for NaN, too.
    JumpNotLtF { a: Reg, b: Reg, to: Pc },
    JumpNotLeF { a: Reg, b: Reg, to: Pc },
    /// By [`Code::switches`].
    Switch { a: Reg, table: u32 },
    SwitchVal { va: Reg, table: u32 },

    LoadF { d: Reg, va: Reg, i: Reg },
    LoadI { d: Reg, va: Reg, i: Reg },
    LoadF2 { j: u16, d: Reg, va: Reg, i: Reg },
    StoreF { a: Reg, va: Reg, i: Reg },
    StoreI { a: Reg, va: Reg, i: Reg },
    StoreF2 { j: u16, a: Reg, va: Reg, i: Reg },
    /// Elements of arrays of any scalar type.
    LoadScalar { ty: Scalar, d: Reg, va: Reg, i: Reg },
    LoadScalar2 { ty: Scalar, j: u16, d: Reg, va: Reg, i: Reg },
    StoreScalar { ty: Scalar, a: Reg, va: Reg, i: Reg },
    StoreScalar2 { ty: Scalar, j: u16, a: Reg, va: Reg, i: Reg },
    Length { d: Reg, va: Reg },
    /// `mem.probe` from the place that the hash in `a` says, or from behind the place in `b`.
    Probe { b: u16, d: Reg, va: Reg, a: Reg },
    /// `mem.index_entries` from the number in `a` to the one in `b`, by the hashes in `vb`.
    IndexEntries { b: u16, va: Reg, vb: Reg, a: Reg },
    /// Field `index`, from 0, of a tuple, named tuple or immutable struct.
    GetF { d: Reg, va: Reg, index: u32 },
    GetI { d: Reg, va: Reg, index: u32 },
    GetVal { vd: Reg, va: Reg, index: u32 },
    /// Any scalar field of a value or an object; the content of a ref is field 0.
    GetScalar { ty: Scalar, index: u16, d: Reg, va: Reg },
    /// The type of the field is known to fit.
    SetScalar { ty: Scalar, index: u16, a: Reg, va: Reg },
    SetVal { index: u16, vb: Reg, va: Reg },

    /// A function of up to three scalars: [`Code::functions`]. It ignores the operands that it does
    /// not take.
    Scalar { function: u16, d: Reg, a: Reg, b: u16, c: u16 },
    /// Any op, by its evaluation function: [`Code::evals`].
    Eval { site: u32 },
    /// By [`Code::calls`].
    Call { site: u32 },
    /// By [`Code::applies`].
    Apply { site: u32 },
    /// An error goes to a handler from here on.
    Try { to: Pc },
    /// No more; the handler that was there is known to need its operands until here.
    EndTry { to: Pc },
    /// Takes the error that a handler is called with.
    Catch { vd: Reg },
    /// The handler is done.
    EndCatch,
    /// Runs the calls of a function that runs in chunks on several threads, and returns what they give; or
    /// goes on.
    Chunks,
    /// An event of the profiler starts, and ends.
    RecordStart { event: Symbol },
    RecordEnd { event: Symbol },

    Return { a: Reg },
    ReturnVal { va: Reg },
    ReturnConst { index: u32 },
    ReturnUnit,
    /// Of what a tuple would be made of, by [`Code::evals`].
    ReturnTuple { site: u32 },
    Unreachable,
}

const _: () = assert!(size_of::<Inst>() == 16);

impl Inst {
    /// Returns whether the next instruction may follow.
    pub(crate) fn goes_on(self) -> bool {
        !matches!(
            self,
            Self::Jump { .. }
                | Self::Switch { .. }
                | Self::SwitchVal { .. }
                | Self::Return { .. }
                | Self::ReturnVal { .. }
                | Self::ReturnConst { .. }
                | Self::ReturnUnit
                | Self::ReturnTuple { .. }
                | Self::Unreachable
        )
    }
}

/// The way in which an argument gets into the frame of the callee.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    /// To the next scalar parameter.
    Scalar(Reg),
    /// To the next scalar parameter, if the value is of its type.
    Unbox(Scalar, Reg),
    /// To the next other parameter.
    Val(Src),
    /// To the next other parameter, if the value is of that type.
    Check(Src, Type),
}

impl Arg {
    /// Returns whether it goes to a parameter that is no scalar.
    pub(crate) fn is_val(self) -> bool {
        !matches!(self, Self::Scalar(_) | Self::Unbox(..))
    }
}
