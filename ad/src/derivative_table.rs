//! Everything that is known of the derivatives of ops: a row for each op of every dialect.

use std::sync::{Arc, LazyLock};

use regraft_dialects::{ad, arith, cf, core, data, mem, prof};
use regraft_ir::{Diagnostic, Extension, Op, OpTable, Registry};

use crate::flow::Flow;
use crate::op_derivative::OpDerivative;
use crate::rules::{ScalarRule, ScalarRules};

/// The derivative of an op.
#[derive(Clone, Copy, Debug)]
pub enum Derivative<'a> {
    /// An op on floats with a rule.
    Scalar(&'a ScalarRule),
    /// Functions write it.
    Written(&'a OpDerivative),
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
    Written(OpDerivative),
    Structural,
    None,
    NotImplemented(&'static str),
}

/// The derivatives of ops.
///
/// The table of a program is an extension of its context. To it, anyone adds what is known of ops
/// of their own, or says otherwise of those that are there.
///
/// ```
/// use std::sync::Arc;
/// use regraft_ad::DerivativeTable;
/// use regraft_dialects::math;
///
/// let mut extensions = regraft_ad::extensions();
/// let ops = Arc::clone(extensions.ops());
/// let table: &mut DerivativeTable = extensions.edit();
/// let text = "d math.tanh(x) = 1 / (cosh(x) * cosh(x))";
/// assert!(table.add_rules(&ops, "mine.rules", text).is_ok());
/// let needs = table.rule(math::TANH).unwrap().partial(0).unwrap().needs();
/// assert!(needs.operand(0) && !needs.result);
/// ```
#[derive(Clone, Debug)]
pub struct DerivativeTable {
    rules: ScalarRules,
    rows: OpTable<Row>,
}

impl Extension for DerivativeTable {
    fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<DerivativeTable> = LazyLock::new(|| DerivativeTable {
            rules: ScalarRules::clone(&ScalarRules::standard()),
            rows: rows(),
        });
        &BUILTIN
    }
}

impl DerivativeTable {
    /// The derivative of `op`; not implemented if there is no row. O(1).
    pub fn get(&self, op: Op) -> Derivative<'_> {
        let unknown = "nothing is known of the derivative of this op";
        self.find(op).unwrap_or(Derivative::NotImplemented(unknown))
    }

    /// The row of `op`. O(1).
    pub fn find(&self, op: Op) -> Option<Derivative<'_>> {
        if let Some(rule) = self.rules.get(op) {
            return Some(Derivative::Scalar(rule));
        }
        Some(match self.rows.get(op)? {
            Row::Written(derivative) => Derivative::Written(derivative),
            Row::Structural => Derivative::Structural,
            Row::None => Derivative::None,
            Row::NotImplemented(why) => Derivative::NotImplemented(why),
        })
    }

    /// The flow of derivatives through `op`. O(1).
    pub(crate) fn flow(&self, op: Op) -> Flow {
        match self.get(op) {
            Derivative::Structural => structural_flow(op),
            Derivative::Written(_) => Flow::Computed,
            // Said when code is made.
            Derivative::NotImplemented(_) => Flow::Value,
            Derivative::Scalar(_) | Derivative::None => Flow::None,
        }
    }

    /// The rule of an op on floats.
    pub fn rule(&self, op: Op) -> Option<&ScalarRule> {
        self.rules.get(op)
    }

    /// Adds rules for ops on floats, in place of what there is for the same ops. `ops` are those
    /// that the text may name, and `name` is what errors call it.
    ///
    /// # Errors
    /// Everything that is wrong with the text; then no rule is added.
    pub fn add_rules(
        &mut self,
        ops: &Arc<Registry>,
        name: &str,
        text: &str,
    ) -> Result<(), Vec<Diagnostic>> {
        self.rules.add(ops, name, text)
    }

    /// Lets functions write the derivative of an op.
    pub fn add(&mut self, op: Op, derivative: OpDerivative) {
        self.set(op, Row::Written(derivative));
    }

    /// Says that an op has no derivative: its result is constant, and it puts nothing that has a
    /// derivative anywhere.
    pub fn add_constant(&mut self, op: Op) {
        self.set(op, Row::None);
    }

    fn set(&mut self, op: Op, row: Row) {
        self.rules.remove(op);
        self.rows.insert(op, row);
    }
}

fn rows() -> OpTable<Row> {
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

fn structural_flow(op: Op) -> Flow {
    match op {
        mem::STORE | mem::PUSH | mem::REF_SET | mem::FILL_IN_PLACE => {
            Flow::Into { object: 0, value: 1 }
        }
        data::SETFIELD => Flow::Into { object: 0, value: 2 },
        mem::COPYTO => Flow::Elements { object: 0, source: 1, shares: true },
        // What is added to a shadow becomes no part of it.
        ad::ACCUMULATE | ad::SPREAD | ad::RECOPY => {
            Flow::Elements { object: 0, source: 1, shares: false }
        }
        ad::SET_SLOT | ad::PUT_BACK => Flow::Into { object: 0, value: 1 },
        ad::UNCOPY => Flow::Elements { object: 1, source: 0, shares: false },
        mem::LOAD | mem::REF_GET | mem::POP | ad::TOTAL => Flow::Read,
        mem::FILL | mem::ARRAY | mem::REF_NEW | data::NEW_OBJECT => Flow::New,
        data::GETFIELD => Flow::Field,
        mem::COPY => Flow::Copy,
        ad::COPY => Flow::Fresh,
        ad::SHADOW | ad::SLOT => Flow::Objects,
        core::GLOBAL => Flow::Global,
        core::THROW
        | core::SET_GLOBAL
        | core::UNDEF
        | mem::ALLOC
        | mem::RESIZE
        | ad::ZERO
        | ad::CLEAR
        | cf::UNREACHABLE => Flow::None,
        _ => Flow::Value,
    }
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
