//! Objects that nobody looks at: what is only done to them need not be done.
//!
//! ```text
//! %3: array<f64, 1> = mem.fill 0.0, 10       dead, if nothing live loads from %3
//! ..
//! %5: f64 = mem.load %3, %4 {inbounds=true}  a load by itself needs nothing
//! %6: f64 = arith.add %5, %2
//! mem.store %3, %6, %4 {inbounds=true}       waits for a live load
//! ```
//!
//! An instruction that does nothing but write to objects that the function has made, and that do
//! not [escape](Aliases), waits for one of these to be looked at: for something live that reads
//! the contents (or, if the instruction may change it, the shape), or an end of the function that
//! takes the object along.
//!
//! Making an object can fail for two reasons. A negative dimension is an error of the program and
//! stays one: only objects whose dimensions are known not to be negative go. That there is no
//! memory is a limit of the engine, and no part of what a program means.

use std::sync::Arc;

use regraft_dialects::core;
use regraft_ir::{Function, Operand, Traits, Value};
use rustc_hash::FxHashMap;

use crate::analysis::{
    Access, Aliases, Analyses, EffectSummaries, InstEffects, Ranges, inst_effects,
};
use crate::transforms::util::allocation_sites::{
    needs_memory_only, needs_memory_only_given, plainly_natural,
};

/// The objects of a function that nobody else knows, and what waits for them.
pub(super) struct LocalObjects<'a> {
    f: &'a Function,
    summaries: EffectSummaries,
    aliases: Arc<Aliases>,
    by_allocation: FxHashMap<Value, Waiting>,
    /// Computed when they are first asked for.
    ranges: Option<Arc<Ranges>>,
}

/// The instructions that wait for one object.
#[derive(Default)]
struct Waiting {
    for_contents: Vec<Value>,
    for_shape: Vec<Value>,
}

impl<'a> LocalObjects<'a> {
    pub(super) fn find(
        f: &'a Function,
        analyses: &mut Analyses,
        summaries: EffectSummaries,
    ) -> Self {
        let aliases = analyses.get::<Aliases>(f);
        Self { f, summaries, aliases, by_allocation: FxHashMap::default(), ranges: None }
    }

    /// Lets `v`, which has these effects, wait for the objects that it writes. Returns whether it
    /// does nothing else.
    pub(super) fn defer(&mut self, v: Value, effects: &InstEffects) -> bool {
        let writes = |access: Access| access.intersects(Access::WRITES);
        let traps = effects.may_trap && !needs_memory_only(self.f, v);
        let non_escaping = |object| self.aliases.non_escaping(object);
        if traps
            || effects.observable
            || effects.may_not_end
            || writes(effects.elsewhere)
            || effects
                .objects
                .iter()
                .any(|&(object, to)| writes(to) && non_escaping(object).is_none())
        {
            return false;
        }
        for &(object, access) in effects.objects.iter().filter(|object| writes(object.1)) {
            let Some(allocation) = self.aliases.non_escaping(object) else { continue };
            let waiting = self.by_allocation.entry(allocation).or_default();
            if access.contains(Access::WRITES_CONTENTS) {
                waiting.for_contents.push(v);
            }
            if access.contains(Access::WRITES_SHAPE) {
                waiting.for_shape.push(v);
            }
        }
        true
    }

    /// Returns what waits for what the live instruction or terminator `v` looks at.
    pub(super) fn woken_by(&mut self, v: Value) -> Vec<Value> {
        let f = self.f;
        let mut woken = Vec::new();
        let Some(def) = f.op_def(v) else { return woken };
        if self.by_allocation.is_empty() || passes_on(f, v) {
            return woken;
        }
        let effects = inst_effects(f, v, &self.summaries);
        let pure = def.traits.contains(Traits::PURE);
        for operand in f.plain_operands(v) {
            let Some(allocation) = self.aliases.non_escaping(operand) else { continue };
            let Some(waiting) = self.by_allocation.get_mut(&allocation) else { continue };
            let known = effects.objects.iter().filter(|object| object.0 == operand);
            let known = known.map(|object| object.1).reduce(|a, b| a | b);
            // What an op does not say it reads, it may hand on.
            let access = match known {
                Some(access) => access,
                None if pure => Access::empty(),
                None => Access::all(),
            };
            if access.contains(Access::READS_CONTENTS) {
                woken.append(&mut waiting.for_contents);
            }
            if access.contains(Access::READS_SHAPE) {
                woken.append(&mut waiting.for_shape);
            }
        }
        woken
    }

    /// Returns whether `v` makes an object, and may be dropped if nothing uses that.
    pub(super) fn is_made_freely(&mut self, v: Value, analyses: &mut Analyses) -> bool {
        let f = self.f;
        needs_memory_only_given(f, v, |size| self.is_natural(v, size, analyses))
    }

    fn is_natural(&mut self, at: Value, size: Operand, analyses: &mut Analyses) -> bool {
        let f = self.f;
        if plainly_natural(f, size) {
            return true;
        }
        let ranges = self.ranges.get_or_insert_with(|| analyses.get::<Ranges>(f));
        ranges.interval_at(f, f.block_of(at), size).lo >= 0
    }
}

/// Returns whether an instruction is its operand, or compares it, without looking into it.
fn passes_on(f: &Function, v: Value) -> bool {
    matches!(f.op(v), Some(core::SELECT | core::TYPEASSERT | core::CONVERT))
}
