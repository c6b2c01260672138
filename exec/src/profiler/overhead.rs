//! The time that recording takes itself.

/// The time that recording one event takes, in ticks or nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Overhead {
    /// The part between the two times that are taken, which counts as that of the event.
    pub inside: f64,
    /// The rest, which counts as that of the event around it.
    pub outside: f64,
    /// The cost of an event directly in one of the same name, which is only counted in sums.
    pub again: f64,
}
