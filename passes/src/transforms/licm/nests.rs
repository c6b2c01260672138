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

use regraft_dialects::{cf, core};
use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Facts;
use crate::analysis::traps::may_trap;
use crate::analysis::{Footprint, LoopId, callee_summary, inst_effects};
use crate::transforms::loop_form::LoopForm;

/// A condition is not copied if it is made of more instructions.
const MOST_COPIED: usize = 16;

/// Moves loops out of those with the headers `only`, or out of all. Returns how many were moved.
/// Near linear.
pub(super) fn run(
    f: &mut Function,
    facts: &Facts,
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

/// What matters of a loop.
#[derive(Clone, Default)]
struct Info {
    /// Whether all that it does is to compute values.
    pure: bool,
    touches: Footprint,
    /// The depths of the loops that operands are in, as bits: of an operand in a loop beside this
    /// one, that of the loop around both.
    depths: Vec<u64>,
}

/// A branch on the way to a loop.
#[derive(Clone, Copy)]
struct Guard {
    condition: Operand,
    /// What the condition is if the loop is reached.
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
    facts: &'a Facts,
    infos: Vec<Info>,
    /// By block: whether nothing in it traps, runs on or can be observed.
    quiet: Vec<bool>,
}

impl<'a> Survey<'a> {
    fn of(f: &Function, facts: &'a Facts) -> Self {
        let forest = &*facts.forest;
        let fresh = Info { pure: true, ..Info::default() };
        let mut survey = Self {
            facts,
            infos: vec![fresh; forest.len()],
            quiet: vec![false; f.block_capacity()],
        };
        for (info, touches) in survey.infos.iter_mut().zip(facts.loop_footprints(f)) {
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
        let mut quiet = true;
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
            let touches = facts.classes.footprint(f, &facts.aliases, &effects);
            let new = effects.allocates
                && callee_summary(f, v, &facts.summaries).is_none_or(|s| !s.is_repeatable());
            info.touches |= touches;
            info.pure &= !touches.writes() && !effects.observable && !new;
            let seen = (touches.writes_contents | touches.writes_shape) & facts.classes.visible();
            quiet &= !effects.may_trap && !effects.may_not_end && !effects.observable && seen == 0;
        }
        self.quiet[block.index()] = quiet;
    }

    /// How a loop can leave loops around it, if it can.
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
                let mut budget = MOST_COPIED;
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

    /// Whether a quiet straight way leads from the header of a loop to the end of `block`, from which
    /// branches only leave the loop or decide alike in each iteration; collects them, the last one
    /// first.
    fn way(&self, f: &Function, id: LoopId, block: Block, guards: &mut Vec<Guard>) -> bool {
        let forest = &*self.facts.forest;
        let header = forest.get(id).header;
        let mut at = block;
        while self.quiet[at.index()] {
            if at == header {
                return true;
            }
            let mut edges = f.in_edges(at).filter(|e| self.facts.cfg.is_reachable(e.from));
            let (Some(edge), None) = (edges.next(), edges.next()) else { return false };
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
        if !can_be_copied(f, v) {
            return depth;
        }
        let needed = f.operands(v).map(|operand| self.needed(f, chain, of, operand, budget));
        needed.max().unwrap_or(0).min(depth)
    }

    /// What a parameter of a loop header is in the first iteration.
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
        // A loop that was moved before may have got another block in front of this one.
        let is_new = |block: Block| block.index() >= self.quiet.len();
        let mut edges = f.in_edges(header).filter(|edge| {
            let runs = is_new(edge.from) || self.facts.cfg.is_reachable(edge.from);
            runs && !forest.contains(id, edge.from)
        });
        let (Some(edge), None) = (edges.next(), edges.next()) else { return None };
        let position = f.params(header).position(|param| param == v)?;
        f.edge_args(edge).nth(position)
    }

    /// The values of a loop that are used after it, each once.
    fn live_out(&self, f: &Function, id: LoopId) -> Vec<Value> {
        let forest = &*self.facts.forest;
        let outside = |v: Value| f.uses(v).any(|at| !forest.contains(id, f.block_of(at.user)));
        let exit_args: FxHashSet<Operand> =
            forest.get(id).exits.iter().flat_map(|exit| f.edge_args(exit.edge(f))).collect();
        let blocks = forest.blocks(id).iter();
        let values = blocks.flat_map(|&block| f.params(block).chain(f.body(block)));
        values.filter(|&v| exit_args.contains(&v.into()) || outside(v)).collect()
    }

    fn apply(&self, f: &mut Function, plan: &Plan) -> IrResult<()> {
        let forest = &*self.facts.forest;
        let (l, outer) = (forest.get(plan.id), forest.get(plan.target));
        let (Some(exit), Some(old)) = (l.exits.first(), l.preheader) else { return Ok(()) };
        let exit = exit.edge(f);
        let before = self.preheader(f, plan.target)?;
        let live = self.live_out(f, plan.id);
        let args_to = |f: &Function, block: Block| -> Vec<Operand> {
            f.out_edges(block).next().map(|e| f.edge_args(e).collect()).unwrap_or_default()
        };
        let (into_outer, into_loop) = (args_to(f, before), args_to(f, old));

        // The blocks in the order in which they run.
        let mut last = before;
        for &block in forest.blocks(plan.id) {
            f.move_block_after(block, last)?;
            last = block;
        }
        let after = f.add_block();
        f.move_block_after(after, last)?;
        let guarded = !plan.guards.is_empty();
        let mut stands_for: FxHashMap<Value, Value> = FxHashMap::default();
        for &v in live.iter().filter(|_| guarded) {
            let param = f.append_param(after, f.ty(v))?;
            stands_for.insert(v, param);
        }

        // The way into the loop.
        let at = Value::terminator(before);
        let mut copies = FxHashMap::default();
        let mut conditions = Vec::new();
        for guard in plan.guards.iter().rev() {
            let condition = self.copy(f, plan.target, guard.condition, at, &mut copies)?;
            conditions.push((condition, guard.taken_if));
        }
        let mut undefined: Vec<Operand> = Vec::new();
        for &v in live.iter().filter(|_| guarded) {
            let undef = Inst::new(core::UNDEF).with_type(f.ty(v));
            undefined.push(f.insert(at, undef)?.into());
        }
        f.set_terminator(after, cf::br(outer.header, into_outer))?;
        let mut source = before;
        let count = conditions.len();
        for (i, (condition, taken_if)) in conditions.into_iter().enumerate() {
            let is_last = i + 1 == count;
            let next = if is_last { l.header } else { f.add_block() };
            let args = if is_last { into_loop.clone() } else { Vec::new() };
            let none = undefined.clone();
            let inst = match taken_if {
                true => cf::br_if(condition, next, args, after, none),
                false => cf::br_if(condition, after, none, next, args),
            };
            f.set_terminator(source, inst)?;
            if !is_last {
                f.move_block_after(next, source)?;
                source = next;
            }
        }
        if count == 0 {
            f.set_terminator(before, cf::br(l.header, into_loop))?;
        }

        // The way out of it, and what was after it.
        let target = f.edge_target(exit);
        let mut exit_args: Vec<Operand> = f.edge_args(exit).collect();
        for arg in &mut exit_args {
            if let Some(&param) = arg.as_value().and_then(|v| stands_for.get(&v)) {
                *arg = param.into();
            }
        }
        let passed: Vec<Value> = live.iter().copied().filter(|_| guarded).collect();
        f.redirect(exit, after, passed)?;
        f.set_terminator(old, cf::br(target, exit_args))?;
        for &v in &live {
            let Some(&param) = stands_for.get(&v) else { continue };
            let users: Vec<_> =
                f.uses(v).filter(|at| !forest.contains(plan.id, f.block_of(at.user))).collect();
            for at in users {
                f.set_operand(at.user, at.index as usize, param)?;
            }
        }
        Ok(())
    }

    /// The block before a loop, which a loop that was moved before may have changed.
    fn preheader(&self, f: &mut Function, id: LoopId) -> IrResult<Block> {
        let forest = &*self.facts.forest;
        let mut edges: Vec<Edge> = f.in_edges_in_order(forest.get(id).header);
        edges.retain(|edge| !forest.contains(id, edge.from));
        match *edges {
            [edge] if f.out_edges(edge.from).count() == 1 => Ok(edge.from),
            _ => LoopForm::new(forest, id).ensure_preheader(f),
        }
    }

    /// An operand, in terms of what there is before the loop `target`, as it is in the first
    /// iterations.
    fn copy(
        &self,
        f: &mut Function,
        target: LoopId,
        operand: Operand,
        at: Value,
        copies: &mut FxHashMap<Value, Operand>,
    ) -> IrResult<Operand> {
        let Some(v) = operand.as_value() else { return Ok(operand) };
        if !self.facts.forest.contains(target, f.block_of(v)) {
            return Ok(operand);
        }
        if let Some(&copy) = copies.get(&v) {
            return Ok(copy);
        }
        // The depth of the recursion is at most `MOST_COPIED`.
        let copy = match self.first_value(f, v) {
            Some(first) => self.copy(f, target, first, at, copies)?,
            None => {
                let mut inst = f.statement(v);
                for i in 0..inst.operand_list().len() {
                    let operand = inst.operand_list()[i];
                    inst.operand_list_mut()[i] = self.copy(f, target, operand, at, copies)?;
                }
                f.insert(at, inst.made_from(v))?.into()
            }
        };
        copies.insert(v, copy);
        Ok(copy)
    }
}

/// Whether an instruction gives the same wherever it stands, and may stand anywhere.
fn can_be_copied(f: &Function, v: Value) -> bool {
    let pure = f.op_def(v).is_some_and(|def| def.traits.contains(Traits::PURE));
    pure && crate::analysis::traps::speculatable(f, v)
}

/// Makes `chain` the loops around a block whose innermost one is `inner`, outermost first.
fn enter(facts: &Facts, chain: &mut Vec<LoopId>, inner: LoopId) {
    let forest = &*facts.forest;
    while chain.last().is_some_and(|&top| !forest.encloses(top, inner)) {
        chain.pop();
    }
    let known = chain.len();
    let mut at = Some(inner);
    while let Some(id) = at.filter(|id| known == 0 || *id != chain[known - 1]) {
        chain.push(id);
        at = forest.get(id).parent;
    }
    chain[known..].reverse();
}

/// The depth of the innermost loop of `chain` that contains an operand.
fn common_depth(f: &Function, facts: &Facts, chain: &[LoopId], operand: Operand) -> u32 {
    let forest = &*facts.forest;
    let Some(home) = operand.as_value().and_then(|v| forest.loop_of(f.block_of(v))) else {
        return 0;
    };
    chain.partition_point(|&around| forest.encloses(around, home)) as u32
}

fn set_word(words: &mut Vec<u64>, at: usize, bits: u64) {
    if words.len() <= at {
        words.resize(at + 1, 0);
    }
    words[at] |= bits;
}

/// The greatest of a set of numbers that is less than `limit`, or 0.
fn highest_below(words: &[u64], limit: u32) -> u32 {
    let (word, bit) = (limit as usize / 64, limit % 64);
    let masked = |i: usize, bits: u64| if i == word { bits & ((1 << bit) - 1) } else { bits };
    words
        .iter()
        .enumerate()
        .take(word + 1)
        .rev()
        .map(|(i, &bits)| (i, masked(i, bits)))
        .find_map(|(i, bits)| (bits != 0).then(|| i as u32 * 64 + 63 - bits.leading_zeros()))
        .unwrap_or(0)
}
