//! The findings of a profiler: times of chains of calls, of functions, of lines.

use std::hash::Hash;

use regraft_ir::{Context, Loc, Symbol};
use rustc_hash::FxHashMap;

use super::call_tree::CallTree;
use super::event_log::{self, Edge, Stamp};
use super::{COMPILATION, Overhead, Profiler, ProfilerOptions, TOP_LEVEL};

/// All calls of an event by one chain of calls, and recursive ones. Times are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallNode {
    /// The name of the event: a function.
    pub event: Symbol,
    /// The place of the calls.
    pub call: Loc,
    /// The index of the event around it; it is smaller.
    pub parent: Option<usize>,
    /// The number of calls.
    pub calls: u64,
    /// The time in them, but not in events that they are around.
    pub own: f64,
    /// The time in them.
    pub total: f64,
}

/// The times of all calls that have something in common, in nanoseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<K> {
    /// The facts that they share.
    pub key: K,
    /// The number of calls.
    pub calls: u64,
    /// The time in them, but not in events that they are around.
    pub own: f64,
    /// The time in them; that of a call within another one of the same row counts once.
    pub total: f64,
}

/// The events of a run.
#[derive(Clone, Default, Debug)]
pub struct Profile {
    /// The chains of calls, parents before children.
    pub nodes: Vec<CallNode>,
    /// The log, if there was one; times are in nanoseconds since the first.
    pub log: Vec<(f64, Symbol, Edge)>,
    /// The number of time stamps that the log had no room for.
    pub lost_stamps: u64,
    /// The number of events that sums had no room for: they are part of the events around them.
    pub lost_events: u64,
    /// The time that recording took for each event, in nanoseconds; it is subtracted.
    pub overhead: Overhead,
    /// The number of events.
    pub events: u64,
    /// The number of those that are only counted: each directly in one of the same name.
    pub counted_events: u64,
    /// The time in which code was compiled, in nanoseconds. It is no part of the chains of calls.
    pub compilation: f64,
    /// The places of the functions, as far as somebody said them.
    pub definitions: FxHashMap<Symbol, Loc>,
}

impl Profile {
    /// The profile of a log, whose times are ticks of so many nanoseconds, on which recording spent
    /// `overhead` ticks for each event.
    pub fn of_stamps(stamps: &[Stamp], nanoseconds_per_tick: f64, overhead: Overhead) -> Self {
        let Some(first) = stamps.first() else { return Self::default() };
        let last = stamps.last().unwrap_or(first).ticks;
        let options = ProfilerOptions { log: None, sums: Some(stamps.len()) };
        let mut profiler = Profiler::empty(options, first.event, stamps.len());
        for stamp in stamps {
            match stamp.edge {
                Edge::Start(call) => profiler.start(stamp.event, call, || stamp.ticks),
                Edge::Stop => profiler.stop(stamp.event, stamp.ticks),
            }
        }
        profiler.unwind(0, last);
        let sums = profiler.sums.unwrap_or_default();
        // The times of all of them were taken.
        let again = overhead.inside + overhead.outside;
        Self::of_sums(&sums, nanoseconds_per_tick, Overhead { again, ..overhead })
    }

    fn of_sums(sums: &CallTree, nanoseconds_per_tick: f64, overhead: Overhead) -> Self {
        let Overhead { inside, outside, again } = overhead;
        let nodes = sums.nodes();
        let times = nodes.iter().map(|node| {
            let timed = (node.calls - node.again) as f64;
            let own = node.own as f64 - timed * inside - node.started as f64 * outside;
            let own = own - node.again as f64 * again;
            let total = node.total as f64 - node.outermost as f64 * inside;
            let total = total - node.within.timed as f64 * (inside + outside);
            let total = total - node.within.counted as f64 * again;
            let own = own.max(0.0);
            (own * nanoseconds_per_tick, total.max(own) * nanoseconds_per_tick)
        });
        // The root is no event.
        let made = nodes.iter().zip(times).skip(1).map(|(node, (own, total))| CallNode {
            event: node.event,
            call: node.call,
            parent: sums.parent(node).and_then(|parent| parent.checked_sub(1)),
            calls: node.calls,
            own,
            total,
        });
        Self {
            nodes: made.collect(),
            lost_events: sums.lost,
            events: nodes.iter().map(|node| node.calls).sum::<u64>() + sums.lost,
            counted_events: nodes.iter().map(|node| node.again).sum(),
            overhead: overhead.in_nanoseconds(nanoseconds_per_tick),
            ..Self::default()
        }
    }

    /// Takes the events of compilation out, and their time out of that of the events around them.
    fn without_compilation(mut self, compilation: Symbol) -> Self {
        let mut kept: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        let mut nodes: Vec<CallNode> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let parent = node.parent.map(|parent| kept[parent]);
            if node.event != compilation && parent != Some(None) {
                kept.push(Some(nodes.len()));
                nodes.push(CallNode { parent: parent.flatten(), ..*node });
                continue;
            }
            kept.push(None);
            if node.event == compilation && parent != Some(None) {
                self.compilation += node.total;
                let mut around = parent.flatten();
                while let Some(at) = around {
                    nodes[at].total = (nodes[at].total - node.total).max(nodes[at].own);
                    around = nodes[at].parent;
                }
            }
        }
        self.nodes = nodes;
        self
    }

    /// Returns the time of all events, in nanoseconds.
    pub fn total(&self) -> f64 {
        self.nodes.iter().map(|node| node.own).sum()
    }

    /// Returns the time that recording took and that is subtracted, in nanoseconds.
    pub fn subtracted(&self) -> f64 {
        let Overhead { inside, outside, again } = self.overhead;
        let timed = self.events - self.lost_events - self.counted_events;
        timed as f64 * (inside + outside) + self.counted_events as f64 * again
    }

    /// The log of the program's own events as text: one line a stamp, indented by nesting, with its
    /// time since the first in nanoseconds. The time of compilation is left out.
    pub fn log_text(&self, ctx: &Context) -> String {
        // The compilation that is going on: how deep events nest in it, and when it began.
        let (mut compiling, mut began, mut left_out) = (0usize, 0.0, 0.0);
        let mut stamps = Vec::new();
        for &(time, event, edge) in &self.log {
            let name = ctx.str(event);
            if compiling > 0 || name == COMPILATION {
                match edge {
                    Edge::Start(_) => {
                        if compiling == 0 {
                            began = time;
                        }
                        compiling += 1;
                    }
                    Edge::Stop => {
                        compiling = compiling.saturating_sub(1);
                        if compiling == 0 {
                            left_out += time - began;
                        }
                    }
                }
            } else if name != TOP_LEVEL {
                stamps.push((time - left_out, event, edge));
            }
        }
        let first = stamps.first().map_or(0.0, |stamp| stamp.0);
        let stamps = stamps.into_iter().map(|(time, event, edge)| (time - first, event, edge));
        let lost = self.lost_stamps as usize;
        event_log::text(ctx, stamps, (lost, self.log.len() + lost))
    }

    /// The times by something that calls have in common, most own time first; calls without a key
    /// are left out. O(nodes).
    pub fn rows<K: Clone + Eq + Hash + Ord>(
        &self,
        key: impl Fn(&CallNode) -> Option<K>,
    ) -> Vec<Row<K>> {
        let mut rows: Vec<Row<K>> = Vec::new();
        let mut by_key: FxHashMap<K, usize> = FxHashMap::default();
        let of_node: Vec<Option<usize>> = self
            .nodes
            .iter()
            .map(|node| {
                let key = key(node)?;
                Some(*by_key.entry(key.clone()).or_insert_with(|| {
                    rows.push(Row { key, calls: 0, own: 0.0, total: 0.0 });
                    rows.len() - 1
                }))
            })
            .collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut pending: Vec<(usize, bool)> = Vec::new();
        for (i, node) in self.nodes.iter().enumerate().rev() {
            match node.parent {
                Some(parent) => children[parent].push(i),
                None => pending.push((i, true)),
            }
        }
        // The number of calls of each row around a node, on a walk in depth.
        let mut around = vec![0u32; rows.len()];
        while let Some((i, enters)) = pending.pop() {
            let node = &self.nodes[i];
            if let Some(row) = of_node[i] {
                if !enters {
                    around[row] -= 1;
                    continue;
                }
                rows[row].calls += node.calls;
                rows[row].own += node.own;
                if around[row] == 0 {
                    rows[row].total += node.total;
                }
                around[row] += 1;
                pending.push((i, false));
            }
            pending.extend(children[i].iter().map(|&child| (child, true)));
        }
        rows.sort_by(|a, b| b.own.total_cmp(&a.own).then_with(|| a.key.cmp(&b.key)));
        rows
    }
}

impl Overhead {
    fn in_nanoseconds(self, nanoseconds_per_tick: f64) -> Self {
        let Self { inside, outside, again } = self;
        Self {
            inside: inside * nanoseconds_per_tick,
            outside: outside * nanoseconds_per_tick,
            again: again * nanoseconds_per_tick,
        }
    }
}

impl Profiler {
    /// Ends all events at this time, and returns what was found.
    pub(crate) fn finish(
        mut self,
        ticks: u64,
        nanoseconds_per_tick: f64,
        overhead: Overhead,
    ) -> Profile {
        self.unwind(0, ticks);
        let stamps = self.log.as_ref().map_or(&[][..], |log| log.stamps());
        let profile = match &self.sums {
            Some(sums) => Profile::of_sums(sums, nanoseconds_per_tick, overhead),
            None => Profile::of_stamps(stamps, nanoseconds_per_tick, overhead),
        };
        let mut profile = match self.own {
            Some(own) => profile.without_compilation(own.compilation),
            None => profile,
        };
        let first = stamps.first().map_or(0, |stamp| stamp.ticks);
        let since = |stamp: &Stamp| stamp.ticks.wrapping_sub(first) as i64 as f64;
        let logged = stamps.iter();
        profile.log = logged
            .map(|stamp| (since(stamp) * nanoseconds_per_tick, stamp.event, stamp.edge))
            .collect();
        profile.lost_stamps = self.log.as_ref().map_or(0, |log| log.lost() as u64);
        profile
    }
}
