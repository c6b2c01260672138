//! MemorySSA: which writes a read can see.
//!
//! Each class of memory ([`MemoryClasses`]) has two parts, contents and shape, and each part has a
//! version, which a write makes anew (Chow, Chan, Liu, Lo and Streich: "Effective representation of
//! aliases and indirect memory operations in SSA form", CC 1996). Where edges with different versions
//! meet, and at the header of a loop that writes the class, there is a MemoryPhi. One sweep in reverse
//! postorder finds them, as what a loop writes is known before it is entered.

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Block, ControlFlow, DominatorTree, Function, Operand, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::effects::{
    EffectSummaries, InstEffects, callee_summary, copied_shape, inst_effects, may_be_object,
};
use super::memory::{MemoryClasses, ModRefSet};
use super::{Aliases, Analyses, Analysis, Facets, LoopForest, LoopId};

/// Blocks times versions: of more, memory is seen as one class.
const MAX_VERSIONS: usize = 1 << 23;

/// One version of one part of a class of memory.
pub(crate) type Version = u32;

/// Marks versions that no write makes: a MemoryPhi, or memory as it is when the function begins.
const PHI: Version = 1 << 31;

/// Returns the number of the instruction that made a version.
pub(crate) fn defining_write(version: Version) -> Option<u32> {
    (version & PHI == 0).then_some(version)
}

/// The versions that a read sees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Seen {
    /// The version of the contents, if it is one: those of one class are read, or one write was the last to all classes that
    /// are.
    pub(crate) contents: Option<Version>,
    /// The same of the shape.
    pub(crate) shape: Option<Version>,
    /// Stands for all other versions that are read.
    pub(crate) rest: u32,
}

/// The versions of the two parts of an object where it is made.
#[derive(Clone, Copy, Debug)]
struct MadeAt {
    contents: Version,
    shape: Version,
}

/// The versions of memory that reads see.
#[derive(Debug)]
pub(crate) struct MemorySsa {
    /// By value: one more than a position in `seen`, or 0.
    of: Vec<u32>,
    seen: Vec<Seen>,
    /// Of an allocation, or an object in a tuple that is allocated with what is in it: the versions where it is
    /// made.
    made_at: FxHashMap<Value, MadeAt>,
    /// Of a copy: the version of the shape of what is copied.
    shape_of_source: FxHashMap<Value, Version>,
    /// Of an instruction that writes contents: the version before it, if it is one.
    before: FxHashMap<Value, Version>,
    /// The versions that meet, by the MemoryPhi of contents, where nothing goes back.
    phis: FxHashMap<Version, SmallVec<[Version; 2]>>,
    /// The version before the loop, by the MemoryPhi of contents at its header, if that is one.
    before_loops: FxHashMap<Version, (Version, LoopId)>,
}

impl MemorySsa {
    /// Returns what a value reads of memory; `None` if it takes no part.
    pub(crate) fn seen(&self, v: Value) -> Option<Seen> {
        let at = *self.of.get(v.index())?;
        Some(self.seen[at.checked_sub(1)? as usize])
    }

    /// The version of the shape of what `allocation` allocates, where it stands.
    pub(crate) fn shape_at(&self, allocation: Value) -> Option<Version> {
        self.made_at.get(&allocation).map(|at| at.shape)
    }

    /// The version of the contents of what `allocation` allocates, where it stands. Of an object in a tuple that
    /// is allocated with what is in it, `allocation` is what takes it out.
    pub(crate) fn contents_at(&self, allocation: Value) -> Option<Version> {
        self.made_at.get(&allocation).map(|at| at.contents)
    }

    /// The version of the shape of what `copy` copies, where it stands.
    pub(crate) fn shape_of_source(&self, copy: Value) -> Option<Version> {
        self.shape_of_source.get(&copy).copied()
    }

    /// The versions of the contents that meet in a version, where nothing goes back. There are none if a write makes
    /// it.
    pub(crate) fn incoming(&self, version: Version) -> &[Version] {
        self.phis.get(&version).map_or(&[], |versions| versions)
    }

    /// The version of the contents before a loop, if one at its header is given, and the loop.
    pub(crate) fn before_loop(&self, version: Version) -> Option<(Version, LoopId)> {
        self.before_loops.get(&version).copied()
    }

    /// The version of the contents before a write, if it is one.
    pub(crate) fn before(&self, write: Value) -> Option<Version> {
        self.before.get(&write).copied()
    }
}

/// Returns whether an instruction reads memory and does nothing else, or makes an object of which
/// the shape is known.
fn takes_part(f: &Function, v: Value) -> bool {
    f.op_def(v).is_some_and(|def| {
        let effects = def.effects;
        effects != regraft_ir::Effects::NONE
    })
}

/// Returns whether an instruction that is not pure gives the same again as long as what it reads is
/// the same.
fn is_repeatable(
    f: &Function,
    v: Value,
    effects: &InstEffects,
    summaries: &EffectSummaries,
) -> bool {
    if effects.writes_anything() || effects.observable {
        return false;
    }
    match callee_summary(f, v, summaries) {
        Some(summary) => summary.is_repeatable(),
        None => {
            let opaque = f.op_def(v).is_none_or(|def| def.effects.opaque);
            !opaque && !effects.allocates
        }
    }
}

/// Returns how many classes to tell apart in a function of so many blocks.
fn max_classes(f: &Function) -> u32 {
    let each = MAX_VERSIONS / f.block_count().max(1) / 2;
    each.clamp(1, MemoryClasses::MAX as usize) as u32
}

impl Analysis for MemorySsa {
    const NAME: &'static str = "MemorySSA";
    const FACETS: Facets =
        Facets::CFG.union(Facets::INSTS).union(Facets::TYPES).union(Facets::EFFECTS);

    /// O((instructions + edges) + blocks * classes).
    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        let mut memory = Self {
            of: Vec::new(),
            seen: Vec::new(),
            made_at: FxHashMap::default(),
            shape_of_source: FxHashMap::default(),
            before: FxHashMap::default(),
            phis: FxHashMap::default(),
            before_loops: FxHashMap::default(),
        };
        let cfg = analyses.get::<ControlFlow>(f);
        if !cfg.reverse_postorder().any(|b| f.body(b).any(|v| takes_part(f, v))) {
            return memory;
        }
        let aliases = analyses.get::<Aliases>(f);
        let classes = match max_classes(f) {
            MemoryClasses::MAX => analyses.get::<MemoryClasses>(f),
            // Of a very large function, the cache has the classes of unlimited number only.
            most => Arc::new(MemoryClasses::at_most(most, f, &cfg, &aliases)),
        };
        let forest = analyses.get::<LoopForest>(f);
        let summaries = analyses.effects().clone();
        memory.of = vec![0; f.value_capacity()];
        let slots = 2 * classes.count();
        let mut sweep = Sweep {
            f,
            cfg: &cfg,
            dom: &analyses.get::<DominatorTree>(f),
            forest: &forest,
            written: classes.loop_mod_refs(f, &forest, &aliases, &summaries),
            aliases: &aliases,
            classes: &classes,
            summaries: &summaries,
            memory,
            ids: FxHashMap::default(),
            out: vec![0; f.block_capacity() * slots],
            count: classes.count(),
            next: PHI,
        };
        for block in cfg.reverse_postorder() {
            let mut state = sweep.meet(block);
            for v in f.body(block) {
                if takes_part(f, v) {
                    sweep.instruction(v, &mut state);
                }
            }
            sweep.out[block.index() * slots..][..slots].copy_from_slice(&state);
        }
        sweep.memory
    }
}

struct Sweep<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    dom: &'a DominatorTree,
    forest: &'a LoopForest,
    aliases: &'a Aliases,
    classes: &'a MemoryClasses,
    summaries: &'a EffectSummaries,
    /// By loop: what it writes.
    written: Vec<ModRefSet>,
    memory: MemorySsa,
    /// Numbers for sets of versions.
    ids: FxHashMap<SmallVec<[Version; 4]>, u32>,
    /// By block: the versions at its end, first those of contents, then those of shapes.
    out: Vec<Version>,
    /// The number of classes.
    count: usize,
    next: Version,
}

type State = SmallVec<[Version; 16]>;

impl Sweep<'_> {
    /// The versions at the start of a block.
    fn meet(&mut self, block: Block) -> State {
        let (f, slots) = (self.f, 2 * self.count);
        let mut state: Option<State> = None;
        let mut clobbers_all = Some(block) == f.entry();
        for edge in f.in_edges(block) {
            let from = edge.from;
            if !self.cfg.is_reachable(from) {
                continue;
            }
            if self.cfg.rpo_index(from) >= self.cfg.rpo_index(block) {
                // What a loop writes is known; a cycle that is no loop may write anything.
                clobbers_all |= !self.dom.dominates(block, from);
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
        let headed = self.forest.headed_by(block);
        let writes = headed.map(|id| self.written[id.index()]);
        for (slot, version) in state.iter_mut().enumerate() {
            let (class, is_shape) = (slot % self.count, slot >= self.count);
            let in_loop = writes.is_some_and(|w| {
                let set = if is_shape { w.writes_shape } else { w.writes_contents };
                set & (1 << class) != 0
            });
            if clobbers_all || in_loop || *version == 0 {
                self.next += 1;
                let before = std::mem::replace(version, self.next);
                if let Some(id) = headed
                    && !is_shape
                    && !clobbers_all
                    && before != 0
                {
                    self.memory.before_loops.insert(*version, (before, id));
                }
                if !is_shape && !clobbers_all && writes.is_none() {
                    let reachable = |from: &Block| self.cfg.is_reachable(*from);
                    let from = f.in_edges(block).map(|edge| edge.from).filter(reachable);
                    let met = from.map(|from| self.out[from.index() * slots + slot]).collect();
                    self.memory.phis.insert(*version, met);
                }
            }
        }
        state
    }

    fn instruction(&mut self, v: Value, state: &mut State) {
        let f = self.f;
        let effects = inst_effects(f, v, self.summaries);
        let touched = self.classes.mod_ref(f, self.aliases, &effects);
        if is_repeatable(f, v, &effects, self.summaries) {
            let seen = self.see(touched, state);
            self.memory.seen.push(seen);
            self.memory.of[v.index()] = self.memory.seen.len() as u32;
        }
        if effects.allocates {
            self.made(v, state);
            let shape = |class: u64| state[self.count + class.trailing_zeros() as usize];
            if copied_shape(f, v).is_some() && touched.reads_shape.is_power_of_two() {
                self.memory.shape_of_source.insert(v, shape(touched.reads_shape));
            }
        }
        if let Some(before) = one_version(touched.writes_contents, &state[..self.count]) {
            self.memory.before.insert(v, before);
        }
        // Every instruction makes one version, in all the parts that it writes. Versions of
        // different parts are never compared.
        let new = v.index() as Version + 1;
        for (sets, first) in [(touched.writes_contents, 0), (touched.writes_shape, self.count)] {
            for class in classes_of(sets).take_while(|&class| class < self.count) {
                state[first + class] = new;
            }
        }
    }

    /// Notes the versions where an object is made, or the objects in a tuple.
    fn made(&mut self, v: Value, state: &State) {
        let f = self.f;
        let mut made: SmallVec<[Value; 4]> = smallvec::smallvec![v];
        while let Some(v) = made.pop() {
            if !may_be_object(f.ctx(), f.ty(v)) {
                made.extend(
                    f.uses(v).map(|at| at.user).filter(|&part| f.op(part) == Some(core::GET)),
                );
                continue;
            }
            let class = self.classes.of(f, self.aliases, Operand::from(v));
            if class.is_power_of_two() {
                let slot = class.trailing_zeros() as usize;
                let at = MadeAt { contents: state[slot], shape: state[self.count + slot] };
                self.memory.made_at.insert(v, at);
            }
        }
    }

    fn see(&mut self, touched: ModRefSet, state: &State) -> Seen {
        let mut rest: SmallVec<[Version; 4]> = SmallVec::new();
        let mut one = |set: u64, versions: &[Version]| {
            let version = one_version(set, versions);
            if version.is_none() {
                rest.extend(versions_of(set, versions));
                // The parts are told apart.
                rest.push(0);
            }
            version
        };
        let (contents, shapes) = state.split_at(self.count);
        let contents = one(touched.reads_contents, contents);
        let shape = one(touched.reads_shape, shapes);
        let next = self.ids.len() as u32;
        Seen { contents, shape, rest: *self.ids.entry(rest).or_insert(next) }
    }
}

/// The classes of a set, in order.
fn classes_of(set: u64) -> impl Iterator<Item = usize> {
    let some = |set: u64| (set != 0).then_some(set);
    std::iter::successors(some(set), move |&set| some(set & (set - 1)))
        .map(|set| set.trailing_zeros() as usize)
}

/// The versions of these classes.
fn versions_of(set: u64, versions: &[Version]) -> impl Iterator<Item = Version> {
    classes_of(set).map_while(|class| versions.get(class).copied())
}

/// The version of these classes, if all have the same: there is one class, or one write was the last to all of them.
fn one_version(set: u64, versions: &[Version]) -> Option<Version> {
    let mut all = versions_of(set, versions);
    let first = all.next()?;
    all.all(|version| version == first).then_some(first)
}
