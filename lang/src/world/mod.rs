//! The world: every type, function, method and global name that a program knows of, and which
//! method a call runs.
//!
//! It owns no code but the lowered bodies that methods came with. Inference asks it, and tells it
//! which specialisation asked ([`SpecId`]), so that a definition invalidates exactly those whose
//! questions it answers differently.

mod types;

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Constant, Context, Diagnostic, Function, Loc, Symbol, Type};

use crate::definition::{AbstractDecl, ClosureDef, MethodDef, Space, StructDecl, TypeExpr};

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
    /// A variable: its value, which may change its type, is in the interpreter, under `name`.
    Variable {
        /// Under which name the interpreter keeps it.
        name: Symbol,
    },
    /// Nothing yet.
    Undefined,
}

/// Makes the lowered body of a method from the types of its arguments.
pub type DynamoFn = Rc<dyn Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Function, Diagnostic>>;

/// What a dynamo can ask.
#[derive(Debug)]
pub struct DynamoCx<'a> {
    /// The world that the method is in.
    pub world: &'a mut World,
    /// The specialisation that the body is for: what the dynamo looks up is looked up by it.
    pub by: Option<SpecId>,
    /// The type of the callee.
    pub callee: Type,
    /// The type parameters of the method.
    pub statics: &'a [StaticValue],
}

/// A field of a struct type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: Symbol,
    /// The declared type as a type value: what values are converted to.
    pub declared: Type,
    /// Its type in the IR: `any` if the declared type is abstract.
    pub stored: Type,
}

/// Types, functions, methods, names.
#[derive(Debug)]
pub struct World {
    ctx: Arc<Context>,
}

/// The public face; replaced as the parts come.
#[allow(unused_variables)]
impl World {
    /// A world with the builtin types alone.
    pub fn new(ctx: &Arc<Context>) -> Self {
        Self { ctx: Arc::clone(ctx) }
    }
    /// Defines a method.
    pub fn define(&mut self, def: MethodDef) -> Result<MethodId, Vec<Diagnostic>> {
        Err(Vec::new())
    }
    /// Declares a struct type, with its constructors.
    pub fn declare_struct(&mut self, decl: StructDecl) -> Result<(), Vec<Diagnostic>> {
        Ok(())
    }
    /// Declares an abstract type.
    pub fn declare_abstract(&mut self, decl: AbstractDecl) -> Result<(), Vec<Diagnostic>> {
        Ok(())
    }
    /// Declares a function without methods.
    pub fn declare_function(&mut self, name: Symbol, space: Space, loc: Loc) -> Result<Symbol, Diagnostic> {
        Ok(name)
    }
    /// Binds a name to a constant whose value is known.
    pub fn bind_const(&mut self, name: Symbol, space: Space, value: Constant, loc: Loc) -> Result<(), Diagnostic> {
        Ok(())
    }
    /// Binds a name to a constant that the interpreter keeps, under the name that is returned.
    pub fn bind_global(&mut self, name: Symbol, space: Space, ty: Type, loc: Loc) -> Result<Symbol, Diagnostic> {
        Ok(name)
    }
    /// Makes a name a variable that the interpreter keeps, under the name that is returned. Does
    /// nothing if it is one.
    pub fn declare_variable(&mut self, name: Symbol, space: Space, loc: Loc) -> Result<Symbol, Diagnostic> {
        Ok(name)
    }
    /// Makes a closure known, with its methods.
    pub fn register_closure(&mut self, def: &ClosureDef) -> Result<(), Vec<Diagnostic>> {
        Ok(())
    }
    /// The struct type of a closure with captures of these types.
    pub fn closure_type(&mut self, name: Symbol, captures: &[Type]) -> Option<Type> {
        None
    }
    /// What a name stands for; `by` is told if that changes.
    pub fn resolve(&mut self, name: Symbol, space: Space, by: Option<SpecId>) -> Binding {
        Binding::Undefined
    }
    /// The method that a call runs; `by` is told if that changes.
    pub fn dispatch(&mut self, callee: Type, args: &[Type], by: Option<SpecId>) -> Dispatch {
        Dispatch::Unknown
    }
    /// The method that a call ran at an age.
    pub fn dispatch_at(&mut self, age: u64, callee: Type, args: &[Type]) -> Dispatch {
        Dispatch::Unknown
    }
    /// The age: the number of changes so far.
    pub fn age(&self) -> u64 {
        0
    }
    /// A new specialisation.
    pub fn new_spec(&mut self) -> SpecId {
        SpecId(0)
    }
    /// Says that `spec` is wrong if `on` is.
    pub fn depend(&mut self, spec: SpecId, on: SpecId) {}
    /// The specialisations that became wrong since this was last asked, in order.
    pub fn take_invalidated(&mut self) -> Vec<SpecId> {
        Vec::new()
    }
    /// The type as a type value.
    pub fn type_value(&mut self, ty: &Ty) -> Type {
        Type::ANY
    }
    /// What a type value stands for.
    pub fn ty_of(&self, ty: Type) -> Ty {
        Ty::Any
    }
    /// Whether every value of the one is of the other.
    pub fn is_subtype(&self, a: &Ty, b: &Ty) -> bool {
        false
    }
    /// The name of a type in Julia.
    pub fn type_name(&self, ty: Type) -> String {
        String::new()
    }
    /// `head{args…}` as a type value.
    pub fn apply_type(&mut self, head: Type, args: &[StaticValue]) -> Result<Type, String> {
        Ok(head)
    }
    /// Evaluates a type with type parameters in scope.
    pub fn eval_type(&mut self, expr: &TypeExpr, space: Space) -> Result<Ty, Vec<Diagnostic>> {
        Err(Vec::new())
    }
    /// The fields of a struct type.
    pub fn fields(&self, ty: Type) -> Option<Rc<[Field]>> {
        None
    }
    /// The lowered body of a method for these arguments.
    pub fn body(&mut self, found: &MethodMatch, callee: Type, args: &[Type], by: Option<SpecId>) -> Result<Arc<Function>, Diagnostic> {
        Err(Diagnostic::error(""))
    }
    /// A method.
    pub fn method(&self, id: MethodId) -> Option<&Method> {
        None
    }
    /// What to say of a call that no method is for: a message, and help.
    pub fn no_method(&self, callee: Type, args: &[Type]) -> (String, Vec<String>) {
        (String::new(), Vec::new())
    }
    /// What to say of a call that is ambiguous.
    pub fn ambiguous(&self, callee: Type, args: &[Type], methods: &[MethodId]) -> (String, Vec<String>) {
        (String::new(), Vec::new())
    }
    /// What to say of a name that stands for nothing.
    pub fn undefined(&self, name: Symbol, space: Space) -> (String, Vec<String>) {
        (String::new(), Vec::new())
    }
}

/// A method as it is in the world.
#[derive(Clone, Debug)]
pub struct Method {
    /// The name of what it is a method of, as it is shown.
    pub name: Symbol,
    /// The lowered body; `None` of a dynamo, whose body [`World::body`] makes.
    pub body: Option<Arc<Function>>,
    /// Whether the first parameter of the body is the callee itself.
    pub takes_callee: bool,
    /// The number of parameters, apart from the callee; a vararg counts as one.
    pub params: usize,
    /// Whether the last one takes all further arguments.
    pub vararg: bool,
    /// The names of its type parameters.
    pub statics: Rc<[Symbol]>,
    /// `@inline` or `@noinline`.
    pub inline: Option<bool>,
    /// Where names in it are looked up.
    pub space: Space,
    /// Where it is defined.
    pub loc: Loc,
    /// The age from which on it is there.
    pub born: u64,
    /// The age from which on it is not there any more.
    pub died: Option<u64>,
}
