//! Versions of memory: which writes a load can see.
//!
//! Each class of memory ([`MemoryClasses`](crate::analysis::MemoryClasses)) has two parts, contents and shape, and each part has a
//! version, which a write makes anew: memory in static single assignment form (Chow, Chan,
//! Liu, Lo and Streich, 1996). Where edges with different versions meet, and at the header of a loop
//! that writes the class, there is a new version as well. One sweep in reverse postorder finds
//! them, as what a loop writes is known before it is entered.

use regraft_ir::{Block, Function, Operand, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::analyses::{GvnAnalyses, is_repeatable};
use crate::analysis::{Footprint, copied_shape, inst_effects};

/// One version of one part of a class of memory.
pub(super) type Version = u32;

/// No write is known by this version: that of a class when the function begins, or where several
/// meet.
const MEETING: Version = 1 << 31;

/// A version that an instruction made.
pub(super) fn maker(version: Version) -> Option<u32> {
    (version & MEETING == 0).then_some(version)
}

/// What a read sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Seen {
    /// The version of the contents, if those of one class are read.
    pub(super) contents: Option<Version>,
    /// The version of the shape, if that of one class is read.
    pub(super) shape: Option<Version>,
    /// Stands for all other versions that are read.
    pub(super) rest: u32,
}

/// The versions that reads see.
pub(super) struct Memory {
    /// By value: one more than a position in `seen`, or 0.
    of: Vec<u32>,
    seen: Vec<Seen>,
    /// Of an allocation: the version of its shape where it stands.
    shape_at: FxHashMap<Value, Version>,
    /// Of a copy: the version of the shape of what is copied.
    shape_of_source: FxHashMap<Value, Version>,
    /// Of an instruction that writes contents of one class: the version before it.
    before: FxHashMap<Value, Version>,
}

impl Memory {
    /// What a value reads of memory; `None` if it takes no part.
    pub(super) fn seen(&self, v: Value) -> Option<Seen> {
        let at = *self.of.get(v.index())?;
        Some(self.seen[at.checked_sub(1)? as usize])
    }

    /// The version of the shape of what `allocation` allocates, where it stands.
    pub(super) fn shape_at(&self, allocation: Value) -> Option<Version> {
        self.shape_at.get(&allocation).copied()
    }

    /// The version of the shape of what `copy` copies, where it stands.
    pub(super) fn shape_of_source(&self, copy: Value) -> Option<Version> {
        self.shape_of_source.get(&copy).copied()
    }

    /// The version of the contents before a write to one class.
    pub(super) fn before(&self, write: Value) -> Option<Version> {
        self.before.get(&write).copied()
    }
}

/// Whether an instruction reads memory and does nothing else, or makes an object of which the
/// shape is known.
fn takes_part(f: &Function, v: Value) -> bool {
    f.op_def(v).is_some_and(|def| {
        let effects = def.effects;
        effects != regraft_ir::Effects::NONE
    })
}

/// Finds the versions. O((instructions + edges) + blocks * classes).
pub(super) fn versions(f: &Function, facts: &GvnAnalyses) -> Memory {
    let mut memory = Memory {
        of: Vec::new(),
        seen: Vec::new(),
        shape_at: FxHashMap::default(),
        shape_of_source: FxHashMap::default(),
        before: FxHashMap::default(),
    };
    let any = facts.cfg.reverse_postorder().any(|b| f.body(b).any(|v| takes_part(f, v)));
    if !any {
        return memory;
    }
    memory.of = vec![0; f.value_capacity()];
    let classes = facts.classes.count();
    let slots = 2 * classes;
    let written = facts.classes.loop_footprints(f, &facts.forest, &facts.aliases, &facts.summaries);
    let mut sweep = Sweep {
        f,
        facts,
        memory,
        ids: FxHashMap::default(),
        out: vec![0; f.block_capacity() * slots],
        classes,
        next: MEETING,
    };
    for block in facts.cfg.reverse_postorder() {
        let mut state = sweep.meet(block, &written);
        for v in f.body(block) {
            if takes_part(f, v) {
                sweep.instruction(v, &mut state);
            }
        }
        sweep.out[block.index() * slots..][..slots].copy_from_slice(&state);
    }
    sweep.memory
}

struct Sweep<'a> {
    f: &'a Function,
    facts: &'a GvnAnalyses,
    memory: Memory,
    /// Numbers for sets of versions.
    ids: FxHashMap<SmallVec<[Version; 4]>, u32>,
    /// By block: the versions at its end, first those of contents, then those of shapes.
    out: Vec<Version>,
    classes: usize,
    next: Version,
}

type State = SmallVec<[Version; 16]>;

impl Sweep<'_> {
    /// The versions at the start of a block.
    fn meet(&mut self, block: Block, written: &[Footprint]) -> State {
        let (f, facts, slots) = (self.f, self.facts, 2 * self.classes);
        let mut state: Option<State> = None;
        let mut odd = Some(block) == f.entry();
        for edge in f.in_edges(block) {
            let from = edge.from;
            if !facts.cfg.is_reachable(from) {
                continue;
            }
            if facts.cfg.rpo_index(from) >= facts.cfg.rpo_index(block) {
                // What a loop writes is known; a cycle that is no loop may write anything.
                odd |= !facts.dom.dominates(block, from);
                continue;
            }
            let out = &self.out[from.index() * slots..][..slots];
            match &mut state {
                None => state = Some(out.into()),
                Some(state) => {
                    for (mine, &other) in state.iter_mut().zip(out) {
                        if *mine != other {
                            // Two different ones: a new version, below.
                            *mine = 0;
                        }
                    }
                }
            }
        }
        let mut state = state.unwrap_or_else(|| smallvec::smallvec![0; slots]);
        let writes = facts.forest.headed_by(block).map(|id| written[id.index()]);
        for (slot, version) in state.iter_mut().enumerate() {
            let (class, is_shape) = (slot % self.classes, slot >= self.classes);
            let in_loop = writes.is_some_and(|w| {
                let set = if is_shape { w.writes_shape } else { w.writes_contents };
                set & (1 << class) != 0
            });
            if odd || in_loop || *version == 0 {
                self.next += 1;
                *version = self.next;
            }
        }
        state
    }

    fn instruction(&mut self, v: Value, state: &mut State) {
        let (f, facts) = (self.f, self.facts);
        let effects = inst_effects(f, v, &facts.summaries);
        let print = facts.classes.footprint(f, &facts.aliases, &effects);
        if is_repeatable(f, v, &effects, &facts.summaries) {
            let seen = self.see(print, state);
            self.memory.seen.push(seen);
            self.memory.of[v.index()] = self.memory.seen.len() as u32;
        }
        if effects.allocates {
            let class = facts.classes.of(f, &facts.aliases, Operand::from(v));
            let shape = |class: u64| state[self.classes + class.trailing_zeros() as usize];
            if class.is_power_of_two() {
                self.memory.shape_at.insert(v, shape(class));
            }
            if copied_shape(f, v).is_some() && print.reads_shape.is_power_of_two() {
                self.memory.shape_of_source.insert(v, shape(print.reads_shape));
            }
        }
        if print.writes_contents.is_power_of_two() {
            let before = state[print.writes_contents.trailing_zeros() as usize];
            self.memory.before.insert(v, before);
        }
        // Every instruction makes one version, in all the parts that it writes. Versions of
        // different parts are never compared.
        let new = v.index() as Version + 1;
        for (sets, first) in [(print.writes_contents, 0), (print.writes_shape, self.classes)] {
            let mut classes = sets;
            while classes != 0 {
                let class = classes.trailing_zeros() as usize;
                if class < self.classes {
                    state[first + class] = new;
                }
                classes &= classes - 1;
            }
        }
    }

    fn see(&mut self, print: Footprint, state: &State) -> Seen {
        let mut rest: SmallVec<[Version; 4]> = SmallVec::new();
        let mut one = |set: u64, first: usize| {
            if set.is_power_of_two() {
                return state.get(first + set.trailing_zeros() as usize).copied();
            }
            rest.extend(
                (0..self.classes).filter(|c| set & (1 << c) != 0).map(|c| state[first + c]),
            );
            // The parts are told apart.
            rest.push(0);
            None
        };
        let contents = one(print.reads_contents, 0);
        let shape = one(print.reads_shape, self.classes);
        let next = self.ids.len() as u32;
        Seen { contents, shape, rest: *self.ids.entry(rest).or_insert(next) }
    }
}
