//! A function as it runs if it returns: a copy without what only leads to an error.
//!
//! ```text
//! %3: Pair = data.new %1, %2              =>
//! br %4, ^2, ^3                           br %4, ^3, ^3
//! ^2:
//!   %5: never = call @out_of_bounds(%3)
//!   unreachable
//! ```
//!
//! The way back begins where the function returned. So what happens in blocks that nobody comes back
//! from never happened: an object that only an error shows to others is known to nobody, and a call
//! that makes the text of a message overwrites nothing.

use regraft_ir::{Block, Diagnostic, Edge, Function, Module, Operand};
use regraft_passes::run_pass;
use regraft_passes::transforms::dce::Dce;

use crate::returning::returning_blocks;

/// The copy; what is still there has the same ids. `returns` are its
/// [`returning_blocks`](crate::returning::returning_blocks).
pub(super) fn returning(f: &Function, returns: &[bool]) -> Result<Function, Diagnostic> {
    let mut f = f.clone();
    let blocks: Vec<Block> = f.blocks().collect();
    let (kept, lost): (Vec<Block>, Vec<Block>) =
        blocks.into_iter().partition(|block| returns[block.index()]);
    if kept.is_empty() || lost.is_empty() {
        return Ok(f);
    }
    for block in kept {
        // Whatever the condition, control goes on where it may come to a return.
        let comes_back = |f: &Function, edge: &Edge| returns[f.edge_target(*edge).index()];
        let Some(way) = f.out_edges(block).find(|edge| comes_back(&f, edge)) else { continue };
        let (target, args) = (f.edge_target(way), f.edge_args(way).collect::<Vec<Operand>>());
        while let Some(edge) = f.out_edges(block).find(|edge| !comes_back(&f, edge)) {
            f.redirect(edge, target, args.iter().copied())?;
        }
    }
    f.delete_blocks(&lost)?;
    run_pass::<Dce>(&mut f)?;
    Ok(f)
}

/// Returns a module of functions as they run if they return: without the code that only leads to an error.
///
/// # Errors
/// None if the module is valid.
pub fn without_failing_code(module: &Module) -> Result<Module, Diagnostic> {
    let mut module = module.clone();
    for id in module.ids().to_vec() {
        if let Some(f) = module.get_mut(id) {
            *f = returning(f, &returning_blocks(f))?;
        }
    }
    Ok(module)
}
