//! The lattice of inference: of a value, nothing is known yet, or the constant that it is, the parts that it is
//! made of, or its type.
//!
//! ```text
//!                 Of(any)
//!            /       |      \
//!      Of(i64)   Of(tuple)   Of(f64) …
//!         |          |
//!      Const(3)   Partial(tuple, [Const(:a), Of(f64)])
//!            \       |      /
//!                 Undef
//!                    |
//!                  Bottom
//! ```
//!
//! An element is 8 bytes and `Copy`: constants and types are interned in the context, the parts
//! of partial values in [`Partials`]. Elements are normalised (the only value of a type is
//! [`Lattice::Const`], parts that the type alone tells are left away), so that equal knowledge is
//! equal bits and can be a key of a table.
//!
//! Between types and `any` are the unions of two to [`MAX_MEMBERS`] types, `Union(i64, f64)`.
//!
//! Every chain is finite: a partial value has at most [`MAX_PARTS`] parts nested at most
//! [`MAX_DEPTH`] deep, and the join of values of more types is `any`.

use std::sync::Arc;

use hashbrown::HashTable;
use regraft_dialects::semantics;
use regraft_ir::{Const, Constant, Context, Type, TypeKind};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// The most parts that a partial value has, those of its parts included.
pub const MAX_PARTS: usize = 256;
/// The depth to which partial values nest.
pub const MAX_DEPTH: usize = 8;

/// The most types of which a value of several is known to be of one.
pub const MAX_MEMBERS: usize = 4;

/// A lattice value: the facts that are known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lattice {
    /// There is no value: control does not get here, as far as is known.
    Bottom,
    /// A variable that has no value yet; nobody looks at it.
    Undef,
    /// It is this constant.
    Const(Const),
    /// It is a tuple, named tuple or immutable struct of which parts are known.
    Partial(Partial),
    /// It is of one of several types.
    Union(Union),
    /// It is of this type; of any type, if that is `any`.
    Of(Type),
}

const _: () = assert!(size_of::<Lattice>() == 8);

impl Lattice {
    /// Nothing is known of it.
    pub const ANY: Self = Self::Of(Type::ANY);

    /// Returns whether it has no value.
    pub fn is_bottom(self) -> bool {
        self == Self::Bottom
    }

    /// The constant that it is.
    pub fn as_const(self) -> Option<Const> {
        match self {
            Self::Const(constant) => Some(constant),
            _ => None,
        }
    }
}

/// Names a partial value in [`Partials`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Partial(u32);

/// Names a set of types in [`Partials`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Union(u32);

#[derive(Debug)]
struct PartialData {
    ty: Type,
    parts: Box<[Lattice]>,
    /// The number of parts, nested ones included.
    size: u32,
    depth: u32,
}

/// The partial values there are, and what they are made of.
#[derive(Debug)]
pub struct Partials {
    ctx: Arc<Context>,
    data: Vec<PartialData>,
    table: HashTable<u32>,
    /// The members of each union, in order.
    unions: Vec<SmallVec<[Type; MAX_MEMBERS]>>,
}

impl Partials {
    /// None yet.
    pub fn new(ctx: &Arc<Context>) -> Self {
        Self { ctx: Arc::clone(ctx), data: Vec::new(), table: HashTable::new(), unions: Vec::new() }
    }

    /// Returns the lattice value that a type alone gives: if it has one value only, that one.
    pub fn of_type(&self, ty: Type) -> Lattice {
        if ty.index() > Type::UNIT.index() && ty.index() < Type::BUILTIN.len() {
            return Lattice::Of(ty);
        }
        match *self.ctx.kind(ty) {
            TypeKind::Fn(name) => self.constant(Constant::Func(name)),
            TypeKind::TypeOf(of) => self.constant(Constant::Type(of)),
            _ if ty == Type::UNIT => self.constant(Constant::Unit),
            _ if ty == Type::NEVER => Lattice::Bottom,
            _ => Lattice::Of(ty),
        }
    }

    /// A constant as an element.
    pub fn constant(&self, constant: Constant) -> Lattice {
        Lattice::Const(self.ctx.constant_id(constant))
    }

    /// The type of a value, `never` if there is none.
    pub fn type_of(&self, value: Lattice) -> Type {
        match value {
            Lattice::Bottom => Type::NEVER,
            Lattice::Undef | Lattice::Union(_) => Type::ANY,
            Lattice::Const(constant) => self.ctx.constant_type(constant),
            Lattice::Partial(partial) => self.data[partial.0 as usize].ty,
            Lattice::Of(ty) => ty,
        }
    }

    /// The constant that a value is.
    pub fn value(&self, value: Lattice) -> Option<Constant> {
        value.as_const().map(|constant| self.ctx.constant(constant))
    }

    /// The parts of a partial value.
    pub fn parts(&self, value: Lattice) -> Option<&[Lattice]> {
        match value {
            Lattice::Partial(partial) => Some(&self.data[partial.0 as usize].parts),
            _ => None,
        }
    }

    /// A value of type `ty` (a tuple, named tuple or immutable struct) made of `parts`, one for
    /// each field.
    ///
    /// Of a part whose type is not that of its field (which is `any`) only a constant is kept,
    /// since reading the field gives the type of the field.
    pub fn partial(&mut self, ty: Type, parts: &[Lattice]) -> Lattice {
        let fields = field_types(&self.ctx, ty);
        if fields.len() != parts.len() {
            return Lattice::Of(ty);
        }
        let mut says_more = false;
        let (mut size, mut depth) = (parts.len() as u32, 1);
        let mut kept: SmallVec<[Lattice; 8]> = SmallVec::new();
        for (&part, &field) in parts.iter().zip(&fields) {
            let by_type = self.of_type(field);
            let mut part = match part {
                Lattice::Const(_) => part,
                _ if self.type_of(part) == field => part,
                _ => by_type,
            };
            if let Lattice::Partial(nested) = part {
                let nested = &self.data[nested.0 as usize];
                if nested.depth as usize >= MAX_DEPTH {
                    part = Lattice::Of(nested.ty);
                } else {
                    size = size.saturating_add(nested.size);
                    depth = depth.max(nested.depth + 1);
                }
            }
            says_more |= part != by_type;
            kept.push(part);
        }
        if !says_more || size as usize > MAX_PARTS {
            return Lattice::Of(ty);
        }
        let hash = |ty: Type, parts: &[Lattice]| FxBuildHasher.hash_one((ty, parts));
        let data = &self.data;
        let found = self.table.find(hash(ty, &kept), |&i| {
            let other = &data[i as usize];
            other.ty == ty && *other.parts == *kept
        });
        if let Some(&i) = found {
            return Lattice::Partial(Partial(i));
        }
        let id = self.data.len() as u32;
        let code = hash(ty, &kept);
        self.data.push(PartialData { ty, parts: kept.into_boxed_slice(), size, depth });
        let data = &self.data;
        self.table.insert_unique(code, id, |&i| {
            let other = &data[i as usize];
            hash(other.ty, &other.parts)
        });
        Lattice::Partial(Partial(id))
    }

    /// A tuple of these values.
    pub fn tuple(&mut self, parts: &[Lattice]) -> Lattice {
        let types: SmallVec<[Type; 8]> = parts.iter().map(|&part| self.type_of(part)).collect();
        let ty = self.ctx.tuple_type(&types);
        self.partial(ty, parts)
    }

    /// The part at `index` (from 0) of a tuple, named tuple or struct.
    pub fn part(&self, value: Lattice, index: usize) -> Option<Lattice> {
        if let Some(parts) = self.parts(value) {
            return parts.get(index).copied();
        }
        let field = field_type_at(&self.ctx, self.type_of(value), index)?;
        Some(self.of_type(field))
    }

    /// Joins two lattice values.
    pub fn join(&mut self, a: Lattice, b: Lattice) -> Lattice {
        match (a, b) {
            _ if a == b => a,
            (Lattice::Bottom, other) | (other, Lattice::Bottom) => other,
            (Lattice::Undef, other) | (other, Lattice::Undef) => other,
            _ => {
                let ty = self.type_of(a);
                if ty != self.type_of(b) || ty == Type::ANY {
                    return self.union_of([self.members(a), self.members(b)].concat());
                }
                let (Some(x), Some(y)) = (self.parts(a), self.parts(b)) else {
                    return self.of_type(ty);
                };
                let pairs: Vec<(Lattice, Lattice)> =
                    x.iter().copied().zip(y.iter().copied()).collect();
                // The recursion is as deep as partial values are.
                let parts: Vec<Lattice> = pairs.into_iter().map(|(x, y)| self.join(x, y)).collect();
                self.partial(ty, &parts)
            }
        }
    }

    /// The types of which a value has one; none if they are not known.
    pub fn members(&self, value: Lattice) -> SmallVec<[Type; MAX_MEMBERS]> {
        match value {
            Lattice::Union(union) => self.unions[union.0 as usize].clone(),
            Lattice::Bottom => SmallVec::new(),
            _ => SmallVec::from_elem(self.type_of(value), 1),
        }
    }

    /// A value of one of these types.
    pub fn union_of(&mut self, mut types: Vec<Type>) -> Lattice {
        types.sort_unstable();
        types.dedup();
        match *types {
            [] => Lattice::Bottom,
            [ty] => self.of_type(ty),
            _ if types.len() > MAX_MEMBERS || !types.iter().all(|&ty| self.is_told_apart(ty)) => {
                Lattice::ANY
            }
            _ => {
                let found = self.unions.iter().position(|union| **union == *types);
                let id = found.unwrap_or_else(|| {
                    self.unions.push(types.into());
                    self.unions.len() - 1
                });
                Lattice::Union(Union(id as u32))
            }
        }
    }

    /// Returns whether the values of a type are known by their own type when the program runs: a tuple
    /// with parts of any type is not, nor is a type.
    pub fn is_told_apart(&self, ty: Type) -> bool {
        match self.ctx.kind(ty) {
            TypeKind::TypeOf(_) => false,
            TypeKind::Tuple(_) | TypeKind::Named(_) => {
                field_types(&self.ctx, ty).iter().all(|&field| self.is_told_apart(field))
            }
            _ => self.is_exact(self.of_type(ty)),
        }
    }

    /// Returns the part of a lattice value that is in the key of a specialisation: symbols, types,
    /// functions and `nothing` always, other constants and unions if `all`.
    pub fn key(&mut self, value: Lattice, all: bool) -> Lattice {
        match value {
            Lattice::Union(_) if all => value,
            Lattice::Undef | Lattice::Bottom | Lattice::Union(_) => Lattice::ANY,
            Lattice::Of(_) => value,
            Lattice::Const(constant) => match self.ctx.constant(constant) {
                Constant::Sym(_) | Constant::Type(_) | Constant::Func(_) | Constant::Unit => value,
                _ if all => value,
                _ => Lattice::Of(self.ctx.constant_type(constant)),
            },
            Lattice::Partial(_) if all => value,
            Lattice::Partial(partial) => {
                let ty = self.data[partial.0 as usize].ty;
                let parts = self.data[partial.0 as usize].parts.clone();
                let parts: Vec<Lattice> = parts.iter().map(|&part| self.key(part, false)).collect();
                self.partial(ty, &parts)
            }
        }
    }

    /// Returns whether every value of this kind is exactly of the type that is known.
    pub fn is_exact(&self, value: Lattice) -> bool {
        match value {
            Lattice::Const(_) => true,
            Lattice::Bottom | Lattice::Undef | Lattice::Union(_) => false,
            _ => {
                let ty = self.type_of(value);
                if ty.index() < Type::BUILTIN.len() {
                    return ty != Type::ANY && ty != Type::NEVER;
                }
                semantics::is_exact(&self.ctx, ty)
            }
        }
    }
}

/// The types of the fields of a tuple, named tuple or struct; none for anything else.
pub fn field_types(ctx: &Context, ty: Type) -> SmallVec<[Type; 8]> {
    match ctx.kind(ty) {
        TypeKind::Tuple(elements) => elements.iter().copied().collect(),
        TypeKind::Named(fields) => fields.iter().map(|&(_, field)| field).collect(),
        &TypeKind::Struct(id) => {
            ctx.struct_def(id).fields.iter().map(|&(_, field)| field).collect()
        }
        _ => SmallVec::new(),
    }
}

fn field_type_at(ctx: &Context, ty: Type, index: usize) -> Option<Type> {
    match ctx.kind(ty) {
        TypeKind::Tuple(elements) => elements.get(index).copied(),
        TypeKind::Named(fields) => fields.get(index).map(|&(_, field)| field),
        &TypeKind::Struct(id) => ctx.struct_def(id).fields.get(index).map(|&(_, field)| field),
        _ => None,
    }
}

/// The position (from 0) of the field of that name or index (from 1).
pub fn field_index(ctx: &Context, ty: Type, field: Constant) -> Option<usize> {
    match field {
        Constant::I64(index) => {
            let index = usize::try_from(index).ok()?.checked_sub(1)?;
            field_type_at(ctx, ty, index).map(|_| index)
        }
        Constant::Sym(name) => match ctx.kind(ty) {
            TypeKind::Named(fields) => fields.iter().position(|&(field, _)| field == name),
            &TypeKind::Struct(id) => ctx.struct_def(id).field(name).map(|(index, _)| index),
            _ => None,
        },
        _ => None,
    }
}
