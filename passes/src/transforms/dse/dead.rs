//! Stores that are overwritten before they are read, and stores to objects that nothing reads again.

use regraft_dialects::{cf, core, mem};
use regraft_ir::{Block, Constant, ControlFlow, Function, IrResult, Traits, Value};
use rustc_hash::FxHashSet;

use super::candidates::{Candidates, Set};
use super::overlap_of_write;
use crate::analysis::memory_location::{MemoryLocation, Overlap};
use crate::analysis::traps::may_trap;
use crate::analysis::{Aliases, Analyses, Base, EffectSummaries, inst_effects};
use crate::transforms::util::allocation_sites::needs_memory_only;

/// The places that are dead before something: those in `set`, and those in `keep` that are dead after it.
#[derive(Clone, Copy)]
struct Transfer {
    set: Set,
    keep: Set,
}

impl Transfer {
    const IDENTITY: Self = Self { set: 0, keep: Set::MAX };

    fn before(self, after: Set) -> Set {
        self.set | after & self.keep
    }

    /// The effect of `self` and then `later`, in the order of the program.
    fn and_then(self, later: Self) -> Self {
        Self { set: self.set | later.set & self.keep, keep: later.keep & self.keep }
    }
}

/// Returns the stores to places that are dead after them, those that may trap included.
pub(super) fn stores(f: &Function, candidates: &Candidates, analyses: &mut Analyses) -> Vec<Value> {
    let cfg = analyses.get::<ControlFlow>(f);
    let flow = Flow {
        f,
        candidates,
        aliases: &analyses.get::<Aliases>(f),
        summaries: &analyses.effects().clone(),
    };
    let blocks = cfg.reverse_postorder().count();
    let mut steps: Vec<Vec<(Value, Transfer)>> = vec![Vec::new(); f.block_capacity()];
    let mut whole = vec![Transfer::IDENTITY; f.block_capacity()];
    for block in cfg.reverse_postorder() {
        let list = flow.steps(block);
        let all = list.iter().map(|step| step.1).rev();
        let body = all.fold(Transfer::IDENTITY, |later, step| step.and_then(later));
        whole[block.index()] = flow.params(block).and_then(body);
        steps[block.index()] = list;
    }
    // What is dead at the start of each block: all, until something is read.
    let mut before = vec![candidates.all(); f.block_capacity()];
    let after = |before: &[Set], block: Block| {
        let next = f.successors(block).map(|next| before[next.index()]).reduce(|a, b| a & b);
        let returns = f.op(Value::terminator(block)) != Some(cf::UNREACHABLE);
        let seen = if returns { candidates.visible } else { candidates.visible_to_errors };
        next.unwrap_or(candidates.all() & !seen)
    };
    let mut pending: Vec<Block> = Vec::with_capacity(blocks);
    pending.extend(cfg.reverse_postorder());
    let mut waits = vec![true; f.block_capacity()];
    while let Some(block) = pending.pop() {
        waits[block.index()] = false;
        let new = whole[block.index()].before(after(&before, block)) & before[block.index()];
        if new != before[block.index()] {
            before[block.index()] = new;
            for edge in f.in_edges(block).filter(|edge| cfg.is_reachable(edge.from)) {
                if !std::mem::replace(&mut waits[edge.from.index()], true) {
                    pending.push(edge.from);
                }
            }
        }
    }
    let mut dead = Vec::new();
    for block in cfg.reverse_postorder() {
        let mut now = after(&before, block);
        for &(v, step) in steps[block.index()].iter().rev() {
            if candidates.is_store(v) && now & candidates.written_by(f, v, flow.aliases) != 0 {
                dead.push(v);
            }
            now = step.before(now);
        }
    }
    dead
}

struct Flow<'a> {
    f: &'a Function,
    candidates: &'a Candidates,
    aliases: &'a Aliases,
    summaries: &'a EffectSummaries,
}

impl Flow<'_> {
    /// The stores of a block, and the instructions that change what is dead, with its terminator.
    fn steps(&self, block: Block) -> Vec<(Value, Transfer)> {
        let mut steps = Vec::new();
        for v in self.f.insts(block) {
            let step = match v.is_terminator() {
                true => self.terminator(v),
                false => self.instruction(v),
            };
            if step.set != 0 || step.keep != Set::MAX || self.candidates.is_store(v) {
                steps.push((v, step));
            }
        }
        steps
    }

    fn instruction(&self, v: Value) -> Transfer {
        let (f, candidates) = (self.f, self.candidates);
        let keep = !candidates.redefined_by(v);
        let Some(def) = f.op_def(v) else { return Transfer { set: 0, keep } };
        if def.traits.contains(Traits::PURE)
            && !def.traits.contains(Traits::MAY_TRAP)
            && !f.checks_operands(v)
        {
            return Transfer { set: 0, keep };
        }
        let effects = inst_effects(f, v, self.summaries);
        let mut read = candidates.read_by(f, v, &effects, self.aliases);
        if f.op(v) == Some(core::THROW) {
            read &= !candidates.visible | candidates.visible_to_errors;
        }
        if effects.may_trap && !needs_memory_only(f, v) {
            read |= candidates.visible_to_errors;
        }
        let set = candidates.overwritten_by(f, v) | candidates.made_anew(v);
        Transfer { set, keep: keep & !read }
    }

    /// The end of a block: what it takes along is read, and what others know if it may trap.
    fn terminator(&self, v: Value) -> Transfer {
        let (f, candidates) = (self.f, self.candidates);
        let mut read = 0;
        for operand in f.plain_operands(v) {
            match self.aliases.base(operand) {
                Base::Fresh(allocation) => {
                    read |= candidates.of_object(allocation, self.aliases);
                }
                Base::Local(_) | Base::Part(_) | Base::Unknown => read |= candidates.visible,
                Base::None | Base::Param(_) => {}
            }
        }
        if may_trap(f, v) {
            read |= candidates.visible_to_errors;
        }
        Transfer { set: 0, keep: !read }
    }

    /// The parameters of a block, which are other values each time.
    fn params(&self, block: Block) -> Transfer {
        let params = self.f.params(block);
        let all = params.fold(0, |set, param| set | self.candidates.redefined_by(param));
        Transfer { set: 0, keep: !all }
    }
}

/// Lets a store that may trap, and after which its place is dead, store what the next one in its block
/// stores there, but for those that are `gone`. Returns that one: it never traps, and stores what is there
/// already, if nothing in between may write there. If the value is computed in between, the store moves there, past
/// instructions that cannot stop the program and have no effect.
pub(super) fn store_later_value(
    f: &mut Function,
    candidates: &Candidates,
    (aliases, summaries): (&Aliases, &EffectSummaries),
    store: Value,
    gone: &FxHashSet<Value>,
) -> IrResult<Option<Value>> {
    let place = MemoryLocation::of(f, store).filter(|_| f.op(store) == Some(mem::STORE));
    let Some(place) = place.filter(|_| !f.checks_operands(store)) else { return Ok(None) };
    let mut calm = true;
    let mut next = f.next_inst(store);
    while let Some(v) = next.filter(|v| !v.is_terminator()) {
        next = f.next_inst(v);
        if gone.contains(&v) {
            continue;
        }
        if !candidates.overwrites(f, v, store) {
            let effects = inst_effects(f, v, summaries);
            if effects.writes_anything()
                && overlap_of_write(f, &place, v, (aliases, summaries)) != Overlap::No
            {
                return Ok(None);
            }
            calm &= effects.is_removable();
            continue;
        }
        // The value may be made of what the store gives, which is `nothing`.
        let nothing = f.constant_id(Constant::Unit);
        f.replace_all_uses(store, nothing)?;
        let Some(value) = f.operand(v, 1).filter(|_| f.op(v) == Some(mem::STORE)) else {
            return Ok(None);
        };
        let is_known = value.as_value().is_none_or(|x| {
            f.block_of(x) != f.block_of(v) || f.is_param(x) || f.comes_before(x, store)
        });
        if !is_known {
            if !calm {
                return Ok(None);
            }
            f.move_before(store, v)?;
        }
        f.set_operand(store, 1, value)?;
        return Ok(Some(v));
    }
    Ok(None)
}
