//! Times of the phases that a program goes through, measured on request.
//!
//! Phases are nested: running asks for inference, and differentiation for optimization. Each
//! moment counts for the innermost phase. A session lives in one thread, and so does the clock;
//! unless it was started, to enter a phase is to look at a flag.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A phase that a program goes through.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// Text to syntax trees.
    Parse,
    /// Syntax trees to lowered IR.
    Lower,
    /// Lowered IR to typed functions.
    Infer,
    /// Derivatives of typed functions.
    Differentiate,
    /// Passes, before and after differentiation as well.
    Optimize,
    /// The interpreter.
    Run,
}

impl Phase {
    /// All phases, in the order in which a program goes through them.
    pub const ALL: [Self; 6] =
        [Self::Parse, Self::Lower, Self::Infer, Self::Differentiate, Self::Optimize, Self::Run];

    /// Its name: a verb.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Lower => "lower",
            Self::Infer => "infer",
            Self::Differentiate => "differentiate",
            Self::Optimize => "optimize",
            Self::Run => "run",
        }
    }
}

struct Clock {
    times: [Duration; Phase::ALL.len()],
    /// The phase that the time since then counts for.
    current: Option<Phase>,
    since: Instant,
}

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

/// Starts to measure what the sessions of this thread do, from zero.
pub fn measure_phases() {
    let clock =
        Clock { times: [Duration::ZERO; Phase::ALL.len()], current: None, since: Instant::now() };
    CLOCK.set(Some(clock));
    RUNNING.set(true);
}

/// The time that each phase took in this thread since [`measure_phases`]; all zero without it.
pub fn phase_times() -> [(Phase, Duration); Phase::ALL.len()] {
    let times = CLOCK.with_borrow(|clock| clock.as_ref().map(|clock| clock.times));
    let times = times.unwrap_or_default();
    Phase::ALL.map(|phase| (phase, times[phase as usize]))
}

/// A phase that ends when this is dropped.
#[must_use]
pub(crate) struct Entered(Option<Option<Phase>>);

/// Enters a phase.
#[inline]
pub(crate) fn enter(phase: Phase) -> Entered {
    if RUNNING.get() { Entered(switch(Some(phase))) } else { Entered(None) }
}

/// Makes another phase the one that time counts for, and gives the one before.
fn switch(phase: Option<Phase>) -> Option<Option<Phase>> {
    CLOCK.with_borrow_mut(|clock| {
        let clock = clock.as_mut()?;
        let before = std::mem::replace(&mut clock.current, phase);
        if before != phase {
            let now = Instant::now();
            if let Some(before) = before {
                clock.times[before as usize] += now - clock.since;
            }
            clock.since = now;
        }
        Some(before)
    })
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            switch(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_for_the_innermost_phase() {
        let pause = || std::thread::sleep(Duration::from_millis(2));
        let at = |phase: Phase| phase_times()[phase as usize].1;
        drop(enter(Phase::Run));
        assert_eq!(at(Phase::Run), Duration::ZERO, "nobody asked");
        measure_phases();
        {
            let _run = enter(Phase::Run);
            let _infer = enter(Phase::Infer);
            pause();
        }
        pause();
        assert!(at(Phase::Infer) >= Duration::from_millis(2));
        assert!(at(Phase::Run) < at(Phase::Infer));
        assert_eq!(at(Phase::Parse), Duration::ZERO);
    }
}
