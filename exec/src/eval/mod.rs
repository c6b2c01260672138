//! Evaluation functions: for each op, what it does with values.
//!
//! The interpreter runs typed scalars by instructions of its own; everything else, and everything
//! `any`, goes through this table. Anyone may register a function for an op.

mod ad;
mod core;
mod data;
mod mem;
mod prof;
mod scalars;
mod shadows;

use std::fmt;
use std::sync::LazyLock;

use regraft_dialects as dialects;
use regraft_ir::{Attrs, Constant, Context, Extension, Op, OpDef, OpTable, Type};

use crate::error::Trap;
use crate::host::Host;
use crate::value::{Fields, Texts, Val};

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

    /// How values and types read in output and errors.
    pub fn texts(&self) -> Texts<'_> {
        self.host.texts(self.ctx)
    }

    /// Checks that a tuple, struct or ref of so many fields may be made.
    ///
    /// # Errors
    /// If it would exceed the memory limit.
    pub fn reserve_fields(&self, count: usize) -> Result<(), Trap> {
        self.host.reserve(size_of::<Fields>() + count * size_of::<Val>())
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

impl Extension for EvalTable {
    fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<EvalTable> = LazyLock::new(EvalTable::standard);
        &BUILTIN
    }
}

impl EvalTable {
    /// The functions of all ops of `regraft-dialects`.
    pub fn standard() -> Self {
        let mut table = Self::default();
        for op in [
            dialects::core::CALL,
            dialects::core::APPLY,
            dialects::core::SPLAT,
            dialects::cf::BR,
            dialects::cf::SWITCH,
            dialects::cf::RETURN,
            dialects::cf::UNREACHABLE,
        ] {
            table.rows.insert(op, EvalRow::Control);
        }
        for dialect in [&dialects::arith::DIALECT, &dialects::math::DIALECT] {
            for def in dialect.ops {
                table.register(def.op, scalars::scalar);
            }
        }
        let core: [(Op, EvalFn); 17] = [
            (dialects::core::TUPLE, core::tuple),
            (dialects::core::GET, core::get),
            (dialects::core::SELECT, core::select),
            (dialects::core::CONVERT, core::convert),
            (dialects::core::TYPEASSERT, core::typeassert),
            (dialects::core::ISA, core::isa),
            (dialects::core::TYPEOF, core::type_of),
            (dialects::core::SAME, core::same),
            (dialects::core::THROW, core::throw),
            (dialects::core::PRINT, core::print),
            (dialects::core::PRINTLN, core::println),
            (dialects::core::STRING, core::string),
            (dialects::core::GLOBAL, core::global),
            (dialects::core::SET_GLOBAL, core::set_global),
            (dialects::core::STATIC, core::lowered_only),
            (dialects::core::CLOSURE, core::lowered_only),
            (dialects::core::UNDEF, core::undef),
        ];
        let data: [(Op, EvalFn); 7] = [
            (dialects::data::NAMED, data::named),
            (dialects::data::NEW, data::new),
            (dialects::data::NEW_OBJECT, data::new),
            (dialects::data::GETFIELD, data::getfield),
            (dialects::data::SETFIELD, data::setfield),
            (dialects::data::FIELDCOUNT, data::fieldcount),
            (dialects::data::HASFIELD, data::hasfield),
        ];
        let mem: [(Op, EvalFn); 18] = [
            (dialects::mem::ALLOC, mem::alloc),
            (dialects::mem::FILL, mem::fill),
            (dialects::mem::ARRAY, mem::array),
            (dialects::mem::LOAD, mem::load),
            (dialects::mem::STORE, mem::store),
            (dialects::mem::LENGTH, mem::length),
            (dialects::mem::SIZE, mem::size),
            (dialects::mem::SHAPE, mem::shape),
            (dialects::mem::RANK, mem::rank),
            (dialects::mem::RESIZE, mem::resize),
            (dialects::mem::PUSH, mem::push),
            (dialects::mem::POP, mem::pop),
            (dialects::mem::COPY, mem::copy),
            (dialects::mem::COPYTO, mem::copyto),
            (dialects::mem::FILL_IN_PLACE, mem::fill_in_place),
            (dialects::mem::REF_NEW, mem::ref_new),
            (dialects::mem::REF_GET, mem::ref_get),
            (dialects::mem::REF_SET, mem::ref_set),
        ];
        let prof: [(Op, EvalFn); 5] = [
            (dialects::prof::RECORD_START, prof::record_start),
            (dialects::prof::RECORD_END, prof::record_end),
            (dialects::prof::RESET, prof::reset),
            (dialects::prof::RESIZE, prof::resize),
            (dialects::prof::REPORT, prof::report),
        ];
        let ad: [(Op, EvalFn); 20] = [
            (dialects::ad::ZERO, ad::zero),
            (dialects::ad::SHADOW, ad::shadow),
            (dialects::ad::COTANGENT, ad::cotangent),
            (dialects::ad::JOIN, ad::join),
            (dialects::ad::ADD, ad::add),
            (dialects::ad::UNBOX, ad::unbox),
            (dialects::ad::ACCUMULATE, ad::accumulate),
            (dialects::ad::CLEAR, ad::clear),
            (dialects::ad::COPY, ad::copy),
            (dialects::ad::IGNORE, ad::ignore),
            (dialects::ad::GLOBAL_SHADOW, ad::global_shadow),
            (dialects::ad::BEGIN, ad::begin),
            (dialects::ad::END, ad::end),
            (dialects::ad::TOTAL, shadows::total),
            (dialects::ad::UNCOPY, shadows::uncopy),
            (dialects::ad::SPREAD, shadows::spread),
            (dialects::ad::RECOPY, shadows::recopy),
            (dialects::ad::SLOT, shadows::slot),
            (dialects::ad::SET_SLOT, shadows::set_slot),
            (dialects::ad::PUT_BACK, shadows::put_back),
        ];
        for (op, function) in core.into_iter().chain(data).chain(mem).chain(prof).chain(ad) {
            table.register(op, function);
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
