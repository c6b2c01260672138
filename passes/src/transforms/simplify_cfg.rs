//! Simplifies control flow: decided branches, unreachable blocks, blocks that do nothing.
//!
//! ```text
//! ^1(%1: i64):                         ^1(%1: i64):
//!   br true, ^2, ^3
//! ^2:
//!   br ^4(%1)                    =>
//! ^3:
//!   br ^4(0)
//! ^4(%2: i64):
//!   %3: i64 = arith.add %2, 1            %3: i64 = arith.add %1, 1
//!   return %3                            return %3
//! ```
//!
//! # Method
//! Rounds of these steps, until a round changes nothing:
//!
//! 1. In reverse postorder, so that what one block gives away is known in the next: a parameter
//!    that gets the same value from every edge (or itself) is replaced by it; a branch or switch
//!    on a constant, or one whose edges are all the same, becomes a jump; a block that no edge
//!    enters any more loses its own.
//! 2. Unreachable blocks are deleted.
//! 3. Parameters that pass one value in circles are replaced too, as [`prune`] does; all replaced
//!    parameters are deleted at once.
//! 4. In postorder: an edge to an empty block that jumps on goes to where that jumps.
//! 5. A block is appended to the one that jumps to it, if nothing else does; the first of a chain
//!    comes first, so that an instruction moves once.
//!
//! # Why it is right
//! No instruction that can be reached is dropped, and none is added to a path; the order of
//! effects on each path is what it was, as only jumps, and branches whose outcome is known, go. A
//! block that jumps to itself is not empty in this sense, so a loop that does nothing forever
//! still does. A branch on a value that is `any`, which traps unless it is a bool, stays. What
//! the edge from an empty block passes is available before that block, unless it is one of its
//! parameters, for which the argument is put. Where a value of a more special type than a
//! parameter would not be accepted in its place, the parameter stays, and the block too.
//!
//! # Cost
//! O(size) for a round. Decisions that lead to each other along forward edges fall in the same
//! round; one that has to come around a loop takes another, so that there are few in practice.
//! Going around an empty block may copy the arguments that it passes onto each edge that enters
//! it; that is done only if they are few, or there is one such edge.

use regraft_ir::{
    Block, ControlFlow, Edge, Function, Inst, IrResult, MAX_OPERANDS, Operand, Syntax, Traits,
    Value, ValueDef,
};

use super::edit::{delete_unreachable, replace_if_it_fits};
use super::prune;
use crate::{FunctionPass, PassContext, PassResult};

/// How many arguments more than it had an edge may get when it goes around an empty block that
/// other edges enter as well.
const MORE_ARGS: usize = 4;

/// What was simplified.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Simplified {
    /// Branches and switches that became jumps.
    pub branches: usize,
    /// Unreachable blocks deleted.
    pub unreachable: usize,
    /// Parameters that stood for one value.
    pub parameters: usize,
    /// Terminators whose edges go around empty blocks now.
    pub forwarded: usize,
    /// Blocks appended to the one before.
    pub merged: usize,
}

/// Simplifies control flow until nothing more is found. O(size) for each round.
///
/// # Errors
/// None if `f` is valid.
pub fn run(f: &mut Function) -> IrResult<Simplified> {
    let mut total = Simplified::default();
    loop {
        let before = total;
        round(f, &mut total)?;
        if total == before {
            return Ok(total);
        }
    }
}

crate::pass! {
    /// Simplifies control flow: decided branches, unreachable blocks, blocks that do nothing.
    ///
    /// ```text
    /// ^1(%1: i64):                         ^1(%1: i64):
    ///   br true, ^2, ^3
    /// ^2:
    ///   br ^4(%1)                    =>
    /// ^3:
    ///   br ^4(0)
    /// ^4(%2: i64):
    ///   %3: i64 = arith.add %2, 1            %3: i64 = arith.add %1, 1
    ///   return %3                            return %3
    /// ```
    ///
    /// Parameters that get the same value from every edge go too. Loops without an end stay.
    #[derive(Debug, Default)]
    pub struct SimplifyCfg;
}

impl FunctionPass for SimplifyCfg {
    const NAME: &'static str = "simplify-cfg";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let done = run(f)?;
        cx.add("branches decided", done.branches as u64);
        cx.add("unreachable blocks deleted", done.unreachable as u64);
        cx.add("parameters replaced", done.parameters as u64);
        cx.add("terminators forwarded", done.forwarded as u64);
        cx.add("blocks merged", done.merged as u64);
        Ok(())
    }
}

fn round(f: &mut Function, done: &mut Simplified) -> IrResult<()> {
    let cfg = ControlFlow::compute(f);
    let mut replaced = Vec::new();
    for block in cfg.reverse_postorder() {
        if Some(block) != f.entry() {
            if !f.has_predecessors(block) {
                f.remove_terminator(block)?;
                continue;
            }
            replace_params(f, block, &mut replaced)?;
        }
        if let Some(jump) = decided(f, block)? {
            f.set_terminator(block, jump)?;
            done.branches += 1;
        }
    }
    done.unreachable += delete_unreachable(f)?;
    // What was replaced above has no uses left, but is a parameter still.
    replaced.retain(|&param| f.is_live(param));
    replaced.extend(prune::replace_redundant(f)?);
    replaced.sort_unstable();
    replaced.dedup();
    if !replaced.is_empty() {
        f.delete_all(&replaced)?;
    }
    done.parameters += replaced.len();
    forward_edges(f, done)?;
    delete_unreachable(f)?;
    merge_chains(f, done)
}

// --- parameters and branches -----------------------------------------------------------------

/// Replaces the parameters of a block that get the same value from every edge.
fn replace_params(f: &mut Function, block: Block, replaced: &mut Vec<Value>) -> IrResult<()> {
    let params: Vec<Value> = f.params(block).collect();
    for (position, param) in params.into_iter().enumerate() {
        if let Some(value) = same_argument(f, block, param, position)
            && f.operand_type(value) == f.ty(param)
        {
            f.hand_on_name(param, value);
            f.replace_all_uses(param, value)?;
            replaced.push(param);
        }
    }
    Ok(())
}

/// What every edge passes for a parameter, edges that pass the parameter itself left out.
fn same_argument(f: &Function, block: Block, param: Value, position: usize) -> Option<Operand> {
    let mut same = None;
    for edge in f.in_edges(block) {
        let arg = f.operand(Value::terminator(edge.from), edge.position as usize + 1 + position)?;
        if arg == param.into() || same == Some(arg) {
            continue;
        }
        if same.replace(arg).is_some() {
            return None;
        }
    }
    same
}

/// The jump that the terminator of a block always is, unless it is one already.
fn decided(f: &Function, block: Block) -> IrResult<Option<Inst>> {
    let Some(term) = f.terminator(block) else { return Ok(None) };
    let Some(def) = f.op_def(term) else { return Ok(None) };
    let Some(first) = f.out_edges(block).next() else { return Ok(None) };
    if def.traits.contains(Traits::JUMP) && first.position == 0 {
        return Ok(None);
    }
    let taken = match f.operand(term, 0) {
        Some(value) if def.traits.contains(Traits::JUMP) => match f.const_bool(value) {
            Some(condition) => f.out_edges(block).nth(usize::from(!condition)),
            None => same_edge(f, term, first),
        },
        Some(value) if matches!(def.syntax, Syntax::Switch(_)) && value.as_const().is_some() => {
            let mut cases = f.plain_operands(term).skip(1);
            let case = cases.position(|case| case == value);
            f.out_edges(block).nth(case.map_or(0, |case| case + 1))
        }
        _ => same_edge(f, term, first),
    };
    let Some(taken) = taken else { return Ok(None) };
    let jump = Inst::new(f.jump_op()?).at(f.loc(term));
    Ok(Some(jump.edge(f.edge_target(taken), f.edge_args(taken))))
}

/// The first edge of a terminator, if it does not matter which edge is taken.
fn same_edge(f: &Function, term: Value, first: Edge) -> Option<Edge> {
    let effects = f.op_def(term)?.effects;
    if effects.writes_anything() || f.may_trap(term) {
        return None;
    }
    let target = f.edge_target(first);
    let same = f
        .out_edges(first.from)
        .skip(1)
        .all(|edge| f.edge_target(edge) == target && f.edge_args(edge).eq(f.edge_args(first)));
    same.then_some(first)
}

// --- empty blocks ----------------------------------------------------------------------------

/// Lets edges to empty blocks that jump on go to where those jump.
fn forward_edges(f: &mut Function, done: &mut Simplified) -> IrResult<()> {
    let cfg = ControlFlow::compute(f);
    // Whether the parameters of a block are used by its own terminator alone, once known. No
    // step of the loop below changes it.
    let mut private: Vec<Option<bool>> = vec![None; f.block_capacity()];
    for &block in cfg.postorder() {
        let Some(term) = f.terminator(block) else { continue };
        let mut operands: Vec<Operand> = f.plain_operands(term).collect();
        let mut changed = false;
        for edge in f.out_edges(block) {
            let target = f.edge_target(edge);
            match next_target(f, target, &mut private) {
                Some(next) => {
                    operands.push(next.into());
                    let args = f.operands(Value::terminator(target)).skip(1);
                    operands.extend(args.map(|arg| argument_of(f, edge, target, arg)));
                    changed = true;
                }
                None => {
                    operands.push(target.into());
                    operands.extend(f.edge_args(edge));
                }
            }
        }
        if changed && operands.len() <= MAX_OPERANDS {
            let op = f.op(term).expect("a terminator is an instruction");
            f.set_terminator(block, Inst::new(op).with_attrs(f.attrs(term)).operands(operands))?;
            done.forwarded += 1;
        }
    }
    Ok(())
}

/// Where `block` jumps, if it does nothing else and the edges to it may go there directly.
fn next_target(f: &Function, block: Block, private: &mut [Option<bool>]) -> Option<Block> {
    let term = f.terminator(block)?;
    let target = f.operand(term, 0)?.as_block()?;
    let is_jump = f.op_def(term)?.traits.contains(Traits::JUMP);
    if !is_jump || target == block || Some(block) == f.entry() || f.first_inst(block).is_some() {
        return None;
    }
    let more = f.operand_count(term) - 1;
    if more > f.param_count(block) + MORE_ARGS && f.in_edges(block).nth(1).is_some() {
        return None;
    }
    let is_private = private[block.index()].get_or_insert_with(|| {
        f.params(block).all(|param| f.uses(param).all(|at| at.user == term))
    });
    is_private.then_some(target)
}

/// What `arg`, which the empty block `to` passes on, is on the edge that enters it.
fn argument_of(f: &Function, edge: Edge, to: Block, arg: Operand) -> Operand {
    match arg.as_value().map(|v| f.def(v)) {
        Some(ValueDef::Param(block, position)) if block == to => {
            let index = (edge.position + 1 + position) as usize;
            f.operand(Value::terminator(edge.from), index).unwrap_or(arg)
        }
        _ => arg,
    }
}

// --- chains ----------------------------------------------------------------------------------

/// Appends to each block those that it leads to and nothing else does.
fn merge_chains(f: &mut Function, done: &mut Simplified) -> IrResult<()> {
    let cfg = ControlFlow::compute(f);
    for block in cfg.reverse_postorder() {
        if !f.is_live_block(block) {
            continue;
        }
        while let Some(next) = only_successor(f, block) {
            if !bind_params(f, block, next)? {
                break;
            }
            f.merge_blocks(block, next)?;
            done.merged += 1;
        }
    }
    Ok(())
}

/// The block that `block` jumps to, if nothing else leads there.
fn only_successor(f: &Function, block: Block) -> Option<Block> {
    let term = f.terminator(block)?;
    let target = f.operand(term, 0)?.as_block()?;
    let is_jump = f.op_def(term)?.traits.contains(Traits::JUMP);
    let alone = f.in_edges(target).nth(1).is_none();
    (is_jump && alone && target != block && Some(target) != f.entry()).then_some(target)
}

/// Lets what the only edge into `to` passes take the place of its parameters, as far as types
/// differ. Says whether all users accept it.
fn bind_params(f: &mut Function, from: Block, to: Block) -> IrResult<bool> {
    let args: Vec<Operand> = f.operands(Value::terminator(from)).skip(1).collect();
    let params: Vec<Value> = f.params(to).collect();
    for (param, arg) in params.into_iter().zip(args) {
        if f.operand_type(arg) != f.ty(param) && !replace_if_it_fits(f, param, arg)? {
            return Ok(false);
        }
    }
    Ok(true)
}
