//! Types of functions in Rust, for up to five parameters.

// A parameter `T` is a scalar, and a reference is none, so that no type is of two of the forms below. The compiler
// decides that by lifetimes, as other libraries count on too.
#![allow(coherence_leak_check)]

use super::output::Output;
use super::param::{ByMut, ByRef, ByValue, Lend};
use super::params::Params;
use crate::value::Element;

/// A type of functions such as `fn(&[f64], &mut [f64], i64) -> f64`.
///
/// Parameters are numbers or truth values (`f64`, `f32`, `i8` to `i64`, `bool`), slices of these, or what
/// else can be [lent](Lend). The result is an [`Output`].
pub trait Signature: 'static {
    /// The parameters.
    type Params: Params;
    /// The result.
    type Output: Output;
}

/// Implements the trait for all ways to pass so many parameters.
macro_rules! signatures {
    (@ [$({[$ty:ty] [$($bound:tt)*] [$kind:ty]})*]) => {
        impl<$($($bound)*,)* R: Output> Signature for fn($($ty),*) -> R {
            type Params = ($($kind,)*);
            type Output = R;
        }
    };
    (@ [$($done:tt)*] $t:ident $($rest:ident)*) => {
        signatures!(@ [$($done)* {[$t] [$t: Element] [ByValue<$t>]}] $($rest)*);
        signatures!(@ [$($done)* {[&$t] [$t: Lend + ?Sized] [ByRef<$t>]}] $($rest)*);
        signatures!(@ [$($done)* {[&mut $t] [$t: Lend + ?Sized] [ByMut<$t>]}] $($rest)*);
    };
}

signatures!(@ []);
signatures!(@ [] A);
signatures!(@ [] A B);
signatures!(@ [] A B C);
signatures!(@ [] A B C D);
signatures!(@ [] A B C D E);

/// For more parameters: the tuple of their [ways](super::Param), and the result, such as
/// `((ByRef<[f64]>, ByValue<i64>), f64)`.
impl<P: Params, R: Output> Signature for (P, R) {
    type Params = P;
    type Output = R;
}
