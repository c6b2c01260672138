//! Types as the world reasons about them.
//!
//! A concrete type is an IR type; the other terms are for what only signatures and type values can
//! say: abstract types, unions, type parameters.

use std::rc::Rc;

use regraft_ir::{Constant, Symbol, Type};

/// The id of a family of types: a struct, abstract or builtin type, with or without parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FamilyId(pub(super) u32);

/// A type parameter: an index into those in scope (a method's own, outermost first), or, from
/// [`Var::FIRST_BOUND`] on, one that a [`Ty::Where`] around it binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

impl Var {
    /// The first that is bound by a [`Ty::Where`].
    pub const FIRST_BOUND: u32 = 1 << 24;
}

/// A type parameter that is declared, with its bounds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bound {
    /// Which one it is.
    pub var: Var,
    /// Its name, for messages.
    pub name: Symbol,
    /// The type below it: [`Ty::Bottom`] if none is written.
    pub lower: Ty,
    /// The type above it: [`Ty::Any`] if none is written.
    pub upper: Ty,
}

/// The repeated end of a tuple: `Vararg{element, count}`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rest {
    /// The type of each element.
    pub element: Ty,
    /// How many there are: a parameter; any number if there is none.
    pub count: Option<Ty>,
}

/// A type, or what can be the parameter of one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// All values.
    Any,
    /// No value.
    Bottom,
    /// A type that values can have: an exact IR type.
    Concrete(Type),
    /// A member of a family that is no [`Ty::Concrete`]: abstract, or with type parameters in it.
    App(FamilyId, Rc<[Ty]>),
    /// A tuple that is no [`Ty::Concrete`].
    Tuple(Rc<[Ty]>, Option<Rc<Rest>>),
    /// One of several.
    Union(Rc<[Ty]>),
    /// A type parameter.
    Var(Var),
    /// All types that the body is for some value of the parameters, of which later ones may
    /// mention earlier ones.
    Where(Rc<[Bound]>, Rc<Ty>),
    /// `Type{T}`: of this one type.
    TypeOf(Rc<Ty>),
    /// A number, symbol or bool as a parameter.
    Value(Constant),
    /// A tuple of symbols as a parameter.
    Names(Rc<[Symbol]>),
}
