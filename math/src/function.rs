//! The functions, as types that other modules compile for each kind of lanes.

use crate::lanes::Lanes;

/// A function of `N` floats with `R` results.
pub trait Function<const N: usize, const R: usize = 1> {
    /// True if there are arguments for which it is NaN and none of them is. All results are NaN then.
    const PARTIAL: bool;

    /// The values in each lane.
    fn of<L: Lanes>(args: [L; N]) -> [L; R];
}

/// The sine and the cosine of an angle in radians; NaN if it is infinite.
#[derive(Debug)]
pub struct SinCos;

impl Function<1, 2> for SinCos {
    const PARTIAL: bool = true;

    #[inline(always)]
    fn of<L: Lanes>([x]: [L; 1]) -> [L; 2] {
        crate::trig::sincos(x)
    }
}

/// Gives the list of functions to a macro.
macro_rules! with_functions {
    ($each:ident) => {
        $each! {
            /// `e` to the power `x`.
            exp Exp (x) = exp, total;
            /// 2 to the power `x`.
            exp2 Exp2 (x) = exp, total;
            /// 10 to the power `x`.
            exp10 Exp10 (x) = exp, total;
            /// `exp(x) - 1`, accurate near 0.
            expm1 Expm1 (x) = exp, total;
            /// The natural logarithm; of zero, `-inf`; NaN if `x` is negative.
            log Log (x) = log, partial;
            /// The logarithm to base 2; of zero, `-inf`; NaN if `x` is negative.
            log2 Log2 (x) = log, partial;
            /// The logarithm to base 10; of zero, `-inf`; NaN if `x` is negative.
            log10 Log10 (x) = log, partial;
            /// `log(1 + x)`, accurate near 0; of -1, `-inf`; NaN if `x` is less than -1.
            log1p Log1p (x) = log, partial;
            /// The sine of an angle in radians; NaN if it is infinite.
            sin Sin (x) = trig, partial;
            /// The cosine of an angle in radians; NaN if it is infinite.
            cos Cos (x) = trig, partial;
            /// The tangent of an angle in radians; NaN if it is infinite.
            tan Tan (x) = trig, partial;
            /// The angle in `[-pi/2, pi/2]` whose sine is `x`; NaN outside `[-1, 1]`.
            asin Asin (x) = atan, partial;
            /// The angle in `[0, pi]` whose cosine is `x`; NaN outside `[-1, 1]`.
            acos Acos (x) = atan, partial;
            /// The angle in `[-pi/2, pi/2]` whose tangent is `x`.
            atan Atan (x) = atan, total;
            /// The angle in `[-pi, pi]` of the point `(x, y)`.
            atan2 Atan2 (y x) = atan, total;
            /// The hyperbolic sine.
            sinh Sinh (x) = hyperbolic, total;
            /// The hyperbolic cosine.
            cosh Cosh (x) = hyperbolic, total;
            /// The hyperbolic tangent.
            tanh Tanh (x) = hyperbolic, total;
            /// `x` to the power `y`, as in IEEE 754; NaN if `x` is negative and `y` is finite and not whole.
            pow Pow (x y) = pow, partial;
            /// The error function.
            erf Erf (x) = erf, total;
            /// The square root, correctly rounded; NaN if `x` is negative.
            sqrt Sqrt (x) = roots, partial;
            /// The cube root.
            cbrt Cbrt (x) = roots, total;
            /// `sqrt(x^2 + y^2)`; infinite if either is, even if the other is NaN.
            hypot Hypot (x y) = roots, total;
        }
    };
}

pub(crate) use with_functions;

/// The number of some names.
macro_rules! count {
    ($($name:ident)*) => { [$(stringify!($name)),*].len() };
}

pub(crate) use count;

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $file:ident, $kind:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $ty;

            impl Function<{ count!($($arg)*) }> for $ty {
                const PARTIAL: bool = matches!(stringify!($kind).as_bytes(), b"partial");

                #[inline(always)]
                fn of<L: Lanes>([$($arg),*]: [L; count!($($arg)*)]) -> [L; 1] {
                    [crate::$file::$name($($arg),*)]
                }
            }
        )*
    };
}

with_functions!(types);
