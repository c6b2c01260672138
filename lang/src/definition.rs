//! The definitions of a program, as the lowering hands them to the world.
//!
//! Nothing here is evaluated: types are [`TypeExpr`]s, which the world evaluates when control
//! gets to the definition.
//!
//! ```
//! use regraft_lang::definition::TypeExpr;
//!
//! let ctx = regraft_dialects::context();
//! let any = TypeExpr::any(ctx.symbol("Any"));
//! assert!(any.mentions(ctx.symbol("Any")));
//! ```

use std::sync::Arc;

use regraft_ir::{Constant, Context, Function, Loc, Symbol};
use regraft_syntax::julia::ExprId;

/// The space in which a name is looked up first: it decides who may use internal names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// The prelude: Julia's `Base`.
    Base,
    /// The user's program: Julia's `Main`. What it defines under a name of the prelude shadows
    /// that for the program alone, unless it is defined as `Base.name`.
    Main,
    /// A module of the program, by its path: `A.B`.
    Module(Symbol),
}

impl Space {
    /// Returns the path of the module: `Base`, `Main`, `A.B`.
    pub fn path(self, ctx: &Context) -> Symbol {
        match self {
            Self::Base => ctx.symbol("Base"),
            Self::Main => ctx.symbol("Main"),
            Self::Module(path) => path,
        }
    }

    /// Returns the module of that path.
    pub fn at(ctx: &Context, path: Symbol) -> Self {
        match ctx.str(path) {
            "Base" => Self::Base,
            "Main" => Self::Main,
            _ => Self::Module(path),
        }
    }

    /// Returns the module as it is shown: `Main.A.B`.
    pub fn shown(self, ctx: &Context) -> String {
        let path = ctx.str(self.path(ctx));
        match self {
            Self::Base | Self::Main => path.to_owned(),
            Self::Module(_) => format!("Main.{path}"),
        }
    }
}

/// The modules of Julia whose names, as far as they are there, are in the prelude.
pub(crate) const LIBRARY: [&str; 20] = [
    "Base",
    "Broadcast",
    "ChainRulesCore",
    "Core",
    "InteractiveUtils",
    "Intrinsics",
    "Iterators",
    "LinearAlgebra",
    "LogExpFunctions",
    "MathConstants",
    "Meta",
    "OhMyThreads",
    "Printf",
    "Random",
    "SparseArrays",
    "SpecialFunctions",
    "Statistics",
    "Test",
    "Threads",
    "InteractiveUtils",
];

/// Returns whether a name is that of a module whose names are in the prelude.
pub(crate) fn is_library(name: &str) -> bool {
    LIBRARY.contains(&name)
}

/// The names that go from one module to another: a part of `using` or `import`.
#[derive(Clone, Debug)]
pub struct Import {
    /// True for `import`: methods that are defined under these names belong to what they stand for.
    pub extends: bool,
    /// The number of dots before the path: from 1 on it begins in the module itself, or in those around.
    pub dots: usize,
    /// The names of modules, the last of which may be any name: `A.B`.
    pub path: Vec<Symbol>,
    /// The other name of the last one.
    pub alias: Option<Symbol>,
    /// The names behind a `:`, each with what it is called from now on.
    pub names: Option<Vec<(Symbol, Symbol)>>,
    /// The place.
    pub loc: Loc,
}

/// A statement at top level, in order.
#[derive(Clone, Debug)]
pub enum Item {
    /// Adds methods, one after the other (several if there are default values of parameters).
    Methods(Vec<MethodDef>),
    /// Makes names of other modules known: `using A: f`, `import Base: +`.
    Import(Import),
    /// Declares the type of a global variable: `x::Int = 1`.
    Typed(Symbol, TypeExpr),
    /// Binds a name to a type that stands as a value in what follows: `Vector{T} where T`.
    Type(Symbol, TypeExpr),
    /// Binds a name of the prelude to the only value of a type: `const missing = __new(Missing)`.
    Instance(Symbol, TypeExpr),
    /// Binds a name of the prelude to what another one stands for: `const pi = π`.
    Alias(Symbol, Symbol),
    /// Says which names `using` takes from the module.
    Export(Vec<Symbol>),
    /// Makes a module, and runs its statements.
    Module {
        /// The name.
        name: Symbol,
        /// The space of what it declares.
        space: Space,
        /// True if the names of the prelude are not there.
        bare: bool,
        /// The statements.
        items: Vec<Self>,
        /// The place.
        loc: Loc,
    },
    /// Declares a function without methods: `function f end`.
    Declare(Symbol, Loc),
    /// Declares a struct type.
    Struct(Box<StructDecl>),
    /// Declares an abstract type.
    Abstract(Box<AbstractDecl>),
    /// Binds a name for good: the value of the thunk. Its type is known to all that is inferred afterwards.
    Const(Symbol, Box<Thunk>),
    /// Runs code; its value is that of the statement.
    Run(Box<Thunk>),
    /// Expands the macros in a statement, and runs it.
    Expand {
        /// The statement in the tree of the text.
        statement: ExprId,
        /// True if loops assign to global variables.
        soft_scope: bool,
    },
    /// Runs the file of that name in the place of the statement: `include("file.jl")`.
    Include {
        /// The value of the path.
        path: Box<Thunk>,
        /// The call, where `include` is a function of the program.
        call: Box<Thunk>,
    },
    /// Runs the one or the other, as an `if` with definitions in it does.
    If {
        /// The condition.
        condition: Box<Thunk>,
        /// The items that run if it is true.
        then: Vec<Item>,
        /// The items that run otherwise.
        otherwise: Vec<Item>,
    },
}

/// Code at top level: a lowered function without parameters.
#[derive(Clone, Debug)]
pub struct Thunk {
    /// The code.
    pub body: Arc<Function>,
    /// The functions that are made in it.
    pub closures: Vec<ClosureDef>,
    /// The methods of functions elsewhere that it defines when control gets to `call @#define(n)`,
    /// with their numbers.
    pub definitions: Vec<(u32, Vec<Item>)>,
    /// The place of its start.
    pub loc: Loc,
}

/// The owner of a method.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A generic function: `f(x) = …`. A field such as `Base.f` has [`MethodHead::extends_base`]; for
    /// another module, the name is its path: `A.B.f`.
    Function(Symbol),
    /// Values of a type: `(p::P)(x) = …`. The lowered function has the callee as its first
    /// parameter.
    Instance(TypeExpr),
    /// A type: `P(x) = …` where `P` is a struct that is declared in the same text before, `P{T}(x) where T = …`,
    /// `(::Type{T})(x) where T = …` (then it is the argument of `Type`).
    Type(TypeExpr),
    /// A function that is made by a [`ClosureDef`]; the lowered function has the closure as its first parameter.
    Closure(Symbol),
}

/// A method of a generic function.
#[derive(Clone, Debug)]
pub struct MethodDef {
    /// Its callee and parameters.
    pub head: MethodHead,
    /// The lowered code: one parameter of type `any` for each parameter (after the callee, for [`Callee::Instance`] and
    /// [`Callee::Closure`]).
    pub body: Arc<Function>,
    /// The functions that are made in it.
    pub closures: Vec<ClosureDef>,
    /// The function that gives its code, of a generated function: from the values of the type
    /// parameters and the types of the arguments, of which those of a vararg are one tuple.
    pub generator: Option<Box<MethodDef>>,
}

/// A method without its code.
#[derive(Clone, Debug)]
pub struct MethodHead {
    /// The callee that it is a method of.
    pub callee: Callee,
    /// True if it takes arguments by name as well: then the lowered function has a named tuple of these,
    /// and the callee, as its first parameters.
    pub keywords: bool,
    /// True if it was written `Base.f(…) = …` (or is in the prelude itself).
    pub extends_base: bool,
    /// Its parameters, apart from the callee.
    pub params: Vec<ParamDecl>,
    /// True if the last parameter takes all further arguments, as one tuple.
    pub vararg: bool,
    /// The type parameters of its `where`s, outermost first.
    pub statics: Vec<StaticDecl>,
    /// `@inline` or `@noinline`.
    pub inline: Option<bool>,
    /// The space in which its types, and names in its code, are looked up.
    pub space: Space,
    /// The place of its definition.
    pub loc: Loc,
}

impl MethodHead {
    /// A method of a function of its own space, without a vararg and type parameters.
    pub fn plain(callee: Callee, params: Vec<ParamDecl>, space: Space, loc: Loc) -> Self {
        Self {
            callee,
            keywords: false,
            extends_base: false,
            params,
            vararg: false,
            statics: Vec::new(),
            inline: None,
            space,
            loc,
        }
    }
}

/// A parameter of a method.
#[derive(Clone, Debug)]
pub struct ParamDecl {
    /// Its name, if it has one.
    pub name: Option<Symbol>,
    /// Its type; [`TypeExpr::any`] if none is written. Of a vararg, that of each element.
    pub ty: TypeExpr,
}

/// A type parameter, with its bounds.
#[derive(Clone, Debug)]
pub struct StaticDecl {
    /// Its name.
    pub name: Symbol,
    /// `T >: lower`
    pub lower: Option<TypeExpr>,
    /// `T <: upper`
    pub upper: Option<TypeExpr>,
}

/// A function that is made while a program runs: an anonymous or local function. Each type of
/// captures makes a struct type of its own, as with a parametric struct.
#[derive(Clone, Debug)]
pub struct ClosureDef {
    /// A name that no user can write: `#foo#1`.
    pub name: Symbol,
    /// The name under which it is shown: `foo`, or `#1` for an anonymous one.
    pub shown: Symbol,
    /// The captured values: fields of the closure, in the order of the operands of `core.closure`.
    pub captures: Vec<Symbol>,
    /// Its methods.
    pub methods: Vec<MethodDef>,
}

/// A struct type.
#[derive(Clone, Debug)]
pub struct StructDecl {
    /// Its name.
    pub name: Symbol,
    /// Its type parameters.
    pub params: Vec<StaticDecl>,
    /// The abstract type above it; `Any` if none is written.
    pub supertype: Option<TypeExpr>,
    /// True if it is an object.
    pub mutable: bool,
    /// Names and types of the fields.
    pub fields: Vec<(Symbol, TypeExpr)>,
    /// The fields of an object that keep their values.
    pub fixed: Vec<Symbol>,
    /// The number of leading fields that each `new` gives a value.
    pub given: usize,
    /// Inner constructors. If there are any, there are no default ones.
    pub constructors: Vec<MethodDef>,
    /// The space in which it was declared.
    pub space: Space,
    /// The place of its declaration.
    pub loc: Loc,
}

/// An abstract type.
#[derive(Clone, Debug)]
pub struct AbstractDecl {
    /// Its name.
    pub name: Symbol,
    /// Its type parameters.
    pub params: Vec<StaticDecl>,
    /// The abstract type above it; `Any` if none is written.
    pub supertype: Option<TypeExpr>,
    /// The space in which it is declared.
    pub space: Space,
    /// The place of its declaration.
    pub loc: Loc,
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// Its kind.
    pub kind: TypeExprKind,
    /// Its place.
    pub loc: Loc,
}

/// The kind of a [`TypeExpr`].
#[derive(Clone, Debug)]
pub enum TypeExprKind {
    /// `Float64`, a type parameter, a name that is bound to a type.
    Name(Symbol),
    /// `Vector{T}`
    Apply(Box<TypeExpr>, Vec<TypeExpr>),
    /// `<:T` as a parameter.
    Below(Box<TypeExpr>),
    /// `>:T` as a parameter.
    Above(Box<TypeExpr>),
    /// `3`, `:a`, `true` as a parameter.
    Constant(Constant),
    /// `(:a, :b)` as a parameter.
    Tuple(Vec<TypeExpr>),
    /// `typeof(f)`
    TypeOf(Box<TypeExpr>),
    /// `T where {A, B}`
    Where(Box<TypeExpr>, Vec<StaticDecl>),
    /// `T...` within `Tuple{…}`, and `Vararg{T}`.
    Vararg(Box<TypeExpr>),
}

impl TypeExpr {
    /// `Any`, written nowhere.
    pub fn any(any: Symbol) -> Self {
        Self { kind: TypeExprKind::Name(any), loc: Loc::UNKNOWN }
    }
    /// Returns whether it mentions a name that is not bound within it.
    pub fn mentions(&self, name: Symbol) -> bool {
        use TypeExprKind as T;
        match &self.kind {
            T::Name(other) => *other == name,
            T::Apply(head, args) => head.mentions(name) || args.iter().any(|ty| ty.mentions(name)),
            T::Tuple(parts) => parts.iter().any(|ty| ty.mentions(name)),
            T::Below(of) | T::Above(of) | T::TypeOf(of) | T::Vararg(of) => of.mentions(name),
            T::Where(body, statics) => {
                let bounds = statics.iter().flat_map(|decl| decl.lower.iter().chain(&decl.upper));
                bounds.into_iter().any(|ty| ty.mentions(name))
                    || (body.mentions(name) && !statics.iter().any(|decl| decl.name == name))
            }
            T::Constant(_) => false,
        }
    }
}
