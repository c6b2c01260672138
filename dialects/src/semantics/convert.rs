//! Conversions between scalar types.
//!
//! ```
//! use regraft_dialects::semantics::convert::{float_to_int_sat, int_to_int};
//!
//! assert!(int_to_int::<i64, i8>(300).is_err());
//! assert_eq!(float_to_int_sat::<f64, i8>(300.0), 127);
//! ```

use super::int::{narrow, unsigned};
use super::{Float, Int, Number, Trap};
use crate::ir::{Constant, Type};

/// A float without its fraction, if it is an integer that fits: [`arith::FLOAT_TO_INT`].
///
/// # Errors
/// [`Trap::Inexact`] on NaN, and out of range.
///
/// [`arith::FLOAT_TO_INT`]: crate::arith::FLOAT_TO_INT
#[inline]
pub fn float_to_int<F: Float, T: Int>(x: F) -> Result<T, Trap> {
    let wide = x.wide();
    let whole = wide.trunc();
    // Both bounds are powers of two, so that they are exact; NaN is in no range.
    let bound = (1u64 << (T::BITS - 1)) as f64;
    if whole >= -bound && whole < bound {
        Ok(T::wrap(whole as i64))
    } else {
        Err(Trap::Inexact { value: Number::Float(wide), to: T::TYPE })
    }
}

/// [`arith::FLOAT_TO_INT_SAT`](crate::arith::FLOAT_TO_INT_SAT).
#[inline]
pub fn float_to_int_sat<F: Float, T: Int>(x: F) -> T {
    let least = i64::MIN >> (64 - T::BITS);
    T::wrap((x.wide() as i64).clamp(least, !least))
}

/// [`arith::INT_TO_FLOAT`](crate::arith::INT_TO_FLOAT).
#[inline]
pub fn int_to_float<T: Int, F: IntoFloat>(x: T) -> F {
    F::from_int(x.wide())
}

/// A float type that integers convert to, rounding once.
pub trait IntoFloat: Float {
    /// The nearest float, ties to even.
    fn from_int(x: i64) -> Self;
}

impl IntoFloat for f32 {
    #[inline]
    fn from_int(x: i64) -> Self {
        x as f32
    }
}

impl IntoFloat for f64 {
    #[inline]
    fn from_int(x: i64) -> Self {
        x as f64
    }
}

/// [`core::CONVERT`](crate::core::CONVERT) of an integer to an integer.
///
/// # Errors
/// [`Trap::Inexact`] out of range.
#[inline]
pub fn int_to_int<T: Int, U: Int>(x: T) -> Result<U, Trap> {
    narrow(x.wide()).ok_or(Trap::Inexact { value: Number::Int(x.wide()), to: U::TYPE })
}

/// [`core::CONVERT`](crate::core::CONVERT) of a float to an integer.
///
/// # Errors
/// [`Trap::Inexact`] on NaN, out of range, and if there is a fraction.
#[inline]
pub fn float_to_int_exact<F: Float, T: Int>(x: F) -> Result<T, Trap> {
    let wide = x.wide();
    if wide.trunc() == wide {
        float_to_int(x)
    } else {
        Err(Trap::Inexact { value: Number::Float(wide), to: T::TYPE })
    }
}

/// [`core::CONVERT`](crate::core::CONVERT) of any scalar to any scalar type; `None` if either
/// is none.
///
/// # Errors
/// [`Trap::Inexact`] if no value of the type equals `x`.
pub fn convert(x: Constant, to: Type) -> Option<Result<Constant, Trap>> {
    if !to.is_scalar() {
        return None;
    }
    let number = match x {
        Constant::Bool(x) => Number::Int(i64::from(x)),
        other => match other.as_int() {
            Some(x) => Number::Int(x),
            None => Number::Float(other.as_float()?),
        },
    };
    let inexact = Trap::Inexact { value: number, to };
    Some(match (x, number) {
        (Constant::F32(_), _) if to == Type::F32 => Ok(x),
        (Constant::F64(_), _) if to == Type::F64 => Ok(x),
        (_, Number::Int(x)) if to == Type::F32 => Ok((x as f32).into()),
        (_, Number::Int(x)) if to == Type::F64 => Ok((x as f64).into()),
        (_, Number::Float(x)) if to.is_float() => Constant::float(to, x).ok_or(inexact),
        (_, Number::Int(x)) if to == Type::BOOL => match x {
            0 | 1 => Ok(Constant::Bool(x == 1)),
            _ => Err(inexact),
        },
        (_, Number::Float(x)) if to == Type::BOOL => {
            if x == 0.0 || x == 1.0 {
                Ok(Constant::Bool(x == 1.0))
            } else {
                Err(inexact)
            }
        }
        (_, Number::Int(x)) => {
            Constant::int(to, x).filter(|made| made.as_int() == Some(x)).ok_or(inexact)
        }
        (_, Number::Float(x)) => match float_to_int_exact::<f64, i64>(x) {
            Ok(whole) => {
                Constant::int(to, whole).filter(|made| made.as_int() == Some(whole)).ok_or(inexact)
            }
            Err(_) => Err(inexact),
        },
    })
}

/// The bits of a scalar, zeros above, and their number; a bool has one.
fn bits(x: Constant) -> Option<(u64, u32)> {
    Some(match x {
        Constant::Bool(x) => (u64::from(x), 1),
        Constant::I8(x) => (unsigned(x), 8),
        Constant::I16(x) => (unsigned(x), 16),
        Constant::I32(x) => (unsigned(x), 32),
        Constant::I64(x) => (unsigned(x), 64),
        Constant::F32(bits) => (u64::from(bits), 32),
        Constant::F64(bits) => (bits, 64),
        _ => return None,
    })
}

/// [`arith::BITCAST`](crate::arith::BITCAST); `None` unless both types are numbers of the same
/// width.
pub fn bitcast(x: Constant, to: Type) -> Option<Constant> {
    let (bits, width) = bits(x)?;
    if to.bits() != Some(width) {
        return None;
    }
    match to {
        Type::F32 => Some(Constant::F32(bits as u32)),
        Type::F64 => Some(Constant::F64(bits)),
        _ => Constant::int(to, bits as i64),
    }
}

/// [`arith::WRAP`](crate::arith::WRAP), [`arith::SEXT`](crate::arith::SEXT) of a bool or an
/// integer: the same number, or its low bits.
pub fn wrap(x: Constant, to: Type) -> Option<Constant> {
    let number = match x {
        Constant::Bool(x) => i64::from(x),
        other => other.as_int()?,
    };
    if to == Type::BOOL {
        return Some(Constant::Bool(number & 1 == 1));
    }
    Constant::int(to, number)
}

/// [`arith::ZEXT`](crate::arith::ZEXT) of a bool or an integer.
pub fn zext(x: Constant, to: Type) -> Option<Constant> {
    if x.as_float().is_some() {
        return None;
    }
    Constant::int(to, bits(x)?.0 as i64)
}
