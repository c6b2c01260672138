//! The compact form that functions are run in: a register machine.
//!
//! A function has two register files. Typed scalars (bool, integers, floats) are 8-byte slots
//! without a tag: integers sign-extended to 64 bits, bools as 0 and 1, an `f32` in the low half.
//! Everything else is a [`Val`] of the other file. Instructions name registers by their number in
//! the frame.

use std::cell::{Cell, OnceCell, RefCell};
use std::mem::Discriminant;
use std::sync::Arc;

use regraft_ir::{Attrs, Loc, Op, OpDef, Symbol, Type, Value};
use smallvec::SmallVec;

use super::inst::{Arg, Inst, Pc};
use super::link::Callee;
use super::quick::Quick;
use super::register::{Class, Dst, Reg, Scalar, Src};
use super::workers::Kernel;
use crate::eval::EvalFn;
use crate::native::Native;
use crate::value::Val;

#[derive(Debug)]
pub(crate) struct CallSite {
    /// The slot of the callee in the world.
    pub(crate) callee: u32,
    pub(crate) code: CodeCell,
    pub(crate) args: Box<[Arg]>,
    pub(crate) dst: Dst,
    /// The registers of the arguments, if all are scalars that are passed as they are.
    pub(crate) scalars: Option<Box<[Reg]>>,
    /// The register that the result goes to as it is, of the kind that the callee returns, or
    /// [`NOWHERE`](super::register::NOWHERE).
    pub(crate) direct: Option<Reg>,
    /// The type that the caller counts on, if it is more than what the callee says it returns.
    pub(crate) check: Option<Type>,
    /// The places that the parts of the result go to, by position from 0, if only they are used.
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
    /// True if arguments after the callee are collections to be spliced in.
    pub(crate) splat: bool,
    /// The function of that name is called, and not what the callee stands for: there was none
    /// when the code was compiled.
    pub(crate) by_name: Option<Symbol>,
    /// True if there was no method for the arguments when the code was compiled: one that was added since is too new.
    pub(crate) fails: bool,
    pub(crate) cache: InlineCache,
}

/// A function of up to three slots: [`ScalarFn::call`](regraft_ir::ScalarFn::call).
pub(crate) type SlotFn = fn(u64, u64, u64) -> Result<u64, regraft_ir::Trap>;

/// An op on scalars, and the function that computes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarOp {
    pub(crate) call: SlotFn,
    pub(crate) op: Op,
    /// The type of the first operand.
    pub(crate) ty: Scalar,
    pub(crate) operands: u8,
    pub(crate) result: Scalar,
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
    /// The slot of the function in the world.
    pub(crate) slot: u32,
    pub(crate) native: Cell<Native>,
    /// The form of it that the interpreter runs, if that is another one.
    pub(super) interpreted: CodeCell,
    /// The way into its native code for other code, if it may be replaced while that runs.
    pub(crate) body: Cell<*const u8>,
    pub(crate) insts: Box<[Inst]>,
    /// For each instruction, where it comes from.
    pub(crate) spots: Box<[(Value, Loc)]>,
    pub(crate) params: Box<[Type]>,
    pub(crate) ret: Type,
    /// The scalars that stand after the scalar parameters when a frame starts.
    pub(crate) scalars: Box<[u64]>,
    pub(crate) scalar_params: u32,
    /// By scalar register.
    pub(crate) classes: Box<[Class]>,
    /// The sizes of the register files.
    pub(crate) scalar_regs: u32,
    pub(crate) val_regs: u32,
    /// The most arguments of a call that are no scalars.
    pub(crate) val_args: u32,
    pub(crate) vals: Box<[Val]>,
    pub(crate) evals: Box<[EvalSite]>,
    pub(crate) functions: Box<[ScalarOp]>,
    pub(crate) calls: Box<[CallSite]>,
    pub(crate) applies: Box<[ApplySite]>,
    pub(crate) switches: Box<[SwitchTable]>,
    /// Of a function that runs in chunks.
    pub(crate) chunks: Option<ChunkSite>,
}

impl Code {
    /// The constant that a scalar register holds when a frame starts, and ever after.
    pub(crate) fn constant_in(&self, reg: Reg) -> Option<u64> {
        self.scalars.get(reg.checked_sub(self.scalar_params)? as usize).copied()
    }

    /// The values that there is room for while native code runs: those in registers, and behind them the arguments of a call,
    /// or what one returns.
    #[inline]
    pub(crate) fn native_vals(&self) -> usize {
        self.val_regs as usize + self.val_args.max(1) as usize
    }
}

/// The kernel of a function that runs in chunks.
#[derive(Debug)]
pub(crate) struct ChunkSite {
    /// The slot of the kernel.
    pub(crate) kernel: u32,
    /// The position of its call.
    pub(crate) call: Pc,
    /// The type of what it gives.
    pub(crate) element: Type,
    /// The kernel as other threads run it, once that was asked for.
    pub(super) shared: OnceCell<Option<Arc<Kernel>>>,
}

/// The code that a direct call goes to, once it has been there.
#[derive(Debug, Default)]
pub(crate) struct CodeCell(pub(super) Cell<Option<*const Code>>);

impl CodeCell {
    /// Remembers code of the world that this site is of.
    pub(super) fn set(&self, code: &Code) {
        self.0.set(Some(code));
    }

    pub(super) fn clear(&self) {
        self.0.set(None);
    }
}

/// The inline cache of a call site: the functions that its last calls ran.
#[derive(Debug, Default)]
pub(crate) struct InlineCache(pub(super) RefCell<SmallVec<[CacheEntry; 1]>>);

#[derive(Debug)]
pub(crate) struct CacheEntry {
    pub(super) callee: Callee,
    /// One for each argument.
    pub(super) tests: Box<[Test]>,
    pub(super) code: CodeCell,
    /// True if the code can be run in place.
    pub(super) leaf: bool,
    /// The ways in which the parameters of the function get their values.
    pub(super) args: Box<[Arg]>,
    /// The arguments that are packed into a tuple, which is the last parameter.
    pub(super) rest: Option<Box<[Src]>>,
}

/// True if a value is of the type that an answer was for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// The code says it.
    Always,
    Variant(Discriminant<Val>),
    Type(Type),
}
