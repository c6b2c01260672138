//! Values in and out of unboxed elements.

use super::scalar::Scalar;
use super::unboxed::Unboxed;
use super::unboxed_type::UnboxedType;
use super::val::Val;

impl Unboxed {
    /// As many elements as there are values; `None` if one is of another type.
    pub(super) fn of_values(of: UnboxedType, values: &[Val]) -> Option<Self> {
        let all = Self::zeros(of, values.len());
        values.iter().enumerate().all(|(at, value)| all.set(at, value)).then_some(all)
    }

    /// The element at an index from 0.
    pub fn get(&self, at: usize) -> Option<Val> {
        self.row(at).map(|row| self.element().value(row))
    }

    /// Sets the element at an index; `false` if there is none, or the value is of another type.
    pub fn set(&self, at: usize, value: &Val) -> bool {
        match (self.row(at), self.element().words(value)) {
            (Some(row), Some(words)) => {
                row.copy_from_slice(&words);
                true
            }
            _ => false,
        }
    }

    /// A part of the element at an index; both are counted from 0.
    pub fn part(&self, at: usize, part: usize) -> Option<Val> {
        let word = *self.row(at)?.get(part)?;
        Some(self.element().part(part, word))
    }

    /// Sets a part of the element at an index; `false` if there is none, or it is of another type.
    pub fn set_part(&self, at: usize, part: usize, value: &Val) -> bool {
        let place = self.row(at).and_then(|row| row.get_mut(part));
        match (place, self.element().word(part, value)) {
            (Some(place), Some(word)) => {
                *place = word;
                true
            }
            _ => false,
        }
    }

    /// Sets all elements; `false` if the value is of another type.
    pub(super) fn fill(&self, value: &Val) -> bool {
        let Some(words) = self.element().words(value) else { return false };
        self.words_mut().chunks_exact_mut(words.len()).for_each(|row| row.copy_from_slice(&words));
        true
    }

    /// Appends an element; `false` if it is of another type.
    pub(super) fn push(&self, value: &Val) -> bool {
        self.element().words(value).is_some_and(|words| self.append(&words))
    }

    /// Appends an element of these parts; `false` if they are of other types.
    pub(super) fn push_parts(&self, parts: &[Val]) -> bool {
        self.element().words_of(parts).is_some_and(|words| self.append(&words))
    }

    /// Removes the last element.
    pub(super) fn pop(&self) -> Option<Val> {
        let last = self.get(self.len().checked_sub(1)?);
        self.shorten();
        last
    }

    /// Returns whether these are the same elements, bit by bit.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.element() == other.element() && self.words() == other.words()
    }

    /// Adds the elements of `other`, as many and of the same type, to these; `false` if a part is no float.
    pub(crate) fn add(&self, other: &Self) -> bool {
        let of = self.element();
        if !of.is_of_floats() || other.element() != of || other.len() != self.len() {
            return false;
        }
        for (at, part) in (0..self.words().len()).zip((0..of.count()).cycle()) {
            // Both may be the same elements.
            let (x, y) = (self.words()[at], other.words()[at]);
            self.words_mut()[at] = match of.scalar(part) {
                Some(Scalar::F64) => (f64::from_bits(x) + f64::from_bits(y)).to_bits(),
                Some(Scalar::F32) => {
                    (f32::from_bits(x as u32) + f32::from_bits(y as u32)).to_bits().into()
                }
                _ => 0,
            };
        }
        true
    }
}
