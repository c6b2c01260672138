//! The log of the profiler: when events started and ended, up to a fixed number.

use std::fmt::Write;

use regraft_ir::{Context, Loc, Symbol};

use crate::value::{Val, print_string};

/// The two ends of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// It starts, called from this place.
    Start(Loc),
    /// It ends.
    Stop,
}

/// An end of an event, with its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The time, in ticks of the clock.
    pub ticks: u64,
    /// The name of the event.
    pub event: Symbol,
    /// The kind of stamp: a start or an end.
    pub edge: Edge,
}

/// Time stamps, up to a fixed capacity: to add one allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct EventLog {
    stamps: Vec<Stamp>,
    capacity: usize,
    /// The number of stamps, those that found no room included.
    count: usize,
}

impl EventLog {
    /// A log that makes room for its stamps when the first one comes.
    pub(super) const fn new(capacity: usize) -> Self {
        Self { stamps: Vec::new(), capacity, count: 0 }
    }

    /// Returns the bytes that a log of that capacity takes.
    pub(super) const fn bytes(capacity: usize) -> usize {
        capacity.saturating_mul(size_of::<Stamp>())
    }

    /// Makes room now.
    pub(super) fn reserve(&mut self) {
        self.stamps.reserve_exact(self.capacity - self.stamps.len());
    }

    pub(super) fn clear(&mut self) {
        self.stamps.clear();
        self.count = 0;
    }

    pub(super) fn stamps(&self) -> &[Stamp] {
        &self.stamps
    }

    /// Returns how many stamps were added.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns how many stamps found no room.
    pub(super) fn lost(&self) -> usize {
        self.count - self.stamps.len()
    }

    /// Adds a stamp, and returns the place of its time.
    #[inline]
    pub(super) fn add(&mut self, event: Symbol, edge: Edge, ticks: u64) -> Option<&mut u64> {
        self.count += 1;
        if self.stamps.len() >= self.capacity {
            return None;
        }
        if self.stamps.capacity() == self.stamps.len() {
            self.reserve();
        }
        self.stamps.push(Stamp { ticks, event, edge });
        self.stamps.last_mut().map(|stamp| &mut stamp.ticks)
    }

    /// The log as text, as [`text`] writes it.
    pub(super) fn text(&self, ctx: &Context, nanoseconds_per_tick: f64) -> String {
        let first = self.stamps.first().map_or(0, |stamp| stamp.ticks);
        let stamps = self.stamps.iter().map(|stamp| {
            // A clock that was set back gives a negative time rather than none.
            let ticks = stamp.ticks.wrapping_sub(first) as i64;
            (ticks as f64 * nanoseconds_per_tick, stamp.event, stamp.edge)
        });
        text(ctx, stamps, (self.lost(), self.count))
    }
}

/// A log as text: one line a stamp, indented by nesting, with its time in nanoseconds; and first a
/// warning if so many stamps were lost of so many.
pub(super) fn text(
    ctx: &Context,
    stamps: impl Iterator<Item = (f64, Symbol, Edge)>,
    (lost, count): (usize, usize),
) -> String {
    let mut out = String::new();
    if lost > 0 {
        let _ = writeln!(
            out,
            "Warning: The recording buffer was too small, consider increasing it: \
             {lost} of {count} stamps were lost"
        );
    }
    let mut offset = 0usize;
    for (time, event, edge) in stamps {
        if edge == Edge::Stop {
            offset = offset.saturating_sub(1);
        }
        let time = print_string(ctx, &Val::F64(time.round()));
        let _ = writeln!(out, "{:offset$}{}: {time}", "", ctx.str(event));
        if edge != Edge::Stop {
            offset += 1;
        }
    }
    out
}
