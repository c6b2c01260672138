//! The parts of the buffer: each is used again when what it holds is not needed any more.

/// The parts of a buffer.
#[derive(Default)]
pub(super) struct Slots {
    /// By part: how often it is read ahead yet, or `None` if iterations read it.
    readers: Vec<Option<usize>>,
    free: Vec<usize>,
}

impl Slots {
    /// Takes a part for what is read so often ahead, and by iterations if it is `kept`.
    pub(super) fn take(&mut self, readers: usize, kept: bool) -> usize {
        let slot = self.free.pop().unwrap_or(self.readers.len());
        if slot == self.readers.len() {
            self.readers.push(None);
        }
        self.readers[slot] = (!kept).then_some(readers);
        if self.readers[slot] == Some(0) {
            self.free.push(slot);
        }
        slot
    }

    /// Says that a part was read.
    pub(super) fn read(&mut self, slot: usize) {
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
