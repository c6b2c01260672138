//! Dense arrays of any rank, column-major, with storage specialised to the element type.

use std::fmt;

use regraft_ir::Type;

use super::buffer::Buffer;
use super::charge::{COUNTS, Charge};
use super::element_type::ElementType;
use super::layout::{HeapSlice, Slots};
use super::pool;
use super::unboxed::Unboxed;
use super::val::{Array, Element, Storage, Val, with_storage};

/// The reason why an array cannot be made or changed so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayError {
    /// The lengths multiply to more than memory can hold.
    TooLarge,
    /// An element is not of the element type.
    WrongElement,
    /// There are more or fewer elements than the lengths say.
    WrongCount,
    /// There must be 1 to 255 dimensions; to become longer or shorter, exactly 1.
    WrongRank,
    /// The elements are those of a slice in Rust, which cannot become longer or shorter.
    Lent,
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "an array of that size is too large for any memory",
            Self::WrongElement => "an element is not of the element type",
            Self::WrongCount => "there are more or fewer elements than the lengths say",
            Self::WrongRank => "an array of that rank cannot be made or changed so",
            Self::Lent => "an array on a slice of Rust cannot become longer or shorter",
        })
    }
}

impl std::error::Error for ArrayError {}

/// `$scalar::<T>(args)` for the Rust type `T` of a scalar element type, or `$other`.
macro_rules! by_element {
    ($element:expr, $scalar:ident($($arg:expr),*), $other:expr) => {
        match $element {
            Type::BOOL => $scalar::<bool>($($arg),*),
            Type::I8 => $scalar::<i8>($($arg),*),
            Type::I16 => $scalar::<i16>($($arg),*),
            Type::I32 => $scalar::<i32>($($arg),*),
            Type::I64 => $scalar::<i64>($($arg),*),
            Type::F32 => $scalar::<f32>($($arg),*),
            Type::F64 => $scalar::<f64>($($arg),*),
            _ => $other,
        }
    };
}
pub(crate) use by_element;

impl Array {
    /// The type of the elements, with their build if they are unboxed.
    pub fn element_type(&self) -> ElementType {
        match &self.storage {
            Storage::Unboxed(all) => ElementType::new(self.element, Some(all.element())),
            _ => ElementType::new(self.element, None),
        }
    }

    /// The bytes that an array of `len` elements takes, or `None` if that is more than memory
    /// can ever hold.
    pub fn bytes(element: ElementType, len: usize) -> Option<usize> {
        let bytes = len.checked_mul(element.size())?.checked_add(size_of::<Self>() + COUNTS)?;
        (bytes <= isize::MAX as usize).then_some(bytes)
    }

    /// An array whose scalars, also those in unboxed elements, are zero or false, and whose other elements are not defined yet.
    ///
    /// # Errors
    /// If it would be too large, or has no dimensions.
    pub fn new(element: ElementType, dims: &[usize]) -> Result<Self, ArrayError> {
        fn zeros<T: Element>(len: usize) -> Storage {
            T::storage(Buffer::filled(T::default(), len))
        }
        let len = checked_len(dims)?;
        Self::bytes(element, len).ok_or(ArrayError::TooLarge)?;
        let others = || match element.unboxed() {
            Some(of) => Storage::Unboxed(Unboxed::zeros(of, len)),
            None => vals(std::iter::repeat_n(None, len)),
        };
        Self::of_storage(element, dims, by_element!(element.ty(), zeros(len), others()))
    }

    /// An array of `fill` everywhere.
    ///
    /// # Errors
    /// If it would be too large, or a scalar or unboxed `fill` is not of type `element`.
    pub fn filled(element: ElementType, dims: &[usize], fill: &Val) -> Result<Self, ArrayError> {
        fn scalars<T: Element>(fill: &Val, len: usize) -> Result<Storage, ArrayError> {
            let fill = T::from_val(fill).ok_or(ArrayError::WrongElement)?;
            Ok(T::storage(Buffer::filled(fill, len)))
        }
        let len = checked_len(dims)?;
        Self::bytes(element, len).ok_or(ArrayError::TooLarge)?;
        let others = || match element.unboxed() {
            Some(of) => {
                let all = Unboxed::zeros(of, len);
                if all.fill(fill) {
                    Ok(Storage::Unboxed(all))
                } else {
                    Err(ArrayError::WrongElement)
                }
            }
            None => Ok(vals(std::iter::repeat_n(Some(fill.clone()), len))),
        };
        Self::of_storage(element, dims, by_element!(element.ty(), scalars(fill, len), others())?)
    }

    /// A vector of these elements.
    pub fn vector<T: Element>(items: &[T]) -> Self {
        Self::of(items, &[items.len()]).expect("the length is that of the elements")
    }

    /// An array of these elements in memory order, the first index running fastest.
    ///
    /// # Errors
    /// If the number of elements is not the product of `dims`.
    pub fn of<T: Element>(items: &[T], dims: &[usize]) -> Result<Self, ArrayError> {
        Self::of_storage(ElementType::builtin(T::TYPE), dims, T::storage(Buffer::of(items)))
    }

    /// An array of these values in memory order.
    ///
    /// # Errors
    /// If their number is not the product of `dims`, or a scalar or unboxed element is not of type `element`.
    pub fn of_values(
        element: ElementType,
        items: &[Val],
        dims: &[usize],
    ) -> Result<Self, ArrayError> {
        fn scalars<T: Element>(items: &[Val]) -> Result<Storage, ArrayError> {
            let buffer = Buffer::with_room(items.len());
            for item in items {
                buffer.push(T::from_val(item).ok_or(ArrayError::WrongElement)?);
            }
            Ok(T::storage(buffer))
        }
        let others = || match element.unboxed() {
            Some(of) => {
                Unboxed::of_values(of, items).map(Storage::Unboxed).ok_or(ArrayError::WrongElement)
            }
            None => Ok(vals(items.iter().cloned().map(Some))),
        };
        let storage = by_element!(element.ty(), scalars(items), others())?;
        Self::of_storage(element, dims, storage)
    }

    /// An array of elements that are kept as their type says.
    pub(super) fn of_storage(
        element: ElementType,
        dims: &[usize],
        storage: Storage,
    ) -> Result<Self, ArrayError> {
        let rank = match u8::try_from(dims.len()) {
            Ok(rank) if rank > 0 => rank,
            _ => return Err(ArrayError::WrongRank),
        };
        if checked_len(dims)? != storage.len() {
            return Err(ArrayError::WrongCount);
        }
        let bytes = Self::bytes(element, storage.capacity()).ok_or(ArrayError::TooLarge)?;
        let dims = if rank == 1 { HeapSlice::default() } else { pool::dims(dims) };
        let (element, charge) = (element.ty(), Charge::new(bytes));
        Ok(Self { element, rank, dims, storage, charge, is_lent: false })
    }

    /// A new array with the same elements.
    pub fn duplicate(&self) -> Self {
        fn copy<T: Element>(buffer: &Buffer<T>) -> Storage {
            T::storage(buffer.clone())
        }
        let storage = with_storage!(
            &self.storage,
            x => copy(x),
            x => Storage::Unboxed(x.clone()),
            x => vals(x.borrow().iter().cloned())
        );
        let bytes = Self::bytes(self.element_type(), storage.capacity()).unwrap_or(0);
        Self {
            element: self.element,
            rank: self.rank,
            dims: if self.rank == 1 { HeapSlice::default() } else { pool::dims(&self.dims) },
            storage,
            charge: Charge::new(bytes),
            is_lent: false,
        }
    }

    /// The length along dimension `dim`, counted from 0; 1 beyond the last.
    pub fn dim(&self, dim: usize) -> usize {
        if self.rank == 1 && dim == 0 {
            return self.len();
        }
        self.dims.get(dim).copied().unwrap_or(1)
    }
    /// A copy of the elements in memory order, if they are of this type.
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        self.buffer().map(Buffer::to_vec)
    }

    /// The position in memory of an element, by one index for each dimension or one for the
    /// whole. Indices count from 1. `None` if one is out of bounds or their number is wrong.
    #[inline]
    pub fn offset(&self, indices: &[i64]) -> Option<usize> {
        if let &[index] = indices {
            let offset = (index as u64).wrapping_sub(1);
            return (offset < self.len() as u64).then_some(offset as usize);
        }
        if indices.len() != usize::from(self.rank) {
            return None;
        }
        let (mut offset, mut stride) = (0, 1);
        for (&index, &dim) in indices.iter().zip(&*self.dims) {
            let index = (index as u64).wrapping_sub(1);
            if index >= dim as u64 {
                return None;
            }
            offset += index as usize * stride;
            stride *= dim;
        }
        Some(offset)
    }

    /// The element at a position in memory, from 0. `None` if there is none, or if it is not
    /// defined yet.
    pub fn get(&self, offset: usize) -> Option<Val> {
        with_storage!(
            &self.storage,
            buffer => buffer.get(offset).map(Into::into),
            all => all.get(offset),
            cell => cell.borrow().get(offset).cloned().flatten()
        )
    }

    /// Sets the element at a position in memory; `false` if there is none, or a scalar or unboxed element is not
    /// of the type of the elements.
    pub fn set(&self, offset: usize, value: Val) -> bool {
        fn put<T: Element>(buffer: &Buffer<T>, offset: usize, value: &Val) -> bool {
            T::from_val(value).is_some_and(|value| buffer.set(offset, value))
        }
        with_storage!(
            &self.storage,
            buffer => put(buffer, offset, &value),
            all => all.set(offset, &value),
            cell => {
                // What was there is dropped when the borrow is over: that may run far.
                let old = cell.borrow_mut().get_mut(offset).map(|place| place.replace(value));
                old.is_some()
            }
        )
    }

    /// Makes the element at a position in memory undefined; scalars are zero then.
    pub(crate) fn unset(&self, offset: usize) {
        fn zero<T: Element>(buffer: &Buffer<T>, offset: usize) {
            buffer.set(offset, T::default());
        }
        with_storage!(&self.storage, buffer => zero(buffer, offset), all => all.unset(offset), cell => {
            let old = cell.borrow_mut().get_mut(offset).and_then(Option::take);
            drop(old);
        });
    }

    /// Sets all elements.
    ///
    /// # Errors
    /// If a scalar or unboxed element is not of the type of the elements.
    pub fn fill(&self, value: &Val) -> Result<(), ArrayError> {
        fn put<T: Element>(buffer: &Buffer<T>, value: &Val) -> Result<(), ArrayError> {
            buffer.fill(T::from_val(value).ok_or(ArrayError::WrongElement)?);
            Ok(())
        }
        with_storage!(&self.storage, buffer => put(buffer, value), all => {
            if all.fill(value) { Ok(()) } else { Err(ArrayError::WrongElement) }
        }, cell => {
            exchange(cell, vec![Some(value.clone()); self.len()]);
            Ok(())
        })
    }

    /// Copies the elements of `source` to the start of this array.
    ///
    /// # Errors
    /// If there is no room for them, or if the types of the elements differ.
    pub fn copy_from(&self, source: &Self) -> Result<(), ArrayError> {
        fn copy<T: Element>(to: &Buffer<T>, from: &Storage) -> Result<bool, ArrayError> {
            Ok(to.copy_from(T::buffer(from).ok_or(ArrayError::WrongElement)?))
        }
        let copied = with_storage!(&self.storage, to => copy(to, &source.storage)?, to => {
            match &source.storage {
                Storage::Unboxed(from) if from.element() == to.element() => to.copy_from(from),
                _ => return Err(ArrayError::WrongElement),
            }
        }, to => {
            let Storage::Val(from) = &source.storage else { return Err(ArrayError::WrongElement) };
            let items = from.borrow().clone();
            let fits = items.len() <= to.borrow().len();
            if fits {
                exchange(to, items);
            }
            fits
        });
        if copied { Ok(()) } else { Err(ArrayError::WrongCount) }
    }

    /// The bytes that one more element may take at once, as room is made for many.
    pub fn push_bytes(&self) -> usize {
        let capacity = self.storage.capacity();
        if self.len() < capacity {
            return 0;
        }
        Self::bytes(self.element_type(), capacity).unwrap_or(usize::MAX)
    }

    /// Appends an element.
    ///
    /// # Errors
    /// If the rank is not 1, if a scalar or unboxed element is not of the type of the elements, if they are
    /// [lent](ArrayError::Lent).
    pub fn push(&self, value: Val) -> Result<(), ArrayError> {
        fn put<T: Element>(buffer: &Buffer<T>, value: &Val) -> Result<(), ArrayError> {
            buffer.push(T::from_val(value).ok_or(ArrayError::WrongElement)?);
            Ok(())
        }
        self.check_growable()?;
        with_storage!(&self.storage, buffer => put(buffer, &value)?, all => {
            if !all.push(&value) {
                return Err(ArrayError::WrongElement);
            }
        }, cell => {
            let mut items = cell.borrow_mut();
            if items.len() == items.capacity() && pool::is_active() {
                let mut more = pool::room_for_vals((items.len() * 2).max(4));
                more.append(&mut items);
                pool::give_vals(std::mem::replace(&mut items, more));
            }
            items.push(Some(value));
        });
        self.update_charge();
        Ok(())
    }

    /// Appends an unboxed element of these parts.
    ///
    /// # Errors
    /// As of [`push`](Self::push), and if elements are not unboxed.
    pub fn push_parts(&self, parts: &[Val]) -> Result<(), ArrayError> {
        self.check_growable()?;
        match &self.storage {
            Storage::Unboxed(all) if all.push_parts(parts) => self.update_charge(),
            _ => return Err(ArrayError::WrongElement),
        }
        Ok(())
    }

    /// Removes the last element. The outer `None` says that there is none, the inner one that
    /// it is not defined.
    ///
    /// # Errors
    /// If the rank is not 1, or the elements are [lent](ArrayError::Lent).
    pub fn pop(&self) -> Result<Option<Option<Val>>, ArrayError> {
        self.check_growable()?;
        Ok(with_storage!(
            &self.storage,
            buffer => buffer.pop().map(|x| Some(x.into())),
            all => all.pop().map(Some),
            cell => cell.borrow_mut().pop()
        ))
    }

    /// Makes a vector longer or shorter; new elements are as [`Array::new`] makes them.
    ///
    /// # Errors
    /// If the rank is not 1, if it would be too large, if the elements are [lent](ArrayError::Lent).
    pub fn resize(&self, len: usize) -> Result<(), ArrayError> {
        self.check_growable()?;
        Self::bytes(self.element_type(), len).ok_or(ArrayError::TooLarge)?;
        let storage = &self.storage;
        with_storage!(storage, buffer => buffer.resize(len, Default::default()), all => all.resize(len), cell => {
            let mut items = cell.borrow_mut();
            if len > items.capacity() && pool::is_active() {
                let mut more = pool::room_for_vals(len);
                more.append(&mut items);
                pool::give_vals(std::mem::replace(&mut items, more));
            }
            let mut old = pool::room_for_vals(items.len().saturating_sub(len));
            if len < items.len() {
                old.extend(items.drain(len..));
            }
            items.resize(len, None);
            drop(items);
            pool::give_vals(old);
        });
        self.update_charge();
        Ok(())
    }

    fn check_growable(&self) -> Result<(), ArrayError> {
        if self.is_lent {
            return Err(ArrayError::Lent);
        }
        if self.rank == 1 { Ok(()) } else { Err(ArrayError::WrongRank) }
    }

    /// Takes the elements of another array of the same build, which are no scalars.
    pub(super) fn move_from(&self, other: &Self) {
        if let (Storage::Val(cell), Storage::Val(from)) = (&self.storage, &other.storage) {
            let old = std::mem::replace(&mut *cell.borrow_mut(), from.take());
            drop(old);
        }
        self.charge.set(other.charge.bytes());
        other.charge.set(0);
    }

    /// Counts what it has room for as live.
    pub(super) fn update_charge(&self) {
        self.charge.set(Self::bytes(self.element_type(), self.storage.capacity()).unwrap_or(0));
    }
}

fn vals(items: impl ExactSizeIterator<Item = Option<Val>>) -> Storage {
    let mut all = pool::room_for_vals(items.len());
    all.extend(items);
    Storage::Val(Slots::new(all))
}

/// Puts elements in the place of the first ones, which are dropped. The others stay, and so does the room for them, the address of which
/// native code knows.
fn exchange(cell: &Slots<Val>, mut items: Vec<Option<Val>>) {
    let mut places = cell.borrow_mut();
    places.iter_mut().zip(&mut items).for_each(|(place, item)| std::mem::swap(place, item));
    // What was there is dropped when the borrow is over: that may run far.
    drop(places);
}

/// The number of elements of an array with these lengths.
pub(super) fn checked_len(dims: &[usize]) -> Result<usize, ArrayError> {
    // A zero anywhere makes the array empty, however large the other lengths are.
    if dims.contains(&0) {
        return Ok(0);
    }
    dims.iter().try_fold(1usize, |len, &dim| len.checked_mul(dim)).ok_or(ArrayError::TooLarge)
}
