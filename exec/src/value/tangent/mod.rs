//! Tangents of values: what `ad` ops do, for programs that run and for tests of derivatives.
//!
//! What a tangent is made of says [`regraft_dialects::tangent`], by the exact type that a value
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

mod copies;
mod dot;
mod parts;
mod update;
mod walk;
mod zero;

use std::fmt;

use regraft_ir::{Context, Symbol, Type, TypeKind};

use self::copies::{Copy, Difference, Perturbed, Scaled};
use self::dot::Dot;
use self::parts::{Cotangent, Join, Shadow, Sum, Unbox};
use self::update::{Accumulate, Clear};
use self::walk::Walk;
use self::zero::Zero;
use super::{Array, Fields, Val};
use crate::error::Trap;
use crate::host::Host;

pub(crate) use self::walk::{Known, Pairs, Spare, clear};

/// Operations on tangents, on the values of programs over one context.
#[derive(Clone, Copy)]
pub struct Tangents<'a> {
    ctx: &'a Context,
    host: &'a Host,
}

impl<'a> Tangents<'a> {
    /// With the memory limit and the names of `host`, which is that of an engine over this context,
    /// or a new one.
    pub fn new(ctx: &'a Context, host: &'a Host) -> Self {
        Self { ctx, host }
    }

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
        let mut walk = Walk::remembering(self, self.host.take_global_shadows(level));
        let zero = walk.map(&mut Zero::zeros(), value, &Val::Unit)?;
        self.host.keep_global_shadows(level, walk.into_known());
        self.shadow(&zero)
    }

    fn map(self, rule: &mut impl walk::Rule, a: &Val, b: &Val) -> Result<Val, Trap> {
        Walk::new(self).map(rule, a, b)
    }

    /// The type of the elements of the shadow of what holds values of type `element`, if it has
    /// one.
    fn shadow_element(self, element: Type) -> Option<Type> {
        let mut types = self.host.tangent_types();
        let tangent = types.of(self.ctx, element).tangent;
        types.has_content(self.ctx, tangent).then_some(tangent)
    }

    /// The type of what the shadow of a mutable struct holds, if it has one.
    fn shadow_of_object(self, ty: Type) -> Option<Type> {
        let mut types = self.host.tangent_types();
        let shadow = types.object_shadow(self.ctx, ty)?;
        let &TypeKind::Ref(inner) = self.ctx.kind(shadow) else { return None };
        types.has_content(self.ctx, inner).then_some(inner)
    }

    /// The shape of the named tuple of the fields of a struct.
    fn field_shape(self, ty: Type) -> Option<Type> {
        self.host.shape(ty, || {
            let def = self.ctx.struct_of(ty)?;
            Some(Val::named_shape(self.ctx, def.fields.iter().map(|&(name, _)| name)))
        })
    }

    /// The shape of named tuples of type `ty`, which has these fields.
    fn shape(self, ty: Type, fields: &[(Symbol, Type)]) -> Type {
        let make = || Some(Val::named_shape(self.ctx, fields.iter().map(|&(name, _)| name)));
        self.host.shape(ty, make).unwrap_or(ty)
    }

    fn reserve_fields(self, count: usize) -> Result<(), Trap> {
        self.host.reserve(size_of::<Fields>() + count * size_of::<Val>())
    }

    /// A ref that is to be filled.
    fn new_ref(self, element: Type) -> Result<Val, Trap> {
        self.reserve_fields(1)?;
        Ok(Val::reference(element, Val::Unit))
    }

    /// An array of the size of another one that is to be filled.
    fn new_array(self, element: Type, like: &Array) -> Result<Val, Trap> {
        self.host.reserve_array(element, like.len())?;
        let array = Array::new(element, &like.dims());
        array.map(Val::from).map_err(|error| Trap::new("OutOfMemoryError", error.to_string()))
    }

    fn type_text(self, value: &Val) -> String {
        self.host.texts(self.ctx).type_of(value)
    }

    #[cold]
    fn no_tangent(self, value: &Val) -> Trap {
        Trap::type_error(format!("a value of type {} is not a tangent", self.type_text(value)))
    }

    #[cold]
    fn mismatch(self, what: &str, a: &Val, b: &Val) -> Trap {
        let (a, b) = (self.type_text(a), self.type_text(b));
        Trap::type_error(format!("{what} of types {a} and {b}"))
    }

    /// Checks that two arrays have the same size.
    fn check_sizes(self, a: &Array, b: &Array) -> Result<(), Trap> {
        let (x, y) = (a.dims(), b.dims());
        if x == y { Ok(()) } else { Err(sizes_differ(&x, &y)) }
    }
}

impl fmt::Debug for Tangents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tangents").finish_non_exhaustive()
    }
}

#[cold]
fn sizes_differ(x: &[usize], y: &[usize]) -> Trap {
    let text = |dims: &[usize]| {
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
    };
    let (x, y) = (text(x), text(y));
    Trap::new("DimensionMismatch", format!("dimensions must match: found {x} and {y}"))
}

#[cold]
fn counts_differ(x: usize, y: usize) -> Trap {
    let message = format!("tuples must be of the same length: found {x} and {y} elements");
    Trap::new("DimensionMismatch", message)
}
