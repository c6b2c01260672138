//! Makes values, in memory of the [pool](super::pool), if one is at work.

use std::cell::Cell;

use regraft_ir::{Constant, Context, Symbol, Type};

use super::array::{ArrayError, checked_len};
use super::charge::{COUNTS, Charge};
use super::element_type::ElementType;
use super::layout::{Counted, InlineList};
use super::offsets::tag_of;
use super::shared::Shared;
use super::val::{Array, Fields, Items, Object, RefCellObject, Storage, Text, Val};
use super::{heap, pool};

impl Fields {
    /// Puts fields in a box that is free, or in a new one.
    fn new(ty: Type, mut items: Items) -> Shared<Self> {
        let Some(free) = pool::fields(items.len()) else { return Self::boxed(ty, items) };
        Self::refilled(free, ty, |fields| {
            if fields.len() == items.len() {
                fields.swap_with_slice(&mut items);
                pool::give_items(items);
            } else {
                *fields = items;
            }
        })
    }

    /// The same for what gives the fields one after the other.
    fn of(ty: Type, parts: impl ExactSizeIterator<Item = Val>) -> Shared<Self> {
        let Some(free) = pool::fields(parts.len()) else { return Self::boxed(ty, parts.collect()) };
        Self::refilled(free, ty, |fields| {
            if fields.len() == parts.len() {
                let places = fields.iter_mut().zip(parts);
                places.for_each(|(field, part)| std::mem::replace(field, part).discard());
            } else {
                *fields = parts.collect();
            }
        })
    }

    /// So many fields, which hold nothing that is counted.
    #[inline]
    fn unset(ty: Type, count: usize) -> Shared<Self> {
        let parts = || (0..count).map(|_| Val::Unit).collect();
        let Some(free) = pool::fields(count) else { return Self::boxed(ty, parts()) };
        Self::refilled(free, ty, |fields| {
            if fields.len() != count {
                *fields = parts();
            }
        })
    }

    #[inline]
    fn refilled(mut free: Counted<Self>, ty: Type, put: impl FnOnce(&mut Items)) -> Shared<Self> {
        let fields = Counted::get_mut(&mut free).expect("nobody points to a free box");
        fields.ty = ty;
        put(&mut fields.items);
        fields.charge.set(Self::bytes(&fields.items));
        Shared::new(free)
    }

    fn boxed(ty: Type, items: Items) -> Shared<Self> {
        let charge = Charge::new(Self::bytes(&items));
        Shared::new(Counted::new(Self { charge, ty, items }))
    }

    #[inline]
    fn bytes(items: &Items) -> usize {
        size_of::<Self>() + COUNTS + items.heap_bytes()
    }
}

impl FromIterator<Val> for Items {
    /// Collects fields in a buffer from the pool, if one is at work.
    #[inline]
    fn from_iter<I: IntoIterator<Item = Val>>(items: I) -> Self {
        Self::collect(items, pool::items)
    }
}

/// The kinds of values that are made of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compound {
    /// A tuple.
    Tuple,
    /// A named tuple, by its [shape](Val::named_shape).
    Named,
    /// An immutable struct, by its type.
    Struct,
    /// A mutable struct, by its type.
    Object,
    /// A ref, by the type of what it may hold.
    Ref,
}

impl Compound {
    /// The tag of these values: see [`tag_of`].
    pub(crate) fn tag(self) -> u8 {
        tag_of(&Val::compound(self, Type::ANY, std::iter::empty()))
    }
}

impl Val {
    /// A value of that kind and type, of these parts.
    #[inline]
    pub(crate) fn compound(
        kind: Compound,
        ty: Type,
        parts: impl ExactSizeIterator<Item = Self>,
    ) -> Self {
        match kind {
            Compound::Tuple => Self::Tuple(Fields::of(Type::ANY, parts)),
            Compound::Named => Self::Named(Fields::of(ty, parts)),
            Compound::Struct => Self::Struct(Fields::of(ty, parts)),
            Compound::Object => Self::object(ty, parts),
            Compound::Ref => Self::reference(ty, { parts }.next().unwrap_or(Self::Unit)),
        }
    }

    /// A value of that kind and type with so many parts, which are to be set: they hold anything that is not counted.
    #[inline]
    pub(crate) fn unset_compound(kind: Compound, ty: Type, parts: usize) -> Self {
        match kind {
            Compound::Tuple => Self::Tuple(Fields::unset(Type::ANY, parts)),
            Compound::Named => Self::Named(Fields::unset(ty, parts)),
            Compound::Struct => Self::Struct(Fields::unset(ty, parts)),
            Compound::Object | Compound::Ref => {
                Self::compound(kind, ty, (0..parts).map(|_| Self::Unit))
            }
        }
    }

    /// A string.
    pub fn str(text: impl Into<Box<str>>) -> Self {
        Self::Str(Counted::new(Text::new(text.into())))
    }

    /// A tuple.
    pub fn tuple(items: impl IntoIterator<Item = Self>) -> Self {
        Self::tuple_of(items.into_iter().collect())
    }

    pub(crate) fn tuple_of(items: Items) -> Self {
        Self::Tuple(Fields::new(Type::ANY, items))
    }

    /// A named tuple.
    pub fn named<'a>(ctx: &Context, fields: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let (names, items): (Vec<_>, Vec<_>) =
            fields.into_iter().map(|(name, value)| (ctx.symbol(name), value)).unzip();
        Self::named_of(Self::named_shape(ctx, names), items.into())
    }

    /// The type that stands for the names of a named tuple, whatever its fields are: all are
    /// `any`. So two named tuples have the same names if and only if their shapes are equal.
    pub fn named_shape(ctx: &Context, names: impl IntoIterator<Item = Symbol>) -> Type {
        let fields: Vec<_> = names.into_iter().map(|name| (name, Type::ANY)).collect();
        ctx.named_type(&fields)
    }

    /// A named tuple of that [shape](Self::named_shape).
    pub fn named_of(shape: Type, items: Items) -> Self {
        Self::Named(Fields::new(shape, items))
    }

    /// An immutable struct of that type. The fields have to be those that its definition asks for.
    pub fn structure(ty: Type, items: impl IntoIterator<Item = Self>) -> Self {
        Self::struct_of(ty, items.into_iter().collect())
    }

    pub(crate) fn struct_of(ty: Type, items: Items) -> Self {
        Self::Struct(Fields::new(ty, items))
    }

    /// A mutable struct of that type. The fields have to be those that its definition asks for.
    pub fn object<I>(ty: Type, items: I) -> Self
    where
        I: IntoIterator<Item = Self, IntoIter: ExactSizeIterator>,
    {
        let items = items.into_iter();
        let bytes = |object: &Object| size_of::<Object>() + COUNTS + object.fields.heap_bytes();
        if let Some(free) = pool::object(ty, items.len()) {
            for (field, item) in free.fields.iter().zip(items) {
                field.set(item);
            }
            free.charge.set(bytes(&free));
            return Self::Object(Shared::new(free));
        }
        let fields = InlineList::collect(items.map(Cell::new), Vec::with_capacity);
        let object = Object { ty, fields, charge: Charge::new(0) };
        object.charge.set(bytes(&object));
        Self::Object(Shared::new(Counted::new(object)))
    }

    /// A ref to a cell that may hold values of type `element`.
    pub fn reference(element: Type, value: Self) -> Self {
        let bytes = size_of::<RefCellObject>() + COUNTS;
        if let Some(free) = pool::reference(element) {
            free.value.replace(value);
            free.charge.set(bytes);
            return Self::Ref(Shared::new(free));
        }
        Self::Ref(Shared::new(Counted::new(RefCellObject {
            element,
            value: Cell::new(value),
            charge: Charge::new(bytes),
        })))
    }

    /// An array whose elements are not set: scalars are zero, or numbers that may be anything if they are `undef`.
    ///
    /// # Errors
    /// If it would be too large, or has no dimensions.
    #[inline]
    pub(crate) fn unset(
        element: ElementType,
        dims: &[usize],
        undef: bool,
    ) -> Result<Self, ArrayError> {
        let again = if element.ty() == Type::F64 { Self::floats_again(dims, undef) } else { None };
        again.map_or_else(|| Array::new(element, dims).map(Self::from), Ok)
    }

    /// A new array with the same elements.
    pub(crate) fn copy_of(array: &Array) -> Self {
        if let Storage::F64(from) = array.storage()
            && let Some(copy) = Self::floats_again(&array.dims(), true)
            && let Some(to) = copy.as_array().and_then(Array::buffer)
            && to.copy_from(from)
        {
            return copy;
        }
        array.duplicate().into()
    }

    /// An array of floats in memory that another one has left, if there is some.
    #[inline]
    fn floats_again(dims: &[usize], undef: bool) -> Option<Self> {
        let count = checked_len(dims).ok()?;
        Array::bytes(ElementType::builtin(Type::F64), count)?;
        let mut free = pool::floats(dims.len(), count)?;
        let array = Counted::get_mut(&mut free)?;
        let Storage::F64(floats) = &array.storage else { return None };
        floats.renew(count, undef);
        if let [_, _, ..] = dims {
            array.dims.copy_from_slice(dims);
        }
        array.update_charge();
        Some(Self::Array(Shared::new(free)))
    }

    /// The value of a constant.
    pub fn constant(ctx: &Context, constant: Constant) -> Self {
        match constant {
            Constant::Unit => Self::Unit,
            Constant::Bool(x) => Self::Bool(x),
            Constant::I8(x) => Self::I8(x),
            Constant::I16(x) => Self::I16(x),
            Constant::I32(x) => Self::I32(x),
            Constant::I64(x) => Self::I64(x),
            Constant::F32(bits) => Self::F32(f32::from_bits(bits)),
            Constant::F64(bits) => Self::F64(f64::from_bits(bits)),
            Constant::Sym(name) => Self::Sym(name),
            Constant::Str(text) => Self::str(ctx.str(text)),
            Constant::Func(name) => Self::Func(name),
            Constant::Type(ty) => Self::Type(ty),
        }
    }

    /// The constant that a value without parts is.
    pub fn as_constant(&self, ctx: &Context) -> Option<Constant> {
        Some(match self {
            Self::Unit => Constant::Unit,
            &Self::Bool(x) => Constant::Bool(x),
            &Self::I8(x) => Constant::I8(x),
            &Self::I16(x) => Constant::I16(x),
            &Self::I32(x) => Constant::I32(x),
            &Self::I64(x) => Constant::I64(x),
            &Self::F32(x) => Constant::F32(x.to_bits()),
            &Self::F64(x) => Constant::F64(x.to_bits()),
            &Self::Sym(name) => Constant::Sym(name),
            &Self::Func(name) => Constant::Func(name),
            &Self::Type(ty) => Constant::Type(ty),
            Self::Str(text) => Constant::Str(ctx.symbol(text.as_str())),
            _ => return None,
        })
    }
}

impl From<&str> for Val {
    fn from(text: &str) -> Self {
        Self::str(text)
    }
}

impl From<Array> for Val {
    fn from(array: Array) -> Self {
        if matches!(array.storage(), Storage::Val(_)) && heap::may_close_a_cycle(array.element()) {
            if let Some(free) = pool::container(&array) {
                free.move_from(&array);
                return Self::Array(Shared::new(free));
            }
            let array = Shared::new(Counted::new(array));
            heap::register_array(&array);
            return Self::Array(array);
        }
        if let Some(mut free) = pool::array(&array)
            && let Some(place) = Counted::get_mut(&mut free)
        {
            *place = array;
            return Self::Array(Shared::new(free));
        }
        Self::Array(Shared::new(Counted::new(array)))
    }
}
