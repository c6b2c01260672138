//! Values of the running program.
//!
//! A [`Val`] takes 16 bytes: scalars are in it, everything else is behind one counted pointer.
//! Tuples and immutable structs are values, compared by content; arrays, refs and mutable structs
//! are objects with an identity. Values belong to the thread that made them.

mod array;
mod buffer;
mod equality;
mod float;
mod heap;
mod json;
mod name;
pub(crate) mod pool;
mod read_type;
mod shared;
mod show;
pub mod tangent;
mod texts;
mod types;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use regraft_ir::{Constant, Context, Symbol, Type};
use smallvec::SmallVec;

pub use array::{Array, ArrayError, Dims, Element, Storage};
pub use buffer::Buffer;
pub use equality::{egal, same};
pub use heap::{Charge, collect_cycles, live_bytes, live_containers};
pub use json::to_json;
pub use name::type_name;
pub use pool::Pool;
pub use read_type::{read_signature, read_type, signature};
pub use shared::Shared;
pub use show::{print_string, print_within, show_string, show_within};
pub use tangent::Tangents;
pub use texts::{Names, Part, Shown, Texts};
pub use types::{MAX_TYPE_DEPTH, MAX_TYPE_SIZE};

/// A value of the running program.
#[derive(Clone)]
pub enum Val {
    /// `nothing`.
    Unit,
    /// A truth value.
    Bool(bool),
    /// An 8-bit integer.
    I8(i8),
    /// A 16-bit integer.
    I16(i16),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A single float.
    F32(f32),
    /// A double float.
    F64(f64),
    /// A symbol.
    Sym(Symbol),
    /// The function of that name.
    Func(Symbol),
    /// A type as a value.
    Type(Type),
    /// A string.
    Str(Rc<Text>),
    /// A tuple.
    Tuple(Shared<Fields>),
    /// A named tuple. Its [`Fields::ty`] is its shape: see [`Val::named_shape`].
    Named(Shared<Fields>),
    /// An immutable struct.
    Struct(Shared<Fields>),
    /// A mutable struct.
    Object(Shared<Object>),
    /// An array.
    Array(Shared<Array>),
    /// A one-cell object.
    Ref(Shared<RefCellObject>),
}

const _: () = assert!(size_of::<Val>() == 16);

/// Inline room for the fields of a tuple or struct.
pub type Items = SmallVec<[Val; 3]>;

/// The content of a string.
#[derive(Debug)]
pub struct Text {
    text: Box<str>,
    _charge: Charge,
}

impl Text {
    /// The string.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The fields of a tuple, named tuple or immutable struct.
pub struct Fields {
    ty: Type,
    items: Items,
    charge: Charge,
}

impl Fields {
    fn new(ty: Type, items: Items) -> Shared<Self> {
        let bytes = size_of::<Self>() + heap::COUNTS + spilled(&items);
        if let Some(mut free) = pool::fields()
            && let Some(fields) = Rc::get_mut(&mut free)
        {
            (fields.ty, fields.items) = (ty, items);
            fields.charge.set(bytes);
            return Shared::new(free);
        }
        Shared::new(Rc::new(Self { ty, items, charge: Charge::new(bytes) }))
    }

    /// Takes everything out.
    fn strip(&mut self) -> Items {
        self.charge.set(0);
        std::mem::take(&mut self.items)
    }

    /// The type of a struct, the shape of a named tuple, `any` for a tuple.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The fields in order.
    pub fn items(&self) -> &[Val] {
        &self.items
    }
}

impl Drop for Fields {
    fn drop(&mut self) {
        heap::dismantle(self.items.drain(..));
    }
}

/// Fields in a buffer from the pool, if one is at work.
pub(crate) fn collected(items: impl IntoIterator<Item = Val>) -> Items {
    let items = items.into_iter();
    let mut all = pool::items(items.size_hint().0);
    all.extend(items);
    all
}

fn spilled(items: &Items) -> usize {
    if items.spilled() { items.capacity() * size_of::<Val>() } else { 0 }
}

/// A mutable struct.
pub struct Object {
    ty: Type,
    fields: RefCell<Items>,
    charge: Charge,
}

impl Object {
    /// Takes everything out.
    fn strip(&self) -> Items {
        self.charge.set(0);
        self.fields.take()
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The number of fields.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.fields.borrow().len()
    }

    /// A field.
    pub fn get(&self, index: usize) -> Option<Val> {
        self.fields.borrow().get(index).cloned()
    }

    /// Sets a field; `false` if there is none at `index`.
    pub fn set(&self, index: usize, value: Val) -> bool {
        let old = match self.fields.borrow_mut().get_mut(index) {
            Some(place) => std::mem::replace(place, value),
            None => return false,
        };
        // Dropped when the borrow is over: dropping may run through this object again.
        drop(old);
        true
    }

    /// A copy of the fields.
    pub fn fields(&self) -> Items {
        collected(self.fields.borrow().iter().cloned())
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        heap::dismantle(self.fields.get_mut().drain(..));
    }
}

/// A one-cell object.
pub struct RefCellObject {
    element: Type,
    value: RefCell<Val>,
    charge: Charge,
}

impl RefCellObject {
    /// Takes everything out.
    fn strip(&self) -> Val {
        self.charge.set(0);
        self.value.replace(Val::Unit)
    }

    /// The type of what it may hold.
    pub fn element(&self) -> Type {
        self.element
    }

    /// What it holds.
    pub fn get(&self) -> Val {
        self.value.borrow().clone()
    }

    /// Changes what it holds, and returns what it held.
    pub fn set(&self, value: Val) -> Val {
        self.value.replace(value)
    }
}

impl Drop for RefCellObject {
    fn drop(&mut self) {
        heap::dismantle(std::iter::once(std::mem::replace(self.value.get_mut(), Val::Unit)));
    }
}

impl Val {
    /// A string.
    pub fn str(text: impl Into<Box<str>>) -> Self {
        let text = text.into();
        let bytes = size_of::<Text>() + heap::COUNTS + text.len();
        Self::Str(Rc::new(Text { text, _charge: Charge::new(bytes) }))
    }

    /// A tuple.
    pub fn tuple(items: impl IntoIterator<Item = Self>) -> Self {
        Self::tuple_of(collected(items))
    }

    pub(crate) fn tuple_of(items: Items) -> Self {
        Self::Tuple(Fields::new(Type::ANY, items))
    }

    /// A named tuple.
    pub fn named<'a>(ctx: &Context, fields: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let (names, items): (Vec<_>, Items) =
            fields.into_iter().map(|(name, value)| (ctx.symbol(name), value)).unzip();
        Self::named_of(Self::named_shape(ctx, names), items)
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
        Self::struct_of(ty, collected(items))
    }

    pub(crate) fn struct_of(ty: Type, items: Items) -> Self {
        Self::Struct(Fields::new(ty, items))
    }

    /// A mutable struct of that type. The fields have to be those that its definition asks for.
    pub fn object(ty: Type, items: impl IntoIterator<Item = Self>) -> Self {
        let items = collected(items);
        let bytes = size_of::<Object>() + heap::COUNTS + spilled(&items);
        if let Some(free) = pool::object(ty) {
            free.fields.replace(items);
            free.charge.set(bytes);
            return Self::Object(Shared::new(free));
        }
        let object = Object { ty, fields: RefCell::new(items), charge: Charge::new(bytes) };
        let object = Shared::new(Rc::new(object));
        heap::register_object(&object);
        Self::Object(object)
    }

    /// A ref to a cell that may hold values of type `element`.
    pub fn reference(element: Type, value: Self) -> Self {
        let bytes = size_of::<RefCellObject>() + heap::COUNTS;
        if let Some(free) = pool::reference(element) {
            free.value.replace(value);
            free.charge.set(bytes);
            return Self::Ref(Shared::new(free));
        }
        let cell = Shared::new(Rc::new(RefCellObject {
            element,
            value: RefCell::new(value),
            charge: Charge::new(bytes),
        }));
        if heap::may_close_a_cycle(element) {
            heap::register_ref(&cell);
        }
        Self::Ref(cell)
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

    /// Whether the value is all there is: it points to nothing.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Self::Unit | Self::Bool(_) | Self::Sym(_) | Self::Func(_) | Self::Type(_) => true,
            Self::I8(_) | Self::I16(_) | Self::I32(_) | Self::I64(_) => true,
            Self::F32(_) | Self::F64(_) => true,
            Self::Str(_) | Self::Tuple(_) | Self::Named(_) | Self::Struct(_) => false,
            Self::Object(_) | Self::Array(_) | Self::Ref(_) => false,
        }
    }

    /// The address of a value that has an identity or is shared; `None` for scalars.
    pub(crate) fn address(&self) -> Option<*const ()> {
        Some(match self {
            Self::Tuple(x) | Self::Named(x) | Self::Struct(x) => Shared::as_ptr(x).cast(),
            Self::Object(x) => Shared::as_ptr(x).cast(),
            Self::Array(x) => Shared::as_ptr(x).cast(),
            Self::Ref(x) => Shared::as_ptr(x).cast(),
            _ => return None,
        })
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(x) = self { Some(*x) } else { None }
    }

    /// The integer, if it is an `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::I64(x) = self { Some(*x) } else { None }
    }

    /// The float, if it is an `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::F64(x) = self { Some(*x) } else { None }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(x) = self { Some(x.as_str()) } else { None }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        if let Self::Array(x) = self { Some(x) } else { None }
    }

    /// The fields of a tuple, named tuple or immutable struct.
    pub fn as_fields(&self) -> Option<&[Val]> {
        match self {
            Self::Tuple(x) | Self::Named(x) | Self::Struct(x) => Some(&x.items),
            _ => None,
        }
    }
}

impl From<()> for Val {
    fn from((): ()) -> Self {
        Self::Unit
    }
}

macro_rules! from_scalar {
    ($($ty:ty => $variant:ident),*) => {$(
        impl From<$ty> for Val {
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
from_scalar!(bool => Bool, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64);

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
            let array = Shared::new(Rc::new(array));
            heap::register_array(&array);
            return Self::Array(array);
        }
        if let Some(mut free) = pool::array()
            && let Some(place) = Rc::get_mut(&mut free)
        {
            *place = array;
            return Self::Array(Shared::new(free));
        }
        Self::Array(Shared::new(Rc::new(array)))
    }
}

impl fmt::Debug for Val {
    /// One level deep, without names: those need a [`Context`] (see [`show_string`]).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("nothing"),
            Self::Bool(x) => write!(f, "{x}"),
            Self::I8(x) => write!(f, "{x}i8"),
            Self::I16(x) => write!(f, "{x}i16"),
            Self::I32(x) => write!(f, "{x}i32"),
            Self::I64(x) => write!(f, "{x}"),
            Self::F32(x) => write!(f, "{x:?}f32"),
            Self::F64(x) => write!(f, "{x:?}"),
            Self::Sym(x) => write!(f, ":{x:?}"),
            Self::Func(x) => write!(f, "@{x:?}"),
            Self::Type(x) => write!(f, "!{x:?}"),
            Self::Str(x) => write!(f, "{:?}", x.as_str()),
            Self::Tuple(x) => write!(f, "tuple of {}", x.items.len()),
            Self::Named(x) => write!(f, "named tuple of {}", x.items.len()),
            Self::Struct(x) => write!(f, "struct of {}", x.items.len()),
            Self::Object(x) => write!(f, "{x:?}"),
            Self::Array(x) => write!(f, "{x:?}"),
            Self::Ref(x) => write!(f, "{x:?}"),
        }
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} fields", self.items.len())
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object of {:?}", self.ty)
    }
}

impl fmt::Debug for RefCellObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ref of {:?}", self.element)
    }
}
