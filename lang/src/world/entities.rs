//! Ids of methods and specialisations, and the answers that a world gives.

use std::rc::Rc;

use regraft_ir::{Constant, Symbol, Type};

/// The id of a method. Ids are given in order of definition and never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MethodId(pub u32);

/// The id of a specialisation, which inference makes and keeps. Never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SpecId(pub u32);

/// The value of a type parameter of a method in one call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum StaticValue {
    /// A type (as its type value), a number, a symbol, a bool.
    Constant(Constant),
    /// A tuple of such, as in `NamedTuple{(:a, :b)}`.
    Tuple(Rc<[StaticValue]>),
    /// No argument tells it: reading it is an `UndefVarError`.
    Unbound,
}

/// The method that a call runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodMatch {
    /// The method.
    pub method: MethodId,
    /// The values of its type parameters, in the order of [`Method::statics`](super::Method::statics).
    pub statics: Rc<[StaticValue]>,
    /// True if all argument types were exact. If not, the method is right for every value that the
    /// arguments can have all the same.
    pub exact: bool,
}

/// The effect of a call with arguments of certain types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// It runs this method.
    Method(MethodMatch),
    /// There is no method for it.
    None,
    /// There are several, and none is more specific than all others.
    Ambiguous(Rc<[MethodId]>),
    /// It depends on the values: an argument type is not exact.
    Unknown,
}

/// The binding of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// A generic function, by the symbol that tells it from others of that name: the `x` in
    /// `@x` and `fn<@x>`.
    Function(Symbol),
    /// A type, as a type value.
    Type(Type),
    /// A constant whose value is known at once.
    Const(Constant),
    /// A constant whose value is in the interpreter, under `name`.
    Global {
        /// The name under which the interpreter keeps it.
        name: Symbol,
        /// Its type.
        ty: Type,
    },
    /// A variable: its value is in the interpreter, under `name`.
    Variable {
        /// The name under which the interpreter keeps it.
        name: Symbol,
        /// The type of its value as long as it is bound so: `any` if it has no value yet, or
        /// if values of other types may be assigned to it while code runs that reads it.
        ty: Type,
    },
    /// Something of the prelude, which is defined when somebody asks for it;
    /// [`World::resolve`](super::World::resolve) does, and never answers so.
    Deferred,
    /// Nothing yet.
    Undefined,
}

/// A field of a struct type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: Symbol,
    /// The declared type as a type value: what values are converted to.
    pub declared: Type,
    /// Its type in the IR: `any` if the declared type is abstract or a `new` gives it no value.
    pub stored: Type,
    /// The type of its value once it has one, if a `new` gives it none.
    pub left_out: Option<Type>,
}

/// A parameter of a type as it is written in code.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeArgument {
    /// `T`
    Is(StaticValue),
    /// `<:T`
    Below(Type),
}
