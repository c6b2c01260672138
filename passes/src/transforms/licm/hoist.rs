//! Decides which instructions can leave which loops.

use regraft_dialects::mem;
use regraft_dialects::semantics::starts_defined;
use regraft_ir::{Block, Function, IrResult, Operand, Traits, Value};
use rustc_hash::FxHashSet;

use super::LicmAnalyses;
use super::whole_loops::chain::enter;
use crate::analysis::bounds::Bounds;
use crate::analysis::traps::speculatable;
use crate::analysis::{InstEffects, LoopForest, LoopId, ModRefSet, inst_effects};
use crate::transforms::util::loop_form::ensure_preheader;

/// The instructions to be moved, in order, with the outermost loop that each leaves.
pub(super) struct Plan {
    moves: Vec<(Value, LoopId)>,
    /// True if more might leave if more were known of indices and of what functions are given.
    pub(super) wants_bounds: bool,
    /// True if a function may leave once what it is given has left.
    pub(super) waits: bool,
    /// True if a loop writes memory.
    pub(super) loops_write: bool,
}

/// No depth: nothing can leave.
const NEVER: u32 = u32::MAX;

/// Finds what can leave. O(instructions + operands), times the logarithm of the depth where memory
/// is read. A load that need not run may leave where its indices are shown to be in `bounds`, and a function where it is shown
/// to be defined for what it is given; without them it is noted that they would be of use.
pub(super) fn plan<'a>(
    f: &'a Function,
    facts: &'a LicmAnalyses,
    only: Option<&'a FxHashSet<Block>>,
    bounds: Option<Bounds<'a>>,
) -> Plan {
    let forest = &*facts.forest;
    let mut walk = Walk {
        f,
        facts,
        only,
        writes: facts.memory.loop_mod_refs(f, &facts.forest, &facts.aliases, &facts.summaries),
        innermost: InnermostLoops(vec![None; f.value_capacity()]),
        enclosing: Vec::new(),
        path: Path::default(),
        blocked: Blocked::default(),
        moves: Vec::new(),
        bounds,
        wants_bounds: false,
        waits: false,
    };
    for id in forest.loops().filter(|&id| forest.get(id).parent.is_none()) {
        for &block in forest.blocks(id) {
            walk.block(block);
        }
    }
    let loops_write = walk.writes.iter().any(|touched| touched.writes());
    let Walk { moves, wants_bounds, waits, .. } = walk;
    Plan { moves, wants_bounds, waits, loops_write }
}

/// Moves instructions as planned. Returns how many there were.
pub(super) fn apply(f: &mut Function, forest: &LoopForest, plan: Plan) -> IrResult<usize> {
    let mut targets: Vec<Option<Value>> = vec![None; forest.len()];
    for &(v, id) in &plan.moves {
        let at = match targets[id.index()] {
            Some(at) => at,
            None => {
                let preheader = match forest.get(id).preheader {
                    Some(block) => block,
                    None => ensure_preheader(f, forest, id)?.0,
                };
                let at = Value::terminator(preheader);
                targets[id.index()] = Some(at);
                at
            }
        };
        f.move_before(v, at)?;
    }
    Ok(plan.moves.len())
}

/// The innermost loop of each value, after the moves that are planned.
struct InnermostLoops(Vec<Option<LoopId>>);

/// The path that the first iteration of a loop takes for certain.
#[derive(Clone, Copy, Default)]
struct Path {
    /// Its last block so far.
    end: Option<Block>,
    /// The depth of the outermost loop for which that block is on the path.
    from: u32,
}

/// The outermost loops that have nothing in the way so far, as depths.
#[derive(Clone, Copy)]
struct Blocked {
    /// For what traps: nothing before it may be observed or stop the program.
    trapping: u32,
    /// For what keeps a promise: nothing before it may stop the program.
    guaranteed: u32,
}

impl Default for Blocked {
    fn default() -> Self {
        Self { trapping: 1, guaranteed: 1 }
    }
}

/// The condition under which an instruction may move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// To anywhere.
    Free,
    /// To where it runs anyway.
    Guaranteed,
    /// To where it runs anyway, before nothing that can be observed.
    Trapping,
    /// Not at all.
    Fixed,
}

/// Returns whether others can see what an instruction writes.
pub(super) fn is_seen(f: &Function, facts: &LicmAnalyses, effects: &InstEffects) -> bool {
    effects.writes_anything() && {
        let mod_ref = facts.memory.mod_ref(f, &facts.aliases, effects);
        (mod_ref.writes_contents | mod_ref.writes_shape) & facts.memory.visible() != 0
    }
}

struct Walk<'a> {
    f: &'a Function,
    facts: &'a LicmAnalyses,
    only: Option<&'a FxHashSet<Block>>,
    /// By loop.
    writes: Vec<ModRefSet>,
    innermost: InnermostLoops,
    /// The loops around the block, outermost first: the one at position `i` has depth `i + 1`.
    enclosing: Vec<LoopId>,
    path: Path,
    blocked: Blocked,
    moves: Vec<(Value, LoopId)>,
    bounds: Option<Bounds<'a>>,
    wants_bounds: bool,
    waits: bool,
}

impl Walk<'_> {
    fn block(&mut self, block: Block) {
        let (f, forest) = (self.f, &*self.facts.forest);
        let Some(inner) = forest.loop_of(block) else { return };
        self.enter(inner);
        let depth = self.enclosing.len() as u32;
        let is_header = forest.get(inner).header == block;
        let from = self.path_to(block, is_header.then_some(depth));
        self.path = Path { end: Some(block), from };
        let allowed = match self.only {
            None => 1,
            Some(only) if only.contains(&forest.get(inner).header) => depth,
            Some(_) => NEVER,
        };
        // Nothing can stand before the entry.
        let first = forest.get(self.enclosing[0]).header;
        let allowed = allowed.max(if f.entry() == Some(first) { 2 } else { 1 });
        for param in f.params(block) {
            self.innermost.0[param.index()] = Some(inner);
        }
        for v in f.body(block) {
            self.instruction(v, inner, depth, from, allowed);
        }
        // What is missing after it is run for certain is seen by `path_to`.
        let term = Value::terminator(block);
        if crate::analysis::traps::may_trap(f, term) {
            self.block_for(depth, true, true);
        }
    }

    /// Makes `around` the loops around a block whose innermost one is `inner`.
    fn enter(&mut self, inner: LoopId) {
        let known = enter(self.facts, &mut self.enclosing, inner) as u32;
        self.blocked.trapping = self.blocked.trapping.min(known + 1);
        self.blocked.guaranteed = self.blocked.guaranteed.min(known + 1);
    }

    /// The depth of the outermost loop of which the first iteration surely comes to `block`, which
    /// may be the header of the loop of that depth.
    fn path_to(&self, block: Block, header_of: Option<u32>) -> u32 {
        let (f, facts) = (self.f, self.facts);
        let continues = self.path.end.is_some_and(|end| {
            let mut out = f.out_edges(end);
            let only_way =
                out.next().is_some_and(|edge| f.edge_target(edge) == block) && out.next().is_none();
            only_way
                && f.in_edges(block).all(|edge| {
                    edge.from == end
                        || !facts.cfg.is_reachable(edge.from)
                        || header_of.is_some() && facts.dom.dominates(block, edge.from)
                })
        });
        let from = if continues { self.path.from } else { NEVER };
        from.min(header_of.unwrap_or(NEVER))
    }

    fn instruction(&mut self, v: Value, inner: LoopId, depth: u32, from: u32, allowed: u32) {
        let f = self.f;
        self.innermost.0[v.index()] = Some(inner);
        let Some(def) = f.op_def(v) else { return };
        // What most instructions are: nothing but a computation.
        let plain = def.traits.contains(Traits::PURE) && !def.traits.contains(Traits::MAY_TRAP);
        let (kind, effects) = if plain && !f.checks_operands(v) {
            (Kind::Free, None)
        } else {
            let effects = inst_effects(f, v, &self.facts.summaries);
            (self.kind(v, &effects), Some(effects))
        };
        let mut least = allowed;
        if kind != Kind::Fixed && least <= depth {
            for operand in f.operands(v) {
                least = least.max(self.depth_of(operand) + 1);
            }
            if let Some(effects) = &effects
                && least <= depth
                && effects.reads_anything()
            {
                let mod_ref = self.facts.memory.mod_ref(f, &self.facts.aliases, effects);
                let clash = |around: &LoopId| mod_ref.reads_what(self.writes[around.index()]);
                least = least.max(self.enclosing.partition_point(clash) as u32 + 1);
            }
            let free = least;
            least = least.max(match kind {
                Kind::Free | Kind::Fixed => 1,
                Kind::Guaranteed => from.max(self.blocked.guaranteed),
                Kind::Trapping => from.max(self.blocked.trapping),
            });
            let may_be_safe = match def.op {
                mem::LOAD => starts_defined(f.ctx(), f.ty(v)),
                _ => kind == Kind::Trapping && def.traits.contains(Traits::PURE),
            };
            if free <= depth && free < least && may_be_safe {
                least = self.least_without_trap(v, free, least.min(depth + 1)).unwrap_or(least);
            }
        } else {
            least = NEVER;
        }
        let mut stays = depth;
        if least <= depth {
            let target = self.enclosing[least as usize - 1];
            self.innermost.0[v.index()] = self.facts.forest.get(target).parent;
            self.moves.push((v, target));
            stays = least - 1;
        }
        if let Some(effects) = effects {
            let stops = effects.may_trap || effects.may_not_end;
            let observed = effects.observable || is_seen(f, self.facts, &effects);
            self.block_for(stays, stops, stops || observed);
        }
    }

    /// The least of these depths such that a load or a function surely does not trap before the loop of that depth, so that
    /// it may run there whether or not it runs later. What is known of a number may hold only where it is computed, behind a test: a
    /// function has to be given what is computed outside of the loop as it is.
    fn least_without_trap(&mut self, v: Value, from: u32, to: u32) -> Option<u32> {
        let Some(bounds) = &mut self.bounds else {
            self.wants_bounds = true;
            return None;
        };
        let forest = &*self.facts.forest;
        let f = self.f;
        (from..to).find(|&depth| {
            let around = self.enclosing[depth as usize - 1];
            let is_outside = |operand: Operand| {
                operand.as_value().is_none_or(|v| !forest.contains(around, f.block_of(v)))
            };
            let is_given = f.op(v) == Some(mem::LOAD) || f.operands(v).all(is_outside);
            self.waits |= !is_given;
            let preheader = forest.get(around).preheader.filter(|_| is_given);
            preheader.is_some_and(|block| bounds.is_safe_at(v, Value::terminator(block)))
        })
    }

    /// Says that something at this depth is in the way of what comes after it.
    fn block_for(&mut self, depth: u32, stops: bool, observed: bool) {
        if stops {
            self.blocked.guaranteed = self.blocked.guaranteed.max(depth + 1);
        }
        if observed {
            self.blocked.trapping = self.blocked.trapping.max(depth + 1);
        }
    }

    fn kind(&self, v: Value, effects: &InstEffects) -> Kind {
        let Some(def) = self.f.op_def(v) else { return Kind::Fixed };
        if effects.writes_anything() || effects.observable {
            return Kind::Fixed;
        }
        if def.effects.opaque {
            let summary = crate::analysis::callee_summary(self.f, v, &self.facts.summaries);
            return match summary {
                Some(summary) if !summary.is_repeatable() => Kind::Fixed,
                Some(_) if effects.may_trap || effects.may_not_end => Kind::Trapping,
                Some(_) => Kind::Free,
                None => Kind::Fixed,
            };
        }
        if effects.allocates {
            Kind::Fixed
        } else if effects.may_trap {
            Kind::Trapping
        } else if speculatable(self.f, v) {
            Kind::Free
        } else {
            Kind::Guaranteed
        }
    }

    /// The depth of the innermost loop around the block that also contains the operand.
    #[inline]
    fn depth_of(&self, operand: Operand) -> u32 {
        let Some(v) = operand.as_value() else { return 0 };
        let Some(home) = self.innermost.0[v.index()] else { return 0 };
        let forest = &*self.facts.forest;
        let depth = forest.get(home).depth;
        match self.enclosing.get(depth as usize - 1) {
            Some(&around) if around == home => depth,
            _ => self.enclosing.partition_point(|&around| forest.encloses(around, home)) as u32,
        }
    }
}
