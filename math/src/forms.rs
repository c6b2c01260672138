//! The forms of each function, for callers in Rust and for generators of native code.
//!
//! Addresses have these types in C, where `f64xN` is the vector type of that many lanes, in a register
//! (`__m128d`, `__m256d`, `__m512d`, `float64x2_t`):
//!
//! | form | one argument | two |
//! |---|---|---|
//! | scalar | `double f(double)` | `double f(double, double)` |
//! | lanes | `f64xN f(f64xN)` | `f64xN f(f64xN, f64xN)` |
//! | strip | `bool f(const double *x, double *out, size_t n)` | `bool f(x, y, out, n)` |
//!
//! Lanes outside the domain are NaN. A strip returns whether there were any: the result is NaN, and no argument
//! is. The output may begin where an argument does; apart from that it overlaps none.
//!
//! A function of several results, as `sincos`, has the form for strips alone: `out` has room for all of the first
//! results and, behind these, all of the next. So do operations of arithmetic, as `add`.

#![allow(
    unsafe_code,
    reason = "entry points for native code; features that the CPU was found to have"
)]

use std::sync::LazyLock;

use crate::arithmetic::with_operations;
use crate::function::{Function, count, with_functions};
use crate::lanes::Lanes;
use crate::lanes::scalar::Software;

/// A function in all its forms, which give the same bits.
#[derive(Debug)]
pub struct Forms {
    /// Its name, which is that of the op `math.NAME`, or `arith.NAME` of an operation, if it has one result.
    pub name: &'static str,
    /// The number of arguments, 1 or 2.
    pub args: usize,
    /// The number of results, 1 or 2.
    pub results: usize,
    /// True if it is NaN for arguments outside its domain.
    pub partial: bool,
    scalar: Option<Entry>,
    /// For two, four and eight lanes.
    lanes: [Option<Entry>; 3],
    /// For strips that are computed by one, two, four and eight lanes.
    strips: [Option<Entry>; 4],
}

/// The address of a function.
#[derive(Clone, Copy, Debug)]
struct Entry(*const ());

// SAFETY: functions are never written to.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Forms {
    /// Every function, for this CPU, those that have the form for strips alone last.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Forms>> = LazyLock::new(|| {
            let mut all = all();
            all.push(sincos());
            all.extend(operations());
            all
        });
        &ALL
    }

    /// The function of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|forms| forms.name == name)
    }

    /// The address of the scalar form; `None` if it has the form for strips alone.
    pub fn scalar(&self) -> Option<*const ()> {
        self.scalar.map(|entry| entry.0)
    }

    /// The address of the form for 2, 4 or 8 lanes; `None` if this CPU has no registers for these, or it has the form for
    /// strips alone.
    pub fn lanes(&self, count: usize) -> Option<*const ()> {
        let at = [2, 4, 8].iter().position(|&known| known == count)?;
        self.lanes[at].map(|entry| entry.0)
    }

    /// The address of the fastest form for strips.
    pub fn strip(&self) -> *const () {
        self.strips.iter().rev().flatten().next().expect("one lane is always there").0
    }

    /// Computes the function for each element. Returns whether some elements were outside the domain, for which
    /// the result is NaN. All first results come first, then all second ones.
    ///
    /// # Panics
    /// If there are not as many slices as arguments, their lengths differ, or there is not as much room for results.
    pub fn map(&self, args: &[&[f64]], out: &mut [f64]) -> bool {
        let widest = self.strips.iter().flatten().count() - 1;
        self.map_by(1 << widest, args, out).expect("this width is there")
    }

    /// As [`map`](Self::map), by as many lanes; `None` if this CPU does not have them.
    ///
    /// # Panics
    /// As [`map`](Self::map).
    pub fn map_by(&self, count: usize, args: &[&[f64]], out: &mut [f64]) -> Option<bool> {
        let at = [1, 2, 4, 8].iter().position(|&known| known == count)?;
        let Entry(strip) = self.strips[at]?;
        let count = out.len() / self.results;
        let fits = out.len() == count * self.results && args.iter().all(|arg| arg.len() == count);
        assert!(fits, "slices of different lengths");
        // SAFETY: addresses have these types, and slices their lengths.
        unsafe {
            match (self.args, args) {
                (1, [x]) => {
                    let strip: Strip1 = std::mem::transmute(strip);
                    Some(strip(x.as_ptr(), out.as_mut_ptr(), count))
                }
                (2, [x, y]) => {
                    let strip: Strip2 = std::mem::transmute(strip);
                    Some(strip(x.as_ptr(), y.as_ptr(), out.as_mut_ptr(), count))
                }
                _ => panic!("`{}` takes {} arguments, not {}", self.name, self.args, args.len()),
            }
        }
    }
}

/// A strip of a function of one argument.
type Strip1 = unsafe extern "C" fn(*const f64, *mut f64, usize) -> bool;
/// A strip of a function of two.
type Strip2 = unsafe extern "C" fn(*const f64, *const f64, *mut f64, usize) -> bool;

/// Computes a function for `n` elements.
///
/// It has no closures, which would be compiled without the features of the lanes.
///
/// # Safety
/// Each pointer has `n` elements behind it, that to results as many for each, and the CPU has the features of the lanes.
#[inline(always)]
unsafe fn strip<L: Lanes, F: Function<N, R>, const N: usize, const R: usize>(
    args: [*const f64; N],
    out: *mut f64,
    n: usize,
) -> bool {
    if n == 0 {
        return false;
    }
    let (mut from, mut to, mut count) = (args, [out; R], n);
    for (r, to) in to.iter_mut().enumerate() {
        // SAFETY: there are `n` places for each result.
        *to = unsafe { out.add(r * n) };
    }
    let (mut buffers, mut results) = ([[0.0; 8]; N], [[0.0; 8]; R]);
    let ends = to;
    if n < L::COUNT {
        // The last element is repeated.
        for ((buffer, from), arg) in buffers.iter_mut().zip(&mut from).zip(args) {
            for (i, lane) in buffer.iter_mut().enumerate() {
                // SAFETY: the place is less than `n`.
                *lane = unsafe { *arg.add(i.min(n - 1)) };
            }
            *from = buffer.as_ptr();
        }
        for (to, results) in to.iter_mut().zip(&mut results) {
            *to = results.as_mut_ptr();
        }
        count = L::COUNT;
    }
    let whole = count - count % L::COUNT;
    let mut last = [L::splat(0.0); N];
    if whole < count {
        // The last elements, some of which come twice: they are loaded before the output may replace them.
        for (last, from) in last.iter_mut().zip(from) {
            // SAFETY: `COUNT <= count`.
            let slice = unsafe { std::slice::from_raw_parts(from.add(count - L::COUNT), L::COUNT) };
            *last = L::load(slice);
        }
    }
    let mut outside = false;
    let mut lanes = [L::splat(0.0); N];
    let mut i = 0;
    while i < whole {
        for (lanes, from) in lanes.iter_mut().zip(from) {
            // SAFETY: `i + COUNT <= count`; the slice is gone when the output is written.
            *lanes = L::load(unsafe { std::slice::from_raw_parts(from.add(i), L::COUNT) });
        }
        let all = F::of(lanes);
        for (result, to) in all.into_iter().zip(to) {
            // SAFETY: as above.
            result.store(unsafe { std::slice::from_raw_parts_mut(to.add(i), L::COUNT) });
        }
        outside |= is_outside::<L, F, N, R>(&lanes, all[0]);
        i += L::COUNT;
    }
    if whole < count {
        let all = F::of(last);
        for (result, to) in all.into_iter().zip(to) {
            // SAFETY: as above.
            let end = unsafe { std::slice::from_raw_parts_mut(to.add(count - L::COUNT), L::COUNT) };
            result.store(end);
        }
        outside |= is_outside::<L, F, N, R>(&last, all[0]);
    }
    if n < L::COUNT {
        for (results, end) in results.iter().zip(ends) {
            for (i, &result) in results.iter().take(n).enumerate() {
                // SAFETY: as above.
                unsafe { *end.add(i) = result };
            }
        }
    }
    outside
}

/// Returns whether there is a lane whose result is NaN, and none of whose arguments is.
#[inline(always)]
fn is_outside<L: Lanes, F: Function<N, R>, const N: usize, const R: usize>(
    args: &[L; N],
    result: L,
) -> bool {
    if !F::PARTIAL || !L::any(result.is_nan()) {
        return false;
    }
    std::hint::cold_path();
    let mut nan = L::splat(0.0).is_nan();
    for arg in args {
        nan = L::either(nan, arg.is_nan());
    }
    L::any(L::both(result.is_nan(), L::not(nan)))
}

/// The entry points of one width: a module with a function for each form.
macro_rules! width {
    ($(#[$cfg:meta])* $name:ident, $lanes:ty, $raw:ty, $out:ident => $unwrapped:expr, $(#[$feature:meta])*) => {
        $(#[$cfg])*
        #[allow(improper_ctypes_definitions, reason = "vectors go in registers, as in C")]
        mod $name {
            use super::*;

            $(#[$feature])*
            pub unsafe extern "C" fn one<F: Function<1>>(x: $raw) -> $raw {
                let [$out] = F::of([<$lanes>::from(x)]);
                $unwrapped
            }

            $(#[$feature])*
            pub unsafe extern "C" fn two<F: Function<2>>(x: $raw, y: $raw) -> $raw {
                let [$out] = F::of([<$lanes>::from(x), <$lanes>::from(y)]);
                $unwrapped
            }

            $(#[$feature])*
            pub unsafe extern "C" fn strip_one<F: Function<1>>(x: *const f64, out: *mut f64, n: usize) -> bool {
                // SAFETY: as the caller says.
                unsafe { strip::<$lanes, F, 1, 1>([x], out, n) }
            }

            $(#[$feature])*
            pub unsafe extern "C" fn strip_pair<F: Function<1, 2>>(x: *const f64, out: *mut f64, n: usize) -> bool {
                // SAFETY: as the caller says.
                unsafe { strip::<$lanes, F, 1, 2>([x], out, n) }
            }

            $(#[$feature])*
            pub unsafe extern "C" fn strip_two<F: Function<2>>(
                x: *const f64,
                y: *const f64,
                out: *mut f64,
                n: usize,
            ) -> bool {
                // SAFETY: as the caller says.
                unsafe { strip::<$lanes, F, 2, 1>([x, y], out, n) }
            }

            pub fn unary<F: Function<1>>() -> [Entry; 2] {
                [
                    Entry(one::<F> as unsafe extern "C" fn($raw) -> $raw as *const ()),
                    Entry(strip_one::<F> as Strip1 as *const ()),
                ]
            }

            pub fn pair<F: Function<1, 2>>() -> Entry {
                Entry(strip_pair::<F> as Strip1 as *const ())
            }

            pub fn binary<F: Function<2>>() -> [Entry; 2] {
                [
                    Entry(two::<F> as unsafe extern "C" fn($raw, $raw) -> $raw as *const ()),
                    Entry(strip_two::<F> as Strip2 as *const ()),
                ]
            }
        }
    };
}

#[cfg(target_arch = "aarch64")]
use crate::lanes::neon::F64x2;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::lanes::scalar::Hardware;
#[cfg(target_arch = "x86_64")]
use crate::lanes::x86::{F64x2, F64x4, F64x8};

width!(software, Software, f64, x => x.0,);
width! {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    hardware, Hardware, f64, x => x.0,
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
}
width! {
    #[cfg(target_arch = "x86_64")]
    two, F64x2, std::arch::x86_64::__m128d, x => x.0, #[target_feature(enable = "sse4.1,fma")]
}
width! {
    #[cfg(target_arch = "x86_64")]
    four, F64x4, std::arch::x86_64::__m256d, x => x.0, #[target_feature(enable = "avx2,fma")]
}
width! {
    #[cfg(target_arch = "x86_64")]
    eight, F64x8, std::arch::x86_64::__m512d, x => x.0, #[target_feature(enable = "avx512f")]
}
width! {
    #[cfg(target_arch = "aarch64")]
    two, F64x2, std::arch::aarch64::float64x2_t, x => x.0,
}

/// The forms that this CPU has: for one lane, two, four and eight.
macro_rules! entries {
    ($arity:ident, $ty:ty) => {{
        let mut entries = [Some(software::$arity::<$ty>()), None, None, None];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("fma") {
            entries[0] = Some(hardware::$arity::<$ty>());
            entries[1] = std::arch::is_x86_feature_detected!("sse4.1").then(two::$arity::<$ty>);
            entries[2] = std::arch::is_x86_feature_detected!("avx2").then(four::$arity::<$ty>);
            entries[3] = std::arch::is_x86_feature_detected!("avx512f").then(eight::$arity::<$ty>);
        }
        #[cfg(target_arch = "aarch64")]
        {
            entries[0] = Some(hardware::$arity::<$ty>());
            entries[1] = Some(two::$arity::<$ty>());
        }
        entries
    }};
}

fn unary<F: Function<1>>() -> [Option<[Entry; 2]>; 4] {
    entries!(unary, F)
}

fn binary<F: Function<2>>() -> [Option<[Entry; 2]>; 4] {
    entries!(binary, F)
}

fn sincos() -> Forms {
    type F = crate::function::SinCos;
    Forms {
        name: "sincos",
        args: 1,
        results: 2,
        partial: <F as Function<1, 2>>::PARTIAL,
        scalar: None,
        lanes: [None; 3],
        strips: entries!(pair, F),
    }
}

macro_rules! arity {
    ($ty:ty, $x:ident) => {
        unary::<$ty>()
    };
    ($ty:ty, $x:ident $y:ident) => {
        binary::<$ty>()
    };
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $value:expr;)*) => {
        fn operations() -> [Forms; count!($($name)*)] {
            [$(Forms {
                name: stringify!($name),
                args: count!($($arg)*),
                results: 1,
                partial: false,
                scalar: None,
                lanes: [None; 3],
                strips: arity!(crate::arithmetic::$ty, $($arg)*)
                    .map(|found| found.map(|[_, strip]| strip)),
            }),*]
        }
    };
}

with_operations!(operations);

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident $ty:ident ($($arg:ident)*) = $file:ident, $kind:ident;)*) => {
        fn all() -> Vec<Forms> {
            vec![$({
                const ARGS: usize = count!($($arg)*);
                let entries = arity!(crate::function::$ty, $($arg)*);
                let [scalar, two, four, eight] = entries.map(|found| found.map(|[lanes, _]| lanes));
                Forms {
                    name: stringify!($name),
                    args: ARGS,
                    results: 1,
                    partial: <crate::function::$ty as Function<ARGS>>::PARTIAL,
                    scalar,
                    lanes: [two, four, eight],
                    strips: entries.map(|found| found.map(|[_, strip]| strip)),
                }
            }),*]
        }
    };
}

with_functions!(table);
