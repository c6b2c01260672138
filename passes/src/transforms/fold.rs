//! Replaces instructions whose result is known by that result: a constant, or one of their
//! operands.
//!
//! ```text
//! %2: i64 = arith.mul 6, 7
//! %3: i64 = arith.add %1, 0       =>
//! %4: i64 = arith.sub %2, %3           %4: i64 = arith.sub 42, %1
//! ```
//!
//! # Method
//! What an instruction folds to stands with its op ([`OpDef::fold`](regraft_ir::OpDef::fold)) and
//! depends on its operands alone. Blocks are visited in reverse postorder, where a value that
//! dominates an instruction stands before it; so all operands are as simple as they get when
//! their user is visited, and one sweep reaches the fixpoint. Branches on constants are left to
//! `simplify-cfg`.
//!
//! # Why it is right
//! Folds are exact, bit for bit, traps included. Two things remain to be seen to here. An operand
//! that is `any` may make the instruction trap when the program runs, whatever its op says; such
//! an instruction is not folded. And if the result is of a subtype of that of the
//! instruction, a user may not accept it (it would have trapped); then this use stays as it is.
//!
//! # Cost
//! O(instructions + operands + uses moved); a use moves at most once, as what it moves to is
//! final. Unreachable blocks are not looked at.

use regraft_ir::{ControlFlow, Fold as Folded, Function, Operand, Value};

use crate::transforms::util::edit::replace_where_it_fits;
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Replaces instructions whose result is known: constants are computed, identities go.
    ///
    /// ```text
    /// %2: i64 = arith.mul 6, 7
    /// %3: i64 = arith.add %1, 0       =>
    /// %4: i64 = arith.sub %2, %3           %4: i64 = arith.sub 42, %1
    /// ```
    ///
    /// All of it is exact, bit for bit, NaN and signed zeros included, and a trap stays a trap.
    #[derive(Debug, Default)]
    pub struct Fold;
}

impl FunctionPass for Fold {
    const NAME: &'static str = "fold";
    const DOC: &'static str = Self::PAGE;

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let cfg = cx.analysis::<ControlFlow>(f);
        let mut folded = 0;
        for block in cfg.reverse_postorder() {
            let mut next = f.first_inst(block);
            while let Some(v) = next {
                next = f.next_inst(v);
                if let Some(result) = known_result(f, v)
                    && replace_where_it_fits(f, v, result)?
                {
                    f.delete(v)?;
                    folded += 1;
                }
            }
        }
        cx.add("instructions folded", folded);
        Ok(())
    }
}

/// Returns what an instruction always equals, if its op knows.
#[inline]
pub(super) fn known_result(f: &Function, v: Value) -> Option<Operand> {
    let fold = f.op_def(v)?.fold?;
    let result = f.with_view(v, fold)?;
    if f.checks_operands(v) {
        return None;
    }
    match result {
        Folded::Constant(constant) => Some(f.constant_id(constant).into()),
        Folded::Operand(position) => f.operand(v, position),
    }
}
