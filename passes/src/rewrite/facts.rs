//! The facts on operands that the conditions of rules ask for.

use regraft_ir::{Constant, Type};

use crate::analysis::{FloatKinds, Interval};

/// The facts on an operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Facts {
    /// Its type.
    pub ty: Type,
    /// The constant that it is.
    pub constant: Option<Constant>,
    /// The floats that it can be; all for what is no float.
    pub kinds: FloatKinds,
    /// The integers that it can be, if it is an integer or a bool.
    pub interval: Option<Interval>,
    /// Tells whether it is a float that is never a signalling NaN.
    pub quiet: bool,
    /// Tells whether it is a float that is never -0.0.
    pub not_minus_zero: bool,
    /// Tells whether it is a float that is whole, infinite or NaN.
    pub whole: bool,
}

impl Facts {
    /// Nothing but the type.
    pub fn of_type(ty: Type) -> Self {
        Self {
            ty,
            constant: None,
            kinds: FloatKinds::all(),
            interval: (ty.is_int() || ty == Type::BOOL).then(|| Interval::of_type(ty)),
            quiet: !ty.is_float(),
            not_minus_zero: !ty.is_float(),
            whole: !ty.is_float(),
        }
    }

    /// Everything about a scalar of type `ty`.
    pub fn of_constant(constant: Constant, ty: Type) -> Self {
        let number = match constant {
            Constant::Bool(x) => Some(x.into()),
            other => other.as_int(),
        };
        let mut facts = Self { constant: Some(constant), ..Self::of_type(ty) };
        facts.interval = number.map(|n| Interval { lo: n, hi: n });
        if let Some(x) = constant.as_float() {
            facts.kinds = FloatKinds::of(x);
            facts.quiet = is_quiet(constant);
            facts.not_minus_zero = !(x == 0.0 && x.is_sign_negative());
            facts.whole = x.round() == x || !x.is_finite();
        }
        facts
    }

    /// Either of two operands.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            ty: self.ty,
            constant: self.constant.filter(|_| self.constant == other.constant),
            kinds: self.kinds | other.kinds,
            interval: self.interval.zip(other.interval).map(|(a, b)| a.join(b)),
            quiet: self.quiet && other.quiet,
            not_minus_zero: self.not_minus_zero && other.not_minus_zero,
            whole: self.whole && other.whole,
        }
    }

    /// Both of what is known of one operand.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let meet = |(a, b): (Interval, Interval)| a.meet(b).unwrap_or(a);
        Self {
            ty: self.ty,
            constant: self.constant.or(other.constant),
            kinds: self.kinds & other.kinds,
            interval: self.interval.zip(other.interval).map(meet),
            quiet: self.quiet || other.quiet,
            not_minus_zero: self.not_minus_zero || other.not_minus_zero,
            whole: self.whole || other.whole,
        }
    }
}

/// Returns whether a float is no signalling NaN: the first bit of the fraction of a NaN is set in
/// those that are quiet (IEEE 754, section 6.2.1).
fn is_quiet(constant: Constant) -> bool {
    match constant {
        Constant::F64(bits) => !f64::from_bits(bits).is_nan() || bits & (1 << 51) != 0,
        Constant::F32(bits) => !f32::from_bits(bits).is_nan() || bits & (1 << 22) != 0,
        _ => true,
    }
}
