//! Numbers of events, by what it costs to record them.

/// Numbers of events that started.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Events {
    /// The events whose times were taken.
    pub(super) timed: u64,
    /// The events that were only counted.
    pub(super) counted: u64,
}

impl Events {
    /// The events since then.
    pub(super) fn since(self, before: Self) -> Self {
        let Self { timed, counted } = before;
        Self { timed: self.timed - timed, counted: self.counted - counted }
    }

    /// These and others.
    pub(super) fn and(self, others: Self) -> Self {
        let Self { timed, counted } = others;
        Self { timed: self.timed + timed, counted: self.counted + counted }
    }
}
