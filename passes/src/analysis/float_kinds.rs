//! The kinds of numbers, of eight, that a float can be.

use regraft_ir::Constant;

bitflags::bitflags! {
    /// A set of floats: each flag is a part of the number line, or the NaNs. `-0.0` and `0.0`
    /// are not told apart.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct FloatKinds: u8 {
        /// Minus infinity.
        const NEGATIVE_INFINITY = 1;
        /// Finite and less than -1.
        const BELOW = 2;
        /// From -1 to less than 0.
        const MINUS = 4;
        /// Zero, of either sign.
        const ZERO = 8;
        /// Greater than 0, up to 1.
        const PLUS = 16;
        /// Finite and greater than 1.
        const ABOVE = 32;
        /// Infinity.
        const INFINITY = 64;
        /// Not a number.
        const NAN = 128;

        /// Less than 0.
        const NEGATIVE = 1 | 2 | 4;
        /// Greater than 0.
        const POSITIVE = 16 | 32 | 64;
        /// From -1 to 1.
        const UNIT = 4 | 8 | 16;
        /// Infinite.
        const INFINITE = 1 | 64;
    }
}

impl FloatKinds {
    /// The kind of one float.
    pub fn of(x: f64) -> Self {
        if x.is_nan() {
            Self::NAN
        } else if x == 0.0 {
            Self::ZERO
        } else if x.is_infinite() {
            if x < 0.0 { Self::NEGATIVE_INFINITY } else { Self::INFINITY }
        } else if x.abs() <= 1.0 {
            if x < 0.0 { Self::MINUS } else { Self::PLUS }
        } else if x < 0.0 {
            Self::BELOW
        } else {
            Self::ABOVE
        }
    }

    /// The kind of a constant; of one that is no float, all kinds.
    pub fn of_constant(constant: Constant) -> Self {
        constant.as_float().map_or(Self::all(), Self::of)
    }

    /// Returns whether none of these kinds is possible.
    pub fn never(self, kinds: Self) -> bool {
        !self.intersects(kinds)
    }

    /// In words: `-1 to 0, 0, NaN`.
    pub(crate) fn describe(self) -> String {
        let names = [
            (Self::NEGATIVE_INFINITY, "-inf"),
            (Self::BELOW, "below -1"),
            (Self::MINUS, "-1 to 0"),
            (Self::ZERO, "0"),
            (Self::PLUS, "0 to 1"),
            (Self::ABOVE, "above 1"),
            (Self::INFINITY, "inf"),
            (Self::NAN, "NaN"),
        ];
        let parts: Vec<&str> =
            names.iter().filter(|(kind, _)| self.contains(*kind)).map(|(_, name)| *name).collect();
        parts.join(", ")
    }
}
