//! Integers of 8 to 64 bits.
//!
//! Everything is computed in `i64` and brought back to the width at the end; inlined for one
//! width, the compiler sees through that.
//!
//! ```
//! use regraft_dialects::semantics::int::{add, checked_add, fld};
//!
//! assert_eq!(add(i64::MAX, 1), i64::MIN);
//! assert!(checked_add(i64::MAX, 1).is_err());
//! assert_eq!(fld(-7_i64, 2).unwrap(), -4);
//! ```

use super::{Number, Scalar, Trap};

/// A two's complement integer type of the IR.
pub trait Int: Scalar + Ord {
    /// The width in bits.
    const BITS: u32;

    /// The same number in 64 bits.
    #[inline]
    fn wide(self) -> i64 {
        self.slot() as i64
    }

    /// The low bits of a number.
    #[inline]
    fn wrap(x: i64) -> Self {
        Self::from_slot(x as u64)
    }
}

macro_rules! ints {
    ($($ty:ident)*) => {
        $(impl Int for $ty {
            const BITS: u32 = <$ty>::BITS;
        })*
    };
}

ints!(i8 i16 i32 i64);

/// The number in its type, if it is in range.
#[inline]
fn narrow<T: Int>(x: i64) -> Option<T> {
    let narrow = T::wrap(x);
    (narrow.wide() == x).then_some(narrow)
}

/// The bits, zeros above.
#[inline]
fn unsigned<T: Int>(x: T) -> u64 {
    x.wide() as u64 & (u64::MAX >> (64 - T::BITS))
}

/// [`arith::ADD`](crate::arith::ADD).
#[inline]
pub fn add<T: Int>(x: T, y: T) -> T {
    T::wrap(x.wide().wrapping_add(y.wide()))
}

/// [`arith::SUB`](crate::arith::SUB).
#[inline]
pub fn sub<T: Int>(x: T, y: T) -> T {
    T::wrap(x.wide().wrapping_sub(y.wide()))
}

/// [`arith::MUL`](crate::arith::MUL).
#[inline]
pub fn mul<T: Int>(x: T, y: T) -> T {
    T::wrap(x.wide().wrapping_mul(y.wide()))
}

/// [`arith::DIV`](crate::arith::DIV).
///
/// # Errors
/// [`Trap::Divide`] by zero, or if the quotient is out of range.
#[inline]
pub fn div<T: Int>(x: T, y: T) -> Result<T, Trap> {
    x.wide().checked_div(y.wide()).and_then(narrow).ok_or(Trap::Divide)
}

/// [`arith::REM`](crate::arith::REM).
///
/// # Errors
/// [`Trap::Divide`] by zero.
#[inline]
pub fn rem<T: Int>(x: T, y: T) -> Result<T, Trap> {
    if y.wide() == 0 {
        return Err(Trap::Divide);
    }
    Ok(T::wrap(x.wide().wrapping_rem(y.wide())))
}

/// [`arith::FLD`](crate::arith::FLD).
///
/// # Errors
/// [`Trap::Divide`] by zero, or if the quotient is out of range.
#[inline]
pub fn fld<T: Int>(x: T, y: T) -> Result<T, Trap> {
    let quotient = div(x, y)?;
    let rem = x.wide().wrapping_rem(y.wide());
    // Where there is a remainder, the quotient is not the least integer.
    Ok(T::wrap(quotient.wide() - i64::from(rem != 0 && (rem < 0) != (y.wide() < 0))))
}

/// [`arith::CLD`](crate::arith::CLD).
///
/// # Errors
/// [`Trap::Divide`] by zero, or if the quotient is out of range.
#[inline]
pub fn cld<T: Int>(x: T, y: T) -> Result<T, Trap> {
    let quotient = div(x, y)?;
    let rem = x.wide().wrapping_rem(y.wide());
    Ok(T::wrap(quotient.wide() + i64::from(rem != 0 && (rem < 0) == (y.wide() < 0))))
}

/// [`arith::MOD`](crate::arith::MOD).
///
/// # Errors
/// [`Trap::Divide`] by zero.
#[inline]
pub fn modulo<T: Int>(x: T, y: T) -> Result<T, Trap> {
    let rem = rem(x, y)?;
    let crosses = rem.wide() != 0 && (rem.wide() < 0) != (y.wide() < 0);
    Ok(if crosses { add(rem, y) } else { rem })
}

/// [`arith::NEG`](crate::arith::NEG).
#[inline]
pub fn neg<T: Int>(x: T) -> T {
    T::wrap(x.wide().wrapping_neg())
}

/// [`arith::ABS`](crate::arith::ABS).
#[inline]
pub fn abs<T: Int>(x: T) -> T {
    T::wrap(x.wide().wrapping_abs())
}

/// [`arith::SIGNBIT`](crate::arith::SIGNBIT).
#[inline]
pub fn signbit<T: Int>(x: T) -> bool {
    x.wide() < 0
}

/// A shift to the left by a count that is not negative.
#[inline]
fn left<T: Int>(x: T, count: u64) -> T {
    if count >= u64::from(T::BITS) { T::wrap(0) } else { T::wrap(x.wide() << count) }
}

/// [`arith::SHL`](crate::arith::SHL).
#[inline]
pub fn shl<T: Int>(x: T, count: i64) -> T {
    if count < 0 { right(x, count.unsigned_abs()) } else { left(x, count.unsigned_abs()) }
}

/// [`arith::SHR`](crate::arith::SHR).
#[inline]
pub fn shr<T: Int>(x: T, count: i64) -> T {
    if count < 0 {
        left(x, count.unsigned_abs())
    } else if count >= i64::from(T::BITS) {
        T::wrap(0)
    } else {
        T::wrap((unsigned(x) >> count) as i64)
    }
}

/// A shift to the right by a count that is not negative, with copies of the sign bit.
#[inline]
fn right<T: Int>(x: T, count: u64) -> T {
    T::wrap(x.wide() >> count.min(63))
}

/// [`arith::ASHR`](crate::arith::ASHR).
#[inline]
pub fn ashr<T: Int>(x: T, count: i64) -> T {
    if count < 0 { left(x, count.unsigned_abs()) } else { right(x, count.unsigned_abs()) }
}

/// [`arith::CLZ`](crate::arith::CLZ).
#[inline]
pub fn clz<T: Int>(x: T) -> T {
    T::wrap(i64::from(unsigned(x).leading_zeros() - (64 - T::BITS)))
}

/// [`arith::CTZ`](crate::arith::CTZ).
#[inline]
pub fn ctz<T: Int>(x: T) -> T {
    T::wrap(i64::from(unsigned(x).trailing_zeros().min(T::BITS)))
}

/// [`arith::POPCOUNT`](crate::arith::POPCOUNT).
#[inline]
pub fn popcount<T: Int>(x: T) -> T {
    T::wrap(i64::from(unsigned(x).count_ones()))
}

/// [`arith::BITREVERSE`](crate::arith::BITREVERSE).
#[inline]
pub fn bitreverse<T: Int>(x: T) -> T {
    T::wrap((unsigned(x).reverse_bits() >> (64 - T::BITS)) as i64)
}

/// [`arith::BSWAP`](crate::arith::BSWAP).
#[inline]
pub fn bswap<T: Int>(x: T) -> T {
    T::wrap((unsigned(x).swap_bytes() >> (64 - T::BITS)) as i64)
}

#[inline]
fn checked<T: Int>(result: Option<i64>, what: &'static str) -> Result<T, Trap> {
    result.and_then(narrow).ok_or(Trap::Overflow { what, ty: T::TYPE })
}

/// [`arith::CHECKED_ADD`](crate::arith::CHECKED_ADD).
///
/// # Errors
/// [`Trap::Overflow`].
#[inline]
pub fn checked_add<T: Int>(x: T, y: T) -> Result<T, Trap> {
    checked(x.wide().checked_add(y.wide()), "sum")
}

/// [`arith::CHECKED_SUB`](crate::arith::CHECKED_SUB).
///
/// # Errors
/// [`Trap::Overflow`].
#[inline]
pub fn checked_sub<T: Int>(x: T, y: T) -> Result<T, Trap> {
    checked(x.wide().checked_sub(y.wide()), "difference")
}

/// [`arith::CHECKED_MUL`](crate::arith::CHECKED_MUL).
///
/// # Errors
/// [`Trap::Overflow`].
#[inline]
pub fn checked_mul<T: Int>(x: T, y: T) -> Result<T, Trap> {
    checked(x.wide().checked_mul(y.wide()), "product")
}

/// [`arith::POWI`](crate::arith::POWI). O(log n) multiplications.
///
/// # Errors
/// [`Trap::Domain`] if `n` is negative and `x` neither 1 nor -1.
pub fn powi<T: Int>(x: T, n: i64) -> Result<T, Trap> {
    if n < 0 {
        return match x.wide() {
            1 => Ok(x),
            -1 => Ok(T::wrap(if n % 2 == 0 { 1 } else { -1 })),
            value => Err(Trap::Domain {
                function: "the power to a negative integer",
                value: Number::Int(value),
            }),
        };
    }
    let (mut square, mut n, mut power) = (x.wide(), n, 1i64);
    while n > 0 {
        if n & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        n >>= 1;
    }
    Ok(T::wrap(power))
}
