//! Elementary functions with the C calling convention.

use std::sync::LazyLock;

use regraft_dialects::{arith, math, semantics};
use regraft_ir::Op;
use regraft_math::Forms;

use super::emitter::{Arg, Function, Touches};
use crate::vector_math::{self, Form};

/// The numbers that a function is defined for; it is for NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Domain {
    All,
    AtLeast(f64),
    Finite,
    /// From the negative to the positive.
    Within(f64),
}

/// A function of one number.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfOne {
    pub(super) call: Function,
    pub(super) domain: Domain,
}

/// The functions of one number, with their symbols.
const OF_ONE: [(Op, &str, Domain); 23] = [
    (math::CBRT, "regraft_cbrt", Domain::All),
    (math::EXP, "regraft_exp", Domain::All),
    (math::EXP2, "regraft_exp2", Domain::All),
    (math::EXP10, "regraft_exp10", Domain::All),
    (math::EXPM1, "regraft_expm1", Domain::All),
    (math::ATAN, "regraft_atan", Domain::All),
    (math::SINH, "regraft_sinh", Domain::All),
    (math::COSH, "regraft_cosh", Domain::All),
    (math::TANH, "regraft_tanh", Domain::All),
    (math::ASINH, "regraft_asinh", Domain::All),
    (math::ERF, "regraft_erf", Domain::All),
    (math::ERFC, "regraft_erfc", Domain::All),
    (math::LOG, "regraft_log", Domain::AtLeast(0.0)),
    (math::LOG2, "regraft_log2", Domain::AtLeast(0.0)),
    (math::LOG10, "regraft_log10", Domain::AtLeast(0.0)),
    (math::LOG1P, "regraft_log1p", Domain::AtLeast(-1.0)),
    (math::SIN, "regraft_sin", Domain::Finite),
    (math::COS, "regraft_cos", Domain::Finite),
    (math::TAN, "regraft_tan", Domain::Finite),
    (math::ASIN, "regraft_asin", Domain::Within(1.0)),
    (math::ACOS, "regraft_acos", Domain::Within(1.0)),
    (math::ACOSH, "regraft_acosh", Domain::AtLeast(1.0)),
    (math::ATANH, "regraft_atanh", Domain::Within(1.0)),
];

const DOUBLES: &[Arg] = &[Arg::Double, Arg::Double];

/// The functions of two numbers, with the kinds of these. All but powers of doubles to doubles and of integers are defined for
/// all.
const OF_TWO: [(Op, &str, &[Arg]); 6] = [
    (math::ATAN2, "regraft_atan2", DOUBLES),
    (math::HYPOT, "regraft_hypot", DOUBLES),
    (arith::FREM, "regraft_frem", DOUBLES),
    (math::POW, "regraft_pow", DOUBLES),
    (math::POWI, "regraft_powi", &[Arg::Double, Arg::Int]),
    (arith::POWI, "regraft_powi_int", &[Arg::Int, Arg::Int]),
];

extern "C" fn asinh(x: f64) -> f64 {
    semantics::math::asinh(x)
}

extern "C" fn erfc(x: f64) -> f64 {
    semantics::math::erfc(x)
}

extern "C" fn acosh(x: f64) -> f64 {
    semantics::math::acosh(x).unwrap_or(f64::NAN)
}

extern "C" fn atanh(x: f64) -> f64 {
    semantics::math::atanh(x).unwrap_or(f64::NAN)
}

extern "C" fn frem(x: f64, y: f64) -> f64 {
    x % y
}

extern "C" fn powi(x: f64, n: i64) -> f64 {
    semantics::math::powi(x, n)
}

extern "C" fn powi_int(x: i64, n: i64) -> i64 {
    semantics::int::powi(x, n).unwrap_or(0)
}

/// The address of the function of an op: that of [`vector_math`], or of one that has no other form.
fn scalar(op: Op) -> Option<*const u8> {
    vector_math::address(op, Form::Scalar).or_else(|| {
        Some(match op {
            math::ASINH => asinh as *const u8,
            math::ERFC => erfc as *const u8,
            math::ACOSH => acosh as *const u8,
            math::ATANH => atanh as *const u8,
            arith::FREM => frem as *const u8,
            math::POWI => powi as *const u8,
            arith::POWI => powi_int as *const u8,
            _ => return None,
        })
    })
}

fn function(op: Op, name: &'static str, params: &'static [Arg]) -> Option<Function> {
    let (address, result) = (scalar(op)?, params.first().copied());
    Some(Function { name, address, params, result, touches: Touches::Nothing })
}

/// The function of an op of one operand.
pub(super) fn of_one(op: Op) -> Option<OfOne> {
    let (_, name, domain) = OF_ONE.into_iter().find(|&(known, ..)| known == op)?;
    Some(OfOne { call: function(op, name, &[Arg::Double])?, domain })
}

/// The function of an op of two operands.
pub(super) fn of_two(op: Op) -> Option<Function> {
    let (_, name, params) = OF_TWO.into_iter().find(|&(known, ..)| known == op)?;
    function(op, name, params)
}

/// The names of functions that have a form for strips, and those of these forms.
static STRIPS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    Forms::all().iter().map(|forms| (forms.name, format!("regraft_{}_strip", forms.name))).collect()
});

/// The form of a function for strips, and the number of its results: it takes the addresses of arguments and of results,
/// and how many there are, and returns a bool.
pub(super) fn strip(name: &str) -> Option<(Function, usize)> {
    let forms = Forms::named(name)?;
    let (_, symbol) = STRIPS.iter().find(|&&(known, _)| known == name)?;
    let params: &[Arg] = match forms.args {
        1 => &[Arg::Ptr, Arg::Ptr, Arg::Int],
        _ => &[Arg::Ptr, Arg::Ptr, Arg::Ptr, Arg::Int],
    };
    let (address, result) = (forms.strip().cast(), Some(Arg::Int));
    let function = Function { name: symbol, address, params, result, touches: Touches::Arguments };
    Some((function, forms.results))
}

/// All functions.
pub(super) fn all() -> impl Iterator<Item = Function> {
    let of_one = OF_ONE.into_iter().filter_map(|(op, ..)| of_one(op)).map(|function| function.call);
    let strips = STRIPS.iter().filter_map(|&(name, _)| strip(name)).map(|(strip, _)| strip);
    of_one.chain(OF_TWO.into_iter().filter_map(|(op, ..)| of_two(op))).chain(strips)
}

/// Returns whether an op is a function here that is defined for all numbers.
pub(super) fn is_total(op: Op) -> bool {
    of_two(op).is_some() && !matches!(op, math::POW | arith::POWI)
        || of_one(op).is_some_and(|function| function.domain == Domain::All)
}
