//! Use lists: each operand slot is a link of the list of what it holds.

use super::{Function, NIL, Slot};
use crate::{IrError, IrResult, Operand, OperandKind, Use, Value};

/// An instruction with more operands than this has a power of two of slots, so that it can get others one by one: memory
/// stays linear in the number of operands.
const MAX_EXACT: usize = 16;

/// The number of slots for so many operands.
fn room(len: usize) -> usize {
    if len <= MAX_EXACT { len } else { len.next_power_of_two() }
}

/// The position in the lists of lost slots of those for so many operands.
fn size_class(len: usize) -> usize {
    if len <= MAX_EXACT {
        return len;
    }
    MAX_EXACT + (room(len) / MAX_EXACT).ilog2() as usize
}

impl Function {
    #[inline]
    fn use_head(&mut self, operand: Operand) -> Option<&mut u32> {
        match operand.kind() {
            OperandKind::Value(v) => Some(&mut self.values[v].first_use),
            OperandKind::Block(b) => Some(&mut self.blocks[b].first_use),
            OperandKind::Const(_) => None,
        }
    }

    /// Puts the slot at `index` into the use list of what it holds.
    #[inline]
    fn link(&mut self, index: u32) {
        let operand = self.slots[index as usize].operand;
        self.slots[index as usize].next = self.link_head(operand, index);
    }

    /// Makes the slot at `index`, which holds `operand`, the first of its use list, and returns
    /// what was the first.
    #[inline]
    fn link_head(&mut self, operand: Operand, index: u32) -> u32 {
        let Some(head) = self.use_head(operand) else { return NIL };
        let next = std::mem::replace(head, index);
        if next != NIL {
            self.slots[next as usize].prev = index;
        }
        next
    }

    #[inline]
    fn unlink(&mut self, index: u32) {
        let Slot { operand, next, prev, .. } = self.slots[index as usize];
        if next != NIL {
            self.slots[next as usize].prev = prev;
        }
        if prev != NIL {
            self.slots[prev as usize].next = next;
        } else if let Some(head) = self.use_head(operand) {
            *head = next;
        }
        let slot = &mut self.slots[index as usize];
        (slot.next, slot.prev) = (NIL, NIL);
    }

    /// Makes slots with `operands` for `user` and returns the first.
    #[inline]
    pub(super) fn add_slots(&mut self, user: Value, operands: &[Operand]) -> u32 {
        let class = size_class(operands.len());
        if let Some(first) = self.lost_slots.get_mut(class).and_then(Vec::pop) {
            self.dead_slots -= operands.len() as u32;
            for (index, &operand) in (first..).zip(operands) {
                self.slots[index as usize] = Slot { operand, user, next: NIL, prev: NIL };
                self.link(index);
            }
            return first;
        }
        let first = self.slots.len() as u32;
        let room = room(operands.len());
        self.slots.reserve(room);
        for (i, &operand) in operands.iter().enumerate() {
            // A value can be an operand twice: the earlier slot has to be there to be linked to.
            let next = self.link_head(operand, first + i as u32);
            self.slots.push(Slot { operand, user, next, prev: NIL });
        }
        for _ in operands.len()..room {
            self.slots.push(Slot { operand: operands[0], user, next: NIL, prev: NIL });
            self.dead_slots += 1;
        }
        first
    }

    /// Notes slots that nobody owns any more, for others with about as many operands.
    fn lose_slots(&mut self, first: u32, len: u32) {
        self.dead_slots += len;
        let class = size_class(len as usize);
        if class > 0 {
            if self.lost_slots.len() <= class {
                self.lost_slots.resize(class + 1, Vec::new());
            }
            self.lost_slots[class].push(first);
        }
    }

    /// Takes all operands of `user` out of their use lists. The slots are lost until others need about as
    /// many, or the function is compacted.
    pub(super) fn drop_slots(&mut self, user: Value) {
        let data = self.data_mut(user);
        let (first, len) = (data.slots, u32::from(data.len));
        data.len = 0;
        for index in first..first + len {
            self.unlink(index);
        }
        self.lose_slots(first, len);
    }

    /// Gives `user` these operands in place of those it has; in the same slots if there are as many.
    pub(super) fn replace_slots(&mut self, user: Value, operands: &[Operand]) {
        let data = self.data(user);
        let (first, len) = (data.slots, usize::from(data.len));
        if operands.len() != len {
            self.drop_slots(user);
            let first = self.add_slots(user, operands);
            let data = self.data_mut(user);
            (data.slots, data.len) = (first, operands.len() as u16);
            return;
        }
        for (i, &operand) in operands.iter().enumerate() {
            self.set_slot(first + i as u32, operand);
        }
    }

    fn set_slot(&mut self, index: u32, operand: Operand) {
        if self.slots[index as usize].operand != operand {
            self.unlink(index);
            self.slots[index as usize].operand = operand;
            self.link(index);
        }
    }

    /// Makes every use of `old` a use of `new`, which takes its name as
    /// [`Function::transfer_name`] does. O(uses of `old`).
    ///
    /// # Errors
    /// The errors of [`Function::replace_all_uses`].
    pub fn replace_named(&mut self, old: Value, new: impl Into<Operand> + Copy) -> IrResult<()> {
        self.transfer_name(old, new);
        self.replace_all_uses(old, new)
    }

    /// Makes every use of `old` a use of `new`. O(uses of `old`).
    ///
    /// # Errors
    /// If either is stale, if `new` is a terminator or an edge target, or if the type of `new`
    /// cannot stand for that of `old`.
    pub fn replace_all_uses(&mut self, old: Value, new: impl Into<Operand>) -> IrResult<()> {
        let new = new.into();
        self.check_replacement(old, new)?;
        let head = self.values[old].first_use;
        if head == NIL || new == Operand::from(old) {
            return Ok(());
        }
        self.epochs.insts += 1;
        let (mut index, mut last) = (head, head);
        while index != NIL {
            self.slots[index as usize].operand = new;
            (last, index) = (index, self.slots[index as usize].next);
        }
        self.values[old].first_use = NIL;
        match self.use_head(new) {
            Some(new_head) => {
                let next = std::mem::replace(new_head, head);
                self.slots[last as usize].next = next;
                if next != NIL {
                    self.slots[next as usize].prev = last;
                }
            }
            None => {
                // Uses of constants are in no list.
                let mut index = head;
                while index != NIL {
                    let slot = &mut self.slots[index as usize];
                    index = std::mem::replace(&mut slot.next, NIL);
                    slot.prev = NIL;
                }
            }
        }
        Ok(())
    }

    /// Makes those uses of `old` that `which` accepts uses of `new`. O(uses of `old`).
    ///
    /// # Errors
    /// As [`Function::replace_all_uses`].
    pub fn replace_uses_if(
        &mut self,
        old: Value,
        new: impl Into<Operand>,
        mut which: impl FnMut(&Self, Use) -> bool,
    ) -> IrResult<()> {
        let new = new.into();
        self.check_replacement(old, new)?;
        if new == Operand::from(old) {
            return Ok(());
        }
        let mut index = self.values[old].first_use;
        while index != NIL {
            let Slot { user, next, .. } = self.slots[index as usize];
            let position = index - self.data(user).slots;
            if which(self, Use { user, index: position }) {
                self.set_slot(index, new);
                self.epochs.insts += 1;
            }
            index = next;
        }
        Ok(())
    }

    pub(super) fn check_replacement(&self, old: Value, new: Operand) -> IrResult<()> {
        // A reserved value can have uses to be replaced, as any operand can.
        self.check_operand(old.into())?;
        self.check_operand(new)?;
        if new.is_block() {
            return Err(IrError::misplaced_edge(self));
        }
        let (have, want) = (self.operand_type(new), self.ty(old));
        if have.is_assignable_to(want) {
            Ok(())
        } else {
            Err(IrError::replacement_type(self, old, new))
        }
    }

    /// Changes one operand of an instruction.
    ///
    /// # Errors
    /// If something is stale, if there is no such operand, if an edge target would become a
    /// value or the reverse, or if the types no longer agree with the signature of the op or the
    /// parameter that an argument of an edge is for.
    pub fn set_operand(
        &mut self,
        user: Value,
        index: usize,
        operand: impl Into<Operand>,
    ) -> IrResult<()> {
        let operand = operand.into();
        self.checked(user)?;
        self.check_operand(operand)?;
        let Some(old) = self.operand(user, index) else {
            return Err(IrError::no_operand(self, user, index));
        };
        if old.is_block() != operand.is_block() {
            return Err(IrError::misplaced_edge(self));
        }
        if old == operand {
            return Ok(());
        }
        let slot = self.data(user).slots + index as u32;
        if old.is_block() {
            self.set_slot(slot, operand);
            if let Err(error) = self.check_terminator(user) {
                self.set_slot(slot, old);
                return Err(error);
            }
            self.epochs.cfg += 1;
        } else {
            let (have, was) = (self.operand_type(operand), self.operand_type(old));
            self.set_slot(slot, operand);
            // An operand of the same type cannot upset the signature, unless a constant
            // operand takes part in the type (as a field name does).
            if (have != was || old.as_const().is_some())
                && let Err(error) =
                    self.check_inst(user).and_then(|()| self.check_argument(user, index))
            {
                self.set_slot(slot, old);
                return Err(error);
            }
        }
        self.epochs.insts += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inst;
    use crate::testing::{BR, context, pow};

    #[test]
    fn slots_that_are_lost_are_found_again() {
        let mut f = pow(&context());
        let before = f.to_string();
        let [b1, b4] = [1, 4].map(|n| f.block_by_number(n).unwrap());
        let long: Vec<Operand> = f.operands(Value::terminator(b1)).collect();
        for _ in 0..10_000 {
            f.set_terminator(b1, Inst::new(BR).operands([Operand::from(b4)])).unwrap();
            f.set_terminator(b1, Inst::new(BR).operands(long.iter().copied())).unwrap();
        }
        assert!(f.slots.len() < 100, "{}", f.slots.len());
        f.check_invariants().unwrap();
        assert_eq!(f.to_string(), before);
    }
}
