//! Tangents of values: what `ad` ops do, for programs that run and for tests of derivatives.
//!
//! [`regraft_dialects::tangent`] says what a tangent is made of, by the exact type that a value
//! has when the program runs: numbers that are floats have numbers, tuples have tuples, immutable
//! structs have named tuples, arrays have arrays, refs have refs, mutable structs have refs of
//! named tuples, and everything else has `nothing`.
//!
//! ```text
//! zero of (1, 2.0, [3.0, 4.0])      is (nothing, 0.0, [0.0, 0.0])
//! its shadow part                   is (nothing, nothing, [0.0, 0.0]), the same array
//! its cotangent part                is (nothing, 0.0, nothing)
//! ```
//!
//! # Identity
//! Objects may be shared and may be part of cycles. Every operation looks at an object (or at a
//! pair of objects, where it takes two values) once, and what it makes is shared in the same way.
//! Elements of arrays that are not defined stay so.
//!
//! # Cost
//! O(size of the values). No recursion: values may be nested a million deep.

mod context;
mod copies;
mod dot;
mod parts;
mod update;
mod walk;
mod workspace;
mod zero;

use regraft_ir::Type;

use self::copies::{Copy, Difference, Perturbed, Scaled};
use self::dot::Dot;
use self::parts::{Cotangent, Join, Shadow, Sum, Unbox};
use self::update::{Accumulate, Clear};
use self::walk::Walk;
use self::zero::Zero;
use crate::error::Trap;
use crate::value::Val;

pub use self::context::Tangents;
pub(crate) use self::workspace::Workspace;

impl Tangents<'_> {
    /// The zero tangent: the same object has the same shadow.
    ///
    /// # Errors
    /// If the memory limit is exceeded.
    pub fn zero(self, value: &Val) -> Result<Val, Trap> {
        self.map(&mut Zero::zeros(), value, &Val::Unit)
    }

    /// A tangent of numbers between -1 and 1, which depend on the seed alone.
    ///
    /// # Errors
    /// If the memory limit is exceeded.
    pub fn random(self, value: &Val, seed: u64) -> Result<Val, Trap> {
        self.map(&mut Zero::random(seed), value, &Val::Unit)
    }

    /// The part of a tangent that has an identity.
    ///
    /// # Errors
    /// If it is not a tangent.
    pub fn shadow(self, tangent: &Val) -> Result<Val, Trap> {
        self.map(&mut Shadow, tangent, &Val::Unit)
    }

    /// The part of a tangent that is a value.
    ///
    /// # Errors
    /// If it is not a tangent.
    pub fn cotangent(self, tangent: &Val) -> Result<Val, Trap> {
        self.map(&mut Cotangent, tangent, &Val::Unit)
    }

    /// The tangent of two parts.
    ///
    /// # Errors
    /// If they are not the two parts of one tangent.
    pub fn join(self, shadow: &Val, cotangent: &Val) -> Result<Val, Trap> {
        self.map(&mut Join, shadow, cotangent)
    }

    /// The sum of two cotangents; `nothing` is zero.
    ///
    /// # Errors
    /// If they are cotangents of values of different types.
    pub fn sum(self, x: &Val, y: &Val) -> Result<Val, Trap> {
        self.map(&mut Sum, x, y)
    }

    /// A cotangent as one of type `ty`: `nothing` becomes its zero.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn unbox(self, cotangent: &Val, ty: Type) -> Result<Val, Trap> {
        if ty == Type::ANY {
            return Ok(cotangent.clone());
        }
        self.map(&mut Unbox, cotangent, &Val::Type(ty))
    }

    /// A tangent times a number, with new objects.
    ///
    /// # Errors
    /// If it is not a tangent.
    pub fn scale(self, tangent: &Val, factor: f64) -> Result<Val, Trap> {
        self.map(&mut Scaled { factor }, tangent, &Val::Unit)
    }

    /// The inner product of two tangents of the same value. What is in an object counts once,
    /// however often the object is shared.
    ///
    /// # Errors
    /// If they are tangents of different values.
    pub fn dot(self, x: &Val, y: &Val) -> Result<f64, Trap> {
        let mut dot = Dot::default();
        let own = self.map(&mut dot, x, y)?;
        Ok(dot::number(&own) + dot.in_objects)
    }

    /// Adds a tangent to a shadow in place. What is a value in the shadow, outside of all its
    /// objects, has no place to be added to: that is the cotangent's business.
    ///
    /// # Errors
    /// `DimensionMismatch` if there are more or fewer elements than in the shadow, `TypeError` if
    /// they are of other types.
    pub fn accumulate(self, shadow: &Val, tangent: &Val) -> Result<(), Trap> {
        if matches!(shadow, Val::Unit) || matches!(tangent, Val::Unit) {
            return Ok(());
        }
        self.map(&mut Accumulate::default(), shadow, tangent).map(drop)
    }

    /// Sets a shadow to zero in place.
    ///
    /// # Errors
    /// If the memory limit is exceeded.
    pub fn clear(self, shadow: &Val) -> Result<(), Trap> {
        self.map(&mut Clear, shadow, &Val::Unit).map(drop)
    }

    /// A copy of any value in depth.
    ///
    /// # Errors
    /// If the memory limit is exceeded.
    pub fn copy(self, value: &Val) -> Result<Val, Trap> {
        self.map(&mut Copy, value, &Val::Unit)
    }

    /// `value + step * tangent`, with new objects.
    ///
    /// # Errors
    /// If it is not a tangent of this value.
    pub fn perturbed(self, value: &Val, step: f64, tangent: &Val) -> Result<Val, Trap> {
        self.map(&mut Perturbed { step }, value, tangent)
    }

    /// `x - y` as a tangent.
    ///
    /// # Errors
    /// `DimensionMismatch` if they are of different sizes, `TypeError` if they are of different
    /// types.
    pub fn difference(self, x: &Val, y: &Val) -> Result<Val, Trap> {
        self.map(&mut Difference, x, y)
    }

    /// The shadow of an object that a global name holds: the same one until the derivative of that
    /// level ends that is being taken, or the run.
    ///
    /// # Errors
    /// If the memory limit is exceeded.
    pub fn global_shadow(self, value: &Val, level: usize) -> Result<Val, Trap> {
        let mut walk = Walk::remembering(self, self.workspace.take_global_shadows(level));
        let zero = walk.map(&mut Zero::zeros(), value, &Val::Unit)?;
        self.workspace.keep_global_shadows(level, walk.into_known());
        self.shadow(&zero)
    }

    fn map(self, rule: &mut impl walk::Rule, a: &Val, b: &Val) -> Result<Val, Trap> {
        Walk::new(self).map(rule, a, b)
    }
}
