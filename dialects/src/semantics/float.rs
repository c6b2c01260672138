//! Floats of 32 and 64 bits, but for elementary functions.
//!
//! Sums, differences, products, quotients and comparisons are those of Rust.
//!
//! ```
//! use regraft_dialects::semantics::float::{floor_mod, min};
//!
//! assert!(min(1.0, f64::NAN).is_nan());
//! assert_eq!(floor_mod(-1.0, 3.0), 2.0);
//! ```

use super::Scalar;

/// A float type of the IR.
pub trait Float:
    Scalar
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Rem<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;

    /// The nearest float of this type, ties to even.
    fn round_from(x: f64) -> Self;
    /// The same number in 64 bits.
    fn wide(self) -> f64;
    /// [`arith::ABS`](crate::arith::ABS).
    fn abs(self) -> Self;
    /// [`arith::SIGNBIT`](crate::arith::SIGNBIT).
    fn signbit(self) -> bool;
    /// [`arith::COPYSIGN`](crate::arith::COPYSIGN).
    fn copysign(self, sign: Self) -> Self;
    /// [`arith::ISNAN`](crate::arith::ISNAN).
    fn isnan(self) -> bool;
    /// [`arith::ISINF`](crate::arith::ISINF).
    fn isinf(self) -> bool;
    /// [`arith::ISFINITE`](crate::arith::ISFINITE).
    fn isfinite(self) -> bool;
    /// [`arith::FLOOR`](crate::arith::FLOOR).
    fn floor(self) -> Self;
    /// [`arith::CEIL`](crate::arith::CEIL).
    fn ceil(self) -> Self;
    /// [`arith::ROUND`](crate::arith::ROUND).
    fn round(self) -> Self;
    /// [`arith::TRUNC`](crate::arith::TRUNC).
    fn trunc(self) -> Self;
    /// [`arith::FMA`](crate::arith::FMA): `self * y + z`.
    fn fma(self, y: Self, z: Self) -> Self;
    /// The square root, of what is not negative.
    fn sqrt(self) -> Self;
}

macro_rules! float {
    ($($ty:ident)*) => {
        $(impl Float for $ty {
            const ZERO: Self = 0.0;

            #[inline]
            fn round_from(x: f64) -> Self {
                x as $ty
            }
            #[inline]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn abs(self) -> Self {
                <$ty>::abs(self)
            }
            #[inline]
            fn signbit(self) -> bool {
                self.is_sign_negative()
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                <$ty>::copysign(self, sign)
            }
            #[inline]
            fn isnan(self) -> bool {
                self.is_nan()
            }
            #[inline]
            fn isinf(self) -> bool {
                self.is_infinite()
            }
            #[inline]
            fn isfinite(self) -> bool {
                self.is_finite()
            }
            #[inline]
            fn floor(self) -> Self {
                <$ty>::floor(self)
            }
            #[inline]
            fn ceil(self) -> Self {
                <$ty>::ceil(self)
            }
            #[inline]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline]
            fn trunc(self) -> Self {
                <$ty>::trunc(self)
            }
            #[inline]
            fn fma(self, y: Self, z: Self) -> Self {
                self.mul_add(y, z)
            }
            #[inline]
            fn sqrt(self) -> Self {
                <$ty>::sqrt(self)
            }
        })*
    };
}

float!(f32 f64);

/// [`arith::MIN`](crate::arith::MIN).
#[inline]
pub fn min<T: Float>(x: T, y: T) -> T {
    if x < y {
        x
    } else if y < x {
        y
    } else if x.isnan() || y.isnan() {
        // Quiet, as what any other operation gives.
        x + y
    } else if y.signbit() {
        y
    } else {
        x
    }
}

/// [`arith::MAX`](crate::arith::MAX).
#[inline]
pub fn max<T: Float>(x: T, y: T) -> T {
    if x > y {
        x
    } else if y > x {
        y
    } else if x.isnan() || y.isnan() {
        x + y
    } else if x.signbit() {
        y
    } else {
        x
    }
}

/// [`arith::MULZ`](crate::arith::MULZ).
#[inline]
pub fn mulz<T: Float>(x: T, y: T) -> T {
    let product = x * y;
    if product.isnan() && (x.wide() == 0.0 || y.wide() == 0.0) {
        return T::round_from(0.0);
    }
    product
}

/// [`arith::FLOOR_MOD`](crate::arith::FLOOR_MOD).
#[inline]
pub fn floor_mod<T: Float>(x: T, y: T) -> T {
    let rem = x % y;
    if rem == T::ZERO {
        rem.copysign(y)
    } else if (rem > T::ZERO) != (y > T::ZERO) {
        // Julia adds here whatever `y` is, an infinite one too.
        rem + y
    } else {
        rem
    }
}
