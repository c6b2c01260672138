//! Evaluation functions: for each op, what it does with values.
//!
//! The interpreter runs typed scalars by instructions of its own; everything else, and everything
//! `any`, goes through this table. Anyone may register a function for an op.

use std::fmt;

use regraft_ir::{Attrs, Constant, Context, Op, OpDef, OpTable, Type};

use crate::error::Trap;
use crate::host::Host;
use crate::value::Val;

/// Evaluates an op on the values of its operands. The result has to be of type
/// [`EvalCx::ty`]; if it is not, the program stops with an error that names the op.
pub type EvalFn = fn(&mut EvalCx<'_>, &[Val]) -> Result<Val, Trap>;

/// What an evaluation function can see beside the operands.
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

    /// A type error that names the op and what it was given.
    #[cold]
    pub fn wrong_types(&self, args: &[Val]) -> Trap {
        let types: Vec<String> =
            args.iter().map(|arg| self.ctx.type_text(arg.type_of(self.ctx))).collect();
        let name = self.def.mnemonic();
        Trap::type_error(format!("`{name}` does not work on {}", types.join(", ")))
    }
}

impl fmt::Debug for EvalCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evaluation of {}", self.def.name)
    }
}

/// How an op is run.
#[derive(Clone, Copy)]
pub enum EvalRow {
    /// By a function of the values of its operands.
    Function(EvalFn),
    /// It changes control (it branches, calls or returns): engines know it themselves.
    Control,
}

impl fmt::Debug for EvalRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Function(_) => "function",
            Self::Control => "control",
        })
    }
}

/// The evaluation functions of ops.
#[derive(Clone, Debug, Default)]
pub struct EvalTable {
    rows: OpTable<EvalRow>,
}

impl EvalTable {
    /// The functions of all ops of `regraft-dialects`.
    pub fn standard() -> Self {
        let mut table = Self::default();
        for op in [
            regraft_dialects::core::CALL,
            regraft_dialects::core::APPLY,
            regraft_dialects::core::SPLAT,
            regraft_dialects::cf::BR,
            regraft_dialects::cf::SWITCH,
            regraft_dialects::cf::RETURN,
            regraft_dialects::cf::UNREACHABLE,
        ] {
            table.rows.insert(op, EvalRow::Control);
        }
        table
    }

    /// Says how an op is evaluated; the row that it had is returned.
    pub fn register(&mut self, op: Op, function: EvalFn) -> Option<EvalRow> {
        self.rows.insert(op, EvalRow::Function(function))
    }

    /// The row of an op.
    pub fn get(&self, op: Op) -> Option<EvalRow> {
        self.rows.get(op).copied()
    }
}
