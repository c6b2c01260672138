//! The buffer of the recording profiler (`prof`).

use std::fmt::Write;

use regraft_ir::{Context, Symbol};

use crate::value::{Val, print_string};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edge {
    Start,
    Stop,
}

#[derive(Clone, Copy, Debug)]
struct Stamp {
    nanoseconds: u64,
    event: Symbol,
    edge: Edge,
}

/// Time stamps of events, up to a fixed capacity: recording allocates nothing.
#[derive(Debug)]
pub struct Calls {
    stamps: Vec<Stamp>,
    capacity: usize,
    /// The number of events, those that found no room included.
    count: usize,
}

/// The capacity that a buffer starts with.
const CAPACITY: usize = 101;

impl Default for Calls {
    fn default() -> Self {
        Self { stamps: Vec::with_capacity(CAPACITY), capacity: CAPACITY, count: 0 }
    }
}

impl Calls {
    /// The bytes that a buffer of that capacity takes.
    pub fn bytes(capacity: usize) -> usize {
        capacity.saturating_mul(size_of::<Stamp>())
    }

    /// Forgets what was recorded.
    pub fn reset(&mut self) {
        self.stamps.clear();
        self.count = 0;
    }

    /// Changes the capacity, and forgets what was recorded.
    pub fn resize(&mut self, capacity: usize) {
        self.stamps = Vec::with_capacity(capacity);
        self.capacity = capacity;
        self.count = 0;
    }

    /// Returns how many events there were since the last reset.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Records the start of an event. The time is taken last.
    pub fn start(&mut self, event: Symbol, mut now: impl FnMut() -> u64) {
        self.count += 1;
        if self.stamps.len() < self.capacity {
            self.stamps.push(Stamp { nanoseconds: 0, event, edge: Edge::Start });
            if let Some(last) = self.stamps.last_mut() {
                last.nanoseconds = now();
            }
        }
    }

    /// Records the end of an event, at a time that was taken first.
    pub fn stop(&mut self, event: Symbol, nanoseconds: u64) {
        self.count += 1;
        if self.stamps.len() < self.capacity {
            self.stamps.push(Stamp { nanoseconds, event, edge: Edge::Stop });
        }
    }

    /// The log: one line an event, indented by nesting, with its time since the first in
    /// nanoseconds; and first a warning if there was no room for all.
    pub fn report(&self, ctx: &Context) -> String {
        let mut out = String::new();
        if self.count > self.capacity {
            out.push_str("Warning: The recording buffer was too small, consider increasing it\n");
        }
        let first = self.stamps.first().map_or(0, |stamp| stamp.nanoseconds);
        let mut offset = 0i64;
        for stamp in &self.stamps {
            offset -= i64::from(stamp.edge == Edge::Stop);
            // A clock that was set back gives a negative time rather than none.
            let time = stamp.nanoseconds.wrapping_sub(first) as i64;
            let time = print_string(ctx, &Val::F64(time as f64));
            let indent = usize::try_from(offset).unwrap_or(0);
            let _ = writeln!(out, "{:indent$}{}: {time}", "", ctx.str(stamp.event));
            offset += i64::from(stamp.edge == Edge::Start);
        }
        out
    }
}
