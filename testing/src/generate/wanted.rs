//! The ops that statements are made of.

use regraft_ad::DerivativeTable;
use regraft_dialects::{arith, core, math, mem};
use regraft_exec::EvalTable;
use regraft_ir::{Extensions, Op, OpDef, Traits};

use super::Config;

/// Ops that have a derivative only in a sense that differences do not share, or none.
const LEFT_OUT: [Op; 13] = [
    arith::BITCAST,
    arith::FLOAT_CAST,
    arith::FLOAT_TO_INT,
    arith::FREM,
    arith::FLOOR_MOD,
    math::ERFCINV,
    math::TRIGAMMA,
    core::APPLY,
    core::SPLAT,
    core::TYPEOF,
    core::STRING,
    core::PRINT,
    mem::MAP,
];

/// Returns whether statements may be made of an op.
pub(super) fn is_wanted(config: &Config, def: &OpDef) -> bool {
    if def.is_terminator() || config.ops.as_ref().is_some_and(|ops| !ops.contains(&def.op)) {
        return false;
    }
    let calls = def.traits.contains(Traits::CALL);
    if config.smooth && !has_derivative(def) {
        return false;
    }
    match def.dialect_name() {
        "mem" => config.objects,
        "data" => config.aggregates || config.objects,
        "prof" => config.clock,
        // They work on tangents: of other values, most would stop with an error.
        "ad" => false,
        // Of texts that nobody wrote they say nothing; generated scripts use them.
        "text" => false,
        // Of arrays of any size they do nothing but stop; tests of their own compare them.
        "linalg" => false,
        "core" if calls => config.calls,
        "core" => match def.op {
            core::PRINT | core::PRINTLN => config.prints,
            core::TUPLE | core::GET => config.aggregates,
            // There is no error, and what there is of one is a text.
            core::CAUGHT | core::BACKTRACE | core::RETHROW => false,
            // That of an object is another one in each run.
            core::HASH => false,
            core::TYPEASSERT | core::TYPEOF | core::ISA => config.dynamic,
            _ => true,
        },
        _ => true,
    }
}

/// Returns whether programs of an op would say nothing: it is not known what it computes or, for programs
/// that have derivatives, what its derivative is.
pub(super) fn is_unknown(extensions: &Extensions, smooth: bool, def: &OpDef) -> bool {
    extensions.get::<EvalTable>().get(def).is_none()
        || smooth && extensions.get::<DerivativeTable>().find(def.op).is_none()
}

/// The ops of which no programs are made because it is not known what they compute, or what their
/// derivatives are if programs are to have some. O(ops).
pub fn unknown_ops(extensions: &Extensions, smooth: bool) -> Vec<&'static OpDef> {
    let config = if smooth { Config::differentiable() } else { Config::default() };
    let wanted = extensions.ops().ops().filter(|def| is_wanted(&config, def));
    wanted.filter(|def| is_unknown(extensions, smooth, def)).collect()
}

/// Returns whether statements of any op may be of this one in programs that have derivatives.
fn has_derivative(def: &OpDef) -> bool {
    // Those of floats are made here, in their domains.
    !matches!(def.dialect_name(), "ad" | "prof" | "math" | "linalg")
        && !LEFT_OUT.contains(&def.op)
        && !matches!(def.op, arith::FDIV | arith::MUL | arith::FMA | core::CONVERT)
}
