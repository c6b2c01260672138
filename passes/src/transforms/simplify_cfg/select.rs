//! If-conversion: cheap branches that only decide on values become selections.
//!
//! ```text
//! ^1(%1: i64):                         ^1(%1: i64):
//!   %2: bool = arith.lt %1, 0            %2: bool = arith.lt %1, 0
//!   br %2, ^2, ^3(%1)                    %3: i64 = arith.neg %1
//! ^2:                            =>      %5: i64 = core.select %2, %3, %1
//!   %3: i64 = arith.neg %1               br ^3(%5)
//!   br ^3(%3)                          ^3(%4: i64):
//! ^3(%4: i64):                           return %4
//!   return %4
//! ```
//!
//! Both edges of a branch lead to one block, at once or through a block that only the branch
//! enters. What these blocks compute is computed in any case then; all of it has to be cheap, free
//! of effects and unable to trap, and is bounded by a cost: 1 for an operation as an addition, more
//! for what takes longer, and 1 for a selection. A load is there too if its indices are in bounds
//! whatever the branch decides. Between bools, a selection with a constant is `arith.and`,
//! `arith.or` or `arith.not`.
//!
//! A condition of a loop that is made of several stays in parts where one of them leaves the loop
//! (jump threading makes an exit of each): a single comparison is what tells how often a loop runs.

use std::sync::Arc;

use regraft_dialects::{arith, core, mem};
use regraft_ir::{
    Block, ControlFlow, DominatorTree, Edge, Function, Inst, IrResult, Operand, Traits, Type, Value,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::PassContext;
use crate::analysis::bounds::Bounds;
use crate::analysis::traps::{Constants, OperandFacts, speculatable_given};
use crate::analysis::{Aliases, Analyses, CarriedSizes, FloatKinds, Interval, LoopForest, Ranges};
use crate::transforms::util::edit::{jump_target, move_body, only_edge_into};

/// Replaces branches by selections that cost at most `limit`. O(blocks + what is moved), that
/// of a loop forest where a branch decides on a condition, and that of [`Bounds`] where there are
/// loads behind branches. Returns how many.
pub(super) fn convert(f: &mut Function, limit: usize, cx: &mut PassContext<'_>) -> IrResult<usize> {
    let mut selected = 0;
    let blocks: Vec<Block> = f.blocks().collect();
    let safe = safe_loads(f, &blocks, limit, cx);
    let analyses = cx.analyses();
    let mut forest = None;
    for block in blocks {
        if f.is_live_block(block)
            && let Some(plan) = Plan::new(f, block, limit, &|v| safe.contains(&v))
            && !(decides_on_exit(f, &plan) && leaves_loop(f, plan.join, &mut forest, analyses))
        {
            plan.carry_out(f)?;
            selected += 1;
        }
    }
    Ok(selected)
}

/// Returns the loads behind cheap branches that are in bounds whatever these decide.
fn safe_loads(
    f: &Function,
    blocks: &[Block],
    limit: usize,
    cx: &mut PassContext<'_>,
) -> FxHashSet<Value> {
    let is_load = |v: &Value| f.op(*v) == Some(mem::LOAD);
    let mut loads: Vec<(Value, Value)> = Vec::new();
    for &block in blocks {
        if let Some(plan) = Plan::new(f, block, limit, &|_| true) {
            let through = plan.arms.iter().filter_map(|arm| arm.through);
            let behind = through.flat_map(|block| f.body(block)).filter(is_load);
            loads.extend(behind.map(|load| (load, Value::terminator(block))));
        }
    }
    if loads.is_empty() {
        return FxHashSet::default();
    }
    let (cfg, tree) = (cx.analysis::<ControlFlow>(f), cx.analysis::<DominatorTree>(f));
    let (ranges, aliases) = (cx.analysis::<Ranges>(f), cx.analysis::<Aliases>(f));
    let sizes = cx.analysis::<CarriedSizes>(f);
    let mut bounds = Bounds::new(f, &cfg, &tree, &ranges, &aliases, &sizes, cx.effects());
    loads.retain(|&(load, branch)| {
        // What is known of an index that is computed behind the branch may come from there.
        let is_there = |x: Operand| x.as_value().is_none_or(|v| tree.value_dominates(f, v, branch));
        f.operands(load).all(is_there) && bounds.in_bounds_at(load, branch)
    });
    loads.into_iter().map(|(load, _)| load).collect()
}

/// One side of a branch.
struct Arm {
    /// The block between, if there is one.
    through: Option<Block>,
    join: Block,
    args: SmallVec<[Operand; 4]>,
}

/// The way in which one argument of the join is made.
#[derive(Clone, Copy)]
enum Choice {
    /// It is there already.
    Known(Operand),
    /// It takes an instruction.
    Inst(regraft_ir::Op, [Operand; 3]),
}

/// A branch that can be replaced.
struct Plan {
    block: Block,
    arms: [Arm; 2],
    join: Block,
    args: SmallVec<[Choice; 4]>,
}

impl Plan {
    /// The plan for the branch at the end of a block, if it costs at most `limit`; `is_safe` says
    /// whether a load is in bounds there.
    fn new(
        f: &Function,
        block: Block,
        limit: usize,
        is_safe: &dyn Fn(Value) -> bool,
    ) -> Option<Self> {
        let term = f.terminator(block)?;
        let condition = f.operand(term, 0)?;
        let is_branch = f.op_def(term)?.traits.contains(Traits::JUMP) && !condition.is_block();
        if !is_branch || f.operand_type(condition) != Type::BOOL || condition.as_value().is_none() {
            return None;
        }
        let mut edges = f.out_edges(block);
        let (first, second) = (edges.next()?, edges.next()?);
        let [a, b] = [first, second].map(|edge| f.edge_target(edge));
        // Most branches go to blocks that do not meet at once.
        let (after_a, after_b) = (behind(f, block, a), behind(f, block, b));
        let (through_a, through_b) = match (after_a, after_b) {
            _ if a == b => (false, false),
            (Some(after), _) if after == b => (true, false),
            (_, Some(after)) if after == a => (false, true),
            (Some(after), Some(other)) if after == other => (true, true),
            _ => return None,
        };
        let mut cost = 0;
        let mut arm = |edge: Edge, target: Block, through: bool| {
            if !through {
                let args = f.edge_args(edge).collect();
                return Some(Arm { through: None, join: target, args });
            }
            for v in f.body(target) {
                cost += cost_if_speculatable(f, v, is_safe)?;
                if cost > limit {
                    return None;
                }
            }
            let jump = f.out_edges(target).next()?;
            let args = f.edge_args(jump).collect();
            Some(Arm { through: Some(target), join: f.edge_target(jump), args })
        };
        let arms = [arm(first, a, through_a)?, arm(second, b, through_b)?];
        let mut args = SmallVec::new();
        for (&x, &y) in arms[0].args.iter().zip(&arms[1].args) {
            let choice = choose(f, condition, x, y)?;
            cost += usize::from(matches!(choice, Choice::Inst(..)));
            if cost > limit {
                return None;
            }
            args.push(choice);
        }
        Some(Self { block, join: arms[0].join, arms, args })
    }

    fn carry_out(self, f: &mut Function) -> IrResult<()> {
        let end = Value::terminator(self.block);
        let loc = f.loc(end);
        for block in self.arms.iter().filter_map(|arm| arm.through) {
            move_body(f, block, end)?;
        }
        let params: SmallVec<[Value; 4]> = f.params(self.join).collect();
        let mut args: SmallVec<[Operand; 4]> = SmallVec::new();
        for (&choice, param) in self.args.iter().zip(params) {
            args.push(match choice {
                Choice::Known(value) => value,
                Choice::Inst(op, operands) => {
                    let used = operands.into_iter().filter(|o| !o.is_block());
                    let inst = Inst::new(op).operands(used).at(loc).made_from(param);
                    f.push(self.block, inst)?.into()
                }
            });
        }
        f.set_terminator(self.block, Inst::new(f.jump_op()?).edge(self.join, args).at(loc))?;
        for block in self.arms.iter().filter_map(|arm| arm.through) {
            f.delete_block(block)?;
        }
        Ok(())
    }
}

/// Returns where `target` jumps, if only an edge of `from` enters it, so that it may become a part
/// of `from`.
fn behind(f: &Function, from: Block, target: Block) -> Option<Block> {
    let alone = only_edge_into(f, target).is_some();
    if !alone || target == from || f.param_count(target) > 0 {
        return None;
    }
    jump_target(f, target).filter(|&after| after != target)
}

/// Returns how a value that is `x` if the condition holds and otherwise `y` is made; `None` if
/// their types differ.
fn choose(f: &Function, condition: Operand, x: Operand, y: Operand) -> Option<Choice> {
    if x == y {
        return Some(Choice::Known(x));
    }
    if f.operand_type(x) != f.operand_type(y) {
        return None;
    }
    // A block stands for an operand that is not there.
    let none: Operand = f.entry()?.into();
    Some(match (f.const_bool(x), f.const_bool(y)) {
        (Some(true), Some(false)) => Choice::Known(condition),
        (Some(false), Some(true)) => Choice::Inst(arith::NOT, [condition, none, none]),
        (None, Some(false)) => Choice::Inst(arith::AND, [condition, x, none]),
        (Some(true), None) => Choice::Inst(arith::OR, [condition, y, none]),
        _ => Choice::Inst(core::SELECT, [condition, x, y]),
    })
}

/// Returns what it costs to run an instruction in vain; `None` if it must not run in vain.
fn cost_if_speculatable(f: &Function, v: Value, is_safe: &dyn Fn(Value) -> bool) -> Option<usize> {
    let def = f.op_def(v)?;
    if !speculatable_given(f, v, &SafeLoads { f, is_safe }) {
        return None;
    }
    Some(match def.op {
        arith::FDIV | arith::FREM | arith::FLOOR_MOD => 4,
        _ => match (def.dialect_name(), def.traits.contains(Traits::PURE)) {
            ("arith" | "core" | "data", true) => 1,
            ("mem", _) => 2,
            // Elementary functions, text, and what is not known here.
            _ => 8,
        },
    })
}

/// Constants are what they are, and some loads are in bounds.
struct SafeLoads<'a> {
    f: &'a Function,
    is_safe: &'a dyn Fn(Value) -> bool,
}

impl OperandFacts for SafeLoads<'_> {
    fn int(&self, operand: Operand) -> Interval {
        Constants(self.f).int(operand)
    }

    fn float(&self, operand: Operand) -> FloatKinds {
        Constants(self.f).float(operand)
    }

    fn in_bounds(&self, v: Value) -> bool {
        (self.is_safe)(v)
    }
}

// --- conditions of loops -----------------------------------------------------------------------

/// Returns whether the join does nothing but branch on what is chosen, and a constant is chosen
/// from.
fn decides_on_exit(f: &Function, plan: &Plan) -> bool {
    let Some(term) = f.terminator(plan.join) else { return false };
    let Some(condition) = f.operand(term, 0).and_then(Operand::as_value) else { return false };
    let mut params = f.params(plan.join);
    let Some(position) = params.position(|param| param == condition) else { return false };
    f.first_inst(plan.join).is_none()
        && plan.arms.iter().any(|arm| f.const_bool(arm.args[position]).is_some())
}

/// Returns whether an edge leaves the loop that a block is in, unless it is its header.
fn leaves_loop(
    f: &Function,
    block: Block,
    forest: &mut Option<Arc<LoopForest>>,
    analyses: &mut Analyses,
) -> bool {
    let forest = forest.get_or_insert_with(|| analyses.get::<LoopForest>(f));
    let Some(id) = forest.loop_of(block) else { return false };
    forest.get(id).header != block && f.successors(block).any(|to| !forest.contains(id, to))
}
