//! Processor time: what a run takes whatever else the machine does at the same time.

#![allow(unsafe_code, reason = "the clock of the process is one of the C library")]

use std::time::Duration;

/// The processor time that this process has taken so far, all threads together.
///
/// # Panics
/// If the system has no such clock.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value of ours that lives longer than the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "there is a clock of the process");
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// The time since the first call: other systems tell nothing else.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// The seconds of processor time that `work` takes, and what it returns.
pub fn cpu_seconds<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = cpu_time();
    let result = work();
    ((cpu_time() - start).as_secs_f64(), result)
}
