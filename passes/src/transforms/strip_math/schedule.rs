//! The order in which functions are computed for a strip, from where, and to where.

use regraft_dialects::{math, mem};
use regraft_ir::{Function, Operand, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::ahead::{Finder, place, steps};
use super::slots::{Place, Reads, Slots};
use crate::analysis::LoopId;
use crate::transforms::util::loop_pair::FusionAnalyses;

/// The arguments of a function for a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The elements that this load reads in its iterations, or this store writes.
    Elements(Value),
    /// Elements of the buffer.
    Buffer(Place),
    /// The same value for all iterations, by its place in the list.
    Fixed(usize),
}

/// The destination of the results of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// The first part of the buffer that gets results, one behind the other.
    Slot(usize),
    /// The elements that this store writes in its iterations.
    Elements(Value),
}

/// A function that is computed for a strip, or a sine and a cosine of the same angle.
#[derive(Debug)]
pub(super) struct Strip {
    pub(super) insts: SmallVec<[Value; 2]>,
    pub(super) sources: SmallVec<[Source; 2]>,
    pub(super) target: Target,
}

impl Strip {
    /// The functions, with the places of their results in the buffer.
    pub(super) fn results(&self) -> impl Iterator<Item = (Value, Place)> + '_ {
        let slot = match self.target {
            Target::Slot(slot) => Some(slot),
            Target::Elements(_) => None,
        };
        let places = slot.into_iter().flat_map(|slot| (0..).map(move |nth| Place { slot, nth }));
        self.insts.iter().copied().zip(places)
    }
}

/// Functions that need nothing of each other, after a loop that computes what they are given.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// What is written to parts of the buffer first.
    pub(super) filled: Vec<(Operand, usize)>,
    /// The strips, by their places in the list.
    pub(super) strips: std::ops::Range<usize>,
}

/// A load that is made ahead, or a store that is made for a strip.
pub(super) struct ElementAccess {
    pub(super) inst: Value,
    /// The steps of the indices from one iteration to the next.
    pub(super) steps: SmallVec<[i64; 3]>,
    /// True if the indices are checked before. `mem.map` looks whether the array has as many elements.
    pub(super) is_checked: bool,
}

/// A function that is to be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Computed {
    pub(super) inst: Value,
    /// The greatest number of functions of which one is computed after the other, this one included.
    pub(super) level: u32,
    /// True if it is computed after all that are not: it is stored, or needs what is.
    pub(super) late: bool,
}

/// The functions in order.
#[derive(Default)]
pub(super) struct Schedule {
    pub(super) strips: Vec<Strip>,
    pub(super) rounds: Vec<Round>,
    pub(super) accesses: Vec<ElementAccess>,
    /// Values from outside of the loop that functions are given.
    pub(super) fixed: Vec<Operand>,
    /// The number of parts of the buffer.
    pub(super) slots: usize,
}

enum Item {
    Fill(Operand),
    Function(Value),
}

impl Schedule {
    /// Gives each function its sources, and a part of the buffer if its result is not `stored` by an instruction.
    pub(super) fn of(
        facts: &FusionAnalyses<'_>,
        l: LoopId,
        finder: &mut Finder<'_>,
        functions: &[Computed],
        stored: &FxHashMap<Value, Value>,
        dropped: &[Value],
    ) -> Self {
        let insts: Vec<Value> = functions.iter().map(|function| function.inst).collect();
        let mut scheduler = Scheduler {
            facts,
            l,
            functions: &insts,
            stored,
            dropped,
            sources: FxHashMap::default(),
            slots: Slots::default(),
            schedule: Self::default(),
        };
        let items = scheduler.items(finder, functions);
        for chunk in items.chunk_by(|x, y| x.0 == y.0) {
            scheduler.round(chunk);
        }
        let Scheduler { slots, mut schedule, .. } = scheduler;
        schedule.slots = slots.count();
        schedule
    }

    /// Notes an access that is made for a strip.
    pub(super) fn note(
        &mut self,
        facts: &FusionAnalyses<'_>,
        l: LoopId,
        inst: Value,
        is_checked: bool,
    ) {
        match self.accesses.iter_mut().find(|known| known.inst == inst) {
            Some(known) => known.is_checked |= is_checked,
            None => {
                let steps = steps(facts, l, inst).expect("its indices move by constants");
                self.accesses.push(ElementAccess { inst, steps, is_checked });
            }
        }
    }
}

struct Scheduler<'a> {
    facts: &'a FusionAnalyses<'a>,
    l: LoopId,
    functions: &'a [Value],
    /// By function, the instruction that stores its result.
    stored: &'a FxHashMap<Value, Value>,
    dropped: &'a [Value],
    /// By value, where it is read.
    sources: FxHashMap<Operand, Source>,
    slots: Slots,
    schedule: Schedule,
}

impl Scheduler<'_> {
    /// Functions, and what is computed for them otherwise as soon as all is there that it needs, in order.
    fn items(
        &mut self,
        finder: &mut Finder<'_>,
        functions: &[Computed],
    ) -> Vec<((bool, u32), Item)> {
        let f = self.facts.f;
        let mut items: Vec<((bool, u32), Item)> = Vec::new();
        for &Computed { inst, level, late } in functions {
            for arg in f.operands(inst) {
                let is_known = arg.as_value().is_some_and(|v| self.functions.contains(&v));
                if is_known || self.sources.contains_key(&arg) {
                    continue;
                }
                if is_fixed(self.facts, self.l, arg) {
                    self.sources.insert(arg, Source::Fixed(self.schedule.fixed.len()));
                    self.schedule.fixed.push(arg);
                } else if is_elements(self.facts, self.l, arg) {
                    let load = arg.as_value().expect("a load is an instruction");
                    self.sources.insert(arg, Source::Elements(load));
                } else if !items.iter().any(|(_, item)| matches!(item, Item::Fill(x) if *x == arg))
                {
                    let level = finder.ahead(arg).map_or(0, |ahead| ahead.level);
                    items.push(((false, 2 * level + 1), Item::Fill(arg)));
                }
            }
            items.push(((late, 2 * level), Item::Function(inst)));
        }
        // Those of one level stay in order.
        items.sort_by_key(|&(key, _)| key);
        items
    }

    /// Schedules items that need nothing of each other.
    fn round(&mut self, items: &[((bool, u32), Item)]) {
        let first = self.schedule.strips.len();
        let mut filled: Vec<(Operand, usize)> = Vec::new();
        let round: Vec<Value> = items
            .iter()
            .filter_map(|(_, item)| match item {
                Item::Function(v) => Some(*v),
                Item::Fill(_) => None,
            })
            .collect();
        for (_, item) in items {
            match *item {
                Item::Fill(arg) => filled.push((arg, self.fill(arg))),
                Item::Function(v) if !self.sources.contains_key(&v.into()) => {
                    self.function(v, &round);
                }
                Item::Function(_) => {}
            }
        }
        let last = self.schedule.strips.len();
        match self.schedule.rounds.last_mut() {
            Some(round) if filled.is_empty() && round.strips.is_empty() => {
                round.strips = first..last;
            }
            _ => self.schedule.rounds.push(Round { filled, strips: first..last }),
        }
    }

    /// Takes a part of the buffer for a value that is computed one iteration after the other.
    fn fill(&mut self, arg: Operand) -> usize {
        let f = self.facts.f;
        let readers = self.functions.iter().flat_map(|&v| f.operands(v));
        let slot = self.slots.take((readers.filter(|&x| x == arg).count(), false));
        self.sources.insert(arg, Source::Buffer(Place::at(slot)));
        self.note_loads(arg);
        slot
    }

    /// Schedules a function, and the other one of a sine and a cosine if that is in the round.
    fn function(&mut self, v: Value, round: &[Value]) {
        let f = self.facts.f;
        let sources: SmallVec<[Source; 2]> = f.operands(v).map(|arg| self.sources[&arg]).collect();
        let mut read: Vec<Place> = Vec::new();
        for source in &sources {
            match *source {
                Source::Elements(inst) => {
                    let is_checked = place(f, inst).1.len() > 1;
                    self.schedule.note(self.facts, self.l, inst, is_checked);
                }
                Source::Buffer(place) => read.push(place),
                Source::Fixed(_) => {}
            }
        }
        let is_left =
            |w: Value| !self.sources.contains_key(&w.into()) && !self.stored.contains_key(&w);
        let pair = if is_left(v) { pair(f, v, round, is_left) } else { None };
        // One function may replace what it is given by its results, if both stand at the start of a part.
        let in_place = |place: &Place| pair.is_none() && place.nth == 0;
        let (replaced, kept): (Vec<Place>, Vec<Place>) = read.into_iter().partition(in_place);
        replaced.into_iter().for_each(|place| self.slots.read(place));
        let reads_of = |v: Value| reads(f, v, self.functions, self.dropped);
        let (insts, target): (SmallVec<[Value; 2]>, Target) = match (pair, self.stored.get(&v)) {
            (Some(pair), _) => {
                (pair.into(), Target::Slot(self.slots.take_pair(pair.map(reads_of))))
            }
            (None, Some(&store)) => (smallvec![v], Target::Elements(store)),
            (None, None) => (smallvec![v], Target::Slot(self.slots.take(reads_of(v)))),
        };
        for place in kept {
            insts.iter().for_each(|_| self.slots.read(place));
        }
        let strip = Strip { insts, sources, target };
        if let Target::Elements(store) = target {
            self.sources.insert(v.into(), Source::Elements(store));
        }
        let results = strip.results().map(|(v, place)| (v.into(), Source::Buffer(place)));
        self.sources.extend(results);
        self.schedule.strips.push(strip);
    }

    /// Notes the loads that a value needs which is computed ahead.
    fn note_loads(&mut self, operand: Operand) {
        let f = self.facts.f;
        for v in needed(self.facts, self.l, vec![operand], |v| self.functions.contains(&v)) {
            if f.op(v) == Some(mem::LOAD) {
                self.schedule.note(self.facts, self.l, v, true);
            }
        }
    }
}

/// The instructions of a loop that values need to be computed, up to `ends` and loads.
pub(super) fn needed(
    facts: &FusionAnalyses<'_>,
    l: LoopId,
    mut pending: Vec<Operand>,
    ends: impl Fn(Value) -> bool,
) -> Vec<Value> {
    let f = facts.f;
    let mut seen = Vec::new();
    while let Some(operand) = pending.pop() {
        let Some(v) = operand.as_value() else { continue };
        let is_inside = facts.forest.contains(l, f.block_of(v)) && !f.is_param(v);
        if !is_inside || seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if f.op(v) != Some(mem::LOAD) && !ends(v) {
            pending.extend(f.operands(v));
        }
    }
    seen
}

/// Returns whether a value is the same in all iterations.
pub(super) fn is_fixed(facts: &FusionAnalyses<'_>, l: LoopId, arg: Operand) -> bool {
    arg.as_value().is_none_or(|v| !facts.forest.contains(l, facts.f.block_of(v)))
}

/// Returns whether a value is a load of floats that stand side by side.
pub(super) fn is_elements(facts: &FusionAnalyses<'_>, l: LoopId, arg: Operand) -> bool {
    let f = facts.f;
    arg.as_value().is_some_and(|v| {
        f.op(v) == Some(mem::LOAD)
            && facts.forest.contains(l, f.block_of(v))
            && side_by_side(facts, l, v)
    })
}

/// Returns whether an access is to elements that stand side by side.
pub(super) fn side_by_side(facts: &FusionAnalyses<'_>, l: LoopId, access: Value) -> bool {
    steps(facts, l, access)
        .is_some_and(|steps| steps[0] == 1 && steps[1..].iter().all(|&step| step == 0))
}

/// Counts the reads of the results of a function by other functions, and tells whether iterations read them.
fn reads(f: &Function, v: Value, functions: &[Value], dropped: &[Value]) -> Reads {
    let users = f.uses(v).map(|at| at.user).filter(|user| !dropped.contains(user));
    let (ahead, others): (Vec<_>, Vec<_>) = users.partition(|user| functions.contains(user));
    (ahead.len(), !others.is_empty())
}

/// The sine and the cosine of the same angle, of which `v` is one, if the other one of the round is left to be computed.
fn pair(
    f: &Function,
    v: Value,
    round: &[Value],
    is_left: impl Fn(Value) -> bool,
) -> Option<[Value; 2]> {
    let other = match f.op(v)? {
        math::SIN => math::COS,
        math::COS => math::SIN,
        _ => return None,
    };
    let is_other = |w: Value| f.op(w) == Some(other) && f.operands(w).eq(f.operands(v));
    let w = round.iter().copied().find(|&w| is_other(w) && is_left(w))?;
    Some(if other == math::COS { [v, w] } else { [w, v] })
}
