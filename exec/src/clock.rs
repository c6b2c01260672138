//! The clock of a host.
//!
//! The profiler reads the cycle counter of the processor where there is a steady one: that costs a
//! quarter of a call of the system's clock. Its ticks become nanoseconds when they are shown.

use std::fmt;
use std::time::Instant;

/// Nanoseconds since some fixed time, and ticks.
pub(crate) struct Clock {
    start: Instant,
    ticks: Ticks,
}

enum Ticks {
    /// Nobody has asked yet; to find out how long a tick is takes a part of a millisecond.
    Unknown,
    Counter(quanta::Clock),
    /// A clock that somebody set, whose ticks are nanoseconds.
    Given(Box<dyn FnMut() -> u64>),
}

impl Default for Clock {
    fn default() -> Self {
        Self { start: Instant::now(), ticks: Ticks::Unknown }
    }
}

impl Clock {
    /// A clock that gives nanoseconds.
    pub(crate) fn given(clock: impl FnMut() -> u64 + 'static) -> Self {
        Self { start: Instant::now(), ticks: Ticks::Given(Box::new(clock)) }
    }

    /// Returns the time in nanoseconds.
    pub(crate) fn now(&mut self) -> u64 {
        match &mut self.ticks {
            Ticks::Given(clock) => clock(),
            _ => self.start.elapsed().as_nanos() as u64,
        }
    }

    /// Returns the time in ticks.
    #[inline]
    pub(crate) fn ticks(&mut self) -> u64 {
        match &mut self.ticks {
            Ticks::Counter(counter) => counter.raw(),
            Ticks::Given(clock) => clock(),
            Ticks::Unknown => self.first_ticks(),
        }
    }

    #[cold]
    fn first_ticks(&mut self) -> u64 {
        let counter = quanta::Clock::new();
        let ticks = counter.raw();
        self.ticks = Ticks::Counter(counter);
        ticks
    }

    /// Returns whether somebody set it.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self.ticks, Ticks::Given(_))
    }

    /// Returns how many nanoseconds a tick takes.
    pub(crate) fn nanoseconds_per_tick(&self) -> f64 {
        match &self.ticks {
            Ticks::Counter(counter) => {
                counter.delta_as_nanos(0, 1 << 40) as f64 / (1u64 << 40) as f64
            }
            _ => 1.0,
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}
