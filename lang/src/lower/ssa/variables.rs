//! Slots, and the order in which loops assign them.

use regraft_ir::Symbol;

use super::{BlockId, Body, Slot, Val};

impl Body {
    pub(in crate::lower) fn new_slot(&mut self, name: Option<Symbol>) -> Slot {
        self.slot_names.push(name);
        self.seen.push(0);
        self.ssa.declare()
    }

    /// Gives a slot a value.
    #[inline]
    pub(in crate::lower) fn write(&mut self, slot: Slot, value: Val) {
        self.log.push(slot);
        self.ssa.write(slot, value);
    }

    /// Gives a slot a value without this being an assignment of the program.
    #[inline]
    pub(in crate::lower) fn set(&mut self, slot: Slot, value: Val) {
        self.ssa.write(slot, value);
    }

    /// The value of a slot; one without a value, or a parameter that may be, where it has none.
    #[inline]
    pub(in crate::lower) fn read(&mut self, slot: Slot) -> Val {
        self.ssa.read(slot)
    }

    /// Returns whether a parameter stands for itself, in a block that control gets to.
    pub(in crate::lower) fn is_live_phi(&self, phi: u32) -> bool {
        self.ssa.is_own(phi) && self.blocks[self.ssa.phi(phi).block.0 as usize].alive
    }

    /// Returns the replacement of a value.
    #[inline]
    pub(in crate::lower) fn find(&mut self, value: Val) -> Val {
        self.ssa.find(value)
    }

    // --- loops -------------------------------------------------------------------------------

    /// Marks the beginning of a loop in the log of assignments.
    pub(in crate::lower) fn begin_loop(&self) -> usize {
        self.log.len()
    }

    /// Notes for the header of a loop which slots were written in it, `state` first.
    pub(in crate::lower) fn end_loop(
        &mut self,
        header: BlockId,
        begin: usize,
        state: Option<Slot>,
    ) {
        self.loops += 1;
        let start = self.orders.len();
        if let Some(state) = state {
            self.seen[state.0 as usize] = self.loops;
            self.orders.push(state);
        }
        // What the loop wrote is kept once for the loops around it.
        let mut kept = begin;
        for i in begin..self.log.len() {
            let slot = self.log[i];
            let seen = &mut self.seen[slot.0 as usize];
            if *seen != self.loops {
                *seen = self.loops;
                self.orders.push(slot);
                self.log[kept] = slot;
                kept += 1;
            }
        }
        self.log.truncate(kept);
        self.blocks[header.0 as usize].order = (start as u32, self.orders.len() as u32);
    }
}
