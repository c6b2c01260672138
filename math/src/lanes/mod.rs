//! Floats side by side: one of them, or as many as a register of the CPU holds.
//!
//! Each function is written once, for any [`Lanes`]. Every operation here is one of IEEE 754 or one
//! on bits, so that a lane gets the bits that the scalar gets, whatever the CPU.

pub mod fused;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod scalar;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Floats side by side. A lane is read as a float or as its 64 bits.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// A bool for each lane.
    type Mask: Copy;
    /// One lane.
    type Lane: Lanes<Mask = bool> + Into<f64> + From<f64>;
    /// The number of lanes.
    const COUNT: usize;

    /// The same float in each lane.
    fn splat(x: f64) -> Self;
    /// The lanes of a slice of [`Self::COUNT`] floats.
    fn load(from: &[f64]) -> Self;
    /// Stores the lanes to a slice of [`Self::COUNT`] floats.
    fn store(self, to: &mut [f64]);

    /// `self * y + z`, rounded once.
    fn fma(self, y: Self, z: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;

    /// The lanes in which `self < y`.
    fn lt(self, y: Self) -> Self::Mask;
    /// The lanes that are NaN.
    fn is_nan(self) -> Self::Mask;
    /// The lanes that are in both of two masks.
    fn both(x: Self::Mask, y: Self::Mask) -> Self::Mask;
    /// The lanes that are in one of two masks.
    fn either(x: Self::Mask, y: Self::Mask) -> Self::Mask;
    /// The lanes that are in no mask.
    fn not(x: Self::Mask) -> Self::Mask;
    /// Returns whether any lane is in a mask.
    fn any(x: Self::Mask) -> bool;
    /// Lanes of `x` where the mask holds, of `y` elsewhere.
    fn select(mask: Self::Mask, x: Self, y: Self) -> Self;

    /// The bits in both.
    fn and(self, y: Self) -> Self;
    /// The bits in either.
    fn or(self, y: Self) -> Self;
    /// The bits in one of them.
    fn xor(self, y: Self) -> Self;
    /// The wrapping sum of the bits as integers.
    fn add_bits(self, y: Self) -> Self;
    /// The wrapping difference of the bits as integers.
    fn sub_bits(self, y: Self) -> Self;
    /// The bits, shifted left.
    fn shl<const N: u32>(self) -> Self;
    /// The bits, shifted right, with zeros shifted in.
    fn shr<const N: u32>(self) -> Self;

    /// The floats of a table at the low four bits of each lane.
    fn look_up(table: &'static [f64; 16], at: Self) -> Self;
    /// The floats of a table at the bits of each lane, which are less than its length.
    ///
    /// Lanes that are not are cut to it, which costs nothing where it is a power of two.
    fn gather<const N: usize>(table: &'static [f64; N], at: Self) -> Self;

    /// Replaces the lanes in a mask by a function of the same lanes of some arguments.
    fn replace<const N: usize>(
        self,
        mask: Self::Mask,
        args: [Self; N],
        f: impl Fn([Self::Lane; N]) -> Self::Lane,
    ) -> Self;

    /// The same bits in each lane.
    #[inline(always)]
    fn bits(x: u64) -> Self {
        Self::splat(f64::from_bits(x))
    }

    /// The absolute value.
    #[inline(always)]
    fn abs(self) -> Self {
        self.and(Self::bits(!SIGN))
    }

    /// The sign bit alone.
    #[inline(always)]
    fn sign(self) -> Self {
        self.and(Self::bits(SIGN))
    }

    /// The lanes in which `self >= y`, or one of them is NaN.
    #[inline(always)]
    fn not_lt(self, y: Self) -> Self::Mask {
        Self::not(self.lt(y))
    }
}

/// The sign bit of a float.
pub const SIGN: u64 = 1 << 63;

/// [`Lanes::replace`] by way of memory.
#[inline(always)]
fn replace_lanes<L: Lanes, const N: usize, const COUNT: usize>(
    lanes: L,
    mask: L::Mask,
    args: [L; N],
    f: impl Fn([L::Lane; N]) -> L::Lane,
) -> L {
    if !L::any(mask) {
        return lanes;
    }
    std::hint::cold_path();
    let (mut results, mut chosen, mut inputs) = ([0.0; COUNT], [0.0; COUNT], [[0.0; COUNT]; N]);
    lanes.store(&mut results);
    L::select(mask, L::splat(1.0), L::splat(0.0)).store(&mut chosen);
    for (input, arg) in inputs.iter_mut().zip(args) {
        arg.store(input);
    }
    for (i, result) in results.iter_mut().enumerate() {
        if chosen[i] != 0.0 {
            let mut one = [L::Lane::from(0.0); N];
            for (one, input) in one.iter_mut().zip(&inputs) {
                *one = input[i].into();
            }
            *result = f(one).into();
        }
    }
    L::load(&results)
}
