//! The expansion of an operation on tangents, by the types of its operands.

use regraft_dialects::tangent::TangentTable;
use regraft_dialects::{ad, mem};
use regraft_ir::{Context, Function, Op, Operand, Type, TypeKind, Value};
use smallvec::SmallVec;

use crate::analysis::{may_reach_objects, may_reach_others};
use crate::transforms::util::aggregate::parts;

/// Types with more parts are left alone.
const MAX_PARTS: usize = 64;

/// An operand, or a part of one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Part {
    pub(super) of: Operand,
    /// Positions from 0, the outermost first.
    pub(super) path: SmallVec<[u32; 4]>,
    pub(super) ty: Type,
}

impl Part {
    fn part(&self, position: usize, ty: Type) -> Self {
        let mut path = self.path.clone();
        path.push(position as u32);
        Self { of: self.of, path, ty }
    }
}

/// A recipe for a value.
#[derive(Debug)]
pub(super) enum Make {
    Nothing,
    /// The zero of this float type.
    Zero(Type),
    This(Part),
    /// The sum of two numbers.
    Sum(Part, Part),
    /// The result of this op, of this type.
    Op(Op, SmallVec<[Part; 2]>, Type),
    /// A tuple or named tuple of this type.
    Tuple(Type, Vec<Make>),
    /// A new ref of this type.
    Ref(Type, Box<Make>),
}

/// An effect on an object.
#[derive(Debug)]
pub(super) enum Effect {
    /// This op.
    Op(Op, SmallVec<[Part; 2]>),
    /// An array of numbers is set to zero.
    ClearArray(Part, Type),
    /// A ref of numbers is set to this zero.
    ClearRef(Part, Make),
    /// Adds the content of the second ref, numbers of this type, to that of the first.
    AddRef(Part, Part, Type),
}

/// The expansion of an instruction.
pub(super) enum Expansion {
    Value(Make),
    Effects(Vec<Effect>),
}

/// Returns whether an instruction is looked at.
pub(super) fn is_candidate(f: &Function, v: Value) -> bool {
    matches!(
        f.op(v),
        Some(
            ad::ZERO
                | ad::SHADOW
                | ad::COTANGENT
                | ad::JOIN
                | ad::ADD
                | ad::UNBOX
                | ad::ACCUMULATE
                | ad::CLEAR
                | ad::COPY
        )
    )
}

pub(super) struct Expand<'a> {
    f: &'a Function,
    ctx: &'a Context,
    types: &'a mut TangentTable,
}

impl<'a> Expand<'a> {
    pub(super) fn new(f: &'a Function, types: &'a mut TangentTable) -> Self {
        Self { f, ctx: f.ctx(), types }
    }

    /// Returns what becomes of `v`; `None` if it stays.
    pub(super) fn of(mut self, v: Value) -> Option<Expansion> {
        let operands: SmallVec<[Part; 2]> = self
            .f
            .operands(v)
            .map(|of| Part { of, path: SmallVec::new(), ty: self.f.operand_type(of) })
            .collect();
        let ty = self.f.ty(v);
        let small = operands.iter().map(|part| part.ty).chain([ty]).all(|ty| self.is_small(ty));
        if !small {
            return None;
        }
        let make = match (self.f.op(v)?, &operands[..]) {
            (ad::ZERO, [x]) => self.zero(x, ty)?,
            (ad::COPY, [x]) => self.copy(x)?,
            (ad::SHADOW, [x]) => self.half(ad::SHADOW, x)?,
            (ad::COTANGENT, [x]) => self.half(ad::COTANGENT, x)?,
            (op @ (ad::JOIN | ad::ADD), [x, y]) => self.both(op, x, y, ty)?,
            (ad::UNBOX, [x]) => self.unbox(x, ty)?,
            (ad::ACCUMULATE, [s, t]) => return self.accumulate(s, t).map(Expansion::Effects),
            (ad::CLEAR, [s]) => return self.clear(s).map(Expansion::Effects),
            _ => return None,
        };
        if !self.type_of(&make).is_assignable_to(ty) {
            return None;
        }
        // The same operation once more is no progress.
        match &make {
            Make::Op(op, _, _) if self.f.op(v) == Some(*op) && self.is_whole(&make) => None,
            _ => Some(Expansion::Value(make)),
        }
    }

    /// Returns the sum of two tangents of one type.
    pub(super) fn sum(mut self, x: Operand, y: Operand, ty: Type) -> Option<Make> {
        let [x, y] = [x, y].map(|of| Part { of, path: SmallVec::new(), ty });
        self.both(ad::ADD, &x, &y, ty)
    }

    fn is_whole(&self, make: &Make) -> bool {
        matches!(make, Make::Op(_, parts, _) if parts.iter().all(|part| part.path.is_empty()))
    }

    /// Returns whether a type has few parts.
    fn is_small(&self, ty: Type) -> bool {
        let mut pending = vec![ty];
        let mut count = 0;
        while let Some(ty) = pending.pop() {
            count += 1;
            if count > MAX_PARTS {
                return false;
            }
            pending.extend(parts(self.ctx, ty).unwrap_or_default());
        }
        true
    }

    /// The parts of a tuple or named tuple: what tangents are made of.
    fn parts(&self, ty: Type) -> Option<Vec<Type>> {
        match self.ctx.kind(ty) {
            TypeKind::Tuple(_) | TypeKind::Named(_) => parts(self.ctx, ty),
            _ => None,
        }
    }

    fn parts_of(&self, x: &Part) -> Option<Vec<Part>> {
        let parts = self.parts(x.ty)?;
        Some(parts.into_iter().enumerate().map(|(i, ty)| x.part(i, ty)).collect())
    }

    fn is_tangent(&mut self, ty: Type) -> bool {
        self.types.of(self.ctx, ty).tangent == ty
    }

    /// Returns whether a type, which is that of a tangent, may turn out to be anything in some
    /// place.
    fn has_any(&self, ty: Type) -> bool {
        ty == Type::ANY
            || self.parts(ty).is_some_and(|parts| parts.iter().any(|&p| self.has_any(p)))
    }

    fn has_content(&mut self, ty: Type) -> bool {
        self.types.has_content(self.ctx, ty)
    }

    fn is_object(&self, ty: Type) -> bool {
        matches!(self.ctx.kind(ty), TypeKind::Array { .. } | TypeKind::Ref(_))
    }

    /// The same type with other parts.
    fn tuple(&self, like: Type, parts: Option<Vec<Make>>) -> Option<Make> {
        let parts = parts?;
        let types: Vec<Type> = parts.iter().map(|part| self.type_of(part)).collect();
        Some(Make::Tuple(self.retyped(like, &types), parts))
    }

    fn retyped(&self, like: Type, types: &[Type]) -> Type {
        match self.ctx.kind(like) {
            TypeKind::Named(fields) => {
                let fields: Vec<_> =
                    fields.iter().zip(types).map(|(&(name, _), &ty)| (name, ty)).collect();
                self.ctx.named_type(&fields)
            }
            _ => self.ctx.tuple_type(types),
        }
    }

    fn type_of(&self, make: &Make) -> Type {
        match make {
            Make::Nothing => Type::UNIT,
            Make::This(part) | Make::Sum(part, _) => part.ty,
            &Make::Zero(ty) | &Make::Op(_, _, ty) | &Make::Tuple(ty, _) | &Make::Ref(ty, _) => ty,
        }
    }

    /// The shadow or the cotangent of a tangent, as `op` says.
    fn half(&mut self, op: Op, x: &Part) -> Option<Make> {
        let ty = x.ty;
        if !self.is_tangent(ty) {
            return None;
        }
        if ty == Type::ANY {
            return Some(Make::Op(op, SmallVec::from_iter([x.clone()]), Type::ANY));
        }
        let of = self.types.of(self.ctx, ty);
        let half = if op == ad::SHADOW { of.shadow } else { of.cotangent };
        if !self.has_any(ty) && half == ty && ty != Type::UNIT {
            return Some(Make::This(x.clone()));
        }
        let Some(parts) = self.parts_of(x) else { return Some(Make::Nothing) };
        let parts = parts.iter().map(|part| self.half(op, part)).collect();
        self.tuple(ty, parts)
    }

    /// The parts of `ad.join`, of a shadow and a cotangent, or of `ad.add`, of two tangents.
    fn both(&mut self, op: Op, x: &Part, y: &Part, ty: Type) -> Option<Make> {
        let is_join = op == ad::JOIN;
        match (x.ty, y.ty) {
            (_, Type::UNIT) => return self.unbox(x, ty),
            (Type::UNIT, _) => return self.unbox(y, ty),
            (Type::ANY, _) | (_, Type::ANY) => {
                return Some(Make::Op(op, SmallVec::from_iter([x.clone(), y.clone()]), ty));
            }
            (a, b) if !is_join && a.is_float() && a == b && (ty == a || ty == Type::ANY) => {
                return Some(Make::Sum(x.clone(), y.clone()));
            }
            _ => {}
        }
        let (xs, ys) = self.alike(x, y)?;
        // Where one half has nothing, the other is the tangent itself.
        let fits = |all: &Part| all.ty == ty || ty == Type::ANY;
        let (of_x, of_y) = (self.types.of(self.ctx, x.ty), self.types.of(self.ctx, y.ty));
        for (all, own, rest) in [(x, of_x.cotangent, y), (y, of_y.shadow, x)] {
            if is_join && !self.has_content(rest.ty) && rest.ty == own && fits(all) {
                return Some(Make::This(all.clone()));
            }
        }
        let types = self.types_of_parts(x.ty, ty)?;
        let pairs = xs.iter().zip(&ys).zip(types);
        let parts = pairs.map(|((x, y), ty)| self.both(op, x, y, ty)).collect();
        self.tuple(x.ty, parts)
    }

    /// The parts of two tuples of the same number of parts, by the same names if they have names.
    fn alike(&self, x: &Part, y: &Part) -> Option<(Vec<Part>, Vec<Part>)> {
        let (xs, ys) = (self.parts_of(x)?, self.parts_of(y)?);
        let anys = vec![Type::ANY; xs.len()];
        let alike = xs.len() == ys.len() && self.retyped(x.ty, &anys) == self.retyped(y.ty, &anys);
        alike.then_some((xs, ys))
    }

    /// The types of the parts of a tuple like one of type `from` that is to be of type `ty`.
    fn types_of_parts(&self, from: Type, ty: Type) -> Option<Vec<Type>> {
        if ty == Type::ANY {
            return Some(vec![Type::ANY; self.parts(from)?.len()]);
        }
        let types = self.parts(ty)?;
        (types.len() == self.parts(from)?.len() && self.retyped(from, &types) == ty)
            .then_some(types)
    }

    /// A cotangent as one of type `ty`.
    fn unbox(&mut self, x: &Part, ty: Type) -> Option<Make> {
        if x.ty == ty || ty == Type::ANY {
            return Some(if x.ty == Type::UNIT { Make::Nothing } else { Make::This(x.clone()) });
        }
        if x.ty == Type::UNIT {
            return self.zero_of_type(ty);
        }
        if x.ty == Type::ANY {
            return Some(Make::Op(ad::UNBOX, SmallVec::from_iter([x.clone()]), ty));
        }
        let xs = self.parts_of(x)?;
        let types = self.types_of_parts(x.ty, ty)?;
        let parts = xs.iter().zip(types).map(|(x, ty)| self.unbox(x, ty)).collect();
        self.tuple(ty, parts)
    }

    fn zero_of_type(&mut self, ty: Type) -> Option<Make> {
        match ty {
            Type::UNIT | Type::ANY => Some(Make::Nothing),
            ty if ty.is_float() => Some(Make::Zero(ty)),
            ty => {
                let parts = self.parts(ty)?.into_iter();
                let parts = parts.map(|ty| self.zero_of_type(ty)).collect();
                self.tuple(ty, parts)
            }
        }
    }

    /// The zero tangent, of type `ty`, of a value.
    fn zero(&mut self, x: &Part, ty: Type) -> Option<Make> {
        if self.types.of(self.ctx, x.ty).tangent != ty || self.objects_in(ty) > 1 {
            return None;
        }
        if let Some(content) = self.numbers_in(ty) {
            return Some(Make::Ref(ty, Box::new(self.zero_of_type(content)?)));
        }
        if ty == Type::ANY || self.is_object(ty) {
            return Some(Make::Op(ad::ZERO, SmallVec::from_iter([x.clone()]), ty));
        }
        let Some(types) = self.parts(ty) else { return self.zero_of_type(ty) };
        let from = parts(self.ctx, x.ty)?;
        let all = from.into_iter().zip(types).enumerate();
        let made = all.map(|(i, (from, ty))| self.zero(&x.part(i, from), ty)).collect();
        self.tuple(ty, made)
    }

    /// The content of a ref of numbers, by its type.
    fn numbers_in(&self, ty: Type) -> Option<Type> {
        let TypeKind::Ref(content) = *self.ctx.kind(ty) else { return None };
        (self.objects_in(content) == 0 && self.is_small(content)).then_some(content)
    }

    /// The number of parts of a type that are objects, or may be.
    fn objects_in(&self, ty: Type) -> usize {
        match parts(self.ctx, ty) {
            Some(parts) => parts.into_iter().map(|part| self.objects_in(part)).sum(),
            None => usize::from(may_reach_objects(self.ctx, ty)),
        }
    }

    fn copy(&mut self, x: &Part) -> Option<Make> {
        if !may_reach_objects(self.ctx, x.ty) {
            return Some(Make::This(x.clone()));
        }
        match self.ctx.kind(x.ty) {
            TypeKind::Array { .. } if !may_reach_others(self.ctx, x.ty) => {
                Some(Make::Op(mem::COPY, SmallVec::from_iter([x.clone()]), x.ty))
            }
            _ if self.objects_in(x.ty) == 1 => {
                let parts = self.parts_of(x)?;
                let op =
                    |part: &Part| Make::Op(ad::COPY, SmallVec::from_iter([part.clone()]), part.ty);
                let parts = parts.iter().map(|part| self.copy(part).unwrap_or_else(|| op(part)));
                let parts = parts.collect();
                self.tuple(x.ty, Some(parts))
            }
            _ => None,
        }
    }

    /// Adds the objects of a tangent to those of a shadow.
    fn accumulate(&mut self, s: &Part, t: &Part) -> Option<Vec<Effect>> {
        if s.ty == Type::UNIT || t.ty == Type::UNIT {
            return Some(Vec::new());
        }
        if self.objects_in(s.ty) == 0 && self.same_numbers(s.ty, t.ty) {
            return Some(Vec::new());
        }
        if matches!(self.ctx.kind(s.ty), TypeKind::Ref(_)) {
            let content = self.numbers_in(s.ty).filter(|_| s.ty == t.ty)?;
            return Some(vec![Effect::AddRef(s.clone(), t.clone(), content)]);
        }
        let (ss, ts) = self.alike(s, t)?;
        if self.objects_in(s.ty) != 1 {
            return None;
        }
        let mut effects = Vec::new();
        for (s, t) in ss.iter().zip(&ts) {
            if t.ty == Type::UNIT {
                continue;
            }
            if self.objects_in(s.ty) == 0 {
                if self.same_numbers(s.ty, t.ty) {
                    continue;
                }
                return None;
            }
            let op =
                || vec![Effect::Op(ad::ACCUMULATE, SmallVec::from_iter([s.clone(), t.clone()]))];
            effects.extend(self.accumulate(s, t).unwrap_or_else(op));
        }
        Some(effects)
    }

    /// Returns whether numbers of these types can be added, so that no error is lost if nobody
    /// does.
    fn same_numbers(&self, s: Type, t: Type) -> bool {
        if s == Type::UNIT || t == Type::UNIT || s == t && s.is_float() {
            return true;
        }
        match (self.parts(s), self.parts(t)) {
            (Some(ss), Some(ts)) => {
                ss.len() == ts.len()
                    && self.retyped(s, &ts) == t
                    && ss.iter().zip(&ts).all(|(&s, &t)| self.same_numbers(s, t))
            }
            _ => false,
        }
    }

    /// Sets the objects of a shadow to zero.
    fn clear(&mut self, s: &Part) -> Option<Vec<Effect>> {
        match *self.ctx.kind(s.ty) {
            TypeKind::Array { element, .. } if element.is_float() => {
                Some(vec![Effect::ClearArray(s.clone(), element)])
            }
            TypeKind::Ref(_) => {
                let zero = self.numbers_in(s.ty).and_then(|content| self.zero_of_type(content))?;
                Some(vec![Effect::ClearRef(s.clone(), zero)])
            }
            _ if !may_reach_objects(self.ctx, s.ty) => Some(Vec::new()),
            _ => {
                let mut effects = Vec::new();
                for part in self.parts_of(s)? {
                    let op = || vec![Effect::Op(ad::CLEAR, SmallVec::from_iter([part.clone()]))];
                    effects.extend(self.clear(&part).unwrap_or_else(op));
                }
                Some(effects)
            }
        }
    }
}
