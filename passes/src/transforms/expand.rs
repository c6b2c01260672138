//! Passes every value explicitly: a block uses only what it defines and its own parameters. The
//! opposite of [`prune`](super::prune).
//!
//! ```text
//! ^1(%1: i64):                                ^1(%1: i64):
//!   br ^2(0)                                    br ^2(0, %1)
//! ^2(%2: i64):                                ^2(%2: i64, %5: i64):
//!   %3: i64 = arith.add %2, %1          =>      %3: i64 = arith.add %2, %5
//!   %4: bool = arith.lt %3, 100                 %4: bool = arith.lt %3, 100
//!   br %4, ^2(%3), ^3                           br %4, ^2(%3, %5), ^3(%3)
//! ^3:                                         ^3(%6: i64):
//!   return %3                                   return %6
//! ```
//!
//! # Method
//! A value is live at the start of a block if a path leads from there to a use and does not pass
//! its definition. These blocks are found backwards from the uses, for one value at a time in
//! layout order, and each gets a parameter for the value; every edge into it passes what stands
//! for the value where the edge leaves.
//!
//! # Why it is right
//! The definition dominates every use, so the walk backwards ends at its block and never gets
//! to the entry. Each parameter is the value it was made for, by induction over the edges that
//! were taken. Unreachable blocks would break the walk; they are deleted first.
//!
//! # Cost
//! O(size + parameters made + arguments passed), which may be O(values × blocks): that much
//! comes out. [`prune`](super::prune) takes all of it back.

use regraft_ir::{
    Attrs, Block, Diagnostic, Function, Inst, Loc, MAX_OPERANDS, Op, Operand, Use, Value,
};

use crate::transforms::util::edit::delete_unreachable;
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Passes every value explicitly: a block uses only what it defines and its own parameters.
    ///
    /// ```text
    /// ^1(%1: i64):                         ^1(%1: i64):
    ///   br ^2(0)                             br ^2(0, %1)
    /// ^2(%2: i64):                   =>    ^2(%2: i64, %4: i64):
    ///   %3: i64 = arith.add %2, %1           %3: i64 = arith.add %2, %4
    ///   return %3                            return %3
    /// ```
    ///
    /// Unreachable blocks are deleted. `prune` takes it back.
    #[derive(Debug, Default)]
    pub struct Expand;
}

impl FunctionPass for Expand {
    const NAME: &'static str = "expand";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        delete_unreachable(f, cx.analyses())?;
        let mut needed = live_at_start(f)?;
        make_parameters(f, &mut needed)?;
        use_parameters(f, &needed)?;
        cx.add("parameters made", needed.len() as u64);
        Ok(())
    }
}

/// A value that a block needs from elsewhere, and the parameter made for it.
#[derive(Clone, Copy, Debug)]
struct Needed {
    value: Value,
    block: Block,
    param: Value,
}

/// The values that are live at the start of each block: by value, and for each value by block,
/// both in layout order. The parameters are not there yet; the values stand for them.
fn live_at_start(f: &Function) -> Result<Vec<Needed>, Diagnostic> {
    let mut needed = Vec::new();
    // For each block the last value that was found to be live there.
    let mut seen: Vec<Option<Value>> = vec![None; f.block_capacity()];
    let mut pending = Vec::new();
    for home in f.blocks() {
        for value in f.params(home).chain(f.body(home)) {
            let first = needed.len();
            seen[home.index()] = Some(value);
            let mut reach = |block: Block, pending: &mut Vec<Block>| {
                if seen[block.index()].replace(value) != Some(value) {
                    pending.push(block);
                }
            };
            f.uses(value).for_each(|at| reach(f.block_of(at.user), &mut pending));
            while let Some(block) = pending.pop() {
                if Some(block) == f.entry() {
                    let (value, name) = (f.value_text(value), f.name_str());
                    let message = format!("{value} of @{name} does not dominate all its uses");
                    return Err(Diagnostic::error(message));
                }
                needed.push(Needed { value, block, param: value });
                f.in_edges(block).for_each(|edge| reach(edge.from, &mut pending));
            }
            needed[first..].sort_unstable_by(|a, b| order(f, a.block, b.block));
        }
    }
    Ok(needed)
}

fn order(f: &Function, a: Block, b: Block) -> std::cmp::Ordering {
    f.block_comes_before(b, a).cmp(&f.block_comes_before(a, b))
}

/// A terminator that was taken off its block.
struct Terminator {
    block: Block,
    op: Op,
    attrs: Attrs,
    loc: Loc,
    operands: Vec<Operand>,
}

/// Makes the parameters, block after block, and lets every edge pass the value itself for each.
/// That is not yet right where the value is needed further down, but it is a use like any other.
fn make_parameters(f: &mut Function, needed: &mut [Needed]) -> Result<(), Diagnostic> {
    let mut by_block: Vec<Vec<u32>> = vec![Vec::new(); f.block_capacity()];
    for (i, need) in needed.iter().enumerate() {
        by_block[need.block.index()].push(i as u32);
    }
    // Parameters can be appended freely to a block that no edge enters. So all terminators that
    // change are taken off, and rewritten once.
    let blocks: Vec<Block> = f.blocks().collect();
    let changes = |f: &Function, block: Block| {
        f.successors(block).any(|target| !by_block[target.index()].is_empty())
    };
    let mut terminators = Vec::new();
    for &block in &blocks {
        if changes(f, block) {
            terminators.push(longer_terminator(f, block, &by_block, needed)?);
        }
    }
    for terminator in &terminators {
        f.remove_terminator(terminator.block)?;
    }
    for &block in &blocks {
        for &i in &by_block[block.index()] {
            let need = &mut needed[i as usize];
            need.param = f.append_param(block, f.ty(need.value))?;
        }
    }
    for Terminator { block, op, attrs, loc, operands } in terminators {
        f.set_terminator(block, Inst::new(op).with_attrs(attrs).operands(operands).at(loc))?;
    }
    Ok(())
}

/// The terminator of a block with an argument more for each parameter to come.
fn longer_terminator(
    f: &Function,
    block: Block,
    by_block: &[Vec<u32>],
    needed: &[Needed],
) -> Result<Terminator, Diagnostic> {
    let term = Value::terminator(block);
    let op = f.op(term).ok_or_else(|| Diagnostic::error(format!("{block} has no terminator")))?;
    let mut operands: Vec<Operand> = f.plain_operands(term).collect();
    for edge in f.out_edges(block) {
        let target = f.edge_target(edge);
        operands.push(target.into());
        operands.extend(f.edge_args(edge));
        let values = by_block[target.index()].iter().map(|&i| needed[i as usize].value);
        operands.extend(values.map(Operand::from));
    }
    if operands.len() > MAX_OPERANDS {
        let message = format!(
            "the terminator of {block} of @{} would need {} operands, there can be {MAX_OPERANDS}",
            f.name_str(),
            operands.len()
        );
        return Err(Diagnostic::error(message));
    }
    Ok(Terminator { block, op, attrs: f.attrs(term), loc: f.loc(term), operands })
}

/// Lets every use of a value outside its block be a use of the parameter there.
fn use_parameters(f: &mut Function, needed: &[Needed]) -> PassResult {
    let mut param_in: Vec<Option<Value>> = vec![None; f.block_capacity()];
    for group in needed.chunk_by(|a, b| a.value == b.value) {
        let value = group[0].value;
        for need in group {
            param_in[need.block.index()] = Some(need.param);
        }
        let home = f.block_of(value);
        let uses: Vec<Use> = f.uses(value).collect();
        for at in uses {
            let block = f.block_of(at.user);
            if block != home
                && let Some(param) = param_in[block.index()]
            {
                f.set_operand(at.user, at.index as usize, param)?;
            }
        }
    }
    Ok(())
}
