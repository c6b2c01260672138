//! Operations of arithmetic, for strips: native code has instructions for one float.

use crate::function::{Function, count};
use crate::lanes::Lanes;

/// Gives the list of operations to a macro.
macro_rules! with_operations {
    ($each:ident) => {
        $each! {
            /// The sum.
            add Add (x y) = x + y;
            /// The difference.
            sub Sub (x y) = x - y;
            /// The product.
            mul Mul (x y) = x * y;
            /// The product; 0 if either is 0, whatever the other one is.
            mulz Mulz (x y) = mulz(x, y);
            /// The quotient.
            fdiv Fdiv (x y) = x / y;
            /// The number with the other sign.
            neg Neg (x) = -x;
            /// The absolute value.
            abs Abs (x) = x.abs();
        }
    };
}

pub(crate) use with_operations;

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $value:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $ty;

            impl Function<{ count!($($arg)*) }> for $ty {
                const PARTIAL: bool = false;

                #[inline(always)]
                fn of<L: Lanes>([$($arg),*]: [L; count!($($arg)*)]) -> [L; 1] {
                    [$value]
                }
            }
        )*
    };
}

with_operations!(types);

#[inline(always)]
fn mulz<L: Lanes>(x: L, y: L) -> L {
    let product = x * y;
    if !L::any(product.is_nan()) {
        return product;
    }
    let zero = L::splat(0.0);
    let is_zero = |x: L| L::both(zero.not_lt(x.abs()), L::not(x.is_nan()));
    let wiped = L::both(product.is_nan(), L::either(is_zero(x), is_zero(y)));
    L::select(wiped, zero, product)
}
