//! Applies a tape plan: inserts into the forward sweep the arrays and stacks that hold values of
//! loops, and the code that fills them.

use std::sync::Arc;

use regraft_dialects::{arith, mem};
use regraft_ir::{Block, Constant, Diagnostic, Function, Value};
use regraft_passes::analysis::LoopId;
use rustc_hash::FxHashMap;

use super::super::loops::{Counters, Loops};
use super::{CacheDecision, Source, TapePlan};
use crate::tangent_builder::inbounds;

/// A forward sweep with its plan.
#[derive(Debug)]
pub(in super::super) struct Applied {
    pub(in super::super) f: Function,
    /// With decisions on the arrays and stacks too.
    pub(in super::super) plan: TapePlan,
    /// The array or the stack that holds a value.
    pub(in super::super) holders: FxHashMap<Value, Value>,
}

/// Inserts into `f` what the plan says. Linear.
pub(in super::super) fn apply(
    mut f: Function,
    mut plan: TapePlan,
    loops: &Loops,
    mut counters: Counters,
) -> Result<Applied, Diagnostic> {
    let mut holders = FxHashMap::default();
    let mut at = 0;
    // Holders are decided on too: the list grows.
    while let Some(&v) = plan.decided.get(at) {
        at += 1;
        let (holder, decision) = match plan.of(v).map(|decision| decision.source.clone()) {
            Some(Source::CachedPerIteration { loops: over, preheader, array: found }) => {
                let kept = match plan.stored_in.get(&v) {
                    Some(&block) => Kept { v, block, at: start(&f, block) },
                    None => Kept { v, block: f.block_of(v), at: place_after(&f, v) },
                };
                (add_array(&mut f, loops, &mut counters, &kept, &over, preheader)?, *found)
            }
            Some(Source::Stack) => {
                let why = "it is computed once";
                (add_stack(&mut f, v)?, CacheDecision { source: Source::Saved, why })
            }
            _ => continue,
        };
        holders.insert(v, holder);
        plan.record(holder, decision);
    }
    Ok(Applied { f, plan, holders })
}

/// A value that is kept, and the place where it is stored.
struct Kept {
    v: Value,
    block: Block,
    /// The code that stores it comes before this.
    at: Value,
}

/// Stores a value in an array with a place for each iteration of `over`, outer loops first.
fn add_array(
    f: &mut Function,
    loops: &Loops,
    counters: &mut Counters,
    &Kept { v, block, at }: &Kept,
    over: &[LoopId],
    preheader: Block,
) -> Result<Value, Diagnostic> {
    let ctx = Arc::clone(f.ctx());
    let one = ctx.constant_id(Constant::I64(1));
    let place = Value::terminator(preheader);
    let mut dims = Vec::with_capacity(over.len());
    // The innermost loop runs along the first dimension.
    for &l in over.iter().rev() {
        let runs = counters.latch_runs(f, loops, l, preheader, false)?;
        let runs =
            runs.ok_or_else(|| Diagnostic::error("an array is over a loop without bound"))?;
        let mut size = match f.const_i64(runs) {
            _ if !loops.runs_in_last(l, block) => runs,
            Some(n) => ctx.constant_id(Constant::I64(n + 1)).into(),
            None => f.insert(place, arith::add(runs, one))?.into(),
        };
        if f.const_i64(size).is_none() && loops.forest.get(l).preheader != Some(preheader) {
            // What guards an inner loop is not tested yet: the count may be below zero there.
            let zero = ctx.constant_id(Constant::I64(0));
            size = f.insert(place, arith::max(size, zero))?.into();
        }
        dims.push(size);
    }
    let rank = u8::try_from(over.len()).unwrap_or(u8::MAX);
    let array = f.insert(place, mem::alloc(dims, ctx.array_type(f.ty(v), rank)))?;
    let mut indices = Vec::with_capacity(over.len());
    for &l in over.iter().rev() {
        let counter = counters.counter(f, loops, l)?;
        indices.push(f.insert(at, arith::add(counter, one))?);
    }
    f.insert(at, mem::store(array, v, indices).with_attrs(inbounds(&ctx)))?;
    Ok(array)
}

/// Pushes `v` onto a stack of its own.
fn add_stack(f: &mut Function, v: Value) -> Result<Value, Diagnostic> {
    let entry = f.entry().expect("it has blocks");
    let zero = f.ctx().constant_id(Constant::I64(0));
    let ty = f.ctx().array_type(f.ty(v), 1);
    let stack = f.push_front(entry, mem::alloc([zero], ty))?;
    let at = place_after(f, v);
    f.insert(at, mem::push(stack, v))?;
    Ok(stack)
}

/// The instruction or end of block before which code that uses `v` is inserted, right after `v`.
pub(in super::super) fn place_after(f: &Function, v: Value) -> Value {
    let block = f.block_of(v);
    let next = if f.is_param(v) { Some(start(f, block)) } else { f.next_inst(v) };
    next.unwrap_or(Value::terminator(block))
}

/// The instruction or end of block before which the first code of a block is inserted.
fn start(f: &Function, block: Block) -> Value {
    f.first_inst(block).unwrap_or(Value::terminator(block))
}
