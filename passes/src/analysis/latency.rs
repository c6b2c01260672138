//! The time that ops take, in cycles from operands to result, as a table.
//!
//! The figures are those of a present 64-bit core with vector units (Fog, "Instruction tables"; for
//! elementary functions, the length of the usual polynomial kernels). They decide between programs
//! with the same result, so that only their order matters. An op without a row of its own takes
//! one cycle.
//!
//! ```
//! use regraft_dialects::{arith, math};
//! use regraft_ir::{Extensions, Type};
//! use regraft_passes::analysis::Latencies;
//!
//! let extensions = Extensions::default();
//! let latencies = extensions.get::<Latencies>();
//! assert!(latencies.of(arith::FDIV, Type::F64) > latencies.of(arith::MUL, Type::F64));
//! assert!(latencies.of(math::SIN, Type::F64) > latencies.of(arith::FDIV, Type::F64));
//! ```

use std::sync::LazyLock;

use regraft_dialects::{ad, arith, math, mem};
use regraft_ir::{Extension, Op, OpTable, Type};

/// The greatest loop depth that costs are told apart by.
const MAX_LOOP_DEPTH: u32 = 8;

/// The time that an op takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Latency {
    /// For results that are integers or bools.
    int: u32,
    /// For all others.
    float: u32,
}

/// The latencies of ops.
#[derive(Clone, Debug, Default)]
pub struct Latencies(OpTable<Latency>);

impl Extension for Latencies {
    fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Latencies> = LazyLock::new(builtin);
        &BUILTIN
    }
}

impl Latencies {
    /// The cycles that an op with a result of type `ty` takes.
    #[inline]
    pub fn of(&self, op: Op, ty: Type) -> u32 {
        let row = self.0.get(op);
        row.map_or(1, |row| if ty.is_int() || ty == Type::BOOL { row.int } else { row.float })
    }

    /// The cycles that an op takes at this loop depth: eight times as many for each loop around it.
    #[inline]
    pub(crate) fn in_loops(&self, op: Op, ty: Type, depth: u32) -> u64 {
        u64::from(self.of(op, ty)) << (3 * depth.min(MAX_LOOP_DEPTH))
    }

    /// Says how many cycles an op takes, whatever its type.
    pub fn set(&mut self, op: Op, cycles: u32) {
        self.0.insert(op, Latency { int: cycles, float: cycles });
    }
}

/// Simple arithmetic on floats.
const FLOAT: u32 = 4;
/// A division of floats.
const FLOAT_DIVISION: u32 = 13;
/// A division of integers.
const DIVISION: u32 = 18;
/// An access to memory that is in the cache.
const MEMORY: u32 = 4;
/// An elementary function.
const FUNCTION: u32 = 40;

fn builtin() -> Latencies {
    let mut table = Latencies::default();
    for def in math::DIALECT.ops {
        table.set(def.op, FUNCTION);
    }
    for op in [arith::ADD, arith::SUB] {
        table.0.insert(op, Latency { int: 1, float: FLOAT });
    }
    table.0.insert(arith::MUL, Latency { int: 3, float: FLOAT });
    for op in [arith::FMA, arith::INT_TO_FLOAT, arith::FLOAT_TO_INT, arith::FLOAT_CAST] {
        table.set(op, FLOAT);
    }
    for op in [arith::FLOOR, arith::CEIL, arith::ROUND, arith::TRUNC] {
        table.set(op, 8);
    }
    // A product, two comparisons and a choice.
    table.set(arith::MULZ, FLOAT + 3);
    table.set(arith::FDIV, FLOAT_DIVISION);
    table.set(math::SQRT, FLOAT_DIVISION + 3);
    for op in [arith::DIV, arith::REM, arith::FLD, arith::CLD, arith::MOD] {
        table.set(op, DIVISION);
    }
    for op in [arith::FREM, arith::FLOOR_MOD] {
        table.set(op, 2 * DIVISION);
    }
    table.set(arith::POWI, 3 * FLOAT);
    table.set(math::POWI, 3 * FLOAT);
    for op in mem::DIALECT.ops {
        table.set(op.op, MEMORY);
    }
    for op in [ad::ADD, ad::JOIN, ad::UNBOX, ad::SHADOW, ad::COTANGENT] {
        table.set(op, 3 * FLOAT);
    }
    for op in [math::POW, math::GAMMA, math::LOGGAMMA, math::BETA, math::POLYGAMMA] {
        table.set(op, 2 * FUNCTION);
    }
    table
}
