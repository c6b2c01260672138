//! Evaluation functions, and the things that they see.

use std::fmt;

use regraft_ir::{Attrs, Constant, Context, OpDef, Type};

use crate::error::Trap;
use crate::host::Host;
use crate::value::{Texts, Val};

/// Evaluates an op on the values of its operands. The result has to be of type
/// [`EvalCx::ty`]; if it is not, the program stops with an error that names the op.
pub type EvalFn = fn(&mut EvalCx<'_>, &[Val]) -> Result<Val, Trap>;

/// The things that an evaluation function can see beside the operands.
pub struct EvalCx<'a> {
    /// The context of types and names.
    pub ctx: &'a Context,
    /// The declaration of the op.
    pub def: &'static OpDef,
    /// The type of the result.
    pub ty: Type,
    /// The attributes of the instruction.
    pub attrs: Attrs,
    /// Output, clock, profiler, memory.
    pub host: &'a mut Host,
}

impl EvalCx<'_> {
    /// An attribute of the instruction.
    pub fn attr(&self, name: &str) -> Option<Constant> {
        self.ctx.attr(self.attrs, name).map(|c| self.ctx.constant(c))
    }

    /// The texts of values and types in output and errors.
    pub fn texts(&self) -> Texts<'_> {
        self.host.texts(self.ctx)
    }

    /// Checks that a tuple, struct or ref of so many fields may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit.
    pub fn reserve_fields(&self, count: usize) -> Result<(), Trap> {
        self.host.reserve_fields(count)
    }

    /// A type error that names the op and what it was given.
    #[cold]
    pub fn wrong_types(&self, args: &[Val]) -> Trap {
        let types: Vec<String> = args.iter().map(|arg| self.texts().type_of(arg)).collect();
        let name = self.def.mnemonic();
        Trap::type_error(format!("`{name}` does not work on {}", types.join(", ")))
    }
}

impl fmt::Debug for EvalCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evaluation of {}", self.def.name)
    }
}
