//! Methods: signatures, and which of two is more specific.

use std::rc::Rc;

use regraft_ir::Symbol;

use super::entities::StaticValue;
use super::subtype::Question;
use super::types::{Bound, FamilyId, Rest, Ty, Types, Var, has_loose};

/// The types of the parameters of a method, the callee's first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Signature {
    /// Its type parameters, as `Var(0)` and so on.
    pub bounds: Rc<[Bound]>,
    /// The type parameters that have to be concrete types.
    pub diagonal: Rc<[bool]>,
    pub params: Rc<[Ty]>,
    pub rest: Option<Rest>,
}

/// The key of a table of methods.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct TableKey {
    pub owner: TableOwner,
    /// True if it is of the methods that take arguments by name: methods of `#kwcall`, of which there are as many
    /// tables as there are callees.
    pub keywords: bool,
}

/// The callees that the methods of a table are of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum TableOwner {
    /// A generic function.
    Function(Symbol),
    /// The members of a family.
    Instance(FamilyId),
    /// Members of a family, which they construct.
    Constructor(FamilyId),
    /// Types that are not known by a family: `(::Type{T})(x) where T<:Number`.
    AnyConstructor,
}

impl TableOwner {
    /// The key of its methods without arguments by name.
    pub const fn plain(self) -> TableKey {
        TableKey { owner: self, keywords: false }
    }
}

impl Signature {
    pub fn new(bounds: Rc<[Bound]>, params: Vec<Ty>, rest: Option<Rest>) -> Self {
        let whole = Ty::Tuple(params.into(), rest.map(Rc::new));
        let diagonal = bounds.iter().map(|b| Ty::is_diagonal(whole.occurrences(b.var))).collect();
        let Ty::Tuple(params, rest) = whole else { unreachable!("it was made a tuple") };
        Self { bounds, diagonal, params, rest: rest.map(|rest| (*rest).clone()) }
    }

    /// The same with its type parameters numbered from `first` on.
    fn shifted(&self, first: u32) -> Self {
        if self.bounds.is_empty() || first == 0 {
            return self.clone();
        }
        let shift = |var: Var| (var.0 < Var::FIRST_BOUND).then(|| Ty::Var(Var(var.0 + first)));
        let bounds = self
            .bounds
            .iter()
            .map(|b| Bound { var: Var(b.var.0 + first), ..b.map(|ty| ty.substitute(&shift)) });
        Self {
            bounds: bounds.collect(),
            diagonal: self.diagonal.clone(),
            params: self.params.iter().map(|ty| ty.substitute(&shift)).collect(),
            rest: self.rest.as_ref().map(|rest| rest.map(|ty| ty.substitute(&shift))),
        }
    }

    /// Returns whether there can be `count` arguments, the callee counted.
    pub fn takes(&self, count: usize) -> bool {
        count == self.params.len() || count > self.params.len() && self.rest.is_some()
    }

    /// Returns whether it can be seen at once that the signatures differ: a definition compares
    /// itself with all methods of its function.
    fn surely_differs(&self, other: &Self) -> bool {
        let differ = |a: &Ty, b: &Ty| {
            kind_of(a, &self.bounds) != kind_of(b, &other.bounds) || parameters_differ(a, b)
        };
        if self.params.len() != other.params.len() {
            return true;
        }
        let rests = match (&self.rest, &other.rest) {
            (None, None) => false,
            (Some(a), Some(b)) => differ(&a.element, &b.element),
            _ => true,
        };
        rests || self.params.iter().zip(other.params.iter()).any(|(a, b)| differ(a, b))
    }

    /// The type of the argument at a position.
    pub(super) fn param(&self, index: usize) -> Option<&Ty> {
        self.params.get(index).or(self.rest.as_ref().map(|rest| &rest.element))
    }
}

/// A key that equal types have in common.
#[derive(PartialEq, Eq)]
enum Kind {
    Any,
    Concrete(regraft_ir::Type),
    Family(FamilyId),
    Tuple,
    Union,
    TypeOf,
    Other,
}

fn kind_of(ty: &Ty, bounds: &[Bound]) -> Kind {
    match ty {
        Ty::Any => Kind::Any,
        Ty::Concrete(ty) => Kind::Concrete(*ty),
        Ty::App(family, _) => Kind::Family(*family),
        Ty::Tuple(..) => Kind::Tuple,
        Ty::Union(_) => Kind::Union,
        Ty::TypeOf(_) => Kind::TypeOf,
        Ty::Where(_, body) => kind_of(body, bounds),
        // All that are below it, which is as good as itself.
        Ty::Var(var) => {
            bounds.get(var.0 as usize).map_or(Kind::Other, |b| kind_of(&b.upper, bounds))
        }
        Ty::Bottom | Ty::Value(_) | Ty::Names(_) => Kind::Other,
    }
}

/// Returns whether types differ in what their parameters are, without a look at those that are type parameters of a method.
fn parameters_differ(a: &Ty, b: &Ty) -> bool {
    let are_free =
        |a: &Ty, b: &Ty| [a, b].iter().any(|ty| matches!(ty, Ty::Var(_) | Ty::Where(..)));
    let differ = |a: &Ty, b: &Ty| {
        !are_free(a, b) && (kind_of(a, &[]) != kind_of(b, &[]) || parameters_differ(a, b))
    };
    match (a, b) {
        (Ty::TypeOf(a), Ty::TypeOf(b)) => differ(a, b),
        (Ty::App(_, a), Ty::App(_, b)) => a.iter().zip(b.iter()).any(|(a, b)| differ(a, b)),
        _ => false,
    }
}

impl Types {
    /// Returns whether all arguments that `a` takes, `b` takes too.
    fn signature_below(&self, a: &Signature, b: &Signature) -> bool {
        let mut question = Question::new(self);
        question.open(&a.bounds, true, |i| a.diagonal[i]);
        let first = a.bounds.len();
        let b = b.shifted(first as u32);
        question.open(&b.bounds, false, |i| b.diagonal[i]);
        question.sub_tuple(&a.params, a.rest.as_ref(), &b.params, b.rest.as_ref())
            && question.close(first)
    }

    /// Returns whether two signatures take the same arguments.
    pub fn same_signature(&self, a: &Signature, b: &Signature) -> bool {
        !a.surely_differs(b) && (a == b || self.signature_below(a, b) && self.signature_below(b, a))
    }

    /// Returns whether a call that both take runs `a`: its signature is below that of `b` and not
    /// the other way round. Otherwise, where one of them is a vararg, it counts parameter by
    /// parameter.
    pub fn is_more_specific(&self, a: &Signature, b: &Signature) -> bool {
        if self.signature_below(a, b) {
            return !self.signature_below(b, a);
        }
        if self.signature_below(b, a) || (a.rest.is_none() && b.rest.is_none()) {
            return false;
        }
        self.is_more_specific_by_parameter(a, b) && !self.is_more_specific_by_parameter(b, a)
    }

    fn is_more_specific_by_parameter(&self, a: &Signature, b: &Signature) -> bool {
        let length = |s: &Signature| s.params.len() + usize::from(s.rest.is_some());
        let mut some = false;
        for i in 0..length(a).min(length(b)) {
            let (Some(x), Some(y)) = (a.param(i), b.param(i)) else { break };
            let single = |s: &Signature, ty: &Ty| Signature {
                bounds: s.bounds.clone(),
                diagonal: s.diagonal.iter().map(|_| false).collect(),
                params: Rc::new([ty.clone()]),
                rest: None,
            };
            let (x, y) = (single(a, x), single(b, y));
            if !self.signature_below(&x, &y) {
                return false;
            }
            some |= !self.signature_below(&y, &x);
        }
        match (&a.rest, &b.rest) {
            (Some(_), Some(_)) => some || length(a) > length(b),
            (Some(_), None) => some,
            _ => true,
        }
    }

    /// The values of the type parameters if the method takes these arguments, of which the first
    /// is the callee.
    pub fn match_exact(&mut self, signature: &Signature, args: &[Ty]) -> Option<Rc<[StaticValue]>> {
        if !signature.takes(args.len()) {
            return None;
        }
        if signature.bounds.is_empty() && signature.rest.is_none() {
            // Most parameters take one type, or all.
            let plain = signature.params.iter().zip(args).all(|pair| match pair {
                (Ty::Any, _) => true,
                (Ty::Concrete(param), Ty::Concrete(arg)) => param == arg,
                _ => false,
            });
            if plain {
                return Some(Rc::new([]));
            }
        }
        let found = self.solve(signature, args, 0)?;
        Some(found.iter().map(|ty| self.found_value(ty)).collect())
    }

    /// The same for arguments whose types are known in part: what is not known is a parameter of
    /// its own, whatever concrete type it is. `None` if it may not take them; the inner `None`
    /// if it does, but its type parameters depend on what is not known.
    pub fn match_partly(
        &mut self,
        signature: &Signature,
        args: &[Ty],
    ) -> Option<Option<Rc<[StaticValue]>>> {
        if !signature.takes(args.len()) {
            return None;
        }
        let count = signature.bounds.len() as u32;
        let mut next = count;
        let args: Vec<Ty> = args.iter().map(|ty| name_unknown(ty, &mut next)).collect();
        let found = self.solve(signature, &args, next - count)?;
        if found.iter().any(has_loose) {
            return Some(None);
        }
        Some(Some(found.iter().map(|ty| self.found_value(ty)).collect()))
    }

    /// The values of the type parameters of a signature that takes `args`, in which so many
    /// variables are unknown.
    fn solve(&self, signature: &Signature, args: &[Ty], unknown: u32) -> Option<Vec<Ty>> {
        let mut question = Question::new(self);
        question.open(&signature.bounds, false, |i| signature.diagonal[i]);
        question.open_unknown(unknown);
        let rest = signature.rest.as_ref();
        let fits = question.sub_tuple(args, None, &signature.params, rest) && question.close(0);
        fits.then(|| (0..signature.bounds.len()).map(|i| question.value_of(i)).collect())
    }

    fn found_value(&mut self, ty: &Ty) -> StaticValue {
        if *ty == Ty::Bottom {
            return StaticValue::Unbound;
        }
        let ty = self.normalize(ty);
        self.static_value(&ty)
    }
}

impl Question<'_> {
    /// Returns the lowest type that a parameter in scope can be.
    fn value_of(&self, index: usize) -> Ty {
        let slot = &self.slots[index];
        let mut ty = slot.lower.clone();
        // One parameter may be known by another.
        for _ in 0..self.slots.len() {
            if !has_loose(&ty) {
                break;
            }
            ty = ty.substitute(&|var| {
                let slot = self.slots.get(var.0 as usize)?;
                (!slot.rigid && slot.lower != Ty::Bottom).then(|| slot.lower.clone())
            });
        }
        ty
    }
}

/// Puts a parameter of its own in the place of each `Any` of what is known of an argument.
fn name_unknown(ty: &Ty, next: &mut u32) -> Ty {
    match ty {
        Ty::Any => {
            *next += 1;
            Ty::Var(Var(*next - 1))
        }
        Ty::Tuple(elements, None) => {
            Ty::Tuple(elements.iter().map(|ty| name_unknown(ty, next)).collect(), None)
        }
        Ty::App(family, args) => match &**args {
            [names, Ty::Tuple(elements, None)] => {
                let elements = elements.iter().map(|ty| name_unknown(ty, next)).collect();
                Ty::App(*family, Rc::new([names.clone(), Ty::Tuple(elements, None)]))
            }
            _ => ty.clone(),
        },
        _ => ty.clone(),
    }
}
