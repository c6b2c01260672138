//! Reading and writing variables: sections 2 of Braun et al. 2013, with a list of what is to be
//! done in place of recursion.

use regraft_ir::Symbol;
use smallvec::SmallVec;

use super::{BlockId, Body, Last, NO_BLOCK, PhiData, Slot, Val, ValKind};

impl Body {
    pub(in crate::lower) fn new_slot(&mut self, name: Option<Symbol>) -> Slot {
        let slot = Slot(self.last.len() as u32);
        self.last.push(Last { block: NO_BLOCK, value: Val::UNDEF });
        self.slot_names.push(name);
        self.seen.push(0);
        slot
    }

    /// Gives a slot a value.
    #[inline]
    pub(in crate::lower) fn write(&mut self, slot: Slot, value: Val) {
        self.log.push(slot);
        self.set(slot, value);
    }

    /// Gives a slot a value without this being an assignment of the program.
    #[inline]
    pub(in crate::lower) fn set(&mut self, slot: Slot, value: Val) {
        let last = &mut self.last[slot.0 as usize];
        if last.block != self.current && last.block != NO_BLOCK {
            self.defs.insert((last.block.0, slot.0), last.value);
        }
        *last = Last { block: self.current, value };
    }

    /// Notes what a read found in a block that is not the current one, or for it.
    fn note(&mut self, slot: Slot, block: BlockId, value: Val) {
        let last = &mut self.last[slot.0 as usize];
        if last.block == block {
            last.value = value;
        } else if block == self.current {
            self.set(slot, value);
        } else {
            self.defs.insert((block.0, slot.0), value);
        }
    }

    #[inline]
    fn lookup(&self, slot: Slot, block: BlockId) -> Option<Val> {
        let last = self.last[slot.0 as usize];
        if last.block == block {
            return Some(last.value);
        }
        if self.defs.is_empty() {
            return None;
        }
        self.defs.get(&(block.0, slot.0)).copied()
    }

    /// The value of a slot; [`Val::UNDEF`], or a parameter that may be, where it has none.
    #[inline]
    pub(in crate::lower) fn read(&mut self, slot: Slot) -> Val {
        let last = self.last[slot.0 as usize];
        if last.block == self.current {
            return self.find(last.value);
        }
        let value = self.read_at(slot, self.current);
        if !self.pending.is_empty() {
            self.fill();
        }
        self.find(value)
    }

    /// The value of a slot at the end of a block. Parameters that it makes are put on the list of
    /// those whose arguments are to be found.
    fn read_at(&mut self, slot: Slot, block: BlockId) -> Val {
        let mut at = block;
        let value = loop {
            if let Some(value) = self.lookup(slot, at) {
                break self.find(value);
            }
            let data = &self.blocks[at.0 as usize];
            match data.preds[..] {
                _ if !data.sealed => break self.new_phi(slot, at, false),
                [] => break Val::UNDEF,
                // A cycle of labels alone would be walked around for ever.
                [pred] if !data.label => at = pred,
                _ => break self.new_phi(slot, at, true),
            }
        };
        if at != block || value == Val::UNDEF {
            self.note(slot, block, value);
        }
        value
    }

    fn new_phi(&mut self, slot: Slot, block: BlockId, sealed: bool) -> Val {
        let index = self.phis.len() as u32;
        let phi = Val::phi(index);
        self.phis.push(PhiData { block, slot, args: SmallVec::new(), forward: phi });
        self.blocks[block.0 as usize].phis.push(index);
        self.note(slot, block, phi);
        if sealed {
            self.pending.push(index);
        }
        phi
    }

    /// Finds the arguments of pending parameters.
    pub(super) fn fill(&mut self) {
        let mut filled = std::mem::take(&mut self.filled);
        while let Some(phi) = self.pending.pop() {
            let PhiData { block, slot, .. } = self.phis[phi as usize];
            for i in 0..self.blocks[block.0 as usize].preds.len() {
                let pred = self.blocks[block.0 as usize].preds[i];
                let arg = self.read_at(slot, pred);
                self.phis[phi as usize].args.push(arg);
            }
            filled.push(phi);
        }
        // Those made last are nearest to the definitions.
        for phi in filled.drain(..).rev() {
            self.simplify(phi);
        }
        self.filled = filled;
    }

    /// Lets a parameter stand for its only argument, if it has but one. Returns whether it does.
    pub(in crate::lower) fn simplify(&mut self, phi: u32) -> bool {
        let own = Val::phi(phi);
        if self.phis[phi as usize].forward != own {
            return false;
        }
        let mut only = None;
        for i in 0..self.phis[phi as usize].args.len() {
            let arg = self.find(self.phis[phi as usize].args[i]);
            if arg == own || only == Some(arg) {
                continue;
            }
            if only.is_some() {
                return false;
            }
            only = Some(arg);
        }
        self.phis[phi as usize].forward = only.unwrap_or(Val::UNDEF);
        true
    }

    /// Whether a parameter stands for itself, in a block that control gets to.
    pub(in crate::lower) fn is_live_phi(&self, phi: u32) -> bool {
        let data = &self.phis[phi as usize];
        data.forward == Val::phi(phi) && self.blocks[data.block.0 as usize].alive
    }

    /// Adds a parameter that stands beside the one of a slot.
    pub(in crate::lower) fn add_phi(&mut self, block: BlockId, slot: Slot) -> u32 {
        let index = self.phis.len() as u32;
        let forward = Val::phi(index);
        self.phis.push(PhiData { block, slot, args: SmallVec::new(), forward });
        self.blocks[block.0 as usize].phis.push(index);
        index
    }

    /// Lets a parameter stand for another value.
    pub(in crate::lower) fn forward(&mut self, phi: u32, value: Val) {
        self.phis[phi as usize].forward = value;
    }

    /// What a value stands for.
    #[inline]
    pub(in crate::lower) fn find(&mut self, value: Val) -> Val {
        match value.kind() {
            ValKind::Phi(index) if self.phis[index as usize].forward != value => {
                self.find_forwarded(index)
            }
            _ => value,
        }
    }

    fn find_forwarded(&mut self, index: u32) -> Val {
        let mut value = self.phis[index as usize].forward;
        while let ValKind::Phi(next) = value.kind() {
            let forward = self.phis[next as usize].forward;
            if forward == value {
                break;
            }
            value = forward;
        }
        let mut at = index;
        loop {
            let forward = std::mem::replace(&mut self.phis[at as usize].forward, value);
            match forward.kind() {
                ValKind::Phi(next) if forward != value => at = next,
                _ => return value,
            }
        }
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
