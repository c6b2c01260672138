//! Two versions of a loop: one in which accesses are not checked, for when a few comparisons before
//! the loop say that all indices will be in bounds, and the loop as it was.
//!
//! ```text
//! ^1:                                   ^1:
//!                                         %9: i64 = mem.length %2
//!                                         %10: bool = arith.le %3, %9
//!   br ^2(0)                     =>       br %10, ^5(0), ^2(0)
//! ```
//!
//! An error comes from the version that is as it was, at the same time and after the same effects
//! as before. The comparisons are those that [`Bounds`] would need to prove the accesses.

use regraft_dialects::{arith, mem};
use regraft_ir::{Block, ControlFlow, DominatorTree, Function, IrResult, Operand, Value};

use super::marks::{mark, unmarked};
use crate::PassContext;
use crate::analysis::bounds::{Bounds, Comparison, Source};
use crate::analysis::{Aliases, CarriedSizes, LoopForest, LoopId, Ranges};
use crate::transforms::util::counters::ensure_preheaders;
use crate::transforms::util::loop_form::{LoopForm, close_loops};
use crate::transforms::util::versioning::add_version;

/// The most comparisons before one loop.
const MAX_COMPARISONS: usize = 6;

/// The plan for one loop.
struct Plan {
    form: LoopForm,
    preheader: Block,
    comparisons: Vec<Comparison>,
    /// The accesses that need no check if all comparisons hold.
    accesses: Vec<Value>,
}

/// Makes second versions of loops of up to `max_size` instructions, given by their headers. Returns
/// how many.
///
/// # Errors
/// None if `f` is valid.
pub(super) fn run(
    f: &mut Function,
    loops: &[Block],
    max_size: usize,
    cx: &mut PassContext<'_>,
) -> IrResult<usize> {
    let forest = cx.analysis::<LoopForest>(f);
    let mut ids: Vec<LoopId> = loops.iter().filter_map(|&b| forest.headed_by(b)).collect();
    ids.retain(|&id| is_candidate(f, &forest, id, max_size));
    if ids.is_empty() {
        return Ok(0);
    }
    let headers: Vec<Block> = ids.iter().map(|&id| forest.get(id).header).collect();
    ensure_preheaders(f, &headers, &forest, |_| true)?;
    let plans = plan(f, &headers, cx);
    // All comparisons are made before a loop is copied, so that what they use follows the copies
    // like everything else.
    let mut conditions = Vec::with_capacity(plans.len());
    for plan in &plans {
        conditions.push(compare(f, plan)?);
    }
    let forms: Vec<&LoopForm> = plans.iter().map(|plan| &plan.form).collect();
    close_loops(f, &forms, cx.analyses())?;
    for (plan, &condition) in plans.iter().zip(&conditions) {
        split(f, plan, condition)?;
    }
    Ok(plans.len())
}

fn is_candidate(f: &Function, forest: &LoopForest, id: LoopId, max_size: usize) -> bool {
    let blocks = forest.blocks(id);
    if blocks.len() > max_size {
        return false;
    }
    let size: usize = blocks.iter().map(|&block| f.insts(block).count()).sum();
    size <= max_size
        && Some(forest.get(id).header) != f.entry()
        && !forest.get(id).has_irreducible
        && blocks.iter().any(|&block| unmarked(f, block).any(|v| is_open(f, v)))
}

/// Returns whether an access was not looked at before; in the version with checks, all say that
/// theirs is needed.
fn is_open(f: &Function, v: Value) -> bool {
    f.attr(v, "inbounds").is_none()
}

/// Plans for loops with these headers, none of which is in another: the outermost ones of which all
/// checks can go, and innermost ones. Within another loop, where comparisons are made again and again, a
/// load has to be able to leave.
fn plan(f: &Function, headers: &[Block], cx: &mut PassContext<'_>) -> Vec<Plan> {
    let forest = cx.analysis::<LoopForest>(f);
    let (cfg, tree) = (cx.analysis::<ControlFlow>(f), cx.analysis::<DominatorTree>(f));
    let (ranges, aliases) = (cx.analysis::<Ranges>(f), cx.analysis::<Aliases>(f));
    let sizes = cx.analysis::<CarriedSizes>(f);
    let mut bounds = Bounds::new(f, &cfg, &tree, &ranges, &aliases, &sizes, cx.effects());
    let mut ids: Vec<LoopId> = headers.iter().filter_map(|&b| forest.headed_by(b)).collect();
    // Outer ones first.
    ids.sort_unstable();
    let mut plans: Vec<Plan> = Vec::new();
    let mut last: Option<LoopId> = None;
    for id in ids {
        let Some(preheader) = forest.get(id).preheader else { continue };
        if !ranges.is_reached(preheader) || last.is_some_and(|last| forest.encloses(last, id)) {
            continue;
        }
        let form = LoopForm::new(&forest, id);
        let (comparisons, accesses) = Default::default();
        let mut plan = Plan { form, preheader, comparisons, accesses };
        let blocks = plan.form.blocks().iter().filter(|&&block| ranges.is_reached(block));
        let open: Vec<Value> = blocks.flat_map(|&block| unmarked(f, block)).collect();
        for &v in open.iter().filter(|&&v| is_open(f, v)) {
            let Some(needed) = bounds.conditions(v, preheader) else { continue };
            let comparisons = needed.into_iter().fold(plan.comparisons.clone(), with);
            if comparisons.len() <= MAX_COMPARISONS {
                plan.comparisons = comparisons;
                plan.accesses.push(v);
            }
        }
        let all_go = plan.accesses.len() == open.len();
        let pays = match forest.get(id).parent {
            // The comparisons are made once.
            None => all_go || forest.is_innermost(id),
            Some(_) => plan.accesses.iter().any(|&v| is_invariant(f, &forest, v)),
        };
        if (all_go || forest.is_innermost(id)) && pays && !plan.comparisons.is_empty() {
            plans.push(plan);
            last = Some(id);
        }
    }
    plans
}

/// Returns comparisons that all hold if and only if all of some others and one more do. Of two constants
/// that have to be at most the same, the greater one decides.
fn with(mut all: Vec<Comparison>, new: Comparison) -> Vec<Comparison> {
    let mut of_same = all.iter_mut().filter(|old| old.right == new.right);
    let is_decided = of_same.any(|old| match (&mut old.left, new.left) {
        ((Source::Constant(most), 0), (Source::Constant(left), 0)) => {
            *most = (*most).max(left);
            true
        }
        (left, new_left) => *left == new_left,
    });
    if !is_decided {
        all.push(new);
    }
    all
}

/// Returns whether an access is a load with the same indices in all iterations of the innermost loop
/// around it, which it can leave once it is not checked.
fn is_invariant(f: &Function, forest: &LoopForest, v: Value) -> bool {
    let Some(inner) = forest.loop_of(f.block_of(v)) else { return false };
    let is_outside = |x: Value| !forest.contains(inner, f.block_of(x));
    f.op(v) == Some(mem::LOAD) && f.operands(v).filter_map(Operand::as_value).all(is_outside)
}

/// Makes the comparisons at the end of the preheader.
fn compare(f: &mut Function, plan: &Plan) -> IrResult<Value> {
    let at = Value::terminator(plan.preheader);
    let mut all: Option<Value> = None;
    for comparison in &plan.comparisons {
        let left = side(f, at, comparison.left)?;
        let right = side(f, at, comparison.right)?;
        let holds = f.insert(at, arith::le(left, right))?;
        all = Some(match all {
            Some(all) => f.insert(at, arith::and(all, holds))?,
            None => holds,
        });
    }
    Ok(all.expect("a plan has comparisons"))
}

fn side(f: &mut Function, at: Value, (source, plus): (Source, i64)) -> IrResult<Operand> {
    let operand = match source {
        Source::Operand(operand) => operand,
        Source::Constant(x) => f.constant_id(x).into(),
        Source::Length(array) => f.insert(at, mem::length(array))?.into(),
        Source::Size(array, dim) => {
            let dim = f.constant_id(i64::from(dim));
            f.insert(at, mem::size(array, Operand::from(dim)))?.into()
        }
    };
    if plus == 0 {
        return Ok(operand);
    }
    let plus = f.constant_id(plus);
    Ok(f.insert(at, arith::add(operand, Operand::from(plus)))?.into())
}

/// Makes the second version, which is taken if the condition holds.
fn split(f: &mut Function, plan: &Plan, condition: Value) -> IrResult<()> {
    let map = add_version(f, &plan.form, plan.preheader, condition)?;
    for &v in &plan.accesses {
        if let Some(copy) = map.value(v).as_value() {
            mark(f, copy, true)?;
        }
        mark(f, v, false)?;
    }
    Ok(())
}
