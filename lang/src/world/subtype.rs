//! Subtyping: which types are below which others, and with which type parameters.
//!
//! As in Julia (Zappa Nardelli et al., "Julia subtyping: a rational reconstruction", OOPSLA 2018;
//! Bezanson's thesis, chapter 4), parameters of families are invariant, tuples are covariant. A
//! type parameter on the left stands for every type within its bounds, one on the right for some
//! type, which is found by narrowing an interval: what is known to be below it grows, what is
//! known to be above it shrinks. One that is used twice, covariantly only, has to be a concrete
//! type in the end (the diagonal rule).
//!
//! Unions on the right are tried one member after the other with the first that fits taken, which
//! makes it incomplete (it may say no to a few unions of type parameters where Julia says yes) and
//! keeps it fast. The number of steps is bounded; beyond it the answer is no.

use regraft_ir::{Type, TypeKind};
use smallvec::SmallVec;

use super::types::{Bound, FamilyKind, Rest, Ty, Types, Var, union};

/// The most steps of a question; no type that a person writes takes as many.
const MAX_STEPS: u32 = 50_000;

/// The bounds known of a type parameter in scope.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// True if it stands for every type within its bounds, rather than for some type.
    pub rigid: bool,
    /// True if it has to be a concrete type.
    pub concrete: bool,
    /// One of a lower level does not know of those of higher ones.
    pub level: u32,
    pub lower: Ty,
    pub upper: Ty,
}

/// A question about types: the type parameters in scope.
#[derive(Debug)]
pub(super) struct Question<'a> {
    pub types: &'a Types,
    pub slots: SmallVec<[Slot; 4]>,
    /// The number of invariant parameters around the present position.
    invariant: u32,
    steps: u32,
}

impl<'a> Question<'a> {
    pub fn new(types: &'a Types) -> Self {
        Self { types, slots: SmallVec::new(), invariant: 0, steps: 0 }
    }

    /// Brings parameters into scope, numbered from the number of those that are in scope on.
    /// Their bounds are numbered so already.
    pub fn open(&mut self, bounds: &[Bound], rigid: bool, diagonal: impl Fn(usize) -> bool) {
        let level = self.slots.len() as u32 + 1;
        for (i, bound) in bounds.iter().enumerate() {
            self.slots.push(Slot {
                rigid,
                concrete: diagonal(i),
                level,
                lower: bound.lower.clone(),
                upper: bound.upper.clone(),
            });
        }
    }

    /// Brings parameters into scope that stand for the concrete types of values, of which no more
    /// is known.
    pub fn open_unknown(&mut self, count: u32) {
        for _ in 0..count {
            let (lower, upper) = (Ty::Bottom, Ty::Any);
            self.slots.push(Slot { rigid: true, concrete: true, level: 0, lower, upper });
        }
    }

    /// Brings the parameters of a `where` into scope. Returns the body.
    fn open_where(&mut self, bounds: &[Bound], body: &Ty, rigid: bool) -> Ty {
        let first = self.slots.len() as u32;
        let rename = |var: Var| {
            let index = bounds.iter().position(|b| b.var == var)?;
            Some(Ty::Var(Var(first + index as u32)))
        };
        let opened: SmallVec<[Bound; 2]> =
            bounds.iter().map(|b| b.map(|ty| ty.substitute(&rename))).collect();
        self.open(&opened, rigid, |i| Ty::is_diagonal(body.occurrences(bounds[i].var)));
        if rigid && self.invariant == 0 {
            // Tuples distribute: a tuple of vectors of anything is, for some `T`, one of vectors
            // of `T`. So it may be asked for which type the parameters on the right stand then.
            self.slots[first as usize..].iter_mut().for_each(|slot| slot.level = 0);
        }
        body.substitute(&rename)
    }

    /// Returns whether the parameters from `first` on that have to be concrete types are.
    pub fn close(&self, first: usize) -> bool {
        self.slots[first..]
            .iter()
            .all(|slot| slot.rigid || !slot.concrete || self.is_leaf(&slot.lower))
    }

    fn is_leaf(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Concrete(_) | Ty::TypeOf(_) | Ty::Bottom => true,
            Ty::Var(var) => self.slots.get(var.0 as usize).is_some_and(|slot| slot.concrete),
            Ty::Tuple(elements, None) => elements.iter().all(|ty| self.is_leaf(ty)),
            Ty::App(family, _) => {
                !matches!(self.types.family(*family).kind, super::types::FamilyKind::Abstract)
            }
            // Of types alone: their type is `DataType` in Julia.
            Ty::Union(members) => members.iter().all(|ty| matches!(ty, Ty::TypeOf(_))),
            Ty::Any | Ty::Tuple(..) | Ty::Where(..) | Ty::Value(_) | Ty::Names(_) => false,
        }
    }

    fn slot(&self, var: Var) -> Option<&Slot> {
        self.slots.get(var.0 as usize)
    }

    fn is_flexible(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Var(var) if self.slot(*var).is_some_and(|slot| !slot.rigid))
    }

    /// Returns whether `f` says yes; if not, nothing is learnt from it.
    fn attempt(&mut self, f: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.slots.clone();
        let yes = f(self);
        if !yes {
            self.slots = before;
        }
        yes
    }

    /// Returns whether every type that a rigid parameter may stand for is below `b`.
    fn upper_is_below(&mut self, var: Var, b: &Ty) -> bool {
        let upper = self.slot(var).map(|slot| slot.upper.clone());
        upper.is_some_and(|upper| self.sub(&upper, b))
    }

    /// Returns whether every value of type `a` is of type `b`.
    pub fn sub(&mut self, a: &Ty, b: &Ty) -> bool {
        if let (Ty::Concrete(a), Ty::Concrete(b)) = (a, b) {
            return a == b;
        }
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        match (a, b) {
            (Ty::Bottom, _) | (_, Ty::Any) => true,
            (Ty::Var(x), Ty::Var(y)) if x == y => true,
            (_, Ty::Var(var)) if self.is_flexible(b) => self.raise(*var, a),
            (Ty::Var(var), _) if self.is_flexible(a) => self.lower(*var, b),
            (Ty::Union(members), _) => members.iter().all(|member| self.sub(member, b)),
            (Ty::Where(bounds, body), _) => {
                let body = self.open_where(bounds, body, true);
                self.sub(&body, b)
            }
            // Its own bound may be such a type, whatever the parameters there.
            (Ty::Var(var), Ty::Where(..)) if self.attempt(|q| q.upper_is_below(*var, b)) => true,
            (_, Ty::Where(bounds, body)) => self.attempt(|q| {
                let first = q.slots.len();
                let body = q.open_where(bounds, body, false);
                q.sub(a, &body) && q.close(first)
            }),
            (_, Ty::Union(members)) => {
                // What is a parameter fits most, and says least.
                let plain = members.iter().filter(|ty| !matches!(ty, Ty::Var(_)));
                let vars = members.iter().filter(|ty| matches!(ty, Ty::Var(_)));
                plain.chain(vars).any(|member| self.attempt(|q| q.sub(a, member)))
                    || matches!(a, Ty::Var(var) if self.upper_is_below(*var, b))
            }
            (Ty::Var(var), _) => self.upper_is_below(*var, b),
            (_, Ty::Var(var)) => match self.slot(*var).map(|slot| slot.lower.clone()) {
                Some(Ty::Bottom) | None => false,
                Some(lower) => self.sub(a, &lower),
            },
            (Ty::TypeOf(a), Ty::TypeOf(b)) => self.equal(a, b),
            (Ty::TypeOf(of), Ty::App(kind, _)) => self.types.type_of_type(of) == Some(*kind),
            (Ty::App(kind, _), Ty::TypeOf(of)) if self.types.is_kind(*kind) => {
                matches!(&**of, Ty::Var(var) if self.is_flexible(of)
                    && self.slot(*var).is_some_and(|slot| slot.upper == Ty::Any))
            }
            (Ty::Value(_) | Ty::Names(_), _) => a == b,
            (Ty::Tuple(elements, rest), Ty::Tuple(other, other_rest)) => {
                self.sub_tuple(elements, rest.as_deref(), other, other_rest.as_deref())
            }
            (Ty::Concrete(ty), Ty::Tuple(other, other_rest)) => {
                self.types.tuple_elements(*ty).is_some_and(|elements| {
                    self.sub_tuple(&elements, None, other, other_rest.as_deref())
                })
            }
            (Ty::Tuple(elements, rest), Ty::Concrete(ty)) => self
                .types
                .tuple_elements(*ty)
                .is_some_and(|other| self.sub_tuple(elements, rest.as_deref(), &other, None)),
            (Ty::Concrete(ty), Ty::App(above, args)) => match self.types.ctx.kind(*ty) {
                &TypeKind::Fn(name) => {
                    let known = &self.types.well_known;
                    let family = || self.types.function_family(name);
                    *above == known.function
                        || *above == known.intrinsic && family() == known.intrinsic
                        || *above == known.builtin && family() != known.function
                }
                _ => match self.types.member(*ty) {
                    Some((family, own)) => self.sub_member(family, own, *above, args),
                    None => false,
                },
            },
            (Ty::App(family, own), Ty::App(above, args)) => {
                self.sub_member(*family, own.clone(), *above, args)
            }
            (Ty::App(family, own), Ty::Concrete(ty)) => match self.types.member(*ty) {
                Some((other, args)) => self.sub_member(*family, own.clone(), other, &args),
                None => false,
            },
            _ => false,
        }
    }

    fn sub_member(
        &mut self,
        family: super::FamilyId,
        own: std::rc::Rc<[Ty]>,
        above: super::FamilyId,
        args: &[Ty],
    ) -> bool {
        let Some(own) = self.types.climb(family, own, above) else { return false };
        // The values of a named tuple whose fields are known in part have exact types.
        if above == self.types.well_known.named
            && let ([names, types], [other_names, other]) = (&*own, args)
        {
            return self.equal(names, other_names) && self.sub(types, other);
        }
        own.len() == args.len() && own.iter().zip(args).all(|(a, b)| self.equal(a, b))
    }

    /// Tuples, and the parameters of methods.
    pub fn sub_tuple(
        &mut self,
        a: &[Ty],
        a_rest: Option<&Rest>,
        b: &[Ty],
        b_rest: Option<&Rest>,
    ) -> bool {
        if a.len() < b.len() || (b_rest.is_none() && (a.len() > b.len() || a_rest.is_some())) {
            return false;
        }
        if !a.iter().zip(b).all(|(a, b)| self.sub(a, b)) {
            return false;
        }
        let Some(b_rest) = b_rest else { return true };
        let more = &a[b.len()..];
        if let Some(count) = &b_rest.count {
            let known = match a_rest {
                None => Ty::Value(regraft_ir::Constant::I64(more.len() as i64)),
                Some(Rest { count: Some(count), .. }) if more.is_empty() => count.clone(),
                Some(_) => return false,
            };
            if !self.equal(&known, count) {
                return false;
            }
        }
        more.iter().all(|a| self.sub(a, &b_rest.element))
            && a_rest.is_none_or(|a_rest| self.sub(&a_rest.element, &b_rest.element))
    }

    /// Returns whether two types have the same values (or are the same parameter).
    pub fn equal(&mut self, a: &Ty, b: &Ty) -> bool {
        self.invariant += 1;
        let yes = self.equal_within(a, b);
        self.invariant -= 1;
        yes
    }

    fn equal_within(&mut self, a: &Ty, b: &Ty) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        match (a, b) {
            (Ty::Concrete(a), Ty::Concrete(b)) => a == b,
            (Ty::Var(x), Ty::Var(y)) if x == y => true,
            (_, Ty::Var(var)) if self.is_flexible(b) => self.fix(*var, a),
            (Ty::Var(var), _) if self.is_flexible(a) => self.fix(*var, b),
            (Ty::App(f, xs), Ty::App(g, ys)) => {
                f == g
                    && xs.len() == ys.len()
                    && xs.iter().zip(ys.iter()).all(|(x, y)| self.equal(x, y))
            }
            (Ty::TypeOf(a), Ty::TypeOf(b)) => self.equal(a, b),
            (Ty::Value(_) | Ty::Names(_), _) | (_, Ty::Value(_) | Ty::Names(_)) => a == b,
            _ => self.sub(a, b) && self.sub(b, a),
        }
    }

    /// Returns whether `ty` mentions only what the parameter `var` may know of.
    fn knows(&self, var: Var, ty: &Ty) -> bool {
        let Some(level) = self.slot(var).map(|slot| slot.level) else { return false };
        let unknown = std::cell::Cell::new(false);
        if super::types::has_loose(ty) {
            ty.substitute(&|other| {
                if self.slot(other).is_some_and(|slot| slot.rigid && slot.level > level) {
                    unknown.set(true);
                }
                None
            });
        }
        !unknown.get()
    }

    /// `var` is above `ty`.
    fn raise(&mut self, var: Var, ty: &Ty) -> bool {
        let Some(slot) = self.slot(var).cloned() else { return false };
        if !self.knows(var, ty) || !self.sub(ty, &slot.upper) {
            return false;
        }
        // Asking may have told more of it.
        let lower = self.slots[var.0 as usize].lower.clone();
        let joined = match (&lower, ty) {
            (Ty::Bottom, ty) => ty.clone(),
            (lower, ty) if lower == ty => return true,
            (lower, ty) => {
                if self.attempt(|q| q.sub(ty, lower)) {
                    return true;
                }
                if self.attempt(|q| q.sub(lower, ty)) {
                    ty.clone()
                } else {
                    union([lower.clone(), ty.clone()])
                }
            }
        };
        self.slots[var.0 as usize].lower = joined;
        true
    }

    /// `var` is below `ty`.
    fn lower(&mut self, var: Var, ty: &Ty) -> bool {
        let Some(slot) = self.slot(var).cloned() else { return false };
        if !self.knows(var, ty) || !self.sub(&slot.lower, ty) {
            return false;
        }
        // Of two types above it, the lower one, if one is: there is no term for their meet.
        if self.attempt(|q| q.sub(&slot.upper, ty)) {
            return true;
        }
        if !self.attempt(|q| q.sub(ty, &slot.upper)) {
            return false;
        }
        self.slots[var.0 as usize].upper = ty.clone();
        true
    }

    /// `var` is `ty`.
    fn fix(&mut self, var: Var, ty: &Ty) -> bool {
        let Some(slot) = self.slot(var).cloned() else { return false };
        if matches!(ty, Ty::Value(_) | Ty::Names(_)) {
            // No type, but what is in the place of one.
            if slot.lower == Ty::Bottom && slot.upper == Ty::Any {
                let slot = &mut self.slots[var.0 as usize];
                (slot.lower, slot.upper) = (ty.clone(), ty.clone());
                return true;
            }
            return slot.lower == *ty;
        }
        if matches!(slot.lower, Ty::Value(_) | Ty::Names(_)) {
            return match ty {
                Ty::Var(other) if self.is_flexible(ty) => {
                    let (other, value) = (*other, slot.lower);
                    self.fix(other, &value)
                }
                _ => slot.lower == *ty,
            };
        }
        if !self.knows(var, ty) || !self.sub(&slot.lower, ty) || !self.sub(ty, &slot.upper) {
            return false;
        }
        let slot = &mut self.slots[var.0 as usize];
        (slot.lower, slot.upper) = (ty.clone(), ty.clone());
        true
    }
}

impl Types {
    /// Returns whether every value of the closed type `a` is of the closed type `b`.
    pub fn is_subtype(&self, a: &Ty, b: &Ty) -> bool {
        a == b || Question::new(self).sub(a, b)
    }

    /// Returns whether two closed types have the same values.
    pub fn is_equal(&self, a: &Ty, b: &Ty) -> bool {
        a == b || Question::new(self).equal(a, b)
    }

    /// Returns whether surely no value of type `a`, which is what the IR knows of an argument, is
    /// of type `b`. Type parameters in `b` are those of `bounds`.
    pub fn is_disjoint(&self, a: &Ty, b: &Ty, bounds: &[Bound]) -> bool {
        match (a, b) {
            (Ty::Any, _) | (_, Ty::Any) => false,
            (_, Ty::Union(members)) => members.iter().all(|b| self.is_disjoint(a, b, bounds)),
            (_, Ty::Var(var)) => bounds
                .get(var.0 as usize)
                .is_some_and(|bound| self.is_disjoint(a, &bound.upper, bounds)),
            (Ty::Tuple(elements, None), _) => {
                let (other, rest) = match b {
                    Ty::Tuple(other, rest) => (other.clone(), rest.as_deref()),
                    Ty::Concrete(ty) => match self.tuple_elements(*ty) {
                        Some(other) => (other, None),
                        None => return true,
                    },
                    Ty::Where(..) => return false,
                    _ => return true,
                };
                if elements.len() < other.len() || (elements.len() > other.len() && rest.is_none())
                {
                    return true;
                }
                let mut pairs = elements.iter().zip(other.iter());
                pairs.any(|(a, b)| self.is_disjoint(a, b, bounds))
                    || rest.is_some_and(|rest| {
                        elements[other.len()..]
                            .iter()
                            .any(|a| self.is_disjoint(a, &rest.element, bounds))
                    })
            }
            (Ty::App(..), Ty::App(family, _)) => Some(*family) != self.head(a),
            (Ty::App(..), Ty::Where(..)) => false,
            (Ty::App(..), Ty::Concrete(_)) => self.head(a) != self.head(b),
            (Ty::App(..), _) => true,
            _ => {
                let mut question = Question::new(self);
                question.open(bounds, false, |_| false);
                !question.sub(a, b)
            }
        }
    }

    /// Returns what kind of type a type value is: one that has types below it (`abstract`), one of
    /// objects (`mutable`), one of values without references (`bits`) or with (`immutable`), one
    /// whose parameters are not known (`open`). O(size of the type).
    pub fn kind_of(&self, ty: Type) -> &'static str {
        let ty = match self.ty_of(ty) {
            Ty::Concrete(ty) if self.is_concrete(ty) => ty,
            Ty::App(family, _) if self.is_kind(family) => return "mutable",
            other => {
                let family = self.head(&other).map(|family| &self.family(family).kind);
                let is_abstract = matches!(family, None | Some(FamilyKind::Abstract));
                return if is_abstract { "abstract" } else { "open" };
            }
        };
        let mut work = vec![ty];
        while let Some(part) = work.pop() {
            match self.ctx.kind(part) {
                TypeKind::Array { .. } | TypeKind::Ref(_) => {
                    return if part == ty { "mutable" } else { "immutable" };
                }
                TypeKind::Builtin if [Type::ANY, Type::STR, Type::SYM].contains(&part) => {
                    return "immutable";
                }
                TypeKind::Tuple(elements) => work.extend(elements.iter()),
                TypeKind::Named(fields) => work.extend(fields.iter().map(|&(_, ty)| ty)),
                TypeKind::Struct(_) if self.ctx.is_object(part) => {
                    return if part == ty { "mutable" } else { "immutable" };
                }
                &TypeKind::Struct(id) => {
                    work.extend(self.ctx.struct_def(id).fields.iter().map(|&(_, ty)| ty));
                }
                _ => {}
            }
        }
        "bits"
    }

    /// Returns whether values can have this type itself.
    pub fn is_concrete(&self, ty: Type) -> bool {
        ty != Type::ANY && ty != Type::NEVER && !self.tokens.contains_key(&ty)
    }
}
