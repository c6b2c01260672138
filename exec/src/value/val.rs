//! The types of values: a [`Val`] takes 16 bytes, scalars are in it, everything else is behind one
//! counted pointer.

use std::cell::Cell;
use std::fmt;

use regraft_ir::{Symbol, Type};
use smallvec::SmallVec;

use super::buffer::Buffer;
use super::charge::{COUNTS, Charge};
use super::fill::Plain;
use super::layout::{Counted, Header, HeapSlice, InlineList, Kind, Kinded, Slots};
use super::pool::list::{Buffers, Scalars};
use super::shared::Shared;
use super::unboxed::Unboxed;

/// A value of the running program.
// The kind takes eight bytes, so that a value is moved in two steps of eight: after a store of one byte,
// whoever reads the value as a whole waits until it is in memory.
#[repr(C, u64)]
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
    Str(Counted<Text>),
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

/// The number of fields that stand in a tuple or struct itself.
pub(super) const INLINE_FIELDS: usize = 3;

/// The fields of a tuple or immutable struct.
pub type Items = InlineList<Val, INLINE_FIELDS>;

/// Inline room for pairs of values.
pub(crate) type Pairs = SmallVec<[(Val, Val); INLINE_FIELDS]>;

/// The content of a string.
#[repr(C)]
pub struct Text {
    pub(super) text: HeapSlice<u8>,
    pub(super) _charge: Charge,
}

impl Text {
    pub(super) fn new(text: Box<str>) -> Self {
        let bytes = size_of::<Self>() + COUNTS + text.len();
        Self { text: text.into_boxed_bytes().into(), _charge: Charge::new(bytes) }
    }

    /// The string.
    #[allow(unsafe_code)]
    pub fn as_str(&self) -> &str {
        // SAFETY: it was made of a string, and its bytes are never changed.
        unsafe { self.text.as_str() }
    }
}

/// The fields of a tuple, named tuple or immutable struct.
#[repr(C)]
pub struct Fields {
    pub(super) charge: Charge,
    pub(super) ty: Type,
    pub(super) items: Items,
}

impl Fields {
    /// The type of a struct, the shape of a named tuple, `any` for a tuple.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The fields in order.
    pub fn items(&self) -> &[Val] {
        &self.items
    }
}

/// A mutable struct.
#[repr(C)]
pub struct Object {
    pub(super) charge: Charge,
    pub(super) ty: Type,
    pub(super) fields: InlineList<Cell<Val>, INLINE_FIELDS>,
}

impl Object {
    /// Its type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The number of fields.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Val> {
        self.fields.get(index).map(copied)
    }

    /// The place of a field.
    #[inline(always)]
    pub(crate) fn place(&self, index: usize) -> Option<&Cell<Val>> {
        self.fields.get(index)
    }

    /// Sets all fields to `nothing`.
    pub(super) fn clear(&self) {
        self.fields.iter().for_each(|field| field.set(Val::Unit));
    }

    /// Copies of the fields in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = Val> {
        self.fields.iter().map(copied)
    }
}

/// A one-cell object.
#[repr(C)]
pub struct RefCellObject {
    pub(super) value: Cell<Val>,
    pub(super) charge: Charge,
    pub(super) element: Type,
}

impl RefCellObject {
    /// The type of what it may hold.
    pub fn element(&self) -> Type {
        self.element
    }

    /// Returns the value that it holds.
    #[inline]
    pub fn get(&self) -> Val {
        copied(&self.value)
    }

    /// The place of the value.
    #[inline(always)]
    pub(crate) fn place(&self) -> &Cell<Val> {
        &self.value
    }
}

/// A copy of what a cell holds.
#[inline]
#[allow(unsafe_code)]
fn copied(cell: &Cell<Val>) -> Val {
    // SAFETY: the cell is of this thread, and the copy of a value counts a pointer at most: no code runs
    // that could change the cell while the reference is there. To take the value out of the cell and
    // put it back waits for the store to be done, each time.
    unsafe { (*cell.as_ptr()).clone() }
}

/// The elements of an array in memory order.
#[repr(C, u8)]
pub enum Storage {
    /// Of `bool`.
    Bool(Buffer<bool>),
    /// Of `i8`.
    I8(Buffer<i8>),
    /// Of `i16`.
    I16(Buffer<i16>),
    /// Of `i32`.
    I32(Buffer<i32>),
    /// Of `i64`.
    I64(Buffer<i64>),
    /// Of `f32`.
    F32(Buffer<f32>),
    /// Of `f64`.
    F64(Buffer<f64>),
    /// Of anything else. `None` is an element that is not defined yet.
    Val(Slots<Val>),
    /// Of tuples or immutable structs of scalars, also in one another, part by part.
    Unboxed(Unboxed),
}

/// The lengths of an array along its dimensions.
pub type Dims = SmallVec<[usize; 4]>;

/// An array.
#[repr(C)]
pub struct Array {
    pub(super) storage: Storage,
    /// Empty if the rank is 1: then the length says it all, and may change.
    pub(super) dims: HeapSlice<usize>,
    pub(super) charge: Charge,
    pub(super) element: Type,
    pub(super) rank: u8,
    /// True if the elements are those of a caller in Rust: see [`Loan`](super::Loan).
    pub(super) is_lent: bool,
}

macro_rules! kinds {
    ($($ty:ident => $kind:ident),*) => {
        $(impl Kinded for $ty {
            const KIND: Kind = Kind::$kind;
        })*
    };
}
kinds!(Text => Text, Fields => Fields, Object => Object, Array => Array, RefCellObject => Ref);

/// A Rust type that arrays have specialised storage for.
pub trait Element: Plain + Default + Into<Val> + 'static {
    /// The element type.
    const TYPE: Type;
    /// Storage of these elements.
    fn storage(buffer: Buffer<Self>) -> Storage;
    /// The elements, if they are of this type.
    fn buffer(storage: &Storage) -> Option<&Buffer<Self>>;
    /// The element that a value is.
    fn from_val(value: &Val) -> Option<Self>;
    /// Buffers that are free.
    #[doc(hidden)]
    fn buffers(free: &mut Scalars) -> &mut Buffers<Self>;
}

macro_rules! elements {
    ($($ty:ty, $variant:ident, $type:ident, $free:ident;)*) => {
        $(impl Element for $ty {
            const TYPE: Type = Type::$type;

            #[inline]
            fn storage(buffer: Buffer<Self>) -> Storage {
                Storage::$variant(buffer)
            }

            #[inline]
            fn buffer(storage: &Storage) -> Option<&Buffer<Self>> {
                if let Storage::$variant(buffer) = storage { Some(buffer) } else { None }
            }

            #[inline]
            fn from_val(value: &Val) -> Option<Self> {
                if let Val::$variant(x) = value { Some(*x) } else { None }
            }

            fn buffers(free: &mut Scalars) -> &mut Buffers<Self> {
                &mut free.$free
            }
        })*
    };
}

elements! {
    bool, Bool, BOOL, bools;
    i8, I8, I8, i8s;
    i16, I16, I16, i16s;
    i32, I32, I32, i32s;
    i64, I64, I64, i64s;
    f32, F32, F32, f32s;
    f64, F64, F64, f64s;
}

/// `$body` with `$buffer` bound to the scalars, `$parts` with `$unboxed` bound to the unboxed elements, or `$other` with `$cell`
/// bound to the values.
macro_rules! with_storage {
    ($storage:expr, $buffer:pat => $body:expr, $unboxed:pat => $parts:expr, $cell:pat => $other:expr $(,)?) => {
        match $storage {
            Storage::Bool($buffer) => $body,
            Storage::I8($buffer) => $body,
            Storage::I16($buffer) => $body,
            Storage::I32($buffer) => $body,
            Storage::I64($buffer) => $body,
            Storage::F32($buffer) => $body,
            Storage::F64($buffer) => $body,
            Storage::Unboxed($unboxed) => $parts,
            Storage::Val($cell) => $other,
        }
    };
}

impl Storage {
    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        with_storage!(self, buffer => buffer.len(), all => all.len(), cell => cell.borrow().len())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements that there is room for.
    pub(super) fn capacity(&self) -> usize {
        with_storage!(
            self,
            buffer => buffer.capacity(),
            all => all.capacity(),
            cell => cell.borrow().capacity()
        )
    }
}

impl Array {
    /// The type of the elements.
    #[inline]
    pub fn element(&self) -> Type {
        self.element
    }

    /// The number of dimensions.
    #[inline]
    pub fn rank(&self) -> u8 {
        self.rank
    }

    /// The length along each dimension.
    pub fn dims(&self) -> Dims {
        if self.rank == 1 { Dims::from_slice(&[self.len()]) } else { Dims::from_slice(&self.dims) }
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.storage.len()
    }

    /// Returns whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements.
    #[inline]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The elements, if they are of this type.
    #[inline]
    pub fn buffer<T: Element>(&self) -> Option<&Buffer<T>> {
        T::buffer(&self.storage)
    }
}

impl Val {
    /// Returns whether the value is all there is: it points to nothing.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        !matches!(self, Self::Str(_) | Self::Ref(_) | Self::Array(_) | Self::Object(_))
            && !matches!(self, Self::Tuple(_) | Self::Named(_) | Self::Struct(_))
    }

    /// The header of the object that it points to.
    ///
    /// # Safety
    /// It is not [plain](Self::is_plain).
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn header(&self) -> &Header {
        // SAFETY: what is not plain has a pointer to an object behind the kind, at 8
        // ([`offsets`](super::offsets)). A `match` that asks each kind for its pointer becomes a jump
        // through a table.
        unsafe { &**(&raw const *self).cast::<*const Header>().add(1) }
    }

    /// The pointer to the object that it points to, which the caller counts from now on.
    #[inline]
    #[allow(unsafe_code)]
    pub(crate) fn into_header(self) -> Option<*const Header> {
        if self.is_plain() {
            return None;
        }
        // SAFETY: it is not plain.
        let header = unsafe { &raw const *self.header() };
        std::mem::forget(self);
        Some(header)
    }

    /// Counts one more pointer, if it is one, which the caller makes.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) fn count(&self) {
        if !self.is_plain() {
            // SAFETY: it is not plain.
            unsafe { self.header() }.count();
        }
    }

    /// Drops it. Most values are scalars or have other pointers to what they are, and leave nothing to
    /// do: to see that here costs less than a call.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn discard(self) {
        // SAFETY: it is asked only if it is not plain.
        if self.is_plain() || unsafe { self.header() }.uncount() {
            std::mem::forget(self);
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

impl Clone for Val {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn clone(&self) -> Self {
        self.count();
        // SAFETY: everything but a pointer is `Copy`, and of pointers one more has been counted.
        unsafe { std::ptr::read(self) }
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

impl fmt::Debug for Val {
    /// One level deep, without names: those need a [`Context`](regraft_ir::Context) (see
    /// [`show_string`](crate::value::show_string)).
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

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
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

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "array of {:?} {:?}", self.element, self.dims())
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}

pub(super) use with_storage;
