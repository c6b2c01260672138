//! Locations in memory: the ref, field or element that an instruction reads or writes, and whether
//! two of them overlap.
//!
//! Whether two objects may be the same is for [`Aliases`](super::Aliases); here, locations of one
//! object are compared. How two indices are compared is for the caller, who knows them as value
//! numbers, as polynomials, or as constants.

use regraft_dialects::{arith, data, mem};
use regraft_ir::{Constant, Function, Operand, Value};
use smallvec::SmallVec;

/// The overlap of two locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overlap {
    /// They are the same.
    Must,
    /// Nothing is known.
    May,
    /// They are apart.
    No,
}

impl Overlap {
    /// Combines the overlaps of indices: locations are the same if all indices are, and apart if one
    /// is.
    pub(crate) fn of_indices(indices: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::Must;
        for overlap in indices {
            match overlap {
                Self::Must => {}
                Self::May => all = Self::May,
                Self::No => return Self::No,
            }
        }
        all
    }

    /// Compares two indices as the program has them: constants differ if they are not equal.
    pub(crate) fn of_operands(f: &Function, a: Operand, b: Operand) -> Self {
        match (f.const_i64(a), f.const_i64(b)) {
            _ if a == b => Self::Must,
            (Some(_), Some(_)) => Self::No,
            _ => Self::May,
        }
    }

    /// The same, and a value differs from its sum with a constant that is not 0.
    pub(crate) fn of_offsets(f: &Function, a: Operand, b: Operand) -> Self {
        let ((x, dx), (y, dy)) = (offset(f, a), offset(f, b));
        match x == y {
            true if dx == dy => Self::Must,
            true => Self::No,
            false => Self::May,
        }
    }
}

/// An index as a value and a constant that is added to it.
pub(crate) fn offset(f: &Function, index: Operand) -> (Option<Operand>, i64) {
    if let Some(constant) = f.const_i64(index) {
        return (None, constant);
    }
    let sum = || {
        let v = index.as_value()?;
        if let Some([x, y]) = f.matches(v, arith::ADD) {
            let constant = |c: Operand, x: Operand| Some((Some(x), f.const_i64(c)?));
            return constant(y, x).or_else(|| constant(x, y));
        }
        let [x, y] = f.matches(v, arith::SUB)?;
        Some((Some(x), f.const_i64(y)?.wrapping_neg()))
    };
    sum().unwrap_or((Some(index), 0))
}

/// A place within an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// The value of a ref.
    Ref,
    /// The element of an array at these indices.
    Element(SmallVec<[Operand; 3]>),
    /// A field of a struct, by name or position.
    Field(Operand),
}

/// A place in an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MemoryLocation {
    pub(crate) object: Operand,
    pub(crate) place: Place,
}

impl MemoryLocation {
    /// Returns the location that an instruction reads or writes, if it is one location.
    pub(crate) fn of(f: &Function, v: Value) -> Option<Self> {
        let place = match f.op(v)? {
            mem::LOAD | mem::STORE => Place::Element(element_indices(f, v)?.collect()),
            mem::REF_GET | mem::REF_SET => Place::Ref,
            data::GETFIELD | data::SETFIELD => Place::Field(f.operand(v, 1)?),
            _ => return None,
        };
        Some(Self { object: f.operand(v, 0)?, place })
    }

    /// Iterates over the indices of an element; there are none in another place.
    pub(crate) fn indices(&self) -> impl Iterator<Item = Operand> + '_ {
        let indices = match &self.place {
            Place::Element(indices) => &indices[..],
            Place::Ref | Place::Field(_) => &[],
        };
        indices.iter().copied()
    }

    /// Compares two locations of one object, given how two indices compare.
    pub(crate) fn overlap(
        &self,
        f: &Function,
        other: &Self,
        compare: impl Fn(Operand, Operand) -> Overlap,
    ) -> Overlap {
        match (&self.place, &other.place) {
            (Place::Ref, Place::Ref) => Overlap::Must,
            (Place::Element(a), Place::Element(b)) if a.len() == b.len() => {
                Overlap::of_indices(a.iter().zip(b).map(|(&a, &b)| compare(a, b)))
            }
            (&Place::Field(a), &Place::Field(b)) => {
                let is_name = |field| matches!(f.constant(field), Some(Constant::Sym(_)));
                match compare(a, b) {
                    Overlap::May if is_name(a) && is_name(b) => Overlap::No,
                    overlap => overlap,
                }
            }
            _ => Overlap::May,
        }
    }

    /// Compares the location with what an instruction writes, given how two objects or indices compare, and whether
    /// the instruction may write to the object. Different indices are apart in one object and in two.
    pub(crate) fn overlap_of_write(
        &self,
        f: &Function,
        write: Value,
        compare: impl Fn(Operand, Operand) -> Overlap,
        may_write: impl FnOnce() -> bool,
    ) -> Overlap {
        let written = Self::of(f, write);
        let is_same =
            written.as_ref().is_some_and(|at| compare(at.object, self.object) == Overlap::Must);
        match written.map_or(Overlap::May, |at| self.overlap(f, &at, compare)) {
            places if is_same => places,
            Overlap::No => Overlap::No,
            _ if may_write() => Overlap::May,
            _ => Overlap::No,
        }
    }
}

/// Returns the indices of a load or store of an element.
pub(crate) fn element_indices(
    f: &Function,
    v: Value,
) -> Option<impl ExactSizeIterator<Item = Operand> + '_> {
    let first = match f.op(v)? {
        mem::LOAD => 1,
        mem::STORE => 2,
        _ => return None,
    };
    Some(f.operands(v).skip(first))
}

/// Returns what an instruction writes to one location.
pub(crate) fn stored_value(f: &Function, v: Value) -> Option<Operand> {
    match f.op(v)? {
        mem::STORE | mem::REF_SET => f.operand(v, 1),
        data::SETFIELD => f.operand(v, 2),
        _ => None,
    }
}
