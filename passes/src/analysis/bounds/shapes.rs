//! Versions of the shape of an array: two sizes are the same if nothing has changed it between.
//!
//! The shape of an array is a variable that few instructions write (`mem.push`, calls of which too
//! little is known), so that each point sees one of its versions: that of the last writer, or of
//! the block where several meet. Arrays of rank 2 and more never change their shape. The versions
//! of an array are found when they are first asked for, and only if anything writes it at all.

use regraft_ir::{Block, ControlFlow, Function, Operand, TypeKind, Value};
use rustc_hash::FxHashMap;

use super::super::Aliases;
use super::super::effects::{Access, EffectSummaries, InstEffects, shape_writers};

/// The state of the shape of an array that a point sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    /// The state at the start of the function.
    Start,
    /// The MemoryPhi at the start of a block.
    Phi(Block),
    /// The state after an instruction.
    After(Value),
}

/// The versions of the shapes of arrays.
#[derive(Debug)]
pub(crate) struct Shapes<'a> {
    f: &'a Function,
    cfg: &'a ControlFlow,
    aliases: &'a Aliases,
    /// The instructions that may change a shape.
    writers: Vec<(Value, InstEffects)>,
    /// For arrays that something writes: the version at the start of each block, and the writers.
    versions: FxHashMap<Value, Option<Versions>>,
    /// The number of blocks that may still be looked at.
    budget: usize,
}

#[derive(Debug)]
struct Versions {
    /// By [`Block::index`].
    at_start: Vec<Option<Version>>,
    /// By block, in order.
    writers: FxHashMap<Block, Vec<Value>>,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(
        f: &'a Function,
        cfg: &'a ControlFlow,
        aliases: &'a Aliases,
        summaries: &EffectSummaries,
    ) -> Self {
        let writers = shape_writers(f, cfg, summaries);
        let budget = 16 * f.block_count() + 1000;
        Self { f, cfg, aliases, writers, versions: FxHashMap::default(), budget }
    }

    /// The version of the shape of `array` that `at` sees when it is about to run. `None` if it is
    /// not known.
    pub(crate) fn version(&mut self, array: Value, at: Value) -> Option<Version> {
        match *self.f.ctx().kind(self.f.ty(array)) {
            TypeKind::Array { rank: 2.., .. } => return Some(Version::Start),
            TypeKind::Array { .. } => {}
            _ => return None,
        }
        if self.writers.is_empty() {
            return Some(Version::Start);
        }
        if !self.versions.contains_key(&array) {
            let found = self.find(array);
            self.versions.insert(array, found);
        }
        let f = self.f;
        let versions = self.versions.get(&array)?.as_ref()?;
        let block = f.block_of(at);
        let before = versions.writers.get(&block).and_then(|writers| {
            let count = writers.partition_point(|&writer| f.comes_before(writer, at));
            writers[..count].last().copied()
        });
        match before {
            Some(writer) => Some(Version::After(writer)),
            None => versions.at_start.get(block.index()).copied().flatten(),
        }
    }

    fn find(&mut self, array: Value) -> Option<Versions> {
        let (f, object) = (self.f, Operand::from(array));
        self.budget = self.budget.checked_sub(self.writers.len())?;
        let mut writers: FxHashMap<Block, Vec<Value>> = FxHashMap::default();
        for (v, effects) in &self.writers {
            if self.aliases.touches(f, effects, object).contains(Access::WRITES_SHAPE) {
                writers.entry(f.block_of(*v)).or_default().push(*v);
            }
        }
        let mut at_start = vec![None; f.block_capacity()];
        if let Some(entry) = f.entry() {
            at_start[entry.index()] = Some(Version::Start);
        }
        let mut changed = true;
        while changed {
            changed = false;
            self.budget = self.budget.checked_sub(self.cfg.reachable_count())?;
            for block in self.cfg.reverse_postorder() {
                let end = match writers.get(&block).and_then(|writers| writers.last()) {
                    Some(&writer) => Some(Version::After(writer)),
                    None => at_start[block.index()],
                };
                let Some(end) = end else { continue };
                for target in f.successors(block) {
                    let start: &mut Option<Version> = &mut at_start[target.index()];
                    // Where versions have met, they meet for good.
                    let new = match *start {
                        None => end,
                        Some(old) if old == end => continue,
                        Some(_) => Version::Phi(target),
                    };
                    if *start != Some(new) && Some(target) != f.entry() {
                        *start = Some(new);
                        changed = true;
                    }
                }
            }
        }
        Some(Versions { at_start, writers })
    }
}
