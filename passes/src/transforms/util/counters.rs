//! Counters of loops, and what is computed from them: what `indvars` and `strength-reduce` share.

use regraft_dialects::arith;
use regraft_ir::{Block, Constant, Edge, Function, IrResult, Operand, Type, Use, Value};

use crate::analysis::induction::BasicInduction;
use crate::analysis::loop_exits::Condition;
use crate::analysis::poly::Sym;
use crate::analysis::trip_count::{Count, LatchRuns};
use crate::analysis::{InductionVariables, LoopForest, LoopId, Poly};
use crate::transforms::util::edit::only;
use crate::transforms::util::loop_form::ensure_preheader;
use crate::transforms::util::materialize::materialize;

/// Makes sure that those loops have preheaders which `wanted` names, and returns their headers.
pub(crate) fn ensure_preheaders(
    f: &mut Function,
    loops: &[Block],
    forest: &LoopForest,
    wanted: impl Fn(LoopId) -> bool,
) -> IrResult<Vec<Block>> {
    let ids = loops.iter().filter_map(|&header| forest.headed_by(header));
    let mut headers = Vec::new();
    for l in ids.filter(|&l| wanted(l)) {
        headers.push(match forest.get(l).preheader {
            Some(_) => forest.get(l).header,
            None => ensure_preheader(f, forest, l)?.1,
        });
    }
    Ok(headers)
}

/// The parameter of the header of a loop that counts 0, 1, 2, ...; of the widest type.
pub(crate) fn counter_of(f: &Function, ivs: &InductionVariables, l: LoopId) -> Option<Value> {
    let counts = |b: &&BasicInduction| {
        b.base.is_zero() && b.step.constant_value() == Some(1) && f.is_live(b.param)
    };
    let widest = ivs.basic(l).iter().rev().filter(counts).max_by_key(|b| b.base.ty().bits());
    widest.map(|b| b.param)
}

/// A parameter of the header of a loop from which the iteration can be computed, of a type at
/// least as wide as `ty`: one that grows or shrinks by 1 from what is passed to the loop.
fn any_counter(
    f: &Function,
    ivs: &InductionVariables,
    l: LoopId,
    ty: Type,
) -> Option<BasicInduction> {
    let counts = |b: &&BasicInduction| {
        (b.base.constant_value().is_some() || entering_arg(f, ivs.forest(), b.param).is_some())
            && matches!(b.step.constant_value(), Some(1 | -1))
            && b.base.ty().bits() >= ty.bits()
            && f.is_live(b.param)
    };
    // One that starts with 0 and grows needs no instruction.
    let ease = |b: &&BasicInduction| {
        (b.base.is_zero(), b.base.constant_value().is_some(), b.step.constant_value())
    };
    ivs.basic(l).iter().filter(counts).max_by_key(ease).cloned()
}

/// Returns what is passed for a parameter of the header of a loop where it is entered, if by one
/// edge.
fn entering_arg(f: &Function, forest: &LoopForest, param: Value) -> Option<Operand> {
    let header = f.block_of(param);
    let l = forest.headed_by(header)?;
    let position = f.params(header).position(|p| p == param)?;
    let edge = only(f.in_edges(header).filter(|edge| !forest.contains(l, edge.from)))?;
    f.edge_arg(edge, position)
}

/// Returns whether a polynomial can be computed where its values are: whether the iterations in it
/// of the loops around can be.
pub(crate) fn can_compute(f: &Function, ivs: &InductionVariables, poly: &Poly) -> bool {
    poly.symbols().all(|s| match s {
        Sym::Value(_) => true,
        Sym::Iteration(l) => any_counter(f, ivs, l, poly.ty()).is_some(),
    })
}

/// Inserts instructions before `at` for a polynomial; see [`can_compute`]. `known` has operands for
/// the iterations of some loops.
pub(crate) fn compute(
    f: &mut Function,
    ivs: &InductionVariables,
    poly: &Poly,
    at: Value,
    known: &[(LoopId, Operand)],
) -> IrResult<Operand> {
    let mut counters = known.to_vec();
    add_counters(f, ivs, poly, at, &mut counters)?;
    materialize(f, poly, at, &mut |l| counter_among(&counters, l))
}

/// Inserts instructions before `at` for a count; see [`can_compute`].
pub(crate) fn compute_count(
    f: &mut Function,
    ivs: &InductionVariables,
    count: &Count,
    at: Value,
) -> IrResult<Operand> {
    let mut counters = Vec::new();
    for poly in count.polys() {
        add_counters(f, ivs, poly, at, &mut counters)?;
    }
    count.materialize(f, at, &mut |l| counter_among(&counters, l))
}

/// Inserts instructions before `at` for how often a loop goes back, which is known; see [`can_compute`]. What is too
/// large for a signed number is negative.
pub(crate) fn compute_runs(
    f: &mut Function,
    ivs: &InductionVariables,
    runs: &LatchRuns,
    at: Value,
) -> IrResult<Operand> {
    let LatchRuns::Symbolic(count) = runs else {
        let runs = runs.as_constant().expect("it is known how often");
        return Ok(f.constant_id(runs).into());
    };
    let number = compute_count(f, ivs, count, at)?;
    match f.operand_type(number) {
        Type::I64 => Ok(number),
        _ => Ok(f.insert(at, arith::zext(number, Type::I64))?.into()),
    }
}

/// Inserts instructions before `at` that tell whether a condition is met; see [`can_compute`].
pub(crate) fn compute_condition(
    f: &mut Function,
    ivs: &InductionVariables,
    condition: &Condition,
    at: Value,
) -> IrResult<Operand> {
    let mut counters = Vec::new();
    add_counters(f, ivs, &condition.value, at, &mut counters)?;
    condition.materialize(f, at, &mut |l| counter_among(&counters, l))
}

/// Adds operands for the iterations in a polynomial.
fn add_counters(
    f: &mut Function,
    ivs: &InductionVariables,
    poly: &Poly,
    at: Value,
    counters: &mut Vec<(LoopId, Operand)>,
) -> IrResult<()> {
    for s in poly.symbols() {
        let Sym::Iteration(l) = s else { continue };
        if counters.iter().any(|&(known, _)| known == l) {
            continue;
        }
        let basic = any_counter(f, ivs, l, poly.ty()).expect("it was checked that there is one");
        let base: Operand = match basic.base.constant_value() {
            Some(base) => {
                f.constant_id(Constant::int(basic.base.ty(), base).expect("an integer")).into()
            }
            None => entering_arg(f, ivs.forest(), basic.param).expect("it was looked at before"),
        };
        let counter: Operand = match (basic.step.constant_value(), basic.base.is_zero()) {
            (Some(1), true) => basic.param.into(),
            (Some(1), false) => f.insert(at, arith::sub(basic.param, base))?.into(),
            _ => f.insert(at, arith::sub(base, basic.param))?.into(),
        };
        counters.push((l, counter));
    }
    Ok(())
}

fn counter_among(counters: &[(LoopId, Operand)], l: LoopId) -> Operand {
    let counter = counters.iter().find(|&&(of, _)| of == l).map(|&(_, counter)| counter);
    counter.expect("there is one for each loop")
}

/// Returns whether a block is in a loop, be it one that was put on an edge after the loops were
/// found.
pub(crate) fn is_inside(f: &Function, forest: &LoopForest, l: LoopId, block: Block) -> bool {
    if forest.knows(block) {
        return forest.contains(l, block);
    }
    let (mut from, mut to) = (Some(block), Some(block));
    while let Some(new) = from.filter(|&from| !forest.knows(from)) {
        from = f.in_edges(new).next().map(|edge| edge.from);
    }
    while let Some(new) = to.filter(|&to| !forest.knows(to)) {
        to = f.successors(new).next();
    }
    [from, to].into_iter().all(|end| end.is_some_and(|end| forest.contains(l, end)))
}

/// Returns whether a use is after a loop: outside of it, or an argument of its exit.
pub(crate) fn is_after(f: &Function, forest: &LoopForest, l: LoopId, exit: Edge, at: Use) -> bool {
    let args = exit.position + 1..exit.position + 1 + f.edge_args(exit).len() as u32;
    let is_arg = at.user == Value::terminator(exit.from) && args.contains(&at.index);
    is_arg || !is_inside(f, forest, l, f.block_of(at.user))
}

/// Adds a parameter to the header of a loop with a preheader: at first `base`, then more by `step`
/// each time, both of an integer type and known before the loop. Returns it, and the next one.
pub(crate) fn add_induction(
    f: &mut Function,
    forest: &LoopForest,
    l: LoopId,
    base: Operand,
    step: Operand,
) -> IrResult<(Value, Value)> {
    let header = forest.get(l).header;
    let param = f.add_param(header, f.operand_type(base), |_| Some(base))?;
    let mut back: Vec<Edge> = f.in_edges_in_order(header);
    back.retain(|edge| is_inside(f, forest, l, edge.from));
    // At the end of a single latch; where there are several, once in the header.
    let at = match *back {
        [edge] => Value::terminator(edge.from),
        _ => f.first_inst(header).unwrap_or(Value::terminator(header)),
    };
    let next = f.insert(at, arith::add(param, step))?;
    for edge in back {
        let last = edge.position as usize + f.param_count(header);
        f.set_operand(Value::terminator(edge.from), last, next)?;
    }
    Ok((param, next))
}
