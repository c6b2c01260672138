//! The tables of a world.

use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Function, Loc, Symbol, Type};
use rustc_hash::FxHashMap;

use super::backedges::Backedges;
use super::bindings::Bindings;
use super::builtin::builtin_types;
use super::code::Code;
use super::deferred::DeferredMethods;
use super::dispatch_table::{Cache, Tables};
use super::entities::{Binding, MethodId, SpecId, StaticValue, TypeArgument};
use super::generator::Request;
use super::method::{Signature, TableKey};
use super::methods::Methods;
use super::types::{Bound, FamilyId, Ty, Types, Var, close};
use crate::definition::Space;
use crate::intrinsics::INTRINSICS;

/// A method as it is in the world.
#[derive(Clone)]
pub struct Method {
    /// The name of what it is a method of, as it is shown.
    pub name: Symbol,
    /// The lowered body; `None` of a dynamo, and of what is lowered later, which is made when
    /// somebody asks for it.
    pub body: Option<Arc<Function>>,
    /// True if the first parameter of the body is the callee itself.
    pub takes_callee: bool,
    /// The number of parameters, apart from the callee; a vararg counts as one.
    pub params: usize,
    /// True if the last one takes all further arguments.
    pub vararg: bool,
    /// The names of its type parameters.
    pub statics: Rc<[Symbol]>,
    /// `@inline` or `@noinline`.
    pub inline: Option<bool>,
    /// The space in which names in it are looked up.
    pub space: Space,
    /// The place of its definition.
    pub loc: Loc,
    /// The age from which on it is there.
    pub born: u64,
    pub(super) signature: Signature,
    pub(super) names: Rc<[Option<Symbol>]>,
    pub(super) table: TableKey,
    pub(super) dynamo: Option<DynamoFn>,
    pub(super) deferred_body: Option<crate::lower::DeferredBody>,
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Method")
            .field("name", &self.name)
            .field("signature", &self.signature)
            .field("born", &self.born)
            .finish_non_exhaustive()
    }
}

impl Method {
    /// The same method, as if it were for so many arguments, of which none is packed.
    pub(super) fn without_rest(&self, params: usize) -> Self {
        Self { params, vararg: false, ..self.clone() }
    }

    /// The bounds of its type parameters.
    pub(super) fn bounds(&self) -> &[Bound] {
        &self.signature.bounds
    }

    /// The type of the parameter for the first argument.
    pub(super) fn first_param(&self) -> Option<&Ty> {
        self.signature.param(1)
    }

    /// Returns whether its code is made from the types of the arguments, with a parameter for each.
    pub(crate) fn is_dynamo(&self) -> bool {
        self.dynamo.is_some()
    }

    /// The type of the parameter for an argument, from 0, of a call with `count` arguments; `None`
    /// if the method is for another number of them.
    pub(crate) fn param_type(&self, count: usize, position: usize) -> Option<&Ty> {
        if !self.signature.takes(count + 1) {
            return None;
        }
        self.signature.param(position + 1)
    }
}

/// The builtin functions of Julia that are methods of the prelude here.
const OF_JULIA: [&str; 15] = [
    "===",
    "_apply_iterate",
    "applicable",
    "apply_type",
    "arrayref",
    "arrayset",
    "fieldtype",
    "getfield",
    "ifelse",
    "isdefined",
    "nfields",
    "setfield!",
    "throw",
    "tuple",
    "typeassert",
];

/// Functions whose methods are rules, and methods of them that nobody was told of yet.
#[derive(Default, Debug)]
pub(super) struct RuleMethods {
    pub(super) functions: Vec<Symbol>,
    pub(super) new: Vec<MethodId>,
}

/// Makes the code of a method from the types of its arguments.
pub type DynamoFn = Rc<dyn Fn(&mut DynamoCx<'_>, &[Type]) -> Result<Code, Vec<Diagnostic>>>;

/// The context of a dynamo.
#[derive(Debug)]
pub struct DynamoCx<'a> {
    /// The world that the method is in.
    pub world: &'a mut World,
    /// The specialisation that the body is for. What the dynamo looks up is to be looked up by it,
    /// so that the body is made anew when an answer changes.
    pub by: Option<SpecId>,
    /// The type of the callee.
    pub callee: Type,
    /// The values of the type parameters.
    pub statics: &'a [StaticValue],
    /// The method that the code is for.
    pub method: MethodId,
}

/// Types, functions, methods, names.
#[derive(Debug)]
pub struct World {
    pub(super) ctx: Arc<Context>,
    pub(super) types: Types,
    pub(super) bindings: Bindings,
    pub(super) methods: Methods<Method>,
    pub(super) tables: Tables,
    /// Methods of the prelude that are not in a table yet.
    pub(super) deferred: DeferredMethods,
    pub(super) cache: Cache,
    pub(super) edges: Backedges,
    /// Methods that others took the place of, and that nobody was told of yet.
    pub(super) replaced: Vec<MethodId>,
    /// The family of each closure, and the name under which it is shown.
    pub(super) closures: FxHashMap<Symbol, (FamilyId, Symbol)>,
    pub(super) rules: RuleMethods,
    /// The wishes for the code of generated functions.
    pub(super) requests: Vec<Request>,
    pub(super) age: u64,
}

impl World {
    /// A world with the builtin types alone, and no function.
    pub fn new(ctx: &Arc<Context>) -> Self {
        let (types, names) = builtin_types(ctx);
        let mut world = Self {
            ctx: Arc::clone(ctx),
            types,
            bindings: Bindings::default(),
            methods: Methods::default(),
            tables: Tables::default(),
            deferred: DeferredMethods::default(),
            requests: Vec::new(),
            cache: Cache::default(),
            edges: Backedges::default(),
            replaced: Vec::new(),
            closures: FxHashMap::default(),
            rules: RuleMethods::default(),
            age: 0,
        };
        for (name, ty) in names {
            let ty = world.types.type_value(&ty);
            world.bindings.set(Space::Base, name, Binding::Type(ty), &mut world.edges);
        }
        world
    }

    /// Says which functions inference knows. They have no code that could be shown, as those that Julia's compiler
    /// knows.
    pub(crate) fn set_builtins(&mut self, names: impl IntoIterator<Item = Symbol>) {
        self.types.builtins.extend(names);
        self.types.builtins.extend(OF_JULIA.map(|name| self.ctx.symbol(name)));
        self.types.intrinsics.extend(INTRINSICS.iter().map(|row| self.ctx.symbol(row.name)));
    }

    /// Returns whether a function has no code that could be shown.
    pub(crate) fn is_builtin(&self, function: Type) -> bool {
        let own = [self.types.well_known.builtin, self.types.well_known.intrinsic];
        self.types.head(&Ty::Concrete(function)).is_some_and(|family| own.contains(&family))
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
        self.methods.get(id)
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

    /// The type as a type value: itself if values can have it, else a token that stands for it.
    pub fn type_value(&mut self, ty: &Ty) -> Type {
        self.types.type_value(ty)
    }

    /// Returns the type that a type value stands for, or that the IR knows of a value.
    pub fn ty_of(&self, ty: Type) -> Ty {
        self.types.ty_of(ty)
    }

    /// Returns whether a type value is a type that values can have.
    pub fn is_concrete(&self, ty: Type) -> bool {
        self.types.is_concrete(ty)
    }

    /// The type of a type value, as a type value: `DataType`, `UnionAll` or `Union`.
    pub fn type_of_type(&mut self, ty: Type) -> Option<Type> {
        let kind = self.types.type_of_type(&self.types.ty_of(ty))?;
        Some(self.types.type_value(&Ty::App(kind, std::rc::Rc::new([]))))
    }

    /// Returns what kind of type a type value is: `abstract`, `mutable`, `bits`, `immutable` or `open`.
    pub fn kind_of(&self, ty: Type) -> &'static str {
        self.types.kind_of(ty)
    }

    /// The type of a place that holds values of the type that a type value stands for: `any` if it
    /// is abstract.
    pub fn stored_type(&mut self, ty: Type) -> Type {
        let ty = self.types.ty_of(ty);
        self.types.stored(&ty)
    }

    /// Returns whether every value of the one type is of the other: `a <: b`.
    pub fn is_subtype(&self, a: &Ty, b: &Ty) -> bool {
        self.types.is_subtype(a, b)
    }

    /// `a <: b` of type values.
    pub fn is_below(&self, a: Type, b: Type) -> bool {
        a == b || self.types.is_subtype(&self.types.ty_of(a), &self.types.ty_of(b))
    }

    /// Returns whether surely no value that the IR knows to be of type `a` is of the type that the
    /// type value `b` stands for.
    pub fn is_disjoint(&self, a: Type, b: Type) -> bool {
        self.types.is_disjoint(&self.types.ty_of(a), &self.types.ty_of(b), &[])
    }

    /// Returns whether a field of an object keeps the value that it began with.
    pub(crate) fn is_fixed(&self, of: Type, field: Symbol) -> bool {
        let member = self.types.members.get(&of);
        member.is_some_and(|(family, _)| self.types.family(*family).fixes(field))
    }

    /// The name of a type in Julia.
    pub fn type_name(&self, ty: Type) -> String {
        if self.module(ty).is_some() {
            return "Module".to_owned();
        }
        self.types.name(&self.types.ty_of(ty))
    }

    /// `head{args…}` as a type value: `T where {…<:above}` where `<:above` is among the parameters,
    /// as of `Vector{<:Real}`.
    ///
    /// # Errors
    /// If it takes no such parameters; a message.
    pub fn apply_type(&mut self, head: Type, args: &[TypeArgument]) -> Result<Type, String> {
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
        let mut applied = self.types.apply(&head, &parameters)?;
        if !opened.is_empty() {
            let closed = close(&opened, applied);
            applied = self.types.normalize(&closed);
        }
        Ok(self.types.type_value(&applied))
    }

    /// The type above another one, as Julia's `supertype`; `Any` of `Any`.
    pub fn supertype(&mut self, ty: Type) -> Type {
        let above = match self.types.ty_of(ty) {
            Ty::Concrete(concrete) => match self.types.member(concrete) {
                Some((family, args)) => self.types.family(family).supertype.with_args(0, &args),
                None => match *self.ctx.kind(concrete) {
                    regraft_ir::TypeKind::Fn(name) => {
                        Ty::App(self.types.function_family(name), Rc::new([]))
                    }
                    _ => Ty::Any,
                },
            },
            Ty::App(family, args) => self.types.family(family).supertype.with_args(0, &args),
            _ => Ty::Any,
        };
        let above = self.types.normalize(&above);
        self.types.type_value(&above)
    }
}
