//! Gives a function a single block that returns.
//!
//! ```text
//! ^1(%1: i64):                         ^1(%1: i64):
//!   %2: bool = arith.lt %1, 0            %2: bool = arith.lt %1, 0
//!   br %2, ^2, ^3                        br %2, ^2, ^3
//! ^2:                                  ^2:
//!   return 0                     =>      br ^4(0)
//! ^3:                                  ^3:
//!   return %1                            br ^4(%1)
//!                                      ^4(%3: i64):
//!                                        return %3
//! ```
//!
//! Nothing but the place of the return changes: what was returned is passed to a parameter of
//! the type that the function returns, which the new block returns. Functions that return in
//! one place or nowhere stay as they are. O(blocks).

use regraft_ir::{Block, Constant, Function, Inst, Op, Operand, Traits, Value};

use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Gives a function a single block that returns.
    ///
    /// ```text
    /// ^2:                                  ^2:
    ///   return 0                             br ^4(0)
    /// ^3:                            =>    ^3:
    ///   return %1                            br ^4(%1)
    ///                                      ^4(%3: i64):
    ///                                        return %3
    /// ```
    ///
    /// A function that returns in one place, or nowhere, stays as it is.
    #[derive(Debug, Default)]
    pub struct MergeReturns;
}

impl FunctionPass for MergeReturns {
    const NAME: &'static str = "merge-returns";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let returns: Vec<(Block, Op)> =
            f.blocks().filter_map(|block| Some((block, return_op(f, block)?))).collect();
        let &[.., _, (last, op)] = returns.as_slice() else { return Ok(()) };
        let loc = f.loc(Value::terminator(last));
        let ty = f.ret_type();
        let exit = f.add_block();
        let result = f.append_param(exit, ty)?;
        f.set_terminator(exit, Inst::new(op).operand(result).at(loc))?;
        let jump = f.jump_op()?;
        for (block, _) in returns {
            let value = returned(f, block);
            f.set_terminator(block, Inst::new(jump).edge(exit, [value]))?;
        }
        cx.count("functions changed");
        Ok(())
    }
}

/// The op that a block returns with, if it does.
fn return_op(f: &Function, block: Block) -> Option<Op> {
    let def = f.op_def(f.terminator(block)?)?;
    def.traits.contains(Traits::RETURN).then_some(def.op)
}

/// Returns what a block returns: the first operand, or `nothing`.
fn returned(f: &Function, block: Block) -> Operand {
    f.operand(Value::terminator(block), 0).unwrap_or_else(|| f.constant_id(Constant::Unit).into())
}
