//! Edges of copies of a loop, each by its place among those that leave its block.

use regraft_ir::{Block, Edge, Function, Inst, IrResult, Operand, Value};

use crate::transforms::util::clone_blocks::CloneMap;
use crate::transforms::util::edit::delete_unused;

/// Lets a block take the edge at this place in its terminator, whatever that decides on, and drops
/// what nobody needs any more.
pub(in crate::transforms) fn fold_branch(
    f: &mut Function,
    block: Block,
    nth: usize,
) -> IrResult<()> {
    let term = Value::terminator(block);
    let Some(edge) = f.out_edges(block).nth(nth) else { return Ok(()) };
    if f.out_edges(block).nth(1).is_none() {
        return Ok(());
    }
    let decided_on = f.operand(term, 0).and_then(Operand::as_value);
    let jump = Inst::new(f.jump_op()?).edge(f.edge_target(edge), f.edge_args(edge)).at(f.loc(term));
    f.set_terminator(block, jump)?;
    delete_unused(f, decided_on.filter(|&v| !f.is_param(v)))
}

/// Lets the edges at these places go to `target`, in the copy that `map` is for.
pub(in crate::transforms) fn redirect_back_edges(
    f: &mut Function,
    map: &CloneMap,
    places: &[(Block, usize)],
    target: Block,
) -> IrResult<()> {
    for &(latch, nth) in places {
        let Some(edge) = f.out_edges(map.block(latch)).nth(nth) else { continue };
        let args: Vec<Operand> = f.edge_args(edge).collect();
        f.redirect(edge, target, args)?;
    }
    Ok(())
}

/// The place of an edge among those that leave its block.
pub(in crate::transforms) fn place(f: &Function, edge: Edge) -> usize {
    f.out_edges(edge.from).position(|other| other == edge).unwrap_or(0)
}
