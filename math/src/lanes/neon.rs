//! Two lanes of NEON, which every 64-bit ARM has.

#![allow(unsafe_code, reason = "intrinsics, of a feature that every CPU of this kind has")]

use std::arch::aarch64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::scalar::Hardware;
use super::{Lanes, SIGN};

/// Two lanes.
#[derive(Clone, Copy, Debug)]
pub struct F64x2(pub float64x2_t);

impl From<float64x2_t> for F64x2 {
    #[inline(always)]
    fn from(lanes: float64x2_t) -> Self {
        Self(lanes)
    }
}

macro_rules! operators {
    ($($op:ident $method:ident $intrinsic:ident),*) => {
        $(impl $op for F64x2 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, y: Self) -> Self {
                // SAFETY: every CPU of this kind has the feature.
                Self(unsafe { $intrinsic(self.0, y.0) })
            }
        })*
    };
}

operators!(Add add vaddq_f64, Sub sub vsubq_f64, Mul mul vmulq_f64, Div div vdivq_f64);

impl Neg for F64x2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.xor(Self::bits(SIGN))
    }
}

#[inline(always)]
fn int(x: F64x2) -> uint64x2_t {
    // SAFETY: as for all intrinsics here, every CPU of this kind has the feature.
    unsafe { vreinterpretq_u64_f64(x.0) }
}

#[inline(always)]
fn float(x: uint64x2_t) -> F64x2 {
    // SAFETY: as above.
    F64x2(unsafe { vreinterpretq_f64_u64(x) })
}

// SAFETY, for each intrinsic: every CPU of this kind has the feature. Loads and stores are within slices of
// checked lengths.
impl Lanes for F64x2 {
    type Mask = uint64x2_t;
    type Lane = Hardware;
    const COUNT: usize = 2;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(unsafe { vdupq_n_f64(x) })
    }
    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        Self(unsafe { vld1q_f64(from[..2].as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        unsafe { vst1q_f64(to[..2].as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn fma(self, y: Self, z: Self) -> Self {
        Self(unsafe { vfmaq_f64(z.0, self.0, y.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(unsafe { vsqrtq_f64(self.0) })
    }
    #[inline(always)]
    fn lt(self, y: Self) -> uint64x2_t {
        unsafe { vcltq_f64(self.0, y.0) }
    }
    #[inline(always)]
    fn is_nan(self) -> uint64x2_t {
        Self::not(unsafe { vceqq_f64(self.0, self.0) })
    }
    #[inline(always)]
    fn both(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
        unsafe { vandq_u64(x, y) }
    }
    #[inline(always)]
    fn either(x: uint64x2_t, y: uint64x2_t) -> uint64x2_t {
        unsafe { vorrq_u64(x, y) }
    }
    #[inline(always)]
    fn not(x: uint64x2_t) -> uint64x2_t {
        unsafe { veorq_u64(x, vdupq_n_u64(!0)) }
    }
    #[inline(always)]
    fn any(x: uint64x2_t) -> bool {
        unsafe { vmaxvq_u32(vreinterpretq_u32_u64(x)) != 0 }
    }
    #[inline(always)]
    fn select(mask: uint64x2_t, x: Self, y: Self) -> Self {
        Self(unsafe { vbslq_f64(mask, x.0, y.0) })
    }
    #[inline(always)]
    fn and(self, y: Self) -> Self {
        float(unsafe { vandq_u64(int(self), int(y)) })
    }
    #[inline(always)]
    fn or(self, y: Self) -> Self {
        float(unsafe { vorrq_u64(int(self), int(y)) })
    }
    #[inline(always)]
    fn xor(self, y: Self) -> Self {
        float(unsafe { veorq_u64(int(self), int(y)) })
    }
    #[inline(always)]
    fn add_bits(self, y: Self) -> Self {
        float(unsafe { vaddq_u64(int(self), int(y)) })
    }
    #[inline(always)]
    fn sub_bits(self, y: Self) -> Self {
        float(unsafe { vsubq_u64(int(self), int(y)) })
    }
    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        float(unsafe { vshlq_u64(int(self), vdupq_n_s64(i64::from(N))) })
    }
    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        // A shift to the left by less than nothing.
        float(unsafe { vshlq_u64(int(self), vdupq_n_s64(-i64::from(N))) })
    }
    #[inline(always)]
    fn look_up(table: &'static [f64; 16], at: Self) -> Self {
        Self::gather(table, at)
    }
    #[inline(always)]
    fn gather<const N: usize>(table: &'static [f64; N], at: Self) -> Self {
        let at = int(at.and(Self::bits(N as u64 - 1)));
        let (low, high) = unsafe { (vgetq_lane_u64::<0>(at), vgetq_lane_u64::<1>(at)) };
        Self::load(&[table[low as usize], table[high as usize]])
    }
    #[inline(always)]
    fn replace<const N: usize>(
        self,
        mask: uint64x2_t,
        args: [Self; N],
        f: impl Fn([Hardware; N]) -> Hardware,
    ) -> Self {
        super::replace_lanes::<Self, N, 2>(self, mask, args, f)
    }
}
