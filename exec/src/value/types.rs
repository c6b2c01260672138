//! The types of values.

use regraft_ir::{Context, Type, TypeKind};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::Val;

/// The depth to which tuples are looked into to find the type of a value.
pub const MAX_TYPE_DEPTH: usize = 64;
/// The number of tuples inside of a tuple that are looked at without a thought that some may be the same.
const FEW: usize = 64;
/// The number of parts of tuples that are looked at to find the type of a value. Parts can be shared, so that
/// a small value can have a type that is too large to write down.
pub const MAX_TYPE_SIZE: usize = 1 << 16;

impl Val {
    /// Its type. That of a tuple or named tuple is made of the types of its fields; beyond
    /// [`MAX_TYPE_DEPTH`] and [`MAX_TYPE_SIZE`] they count as `any`.
    pub fn type_of(&self, ctx: &Context) -> Type {
        self.type_by(ctx, &|parts| ctx.tuple_type(parts))
    }

    /// The same, with the types of tuples by `tuple`, which may know them.
    pub(crate) fn type_by(&self, ctx: &Context, tuple: &impl Fn(&[Type]) -> Type) -> Type {
        self.type_within(ctx, tuple, MAX_TYPE_DEPTH, &mut MAX_TYPE_SIZE.clone())
    }

    /// The recursion is at most `depth` deep.
    fn type_within(
        &self,
        ctx: &Context,
        tuple: &impl Fn(&[Type]) -> Type,
        depth: usize,
        size: &mut usize,
    ) -> Type {
        if *size == 0 {
            return Type::ANY;
        }
        *size -= 1;
        match self {
            Self::Unit => Type::UNIT,
            Self::Bool(_) => Type::BOOL,
            Self::I8(_) => Type::I8,
            Self::I16(_) => Type::I16,
            Self::I32(_) => Type::I32,
            Self::I64(_) => Type::I64,
            Self::F32(_) => Type::F32,
            Self::F64(_) => Type::F64,
            Self::Sym(_) => Type::SYM,
            Self::Str(_) => Type::STR,
            &Self::Func(name) => ctx.ty(TypeKind::Fn(name)),
            &Self::Type(ty) => ctx.ty(TypeKind::TypeOf(ty)),
            Self::Tuple(_) | Self::Named(_) if depth == 0 => Type::ANY,
            Self::Tuple(fields) => {
                let items = fields.items.iter();
                let types: SmallVec<[Type; 8]> =
                    items.map(|v| v.type_within(ctx, tuple, depth - 1, size)).collect();
                tuple(&types)
            }
            Self::Named(fields) => {
                let items = fields.items.iter();
                let types = items.map(|v| v.type_within(ctx, tuple, depth - 1, size));
                match ctx.kind(fields.ty) {
                    TypeKind::Named(shape) => {
                        let fields: Vec<_> = shape.iter().map(|&(n, _)| n).zip(types).collect();
                        ctx.named_type(&fields)
                    }
                    _ => Type::ANY,
                }
            }
            Self::Struct(fields) => fields.ty,
            Self::Object(object) => object.ty,
            Self::Array(array) => ctx.array_type(array.element(), array.rank()),
            Self::Ref(cell) => ctx.ref_type(cell.element),
        }
    }

    /// Returns whether it is a value of type `ty`. Unlike [`Self::type_of`] it interns no types,
    /// and a tuple belongs to every tuple type that its fields belong to: `(1, 2)` is a `tuple<i64,
    /// any>`. O(size of the type).
    #[inline]
    pub fn is_a(&self, ctx: &Context, ty: Type) -> bool {
        if ty == Type::ANY {
            return true;
        }
        match self {
            Self::Tuple(_) | Self::Named(_) => self.tuple_is_a(ctx, ty),
            other => other.simple_is_a(ctx, ty),
        }
    }

    /// The same for what is neither a tuple nor a named tuple.
    fn simple_is_a(&self, ctx: &Context, ty: Type) -> bool {
        match self {
            Self::Unit => ty == Type::UNIT,
            Self::Bool(_) => ty == Type::BOOL,
            Self::I8(_) => ty == Type::I8,
            Self::I16(_) => ty == Type::I16,
            Self::I32(_) => ty == Type::I32,
            Self::I64(_) => ty == Type::I64,
            Self::F32(_) => ty == Type::F32,
            Self::F64(_) => ty == Type::F64,
            Self::Sym(_) => ty == Type::SYM,
            Self::Str(_) => ty == Type::STR,
            Self::Struct(fields) => fields.ty == ty,
            Self::Object(object) => object.ty == ty,
            Self::Func(name) => matches!(ctx.kind(ty), TypeKind::Fn(other) if other == name),
            Self::Type(of) => matches!(ctx.kind(ty), TypeKind::TypeOf(other) if other == of),
            Self::Ref(cell) => matches!(ctx.kind(ty), TypeKind::Ref(e) if *e == cell.element),
            Self::Array(array) => match *ctx.kind(ty) {
                TypeKind::Array { element, rank } => {
                    element == array.element() && rank == array.rank()
                }
                _ => false,
            },
            Self::Tuple(_) | Self::Named(_) => false,
        }
    }

    fn tuple_is_a(&self, ctx: &Context, ty: Type) -> bool {
        // Tuples inside, each with the type that it has to be of. Where there are many, one that is
        // there several times is looked at once.
        let mut work: Work<'_> = smallvec![(self, ty)];
        let mut seen = Seen::default();
        while let Some((value, ty)) = work.pop() {
            let mut part = |part: &'_ Val, ty: Type| -> Option<bool> {
                if ty == Type::ANY {
                    return Some(true);
                }
                match part {
                    Self::Tuple(_) | Self::Named(_) => None,
                    other => Some(other.simple_is_a(ctx, ty)),
                }
            };
            let fits = match (value, ctx.kind(ty)) {
                (Self::Tuple(fields), TypeKind::Tuple(types)) => {
                    let parts = fields.items.iter().zip(types.iter().copied());
                    types.len() == fields.items.len()
                        && add_parts(parts, &mut work, &mut seen, &mut part)
                }
                (Self::Named(fields), TypeKind::Named(types)) => {
                    let same_names = match ctx.kind(fields.ty) {
                        TypeKind::Named(shape) => {
                            shape.iter().map(|&(n, _)| n).eq(types.iter().map(|&(n, _)| n))
                        }
                        _ => false,
                    };
                    let parts = fields.items.iter().zip(types.iter().map(|&(_, ty)| ty));
                    same_names && add_parts(parts, &mut work, &mut seen, &mut part)
                }
                _ => false,
            };
            if !fits {
                return false;
            }
        }
        true
    }
}

type Work<'a> = SmallVec<[(&'a Val, Type); 8]>;

/// Pairs of a tuple and a type that were met.
#[derive(Default)]
struct Seen {
    few: usize,
    known: FxHashSet<(*const (), Type)>,
}

impl Seen {
    /// Returns whether it has to be looked at.
    fn is_new(&mut self, value: &Val, ty: Type) -> bool {
        if self.few < FEW {
            self.few += 1;
            return true;
        }
        value.address().is_some_and(|address| self.known.insert((address, ty)))
    }
}

/// Looks at the parts of a tuple; those that `check` cannot say anything about are added to the
/// work. Whether the others fit.
fn add_parts<'a>(
    parts: impl Iterator<Item = (&'a Val, Type)>,
    work: &mut Work<'a>,
    seen: &mut Seen,
    check: &mut impl FnMut(&Val, Type) -> Option<bool>,
) -> bool {
    for (part, ty) in parts {
        match check(part, ty) {
            Some(true) => {}
            Some(false) => return false,
            None => {
                if seen.is_new(part, ty) {
                    work.push((part, ty));
                }
            }
        }
    }
    true
}
