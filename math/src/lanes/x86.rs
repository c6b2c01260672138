//! Two lanes (FMA), four (AVX2 and FMA), eight (AVX-512F).
//!
//! The methods are inlined into functions that enable these features, and may be called in no others.

#![allow(unsafe_code, reason = "intrinsics, where the features of the CPU are known")]

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::scalar::Hardware;
use super::{Lanes, SIGN};

/// Defines the lanes of a width from the names of its intrinsics.
macro_rules! lanes {
    (
        $(#[$doc:meta])* $name:ident($float:ident, $int:ident) x $count:literal, mask $mask:ident;
        $set1:ident $loadu:ident $storeu:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident;
        $to_int:ident $to_float:ident $and:ident $or:ident $xor:ident $add_i:ident $sub_i:ident $shl:ident
        $shr:ident;
        $($rest:item)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub $float);

        impl From<$float> for $name {
            #[inline(always)]
            fn from(lanes: $float) -> Self {
                Self(lanes)
            }
        }

        lanes!($name Add add $add, Sub sub $sub, Mul mul $mul, Div div $div);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.xor(Self::bits(SIGN))
            }
        }

        // SAFETY, for each intrinsic: the caller enabled the features of this width. Loads and stores are
        // within slices of checked lengths.
        impl Lanes for $name {
            type Mask = $mask;
            type Lane = Hardware;
            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(x: f64) -> Self {
                Self(unsafe { $set1(x) })
            }
            #[inline(always)]
            fn load(from: &[f64]) -> Self {
                Self(unsafe { $loadu(from[..$count].as_ptr()) })
            }
            #[inline(always)]
            fn store(self, to: &mut [f64]) {
                unsafe { $storeu(to[..$count].as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn fma(self, y: Self, z: Self) -> Self {
                Self(unsafe { $fma(self.0, y.0, z.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn and(self, y: Self) -> Self {
                Self(unsafe { $to_float($and($to_int(self.0), $to_int(y.0))) })
            }
            #[inline(always)]
            fn or(self, y: Self) -> Self {
                Self(unsafe { $to_float($or($to_int(self.0), $to_int(y.0))) })
            }
            #[inline(always)]
            fn xor(self, y: Self) -> Self {
                Self(unsafe { $to_float($xor($to_int(self.0), $to_int(y.0))) })
            }
            #[inline(always)]
            fn add_bits(self, y: Self) -> Self {
                Self(unsafe { $to_float($add_i($to_int(self.0), $to_int(y.0))) })
            }
            #[inline(always)]
            fn sub_bits(self, y: Self) -> Self {
                Self(unsafe { $to_float($sub_i($to_int(self.0), $to_int(y.0))) })
            }
            #[inline(always)]
            fn shl<const N: u32>(self) -> Self {
                Self(unsafe { $to_float($shl($to_int(self.0), _mm_cvtsi32_si128(N as i32))) })
            }
            #[inline(always)]
            fn shr<const N: u32>(self) -> Self {
                Self(unsafe { $to_float($shr($to_int(self.0), _mm_cvtsi32_si128(N as i32))) })
            }
            #[inline(always)]
            fn replace<const N: usize>(
                self,
                mask: Self::Mask,
                args: [Self; N],
                f: impl Fn([Hardware; N]) -> Hardware,
            ) -> Self {
                super::replace_lanes::<Self, N, $count>(self, mask, args, f)
            }
            $($rest)*
        }
    };
    ($name:ident $($op:ident $method:ident $intrinsic:ident),*) => {
        $(impl $op for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, y: Self) -> Self {
                // SAFETY: the caller enabled the features of this width.
                Self(unsafe { $intrinsic(self.0, y.0) })
            }
        })*
    };
}

/// Defines masks that are vectors of the same width, and tables that are looked up one lane after the
/// other.
macro_rules! vector_mask {
    ($float:ident; $cmp:ident $and:ident $or:ident $xor:ident $cast:ident $set1:ident $movemask:ident
        $blendv:ident) => {
        #[inline(always)]
        fn lt(self, y: Self) -> $float {
            unsafe { $cmp::<_CMP_LT_OQ>(self.0, y.0) }
        }
        #[inline(always)]
        fn is_nan(self) -> $float {
            unsafe { $cmp::<_CMP_UNORD_Q>(self.0, self.0) }
        }
        #[inline(always)]
        fn both(x: $float, y: $float) -> $float {
            unsafe { $and(x, y) }
        }
        #[inline(always)]
        fn either(x: $float, y: $float) -> $float {
            unsafe { $or(x, y) }
        }
        #[inline(always)]
        fn not(x: $float) -> $float {
            unsafe { $xor(x, $cast($set1(-1))) }
        }
        #[inline(always)]
        fn any(x: $float) -> bool {
            unsafe { $movemask(x) != 0 }
        }
        #[inline(always)]
        fn select(mask: $float, x: Self, y: Self) -> Self {
            Self(unsafe { $blendv(y.0, x.0, mask) })
        }
        #[inline(always)]
        fn look_up(table: &'static [f64; 16], at: Self) -> Self {
            Self::gather(table, at)
        }
    };
}

lanes! {
    /// Two lanes.
    F64x2(__m128d, __m128i) x 2, mask __m128d;
    _mm_set1_pd _mm_loadu_pd _mm_storeu_pd _mm_add_pd _mm_sub_pd _mm_mul_pd _mm_div_pd _mm_fmadd_pd _mm_sqrt_pd;
    _mm_castpd_si128 _mm_castsi128_pd _mm_and_si128 _mm_or_si128 _mm_xor_si128 _mm_add_epi64 _mm_sub_epi64
    _mm_sll_epi64 _mm_srl_epi64;

    vector_mask! {
        __m128d; _mm_cmp_pd _mm_and_pd _mm_or_pd _mm_xor_pd _mm_castsi128_pd _mm_set1_epi64x _mm_movemask_pd
        _mm_blendv_pd
    }
    #[inline(always)]
    fn gather<const N: usize>(table: &'static [f64; N], at: Self) -> Self {
        const { assert!(N.is_power_of_two()) };
        let at = at.and(Self::bits(N as u64 - 1));
        // SAFETY: each place is less than the length of the table.
        unsafe {
            let at = _mm_castpd_si128(at.0);
            let low = _mm_load_sd(table.as_ptr().add(_mm_cvtsi128_si64(at) as usize));
            Self(_mm_loadh_pd(low, table.as_ptr().add(_mm_extract_epi64::<1>(at) as usize)))
        }
    }
}

lanes! {
    /// Four lanes.
    F64x4(__m256d, __m256i) x 4, mask __m256d;
    _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd
    _mm256_fmadd_pd _mm256_sqrt_pd;
    _mm256_castpd_si256 _mm256_castsi256_pd _mm256_and_si256 _mm256_or_si256 _mm256_xor_si256 _mm256_add_epi64
    _mm256_sub_epi64 _mm256_sll_epi64 _mm256_srl_epi64;

    vector_mask! {
        __m256d; _mm256_cmp_pd _mm256_and_pd _mm256_or_pd _mm256_xor_pd _mm256_castsi256_pd _mm256_set1_epi64x _mm256_movemask_pd
        _mm256_blendv_pd
    }
    #[inline(always)]
    fn gather<const N: usize>(table: &'static [f64; N], at: Self) -> Self {
        const { assert!(N.is_power_of_two()) };
        let at = at.and(Self::bits(N as u64 - 1));
        // SAFETY: each place is less than the length of the table.
        Self(unsafe { _mm256_i64gather_pd::<8>(table.as_ptr(), _mm256_castpd_si256(at.0)) })
    }
}

lanes! {
    /// Eight lanes.
    F64x8(__m512d, __m512i) x 8, mask __mmask8;
    _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd
    _mm512_fmadd_pd _mm512_sqrt_pd;
    _mm512_castpd_si512 _mm512_castsi512_pd _mm512_and_si512 _mm512_or_si512 _mm512_xor_si512 _mm512_add_epi64
    _mm512_sub_epi64 _mm512_sll_epi64 _mm512_srl_epi64;

    #[inline(always)]
    fn lt(self, y: Self) -> __mmask8 {
        unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, y.0) }
    }
    #[inline(always)]
    fn is_nan(self) -> __mmask8 {
        unsafe { _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(self.0, self.0) }
    }
    #[inline(always)]
    fn both(x: __mmask8, y: __mmask8) -> __mmask8 {
        x & y
    }
    #[inline(always)]
    fn either(x: __mmask8, y: __mmask8) -> __mmask8 {
        x | y
    }
    #[inline(always)]
    fn not(x: __mmask8) -> __mmask8 {
        !x
    }
    #[inline(always)]
    fn any(x: __mmask8) -> bool {
        x != 0
    }
    #[inline(always)]
    fn select(mask: __mmask8, x: Self, y: Self) -> Self {
        Self(unsafe { _mm512_mask_blend_pd(mask, y.0, x.0) })
    }
    #[inline(always)]
    fn look_up(table: &'static [f64; 16], at: Self) -> Self {
        // SAFETY: both halves are within the table.
        unsafe {
            let (low, high) = (_mm512_loadu_pd(table.as_ptr()), _mm512_loadu_pd(table.as_ptr().add(8)));
            Self(_mm512_permutex2var_pd(low, _mm512_castpd_si512(at.0), high))
        }
    }
    #[inline(always)]
    fn gather<const N: usize>(table: &'static [f64; N], at: Self) -> Self {
        const { assert!(N.is_power_of_two()) };
        let at = at.and(Self::bits(N as u64 - 1));
        // SAFETY: each place is less than the length of the table.
        Self(unsafe { _mm512_i64gather_pd::<8>(_mm512_castpd_si512(at.0), table.as_ptr()) })
    }
}
