//! The compact form that functions are run in: a register machine.
//!
//! A function has two register files. Typed scalars (bool, integers, floats) are 8-byte slots
//! without a tag: integers sign-extended to 64 bits, bools as 0 and 1, an `f32` in the low half.
//! Everything else is a [`Val`] of the other file. Instructions name registers by their number in
//! the frame.

use regraft_ir::{Attrs, Loc, Op, OpDef, Symbol, Type, Value};

use super::link::{CodeCell, SiteCache};
use super::machine::Quick;
use super::register::{Dst, Reg, Scalar, Src};
use crate::eval::EvalFn;
use crate::value::Val;

/// A position in [`Code::insts`].
pub(crate) type Pc = u32;

/// An instruction. The registers of scalars are `d`, `a`, `b`; those of values `vd`, `va`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inst {
    Mov {
        d: Reg,
        a: Reg,
    },
    MovVal {
        vd: Reg,
        va: Reg,
    },
    LoadConst {
        vd: Reg,
        index: u32,
    },
    Box {
        ty: Scalar,
        vd: Reg,
        a: Reg,
    },
    Unbox {
        ty: Scalar,
        d: Reg,
        va: Reg,
    },

    AddI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// An integer and a small constant.
    AddImm {
        d: Reg,
        a: Reg,
        imm: i32,
    },
    SubI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AddI32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    SubI32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulI32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    And {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Or {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Xor {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    NegI {
        d: Reg,
        a: Reg,
    },
    NotI {
        d: Reg,
        a: Reg,
    },
    NotBool {
        d: Reg,
        a: Reg,
    },
    AddF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    SubF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    DivF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    NegF {
        d: Reg,
        a: Reg,
    },
    AddF32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    SubF32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    MulF32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    DivF32 {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// Of any integer, or bool, to `f64`.
    IntToF {
        d: Reg,
        a: Reg,
    },
    Select {
        d: Reg,
        condition: Reg,
        a: Reg,
        b: u16,
    },

    EqI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    NeI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    LtI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    LeI {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    EqF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    NeF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    LtF {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    LeF {
        d: Reg,
        a: Reg,
        b: Reg,
    },

    Jump {
        to: Pc,
    },
    JumpIf {
        a: Reg,
        to: Pc,
    },
    JumpUnless {
        a: Reg,
        to: Pc,
    },
    JumpEqI {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpNeI {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpLtI {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpLeI {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpEqImm {
        a: Reg,
        imm: i32,
        to: Pc,
    },
    JumpNeImm {
        a: Reg,
        imm: i32,
        to: Pc,
    },
    JumpLtImm {
        a: Reg,
        imm: i32,
        to: Pc,
    },
    JumpGeImm {
        a: Reg,
        imm: i32,
        to: Pc,
    },
    JumpEqF {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpNeF {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpLtF {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpLeF {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// Unless less: taken for NaN, too.
    JumpNotLtF {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpNotLeF {
        a: Reg,
        b: Reg,
        to: Pc,
    },
    /// By [`Code::switches`].
    Switch {
        a: Reg,
        table: u32,
    },
    SwitchVal {
        va: Reg,
        table: u32,
    },

    LoadF {
        d: Reg,
        va: Reg,
        i: Reg,
    },
    LoadI {
        d: Reg,
        va: Reg,
        i: Reg,
    },
    LoadF2 {
        j: u16,
        d: Reg,
        va: Reg,
        i: Reg,
    },
    StoreF {
        a: Reg,
        va: Reg,
        i: Reg,
    },
    StoreI {
        a: Reg,
        va: Reg,
        i: Reg,
    },
    StoreF2 {
        j: u16,
        a: Reg,
        va: Reg,
        i: Reg,
    },
    /// Elements of arrays of any scalar type.
    LoadScalar {
        ty: Scalar,
        d: Reg,
        va: Reg,
        i: Reg,
    },
    LoadScalar2 {
        ty: Scalar,
        j: u16,
        d: Reg,
        va: Reg,
        i: Reg,
    },
    StoreScalar {
        ty: Scalar,
        a: Reg,
        va: Reg,
        i: Reg,
    },
    StoreScalar2 {
        ty: Scalar,
        j: u16,
        a: Reg,
        va: Reg,
        i: Reg,
    },
    Length {
        d: Reg,
        va: Reg,
    },
    /// Field `index`, from 0, of a tuple, named tuple or immutable struct.
    GetF {
        d: Reg,
        va: Reg,
        index: u32,
    },
    GetI {
        d: Reg,
        va: Reg,
        index: u32,
    },
    GetVal {
        vd: Reg,
        va: Reg,
        index: u32,
    },
    /// Any scalar field of a value or an object; the content of a ref is field 0.
    GetScalar {
        ty: Scalar,
        index: u16,
        d: Reg,
        va: Reg,
    },
    /// The type of the field is known to fit.
    SetScalar {
        ty: Scalar,
        index: u16,
        a: Reg,
        va: Reg,
    },
    SetVal {
        index: u16,
        vb: Reg,
        va: Reg,
    },

    /// A pure function of scalars by its index in the tables of [`scalar`](super::scalar).
    Unary {
        function: u16,
        d: Reg,
        a: Reg,
    },
    Binary {
        function: u16,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// Any other op on scalars: [`Code::scalar_sites`].
    Scalar {
        site: u32,
    },
    /// Any op, by its evaluation function: [`Code::evals`].
    Eval {
        site: u32,
    },
    /// By [`Code::calls`].
    Call {
        site: u32,
    },
    /// By [`Code::applies`].
    Apply {
        site: u32,
    },

    Return {
        a: Reg,
    },
    ReturnVal {
        va: Reg,
    },
    ReturnConst {
        index: u32,
    },
    ReturnUnit,
    /// Of what a tuple would be made of, by [`Code::evals`].
    ReturnTuple {
        site: u32,
    },
    Unreachable,
}

const _: () = assert!(size_of::<Inst>() == 16);

/// How an argument gets into the frame of the callee.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    /// To the next scalar parameter.
    Scalar(Reg),
    /// To the next other parameter.
    Val(Reg),
    Const(u32),
    Unit,
    Box(Scalar, Reg),
    /// To the next scalar parameter, if the value is of its type.
    Unbox(Scalar, Reg),
    /// To the next other parameter, if the value is of that type.
    Check(Reg, Type),
}

impl Arg {
    /// Whether it goes to a parameter that is no scalar.
    pub(crate) fn is_val(self) -> bool {
        !matches!(self, Self::Scalar(_) | Self::Unbox(..))
    }
}

#[derive(Debug)]
pub(crate) struct CallSite {
    /// The slot of the callee in the world.
    pub(crate) callee: u32,
    pub(crate) code: CodeCell,
    pub(crate) args: Box<[Arg]>,
    pub(crate) dst: Dst,
    /// The registers of the arguments, if all are scalars that are passed as they are.
    pub(crate) scalars: Option<Box<[Reg]>>,
    /// The scalar register that the result goes to as it is.
    pub(crate) direct: Option<Reg>,
    /// The type that the caller counts on, if it is more than what the callee says it returns.
    pub(crate) check: Option<Type>,
    /// Where the parts of the result go, by position from 0, if only they are used.
    pub(crate) parts: Option<Box<[(u32, Dst)]>>,
}

#[derive(Debug)]
pub(crate) struct ApplySite {
    /// The callee first.
    pub(crate) args: Box<[Src]>,
    pub(crate) dst: Dst,
    pub(crate) check: Option<Type>,
    /// As of a [`CallSite`].
    pub(crate) parts: Option<Box<[(u32, Dst)]>>,
    /// Whether arguments after the callee are collections to be spliced in.
    pub(crate) splat: bool,
    /// The function of that name is called, and not what the callee stands for: there was none
    /// when the code was compiled.
    pub(crate) by_name: Option<Symbol>,
    pub(crate) cache: SiteCache,
}

/// An op on scalars that has no instruction of its own.
#[derive(Debug)]
pub(crate) struct ScalarSite {
    pub(crate) op: Op,
    pub(crate) args: Box<[(Scalar, Reg)]>,
    pub(crate) ty: Scalar,
    pub(crate) d: Reg,
}

pub(crate) struct EvalSite {
    pub(crate) function: EvalFn,
    pub(crate) quick: Quick,
    pub(crate) def: &'static OpDef,
    pub(crate) args: Box<[Src]>,
    pub(crate) dst: Dst,
    /// The type of the result.
    pub(crate) ty: Type,
    pub(crate) attrs: Attrs,
}

/// The targets of a switch; a case that is not there goes to the default.
#[derive(Debug)]
pub(crate) struct SwitchTable {
    /// Sorted by the slot.
    pub(crate) scalars: Box<[(u64, Pc)]>,
    /// For a value that is no scalar in its register, in order.
    pub(crate) vals: Box<[(Val, Pc)]>,
    pub(crate) default: Pc,
}

/// A function in compact form.
pub(crate) struct Code {
    pub(crate) name: Symbol,
    pub(crate) insts: Box<[Inst]>,
    /// For each instruction, where it comes from.
    pub(crate) spots: Box<[(Value, Loc)]>,
    pub(crate) params: Box<[Type]>,
    pub(crate) ret: Type,
    /// The scalars that stand after the scalar parameters when a frame starts.
    pub(crate) scalars: Box<[u64]>,
    pub(crate) scalar_params: u32,
    /// The sizes of the register files.
    pub(crate) scalar_regs: u32,
    pub(crate) val_regs: u32,
    pub(crate) vals: Box<[Val]>,
    pub(crate) evals: Box<[EvalSite]>,
    pub(crate) scalar_sites: Box<[ScalarSite]>,
    pub(crate) calls: Box<[CallSite]>,
    pub(crate) applies: Box<[ApplySite]>,
    pub(crate) switches: Box<[SwitchTable]>,
}
