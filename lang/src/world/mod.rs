//! The world: every type, function, method and global name that a program knows of, and which
//! method a call runs.
//!
//! It owns no code but the lowered bodies that methods came with. Inference asks it, and tells it
//! which specialisation asked ([`SpecId`]), so that a definition invalidates exactly those whose
//! questions it answers differently.

mod backedges;
mod bindings;
mod builtin;
mod candidates;
mod deferred;
mod define;
mod dispatch;
mod dynamo;
mod eval;
mod instances;
mod ir_program;
mod marker;
mod method;
mod name;
mod rules;
mod structs;
mod subtype;
mod term;
mod types;

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Constant, Context, Diagnostic, Function, Symbol, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::definition::{Space, TypeExpr};

pub use candidates::{MethodLine, MethodList};
pub(crate) use deferred::Deferred;
pub use dynamo::{DynamoCx, DynamoDef};
pub use method::Method;
pub use types::{Bound, FamilyId, Rest, Ty, Var};

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
    /// The values of its type parameters, in the order of [`Method::statics`].
    pub statics: Rc<[StaticValue]>,
    /// Whether all argument types were exact. If not, the method is right for every value that
    /// the arguments can have all the same.
    pub exact: bool,
}

/// What a call with arguments of certain types does.
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

/// What a name stands for.
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
        /// Under which name the interpreter keeps it.
        name: Symbol,
        /// Of which type it is.
        ty: Type,
    },
    /// A variable: its value is in the interpreter, under `name`.
    Variable {
        /// Under which name the interpreter keeps it.
        name: Symbol,
        /// Of which type its value is as long as it is bound so: `any` if it has no value yet, or
        /// if values of other types may be assigned to it while code runs that reads it.
        ty: Type,
    },
    /// Nothing yet.
    Undefined,
}

/// Makes the lowered body of a method from the types of its arguments.
pub type DynamoFn = Rc<dyn Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Function, Diagnostic>>;

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

/// Types, functions, methods, names.
#[derive(Debug)]
pub struct World {
    ctx: Arc<Context>,
    types: types::Types,
    bindings: bindings::Bindings,
    /// Names of the prelude that the program adds methods to without saying `Base.`.
    imported: FxHashSet<Symbol>,
    /// All that there ever were.
    methods: Vec<Method>,
    tables: dispatch::Tables,
    /// Those of the prelude that are not in a table yet.
    deferred: deferred::DeferredMethods,
    cache: dispatch::Cache,
    edges: backedges::Backedges,
    /// Methods that others took the place of, and that nobody was told of yet.
    replaced: Vec<MethodId>,
    /// The family of each closure, and the name under which it is shown.
    closures: FxHashMap<Symbol, (FamilyId, Symbol)>,
    rules: rules::RuleMethods,
    age: u64,
}

impl World {
    /// A world with the builtin types alone, and no function.
    pub fn new(ctx: &Arc<Context>) -> Self {
        let (types, names) = builtin::builtin_types(ctx);
        let mut world = Self {
            ctx: Arc::clone(ctx),
            types,
            bindings: bindings::Bindings::default(),
            imported: FxHashSet::default(),
            methods: Vec::new(),
            tables: dispatch::Tables::default(),
            deferred: deferred::DeferredMethods::default(),
            cache: dispatch::Cache::default(),
            edges: backedges::Backedges::default(),
            replaced: Vec::new(),
            closures: FxHashMap::default(),
            rules: rules::RuleMethods::default(),
            age: 0,
        };
        for (name, ty) in names {
            let ty = world.types.type_value(&ty);
            world.bindings.set(Space::Base, name, Binding::Type(ty), &mut world.edges);
        }
        world
    }

    /// The context of its types and bodies.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// The age: the number of changes so far.
    pub fn age(&self) -> u64 {
        self.age
    }

    /// A method.
    pub fn method(&self, id: MethodId) -> Option<&Method> {
        self.methods.get(id.0 as usize)
    }

    /// A new specialisation.
    pub fn new_spec(&mut self) -> SpecId {
        self.edges.new_spec()
    }

    /// Says that `spec` is wrong if `on` is.
    pub fn depend(&mut self, spec: SpecId, on: SpecId) {
        self.edges.depend(spec, on);
    }

    /// Says that a specialisation is wrong.
    pub(crate) fn invalidate(&mut self, spec: SpecId) {
        self.edges.invalidate(spec);
    }

    /// The methods that others took the place of since this was last asked.
    pub(crate) fn take_replaced(&mut self) -> Vec<MethodId> {
        std::mem::take(&mut self.replaced)
    }

    /// The specialisations that became wrong since this was last asked, in order of their ids.
    pub fn take_invalidated(&mut self) -> Vec<SpecId> {
        self.edges.take_invalidated()
    }

    /// The type as a type value: itself if values can have it, else a marker that stands for it.
    pub fn type_value(&mut self, ty: &Ty) -> Type {
        self.types.type_value(ty)
    }

    /// What a type value stands for, or a type that the IR knows of a value.
    pub fn ty_of(&self, ty: Type) -> Ty {
        self.types.ty_of(ty)
    }

    /// Whether a type value is a type that values can have.
    pub fn is_concrete(&self, ty: Type) -> bool {
        self.types.is_concrete(ty)
    }

    /// The type of a place that holds values of the type that a type value stands for: `any` if it
    /// is abstract.
    pub fn stored_type(&mut self, ty: Type) -> Type {
        let ty = self.types.ty_of(ty);
        self.types.stored(&ty)
    }

    /// Whether every value of the one type is of the other: `a <: b`.
    pub fn is_subtype(&self, a: &Ty, b: &Ty) -> bool {
        self.types.is_subtype(a, b)
    }

    /// `a <: b` of type values.
    pub fn is_below(&self, a: Type, b: Type) -> bool {
        a == b || self.types.is_subtype(&self.types.ty_of(a), &self.types.ty_of(b))
    }

    /// Whether surely no value that the IR knows to be of type `a` is of the type that the type
    /// value `b` stands for.
    pub fn is_disjoint(&self, a: Type, b: Type) -> bool {
        self.types.is_disjoint(&self.types.ty_of(a), &self.types.ty_of(b), &[])
    }

    /// The name of a type in Julia.
    pub fn type_name(&self, ty: Type) -> String {
        self.types.name(&self.types.ty_of(ty))
    }

    /// `head{args…}` as a type value.
    ///
    /// # Errors
    /// If it takes no such parameters; a message.
    pub fn apply_type(&mut self, head: Type, args: &[StaticValue]) -> Result<Type, String> {
        let head = self.types.ty_of(head);
        let mut parameters = Vec::with_capacity(args.len());
        for arg in args {
            match self.types.parameter_of(arg) {
                Some(parameter) => parameters.push(parameter),
                None => {
                    let name = self.types.name(&head);
                    return Err(format!(
                        "a parameter of {name} is a type, an integer, a symbol or a bool"
                    ));
                }
            }
        }
        let applied = self.types.apply(&head, &parameters)?;
        Ok(self.types.type_value(&applied))
    }

    /// The type above another one, as Julia's `supertype`; `Any` of `Any`.
    pub fn supertype(&mut self, ty: Type) -> Type {
        let above = match self.types.ty_of(ty) {
            Ty::Concrete(concrete) => match self.types.member(concrete) {
                Some((family, args)) => self.types.family(family).supertype.with_args(0, &args),
                None if matches!(self.ctx.kind(concrete), regraft_ir::TypeKind::Fn(_)) => {
                    Ty::App(self.types.well_known.function, Rc::new([]))
                }
                None => Ty::Any,
            },
            Ty::App(family, args) => self.types.family(family).supertype.with_args(0, &args),
            _ => Ty::Any,
        };
        let above = self.types.normalize(&above);
        self.types.type_value(&above)
    }

    /// `T where {…<:above}` of a parameter `<:above`: `Vector{<:Real}` is `head{args…}` with such
    /// a one among the parameters, which `below` tells.
    ///
    /// # Errors
    /// Those of [`World::apply_type`].
    pub fn apply_type_below(&mut self, head: Type, args: &[TypeArgument]) -> Result<Type, String> {
        let head = self.types.ty_of(head);
        let mut opened = Vec::new();
        let mut parameters = Vec::new();
        for arg in args {
            let parameter = match arg {
                TypeArgument::Is(value) => self.types.parameter_of(value),
                TypeArgument::Below(upper) => {
                    let var = Var(opened.len() as u32);
                    let upper = self.types.ty_of(*upper);
                    let name = self.ctx.symbol("");
                    opened.push(Bound { var, name, lower: Ty::Bottom, upper });
                    Some(Ty::Var(var))
                }
            };
            let Some(parameter) = parameter else {
                let name = self.types.name(&head);
                return Err(format!(
                    "a parameter of {name} is a type, an integer, a symbol or a bool"
                ));
            };
            parameters.push(parameter);
        }
        let applied = self.types.apply(&head, &parameters)?;
        let closed = types::close(&opened, applied);
        let closed = self.types.normalize(&closed);
        Ok(self.types.type_value(&closed))
    }

    /// Evaluates a type in which no type parameters are in scope.
    ///
    /// # Errors
    /// All that is wrong with it, with the places.
    pub fn eval_type(&mut self, expr: &TypeExpr, space: Space) -> Result<Ty, Vec<Diagnostic>> {
        let seen = bindings::Seen { bindings: &self.bindings, space };
        let mut eval = eval::Eval::new(&mut self.types, &seen);
        let ty = eval.ty(expr);
        if eval.errors.is_empty() { Ok(ty) } else { Err(eval.errors) }
    }
}

/// A parameter of a type as it is written in code.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeArgument {
    /// `T`
    Is(StaticValue),
    /// `<:T`
    Below(Type),
}
