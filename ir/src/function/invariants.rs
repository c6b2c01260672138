//! The invariants of the links of a function, checked from the outside in. Every method
//! that changes a function keeps it; this is how tests, and the verifier in debug builds, see
//! that it did.

use super::{Function, NIL, State};
use crate::{Block, Op, OperandKind, Value};

/// The owner of a slot that has none; no instruction is named so.
const NOBODY: Value = Value::NONE;

impl Function {
    /// Checks that blocks, parameters, instructions, operand slots and use lists hang together:
    /// every list is symmetrical and its labels increase, everything live is in exactly one
    /// place, each slot belongs to one instruction and is exactly once in the use list of what
    /// it holds, and the counts are right. O(size).
    ///
    /// # Errors
    /// The first thing that is wrong. It is always a bug of this crate: no use of its API can
    /// bring it about.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.check_layout()?;
        let mut live = 0;
        for b in self.blocks() {
            live += self.check_block(b)?;
        }
        let records = self.values.iter().filter(|(_, data)| is_defined(data.op)).count();
        if live != self.live_values as usize || records != live {
            return Err(format!(
                "{live} values are in blocks, {records} records are live, the count says {}",
                self.live_values
            ));
        }
        let owners = self.check_slots()?;
        self.check_use_lists(&owners)
    }

    fn check_layout(&self) -> Result<(), String> {
        let (mut count, mut prev, mut at) = (0u32, Block::NONE, self.first_block);
        while let Some(b) = at.some() {
            let Some(data) = self.blocks.get(b) else {
                return Err(format!("{b} is in the layout, but of another function"));
            };
            if data.state != State::Live || data.prev != prev || data.term.block != b {
                return Err(format!("the links of {b} are wrong: {data:?}"));
            }
            if prev.some().is_some_and(|prev| self.blocks[prev].seq >= data.seq) {
                return Err(format!("the label of {b} is not greater than that of {prev}"));
            }
            count += 1;
            if count > self.live_blocks {
                return Err(format!("there are more blocks than {}", self.live_blocks));
            }
            (prev, at) = (b, data.next);
        }
        let live = self.blocks.iter().filter(|(_, data)| data.state == State::Live).count();
        if self.last_block != prev || count != self.live_blocks || live != count as usize {
            return Err(format!("of {live} live blocks {count} are in the layout"));
        }
        Ok(())
    }

    /// Checks the two lists of a block, and returns how many values are in them.
    fn check_block(&self, b: Block) -> Result<usize, String> {
        let block = &self.blocks[b];
        let params = self.check_list(b, block.first_param, block.last_param, true)?;
        if params != block.param_count as usize {
            return Err(format!("{b} has {params} parameters, not {}", block.param_count));
        }
        if !is_defined(block.term.op) && (block.term.op != Op::MISSING || block.term.len != 0) {
            return Err(format!("the terminator of {b} is a {:?}", block.term.op));
        }
        Ok(params + self.check_list(b, block.first, block.last, false)?)
    }

    fn check_list(
        &self,
        b: Block,
        first: Value,
        last: Value,
        params: bool,
    ) -> Result<usize, String> {
        let (mut count, mut prev, mut at) = (0usize, Value::NONE, first);
        while let Some(v) = at.some() {
            let Some(data) = self.values.get(v) else {
                return Err(format!("{v} is in {b}, but of another function"));
            };
            let right = data.block == b && data.prev == prev && is_defined(data.op);
            if !right || (data.op == Op::PARAM) != params {
                return Err(format!("the links of {v} in {b} are wrong: {data:?}"));
            }
            if params && data.slots as usize != count {
                return Err(format!("{v} is parameter {count} of {b}, not {}", data.slots));
            }
            if !params && prev.some().is_some_and(|prev| self.values[prev].seq >= data.seq) {
                return Err(format!("the label of {v} is not greater than that of {prev}"));
            }
            count += 1;
            if count > self.values.len() {
                return Err(format!("the list of {b} goes in a circle"));
            }
            (prev, at) = (v, data.next);
        }
        if prev == last { Ok(count) } else { Err(format!("{b} ends with {prev}, not {last}")) }
    }

    /// The owner of each slot, after a check that it is the one that the slot names.
    fn check_slots(&self) -> Result<Vec<Value>, String> {
        let mut owners = vec![NOBODY; self.slots.len()];
        let mut owned = 0;
        for v in self.all_insts() {
            let data = self.data(v);
            let range = data.slots as usize..data.slots as usize + usize::from(data.len);
            let (Some(slots), Some(own)) = (self.slots.get(range.clone()), owners.get_mut(range))
            else {
                return Err(format!("the operands of {v} are out of range"));
            };
            for (slot, owner) in slots.iter().zip(own) {
                if *owner != NOBODY || slot.user != v {
                    return Err(format!("a slot of {v} says {}, and {owner} has it", slot.user));
                }
                *owner = v;
            }
            owned += usize::from(data.len);
        }
        if owned + self.dead_slots as usize != self.slots.len() {
            let all = self.slots.len();
            return Err(format!("of {all} slots {owned} are live and {} dead", self.dead_slots));
        }
        Ok(owners)
    }

    fn check_use_lists(&self, owners: &[Value]) -> Result<(), String> {
        let mut seen = vec![false; self.slots.len()];
        let mut walk = |head: u32, held: OperandKind| -> Result<(), String> {
            let (mut prev, mut at) = (NIL, head);
            while at != NIL {
                let index = at as usize;
                let Some(slot) = self.slots.get(index) else {
                    return Err(format!("the use list of {held:?} leads out of range"));
                };
                if std::mem::replace(&mut seen[index], true) {
                    return Err(format!("a slot of {} is in use lists twice", slot.user));
                }
                let right = slot.operand.kind() == held && slot.prev == prev;
                if !right || owners[index] == NOBODY {
                    return Err(format!("the use list of {held:?} is wrong at {slot:?}"));
                }
                (prev, at) = (at, slot.next);
            }
            Ok(())
        };
        for (v, data) in self.values.iter() {
            walk(data.first_use, OperandKind::Value(v))?;
        }
        for (b, data) in self.blocks.iter() {
            walk(data.first_use, OperandKind::Block(b))?;
        }
        for (index, slot) in self.slots.iter().enumerate() {
            let listed = slot.operand.as_const().is_none();
            if owners[index] != NOBODY && seen[index] != listed {
                return Err(format!("{slot:?} is missing in a use list, or is in one"));
            }
            if !listed && (slot.next, slot.prev) != (NIL, NIL) {
                return Err(format!("{slot:?} holds a constant and has links"));
            }
        }
        Ok(())
    }
}

/// Returns whether it is the op of something that stands in a block.
fn is_defined(op: Op) -> bool {
    op != Op::DEAD && op != Op::MISSING
}

/// Breaks an invariant, which no method does: for tests of the checks.
#[cfg(test)]
impl Function {
    pub(crate) fn corrupt_op(&mut self, v: Value, op: Op) {
        self.data_mut(v).op = op;
    }

    pub(crate) fn corrupt_operand(&mut self, v: Value, index: usize, operand: crate::Operand) {
        let slot = self.data(v).slots as usize + index;
        self.slots[slot].operand = operand;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ADD, BR, NOTE, Random, context, inst, pow};
    use crate::{Inst, Operand, Type};

    #[test]
    fn every_corruption_is_found() {
        let good = pow(&context());
        good.check_invariants().unwrap();
        let [v1, v3, v6, v7] = [1, 3, 6, 7].map(|n| good.value_by_number(n).unwrap());
        let [b1, b2] = [1, 2].map(|n| good.block_by_number(n).unwrap());
        type Corruption<'a> = (&'a str, &'a dyn Fn(&mut Function));
        let corruptions: [Corruption<'_>; 13] = [
            ("value count", &|f| f.live_values += 1),
            ("block count", &|f| f.live_blocks -= 1),
            ("last block", &|f| f.last_block = b2),
            ("block label", &|f| f.blocks[b2].seq = 0),
            ("parameter position", &|f| f.values[v3].slots = 1),
            ("parameter count", &|f| f.blocks[b1].param_count = 1),
            ("instruction label", &|f| f.values[v7].seq = f.values[v6].seq),
            ("instruction link", &|f| f.values[v7].prev = Value::NONE),
            ("block of a value", &|f| f.values[v7].block = b2),
            ("user of a slot", &|f| f.slots[0].user = v1),
            ("operand of a slot", &|f| f.slots[1].operand = v1.into()),
            ("head of a use list", &|f| f.values[v1].first_use = NIL),
            ("dead slots", &|f| f.dead_slots = 1),
        ];
        for (what, corrupt) in corruptions {
            let mut f = good.clone();
            corrupt(&mut f);
            assert!(f.check_invariants().is_err(), "{what}");
        }
    }

    /// Edits at random; each method has to leave everything in order.
    #[test]
    fn random_edits_keep_the_invariants() {
        let ctx = context();
        let mut random = Random(0x0123_4567_89ab_cdef);
        for _ in 0..40 {
            let mut f = pow(&ctx);
            let x = f.value_by_number(2).unwrap();
            let mut values = vec![x];
            for _ in 0..60 {
                let any =
                    |random: &mut Random, values: &[Value]| values[random.below(values.len())];
                let (v, w) = (any(&mut random, &values), any(&mut random, &values));
                let add = inst(ADD, [v.into(), w.into()]);
                let blocks: Vec<Block> = f.blocks().collect();
                let b = blocks[random.below(blocks.len())];
                // What is refused must leave the function as it was, too.
                match random.below(13) {
                    0 => values.extend(f.insert(v, add)),
                    1 => values.extend(f.insert_after(v, add)),
                    2 => values.extend(f.push(b, add)),
                    3 => values.extend(f.push_front(b, add)),
                    4 => drop(f.replace(v, Inst::new(NOTE).operands([w, w, w]).operand(x))),
                    5 => drop(f.replace_all_uses(v, w)),
                    6 => drop(f.delete_tree(v)),
                    7 => drop(f.set_operand(v, 1, ctx.constant_id(7i64))),
                    8 => drop(f.split_block(v)),
                    9 => values.extend(f.add_param(b, Type::I64, |_| Some(Operand::from(x)))),
                    10 => drop(f.remove_param(v)),
                    11 => drop(f.move_before(v, w)),
                    _ => {
                        let edges = f.in_edges_in_order(b);
                        if let Some(&edge) = edges.get(random.below(edges.len().max(1))) {
                            f.split_edge(edge).unwrap();
                        }
                    }
                }
                f.check_invariants().unwrap_or_else(|error| panic!("{error}\n{f}"));
                values.retain(|&v| f.is_live(v));
            }
            for (a, b) in f.blocks().zip(f.blocks().skip(1)).collect::<Vec<_>>() {
                if f.is_live_block(a) && f.is_live_block(b) {
                    let _ = f.merge_blocks(a, b);
                    f.check_invariants().unwrap();
                }
            }
            let order: Vec<Block> = f.blocks().take(1).collect();
            let rest: Vec<Block> = f.blocks().skip(1).collect();
            let order: Vec<Block> = order.into_iter().chain(rest.into_iter().rev()).collect();
            f.permute_blocks(&order).unwrap();
            f.check_invariants().unwrap();
            let last = *order.last().unwrap();
            let _ = f.set_terminator(last, inst(BR, [last.into()]));
            f.check_invariants().unwrap();
            f.compact();
            f.check_invariants().unwrap();
            f.renumber();
            f.check_invariants().unwrap();
        }
    }
}
