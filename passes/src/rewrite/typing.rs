//! The types that the terms of a rule may have.

use regraft_ir::{Type, TypeClass, TypePattern};

/// A choice of a type for each variable of a rule and for the whole term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Typing {
    /// By [`Variable::index`](super::Variable::index).
    pub variables: Vec<Type>,
    /// The type of the whole term.
    pub root: Type,
}

/// The scalar types.
pub(super) const SCALARS: [Type; 7] =
    [Type::BOOL, Type::I8, Type::I16, Type::I32, Type::I64, Type::F32, Type::F64];

/// A set of types: scalar types, by their places in [`SCALARS`], and all others, as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(super) const ALL: Self = Self(0xff);
    const OTHERS: u8 = 0x80;

    pub(super) fn of_class(class: TypeClass) -> Self {
        Self::of(|ty| class.contains(ty), matches!(class, TypeClass::Any))
    }

    pub(super) fn of_type(ty: Type) -> Self {
        Self::of(|other| other == ty, !ty.is_scalar())
    }

    fn of(contains: impl Fn(Type) -> bool, others: bool) -> Self {
        let bits = SCALARS.iter().enumerate().filter(|&(_, &ty)| contains(ty));
        let bits = bits.fold(0, |bits, (i, _)| bits | 1 << i);
        Self(if others { bits | Self::OTHERS } else { bits })
    }

    /// The smallest set that has a type.
    #[inline]
    pub(super) fn with(ty: Type) -> Self {
        let place = SCALARS.iter().position(|&scalar| scalar == ty);
        Self(place.map_or(Self::OTHERS, |i| 1 << i))
    }

    #[inline]
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) fn contains(self, ty: Type) -> bool {
        self.meets(Self::with(ty))
    }

    pub(super) fn scalars(self) -> impl Iterator<Item = Type> {
        SCALARS.into_iter().filter(move |&ty| self.contains(ty))
    }
}

/// Types that are not known yet, some of which are the same (union-find).
#[derive(Debug, Default)]
pub(super) struct Unifier {
    parents: Vec<usize>,
    sets: Vec<TypeSet>,
}

/// A type that is not known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot(usize);

impl Unifier {
    pub(super) fn fresh(&mut self, set: TypeSet) -> Slot {
        self.parents.push(self.parents.len());
        self.sets.push(set);
        Slot(self.parents.len() - 1)
    }

    pub(super) fn find(&self, slot: Slot) -> Slot {
        let mut at = slot.0;
        while self.parents[at] != at {
            at = self.parents[at];
        }
        Slot(at)
    }

    pub(super) fn set(&self, slot: Slot) -> TypeSet {
        self.sets[self.find(slot).0]
    }

    /// Makes two types one; `false` if there is no scalar that both may be.
    #[must_use]
    pub(super) fn unify(&mut self, a: Slot, b: Slot) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        let both = TypeSet(self.sets[a.0].0 & self.sets[b.0].0);
        self.parents[b.0] = a.0;
        self.sets[a.0] = both;
        both.scalars().next().is_some()
    }

    /// The slots of the types that a signature speaks of: those of its operands.
    pub(super) fn operand(
        &mut self,
        pattern: TypePattern,
        classes: &[TypeClass],
        variables: &mut Vec<Option<Slot>>,
    ) -> Option<Slot> {
        match pattern {
            TypePattern::Is(ty) => Some(self.fresh(TypeSet::of_type(ty))),
            TypePattern::Var(var) => Some(self.variable(var, classes, variables)),
            TypePattern::Anything => Some(self.fresh(TypeSet::ALL)),
            TypePattern::ArrayOf(_) | TypePattern::RefOf(_) => None,
        }
    }

    /// The slot of a type variable of a signature.
    pub(super) fn variable(
        &mut self,
        var: u8,
        classes: &[TypeClass],
        variables: &mut Vec<Option<Slot>>,
    ) -> Slot {
        let at = usize::from(var);
        if variables.len() <= at {
            variables.resize(at + 1, None);
        }
        *variables[at].get_or_insert_with(|| self.fresh(TypeSet::of_class(classes[at])))
    }
}
