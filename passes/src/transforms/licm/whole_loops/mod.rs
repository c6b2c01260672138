//! Loops that leave other loops as a whole.
//!
//! ```text
//! ^1: br ^2(0)                            ^1: br %n > 0, ^3, ^6(undef)
//! ^2(%i): br %i < %n, ^3, ^5              ^3: inner loop, then br ^6(%t)
//! ^3: inner loop, then br ^4       =>     ^6(%u): br ^2(0)
//! ^4: .. %t ..; br ^2(%i + 1)             ^2(%i): br %i < %n, ^4, ^5
//!                                         ^4: .. %u ..; br ^2(%i + 1)
//! ```
//!
//! A loop can leave the loops around it if it computes from what is the same in them, writes
//! nothing, and reads nothing that they write. It runs in front of them if and only if it ran in
//! their first iterations: the branches on the way there are copied, with the first values of
//! loop parameters in their conditions. On that way nothing may trap or be observed, as the loop may
//! trap, or never end.
//!
//! A loop that does not run in the first iteration must not run in a later one. So a branch that
//! may go around it either leaves the loop that the branch is in, which ends with that, or
//! decides alike in each iteration. And the parameters that stand for their first values in the
//! condition are those of that loop alone: what varies in the loops around it would let it begin
//! otherwise the next time.

pub(super) mod chain;
mod leave;

use regraft_dialects::cf;
use regraft_ir::{Block, Edge, Function, IrResult, Operand, Traits, Value};
use rustc_hash::FxHashSet;

use super::LicmAnalyses;
use crate::analysis::traps::{may_trap, only_computes};
use crate::analysis::{LoopId, ModRefSet, callee_summary, inst_effects};
use crate::transforms::util::edit::only;
use chain::{common_depth, enter, highest_below, set_word};

/// A condition is not copied if it is made of more instructions.
const MAX_COPIED: usize = 16;

/// Moves loops out of those with the headers `only`, or out of all. Returns how many were moved.
/// Near linear.
pub(super) fn run(
    f: &mut Function,
    facts: &LicmAnalyses,
    only: Option<&FxHashSet<Block>>,
) -> IrResult<usize> {
    let forest = &*facts.forest;
    let survey = Survey::of(f, facts);
    let mut plans: Vec<Plan> = Vec::new();
    let mut inside_of: Option<LoopId> = None;
    let mut chain: Vec<LoopId> = Vec::new();
    for id in forest.loops() {
        if inside_of.is_some_and(|outer| forest.encloses(outer, id)) {
            continue;
        }
        if let Some(plan) = survey.plan(f, id, &mut chain, only) {
            plans.push(plan);
            inside_of = Some(id);
        }
    }
    for plan in &plans {
        survey.apply(f, plan)?;
    }
    Ok(plans.len())
}

/// The facts on a loop.
#[derive(Clone, Default)]
struct Info {
    /// True if all that it does is to compute values.
    pure: bool,
    touches: ModRefSet,
    /// The depths of the loops that operands are in, as bits: of an operand in a loop beside this
    /// one, that of the loop around both.
    depths: Vec<u64>,
}

/// A branch on the way to a loop.
#[derive(Clone, Copy)]
struct Guard {
    condition: Operand,
    /// The value of the condition if the loop is reached.
    taken_if: bool,
    /// The loop to be left that the branch is in.
    of: LoopId,
}

/// A loop that is to be moved.
struct Plan {
    id: LoopId,
    /// The outermost loop that it leaves.
    target: LoopId,
    /// The branches on the way, the first one last.
    guards: Vec<Guard>,
}

struct Survey<'a> {
    facts: &'a LicmAnalyses,
    infos: Vec<Info>,
    /// By block: whether nothing in it traps, runs on or can be observed.
    side_effect_free: Vec<bool>,
}

impl<'a> Survey<'a> {
    fn of(f: &Function, facts: &'a LicmAnalyses) -> Self {
        let forest = &*facts.forest;
        let fresh = Info { pure: true, ..Info::default() };
        let mut survey = Self {
            facts,
            infos: vec![fresh; forest.len()],
            side_effect_free: vec![false; f.block_capacity()],
        };
        for (info, touches) in survey.infos.iter_mut().zip(facts.memory.loop_mod_refs(
            f,
            &facts.forest,
            &facts.aliases,
            &facts.summaries,
        )) {
            info.touches = touches;
        }
        let mut chain: Vec<LoopId> = Vec::new();
        for id in forest.loops().filter(|&id| forest.get(id).parent.is_none()) {
            for &block in forest.blocks(id) {
                let inner = forest.loop_of(block).unwrap_or(id);
                enter(facts, &mut chain, inner);
                survey.block(f, block, &chain);
            }
        }
        for id in forest.innermost_first() {
            let l = forest.get(id);
            let info = &mut survey.infos[id.index()];
            info.pure &= !l.has_irreducible;
            if let Some(parent) = l.parent {
                let info = info.clone();
                let outer = &mut survey.infos[parent.index()];
                outer.pure &= info.pure;
                outer.touches |= info.touches;
                for (depth, bits) in info.depths.into_iter().enumerate() {
                    set_word(&mut outer.depths, depth, bits);
                }
            }
        }
        survey
    }

    fn block(&mut self, f: &Function, block: Block, chain: &[LoopId]) {
        let facts = self.facts;
        let Some(&inner) = chain.last() else { return };
        let info = &mut self.infos[inner.index()];
        let mut side_effect_free = true;
        for v in f.insts(block) {
            for operand in f.operands(v) {
                let depth = common_depth(f, facts, chain, operand);
                if depth > 0 {
                    set_word(&mut info.depths, depth as usize / 64, 1 << (depth % 64));
                }
            }
            let Some(def) = f.op_def(v) else { continue };
            if def.traits.contains(Traits::PURE) && !may_trap(f, v) {
                continue;
            }
            let effects = inst_effects(f, v, &facts.summaries);
            let touches = facts.memory.mod_ref(f, &facts.aliases, &effects);
            let new = effects.allocates
                && callee_summary(f, v, &facts.summaries).is_none_or(|s| !s.is_repeatable());
            info.touches |= touches;
            info.pure &= !touches.writes() && !effects.observable && !new;
            let seen = (touches.writes_contents | touches.writes_shape) & facts.memory.visible();
            side_effect_free &=
                !effects.may_trap && !effects.may_not_end && !effects.observable && seen == 0;
        }
        self.side_effect_free[block.index()] = side_effect_free;
    }

    /// Returns how a loop can leave loops around it, if it can.
    fn plan(
        &self,
        f: &Function,
        id: LoopId,
        chain: &mut Vec<LoopId>,
        only: Option<&FxHashSet<Block>>,
    ) -> Option<Plan> {
        let forest = &*self.facts.forest;
        let (l, info) = (forest.get(id), &self.infos[id.index()]);
        let mut parent = l.parent?;
        let preheader = l.preheader?;
        if !info.pure || l.exits.len() != 1 {
            return None;
        }
        enter(self.facts, chain, parent);
        let entry_args = f.operands(Value::terminator(preheader));
        let args_depth = entry_args.map(|arg| common_depth(f, self.facts, chain, arg)).max();
        let depth = highest_below(&info.depths, l.depth).max(args_depth.unwrap_or(0));
        let mut plan = Plan { id, target: parent, guards: Vec::new() };
        let (mut guards, mut needed) = (Vec::new(), depth);
        let (mut left_any, mut at) = (false, preheader);
        loop {
            let outer = forest.get(parent);
            if outer.depth <= needed
                || only.is_some_and(|only| !only.contains(&outer.header))
                || f.entry() == Some(outer.header)
                || info.touches.reads_what(self.infos[parent.index()].touches)
                || !self.way(f, parent, at, &mut guards)
            {
                break;
            }
            for guard in &guards[plan.guards.len()..] {
                let mut budget = MAX_COPIED;
                needed = needed.max(self.needed(f, chain, guard.of, guard.condition, &mut budget));
            }
            if outer.depth <= needed {
                break;
            }
            left_any = true;
            plan.target = parent;
            plan.guards.clone_from(&guards);
            match (outer.parent, outer.preheader) {
                (Some(next), Some(preheader)) => (parent, at) = (next, preheader),
                _ => break,
            }
        }
        // One without results is for others to delete.
        (left_any && !self.live_out(f, id).is_empty()).then_some(plan)
    }

    /// Returns whether a side_effect_free straight way leads from the header of a loop to the end
    /// of `block`, from which branches only leave the loop or decide alike in each iteration;
    /// collects them, the last one first.
    fn way(&self, f: &Function, id: LoopId, block: Block, guards: &mut Vec<Guard>) -> bool {
        let forest = &*self.facts.forest;
        let header = forest.get(id).header;
        let mut at = block;
        while self.side_effect_free[at.index()] {
            if at == header {
                return true;
            }
            let edges = f.in_edges(at).filter(|e| self.facts.cfg.is_reachable(e.from));
            let Some(edge) = only(edges) else { return false };
            let mut out = f.out_edges(edge.from);
            if let (Some(first), Some(_)) = (out.next(), out.next()) {
                let term = Value::terminator(edge.from);
                if f.op(term) != Some(cf::BR) {
                    return false;
                }
                let Some(condition) = f.operand(term, 0) else { return false };
                let leaves = f.out_edges(edge.from).any(|e| !forest.contains(id, f.edge_target(e)));
                let varies = condition
                    .as_value()
                    .is_some_and(|condition| forest.contains(id, f.block_of(condition)));
                if varies && !leaves {
                    return false;
                }
                guards.push(Guard { condition, taken_if: edge == first, of: id });
            }
            at = edge.from;
        }
        false
    }

    /// The depth of the innermost loop in which an operand has to be computed, if its value in the
    /// first iteration of the loop `of` is meant and what can be copied is copied.
    fn needed(
        &self,
        f: &Function,
        chain: &[LoopId],
        of: LoopId,
        at: Operand,
        budget: &mut usize,
    ) -> u32 {
        let depth = common_depth(f, self.facts, chain, at);
        let Some(v) = at.as_value().filter(|_| depth > 0) else { return 0 };
        let Some(left) = budget.checked_sub(1) else { return depth };
        *budget = left;
        // What is computed in a loop beside this one has the value of its last iteration.
        let forest = &*self.facts.forest;
        let home = forest.loop_of(f.block_of(v));
        if home.is_none_or(|home| chain.get(depth as usize - 1) != Some(&home)) {
            return depth;
        }
        if home == Some(of)
            && let Some(first) = self.first_value(f, v)
        {
            return self.needed(f, chain, of, first, budget).min(depth);
        }
        if !only_computes(f, v) {
            return depth;
        }
        let needed = f.operands(v).map(|operand| self.needed(f, chain, of, operand, budget));
        needed.max().unwrap_or(0).min(depth)
    }

    /// Returns what a parameter of a loop header is in the first iteration.
    fn first_value(&self, f: &Function, v: Value) -> Option<Operand> {
        if !f.is_param(v) {
            return None;
        }
        let forest = &*self.facts.forest;
        let header = f.block_of(v);
        let id = forest.headed_by(header)?;
        if f.entry() == Some(header) {
            return None;
        }
        let enters = |e: &Edge| self.is_reachable(e.from) && !forest.contains(id, e.from);
        let edge = only(f.in_edges(header).filter(enters))?;
        f.edge_arg(edge, f.params(header).position(|param| param == v)?)
    }

    /// Returns whether the entry reaches a block. Blocks that were made for loops that were moved
    /// before are reachable.
    fn is_reachable(&self, block: Block) -> bool {
        block.index() >= self.side_effect_free.len() || self.facts.cfg.is_reachable(block)
    }

    /// The values of a loop that are used after it, each once. Uses in unreachable blocks are not
    /// after it: they may use values that the exit does not have.
    fn live_out(&self, f: &Function, id: LoopId) -> Vec<Value> {
        let forest = &*self.facts.forest;
        let is_after = |block: Block| self.is_reachable(block) && !forest.contains(id, block);
        let outside = |v: Value| f.uses(v).any(|at| is_after(f.block_of(at.user)));
        let exit_args: FxHashSet<Operand> =
            forest.get(id).exits.iter().flat_map(|exit| f.edge_args(exit.edge(f))).collect();
        let blocks = forest.blocks(id).iter();
        let values = blocks.flat_map(|&block| f.params(block).chain(f.body(block)));
        values.filter(|&v| exit_args.contains(&v.into()) || outside(v)).collect()
    }
}
