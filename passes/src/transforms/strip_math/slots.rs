//! The parts of the buffer: each is used again when what it holds is not needed any more.

/// Elements of the buffer, as many as the strip has, `nth` times as many behind the start of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) slot: usize,
    pub(super) nth: usize,
}

impl Place {
    pub(super) const fn at(slot: usize) -> Self {
        Self { slot, nth: 0 }
    }
}

/// The number of reads ahead of iterations, and whether iterations read as well.
pub(super) type Reads = (usize, bool);

/// The parts of a buffer.
#[derive(Default)]
pub(super) struct Slots {
    /// By part: how often it is read ahead yet, or `None` if iterations read it.
    readers: Vec<Option<usize>>,
    free: Vec<usize>,
}

impl Slots {
    /// Takes a part for what is read so often ahead, and by iterations if it is kept.
    pub(super) fn take(&mut self, reads: Reads) -> usize {
        let slot = self.free.pop().unwrap_or(self.readers.len());
        self.hold(slot, reads);
        slot
    }

    /// Takes two parts, one behind the other. Returns the first.
    pub(super) fn take_pair(&mut self, reads: [Reads; 2]) -> usize {
        let count = self.readers.len();
        // The last one may be the first of them.
        let is_free = |slot: usize| slot >= count || self.free.contains(&slot);
        let slot = (0..count).find(|&slot| is_free(slot) && is_free(slot + 1)).unwrap_or(count);
        self.free.retain(|&free| free != slot && free != slot + 1);
        for (slot, reads) in (slot..).zip(reads) {
            self.hold(slot, reads);
        }
        slot
    }

    fn hold(&mut self, slot: usize, (readers, kept): Reads) {
        if slot == self.readers.len() {
            self.readers.push(None);
        }
        self.readers[slot] = (!kept).then_some(readers);
        if self.readers[slot] == Some(0) {
            self.free.push(slot);
        }
    }

    /// Says that a function has read what it is given.
    pub(super) fn read(&mut self, Place { slot, nth }: Place) {
        let slot = slot + nth;
        if let Some(Some(readers)) = self.readers.get_mut(slot) {
            *readers -= 1;
            if *readers == 0 {
                self.free.push(slot);
            }
        }
    }

    /// The number of parts.
    pub(super) fn count(&self) -> usize {
        self.readers.len()
    }
}
