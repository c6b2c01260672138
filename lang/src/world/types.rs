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
use rustc_hash::FxHashMap;

use super::Field;

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
    /// A type that values can have: an exact IR type, other than `type<..>`.
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

/// What the members of a family are.
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

/// What is declared of a struct.
#[derive(Clone, Debug)]
pub(super) struct StructInfo {
    pub mutable: bool,
    pub closure: bool,
    /// Types over the parameters of the family; `None` while they are being found out.
    pub fields: Option<Rc<[(Symbol, Ty)]>>,
    /// What the name of the IR struct begins with.
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
    /// What the name alone means.
    pub bare: Ty,
    pub kind: FamilyKind,
    pub loc: Loc,
}

/// A member of a family: which one, and the parameters.
pub(super) type Member = (FamilyId, Rc<[Ty]>);

/// All types that there are.
#[derive(Debug)]
pub(super) struct Types {
    pub ctx: Arc<Context>,
    pub families: Vec<Family>,
    pub well_known: super::builtin::WellKnown,
    /// Which member of a family a struct type is.
    pub members: FxHashMap<Type, Member>,
    pub instances: FxHashMap<Member, Type>,
    pub fields: FxHashMap<Type, Rc<[Field]>>,
    /// The struct types whose fields are being found out.
    pub in_progress: Vec<Type>,
    /// Struct types whose fields are found out when those of their families are.
    pub pending: Vec<(FamilyId, Rc<[Ty]>, Type)>,
    pub markers: FxHashMap<Type, Ty>,
    pub marker_of: FxHashMap<Ty, Type>,
    /// Markers of types with a `where`, of which equal ones may be different terms.
    pub where_markers: Vec<Type>,
    /// Members of builtin families, taken apart.
    pub views: RefCell<FxHashMap<Type, Member>>,
}

impl Ty {
    /// Calls `f` with each parameter in it that `f` may replace; those that a `where` within
    /// binds are left out.
    pub(super) fn substitute(&self, f: &dyn Fn(Var) -> Option<Ty>) -> Self {
        match self {
            Self::Any | Self::Bottom | Self::Concrete(_) | Self::Value(_) | Self::Names(_) => {
                self.clone()
            }
            Self::Var(var) => f(*var).unwrap_or_else(|| self.clone()),
            Self::App(family, args) => {
                Self::App(*family, args.iter().map(|a| a.substitute(f)).collect())
            }
            Self::Union(members) => union(members.iter().map(|a| a.substitute(f))),
            Self::Tuple(elements, rest) => Self::Tuple(
                elements.iter().map(|a| a.substitute(f)).collect(),
                rest.as_ref().map(|rest| {
                    Rc::new(Rest {
                        element: rest.element.substitute(f),
                        count: rest.count.as_ref().map(|count| count.substitute(f)),
                    })
                }),
            ),
            Self::Where(bounds, body) => {
                let shadowing = |var: Var| {
                    if bounds.iter().any(|b| b.var == var) { None } else { f(var) }
                };
                let bounds = bounds
                    .iter()
                    .map(|b| Bound {
                        var: b.var,
                        name: b.name,
                        lower: b.lower.substitute(&shadowing),
                        upper: b.upper.substitute(&shadowing),
                    })
                    .collect();
                Self::Where(bounds, Rc::new(body.substitute(&shadowing)))
            }
            Self::TypeOf(of) => Self::TypeOf(Rc::new(of.substitute(f))),
        }
    }

    /// With `args` for the parameters from `first` on.
    pub(super) fn with_args(&self, first: u32, args: &[Ty]) -> Self {
        if args.is_empty() {
            return self.clone();
        }
        self.substitute(&|var| args.get(var.0.checked_sub(first)? as usize).cloned())
    }

    /// One more than the largest number of a parameter that is bound within.
    fn bound_height(&self) -> u32 {
        let all = |items: &[Ty]| items.iter().map(Self::bound_height).max().unwrap_or(0);
        match self {
            Self::Any | Self::Bottom | Self::Concrete(_) | Self::Value(_) | Self::Names(_) => 0,
            Self::Var(var) => (var.0 + 1).saturating_sub(Var::FIRST_BOUND),
            Self::App(_, args) | Self::Union(args) => all(args),
            Self::Tuple(elements, rest) => {
                let rest = rest.as_ref().map_or(0, |rest| {
                    let count = rest.count.as_ref().map_or(0, Self::bound_height);
                    rest.element.bound_height().max(count)
                });
                all(elements).max(rest)
            }
            Self::Where(bounds, body) => bounds
                .iter()
                .map(|b| b.lower.bound_height().max(b.upper.bound_height()))
                .fold(body.bound_height(), u32::max),
            Self::TypeOf(of) => of.bound_height(),
        }
    }

    /// How often a parameter occurs where tuples are covariant, and whether it does elsewhere.
    /// Several times means 2.
    pub(super) fn occurrences(&self, var: Var) -> (u32, bool) {
        let mut found = (0, false);
        self.count_occurrences(var, true, &mut found);
        found
    }

    fn count_occurrences(&self, var: Var, covariant: bool, found: &mut (u32, bool)) {
        match self {
            Self::Any | Self::Bottom | Self::Concrete(_) | Self::Value(_) | Self::Names(_) => {}
            Self::Var(other) => {
                if *other == var {
                    if covariant { found.0 += 1 } else { found.1 = true }
                }
            }
            Self::App(_, args) => {
                args.iter().for_each(|a| a.count_occurrences(var, false, found));
            }
            Self::TypeOf(of) => of.count_occurrences(var, false, found),
            Self::Union(members) => {
                // One of them is what the type is: the most that one has.
                let mut most = 0;
                for member in members.iter() {
                    let mut inner = (0, false);
                    member.count_occurrences(var, covariant, &mut inner);
                    most = most.max(inner.0);
                    found.1 |= inner.1;
                }
                found.0 += most;
            }
            Self::Tuple(elements, rest) => {
                elements.iter().for_each(|a| a.count_occurrences(var, covariant, found));
                if let Some(rest) = rest {
                    rest.element.count_occurrences(var, covariant, found);
                    rest.element.count_occurrences(var, covariant, found);
                    if let Some(count) = &rest.count {
                        count.count_occurrences(var, false, found);
                    }
                }
            }
            Self::Where(bounds, body) => {
                body.count_occurrences(var, covariant, found);
                for bound in bounds.iter() {
                    bound.lower.count_occurrences(var, false, found);
                    bound.upper.count_occurrences(var, false, found);
                }
            }
        }
    }

    /// Whether a parameter that occurs so often has to be a concrete type (the diagonal rule of
    /// Julia: used twice or more, covariantly only).
    pub(super) fn is_diagonal((covariant, elsewhere): (u32, bool)) -> bool {
        covariant > 1 && !elsewhere
    }
}

/// The union of types: flat, without repetitions. `Union{T}` is `T`.
pub(super) fn union(members: impl IntoIterator<Item = Ty>) -> Ty {
    let mut flat: Vec<Ty> = Vec::new();
    let mut add = |ty: Ty| {
        if ty != Ty::Bottom && !flat.contains(&ty) {
            flat.push(ty);
        }
    };
    for member in members {
        match member {
            Ty::Any => return Ty::Any,
            Ty::Union(inner) => inner.iter().for_each(|ty| add(ty.clone())),
            other => add(other),
        }
    }
    match flat.len() {
        0 => Ty::Bottom,
        1 => flat.swap_remove(0),
        _ => {
            // In one order, so that equal unions are equal terms.
            flat.sort_by_cached_key(order_key);
            Ty::Union(flat.into())
        }
    }
}

/// Deterministic: ids follow the order in which the program made things.
fn order_key(ty: &Ty) -> (u8, u32, String) {
    match ty {
        Ty::Concrete(ty) => (0, ty.index() as u32, String::new()),
        Ty::App(family, args) if args.is_empty() => (1, family.0, String::new()),
        other => (2, 0, format!("{other:?}")),
    }
}

/// `body where {vars…}`: of the parameters `vars`, those that occur are bound. Equal types of one
/// shape get equal numbers.
pub(super) fn close(vars: &[Bound], body: Ty) -> Ty {
    let (mut bounds, mut body) = (vars.to_vec(), body);
    if let Ty::Where(inner, inner_body) = &body {
        bounds.extend(inner.iter().cloned());
        body = (**inner_body).clone();
    }
    // From the last on: a bound may mention earlier parameters.
    for i in (0..bounds.len()).rev() {
        let var = bounds[i].var;
        let used = |ty: &Ty| ty.occurrences(var) != (0, false);
        let in_bounds = bounds[i + 1..].iter().any(|b| used(&b.lower) || used(&b.upper));
        if !used(&body) && !in_bounds {
            bounds.remove(i);
        }
    }
    if bounds.is_empty() {
        return body;
    }
    // The inner parameters are numbered anew together with the outer ones.
    let own: Vec<Var> = bounds.iter().map(|b| b.var).collect();
    let hide = |ty: &Ty| ty.substitute(&|var| own.contains(&var).then_some(Ty::Any)).bound_height();
    let height =
        bounds.iter().map(|b| hide(&b.lower).max(hide(&b.upper))).fold(hide(&body), u32::max);
    let rename = |var: Var| {
        let index = own.iter().position(|&own| own == var)?;
        Some(Ty::Var(Var(Var::FIRST_BOUND + height + index as u32)))
    };
    let bounds: Rc<[Bound]> = bounds
        .iter()
        .enumerate()
        .map(|(i, b)| Bound {
            var: Var(Var::FIRST_BOUND + height + i as u32),
            name: b.name,
            lower: b.lower.substitute(&rename),
            upper: b.upper.substitute(&rename),
        })
        .collect();
    Ty::Where(bounds, Rc::new(body.substitute(&rename)))
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

    /// What a type of the IR stands for: that of a value, or a type value.
    pub fn ty_of(&self, ty: Type) -> Ty {
        match self.ctx.kind(ty) {
            TypeKind::Builtin if ty == Type::ANY => Ty::Any,
            TypeKind::Builtin if ty == Type::NEVER => Ty::Bottom,
            TypeKind::Struct(_) => self.markers.get(&ty).cloned().unwrap_or(Ty::Concrete(ty)),
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
        /// Longer ones are no types that anyone means.
        const MOST: i64 = 1 << 12;
        let (mut elements, mut rest) = (elements, rest);
        if let Some(Rest { element, count: Some(Ty::Value(Constant::I64(count))) }) = &rest
            && (0..=MOST).contains(count)
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
                let rest = rest.as_ref().map(|rest| Rest {
                    element: self.normalize(&rest.element),
                    count: rest.count.clone(),
                });
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

    /// The family that a type is a member of, whatever the parameters.
    pub fn head(&self, ty: &Ty) -> Option<FamilyId> {
        match ty {
            Ty::Concrete(ty) => match self.ctx.kind(*ty) {
                TypeKind::Fn(_) => Some(self.well_known.function),
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

/// Whether a parameter occurs that no `where` within the type binds.
pub(super) fn has_loose(ty: &Ty) -> bool {
    fn loose(ty: &Ty, within: &mut Vec<Var>) -> bool {
        match ty {
            Ty::Any | Ty::Bottom | Ty::Concrete(_) | Ty::Value(_) | Ty::Names(_) => false,
            Ty::Var(var) => !within.contains(var),
            Ty::App(_, args) | Ty::Union(args) => args.iter().any(|ty| loose(ty, within)),
            Ty::Tuple(elements, rest) => {
                elements.iter().any(|ty| loose(ty, within))
                    || rest.as_ref().is_some_and(|rest| {
                        loose(&rest.element, within)
                            || rest.count.as_ref().is_some_and(|count| loose(count, within))
                    })
            }
            Ty::Where(bounds, body) => {
                let outside = within.len();
                within.extend(bounds.iter().map(|b| b.var));
                let found = loose(body, within)
                    || bounds.iter().any(|b| loose(&b.lower, within) || loose(&b.upper, within));
                within.truncate(outside);
                found
            }
            Ty::TypeOf(of) => loose(of, within),
        }
    }
    loose(ty, &mut Vec::new())
}
