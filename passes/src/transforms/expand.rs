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
    Attrs, Block, Diagnostic, Function, Inst, Liveness, Loc, MAX_OPERANDS, Op, Operand, Value,
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
        let live = cx.analysis::<Liveness>(f);
        if let Some(&value) = f.entry().and_then(|entry| live.live_in(entry).first()) {
            let (value, name) = (f.value_text(value), f.name_str());
            let message = format!("{value} of @{name} does not dominate all its uses");
            return Err(Diagnostic::error(message));
        }
        make_parameters(f, &live)?;
        use_parameters(f, &live)?;
        let made: usize = f.blocks().map(|block| live.live_in(block).len()).sum();
        cx.add("parameters made", made as u64);
        Ok(())
    }
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
fn make_parameters(f: &mut Function, live: &Liveness) -> Result<(), Diagnostic> {
    // Parameters can be appended freely to a block that no edge enters. So all terminators that
    // change are taken off, and rewritten once.
    let blocks: Vec<Block> = f.blocks().collect();
    let mut terminators = Vec::new();
    for &block in &blocks {
        if f.successors(block).any(|target| !live.live_in(target).is_empty()) {
            terminators.push(longer_terminator(f, block, live)?);
        }
    }
    for terminator in &terminators {
        f.remove_terminator(terminator.block)?;
    }
    for &block in &blocks {
        for &value in live.live_in(block) {
            f.append_param(block, f.ty(value))?;
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
    live: &Liveness,
) -> Result<Terminator, Diagnostic> {
    let term = Value::terminator(block);
    let op = f.op(term).ok_or_else(|| Diagnostic::error(format!("{block} has no terminator")))?;
    let mut operands: Vec<Operand> = f.plain_operands(term).collect();
    for edge in f.out_edges(block) {
        let target = f.edge_target(edge);
        operands.push(target.into());
        operands.extend(f.edge_args(edge));
        operands.extend(live.live_in(target).iter().map(|&value| Operand::from(value)));
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

/// Lets every use of a value outside its block be a use of the parameter there: the last ones of a
/// block are those that were made for what is live in it.
fn use_parameters(f: &mut Function, live: &Liveness) -> PassResult {
    let mut param_for: Vec<Option<Value>> = vec![None; f.value_capacity()];
    let blocks: Vec<Block> = f.blocks().collect();
    for block in blocks {
        let values = live.live_in(block);
        if values.is_empty() {
            continue;
        }
        let first = f.param_count(block) - values.len();
        for (value, param) in values.iter().zip(f.params(block).skip(first)) {
            param_for[value.index()] = Some(param);
        }
        let users: Vec<Value> = f.insts(block).collect();
        for user in users {
            for index in 0..f.operand_count(user) {
                let value = f.operand(user, index).and_then(Operand::as_value);
                if let Some(param) = value.and_then(|value| param_for[value.index()]) {
                    f.set_operand(user, index, param)?;
                }
            }
        }
        values.iter().for_each(|value| param_for[value.index()] = None);
    }
    Ok(())
}
