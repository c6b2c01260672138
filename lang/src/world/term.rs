//! Terms of types: what they are made of, type parameters in them and what is put in their place.

use std::cmp::Ordering;
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
    /// Its variable.
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
    /// The number of them, a parameter; `None` for any number.
    pub count: Option<Ty>,
}

impl Bound {
    /// The same parameter with other bounds.
    pub(super) fn map(&self, f: impl Fn(&Ty) -> Ty) -> Self {
        Self { lower: f(&self.lower), upper: f(&self.upper), ..*self }
    }
}

impl Rest {
    /// The same with other types.
    pub(super) fn map(&self, mut f: impl FnMut(&Ty) -> Ty) -> Self {
        Self { element: f(&self.element), count: self.count.as_ref().map(f) }
    }
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
                rest.as_ref().map(|rest| Rc::new(rest.map(|ty| ty.substitute(f)))),
            ),
            Self::Where(bounds, body) => {
                let shadowing = |var: Var| {
                    if bounds.iter().any(|b| b.var == var) { None } else { f(var) }
                };
                let bounds = bounds.iter().map(|b| b.map(|ty| ty.substitute(&shadowing)));
                Self::Where(bounds.collect(), Rc::new(body.substitute(&shadowing)))
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
        let mut height = match self {
            Self::Var(var) => (var.0 + 1).saturating_sub(Var::FIRST_BOUND),
            _ => 0,
        };
        self.any_part(&mut |part| {
            height = height.max(part.bound_height());
            false
        });
        height
    }

    /// Returns whether `f` is true of a type that this one is directly made of.
    fn any_part(&self, f: &mut dyn FnMut(&Ty) -> bool) -> bool {
        match self {
            Self::Any | Self::Bottom | Self::Concrete(_) | Self::Value(_) => false,
            Self::Names(_) | Self::Var(_) => false,
            Self::App(_, args) | Self::Union(args) => args.iter().any(f),
            Self::Tuple(elements, rest) => {
                elements.iter().any(&mut *f)
                    || rest
                        .as_ref()
                        .is_some_and(|r| f(&r.element) || r.count.as_ref().is_some_and(f))
            }
            Self::Where(bounds, body) => {
                f(body) || bounds.iter().any(|b| f(&b.lower) || f(&b.upper))
            }
            Self::TypeOf(of) => f(of),
        }
    }

    /// Counts the covariant occurrences of a parameter, and tells whether it occurs elsewhere.
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

    /// Returns whether a parameter that occurs so often has to be a concrete type (the diagonal
    /// rule of Julia: used twice or more, covariantly only).
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
            flat.sort_by(order);
            Ty::Union(flat.into())
        }
    }
}

/// A deterministic order: ids follow the order in which the program made things.
fn order(a: &Ty, b: &Ty) -> Ordering {
    let key = |ty: &Ty| match ty {
        Ty::Concrete(ty) => (0, ty.index() as u32),
        Ty::App(family, args) if args.is_empty() => (1, family.0),
        Ty::App(family, _) => (2, family.0),
        Ty::Where(_, body) => match &**body {
            Ty::App(family, _) => (3, family.0),
            _ => (5, 0),
        },
        Ty::Var(var) => (4, var.0),
        _ => (5, 0),
    };
    // Few unions have several members of one family.
    key(a).cmp(&key(b)).then_with(|| {
        if a == b { Ordering::Equal } else { format!("{a:?}").cmp(&format!("{b:?}")) }
    })
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
            ..b.map(|ty| ty.substitute(&rename))
        })
        .collect();
    Ty::Where(bounds, Rc::new(body.substitute(&rename)))
}

/// Returns whether a parameter occurs that no `where` within the type binds.
pub(super) fn has_loose(ty: &Ty) -> bool {
    fn loose(ty: &Ty, within: &mut Vec<Var>) -> bool {
        let outside = within.len();
        match ty {
            Ty::Var(var) => return !within.contains(var),
            Ty::Where(bounds, _) => within.extend(bounds.iter().map(|b| b.var)),
            _ => {}
        }
        let found = ty.any_part(&mut |part| loose(part, within));
        within.truncate(outside);
        found
    }
    loose(ty, &mut Vec::new())
}
