//! One lane, with the fused multiply-add of the CPU where there is one.

#![allow(unsafe_code, reason = "a function may use the features that the CPU was found to have")]

use crate::function::{Function, count, with_functions};
use crate::lanes::scalar::{Hardware, Software};

/// Whether every CPU that the program is compiled for has a fused multiply-add.
const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

#[inline(always)]
fn with<S: crate::lanes::Lanes + From<f64> + Into<f64>, F: Function<N>, const N: usize>(
    args: [f64; N],
) -> f64 {
    F::of(args.map(S::from)).into()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
fn with_fma<F: Function<N>, const N: usize>(args: [f64; N]) -> f64 {
    with::<Hardware, F, N>(args)
}

#[inline(never)]
fn without<F: Function<N>, const N: usize>(args: [f64; N]) -> f64 {
    with::<Software, F, N>(args)
}

/// The value of a function for one lane.
#[inline]
pub(crate) fn scalar<F: Function<N>, const N: usize>(args: [f64; N]) -> f64 {
    if FUSED {
        return with::<Hardware, F, N>(args);
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has the feature.
        return unsafe { with_fma::<F, N>(args) };
    }
    without::<F, N>(args)
}

/// The same functions for CPUs without a fused multiply-add. They give the same bits, and are slow.
///
/// ```
/// use regraft_math::{sin, software};
///
/// assert_eq!(software::sin(1e22), sin(1e22));
/// ```
pub mod software {
    pub use crate::lanes::fused::fma;

    use super::{Software, count, with, with_functions};

    macro_rules! software {
        ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $file:ident, $kind:ident;)*) => {
            $(
                $(#[$doc])*
                pub fn $name($($arg: f64),*) -> f64 {
                    with::<Software, crate::function::$ty, { count!($($arg)*) }>([$($arg),*])
                }
            )*
        };
    }

    with_functions!(software);
}

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $file:ident, $kind:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name($($arg: f64),*) -> f64 {
                scalar::<crate::function::$ty, { count!($($arg)*) }>([$($arg),*])
            }
        )*
    };
}

with_functions!(scalars);
