//! The algebras that floats follow.

use regraft_ir::Op;

use crate::analysis::FloatKinds;
use crate::analysis::traps::is_in_domain;

/// The algebra that floats follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Math {
    /// The algebra of IEEE 754: results stay the same, bit for bit, but for which quiet NaN it is.
    #[default]
    Exact,
    /// The algebra of IEEE 754 without NaN, infinities and the sign of zero.
    Finite,
    /// The algebra of real numbers.
    Fast,
}

impl Math {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Finite, Self::Fast];
    /// Their names, in the order of [`Math::ALL`].
    pub const NAMES: &'static [&'static str] = &["exact", "finite", "fast"];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The one of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|math| math.name() == name)
    }

    /// Returns whether a function is known not to trap for arguments of these kinds. Real numbers
    /// are not infinite.
    pub(crate) fn is_in_domain(self, op: Op, kinds: impl Fn(usize) -> FloatKinds) -> bool {
        let unreal = match self {
            Self::Fast => FloatKinds::INFINITE,
            _ => FloatKinds::empty(),
        };
        is_in_domain(op, |i| kinds(i) - unreal)
    }
}
