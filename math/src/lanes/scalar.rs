//! One lane: with the fused multiply-add of the CPU, and with that of [`fused`](super::fused).

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Lanes, fused};

macro_rules! scalar {
    ($(#[$doc:meta])* $name:ident, $x:ident $y:ident $z:ident => $fma:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub f64);

        scalar!($name Add add +, Sub sub -, Mul mul *, Div div /);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl From<f64> for $name {
            #[inline(always)]
            fn from(x: f64) -> Self {
                Self(x)
            }
        }

        impl From<$name> for f64 {
            #[inline(always)]
            fn from(x: $name) -> Self {
                x.0
            }
        }

        impl Lanes for $name {
            type Mask = bool;
            type Lane = Self;
            const COUNT: usize = 1;

            #[inline(always)]
            fn splat(x: f64) -> Self {
                Self(x)
            }
            #[inline(always)]
            fn load(from: &[f64]) -> Self {
                Self(from[0])
            }
            #[inline(always)]
            fn store(self, to: &mut [f64]) {
                to[0] = self.0;
            }
            #[inline(always)]
            fn fma(self, y: Self, z: Self) -> Self {
                let ($x, $y, $z) = (self.0, y.0, z.0);
                Self($fma)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(self.0.sqrt())
            }
            #[inline(always)]
            fn lt(self, y: Self) -> bool {
                self.0 < y.0
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.0.is_nan()
            }
            #[inline(always)]
            fn both(x: bool, y: bool) -> bool {
                x & y
            }
            #[inline(always)]
            fn either(x: bool, y: bool) -> bool {
                x | y
            }
            #[inline(always)]
            fn not(x: bool) -> bool {
                !x
            }
            #[inline(always)]
            fn any(x: bool) -> bool {
                x
            }
            #[inline(always)]
            fn select(mask: bool, x: Self, y: Self) -> Self {
                if mask { x } else { y }
            }
            #[inline(always)]
            fn and(self, y: Self) -> Self {
                Self::bits(self.0.to_bits() & y.0.to_bits())
            }
            #[inline(always)]
            fn or(self, y: Self) -> Self {
                Self::bits(self.0.to_bits() | y.0.to_bits())
            }
            #[inline(always)]
            fn xor(self, y: Self) -> Self {
                Self::bits(self.0.to_bits() ^ y.0.to_bits())
            }
            #[inline(always)]
            fn add_bits(self, y: Self) -> Self {
                Self::bits(self.0.to_bits().wrapping_add(y.0.to_bits()))
            }
            #[inline(always)]
            fn sub_bits(self, y: Self) -> Self {
                Self::bits(self.0.to_bits().wrapping_sub(y.0.to_bits()))
            }
            #[inline(always)]
            fn shl<const N: u32>(self) -> Self {
                Self::bits(self.0.to_bits() << N)
            }
            #[inline(always)]
            fn shr<const N: u32>(self) -> Self {
                Self::bits(self.0.to_bits() >> N)
            }
            #[inline(always)]
            fn look_up(table: &'static [f64; 16], at: Self) -> Self {
                Self(table[(at.0.to_bits() & 15) as usize])
            }
            #[inline(always)]
            fn gather<const N: usize>(table: &'static [f64; N], at: Self) -> Self {
                Self(table[(at.0.to_bits() & (N as u64 - 1)) as usize])
            }
            #[inline(always)]
            fn replace<const N: usize>(
                self,
                mask: bool,
                args: [Self; N],
                f: impl Fn([Self; N]) -> Self,
            ) -> Self {
                if mask { f(args) } else { self }
            }
        }
    };
    ($name:ident $($op:ident $method:ident $sign:tt),*) => {
        $(impl $op for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, y: Self) -> Self {
                Self(self.0 $sign y.0)
            }
        })*
    };
}

scalar! {
    /// A float whose fused multiply-add is that of the CPU.
    Hardware, x y z => x.mul_add(y, z)
}

scalar! {
    /// A float whose fused multiply-add is computed in integers.
    Software, x y z => fused::fma(x, y, z)
}
