//! Scalars in slots, and what is defined for all of them.
//!
//! ```
//! use regraft_dialects::semantics::scalar::Scalar;
//!
//! assert_eq!((-1i8).slot(), u64::MAX);
//! assert_eq!(f32::from_slot(1.5f32.slot()), 1.5);
//! ```

use std::fmt::Debug;

use super::Trap;
use crate::ir::Type;

/// A scalar type of the IR. A value fills a slot of 64 bits as [`ScalarFn`](crate::ir::ScalarFn)
/// says.
pub trait Scalar: Copy + PartialOrd + Debug + 'static {
    /// The type in the IR.
    const TYPE: Type;

    /// The scalar that the low bits of a slot hold.
    fn from_slot(slot: u64) -> Self;
    /// The slot of the scalar.
    fn slot(self) -> u64;
}

macro_rules! scalars {
    ($($ty:ident $name:ident: $slot:ident => $from:expr, $x:ident => $into:expr;)*) => {
        $(impl Scalar for $ty {
            const TYPE: Type = Type::$name;

            #[inline]
            fn from_slot($slot: u64) -> Self {
                $from
            }

            #[inline]
            fn slot(self) -> u64 {
                let $x = self;
                $into
            }
        })*
    };
}

scalars! {
    bool BOOL: slot => slot & 1 == 1, x => u64::from(x);
    i8 I8: slot => slot as i8, x => x as u64;
    i16 I16: slot => slot as i16, x => x as u64;
    i32 I32: slot => slot as i32, x => x as u64;
    i64 I64: slot => slot as i64, x => x as u64;
    f32 F32: slot => f32::from_bits(slot as u32), x => u64::from(x.to_bits());
    f64 F64: slot => f64::from_bits(slot), x => x.to_bits();
}

/// The result of a function in an `eval(..)`: a scalar, or a scalar unless it traps.
pub trait Outcome {
    /// Returns the slot of the scalar.
    ///
    /// # Errors
    /// The trap that it is.
    fn into_slot(self) -> Result<u64, Trap>;
}

impl<T: Scalar> Outcome for T {
    #[inline]
    fn into_slot(self) -> Result<u64, Trap> {
        Ok(self.slot())
    }
}

impl<T: Scalar> Outcome for Result<T, Trap> {
    #[inline]
    fn into_slot(self) -> Result<u64, Trap> {
        self.map(T::slot)
    }
}

macro_rules! comparisons {
    ($($name:ident $op:tt $doc:literal;)*) => {
        $(#[doc = concat!("[`arith::", $doc, "`](crate::arith::", $doc, ").")]
        #[inline]
        pub fn $name<T: Scalar>(x: T, y: T) -> bool {
            x $op y
        })*
    };
}

comparisons! {
    eq == "EQ";
    ne != "NE";
    lt < "LT";
    le <= "LE";
    gt > "GT";
    ge >= "GE";
}

/// [`core::SAME`](crate::core::SAME) of scalars of one type.
#[inline]
pub fn same<T: Scalar>(x: T, y: T) -> bool {
    x.slot() == y.slot()
}

/// [`core::HASH`](crate::core::HASH) of a scalar: the same for the same number of another type.
#[inline]
pub fn hash<T: Scalar>(x: T) -> i64 {
    let number = match T::TYPE {
        Type::F32 => whole_or_bits(f64::from(f32::from_slot(x.slot()))),
        Type::F64 => whole_or_bits(f64::from_slot(x.slot())),
        _ => x.slot(),
    };
    (mixed(number) >> 1).cast_signed()
}

/// The slot of a float that is a whole number as that number.
fn whole_or_bits(x: f64) -> u64 {
    let whole = x as i64;
    if whole as f64 == x && whole != i64::MAX && !(x == 0.0 && x.is_sign_negative()) {
        whole.slot()
    } else if x.is_nan() {
        f64::NAN.to_bits()
    } else {
        x.to_bits()
    }
}

/// A number all of whose bits depend on all bits of another (the finaliser of MurmurHash3).
#[inline]
pub fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

/// [`core::SELECT`](crate::core::SELECT).
#[inline]
pub fn select<T: Scalar>(condition: bool, x: T, y: T) -> T {
    if condition { x } else { y }
}
