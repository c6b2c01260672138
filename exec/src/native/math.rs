//! Elementary functions with the C calling convention.

use regraft_dialects::{math, semantics};
use regraft_ir::Op;

use super::emitter::{Arg, Function};

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

macro_rules! functions {
    ($($op:ident = $name:ident $domain:expr, |$x:ident| $f:expr;)*) => {
        $(extern "C" fn $name($x: f64) -> f64 {
            $f
        })*

        /// The function of an op of one operand.
        pub(super) fn of_one(op: Op) -> Option<OfOne> {
            let (name, address, domain): (_, *const u8, _) = match op {
                $(math::$op => {
                    (concat!("regraft_", stringify!($name)), $name as *const u8, $domain)
                })*
                _ => return None,
            };
            let (params, result) = (&[Arg::Double], Some(Arg::Double));
            let call = Function { name, address, params, result, is_pure: true };
            Some(OfOne { call, domain })
        }
    };
}

functions! {
    CBRT = cbrt Domain::All, |x| semantics::math::cbrt(x);
    EXP = exp Domain::All, |x| semantics::math::exp(x);
    EXP2 = exp2 Domain::All, |x| semantics::math::exp2(x);
    EXP10 = exp10 Domain::All, |x| semantics::math::exp10(x);
    EXPM1 = expm1 Domain::All, |x| semantics::math::expm1(x);
    ATAN = atan Domain::All, |x| semantics::math::atan(x);
    SINH = sinh Domain::All, |x| semantics::math::sinh(x);
    COSH = cosh Domain::All, |x| semantics::math::cosh(x);
    TANH = tanh Domain::All, |x| semantics::math::tanh(x);
    ASINH = asinh Domain::All, |x| semantics::math::asinh(x);
    ERF = erf Domain::All, |x| semantics::math::erf(x);
    ERFC = erfc Domain::All, |x| semantics::math::erfc(x);
    LOG = log Domain::AtLeast(0.0), |x| semantics::math::log(x).unwrap_or(f64::NAN);
    LOG2 = log2 Domain::AtLeast(0.0), |x| semantics::math::log2(x).unwrap_or(f64::NAN);
    LOG10 = log10 Domain::AtLeast(0.0), |x| semantics::math::log10(x).unwrap_or(f64::NAN);
    LOG1P = log1p Domain::AtLeast(-1.0), |x| semantics::math::log1p(x).unwrap_or(f64::NAN);
    SIN = sin Domain::Finite, |x| semantics::math::sin(x).unwrap_or(f64::NAN);
    COS = cos Domain::Finite, |x| semantics::math::cos(x).unwrap_or(f64::NAN);
    TAN = tan Domain::Finite, |x| semantics::math::tan(x).unwrap_or(f64::NAN);
    ASIN = asin Domain::Within(1.0), |x| semantics::math::asin(x).unwrap_or(f64::NAN);
    ACOS = acos Domain::Within(1.0), |x| semantics::math::acos(x).unwrap_or(f64::NAN);
    ACOSH = acosh Domain::AtLeast(1.0), |x| semantics::math::acosh(x).unwrap_or(f64::NAN);
    ATANH = atanh Domain::Within(1.0), |x| semantics::math::atanh(x).unwrap_or(f64::NAN);
}

extern "C" fn atan2(y: f64, x: f64) -> f64 {
    semantics::math::atan2(y, x)
}

extern "C" fn hypot(x: f64, y: f64) -> f64 {
    semantics::math::hypot(x, y)
}

extern "C" fn frem(x: f64, y: f64) -> f64 {
    x % y
}

/// The function of an op of two operands that is defined for all numbers.
pub(super) fn of_two(op: Op) -> Option<Function> {
    let (name, address) = match op {
        math::ATAN2 => ("regraft_atan2", atan2 as *const u8),
        math::HYPOT => ("regraft_hypot", hypot as *const u8),
        regraft_dialects::arith::FREM => ("regraft_frem", frem as *const u8),
        _ => return None,
    };
    let (params, result) = (&[Arg::Double, Arg::Double], Some(Arg::Double));
    Some(Function { name, address, params, result, is_pure: true })
}

/// Returns whether an op is a function here that is defined for all numbers.
pub(super) fn is_total(op: Op) -> bool {
    of_two(op).is_some() || of_one(op).is_some_and(|function| function.domain == Domain::All)
}
