//! What is known of the derivative of each op of every dialect.

use std::sync::LazyLock;

use regraft_dialects::{ad, arith, cf, core, data, mem, prof};
use regraft_ir::{Op, OpTable};

use super::{ScalarRule, ScalarRules};

/// What is known of the derivative of an op.
#[derive(Clone, Copy, Debug)]
pub enum Derivative<'a> {
    /// An op on floats with a rule.
    Scalar(&'a ScalarRule),
    /// Differentiation knows it: it moves values or objects around, calls, or says where to go.
    Structural,
    /// The result has no derivative, or is constant as far as derivatives go; so the op stays as
    /// it is.
    None,
    /// It is not known how to compute it, and why: a sentence without a full stop.
    NotImplemented(&'a str),
}

/// A row for what has no rule.
#[derive(Clone, Copy, Debug)]
enum Row {
    Structural,
    None,
    NotImplemented(&'static str),
}

/// What is known of the derivative of `op`, by these rules; `None` for an op of a dialect that
/// differentiation does not know and without a rule.
pub fn derivative(rules: &ScalarRules, op: Op) -> Option<Derivative<'_>> {
    if let Some(rule) = rules.get(op) {
        return Some(Derivative::Scalar(rule));
    }
    static TABLE: LazyLock<OpTable<Row>> = LazyLock::new(table);
    Some(match *TABLE.get(op)? {
        Row::Structural => Derivative::Structural,
        Row::None => Derivative::None,
        Row::NotImplemented(why) => Derivative::NotImplemented(why),
    })
}

fn table() -> OpTable<Row> {
    let mut table = OpTable::new();
    let mut add = |row: Row, ops: &[Op]| {
        for &op in ops {
            table.insert(op, row);
        }
    };
    add(Row::Structural, STRUCTURAL);
    add(Row::None, CONSTANT);
    let bits = "the bits of a float taken as another value have no derivative";
    add(Row::NotImplemented(bits), &[arith::BITCAST]);
    let lowered = "it only occurs in lowered code, which is not differentiated";
    add(Row::NotImplemented(lowered), &[core::STATIC, core::CLOSURE]);
    table
}

const STRUCTURAL: &[Op] = &[
    // Between the two float types; `core.convert` likewise, and between others.
    arith::FLOAT_CAST,
    core::CALL,
    core::APPLY,
    core::SPLAT,
    core::TUPLE,
    core::GET,
    core::SELECT,
    core::CONVERT,
    core::TYPEASSERT,
    core::THROW,
    core::GLOBAL,
    core::SET_GLOBAL,
    core::UNDEF,
    cf::BR,
    cf::SWITCH,
    cf::RETURN,
    cf::UNREACHABLE,
    data::NAMED,
    data::NEW,
    data::NEW_OBJECT,
    data::GETFIELD,
    data::SETFIELD,
    mem::ALLOC,
    mem::FILL,
    mem::ARRAY,
    mem::LOAD,
    mem::STORE,
    mem::RESIZE,
    mem::PUSH,
    mem::POP,
    mem::COPY,
    mem::COPYTO,
    mem::FILL_IN_PLACE,
    mem::REF_NEW,
    mem::REF_GET,
    mem::REF_SET,
    ad::ZERO,
    ad::SHADOW,
    ad::COTANGENT,
    ad::JOIN,
    ad::ADD,
    ad::UNBOX,
    ad::ACCUMULATE,
    ad::CLEAR,
    ad::COPY,
    ad::GLOBAL_SHADOW,
    ad::BEGIN,
    ad::END,
    ad::TOTAL,
    ad::SPREAD,
    ad::UNCOPY,
    ad::RECOPY,
    ad::SLOT,
    ad::SET_SLOT,
    ad::PUT_BACK,
];

const CONSTANT: &[Op] = &[
    arith::DIV,
    arith::REM,
    arith::FLD,
    arith::CLD,
    arith::MOD,
    arith::EQ,
    arith::NE,
    arith::LT,
    arith::LE,
    arith::GT,
    arith::GE,
    arith::AND,
    arith::OR,
    arith::XOR,
    arith::NOT,
    arith::SHL,
    arith::SHR,
    arith::ASHR,
    arith::CLZ,
    arith::CTZ,
    arith::POPCOUNT,
    arith::BITREVERSE,
    arith::BSWAP,
    arith::CHECKED_ADD,
    arith::CHECKED_SUB,
    arith::CHECKED_MUL,
    arith::POWI,
    arith::SIGNBIT,
    arith::ISNAN,
    arith::ISINF,
    arith::ISFINITE,
    arith::WRAP,
    arith::SEXT,
    arith::ZEXT,
    arith::INT_TO_FLOAT,
    arith::FLOAT_TO_INT,
    arith::FLOAT_TO_INT_SAT,
    core::ISA,
    core::TYPEOF,
    core::SAME,
    core::PRINT,
    core::PRINTLN,
    core::STRING,
    data::FIELDCOUNT,
    data::HASFIELD,
    mem::LENGTH,
    mem::SIZE,
    mem::SHAPE,
    mem::RANK,
    prof::RECORD_START,
    prof::RECORD_END,
    prof::RESET,
    prof::RESIZE,
    prof::REPORT,
    // Says so itself.
    ad::IGNORE,
];
