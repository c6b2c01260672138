//! To-be-recorded (TBR) analysis: which reads of memory would give the same on the way back.
//!
//! A read can be made again while its block is reversed if nothing that may run after it writes what
//! it reads; else its result is to be recorded (Hascoët, Naumann and Pascual, "To Be Recorded
//! Analysis in Reverse-Mode Automatic Differentiation", 2005). The reverse sweep itself writes
//! shadows only.
//!
//! # Method
//! Backward data flow of what may still be written, on classes of memory (64 bits a block), to a
//! fixpoint: O(blocks + edges) for each round, and a round for each level of nested loops. An allocation ends what is written
//! to its object after it.

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Block, ControlFlow, Effects, Function, Operand, Value};
use regraft_passes::analysis::{Aliases, Analyses, LoopForest, MemoryClasses, ModRefSet};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most instructions of a loop that are looked at one by one to see what they write of an array.
const MAX_WRITERS: usize = 16;

/// The most classes of memory that one of them may write to.
const MAX_CLASSES: u32 = 8;

/// The writes of an outermost loop, and after it.
#[derive(Default, Debug)]
struct LoopWrites {
    /// Classes of memory that may be written to once the loop has been left.
    after: u64,
    /// Classes that instructions of the loop write to which may write to many.
    unlisted: u64,
    /// The other instructions, by class.
    listed: FxHashMap<u32, SmallVec<[Value; 4]>>,
}

impl LoopWrites {
    fn add(&mut self, writer: Value, classes: u64) {
        if classes.count_ones() > MAX_CLASSES {
            self.unlisted |= classes;
            return;
        }
        for class in (0..u64::BITS).filter(|class| classes & (1 << class) != 0) {
            let listed = self.listed.entry(class).or_default();
            if listed.len() <= MAX_WRITERS {
                listed.push(writer);
            }
        }
    }
}

/// The reads and calls of a function that need no record.
#[derive(Default, Debug)]
pub(super) struct ToBeRecorded {
    /// By [`Value::index`].
    stable: Vec<bool>,
    /// Of reads, the same; of calls, whether nothing that they read is written after them.
    reads_stay: Vec<bool>,
    /// Of calls: whether no operand or result of them is written after them, and nothing that others know.
    operands_stay: Vec<bool>,
    /// Of outermost loops, by their headers.
    writes: FxHashMap<Block, LoopWrites>,
    /// The analyses that tell classes of memory apart; nothing if reads are not made again.
    known: Option<(Arc<Aliases>, Arc<MemoryClasses>)>,
}

impl ToBeRecorded {
    /// Of the reads and calls in `f`. With `combined`, nothing happens between the two sweeps; else
    /// anything may be written there.
    pub(super) fn compute(f: &Function, analyses: &mut Analyses, combined: bool) -> Self {
        let mut stable = vec![false; f.value_capacity()];
        let mut reads_stay = stable.clone();
        let mut operands_stay = stable.clone();
        if !combined {
            return Self { stable, reads_stay, operands_stay, ..Self::default() };
        }
        let (cfg, aliases) = (analyses.get::<ControlFlow>(f), analyses.get::<Aliases>(f));
        let (classes, forest) = (analyses.get::<MemoryClasses>(f), analyses.get::<LoopForest>(f));
        let of = |v: Value| classes.mod_ref_of(f, &aliases, analyses.effects(), v);
        let blocks: Vec<Block> = cfg.reverse_postorder().collect();
        let class = |object: Operand| classes.of(f, &aliases, object);
        let renewed = renewed(f, &blocks, |v| of(v).written(), class);
        // The writes of each block that its allocations do not end, and the classes of these allocations.
        let mut own = vec![(ModRefSet::default(), 0); f.block_capacity()];
        for &block in &blocks {
            let (written, made) = &mut own[block.index()];
            for v in f.body(block).collect::<Vec<_>>().into_iter().rev() {
                if let Some(&classes) = renewed.get(&v) {
                    (*written, *made) = (written.without_writes_to(classes), *made | classes);
                } else if f.op_def(v).is_some_and(|def| def.effects.writes_anything()) {
                    *written |= of(v);
                }
            }
        }
        let from = |after: &[ModRefSet], block: Block| {
            let (mut written, made) = own[block.index()];
            written |= after[block.index()].without_writes_to(made);
            written
        };
        let mut after = vec![ModRefSet::default(); f.block_capacity()];
        let mut changed = true;
        while changed {
            changed = false;
            for &block in blocks.iter().rev() {
                let mut new = after[block.index()];
                for next in f.successors(block) {
                    new |= from(&after, next);
                }
                changed |= std::mem::replace(&mut after[block.index()], new) != new;
            }
        }
        let mut writes = FxHashMap::default();
        for outermost in forest.loops().filter(|&l| forest.get(l).parent.is_none()) {
            let mut of_loop = LoopWrites::default();
            for out in forest.get(outermost).exits.iter().map(|exit| f.edge_target(exit.edge(f))) {
                of_loop.after |= from(&after, out).written();
            }
            for v in forest.blocks(outermost).iter().flat_map(|&block| f.body(block)) {
                if f.op_def(v).is_some_and(|def| def.effects.writes_anything()) {
                    of_loop.add(v, of(v).written());
                }
            }
            writes.insert(forest.get(outermost).header, of_loop);
        }
        for &block in &blocks {
            let mut later = after[block.index()];
            let body: Vec<Value> = f.body(block).collect();
            for &v in body.iter().rev() {
                later = later.without_writes_to(renewed.get(&v).copied().unwrap_or(0));
                let Some(def) = f.op_def(v) else { continue };
                let is_call = matches!(f.op(v), Some(core::CALL | core::APPLY));
                if def.effects == Effects::NONE {
                    continue;
                }
                let footprint = of(v);
                reads_stay[v.index()] =
                    !footprint.reads_what(later) && (is_call || !overwrites_read(f, &aliases, v));
                operands_stay[v.index()] = is_call && {
                    let operands = f.plain_operands(v).chain([v.into()]);
                    !later.writes_any_of(classes.reached_by(f, &aliases, operands))
                };
                stable[v.index()] = if is_call { !later.writes() } else { reads_stay[v.index()] };
                later |= footprint;
            }
        }
        let known = Some((aliases, classes));
        Self { stable, reads_stay, operands_stay, writes, known }
    }

    /// Returns whether a read gives the same on the way back; of a call, whether nothing at all is written
    /// after it.
    pub(super) fn is_stable(&self, v: Value) -> bool {
        self.stable.get(v.index()).copied().unwrap_or(false)
    }

    /// Returns whether a read, or a call, would read the same on the way back.
    pub(super) fn reads_stay(&self, v: Value) -> bool {
        self.reads_stay.get(v.index()).copied().unwrap_or(false)
    }

    /// The instructions of an outermost loop, named by its header, that may write to an array, if they are few and known; and
    /// whether something may after the loop.
    pub(super) fn writers(
        &self,
        f: &Function,
        outermost: Block,
        array: Operand,
    ) -> Option<(SmallVec<[Value; 4]>, bool)> {
        let (writes, (aliases, classes)) = (self.writes.get(&outermost)?, self.known.as_ref()?);
        let classes = classes.of(f, aliases, array);
        let mut writers = SmallVec::new();
        for class in (0..u64::BITS).filter(|class| classes & (1 << class) != 0) {
            match writes.listed.get(&class) {
                Some(listed) if listed.len() > MAX_WRITERS => return None,
                Some(listed) => writers.extend_from_slice(listed),
                None => {}
            }
        }
        let is_listed = classes & writes.unlisted == 0;
        is_listed.then_some((writers, classes & writes.after != 0))
    }

    /// The aliases of the function that was looked at, for its own values.
    pub(super) fn aliases_of(&self, v: Value) -> Option<&Aliases> {
        let (aliases, _) = self.known.as_ref()?;
        (v.index() < self.stable.len()).then_some(aliases)
    }

    /// Returns whether everything stays as it is that a call can give to a pullback: what its operands and its
    /// result reach, and what others know.
    pub(super) fn operands_stay(&self, v: Value) -> bool {
        self.operands_stay.get(v.index()).copied().unwrap_or(false)
    }
}

/// The allocations that classes of memory are written to through alone, with these classes. Each run of one makes another object,
/// so that nothing after it is written to an object from before it. O(instructions).
fn renewed(
    f: &Function,
    blocks: &[Block],
    written: impl Fn(Value) -> u64,
    of: impl Fn(Operand) -> u64,
) -> FxHashMap<Value, u64> {
    let (mut through, mut others): (FxHashMap<Value, u64>, u64) = Default::default();
    for v in blocks.iter().flat_map(|&block| f.body(block)) {
        let Some(effects) = f.op_def(v).map(|def| def.effects) else { continue };
        if !effects.writes_anything() {
            continue;
        }
        let operands = f.plain_operands(v).enumerate();
        let mut targets = operands.filter(|&(at, _)| effects.writes.contains(at));
        let target = targets.next().and_then(|(_, target)| target.as_value());
        // A call may give back an object from before it.
        let is_made = |&made: &Value| {
            f.op_def(made).is_some_and(|def| def.effects.allocates && !def.effects.opaque)
        };
        let is_simple = !effects.opaque && !effects.deep && targets.next().is_none();
        // What else is written is not the object itself.
        let mut rest = written(v);
        if let Some(made) = target.filter(is_made).filter(|_| is_simple) {
            let own = of(made.into());
            *through.entry(made).or_insert(0) |= rest & own;
            rest &= !own;
        }
        others |= rest;
    }
    let mut seen = 0;
    for &classes in through.values() {
        others |= seen & classes;
        seen |= classes;
    }
    through.values_mut().for_each(|classes| *classes &= !others);
    through
}

/// Returns whether an op may write to an operand what it reads of another one.
fn overwrites_read(f: &Function, aliases: &Aliases, v: Value) -> bool {
    let Some(effects) = f.op_def(v).map(|def| def.effects) else { return false };
    let operands = || f.plain_operands(v).enumerate();
    operands().filter(|&(at, _)| effects.writes.contains(at)).any(|(at, written)| {
        let mut others = operands().filter(|&(i, _)| i != at && effects.reads.contains(i));
        others.any(|(_, read)| aliases.may_alias(f, written, read))
    })
}
