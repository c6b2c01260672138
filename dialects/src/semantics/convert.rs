//! Conversions between scalar types.
//!
//! ```
//! use regraft_dialects::semantics::convert::{convert, float_to_int_sat};
//!
//! assert!(convert::<i64, i8>(300).is_err());
//! assert_eq!(float_to_int_sat::<f64, i8>(300.0), 127);
//! ```

use super::{Float, Int, Number, Scalar, Trap};
use crate::ir::Type;

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

/// The number that a scalar is; that of `true` is 1.
#[inline]
fn number<T: Scalar>(x: T) -> Number {
    let slot = x.slot();
    match T::TYPE {
        Type::F32 => Number::Float(f32::from_slot(slot).into()),
        Type::F64 => Number::Float(f64::from_slot(slot)),
        _ => Number::Int(slot as i64),
    }
}

/// [`core::CONVERT`](crate::core::CONVERT). To a float type it is
/// [`arith::INT_TO_FLOAT`](crate::arith::INT_TO_FLOAT) and
/// [`arith::FLOAT_CAST`](crate::arith::FLOAT_CAST) too.
///
/// # Errors
/// [`Trap::Inexact`] if no value of type `U` equals `x`. Floats are rounded instead.
#[inline]
pub fn convert<T: Scalar, U: Scalar>(x: T) -> Result<U, Trap> {
    if T::TYPE == U::TYPE {
        return Ok(low_bits(x));
    }
    let value = number(x);
    let inexact = Trap::Inexact { value, to: U::TYPE };
    let slot = match (value, U::TYPE) {
        (Number::Int(x), Type::F32) => return Ok(low_bits(x as f32)),
        (Number::Int(x), Type::F64) => return Ok(low_bits(x as f64)),
        (Number::Float(x), Type::F32) => return Ok(low_bits(x as f32)),
        (Number::Float(x), Type::F64) => return Ok(low_bits(x)),
        (Number::Int(x), _) => x as u64,
        (Number::Float(x), _) => match float_to_int::<f64, i64>(x) {
            Ok(whole) if whole as f64 == x => whole as u64,
            _ => return Err(inexact),
        },
    };
    let result = U::from_slot(slot);
    if result.slot() == slot { Ok(result) } else { Err(inexact) }
}

/// The scalar of the same low bits: [`arith::WRAP`](crate::arith::WRAP),
/// [`arith::SEXT`](crate::arith::SEXT) and [`arith::BITCAST`](crate::arith::BITCAST).
#[inline]
pub fn low_bits<T: Scalar, U: Scalar>(x: T) -> U {
    U::from_slot(x.slot())
}

/// [`arith::ZEXT`](crate::arith::ZEXT) of a bool or an integer.
#[inline]
pub fn zext<T: Scalar, U: Int>(x: T) -> U {
    let above = 64 - T::TYPE.bits().unwrap_or(64);
    U::from_slot(x.slot() << above >> above)
}
