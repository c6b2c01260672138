//! Deleting many values at once, which may use each other.

use rustc_hash::FxHashSet;

use super::{Function, ValueData};
use crate::inst::Operands;
use crate::{Block, IrError, IrResult, Op, OperandKind, Value};

/// A set of values and one of blocks, by index.
struct Marks {
    values: Vec<bool>,
    blocks: Vec<bool>,
}

/// The new terminators of blocks that pass arguments to parameters which go.
#[derive(Default)]
struct Trimmed {
    /// The blocks that they end, with the number of operands that stay.
    terminators: Vec<(Block, usize)>,
    /// The operands that stay, one terminator after the other.
    operands: Operands,
    /// The uses that go, if they are in a terminator: the block and the position.
    gone: FxHashSet<(Block, u32)>,
}

impl Function {
    /// Deletes instructions and parameters, which may use each other in any way, as the values
    /// of a dead loop do. The arguments that entering edges pass for a parameter go with it.
    ///
    /// O(values that go, their uses, and the operands of the terminators that lose arguments),
    /// and a byte for each value of the function.
    ///
    /// # Errors
    /// If one is stale, a terminator, or used by something that does not go with it; then
    /// nothing has changed.
    pub fn delete_all(&mut self, values: &[Value]) -> IrResult<()> {
        if values.is_empty() {
            return Ok(());
        }
        let mut marks = Marks {
            values: vec![false; self.value_capacity()],
            blocks: vec![false; self.block_capacity()],
        };
        let mut blocks = Vec::new();
        for &v in values {
            let data = self.checked(v)?;
            if v.is_terminator() {
                return Err(IrError::not_an_inst(self, v, "delete"));
            }
            let block = data.block;
            marks.values[v.index()] = true;
            if data.op == Op::PARAM && !marks.blocks[block.index()] {
                marks.blocks[block.index()] = true;
                blocks.push(block);
            }
        }
        let trimmed = self.trim_edges(&blocks, &marks);
        for &v in values {
            let goes = |user: Value, index: u32| match user.terminated_block() {
                Some(b) => trimmed.gone.contains(&(b, index)),
                None => marks.values[user.index()],
            };
            if self.uses(v).any(|u| !goes(u.user, u.index)) {
                return Err(IrError::still_used(self, v));
            }
        }
        // From here on nothing fails. First every use goes, then what was used.
        let mut rest = trimmed.operands.as_slice();
        for &(from, len) in &trimmed.terminators {
            let (operands, others) = rest.split_at(len);
            self.replace_slots(Value::terminator(from), operands);
            rest = others;
        }
        for &v in values {
            if self.values[v].op != Op::PARAM {
                self.drop_slots(v);
            }
        }
        for block in blocks {
            self.unlink_params(block, &marks.values);
            self.epochs.types += 1;
        }
        for &v in values {
            match self.values[v].op {
                // It was in the list twice.
                Op::DEAD => {}
                Op::PARAM => self.bury(v),
                _ => self.remove_inst(v),
            }
        }
        Ok(())
    }

    /// The operands of all terminators that enter `blocks` without the arguments of marked
    /// parameters.
    fn trim_edges(&self, blocks: &[Block], marks: &Marks) -> Trimmed {
        let mut trimmed = Trimmed::default();
        let mut seen = vec![false; if blocks.is_empty() { 0 } else { self.block_capacity() }];
        for &block in blocks {
            for edge in self.in_edges(block) {
                if !std::mem::replace(&mut seen[edge.from.index()], true) {
                    self.trim_terminator(edge.from, marks, &mut trimmed);
                }
            }
        }
        trimmed
    }

    fn trim_terminator(&self, from: Block, marks: &Marks, trimmed: &mut Trimmed) {
        let start = trimmed.operands.len();
        // The parameter that the next operand is for, in an edge that loses arguments.
        let mut param = Value::NONE;
        for (index, operand) in self.operands(Value::terminator(from)).enumerate() {
            if let OperandKind::Block(target) = operand.kind() {
                let loses = marks.blocks[target.index()];
                param = if loses { self.blocks[target].first_param } else { Value::NONE };
            } else if let Some(at) = param.some() {
                param = self.values[at].next;
                if marks.values[at.index()] {
                    trimmed.gone.insert((from, index as u32));
                    continue;
                }
            }
            trimmed.operands.push(operand);
        }
        trimmed.terminators.push((from, trimmed.operands.len() - start));
    }

    /// Takes the marked parameters of a block out of its list and renumbers the others.
    fn unlink_params(&mut self, block: Block, marks: &[bool]) {
        let (mut at, mut last, mut count) = (self.blocks[block].first_param, Value::NONE, 0);
        self.blocks[block].first_param = Value::NONE;
        while let Some(param) = at.some() {
            let ValueData { next, .. } = self.values[param];
            at = next;
            if marks[param.index()] {
                continue;
            }
            let data = &mut self.values[param];
            (data.prev, data.next, data.slots) = (last, Value::NONE, count);
            match last.some() {
                Some(last) => self.values[last].next = param,
                None => self.blocks[block].first_param = param,
            }
            (last, count) = (param, count + 1);
        }
        let data = &mut self.blocks[block];
        (data.last_param, data.param_count) = (last, count);
    }
}

#[cfg(test)]
mod tests {
    use crate::error::IrErrorKind;
    use crate::testing::{context, pow};
    use crate::{Operand, Value};

    #[test]
    fn values_that_feed_each_other_go_with_the_arguments_for_them() {
        let mut f = pow(&context());
        let [x, n, m, r, _, less, more] =
            [1, 2, 3, 4, 5, 6, 7].map(|i| f.value_by_number(i).unwrap());
        let [entry, head, body, exit] = [1, 2, 3, 4].map(|i| f.block_by_number(i).unwrap());
        f.set_operand(Value::terminator(exit), 0, x).unwrap();
        // The product is used by its parameter alone now, and the parameter by the product.
        f.delete_all(&[r, more]).unwrap();
        f.check_invariants().unwrap();
        assert!(!f.is_live(r) && !f.is_live(more));
        assert_eq!(f.params(head).collect::<Vec<_>>(), [m]);
        for (from, arg) in [(entry, n), (body, less)] {
            let edge = f.out_edges(from).next().unwrap();
            assert_eq!(f.edge_args(edge).collect::<Vec<_>>(), [Operand::from(arg)]);
        }
    }

    #[test]
    fn nothing_goes_if_one_is_used_by_what_stays() {
        let mut f = pow(&context());
        let [m, less] = [3, 6].map(|i| f.value_by_number(i).unwrap());
        let before = f.clone();
        // `%5` compares the counter.
        let error = f.delete_all(&[m, less]).unwrap_err();
        assert_eq!(error.kind(), IrErrorKind::StillUsed);
        f.check_invariants().unwrap();
        assert!(f.structural_eq(&before));
    }
}
