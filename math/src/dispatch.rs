//! One lane, with the fused multiply-add of the CPU where there is one.

#![allow(unsafe_code, reason = "a function may use the features that the CPU was found to have")]

use crate::function::{Function, with_functions};
use crate::lanes::scalar::{Hardware, Software};

/// True if every CPU that the program is compiled for has a fused multiply-add.
const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $file:ident, $kind:ident;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub fn $name($($arg: f64),*) -> f64 {
                #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
                #[cfg_attr(not(target_arch = "x86_64"), inline)]
                fn fused($($arg: f64),*) -> f64 {
                    let [result] = crate::function::$ty::of([$(Hardware($arg)),*]);
                    result.0
                }
                #[cfg(target_arch = "x86_64")]
                if FUSED || std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the CPU has the feature.
                    return unsafe { fused($($arg),*) };
                }
                #[cfg(not(target_arch = "x86_64"))]
                if FUSED {
                    return fused($($arg),*);
                }
                software::$name($($arg),*)
            }
        )*
    };
}

with_functions!(scalars);

/// The same functions for CPUs without a fused multiply-add. They give the same bits, and are slow.
///
/// ```
/// use regraft_math::{sin, software};
///
/// assert_eq!(software::sin(1e22), sin(1e22));
/// ```
pub mod software {
    pub use crate::lanes::fused::fma;

    use super::{Function, Software, with_functions};

    macro_rules! software {
        ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $file:ident, $kind:ident;)*) => {
            $(
                $(#[$doc])*
                #[inline(never)]
                pub fn $name($($arg: f64),*) -> f64 {
                    let [result] = crate::function::$ty::of([$(Software($arg)),*]);
                    result.0
                }
            )*
        };
    }

    with_functions!(software);
}
