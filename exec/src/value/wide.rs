//! Loops over elements for the lanes that this CPU has.

#![allow(unsafe_code)]

/// Runs loops, compiled for the widest lanes that this CPU has among those that are looked for. The closure is to be
/// `#[inline(always)]`.
pub(in crate::value) fn run_wide(loops: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn widest(loops: impl FnOnce()) {
            loops();
        }
        #[target_feature(enable = "avx2")]
        fn wide(loops: impl FnOnce()) {
            loops();
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the CPU has what the function uses.
            return unsafe { widest(loops) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has what the function uses.
            return unsafe { wide(loops) };
        }
    }
    loops();
}
