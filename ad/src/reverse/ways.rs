//! The ways back of a whole function: which blocks the reverse sweep comes to, and what it has to
//! know where it enters loops from behind.

use std::sync::Arc;

use regraft_ir::{Block, Constant, Diagnostic, Operand, Type, Value};
use regraft_passes::analysis::LoopId;
use rustc_hash::FxHashMap;

use super::augment::Augmented;
use super::backward::Leaving;
use super::tape_plan::Planner;
use super::way_back::{Choice, Chooser, WayBack};
use crate::activity::Activity;

/// Chooses the way back from each block that is undone; selectors become parameters.
pub(super) fn ways(
    planner: &mut Planner<'_>,
    blocks: &[Block],
    busy: &[bool],
    merges: &[bool],
) -> Result<Vec<Option<WayBack>>, Diagnostic> {
    let mut ways: Vec<Option<WayBack>> = vec![None; planner.f.block_capacity()];
    for &block in blocks {
        let forest = Arc::clone(&planner.forest);
        let chooser = Chooser {
            f: &planner.f,
            dom: planner.dom,
            forest: &forest,
            busy,
            merges,
            irregular: planner.irregular,
            naive: planner.naive,
        };
        ways[block.index()] = Some(match chooser.choose(block) {
            Choice::Found(way) => way,
            Choice::Keep(sources) => {
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
                let ctx = Arc::clone(planner.f.ctx());
                let selector = planner.f.add_param(block, ty, |from| {
                    numbers.get(&from).map(|&i| ctx.constant_id(constant(i)))
                })?;
                WayBack::Kept { selector, sources }
            }
        });
    }
    Ok(ways)
}

/// By [`Block::index`], the blocks that the reverse sweep comes to: it goes around those in which
/// there is nothing to undo.
pub(super) fn visited(ways: &[Option<WayBack>], exit: Option<Block>) -> Vec<bool> {
    let mut visited = vec![false; ways.len()];
    let mut pending: Vec<Block> = exit.into_iter().collect();
    while let Some(block) = pending.pop() {
        if std::mem::replace(&mut visited[block.index()], true) {
            continue;
        }
        if let Some(way) = &ways[block.index()] {
            way.targets(&mut pending);
        }
    }
    visited
}

/// By [`Block::index`], the blocks in which something has to be undone, and those with parameters
/// that cotangents come to.
pub(super) fn busy_blocks(
    aug: &Augmented,
    activity: &Activity,
    blocks: &[Block],
) -> (Vec<bool>, Vec<bool>) {
    let n = aug.f.block_capacity();
    let (mut busy, mut merges) = (vec![false; n], vec![false; n]);
    for &block in blocks {
        merges[block.index()] = Some(block) != aug.f.entry()
            && aug.f.params(block).any(|param| activity.is_varied(param));
        busy[block.index()] = merges[block.index()] || !aug.actions[block.index()].is_empty();
    }
    (busy, merges)
}

/// For each edge that leaves counted loops, the numbers of iterations as they are known behind it.
pub(super) fn leaving(
    planner: &mut Planner<'_>,
    counted: &[LoopId],
    visited: &[bool],
) -> Result<Leaving, Diagnostic> {
    let mut found = Leaving::default();
    for &l in counted {
        let forest = Arc::clone(&planner.forest);
        let at = forest.get(l);
        let runs = match at.preheader {
            Some(preheader) => planner.latch_runs(l, preheader, true)?,
            None => None,
        };
        let count: Operand = match runs {
            Some(runs) => runs,
            None => planner.counter(l)?.into(),
        };
        let mut params: FxHashMap<Block, Value> = FxHashMap::default();
        for exit in &at.exits {
            let edge = exit.edge(&planner.f);
            let target = planner.f.edge_target(edge);
            if !visited[target.index()] {
                continue;
            }
            let is_known = match count.as_value() {
                None => true,
                Some(v) => {
                    let home = forest.loop_of(planner.f.block_of(v));
                    home.is_none_or(|home| forest.contains(home, target))
                }
            };
            let operand: Operand = if is_known {
                count
            } else if let Some(&param) = params.get(&target) {
                param.into()
            } else {
                let param = planner.f.add_param(target, Type::I64, |_| Some(count))?;
                params.insert(target, param);
                param.into()
            };
            found.entry((edge.from, target)).or_default().push((l, operand));
        }
    }
    Ok(found)
}
