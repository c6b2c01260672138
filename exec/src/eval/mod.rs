//! The evaluation table: for each op, the function that computes it on values.
//!
//! Ops on typed scalars are computed by the functions that their declarations name; everything else,
//! and everything `any`, goes through this table. Anyone may register a function for an op.

mod ad;
mod context;
mod core;
mod data;
mod format;
mod linalg;
mod mem;
mod prof;
mod scalars;
mod shadows;
mod text;

use std::fmt;
use std::sync::LazyLock;

use regraft_dialects as dialects;
use regraft_ir::{Extension, Op, OpDef, OpTable};

pub use self::context::{EvalCx, EvalFn};

/// The way in which an op is run.
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
    /// The functions of the ops of `regraft-dialects` that have no `eval(..)`, or are defined for more
    /// than scalars.
    pub fn standard() -> Self {
        let mut table = Self::default();
        for op in [
            dialects::core::CALL,
            dialects::core::APPLY,
            dialects::core::SPLAT,
            dialects::core::TRY,
            dialects::cf::BR,
            dialects::cf::SWITCH,
            dialects::cf::RETURN,
            dialects::cf::UNREACHABLE,
        ] {
            table.rows.insert(op, EvalRow::Control);
        }
        let rows: [(Op, EvalFn); 105] = [
            (dialects::core::TUPLE, core::tuple),
            (dialects::core::GET, core::get),
            (dialects::core::SELECT, core::select),
            (dialects::core::CONVERT, core::convert),
            (dialects::core::TYPEASSERT, core::typeassert),
            (dialects::core::ISA, core::isa),
            (dialects::core::TYPEOF, core::type_of),
            (dialects::core::SAME, core::same),
            (dialects::core::THROW, core::throw),
            (dialects::core::RETHROW, core::rethrow),
            (dialects::core::CAUGHT, core::caught),
            (dialects::core::BACKTRACE, core::backtrace),
            (dialects::core::HOST, core::host),
            (dialects::core::PRINT, core::print),
            (dialects::core::PRINTLN, core::println),
            (dialects::core::STRING, core::string),
            (dialects::core::HASH, core::hash),
            (dialects::core::SHOWN, core::shown),
            (dialects::text::LENGTH, text::length),
            (dialects::text::BYTE, text::byte),
            (dialects::text::CHAR, text::char_at),
            (dialects::text::SLICE, text::slice),
            (dialects::text::FIND, text::find),
            (dialects::text::FIND_LAST, text::find_last),
            (dialects::text::COMPARE, text::compare),
            (dialects::text::OF_CHAR, text::of_char),
            (dialects::text::JOIN, text::join),
            (dialects::text::CHANGE, text::change),
            (dialects::text::CLASS, text::class),
            (dialects::text::NUMBER, text::number),
            (dialects::text::FORMAT, text::format),
            (dialects::text::MATCH, text::find_match),
            (dialects::text::GROUP_NAMES, text::group_names),
            (dialects::core::GLOBAL, core::global),
            (dialects::core::SET_GLOBAL, core::set_global),
            (dialects::core::STATIC, core::lowered_only),
            (dialects::core::CLOSURE, core::lowered_only),
            (dialects::core::UNDEF, core::undef),
            (dialects::data::NAMED, data::named),
            (dialects::data::NEW, data::new),
            (dialects::data::NEW_OBJECT, data::new),
            (dialects::data::GETFIELD, data::getfield),
            (dialects::data::SETFIELD, data::setfield),
            (dialects::data::FIELDCOUNT, data::fieldcount),
            (dialects::data::HASFIELD, data::hasfield),
            (dialects::mem::ALLOC, mem::alloc),
            (dialects::mem::FILL, mem::fill),
            (dialects::mem::ARRAY, mem::array),
            (dialects::mem::LOAD, mem::load),
            (dialects::mem::STORE, mem::store),
            (dialects::mem::LOAD_PART, mem::load_part),
            (dialects::mem::STORE_PART, mem::store_part),
            (dialects::mem::LENGTH, mem::length),
            (dialects::mem::SIZE, mem::size),
            (dialects::mem::SHAPE, mem::shape),
            (dialects::mem::RANK, mem::rank),
            (dialects::mem::RESIZE, mem::resize),
            (dialects::mem::PUSH, mem::push),
            (dialects::mem::POP, mem::pop),
            (dialects::mem::PUSH_PARTS, mem::push_parts),
            (dialects::mem::LAST_PART, mem::last_part),
            (dialects::mem::COPY, mem::copy),
            (dialects::mem::COPYTO, mem::copyto),
            (dialects::mem::PROBE, mem::probe),
            (dialects::mem::INDEX_ENTRIES, mem::index_entries),
            (dialects::mem::FILL_IN_PLACE, mem::fill_in_place),
            (dialects::mem::MAP, mem::map),
            (dialects::mem::REF_NEW, mem::ref_new),
            (dialects::mem::REF_GET, mem::ref_get),
            (dialects::mem::REF_SET, mem::ref_set),
            (dialects::linalg::PRODUCT, linalg::product),
            (dialects::linalg::ADD_PRODUCT, linalg::add_product),
            (dialects::linalg::SOLVE_TRIANGULAR, linalg::solve_triangular),
            (dialects::linalg::LU, linalg::lu),
            (dialects::linalg::CHOLESKY, linalg::cholesky),
            (dialects::linalg::QR, linalg::qr),
            (dialects::linalg::EIGEN_SYMMETRIC, linalg::eigen_symmetric),
            (dialects::linalg::EIGEN_HERMITIAN, linalg::eigen_hermitian),
            (dialects::linalg::SCHUR, linalg::schur),
            (dialects::linalg::SVD, linalg::svd),
            (dialects::prof::RECORD_START, prof::record_start),
            (dialects::prof::RECORD_END, prof::record_end),
            (dialects::prof::RESET, prof::reset),
            (dialects::prof::RESIZE, prof::resize),
            (dialects::prof::REPORT, prof::report),
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
        for (op, function) in rows {
            table.register(op, function);
        }
        table
    }

    /// Says how an op is evaluated; the row that it had is returned.
    pub fn register(&mut self, op: Op, function: EvalFn) -> Option<EvalRow> {
        self.rows.insert(op, EvalRow::Function(function))
    }

    /// The row of an op. One that has none is evaluated as its declaration says, if it has an
    /// `eval(..)`.
    pub fn get(&self, def: &OpDef) -> Option<EvalRow> {
        let declared = def.eval.map(|_| EvalRow::Function(scalars::scalar));
        self.rows.get(def.op).copied().or(declared)
    }
}
