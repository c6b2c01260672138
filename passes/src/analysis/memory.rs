//! Memory as a few classes, so that "may this write change what that reads" is an `and` of two
//! words.
//!
//! An allocation that nobody else knows is a class of its own, and so are the objects of one type of
//! each group of allocations that meet. The other objects of one type are two
//! classes or more: parameters that alias none before them, each group of shadows on a tape, and all others. A value of type `any` may be of any of these. There are at most 64 classes: what
//! would be more shares the last. (Disjoint by type and by allocation, as in type-based alias
//! analysis after Diwan, McKinley and Moss, 1998.)

use regraft_ir::{ControlFlow, Function, Operand, Type, Value};
use rustc_hash::FxHashMap;

use super::alias::{Aliases, Base};
use super::effects::{
    Access, EffectSummaries, InstEffects, inst_effects, may_be_object, may_reach_objects,
    may_reach_others,
};
use super::{Analyses, Analysis, Facets, LoopForest};

/// Sets of classes of memory, one for each part of an object and each thing that is done to it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ModRefSet {
    /// Classes of objects whose contents are read.
    pub(crate) reads_contents: u64,
    /// Classes of objects whose shape is read.
    pub(crate) reads_shape: u64,
    /// Classes of objects whose contents are written.
    pub(crate) writes_contents: u64,
    /// Classes of objects whose shape is written.
    pub(crate) writes_shape: u64,
}

impl ModRefSet {
    /// Returns whether nothing is touched.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns whether something is written.
    pub const fn writes(self) -> bool {
        self.written() != 0
    }

    /// The classes of objects that are written.
    pub const fn written(self) -> u64 {
        self.writes_contents | self.writes_shape
    }

    /// Returns whether what `writer` writes may be what this reads.
    pub const fn reads_what(self, writer: Self) -> bool {
        self.reads_contents & writer.writes_contents | self.reads_shape & writer.writes_shape != 0
    }

    /// The same, but for writes to these classes.
    #[must_use]
    pub const fn without_writes_to(mut self, classes: u64) -> Self {
        self.writes_contents &= !classes;
        self.writes_shape &= !classes;
        self
    }

    /// Returns whether something of these classes is written.
    pub const fn writes_any_of(self, classes: u64) -> bool {
        self.written() & classes != 0
    }

    fn add(&mut self, access: Access, classes: u64) {
        let parts = [
            (Access::READS_CONTENTS, &mut self.reads_contents),
            (Access::READS_SHAPE, &mut self.reads_shape),
            (Access::WRITES_CONTENTS, &mut self.writes_contents),
            (Access::WRITES_SHAPE, &mut self.writes_shape),
        ];
        for (flag, set) in parts {
            if access.contains(flag) {
                *set |= classes;
            }
        }
    }
}

impl std::ops::BitOrAssign for ModRefSet {
    fn bitor_assign(&mut self, other: Self) {
        self.reads_contents |= other.reads_contents;
        self.reads_shape |= other.reads_shape;
        self.writes_contents |= other.writes_contents;
        self.writes_shape |= other.writes_shape;
    }
}

/// The objects of one type that share a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Origin {
    /// The objects that were there when the function began, or came from elsewhere.
    Outside,
    /// Parameters that alias none before them, or a group of shadows on a tape.
    Noalias(u32),
    /// Objects that the function allocates, of the group that this allocation stands for.
    Own(Value),
}

impl Origin {
    /// The origin of an object whose base is known.
    fn of(aliases: &Aliases, base: Base) -> Self {
        match base {
            Base::Fresh(v) | Base::Local(v) => Self::Own(aliases.group(v)),
            Base::Part(group) if group > 0 => Self::Noalias(group),
            _ if aliases.is_noalias(base) => Self::Noalias(0),
            _ => Self::Outside,
        }
    }
}

/// The classes of the objects of a function.
#[derive(Clone, Debug, Default)]
pub struct MemoryClasses {
    of_type: FxHashMap<(Type, Origin), u32>,
    of_allocation: FxHashMap<Value, u32>,
    count: u32,
    most: u32,
    /// The classes of what others may know of.
    visible: u64,
    /// The classes of groups of allocations, and of what is [`Origin::Noalias`], by type.
    apart_of_type: FxHashMap<Type, u64>,
}

impl MemoryClasses {
    /// The most classes of a function: a set of them is one word.
    pub(crate) const MAX: u32 = 64;

    /// The classes of all objects that instructions work on, numbered in reverse postorder.
    /// O(instructions).
    pub(crate) fn compute(f: &Function, cfg: &ControlFlow, aliases: &Aliases) -> Self {
        Self::at_most(Self::MAX, f, cfg, aliases)
    }

    /// The same with at most `most` classes (and no more than [`Self::MAX`]).
    pub(crate) fn at_most(most: u32, f: &Function, cfg: &ControlFlow, aliases: &Aliases) -> Self {
        // The first class is for objects of types that no instruction works on by itself.
        let mut classes =
            Self { count: 1, visible: 1, most: most.clamp(1, Self::MAX), ..Self::default() };
        for block in cfg.reverse_postorder() {
            for v in f.body(block) {
                if !f.op_def(v).is_some_and(|def| def.effects != regraft_ir::Effects::NONE) {
                    continue;
                }
                for operand in f.operands(v) {
                    classes.enter(f, aliases, operand);
                }
            }
        }
        classes
    }

    fn enter(&mut self, f: &Function, aliases: &Aliases, operand: Operand) {
        let ty = f.operand_type(operand);
        if operand.as_value().is_none() || !may_be_object(f.ctx(), ty) {
            return;
        }
        let next = self.count.min(self.most - 1);
        let base = aliases.base(operand);
        if let Some(new) = aliases.non_escaping(operand) {
            self.count += u32::from(enter(&mut self.of_allocation, new, next));
            return;
        }
        let origin = Origin::of(aliases, base);
        self.count += u32::from(enter(&mut self.of_type, (ty, origin), next));
        let class = 1 << self.of_type[&(ty, origin)];
        if origin != Origin::Outside {
            *self.apart_of_type.entry(ty).or_insert(0) |= class;
        }
        self.visible |= if aliases.is_visible(base) { class } else { 0 };
    }

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.count.min(self.most) as usize
    }

    /// The classes that an object may be of.
    pub fn of(&self, f: &Function, aliases: &Aliases, operand: Operand) -> u64 {
        match aliases.base(operand) {
            Base::None => 0,
            Base::Fresh(new) if !aliases.escapes(new) => {
                self.of_allocation.get(&new).map_or(u64::MAX, |&class| 1 << class)
            }
            base => {
                let is_own = matches!(base, Base::Fresh(_) | Base::Local(_));
                let ty = f.operand_type(operand);
                if ty == Type::ANY {
                    let apart = if is_own { self.apart() } else { 0 };
                    return self.visible | apart;
                }
                let class = |origin| self.of_type.get(&(ty, origin)).map_or(0, |&class| 1 << class);
                let classes = match base {
                    // It may be any of those that others know of.
                    Base::Unknown => {
                        let apart = self.apart_of_type.get(&ty).map_or(0, |&classes| classes);
                        apart & self.visible | class(Origin::Outside)
                    }
                    _ => class(Origin::of(aliases, base)),
                };
                if classes == 0 { u64::MAX } else { classes }
            }
        }
    }

    /// The classes of groups of allocations, and of what is [`Origin::Noalias`].
    fn apart(&self) -> u64 {
        self.apart_of_type.values().fold(0, |all, classes| all | classes)
    }

    /// The classes of these objects, of all that they reach, and of what others know.
    pub fn reached_by(
        &self,
        f: &Function,
        aliases: &Aliases,
        operands: impl IntoIterator<Item = Operand>,
    ) -> u64 {
        operands.into_iter().fold(self.visible, |classes, operand| {
            let ty = f.operand_type(operand);
            let reached = match may_be_object(f.ctx(), ty) && !may_reach_others(f.ctx(), ty) {
                true => self.of(f, aliases, operand),
                false if may_reach_objects(f.ctx(), ty) => u64::MAX,
                false => 0,
            };
            classes | reached
        })
    }

    /// Returns what an instruction may touch.
    pub(crate) fn mod_ref(
        &self,
        f: &Function,
        aliases: &Aliases,
        effects: &InstEffects,
    ) -> ModRefSet {
        let mut mod_ref = ModRefSet::default();
        mod_ref.add(effects.elsewhere, self.visible);
        for &(operand, access) in &effects.objects {
            mod_ref.add(access, self.of(f, aliases, operand));
        }
        mod_ref
    }

    /// The classes of objects that others may know of.
    pub(crate) fn visible(&self) -> u64 {
        self.visible
    }

    /// Returns what an instruction may touch, given the summaries of what it calls.
    pub fn mod_ref_of(
        &self,
        f: &Function,
        aliases: &Aliases,
        summaries: &EffectSummaries,
        v: Value,
    ) -> ModRefSet {
        self.mod_ref(f, aliases, &inst_effects(f, v, summaries))
    }
}

impl Analysis for MemoryClasses {
    const NAME: &'static str = "memory classes";
    const FACETS: Facets = Facets::INSTS.union(Facets::TYPES);

    fn compute(f: &Function, analyses: &mut Analyses) -> Self {
        Self::compute(f, &analyses.get(f), &analyses.get(f))
    }
}

impl MemoryClasses {
    /// Returns what the instructions of each loop touch that write something, those of loops within
    /// it included. O(instructions + loops).
    pub(crate) fn loop_mod_refs(
        &self,
        f: &Function,
        forest: &LoopForest,
        aliases: &Aliases,
        summaries: &EffectSummaries,
    ) -> Vec<ModRefSet> {
        let mut all = vec![ModRefSet::default(); forest.len()];
        for id in forest.loops().filter(|&id| forest.get(id).parent.is_none()) {
            for &block in forest.blocks(id) {
                let inner = forest.loop_of(block).unwrap_or(id);
                for v in f.body(block) {
                    if f.op_def(v).is_some_and(|def| def.effects.writes_anything()) {
                        all[inner.index()] |= self.mod_ref_of(f, aliases, summaries, v);
                    }
                }
            }
        }
        for id in forest.innermost_first() {
            if let Some(parent) = forest.get(id).parent {
                let inner = all[id.index()];
                all[parent.index()] |= inner;
            }
        }
        all
    }
}

/// Gives a key that is not there a class. Returns whether it was not there.
fn enter<K: std::hash::Hash + Eq>(classes: &mut FxHashMap<K, u32>, key: K, class: u32) -> bool {
    let before = classes.len();
    classes.entry(key).or_insert(class);
    classes.len() > before
}
