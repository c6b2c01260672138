//! The profiler: when events start and end (`prof`), as a log, as sums, or both.
//!
//! A log keeps time stamps in order, sums are kept for each chain of calls (a calling context tree). Both
//! have a fixed capacity: recording allocates nothing, and what finds no room is counted.
//!
//! Events nest. An event that ends takes with it those in it that have not ended; so does the
//! handler of an error, and the end of a run. There is one stack of open events for that.
//!
//! In sums, an event directly in one of the same name adds nothing but its number: it is one more call of
//! the same node, whose time goes on. So it is counted in the event around it, and no time is taken.
//!
//! A [`Profile`] is what came out, without the time that recording itself took ([`Overhead`]). It
//! can be made of a list of starts and ends from anywhere, such as samples of stacks:
//!
//! ```
//! use regraft_exec::profiler::{Edge, Overhead, Profile, Stamp};
//! use regraft_ir::Loc;
//!
//! let ctx = regraft_dialects::context();
//! let (f, g) = (ctx.symbol("f"), ctx.symbol("g"));
//! let stamps = [
//!     Stamp { ticks: 0, event: f, edge: Edge::Start(Loc::UNKNOWN) },
//!     Stamp { ticks: 10, event: g, edge: Edge::Start(Loc::UNKNOWN) },
//!     Stamp { ticks: 40, event: g, edge: Edge::Stop },
//!     Stamp { ticks: 50, event: f, edge: Edge::Stop },
//! ];
//! let profile = Profile::of_stamps(&stamps, 1.0, Overhead::default());
//! let rows = profile.rows(|node| Some(node.event));
//! assert_eq!((rows[0].key, rows[0].own, rows[0].total), (g, 30.0, 30.0));
//! assert_eq!((rows[1].key, rows[1].own, rows[1].total), (f, 20.0, 50.0));
//! ```

mod call_tree;
mod event_log;
mod events;
mod overhead;
mod profile;

use regraft_ir::{Context, Loc, Symbol};

use call_tree::{CallTree, Ended, NodeId};
use event_log::EventLog;
use events::Events;

pub use event_log::{Edge, Stamp};
pub use overhead::Overhead;
pub use profile::{CallNode, Profile, Row};

/// The options of a profiler: the log and the sums that it keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProfilerOptions {
    /// The number of time stamps that the log has room for; `None` for no log.
    pub log: Option<usize>,
    /// The number of chains of calls that there is room for in sums; `None` for no sums.
    pub sums: Option<usize>,
}

impl ProfilerOptions {
    /// A log of a million stamps, which take 24 MB.
    pub const RECORD: Self = Self { log: Some(1 << 20), sums: None };
    /// Sums of 65,536 chains of calls, which take 5 MB.
    pub const SUM: Self = Self { log: None, sums: Some(1 << 16) };
}

/// An event that has started.
#[derive(Clone, Copy, Debug)]
struct Open {
    event: Symbol,
    node: NodeId,
    /// The number of events that started before those in it.
    before: Events,
    start: u64,
    /// The number of events of the same name that started directly in it or in one another, and of those
    /// that are open.
    again: u64,
    again_open: usize,
}

/// The event of code that is looked for or compiled while a program runs.
pub const COMPILATION: &str = "compilation";

/// The event of code outside of functions.
pub const TOP_LEVEL: &str = "top level";

/// The names of events that the profiler makes by itself.
#[derive(Clone, Copy, Debug)]
struct OwnEvents {
    compilation: Symbol,
}

/// Records events.
#[derive(Debug)]
pub struct Profiler {
    /// The log, if there is one.
    log: Option<EventLog>,
    /// The sums, if there are some.
    sums: Option<CallTree>,
    open: Vec<Open>,
    /// The events that started.
    events: Events,
    /// The number of open events that are only counted in those of `open`.
    again: usize,
    /// The number of open events above those of `open`, which is full.
    above: usize,
    /// The events of a whole program.
    own: Option<OwnEvents>,
}

/// The capacity of the log of a program that asks for none.
const CAPACITY: usize = 101;

/// The depth of events of a whole program: more than calls nest by default.
const DEPTH: usize = 1 << 17;

/// The depth of events that a program records by itself.
const OWN_DEPTH: usize = 1 << 10;

impl Default for Profiler {
    /// A log of 101 stamps.
    fn default() -> Self {
        let log = Some(EventLog::new(CAPACITY));
        Self::of(log, None, Vec::new())
    }
}

impl Profiler {
    /// A profiler of whole programs, with all the room that it will need.
    pub fn new(ctx: &Context, options: ProfilerOptions) -> Self {
        let compilation = ctx.symbol(COMPILATION);
        let mut made = Self::empty(options, compilation, DEPTH);
        made.own = Some(OwnEvents { compilation });
        made
    }

    fn empty(options: ProfilerOptions, nothing: Symbol, depth: usize) -> Self {
        let log = options.log.map(|capacity| {
            let mut log = EventLog::new(capacity);
            log.reserve();
            log
        });
        let sums = options.sums.map(|capacity| CallTree::new(capacity, nothing));
        Self::of(log, sums, Vec::with_capacity(depth))
    }

    fn of(log: Option<EventLog>, sums: Option<CallTree>, open: Vec<Open>) -> Self {
        Self { log, sums, open, events: Events::default(), again: 0, above: 0, own: None }
    }

    /// The bytes that a log of that capacity takes.
    pub const fn bytes(capacity: usize) -> usize {
        EventLog::bytes(capacity)
    }

    /// Forgets what was recorded, but for the events that are open.
    pub fn reset(&mut self) {
        if let Some(log) = &mut self.log {
            log.clear();
        }
        if let Some(sums) = &mut self.sums {
            sums.clear();
            // What is open belongs to nothing that is shown, what begins in it to what will be.
            self.open.iter_mut().for_each(|open| (open.node, open.again) = (NodeId::ROOT, 0));
        }
    }

    /// Changes the capacity of the log, and forgets what was recorded.
    pub fn resize(&mut self, capacity: usize) {
        self.log = Some(EventLog::new(capacity));
        self.reset();
    }

    /// Returns how many time stamps there were since the last reset.
    pub fn count(&self) -> usize {
        self.log.as_ref().map_or(0, EventLog::count)
    }

    /// Records the start of an event, called from `call`. The time is taken last.
    #[inline]
    pub fn start(&mut self, event: Symbol, call: Loc, mut now: impl FnMut() -> u64) {
        if let Some(around) = self.open.last_mut()
            && around.event == event
            && around.node != NodeId::ROOT
            && self.above == 0
            && self.log.is_none()
        {
            around.again += 1;
            around.again_open += 1;
            self.again += 1;
            self.events.counted += 1;
            return;
        }
        self.events.timed += 1;
        let node = match &mut self.sums {
            Some(sums) => {
                let parent = match self.open.last() {
                    Some(_) if self.above > 0 => NodeId::NONE,
                    Some(around) => around.node,
                    None => NodeId::ROOT,
                };
                sums.enter(parent, event, call)
            }
            None => NodeId::NONE,
        };
        let logged = match &mut self.log {
            Some(log) => log.add(event, Edge::Start(call), 0),
            None => None,
        };
        if self.open.len() == self.open.capacity() && !make_room(&mut self.open) {
            self.above += 1;
            if let Some(place) = logged {
                *place = now();
            }
            return;
        }
        let start = now();
        self.open.push(Open { event, node, before: self.events, start, again: 0, again_open: 0 });
        if let Some(place) = logged {
            *place = start;
        }
    }

    /// Records the end of an event, at a time that was taken first.
    #[inline]
    pub fn stop(&mut self, event: Symbol, ticks: u64) {
        match self.open.last() {
            Some(last) if last.event == event && self.above == 0 => self.close(ticks),
            _ => self.stop_other(event, ticks),
        }
    }

    /// Records the end of an event whose time is not needed; `false` if it is.
    #[inline]
    pub(crate) fn stop_untimed(&mut self, event: Symbol) -> bool {
        match self.open.last_mut() {
            Some(last) if last.event == event && last.again_open > 0 && self.above == 0 => {
                last.again_open -= 1;
                self.again -= 1;
                true
            }
            _ => false,
        }
    }

    /// An event ends that is not the innermost one.
    #[cold]
    fn stop_other(&mut self, event: Symbol, ticks: u64) {
        if self.above == 0
            && let Some(place) = self.open.iter().rposition(|open| open.event == event)
        {
            let around = self.open[..place].iter().map(|open| 1 + open.again_open).sum::<usize>();
            return self.unwind(around + self.open[place].again_open, ticks);
        }
        self.above = self.above.saturating_sub(1);
        if let Some(log) = &mut self.log {
            log.add(event, Edge::Stop, ticks);
        }
    }

    /// Closes the innermost event.
    #[inline]
    fn close(&mut self, ticks: u64) {
        let Some(last) = self.open.last_mut() else { return };
        if last.again_open > 0 {
            last.again_open -= 1;
            self.again -= 1;
            return;
        }
        let Open { event, node, before, start, again, .. } = *last;
        self.open.pop();
        if let Some(sums) = &mut self.sums {
            let caller = self.open.last().map_or(NodeId::ROOT, |open| open.node);
            let within = self.events.since(before);
            sums.leave(node, caller, Ended { ticks: ticks.wrapping_sub(start), again, within });
        }
        if let Some(log) = &mut self.log {
            log.add(event, Edge::Stop, ticks);
        }
    }

    /// Returns how many events are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len() + self.again + self.above
    }

    /// Closes the events beyond the first `depth` that are open.
    #[cold]
    pub fn unwind(&mut self, depth: usize, ticks: u64) {
        self.above = self.above.min(depth.saturating_sub(self.open.len() + self.again));
        while self.open.len() + self.again > depth {
            self.close(ticks);
        }
    }

    /// Code is looked for or compiled from now on. Returns the event that ends when it is there.
    #[inline]
    pub(crate) fn start_compilation(&mut self, now: impl FnMut() -> u64) -> Option<Symbol> {
        let OwnEvents { compilation } = self.own?;
        self.start(compilation, Loc::UNKNOWN, now);
        Some(compilation)
    }

    /// The log as text: one line a stamp, indented by nesting, with its time since the first in
    /// nanoseconds; and first a warning if there was no room for all.
    pub(crate) fn text(&self, ctx: &Context, nanoseconds_per_tick: f64) -> String {
        self.log.as_ref().map_or_else(String::new, |log| log.text(ctx, nanoseconds_per_tick))
    }
}

/// Makes room for open events in a profiler of a program's own events, which has none at first.
#[cold]
fn make_room(open: &mut Vec<Open>) -> bool {
    let is_first = open.capacity() == 0;
    if is_first {
        open.reserve_exact(OWN_DEPTH);
    }
    is_first
}
