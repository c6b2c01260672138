//! `ad`: what derivatives do with tangents whose types are not known before the program runs, or
//! whose parts may be shared.
//!
//! The tangent of a value has two parts. What has an identity in the value (arrays, refs, mutable
//! structs) has a *shadow*, an object of its own that is incremented in place; what is a value
//! flows back as a *cotangent*. Numbers other than floats, functions, strings and so on have
//! neither: `nothing` stands in their place, and for a cotangent of type `any` that is zero.
//! Where the types are known, derivatives use ordinary ops instead of these.
//!
//! ```
//! use regraft_dialects::{ad, context};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[Type::F64], Type::F64);
//! let held = b.push(ad::ignore(b.param(0)))?;
//! assert_eq!(b.function().ty(held), Type::F64);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use crate::ir::{Effects, OperandSet};

const READS_DEEP: Effects =
    Effects { reads: OperandSet::ALL, reads_shape: OperandSet::ALL, deep: true, ..Effects::NONE };
const COPIES_DEEP: Effects = Effects { allocates: true, ..READS_DEEP };
const OPAQUE: Effects = Effects { opaque: true, ..Effects::NONE };
const UPDATES_DEEP: Effects = Effects { writes: OperandSet::one(0), ..READS_DEEP };
const READS_ELEMENT: Effects =
    Effects { reads: OperandSet::one(0), reads_shape: OperandSet::one(0), ..Effects::NONE };
const WRITES_ELEMENT: Effects = Effects { writes: OperandSet::one(0), ..READS_ELEMENT };

crate::dialect! {
    /// Tangents: what derivatives are made of.
    dialect ad = 7;

    /// The zero tangent of a value: floats become zero, objects get a new shadow, the same object
    /// the same shadow, so that sharing and cycles are as in the value.
    ///
    /// Traps (`TypeError`) if it is not of the declared type.
    ///
    /// `%3: tuple<f64, array<f64, 1>> = ad.zero %2`
    ZERO = zero(x: _) -> declared [MAY_TRAP] { effects: COPIES_DEEP };

    /// The shadow part of a tangent: objects as they are, `nothing` in the place of numbers.
    ///
    /// Traps (`TypeError`) if it is not a tangent.
    ///
    /// `%3: any = ad.shadow %2`
    SHADOW = shadow(tangent: _) -> declared [PURE, MAY_TRAP];

    /// The cotangent part of a tangent: numbers as they are, `nothing` in the place of objects.
    ///
    /// Traps (`TypeError`) if it is not a tangent.
    ///
    /// `%3: any = ad.cotangent %2`
    COTANGENT = cotangent(tangent: _) -> declared [PURE, MAY_TRAP];

    /// The tangent of these two parts; a cotangent that is `nothing` is zero.
    ///
    /// Traps (`TypeError`) if they are not parts of the same tangent.
    ///
    /// `%3: any = ad.join %1, %2`
    JOIN = join(shadow: _, cotangent: _) -> declared [PURE, MAY_TRAP];

    /// The sum of two cotangents; `nothing` is zero.
    ///
    /// Traps (`TypeError`) if they are of different types, (`DimensionMismatch`) if they are tuples
    /// of different lengths.
    ///
    /// `%3: any = ad.add %1, %2`
    ADD = add(x: _, y: _) -> declared [PURE, MAY_TRAP];

    /// A cotangent of type `any` as one of the declared type: `nothing` becomes its zero, and of what is
    /// declared to be `unit` no number is left.
    ///
    /// Traps (`TypeError`) if it is of another type.
    ///
    /// `%3: f64 = ad.unbox %2`
    UNBOX = unbox(x: _) -> declared [PURE, MAY_TRAP];

    /// Adds a tangent to a shadow, in place and in depth.
    ///
    /// Traps (`DimensionMismatch`) if their sizes differ, (`TypeError`) if their types do.
    ///
    /// `ad.accumulate %1, %2`
    ACCUMULATE = accumulate(shadow: _, tangent: _) -> unit [MAY_TRAP] { effects: UPDATES_DEEP };

    /// Sets a shadow to zero, in place and in depth.
    ///
    /// `ad.clear %1`
    CLEAR = clear(shadow: _) -> unit { effects: UPDATES_DEEP };

    /// A copy of a value in depth, with sharing and cycles as in the value.
    ///
    /// Traps (`TypeError`) if it is not of the declared type.
    ///
    /// `%3: any = ad.copy %2`
    COPY = copy(x: _) -> declared [MAY_TRAP] { effects: COPIES_DEEP };

    /// The same value, of which no derivative is taken.
    ///
    /// `%2: f64 = ad.ignore %1`
    IGNORE = ignore(x: T) -> T where T: Any [PURE];

    /// The shadow of an object that a global name holds: the same one as long as the derivative of
    /// that level runs that is being taken. Code that takes derivatives of code that takes
    /// derivatives is of level 2, and so on.
    ///
    /// `%2: array<f64, 1> = ad.global_shadow %1, 1`
    GLOBAL_SHADOW = global_shadow(x: _, level: i64) -> declared { effects: OPAQUE };

    /// A derivative of a level begins, and is that of all lower levels too until another one
    /// begins: objects that global names hold have new shadows.
    ///
    /// `ad.begin 1`
    BEGIN = begin(level: i64) -> unit { effects: OPAQUE };

    /// The derivative ends that was begun last, which was of this level.
    ///
    /// `ad.end 1`
    END = end(level: i64) -> unit { effects: OPAQUE };

    /// The sum of the cotangent parts of the elements of the shadow of an array.
    ///
    /// Traps (`TypeError`) if it is not the shadow of an array.
    ///
    /// `%2: f64 = ad.total %1`
    TOTAL = total(shadow: _) -> declared [MAY_TRAP] { effects: READS_DEEP };

    /// Undoes `mem.copyto`, on shadows: the cotangents of the first `count` elements of `dest` go to
    /// the elements of `source` and leave zero. With `nothing` as `source` they are lost.
    ///
    /// Traps (`BoundsError`) if one of them has fewer elements.
    ///
    /// `ad.uncopy %1, %2, %3`
    UNCOPY = uncopy(dest: _, source: _, count: i64) -> unit [MAY_TRAP] {
        effects: Effects { writes: OperandSet::ALL, ..READS_DEEP },
    };

    /// Undoes `ad.total`, on shadows: adds a cotangent to the cotangent part of every element of the
    /// shadow of an array.
    ///
    /// Traps (`TypeError`) if it is not the cotangent of an element.
    ///
    /// `ad.spread %1, %2`
    SPREAD = spread(shadow: _, cotangent: _) -> unit [MAY_TRAP] { effects: UPDATES_DEEP };

    /// Undoes `ad.uncopy`, on shadows: the cotangent parts of the first `count` elements of `dest`
    /// become those of `source`. With `nothing` as `source` they become zero.
    ///
    /// Traps (`BoundsError`) if one of them has fewer elements.
    ///
    /// `ad.recopy %1, %2, %3`
    RECOPY = recopy(dest: _, source: _, count: i64) -> unit [MAY_TRAP] { effects: UPDATES_DEEP };

    /// The shadow part of an element of the shadow of an array; `nothing` if the element is not
    /// defined. The indices are as in `mem.load`.
    ///
    /// Traps (`BoundsError`) if an index is out of bounds.
    ///
    /// `%4: any = ad.slot %1, %2, %3`
    SLOT = slot(shadow: [T]; indices: i64...) -> any where T: Any [MAY_TRAP] {
        effects: READS_ELEMENT,
    };

    /// Sets an element of the shadow of an array to what `ad.slot` has given, with a cotangent part
    /// that is zero.
    ///
    /// Traps (`BoundsError`) if an index is out of bounds, (`TypeError`) if it is not the shadow part
    /// of an element.
    ///
    /// `ad.set_slot %1, %4, %2, %3`
    SET_SLOT = set_slot(shadow: [T], slot: any; indices: i64...) -> unit where T: Any [MAY_TRAP] {
        effects: WRITES_ELEMENT,
    };

    /// Sets the elements at the positions from `first` to `last` of the shadow of an array to the
    /// shadow parts of those of `kept`, an array of the same type, with cotangent parts that are
    /// zero. What is not defined there is not defined then.
    ///
    /// Traps (`BoundsError`) if one of them has fewer elements.
    ///
    /// `ad.put_back %1, %2, 1, %3`
    PUT_BACK = put_back(shadow: [T], kept: [T], first: i64, last: i64) -> unit where T: Any [MAY_TRAP] {
        effects: UPDATES_DEEP,
    };
}
