//! Types as the world reasons about them.
//!
//! A concrete type is an IR type; the other terms are for what only signatures and type values can
//! say: abstract types, unions, type parameters. A term that is a concrete type is always written
//! as [`Ty::Concrete`] (or [`Ty::TypeOf`]), never as the member of a family that it is, so that
//! equal closed types without a `where` are equal terms.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use regraft_dialects::semantics::is_exact;
use regraft_ir::{Constant, Context, Loc, Symbol, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::entities::Field;
pub use super::term::{Bound, FamilyId, Rest, Ty, Var};
pub(super) use super::term::{close, has_loose, union};

/// Families that the rules of the language mention.
#[derive(Clone, Copy, Debug)]
pub(super) struct WellKnown {
    pub array: FamilyId,
    pub reference: FamilyId,
    pub val: FamilyId,
    pub named: FamilyId,
    /// Above all functions and closures.
    pub function: FamilyId,
    /// Above the functions that have no lowered code.
    pub builtin: FamilyId,
    /// Above ops as functions.
    pub intrinsic: FamilyId,
    /// Of all tuples. Only a name for tables: no type is an `App` of it.
    pub tuple: FamilyId,
    /// `Union` alone, which is applied to its members.
    pub union: FamilyId,
    /// `DataType`: the type of all types but unions and those with free parameters.
    pub data_type: FamilyId,
    /// `UnionAll`: the type of types with free parameters.
    pub union_all: FamilyId,
    /// `Vararg{T, N}`: no type, but what stands for the end of a tuple type.
    pub vararg: FamilyId,
    pub(super) scalars: [Option<FamilyId>; Type::BUILTIN.len()],
}

impl WellKnown {
    /// The family of a builtin type of the IR.
    pub fn scalar(&self, ty: Type) -> Option<FamilyId> {
        *self.scalars.get(ty.index())?
    }
}

impl Types {
    /// The type of the type `of`, which is that of more types; `None` if it is a parameter or
    /// has no values.
    pub fn type_of_type(&self, of: &Ty) -> Option<FamilyId> {
        match of {
            Ty::Union(_) => Some(self.well_known.union),
            Ty::Where(..) => Some(self.well_known.union_all),
            Ty::Bottom | Ty::Var(_) | Ty::Value(_) | Ty::Names(_) => None,
            Ty::Any | Ty::Concrete(_) | Ty::TypeOf(_) | Ty::App(..) | Ty::Tuple(..) => {
                Some(self.well_known.data_type)
            }
        }
    }

    /// Returns whether the values of a family are types.
    pub fn is_kind(&self, family: FamilyId) -> bool {
        let known = &self.well_known;
        [known.data_type, known.union_all, known.union].contains(&family)
    }
}

/// The kind of the members of a family.
#[derive(Clone, Debug)]
pub(super) enum FamilyKind {
    Abstract,
    /// A builtin type without parameters.
    Scalar(Type),
    Array,
    Ref,
    Val,
    /// `NamedTuple{names, types}`
    Named,
    Struct(StructInfo),
}

/// The declaration of a struct.
#[derive(Clone, Debug)]
pub(super) struct StructInfo {
    pub mutable: bool,
    pub closure: bool,
    /// Types over the parameters of the family; `None` while they are being found out.
    pub fields: Option<Rc<[(Symbol, Ty)]>>,
    /// The fields of an object that keep their values.
    pub fixed: Rc<[Symbol]>,
    /// The number of leading fields that each `new` gives a value.
    pub given: usize,
    /// The beginning of the name of the IR struct.
    pub ir_name: Symbol,
}

/// A family of types.
#[derive(Clone, Debug)]
pub(super) struct Family {
    pub name: Symbol,
    /// The parameters, as `Var(0)` and so on.
    pub params: Rc<[Bound]>,
    /// Over the parameters.
    pub supertype: Ty,
    /// The type that the name alone means.
    pub bare: Ty,
    pub kind: FamilyKind,
    pub loc: Loc,
}

impl Family {
    /// Returns whether its objects keep the value of a field of that name.
    pub fn fixes(&self, field: Symbol) -> bool {
        matches!(&self.kind, FamilyKind::Struct(info) if info.fixed.contains(&field))
    }
}

/// A member of a family: which one, and the parameters.
pub(super) type Member = (FamilyId, Rc<[Ty]>);

/// All types that there are.
#[derive(Debug)]
pub(super) struct Types {
    pub ctx: Arc<Context>,
    pub families: Vec<Family>,
    pub well_known: WellKnown,
    /// The member of a family that each struct type is.
    pub members: FxHashMap<Type, Member>,
    pub instances: FxHashMap<Member, Type>,
    pub fields: FxHashMap<Type, Rc<[Field]>>,
    /// The struct types whose fields are being found out.
    pub in_progress: Vec<Type>,
    /// Struct types whose fields are found out when those of their families are.
    pub pending: Vec<(FamilyId, Rc<[Ty]>, Type)>,
    pub tokens: FxHashMap<Type, Ty>,
    pub token_of: FxHashMap<Ty, Type>,
    /// Tokens of types with a `where`, of which equal ones may be different terms.
    pub where_tokens: Vec<Type>,
    /// Members of builtin families, taken apart.
    pub views: RefCell<FxHashMap<Type, Member>>,
    /// The functions that inference knows.
    pub builtins: FxHashSet<Symbol>,
    /// The intrinsic functions of Julia.
    pub intrinsics: FxHashSet<Symbol>,
}

impl Types {
    pub fn family(&self, id: FamilyId) -> &Family {
        &self.families[id.0 as usize]
    }

    /// The family that a concrete type is of and its parameters, if it is no tuple, function or
    /// type.
    pub fn member(&self, ty: Type) -> Option<Member> {
        if let Some(known) = self.members.get(&ty) {
            return Some(known.clone());
        }
        if let Some(known) = self.views.borrow().get(&ty) {
            return Some(known.clone());
        }
        let known = &self.well_known;
        let view: Member = match self.ctx.kind(ty) {
            TypeKind::Builtin => (known.scalar(ty)?, Rc::new([])),
            &TypeKind::Array { element, rank } => {
                let rank = Ty::Value(Constant::I64(i64::from(rank)));
                (known.array, Rc::new([self.ty_of(element), rank]))
            }
            &TypeKind::Ref(element) => (known.reference, Rc::new([self.ty_of(element)])),
            &TypeKind::Val(constant) => {
                (known.val, Rc::new([self.parameter(self.ctx.constant(constant))]))
            }
            TypeKind::Named(fields) => {
                let names = Ty::Names(fields.iter().map(|&(name, _)| name).collect());
                let types: Vec<Type> = fields.iter().map(|&(_, ty)| ty).collect();
                (known.named, Rc::new([names, self.tuple_of(&types)]))
            }
            TypeKind::Tuple(_) | TypeKind::Struct(_) | TypeKind::Fn(_) | TypeKind::TypeOf(_) => {
                return None;
            }
        };
        self.views.borrow_mut().insert(ty, view.clone());
        Some(view)
    }

    /// A constant as the parameter of a type.
    pub fn parameter(&self, constant: Constant) -> Ty {
        match constant {
            Constant::Type(ty) => self.ty_of(ty),
            other => Ty::Value(other),
        }
    }

    /// The tuple type of these types.
    pub fn tuple_of(&self, types: &[Type]) -> Ty {
        if types.iter().all(|&ty| is_exact(&self.ctx, ty)) {
            return Ty::Concrete(self.ctx.tuple_type(types));
        }
        Ty::Tuple(types.iter().map(|&ty| self.ty_of(ty)).collect(), None)
    }

    /// Returns the type that an IR type stands for: that of a value, or a type value.
    pub fn ty_of(&self, ty: Type) -> Ty {
        match self.ctx.kind(ty) {
            TypeKind::Builtin if ty == Type::ANY => Ty::Any,
            TypeKind::Builtin if ty == Type::NEVER => Ty::Bottom,
            TypeKind::Struct(_) => self.tokens.get(&ty).cloned().unwrap_or(Ty::Concrete(ty)),
            &TypeKind::TypeOf(of) => Ty::TypeOf(Rc::new(self.ty_of(of))),
            TypeKind::Tuple(elements) => self.tuple_of(elements),
            TypeKind::Named(fields) => {
                if is_exact(&self.ctx, ty) {
                    return Ty::Concrete(ty);
                }
                let names = Ty::Names(fields.iter().map(|&(name, _)| name).collect());
                let types = fields.iter().map(|&(_, ty)| self.ty_of(ty)).collect();
                Ty::App(self.well_known.named, Rc::new([names, Ty::Tuple(types, None)]))
            }
            _ => Ty::Concrete(ty),
        }
    }

    /// A concrete tuple type taken apart.
    pub fn tuple_elements(&self, ty: Type) -> Option<Rc<[Ty]>> {
        match self.ctx.kind(ty) {
            TypeKind::Tuple(elements) => {
                Some(elements.iter().map(|&element| self.ty_of(element)).collect())
            }
            _ => None,
        }
    }

    /// The IR type of values of this type, if it is one that values can have.
    pub fn exact(&mut self, ty: &Ty) -> Option<Type> {
        match ty {
            Ty::Concrete(ty) => Some(*ty),
            Ty::TypeOf(of) if !has_loose(of) => {
                let of = self.type_value(of);
                Some(self.ctx.ty(TypeKind::TypeOf(of)))
            }
            _ => None,
        }
    }

    /// The type of a place that holds values of this type.
    pub fn stored(&mut self, ty: &Ty) -> Type {
        match ty {
            Ty::Bottom => Type::NEVER,
            _ => self.exact(ty).unwrap_or(Type::ANY),
        }
    }

    /// A tuple type.
    pub fn tuple(&mut self, elements: Vec<Ty>, rest: Option<Rest>) -> Ty {
        /// The greatest length of a tuple type that is written out.
        const MAX_COUNT: i64 = 1 << 12;
        let (mut elements, mut rest) = (elements, rest);
        if let Some(Rest { element, count: Some(Ty::Value(Constant::I64(count))) }) = &rest
            && (0..=MAX_COUNT).contains(count)
        {
            elements.extend(std::iter::repeat_n(element.clone(), *count as usize));
            rest = None;
        }
        if rest.is_none() {
            let exact: Option<Vec<Type>> = elements.iter().map(|ty| self.exact(ty)).collect();
            if let Some(exact) = exact {
                return Ty::Concrete(self.ctx.tuple_type(&exact));
            }
        }
        Ty::Tuple(elements.into(), rest.map(Rc::new))
    }

    /// A member of a family. All parameters are there.
    pub fn app(&mut self, family: FamilyId, args: Vec<Ty>) -> Ty {
        if args.iter().any(has_loose) {
            return Ty::App(family, args.into());
        }
        match (&self.family(family).kind, &*args) {
            (&FamilyKind::Scalar(ty), _) => Ty::Concrete(ty),
            (FamilyKind::Array, [element, Ty::Value(Constant::I64(rank @ 1..=255))]) => {
                let element = self.stored(&element.clone());
                Ty::Concrete(self.ctx.array_type(element, *rank as u8))
            }
            (FamilyKind::Ref, [element]) => {
                let element = self.stored(&element.clone());
                Ty::Concrete(self.ctx.ref_type(element))
            }
            (FamilyKind::Val, [arg]) => {
                let constant = match arg {
                    Ty::Value(constant) => *constant,
                    Ty::Names(_) => return Ty::App(family, args.into()),
                    ty => Constant::Type(self.type_value(&ty.clone())),
                };
                let constant = self.ctx.constant_id(constant);
                Ty::Concrete(self.ctx.ty(TypeKind::Val(constant)))
            }
            (FamilyKind::Named, [Ty::Names(names), Ty::Concrete(types)]) => {
                let TypeKind::Tuple(types) = self.ctx.kind(*types) else {
                    return Ty::App(family, args.into());
                };
                if names.len() != types.len() {
                    return Ty::App(family, args.into());
                }
                let fields: Vec<_> = names.iter().copied().zip(types.iter().copied()).collect();
                Ty::Concrete(self.ctx.named_type(&fields))
            }
            (FamilyKind::Struct(_), _) => Ty::Concrete(self.instantiate(family, &args)),
            _ => Ty::App(family, args.into()),
        }
    }

    /// The same with concrete types where members of families without parameters stand, which
    /// is what is left when parameters were substituted.
    pub fn normalize(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::App(family, args) => {
                let args = args.iter().map(|arg| self.normalize(arg)).collect();
                self.app(*family, args)
            }
            Ty::Tuple(elements, rest) => {
                let elements = elements.iter().map(|ty| self.normalize(ty)).collect();
                let rest = rest.as_ref().map(|rest| rest.map(|ty| self.normalize(ty)));
                self.tuple(elements, rest)
            }
            Ty::Union(members) => {
                let members: Vec<Ty> = members.iter().map(|ty| self.normalize(ty)).collect();
                union(members)
            }
            Ty::Where(bounds, body) => {
                let body = self.normalize(body);
                close(bounds, body)
            }
            Ty::TypeOf(of) => Ty::TypeOf(Rc::new(self.normalize(of))),
            other => other.clone(),
        }
    }

    /// The abstract type above a member of a family, of the family `above`: its parameters.
    pub fn climb(&self, family: FamilyId, args: Rc<[Ty]>, above: FamilyId) -> Option<Rc<[Ty]>> {
        let (mut family, mut args) = (family, args);
        while family != above {
            let Ty::App(next, params) = &self.family(family).supertype else { return None };
            args = if params.is_empty() || args.is_empty() {
                params.clone()
            } else {
                params.iter().map(|param| param.with_args(0, &args)).collect()
            };
            family = *next;
        }
        Some(args)
    }

    /// The families above one, itself first.
    pub fn ancestors(&self, family: FamilyId) -> impl Iterator<Item = FamilyId> + '_ {
        std::iter::successors(Some(family), |&id| match &self.family(id).supertype {
            Ty::App(next, _) => Some(*next),
            _ => None,
        })
    }

    /// The family of a function: that of all, of those without lowered code, or of ops.
    pub fn function_family(&self, name: Symbol) -> FamilyId {
        let text = self.ctx.str(name);
        match self.builtins.contains(&name) {
            _ if self.intrinsics.contains(&name) => self.well_known.intrinsic,
            _ if text.contains('.') && self.ctx.registry().find(text).is_some() => {
                self.well_known.intrinsic
            }
            true => self.well_known.builtin,
            false => self.well_known.function,
        }
    }

    /// The family that a type is a member of, whatever the parameters.
    pub fn head(&self, ty: &Ty) -> Option<FamilyId> {
        match ty {
            Ty::Concrete(ty) => match self.ctx.kind(*ty) {
                &TypeKind::Fn(name) => Some(self.function_family(name)),
                TypeKind::Tuple(_) => Some(self.well_known.tuple),
                _ => self.member(*ty).map(|(family, _)| family),
            },
            Ty::App(family, _) => Some(*family),
            Ty::Tuple(..) => Some(self.well_known.tuple),
            Ty::Where(_, body) => self.head(body),
            _ => None,
        }
    }
}
