//! The values of a function as rules see them: which are results of ops that a rule may match, and
//! what is known of them.

use std::borrow::Borrow;

use regraft_dialects::{arith, core, math};
use regraft_ir::{Attrs, Function, Op, Traits, Type, Value};

use smallvec::SmallVec;

use super::Facts;
use crate::analysis::ranges::{float_kinds, int_result};
use crate::analysis::{FloatKinds, Ranges};

/// Returns whether an instruction computes its result from its operands alone, so that a rule may
/// match it.
pub(crate) fn is_term(f: &Function, v: Value) -> bool {
    let Some(def) = f.op_def(v) else { return false };
    def.traits.contains(Traits::PURE)
        && !def.is_terminator()
        && (1..=4).contains(&f.operand_count(v))
        && f.attrs(v) == Attrs::NONE
        && !f.checks_operands(v)
}

/// The facts on a value wherever it is used.
pub(crate) fn facts_of_value(f: &Function, ranges: &Ranges, v: Value) -> Facts {
    let mut facts = Facts::of_type(f.ty(v));
    let known = ranges.of(f, v);
    facts.interval = known.interval().or(facts.interval);
    facts.kinds = known.float(f);
    facts
}

/// The facts on the result of an op of type `ty`. `same` says that both arguments are one value.
pub(crate) fn facts_of(op: Op, ty: Type, args: &[impl Borrow<Facts>], same: bool) -> Facts {
    let args: SmallVec<[&Facts; 4]> = args.iter().map(Borrow::borrow).collect();
    let args = args.as_slice();
    let mut facts = Facts::of_type(ty);
    if ty.is_float() {
        let kinds = |i: usize| args.get(i).map_or(FloatKinds::all(), |arg| arg.kinds);
        let int = |i: usize| args.get(i).and_then(|arg| arg.interval);
        facts.kinds = float_kinds(op, args.len(), same, kinds, int);
        facts.quiet = is_quiet(op, args);
        facts.not_minus_zero = is_not_minus_zero(op, args, same);
        facts.whole = is_whole(op, args);
    } else if let Some(interval) = int_result(op, ty, args.iter().map(|arg| (arg.ty, arg.interval)))
    {
        facts.interval = Some(interval);
    }
    if op == core::SELECT
        && let [_, a, b] = args
        && (a.ty, b.ty) == (ty, ty)
    {
        facts = Facts { constant: None, ..a.or(**b) };
    }
    facts
}

/// The kinds of the result of an op on real numbers, of which [`facts_of`] says that they are
/// `kinds`: nothing overflows, and nothing underflows.
pub(crate) fn real_kinds(op: Op, args: &[&Facts], kinds: FloatKinds) -> FloatKinds {
    type K = FloatKinds;
    let never = |i: usize, what: K| args.get(i).is_some_and(|arg| arg.kinds.never(what));
    let unreal = K::INFINITE | K::NAN;
    let finite = args.iter().all(|arg| !arg.ty.is_float() || arg.kinds.never(unreal));
    let is_regular = match op {
        arith::ADD | arith::SUB | arith::MUL | arith::MULZ | arith::FMA | arith::NEG => true,
        arith::FDIV => never(1, K::ZERO),
        math::POWI => {
            let whole = args.get(1).and_then(|n| n.interval).is_some_and(|n| n.lo >= 0);
            whole || never(0, K::ZERO)
        }
        math::POW => never(0, K::NEGATIVE | K::ZERO),
        math::LOG | math::LOG2 | math::LOG10 => never(0, K::NEGATIVE | K::ZERO),
        math::EXP | math::EXP2 | math::EXP10 | math::EXPM1 => true,
        math::SINH | math::COSH | math::TANH | math::ASINH | math::ATAN => true,
        math::CBRT | math::HYPOT | math::ERF | math::ERFC => true,
        _ => false,
    };
    if !finite || !is_regular {
        return kinds;
    }
    let mut gone = unreal;
    match op {
        math::EXP | math::EXP2 | math::EXP10 => gone |= K::ZERO | K::NEGATIVE,
        math::POW => gone |= K::ZERO | K::NEGATIVE,
        arith::MUL | arith::MULZ | arith::FDIV => {
            if never(0, K::ZERO) && never(1, K::ZERO) {
                gone |= K::ZERO;
            }
            if never(0, K::NEGATIVE) && never(1, K::NEGATIVE) {
                gone |= K::NEGATIVE;
            }
        }
        _ => {}
    }
    kinds - gone
}

/// Returns whether a float result is never a signalling NaN: arithmetic makes NaNs quiet, other ops
/// may hand on the one that they get.
fn is_quiet(op: Op, args: &[&Facts]) -> bool {
    match op {
        arith::ADD | arith::SUB | arith::MUL | arith::MULZ | arith::FDIV | arith::FMA => true,
        arith::INT_TO_FLOAT => true,
        arith::COPYSIGN => args.first().is_some_and(|arg| arg.quiet),
        arith::BITCAST => false,
        _ if op.dialect() == arith::ADD.dialect() || op.dialect() == math::SIN.dialect() => {
            args.iter().all(|arg| arg.quiet)
        }
        _ => false,
    }
}

fn is_not_minus_zero(op: Op, args: &[&Facts], same: bool) -> bool {
    let never = |i: usize| args.get(i).is_some_and(|arg| arg.not_minus_zero);
    match op {
        // Only the sum of two negative zeros is one.
        arith::ADD => never(0) || never(1),
        // Only -0.0 - 0.0 is one.
        arith::SUB => never(0),
        arith::MUL => same,
        arith::ABS | arith::INT_TO_FLOAT => true,
        math::EXP | math::EXP2 | math::EXP10 | math::COSH => true,
        _ => false,
    }
}

fn is_whole(op: Op, args: &[&Facts]) -> bool {
    match op {
        arith::FLOOR | arith::CEIL | arith::ROUND | arith::TRUNC | arith::INT_TO_FLOAT => true,
        arith::NEG | arith::ABS | arith::ADD | arith::SUB | arith::MUL => {
            args.iter().all(|arg| arg.whole)
        }
        _ => false,
    }
}
