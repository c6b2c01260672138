//! The value of one op on constants.

use super::convert::IntoFloat;
use super::{Float, Int, Trap, convert, float, int, math, special};
use crate::ir::{Constant, Op, Type};
use crate::{arith, core, math as m};

/// What `eval_scalar` returns: nothing if it does not know the op on such operands.
type Evaluated = Option<Result<Constant, Trap>>;

/// The value of a pure op on scalars, or why it traps. `ty` is the type of the result; it
/// matters to conversions alone.
///
/// `None` if the op is none of `arith`, `math`, `core.select`, `core.same`, `core.convert`, or
/// if it is not defined for operands of these types and this number.
pub fn eval_scalar(op: Op, args: &[Constant], ty: Type) -> Evaluated {
    use Constant::{Bool, F32, F64, I8, I16, I32, I64};
    match *args {
        [x] => conversion(op, x, ty).or_else(|| match x {
            Bool(x) => (op == arith::NOT).then_some(Ok(Bool(!x))),
            I8(x) => int_unary(op, x),
            I16(x) => int_unary(op, x),
            I32(x) => int_unary(op, x),
            I64(x) => int_unary(op, x),
            F32(x) => float_unary(op, f32::from_bits(x)),
            F64(x) => float_unary(op, f64::from_bits(x)),
            _ => None,
        }),
        [x, y] if op == core::SAME => same(x, y).map(|same| Ok(Bool(same))),
        [I8(x), I64(n)] if takes_count(op) => int_count(op, x, n),
        [I16(x), I64(n)] if takes_count(op) => int_count(op, x, n),
        [I32(x), I64(n)] if takes_count(op) => int_count(op, x, n),
        [I64(x), I64(n)] if takes_count(op) => int_count(op, x, n),
        [F32(x), I64(n)] if op == m::POWI => Some(Ok(math::powi(f32::from_bits(x), n).constant())),
        [F64(x), I64(n)] if op == m::POWI => Some(Ok(math::powi(f64::from_bits(x), n).constant())),
        [F32(x), I64(n)] if op == m::POLYGAMMA => {
            Some(Ok(special::polygamma(f32::from_bits(x), n).constant()))
        }
        [F64(x), I64(n)] if op == m::POLYGAMMA => {
            Some(Ok(special::polygamma(f64::from_bits(x), n).constant()))
        }
        [Bool(x), Bool(y)] => bool_binary(op, x, y),
        [I8(x), I8(y)] => int_binary(op, x, y),
        [I16(x), I16(y)] => int_binary(op, x, y),
        [I32(x), I32(y)] => int_binary(op, x, y),
        [I64(x), I64(y)] => int_binary(op, x, y),
        [F32(x), F32(y)] => float_binary(op, f32::from_bits(x), f32::from_bits(y)),
        [F64(x), F64(y)] => float_binary(op, f64::from_bits(x), f64::from_bits(y)),
        [Bool(c), x, y] if op == core::SELECT => Some(Ok(if c { x } else { y })),
        [F32(x), F32(y), F32(z)] => {
            fma(op, f32::from_bits(x), f32::from_bits(y), f32::from_bits(z))
        }
        [F64(x), F64(y), F64(z)] => {
            fma(op, f64::from_bits(x), f64::from_bits(y), f64::from_bits(z))
        }
        _ => None,
    }
}

fn fma<T: Float>(op: Op, x: T, y: T, z: T) -> Evaluated {
    (op == arith::FMA).then(|| Ok(x.fma(y, z).constant()))
}

/// Whether two constants cannot be told apart. Constants are kept by their bits and their text,
/// so this is whether they are the same constant.
fn same(x: Constant, y: Constant) -> Option<bool> {
    Some(x == y)
}

fn takes_count(op: Op) -> bool {
    matches!(op, arith::SHL | arith::SHR | arith::ASHR | arith::POWI)
}

fn int_count<T: Int>(op: Op, x: T, n: i64) -> Evaluated {
    Some(match op {
        arith::SHL => Ok(int::shl(x, n).constant()),
        arith::SHR => Ok(int::shr(x, n).constant()),
        arith::ASHR => Ok(int::ashr(x, n).constant()),
        arith::POWI => int::powi(x, n).map(T::constant),
        _ => return None,
    })
}

fn conversion(op: Op, x: Constant, ty: Type) -> Evaluated {
    use Constant::{Bool, F32, F64, I8, I16, I32, I64};
    fn from_int<T: Int>(x: T, ty: Type) -> Option<Constant> {
        fn to<T: Int, F: IntoFloat>(x: T) -> Constant {
            convert::int_to_float::<T, F>(x).constant()
        }
        match ty {
            Type::F32 => Some(to::<T, f32>(x)),
            Type::F64 => Some(to::<T, f64>(x)),
            _ => None,
        }
    }
    fn to_int<F: Float>(x: F, ty: Type) -> Evaluated {
        Some(match ty {
            Type::I8 => convert::float_to_int(x).map(I8),
            Type::I16 => convert::float_to_int(x).map(I16),
            Type::I32 => convert::float_to_int(x).map(I32),
            Type::I64 => convert::float_to_int(x).map(I64),
            _ => return None,
        })
    }
    fn to_int_sat<F: Float>(x: F, ty: Type) -> Evaluated {
        Some(Ok(match ty {
            Type::I8 => I8(convert::float_to_int_sat(x)),
            Type::I16 => I16(convert::float_to_int_sat(x)),
            Type::I32 => I32(convert::float_to_int_sat(x)),
            Type::I64 => I64(convert::float_to_int_sat(x)),
            _ => return None,
        }))
    }
    match (op, x) {
        (core::CONVERT, _) => convert::convert(x, ty),
        (arith::WRAP | arith::SEXT, _) => convert::wrap(x, ty).map(Ok),
        (arith::ZEXT, _) => convert::zext(x, ty).map(Ok),
        (arith::BITCAST, _) => convert::bitcast(x, ty).map(Ok),
        (arith::INT_TO_FLOAT, Bool(x)) => from_int(i8::from(x), ty).map(Ok),
        (arith::INT_TO_FLOAT, I8(x)) => from_int(x, ty).map(Ok),
        (arith::INT_TO_FLOAT, I16(x)) => from_int(x, ty).map(Ok),
        (arith::INT_TO_FLOAT, I32(x)) => from_int(x, ty).map(Ok),
        (arith::INT_TO_FLOAT, I64(x)) => from_int(x, ty).map(Ok),
        (arith::FLOAT_TO_INT, F32(x)) => to_int(f32::from_bits(x), ty),
        (arith::FLOAT_TO_INT, F64(x)) => to_int(f64::from_bits(x), ty),
        (arith::FLOAT_TO_INT_SAT, F32(x)) => to_int_sat(f32::from_bits(x), ty),
        (arith::FLOAT_TO_INT_SAT, F64(x)) => to_int_sat(f64::from_bits(x), ty),
        (arith::FLOAT_CAST, F32(_) | F64(_)) if ty.is_float() => convert::convert(x, ty),
        _ => None,
    }
}

/// A comparison of two values of an ordered type.
fn compare<T: PartialOrd>(op: Op, x: T, y: T) -> Option<bool> {
    Some(match op {
        arith::EQ => x == y,
        arith::NE => x != y,
        arith::LT => x < y,
        arith::LE => x <= y,
        arith::GT => x > y,
        arith::GE => x >= y,
        _ => return None,
    })
}

fn bool_binary(op: Op, x: bool, y: bool) -> Evaluated {
    let result = compare(op, x, y).or(match op {
        arith::AND => Some(x & y),
        arith::OR => Some(x | y),
        arith::XOR => Some(x ^ y),
        _ => None,
    });
    result.map(|result| Ok(Constant::Bool(result)))
}

fn int_unary<T: Int>(op: Op, x: T) -> Evaluated {
    let result = match op {
        arith::NEG => int::neg(x),
        arith::ABS => int::abs(x),
        arith::NOT => int::not(x),
        arith::CLZ => int::clz(x),
        arith::CTZ => int::ctz(x),
        arith::POPCOUNT => int::popcount(x),
        arith::BITREVERSE => int::bitreverse(x),
        arith::BSWAP => int::bswap(x),
        arith::SIGNBIT => return Some(Ok(Constant::Bool(x.wide() < 0))),
        _ => return None,
    };
    Some(Ok(result.constant()))
}

fn int_binary<T: Int>(op: Op, x: T, y: T) -> Evaluated {
    if let Some(result) = compare(op, x, y) {
        return Some(Ok(Constant::Bool(result)));
    }
    let result = match op {
        arith::ADD => Ok(int::add(x, y)),
        arith::SUB => Ok(int::sub(x, y)),
        arith::MUL => Ok(int::mul(x, y)),
        arith::DIV => int::div(x, y),
        arith::REM => int::rem(x, y),
        arith::FLD => int::fld(x, y),
        arith::CLD => int::cld(x, y),
        arith::MOD => int::modulo(x, y),
        arith::MIN => Ok(x.min(y)),
        arith::MAX => Ok(x.max(y)),
        arith::AND => Ok(int::and(x, y)),
        arith::OR => Ok(int::or(x, y)),
        arith::XOR => Ok(int::xor(x, y)),
        arith::CHECKED_ADD => int::checked_add(x, y),
        arith::CHECKED_SUB => int::checked_sub(x, y),
        arith::CHECKED_MUL => int::checked_mul(x, y),
        _ => return None,
    };
    Some(result.map(T::constant))
}

fn float_unary<T: Float>(op: Op, x: T) -> Evaluated {
    let test = match op {
        arith::SIGNBIT => Some(x.signbit()),
        arith::ISNAN => Some(x.isnan()),
        arith::ISINF => Some(x.isinf()),
        arith::ISFINITE => Some(x.isfinite()),
        _ => None,
    };
    if let Some(test) = test {
        return Some(Ok(Constant::Bool(test)));
    }
    let result = match op {
        arith::NEG => Ok(-x),
        arith::ABS => Ok(x.abs()),
        arith::FLOOR => Ok(x.floor()),
        arith::CEIL => Ok(x.ceil()),
        arith::ROUND => Ok(x.round()),
        arith::TRUNC => Ok(x.trunc()),
        m::SQRT => math::sqrt(x),
        m::CBRT => Ok(math::cbrt(x)),
        m::EXP => Ok(math::exp(x)),
        m::EXP2 => Ok(math::exp2(x)),
        m::EXP10 => Ok(math::exp10(x)),
        m::EXPM1 => Ok(math::expm1(x)),
        m::LOG => math::log(x),
        m::LOG2 => math::log2(x),
        m::LOG10 => math::log10(x),
        m::LOG1P => math::log1p(x),
        m::SIN => math::sin(x),
        m::COS => math::cos(x),
        m::TAN => math::tan(x),
        m::ASIN => math::asin(x),
        m::ACOS => math::acos(x),
        m::ATAN => Ok(math::atan(x)),
        m::SINH => Ok(math::sinh(x)),
        m::COSH => Ok(math::cosh(x)),
        m::TANH => Ok(math::tanh(x)),
        m::ASINH => Ok(math::asinh(x)),
        m::ACOSH => math::acosh(x),
        m::ATANH => math::atanh(x),
        m::SINPI => math::sinpi(x),
        m::COSPI => math::cospi(x),
        m::SINC => Ok(math::sinc(x)),
        m::ERF => Ok(math::erf(x)),
        m::ERFC => Ok(math::erfc(x)),
        m::ERFINV => special::erfinv(x),
        m::ERFCINV => special::erfcinv(x),
        m::GAMMA => special::gamma(x),
        m::LOGGAMMA => special::loggamma(x),
        m::LOGABSGAMMA => Ok(special::logabsgamma(x)),
        m::DIGAMMA => Ok(special::digamma(x)),
        m::TRIGAMMA => Ok(special::trigamma(x)),
        _ => return None,
    };
    Some(result.map(T::constant))
}

fn float_binary<T: Float>(op: Op, x: T, y: T) -> Evaluated {
    if let Some(result) = compare(op, x, y) {
        return Some(Ok(Constant::Bool(result)));
    }
    let result = match op {
        arith::ADD => Ok(x + y),
        arith::SUB => Ok(x - y),
        arith::MUL => Ok(x * y),
        arith::FDIV => Ok(x / y),
        arith::FREM => Ok(x % y),
        arith::MULZ => Ok(float::mulz(x, y)),
        arith::FLOOR_MOD => Ok(float::floor_mod(x, y)),
        arith::MIN => Ok(float::min(x, y)),
        arith::MAX => Ok(float::max(x, y)),
        arith::COPYSIGN => Ok(x.copysign(y)),
        m::ATAN2 => Ok(math::atan2(x, y)),
        m::HYPOT => Ok(math::hypot(x, y)),
        m::POW => math::pow(x, y),
        m::BETA => Ok(special::beta(x, y)),
        m::LOGBETA => special::logbeta(x, y),
        _ => return None,
    };
    Some(result.map(T::constant))
}
