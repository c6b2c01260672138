//! The form that a function is brought into before it is differentiated in reverse mode.
//!
//! One block returns; the entry has no predecessors; loops have a preheader, a single latch and
//! dedicated exits, and what is computed in them is used outside through parameters of exit blocks
//! alone; no block goes to another one by two edges. So every value that a block uses has, while
//! that block is reversed, the iteration in which it was defined, and every way back goes
//! over an edge.

use regraft_ir::{Block, ControlFlow, Diagnostic, Edge, Function};
use regraft_passes::transforms::{loop_simplify::LoopSimplify, merge_returns::MergeReturns};
use regraft_passes::{AllLoops, FunctionPass, Options, Setting, run_pass, run_pass_with};

/// A copy of `f` in this form; values of `f` that are still there have the same ids.
pub(super) fn prepare(f: &Function) -> Result<Function, Diagnostic> {
    let mut f = f.clone();
    delete_unreachable(&mut f)?;
    run_pass::<MergeReturns>(&mut f)?;
    type Closed = AllLoops<LoopSimplify>;
    let mut options = Options::defaults(Closed::OPTIONS);
    for def in Closed::OPTIONS {
        options.set(def, Setting::Flag(true)).map_err(Diagnostic::error)?;
    }
    run_pass_with::<Closed>(&mut f, &options)?;
    split_double_edges(&mut f)?;
    Ok(f)
}

/// Deletes the blocks that control never comes to.
pub(super) fn delete_unreachable(f: &mut Function) -> Result<(), Diagnostic> {
    let cfg = ControlFlow::compute(f);
    let unreachable: Vec<Block> = f.blocks().filter(|&block| !cfg.is_reachable(block)).collect();
    Ok(f.delete_blocks(&unreachable)?)
}

fn split_double_edges(f: &mut Function) -> Result<(), Diagnostic> {
    let blocks: Vec<Block> = f.blocks().collect();
    for block in blocks {
        while let Some(edge) = second_edge(f, block) {
            f.split_edge(edge)?;
        }
    }
    Ok(())
}

/// An edge to where another edge of the block goes already.
fn second_edge(f: &Function, block: Block) -> Option<Edge> {
    let mut targets: Vec<Block> = Vec::new();
    for edge in f.out_edges(block) {
        let target = f.edge_target(edge);
        if targets.contains(&target) {
            return Some(edge);
        }
        targets.push(target);
    }
    None
}
