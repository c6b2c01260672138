//! Registers of the compact form: which there are, and what is in them.

pub(crate) use crate::value::Scalar;

/// A register.
pub(crate) type Reg = u32;

/// In the place of a register: the call site has to be asked where the result goes to.
pub(crate) const NO_REG: Reg = Reg::MAX;

/// The same: nobody wants the result.
pub(crate) const NOWHERE: Reg = Reg::MAX - 1;

/// The class of a scalar register: the kind of register of the machine that native code has for it.
/// A register never changes its class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    /// Integers and truth values.
    Int,
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

impl Scalar {
    pub(crate) fn class(self) -> Class {
        match self {
            Self::F32 => Class::Single,
            Self::F64 => Class::Double,
            _ => Class::Int,
        }
    }
}

/// The place that a result goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dst {
    Scalar(Scalar, Reg),
    Val(Reg),
    /// It is of type `unit` or `never`: there is nothing to keep.
    Nowhere,
}

/// The place that an operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    Scalar(Scalar, Reg),
    Val(Reg),
    /// The same at the last use of the value, which is moved out.
    Last(Reg),
    /// Of the constants of the function.
    Const(u32),
    Unit,
}

impl Src {
    /// The register of a value that is no scalar.
    pub(crate) fn val(self) -> Option<Reg> {
        if let Self::Val(reg) | Self::Last(reg) = self { Some(reg) } else { None }
    }
}
