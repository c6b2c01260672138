//! Moves the code between two loops before the first one or after the second.

use regraft_ir::{Block, Operand, Value};
use rustc_hash::FxHashSet;

use crate::analysis::traps::speculatable;
use crate::analysis::{Access, InstEffects, ModRefSet, inst_effects};
use crate::transforms::util::allocation_sites::needs_memory_only;
use crate::transforms::util::loop_accesses::{Accesses, is_float_function};
use crate::transforms::util::loop_pair::{FusionAnalyses, LoopPair};

/// The instructions of the block between two loops, in order.
pub(super) struct InterveningCode {
    pub(super) block: Block,
    pub(super) before: Vec<Value>,
    pub(super) after: Vec<Value>,
}

/// The effects of instructions or loops.
#[derive(Clone, Copy, Default)]
struct Doing {
    touches: ModRefSet,
    stops: bool,
    observable: bool,
    shows: bool,
}

impl Doing {
    fn conflicts_with(self, other: Self) -> bool {
        let (a, b) = (self.touches, other.touches);
        let both_write = a.writes_contents & b.writes_contents | a.writes_shape & b.writes_shape;
        a.reads_what(b)
            || b.reads_what(a)
            || both_write != 0
            || self.stops && (other.stops || other.shows)
            || other.stops && self.shows
            || self.observable && other.observable
    }

    fn add(&mut self, other: Self) {
        self.touches |= other.touches;
        self.stops |= other.stops;
        self.observable |= other.observable;
        self.shows |= other.shows;
    }
}

impl InterveningCode {
    /// Finds where each instruction goes; `Some(None)` if nothing is between the loops, `None` if
    /// it cannot be sorted, or if the second loop uses what the first one computes.
    pub(super) fn sort(
        facts: &FusionAnalyses<'_>,
        pair: &LoopPair,
        accesses: (&Accesses, &Accesses),
    ) -> Option<Option<Self>> {
        let f = facts.f;
        let enter = pair.enter_second(f);
        let exit = pair.second.exit(f);
        // What it passes on when it is left does not count.
        let passed = exit.position as usize..=exit.position as usize + f.edge_args(exit).len();
        let mut needed: FxHashSet<Value> = FxHashSet::default();
        needed.extend(f.edge_args(enter).filter_map(Operand::as_value));
        for &block in facts.forest.blocks(pair.second.id) {
            for v in f.insts(block) {
                let leaves = v == Value::terminator(exit.from);
                let operands = f.operands(v).enumerate();
                let operands = operands.filter(|(i, _)| !leaves || !passed.contains(i));
                needed.extend(operands.filter_map(|(_, operand)| operand.as_value()));
            }
        }
        let of_first = |v: &Value| facts.forest.contains(pair.first.id, f.block_of(*v));
        if needed.iter().any(of_first) {
            return None;
        }
        let Some(block) = pair.intervening else { return Some(None) };
        // Its parameters are what the first loop passes.
        let passes_first = |v: Value| {
            let mut args = f.params(block).zip(f.edge_args(pair.first.exit(f)));
            let arg = args.find(|&(param, _)| param == v).and_then(|(_, arg)| arg.as_value());
            arg.is_some_and(|arg| of_first(&arg))
        };
        if needed.iter().any(|&v| passes_first(v)) {
            return None;
        }
        let body: Vec<Value> = f.body(block).collect();
        for &v in body.iter().rev() {
            if needed.contains(&v) {
                needed.extend(f.operands(v).filter_map(Operand::as_value));
            }
        }
        let first = facts.doing_of_loop(accesses.0);
        let second = facts.doing_of_loop(accesses.1);
        let mut sorted = Self { block, before: Vec::new(), after: Vec::new() };
        let mut later: FxHashSet<Value> = FxHashSet::default();
        let mut after = Doing::default();
        for v in body {
            let doing = facts.doing(v);
            let waits = f.operands(v).filter_map(Operand::as_value).any(|operand| {
                later.contains(&operand) || of_first(&operand) || passes_first(operand)
            });
            // A promise may hold only because the first loop has come to its end.
            let guaranteed = first.stops && !speculatable(f, v) && !needs_memory_only(f, v);
            if !waits && !guaranteed && !doing.conflicts_with(first) && !doing.conflicts_with(after)
            {
                sorted.before.push(v);
            } else if !needed.contains(&v) && !doing.conflicts_with(second) {
                after.add(doing);
                later.insert(v);
                sorted.after.push(v);
            } else {
                return None;
            }
        }
        Some(Some(sorted))
    }

    /// Returns whether nothing of it comes after the loops.
    pub(super) fn is_all_before(&self) -> bool {
        self.after.is_empty()
    }
}

impl FusionAnalyses<'_> {
    fn doing(&self, v: Value) -> Doing {
        let effects = inst_effects(self.f, v, self.summaries);
        let ignored = !self.domain_errors && is_float_function(self.f, v);
        let traps = effects.may_trap && !needs_memory_only(self.f, v) && !ignored;
        Doing {
            touches: self.classes.mod_ref(self.f, &self.aliases, &effects),
            stops: traps || effects.may_not_end,
            observable: effects.observable,
            shows: effects.observable || self.writes_visible(&effects),
        }
    }

    fn doing_of_loop(&self, accesses: &Accesses) -> Doing {
        let mut all = Doing {
            stops: accesses.may_stop,
            observable: accesses.observable,
            shows: accesses.writes_visible || accesses.observable,
            touches: ModRefSet::default(),
        };
        for access in &accesses.list {
            all.touches |= self.classes.mod_ref(self.f, &self.aliases, &access.effects);
        }
        all
    }

    fn writes_visible(&self, effects: &InstEffects) -> bool {
        effects.elsewhere.intersects(Access::WRITES)
            || effects.objects.iter().any(|&(object, access)| {
                access.intersects(Access::WRITES) && self.aliases.non_escaping(object).is_none()
            })
    }
}
