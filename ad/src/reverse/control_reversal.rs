//! Control-flow reversal of a function: which blocks the reverse sweep comes to, how it recovers the
//! predecessor of each, and the exit counts of the loops that it enters from behind.

use std::sync::Arc;

use regraft_ir::{Block, Constant, Diagnostic, Function, Operand, Type, Value};
use regraft_passes::analysis::LoopId;
use rustc_hash::FxHashMap;

use super::augment::Augmented;
use super::loops::{Counters, Loops};
use super::predecessor::{Chooser, Predecessor};
use crate::activity::Activity;

/// For each edge that leaves counted loops, by source and target: these, with the numbers of times
/// that their latches have run, as they are known in the target.
pub(super) type ExitCounts = FxHashMap<(Block, Block), Vec<(LoopId, Operand)>>;

/// The reversal of control flow.
#[derive(Debug)]
pub(super) struct ControlReversal {
    /// By [`Block::index`], of blocks that are reversed.
    pub(super) predecessors: Vec<Option<Predecessor>>,
    /// By [`Block::index`]: the blocks that the reverse sweep comes to.
    pub(super) visited: Vec<bool>,
    /// The loops whose iterations are counted on the way back, and these by their headers.
    pub(super) counted: Vec<LoopId>,
    pub(super) headers: FxHashMap<Block, LoopId>,
    pub(super) exit_counts: ExitCounts,
    /// The counters that were inserted into the forward sweep.
    pub(super) counters: Counters,
}

/// Reverses the control flow of `blocks`. Selectors and exit counts become parameters of blocks of
/// the forward sweep.
pub(super) fn reverse_control(
    mut aug: Augmented,
    loops: &Loops,
    activity: &Activity,
    blocks: &[Block],
    naive: bool,
) -> Result<(Augmented, ControlReversal), Diagnostic> {
    let predecessors = predecessors(&mut aug, loops, activity, blocks, naive)?;
    let visited = visited(&predecessors, aug.exit);
    let mut counted = Vec::new();
    for block in blocks.iter().filter(|block| visited[block.index()]) {
        if let Some(Predecessor::Counted { l, .. }) = &predecessors[block.index()] {
            counted.push(*l);
        }
    }
    let headers = counted.iter().map(|&l| (loops.forest.get(l).header, l)).collect();
    let mut counters = Counters::default();
    let exit_counts = exit_counts(&mut aug.f, loops, &mut counters, &counted, &visited)?;
    let reversal =
        ControlReversal { predecessors, visited, counted, headers, exit_counts, counters };
    Ok((aug, reversal))
}

/// Chooses how the predecessor of each block is recovered; selectors become parameters.
fn predecessors(
    aug: &mut Augmented,
    loops: &Loops,
    activity: &Activity,
    blocks: &[Block],
    naive: bool,
) -> Result<Vec<Option<Predecessor>>, Diagnostic> {
    let (has_work, has_active_params) = adjoint_work(aug, activity, blocks);
    let f = &mut aug.f;
    let mut found: Vec<Option<Predecessor>> = vec![None; f.block_capacity()];
    for &block in blocks {
        let (has_work, has_active_params) = (&has_work, &has_active_params);
        let chooser = Chooser { f, loops, has_work, has_active_params, naive };
        found[block.index()] = Some(match chooser.choose(block) {
            Ok(predecessor) => predecessor,
            Err(sources) => {
                let ty = match sources.len() {
                    2 => Type::BOOL,
                    n if n <= 127 => Type::I8,
                    _ => Type::I64,
                };
                let constant = |i: usize| match ty {
                    Type::BOOL => Constant::Bool(i == 1),
                    _ => Constant::int(ty, i as i64).unwrap_or(Constant::Unit),
                };
                let numbers: FxHashMap<Block, usize> =
                    sources.iter().enumerate().map(|(i, &from)| (from, i)).collect();
                let ctx = Arc::clone(f.ctx());
                let selector = f.add_param(block, ty, |from| {
                    numbers.get(&from).map(|&i| ctx.constant_id(constant(i)))
                })?;
                Predecessor::Recorded { selector, sources }
            }
        });
    }
    Ok(found)
}

/// By [`Block::index`], the blocks that the reverse sweep comes to: it bypasses those without
/// adjoint work.
fn visited(predecessors: &[Option<Predecessor>], exit: Option<Block>) -> Vec<bool> {
    let mut visited = vec![false; predecessors.len()];
    let mut pending: Vec<Block> = exit.into_iter().collect();
    while let Some(block) = pending.pop() {
        if std::mem::replace(&mut visited[block.index()], true) {
            continue;
        }
        if let Some(predecessor) = &predecessors[block.index()] {
            predecessor.targets(&mut pending);
        }
    }
    visited
}

/// By [`Block::index`], the blocks with adjoint work, and those with parameters that cotangents come
/// to.
fn adjoint_work(aug: &Augmented, activity: &Activity, blocks: &[Block]) -> (Vec<bool>, Vec<bool>) {
    let n = aug.f.block_capacity();
    let (mut work, mut params) = (vec![false; n], vec![false; n]);
    for &block in blocks {
        params[block.index()] = Some(block) != aug.f.entry()
            && aug.f.params(block).any(|param| activity.is_varied(param));
        work[block.index()] = params[block.index()] || !aug.actions[block.index()].is_empty();
    }
    (work, params)
}

/// Finds the exit counts; those that are not known behind an edge become parameters there.
fn exit_counts(
    f: &mut Function,
    loops: &Loops,
    counters: &mut Counters,
    counted: &[LoopId],
    visited: &[bool],
) -> Result<ExitCounts, Diagnostic> {
    let mut found = ExitCounts::default();
    for &l in counted {
        let at = loops.forest.get(l);
        let runs = match at.preheader {
            Some(preheader) => counters.latch_runs(f, loops, l, preheader, true)?,
            None => None,
        };
        let count: Operand = match runs {
            Some(runs) => runs,
            None => counters.counter(f, loops, l)?.into(),
        };
        let mut params: FxHashMap<Block, Value> = FxHashMap::default();
        for exit in &at.exits {
            let edge = exit.edge(f);
            let target = f.edge_target(edge);
            if !visited[target.index()] {
                continue;
            }
            let is_known = match count.as_value() {
                None => true,
                Some(v) => {
                    let home = loops.forest.loop_of(f.block_of(v));
                    home.is_none_or(|home| loops.forest.contains(home, target))
                }
            };
            let operand: Operand = if is_known {
                count
            } else if let Some(&param) = params.get(&target) {
                param.into()
            } else {
                let param = f.add_param(target, Type::I64, |_| Some(count))?;
                params.insert(target, param);
                param.into()
            };
            found.entry((edge.from, target)).or_default().push((l, operand));
        }
    }
    Ok(found)
}
