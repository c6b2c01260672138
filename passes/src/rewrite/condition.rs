//! Conditions on the operands of rules.

use regraft_ir::{Constant, Type};

use super::{Facts, Variable};
use crate::analysis::FloatKinds;

/// A condition on a variable of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The condition.
    pub kind: ConditionKind,
    /// Tells whether the opposite is asked for.
    pub negated: bool,
    /// The variable.
    pub variable: Variable,
}

macro_rules! conditions {
    ($($(#[doc = $doc:literal])* $kind:ident = $name:literal;)*) => {
        /// The conditions that a rule may ask for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ConditionKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl ConditionKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The name in rules.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

conditions! {
    /// It is a constant.
    Const = "const";
    /// It is not zero.
    Nonzero = "nonzero";
    /// It is greater than 0.
    Positive = "positive";
    /// It is less than 0.
    Negative = "negative";
    /// It is 0 or greater, which NaN is not.
    Nonnegative = "nonnegative";
    /// It is 0 or less, which NaN is not.
    Nonpositive = "nonpositive";
    /// It is not -0.0.
    NotMinusZero = "not-minus-zero";
    /// It is no signalling NaN.
    Quiet = "quiet";
    /// It is neither infinite nor NaN.
    Finite = "finite";
    /// It is a whole number.
    Whole = "whole";
    /// It is a constant, 2ᵏ or -2ᵏ, whose reciprocal is exact.
    PowerOfTwo = "power-of-two";
    /// It is of an integer type.
    Int = "int";
    /// It is of a float type.
    Float = "float";
    /// It is of type `bool`.
    Bool = "bool";
}

impl ConditionKind {
    /// Returns whether it speaks of the form or the type of an operand, not of its value.
    pub fn is_formal(self) -> bool {
        matches!(self, Self::Const | Self::Int | Self::Float | Self::Bool)
    }

    /// Returns whether it holds for constants alone.
    pub(super) fn needs_constant(self) -> bool {
        matches!(self, Self::Const | Self::PowerOfTwo)
    }

    /// Returns whether it holds for all operands of which this is known.
    pub fn holds(self, facts: &Facts) -> bool {
        let never = |kinds| facts.ty.is_float() && facts.kinds.never(kinds);
        let (lo, hi) = facts.interval.map_or((i64::MIN, i64::MAX), |range| (range.lo, range.hi));
        let ints = facts.interval.is_some();
        match self {
            Self::Const => facts.constant.is_some(),
            Self::Nonzero => never(FloatKinds::ZERO) || ints && (lo > 0 || hi < 0),
            Self::Positive => never(FloatKinds::POSITIVE.complement()) || ints && lo > 0,
            Self::Negative => never(FloatKinds::NEGATIVE.complement()) || ints && hi < 0,
            Self::Nonnegative => never(FloatKinds::NEGATIVE | FloatKinds::NAN) || ints && lo >= 0,
            Self::Nonpositive => never(FloatKinds::POSITIVE | FloatKinds::NAN) || ints && hi <= 0,
            Self::NotMinusZero => facts.not_minus_zero || never(FloatKinds::ZERO),
            Self::Quiet => facts.quiet || never(FloatKinds::NAN),
            Self::Finite => never(FloatKinds::INFINITE | FloatKinds::NAN) || !facts.ty.is_float(),
            Self::Whole => facts.whole && Self::Finite.holds(facts),
            Self::PowerOfTwo => facts.constant.is_some_and(is_power_of_two),
            Self::Int => facts.ty.is_int(),
            Self::Float => facts.ty.is_float(),
            Self::Bool => facts.ty == Type::BOOL,
        }
    }
}

impl Condition {
    /// Returns whether it holds for all operands of which this is known.
    pub fn holds(&self, facts: &Facts) -> bool {
        self.kind.holds(facts) != self.negated
    }
}

/// Returns whether a float is a power of two, or minus one, and so is its reciprocal.
fn is_power_of_two(constant: Constant) -> bool {
    fn exact(x: f64, reciprocal: f64) -> bool {
        let fraction = (1u64 << 52) - 1;
        let one_bit = match x.to_bits() & fraction {
            0 => x.is_normal(),
            bits => x.is_subnormal() && bits.is_power_of_two(),
        };
        one_bit && reciprocal.is_finite() && reciprocal != 0.0
    }
    match constant {
        Constant::F64(bits) => exact(f64::from_bits(bits), 1.0 / f64::from_bits(bits)),
        Constant::F32(bits) => {
            let x = f32::from_bits(bits);
            exact(x.into(), (1.0 / x).into())
        }
        _ => false,
    }
}
