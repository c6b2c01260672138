//! Conditions, and the values of what is evaluated on some ways only.
//!
//! A condition of several parts branches at once: `a && b` goes to where the condition fails from
//! two blocks, and makes no value.

use regraft_ir::Loc;
use regraft_syntax::julia::{ExprId, Kind, List};

use super::Lower;
use super::ssa::{BlockId, Slot, Val};

impl Lower<'_> {
    /// Goes to one of two blocks.
    pub(super) fn condition(&mut self, id: ExprId, then: BlockId, otherwise: BlockId) {
        stacker::maybe_grow(160 << 10, 2 << 20, || match self.ast.kind(id) {
            Kind::And(a, b) => {
                let next = self.code.body.new_block();
                self.condition(a, next, otherwise);
                self.code.body.seal_and_start(next);
                self.condition(b, then, otherwise);
            }
            Kind::Or(a, b) => {
                let next = self.code.body.new_block();
                self.condition(a, then, next);
                self.code.body.seal_and_start(next);
                self.condition(b, then, otherwise);
            }
            Kind::Compare { parts } => self.compare(parts, otherwise, |lower, holds, loc| {
                lower.code.body.branch(holds, then, otherwise, loc);
            }),
            Kind::Block(list) if !list.is_empty() => {
                let (last, front) = self.ast.list(list).split_last().expect("it is not empty");
                for &id in front {
                    self.stmt(id);
                }
                self.condition(*last, then, otherwise);
            }
            _ => {
                let value = self.expr(id);
                let loc = self.loc(id);
                self.code.body.branch(value, then, otherwise, loc);
            }
        });
    }

    /// A chain of comparisons: each operand is evaluated once, and none after a comparison that
    /// fails, which goes to `no`. What becomes of the last comparison is for `last` to say.
    fn compare(&mut self, parts: List, no: BlockId, last: impl FnOnce(&mut Self, Val, Loc)) {
        let parts = self.ast.list(parts);
        let Some((&first, rest)) = parts.split_first() else { return };
        let mut left = self.expr(first);
        let mut pairs = rest.chunks_exact(2);
        while let Some(&[op, operand]) = pairs.next() {
            let loc = self.loc(op);
            let callee = self.callee(op);
            let right = self.expr(operand);
            let holds = self.call_values(callee, &[left, right], loc);
            if pairs.len() == 0 {
                return last(self, holds, loc);
            }
            let next = self.code.body.new_block();
            self.code.body.branch(holds, next, no, loc);
            self.code.body.seal_and_start(next);
            left = right;
        }
    }

    /// The value of an `if`, `&&`, `||` or chain of comparisons.
    pub(super) fn control_value(&mut self, id: ExprId) -> Val {
        let loc = self.loc(id);
        let result = self.code.body.new_slot(None);
        let end = self.code.body.new_block();
        let (yes, no) = (self.code.body.new_block(), self.code.body.new_block());
        match self.ast.kind(id) {
            Kind::If { condition, then, otherwise } => {
                self.condition(condition, yes, no);
                self.arm(yes, Ok(then), result, end, loc);
                let otherwise = match otherwise {
                    Some(otherwise) => Ok(otherwise),
                    None => Err(self.unit()),
                };
                self.arm(no, otherwise, result, end, loc);
            }
            Kind::And(a, b) => {
                let value = self.finish.no;
                self.condition(a, yes, no);
                self.arm(yes, Ok(b), result, end, loc);
                self.arm(no, Err(value), result, end, loc);
            }
            Kind::Or(a, b) => {
                let value = self.finish.yes;
                self.condition(a, yes, no);
                self.arm(yes, Err(value), result, end, loc);
                self.arm(no, Ok(b), result, end, loc);
            }
            // `a < b < c`: the value of the last comparison, or `false`.
            Kind::Compare { parts } => {
                let value = self.finish.no;
                self.compare(parts, no, |lower, holds, loc| {
                    lower.code.body.set(result, holds);
                    lower.code.body.jump(end, loc);
                });
                self.arm(no, Err(value), result, end, loc);
            }
            _ => return self.unit(),
        }
        self.code.body.seal_and_start(end);
        self.code.body.read(result)
    }

    /// One way to a value: an expression, or the value itself.
    fn arm(
        &mut self,
        block: BlockId,
        value: Result<ExprId, Val>,
        result: Slot,
        end: BlockId,
        loc: Loc,
    ) {
        self.code.body.seal_and_start(block);
        let value = match value {
            Ok(id) => self.expr(id),
            Err(value) => value,
        };
        self.code.body.set(result, value);
        self.code.body.jump(end, loc);
    }
}
