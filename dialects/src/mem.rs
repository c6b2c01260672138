//! `mem`: arrays and refs.
//!
//! An array is an object: dense, column-major, indexed from 1 with one index per dimension, or
//! with one for the whole in column-major order. Whether two are the same object is what
//! `core.same` says.
//!
//! ```
//! use regraft_dialects::{context, mem};
//! use regraft_ir::{FunctionBuilder, Type};
//!
//! let ctx = context();
//! let mut b = FunctionBuilder::new(&ctx, "f", &[ctx.array_type(Type::F64, 1)], Type::F64);
//! let first = b.push(mem::load(b.param(0), [b.const_i64(1)]))?;
//! assert_eq!(b.function().ty(first), Type::F64);
//! # Ok::<(), regraft_ir::IrError>(())
//! ```

use regraft_math::Forms;

use crate::arith;
use crate::attrs::{ACCESS, FUNCTION, INBOUNDS, PART_ACCESS, UNDEF, part};
use crate::ir::{Constant, Effects, Fold, InstView, Op, OperandSet, Type, TypeKind};
use crate::math;
use crate::types::unboxed_parts;

const FIRST: OperandSet = OperandSet::one(0);
const ALLOCATES: Effects = Effects { allocates: true, ..Effects::NONE };
const READS_CELL: Effects = Effects { reads: FIRST, ..Effects::NONE };
const WRITES_CELL: Effects = Effects { writes: FIRST, ..Effects::NONE };
/// An index is checked against the shape.
const READS_ELEMENT: Effects = Effects { reads_shape: FIRST, ..READS_CELL };
const WRITES_ELEMENT: Effects = Effects { reads_shape: FIRST, ..WRITES_CELL };
const READS_SHAPE: Effects = Effects { reads_shape: FIRST, ..Effects::NONE };
/// The sources of `mem.map` stand at every other operand.
const MAPS: Effects = Effects {
    reads: OperandSet::one(3).with(5),
    writes: FIRST,
    reads_shape: FIRST.with(3).with(5),
    ..Effects::NONE
};
const CHANGES_SHAPE: Effects = Effects { writes: FIRST, writes_shape: FIRST, ..READS_ELEMENT };

/// Returns the function by which [`map`] computes an op of floats. O(number of ops).
pub fn strip_function(op: Op) -> Option<&'static Forms> {
    math::forms(op).or_else(|| {
        let def = arith::DIALECT.ops.iter().find(|def| def.op == op)?;
        Forms::named(def.name.strip_prefix("arith.")?)
    })
}

crate::dialect! {
    /// Arrays and refs.
    dialect mem = 5;

    /// A new array of the declared type, from its dimensions. Numbers start as zero, bools as
    /// false, and so do tuples and immutable structs of at most 16 of these, also in one another; elements of other types start undefined, and
    /// reading them traps (`UndefRefError`).
    ///
    /// Traps (`ArgumentError`) on a negative dimension, (`OutOfMemoryError`) on too many
    /// elements. `{undef=true}` promises that each element is set before it is read, so that numbers need not start as
    /// zero.
    ///
    /// `%3: array<f64, 2> = mem.alloc %1, %2`
    ALLOC = alloc(; dims: i64...) -> declared [MAY_TRAP] {
        effects: ALLOCATES,
        attrs: UNDEF,
        verify: Some(verify_alloc),
    };

    /// A new array with the same value everywhere.
    ///
    /// Traps as `mem.alloc` does.
    ///
    /// `%3: array<f64, 2> = mem.fill 1.0, %1, %2`
    FILL = fill(value: T; dims: i64...) -> (fn fill_type) where T: Any [MAY_TRAP] {
        effects: ALLOCATES,
    };

    /// A new array of rank 1 of the declared type, from its elements. One of type `any` goes
    /// through `core.typeassert` first unless the elements of the array are `any` too.
    ///
    /// `%3: array<f64, 1> = mem.array %1, 2.0`
    ARRAY = array(; elements: _...) -> declared {
        effects: ALLOCATES,
        verify: Some(verify_array),
    };

    /// An element of an array, by one index for each dimension or by one for the whole.
    ///
    /// Traps (`BoundsError`) if an index is out of bounds. `{inbounds=true}` promises that
    /// none is, and allows native code to leave the check away. Accesses in one function with different numbers
    /// `{scope=1}` are to different arrays.
    ///
    /// `%4: f64 = mem.load %1, %2, %3`
    LOAD = load(array: [T]; indices: i64...) -> T where T: Any [MAY_TRAP] {
        effects: READS_ELEMENT,
        attrs: ACCESS,
        verify: Some(verify_access),
    };

    /// Sets an element of an array; the indices are as in `mem.load`, and so are attributes.
    ///
    /// Traps (`BoundsError`) if an index is out of bounds.
    ///
    /// `mem.store %1, 2.0, %2, %3`
    STORE = store(array: [T], value: T; indices: i64...) -> unit where T: Any [MAY_TRAP] {
        effects: WRITES_ELEMENT,
        attrs: ACCESS,
        verify: Some(verify_access),
    };

    /// A part of an element, counted from 1, of an array that keeps its elements unboxed: tuples or immutable structs of at most 16
    /// scalars. The parts of a tuple or struct in one take its place. The indices are as in `mem.load`, and so are attributes.
    ///
    /// Traps (`BoundsError`) if an index is out of bounds.
    ///
    /// `%3: f64 = mem.load_part %1, %2 {part=1}`
    LOAD_PART = load_part(array: [T]; indices: i64...) -> (fn part_type) where T: Any [MAY_TRAP] {
        effects: READS_ELEMENT,
        attrs: PART_ACCESS,
        verify: Some(verify_access),
    };

    /// Sets a part of an element; the indices and attributes are as in `mem.load_part`.
    ///
    /// Traps (`BoundsError`) if an index is out of bounds.
    ///
    /// `mem.store_part %1, 2.0, %2 {part=1}`
    STORE_PART = store_part(array: [T], part: _; indices: i64...) -> unit where T: Any [MAY_TRAP] {
        effects: WRITES_ELEMENT,
        attrs: PART_ACCESS,
        verify: Some(verify_part),
    };

    /// The number of elements of an array.
    ///
    /// `%2: i64 = mem.length %1`
    LENGTH = length(array: [T]) -> i64 where T: Any { effects: READS_SHAPE };

    /// The size of an array along one dimension, counted from 1; it is 1 beyond the last.
    ///
    /// Traps (`BoundsError`) if the dimension is less than 1.
    ///
    /// `%2: i64 = mem.size %1, 2`
    SIZE = size(array: [T], dim: i64) -> i64 where T: Any [MAY_TRAP] { effects: READS_SHAPE };

    /// The size of an array along each of its dimensions.
    ///
    /// `%2: tuple<i64, i64> = mem.shape %1`
    SHAPE = shape(array: [T]) -> (fn shape_type) where T: Any { effects: READS_SHAPE };

    /// The number of dimensions of an array.
    ///
    /// `%2: i64 = mem.rank %1`
    RANK = rank(array: [T]) -> i64 where T: Any [PURE] { fold: Some(fold_rank) };

    /// Makes an array of rank 1 longer or shorter. New elements are as `mem.alloc` makes them.
    ///
    /// Traps as `mem.alloc` does.
    ///
    /// `mem.resize %1, 10`
    RESIZE = resize(array: [T], length: i64) -> unit where T: Any [MAY_TRAP] {
        effects: CHANGES_SHAPE,
        verify: Some(verify_rank_one),
    };

    /// Appends an element to an array of rank 1.
    ///
    /// Traps (`OutOfMemoryError`) on too many elements.
    ///
    /// `mem.push %1, 2.0`
    PUSH = push(array: [T], value: T) -> unit where T: Any [MAY_TRAP] {
        effects: CHANGES_SHAPE,
        verify: Some(verify_rank_one),
    };

    /// Removes the last element of an array of rank 1, and gives it.
    ///
    /// Traps (`ArgumentError`) if the array is empty.
    ///
    /// `%2: f64 = mem.pop %1`
    POP = pop(array: [T]) -> T where T: Any [MAY_TRAP] {
        effects: CHANGES_SHAPE,
        verify: Some(verify_rank_one),
    };

    /// Appends an element, of these parts, to an array of rank 1 that keeps its elements unboxed.
    ///
    /// Traps (`OutOfMemoryError`) on too many elements.
    ///
    /// `mem.push_parts %1, 2.0, 3.0`
    PUSH_PARTS = push_parts(array: [T]; parts: _...) -> unit where T: Any [MAY_TRAP] {
        effects: CHANGES_SHAPE,
        verify: Some(verify_push_parts),
    };

    /// A part of the last element, counted from 1, of an array of rank 1 that keeps its elements unboxed.
    ///
    /// Traps (`ArgumentError`) if the array is empty. `{inbounds=true}` promises that it is not.
    ///
    /// `%2: f64 = mem.last_part %1 {part=1}`
    LAST_PART = last_part(array: [T]) -> (fn part_type) where T: Any [MAY_TRAP] {
        effects: READS_ELEMENT,
        attrs: PART_ACCESS,
        verify: Some(verify_rank_one),
    };

    /// A new array with the same shape and elements.
    ///
    /// Traps (`OutOfMemoryError`) if there is no room for it.
    ///
    /// `%2: array<f64, 2> = mem.copy %1`
    COPY = copy(array: [T]) -> (fn copy_type) where T: Any [MAY_TRAP] {
        effects: Effects { allocates: true, ..READS_ELEMENT },
    };

    /// Copies all elements of `source` to the start of `dest`, in column-major order, as if
    /// through a buffer. The ranks may differ.
    ///
    /// Traps (`BoundsError`) if `dest` has fewer elements. `{inbounds=true}` promises that it has not.
    ///
    /// `mem.copyto %1, %2`
    COPYTO = copyto(dest: [T], source: [T]) -> unit where T: Any [MAY_TRAP] {
        effects: Effects {
            reads: OperandSet::one(1),
            writes: FIRST,
            reads_shape: OperandSet::ALL,
            ..Effects::NONE
        },
        attrs: INBOUNDS,
    };

    /// Looks for an entry in the index of a hash table, by linear probing: from the place that the
    /// hash says, or from behind the place `after` if that is not 0. Gives the place of the next
    /// entry that may have the hash in the upper 32 bits, and its number in the lower ones; 0 if an
    /// empty place comes before, or there is none.
    ///
    /// An index is an array of 2ᵏ elements of `i32`, at most 2³⁰; those behind the largest power of two are
    /// not looked at. An element is 0 where it is empty, and negative if its entry was deleted, which
    /// is passed over. Otherwise its lower k bits are the number of an entry, from 1, and the others are the
    /// bits of the hash there, by which entries are told apart. A hash is the lower 31 bits of the operand; its
    /// lower k bits, and 1, are the place that it says.
    ///
    /// `%4: i64 = mem.probe %1, %2, %3`
    PROBE = probe(index: [T], hash: i64, after: i64) -> i64 where T: Int {
        effects: READS_ELEMENT,
        verify: Some(verify_probe),
    };

    /// Puts the entries from the number `first` to `last` into an index as `mem.probe` has it. Each goes to
    /// the first empty place from the one on that its element of `hashes` says; one whose hash is
    /// negative is left out.
    ///
    /// Traps (`BoundsError`) if there are no such hashes, (`ArgumentError`) if both arrays are the
    /// same, or if the index has no empty place, or fewer than 2ᵏ elements for a number of more than k bits.
    ///
    /// `mem.index_entries %1, %2, 1, %3`
    INDEX_ENTRIES = index_entries(index: [T], hashes: [T], first: i64, last: i64) -> unit
        where T: Int [MAY_TRAP] {
        effects: Effects {
            reads: FIRST.with(1),
            writes: FIRST,
            reads_shape: FIRST.with(1),
            ..Effects::NONE
        },
        verify: Some(verify_index_entries),
    };

    /// Sets all elements of an array to the same value.
    ///
    /// `mem.fill_in_place %1, 0.0`
    FILL_IN_PLACE = fill_in_place(array: [T], value: T) -> unit where T: Any { effects: WRITES_ELEMENT };

    /// Sets `count` elements of an array, from the index `to` on, to a function of `math` or `arith` of as
    /// many elements of other arrays, each from an index on that stands behind it. Indices are those in
    /// column-major order.
    ///
    /// True if no element was outside the domain of the function; where one was, the result is NaN. False, with
    /// nothing written, if there are not as many elements, or if some of a source are set, unless these are its
    /// elements in the same order. If `count` is not positive, nothing is done, and it is true.
    ///
    /// The function is one of those that have a form for strips, as the attribute names it: `sin` for `math.sin`.
    /// The elements are of type `f64`. `sincos` sets twice as many elements: all sines, and behind these all cosines.
    ///
    /// `%5: bool = mem.map %1, 1, 256, %2, %3 {function=:sin}`
    MAP = map(dest: [T], to: i64, count: i64; sources: _...) -> bool where T: Float {
        effects: MAPS,
        attrs: FUNCTION,
        verify: Some(verify_map),
    };

    /// A new ref that holds a value.
    ///
    /// `%2: ref<f64> = mem.ref_new %1`
    REF_NEW = ref_new(value: T) -> (ref T) where T: Any { effects: ALLOCATES };

    /// The content of a ref.
    ///
    /// `%2: f64 = mem.ref_get %1`
    REF_GET = ref_get(cell: (ref T)) -> T where T: Any { effects: READS_CELL };

    /// Sets what a ref holds.
    ///
    /// `mem.ref_set %1, 2.0`
    REF_SET = ref_set(cell: (ref T), value: T) -> unit where T: Any { effects: WRITES_CELL };
}

/// The element type and the rank of an array type.
fn array_parts(view: &InstView<'_>, ty: Type) -> Option<(Type, usize)> {
    match *view.ctx.kind(ty) {
        TypeKind::Array { element, rank } => Some((element, usize::from(rank))),
        _ => None,
    }
}

fn verify_alloc(view: &InstView<'_>) -> Result<(), String> {
    let dims = view.types.len();
    match array_parts(view, view.ty) {
        Some((_, rank)) if rank == dims => Ok(()),
        Some(_) => Err(format!(
            "`mem.alloc` takes one operand for each dimension of {}, found {dims}",
            view.ctx.type_text(view.ty)
        )),
        None => Err(format!(
            "`mem.alloc` makes an array, found {} as its type",
            view.ctx.type_text(view.ty)
        )),
    }
}

fn fill_type(view: &InstView<'_>) -> Result<Type, String> {
    match u8::try_from(view.types.len() - 1) {
        Ok(rank) if rank > 0 => Ok(view.ctx.array_type(view.types[0], rank)),
        _ => Err("`mem.fill` takes between 1 and 255 dimensions".to_owned()),
    }
}

fn verify_array(view: &InstView<'_>) -> Result<(), String> {
    let Some((element, 1)) = array_parts(view, view.ty) else {
        return Err(format!(
            "`mem.array` makes an array of rank 1, found {} as its type",
            view.ctx.type_text(view.ty)
        ));
    };
    match view.types.iter().find(|&&have| !have.is_assignable_to(element)) {
        None => Ok(()),
        Some(&have) => Err(format!(
            "the elements of {} are of type {}, found {}",
            view.ctx.type_text(view.ty),
            view.ctx.type_text(element),
            view.ctx.type_text(have)
        )),
    }
}

fn verify_access(view: &InstView<'_>) -> Result<(), String> {
    let indices = view.types.len() - (view.def.operands.len() - 1);
    match array_parts(view, view.types[0]) {
        Some((_, rank)) if indices != 1 && indices != rank => Err(format!(
            "`{}` takes one index or {rank} for {}, found {indices}",
            view.def.mnemonic(),
            view.ctx.type_text(view.types[0])
        )),
        None if indices == 0 => Err(format!("`{}` takes at least one index", view.def.mnemonic())),
        _ => Ok(()),
    }
}

/// The types of the parts of the elements of an array that keeps them unboxed.
fn parts_of_elements(view: &InstView<'_>) -> Result<Vec<Type>, String> {
    let parts =
        array_parts(view, view.types[0]).and_then(|(element, _)| unboxed_parts(view.ctx, element));
    parts.ok_or_else(|| {
        let (name, ty) = (view.def.mnemonic(), view.ctx.type_text(view.types[0]));
        format!("`{name}` works on arrays that keep their elements unboxed, found {ty}")
    })
}

/// The type of the part of an element that is accessed.
fn part_type(view: &InstView<'_>) -> Result<Type, String> {
    let parts = parts_of_elements(view)?;
    let part = part(view.ctx, view.attrs).and_then(|position| parts.get(position));
    part.copied().ok_or_else(|| {
        let ty = view.ctx.type_text(view.types[0]);
        format!("elements of {ty} have the parts 1 to {}", parts.len())
    })
}

fn verify_part(view: &InstView<'_>) -> Result<(), String> {
    let (want, have) = (part_type(view)?, view.types[1]);
    if have != want {
        let (want, have) = (view.ctx.type_text(want), view.ctx.type_text(have));
        return Err(format!(
            "`{}` expected a part of type {want}, found {have}",
            view.def.mnemonic()
        ));
    }
    verify_access(view)
}

fn verify_push_parts(view: &InstView<'_>) -> Result<(), String> {
    let parts = parts_of_elements(view)?;
    if view.types[1..] != parts {
        let text = |types: &[Type]| {
            let texts: Vec<String> = types.iter().map(|&ty| view.ctx.type_text(ty)).collect();
            texts.join(", ")
        };
        let (want, have) = (text(&parts), text(&view.types[1..]));
        return Err(format!("`mem.push_parts` expected parts of types {want}, found {have}"));
    }
    verify_rank_one(view)
}

fn verify_rank_one(view: &InstView<'_>) -> Result<(), String> {
    match array_parts(view, view.types[0]) {
        Some((_, rank)) if rank != 1 => Err(format!(
            "`{}` works on arrays of rank 1, found {}",
            view.def.mnemonic(),
            view.ctx.type_text(view.types[0])
        )),
        _ => Ok(()),
    }
}

fn verify_probe(view: &InstView<'_>) -> Result<(), String> {
    verify_index(view, &view.types[..1])
}

fn verify_index_entries(view: &InstView<'_>) -> Result<(), String> {
    verify_index(view, &view.types[..2])
}

/// Checks that arrays are such as indices of hash tables, and their hashes, are.
fn verify_index(view: &InstView<'_>, types: &[Type]) -> Result<(), String> {
    let is_wrong = |&&ty: &&Type| array_parts(view, ty).is_some_and(|of| of != (Type::I32, 1));
    match types.iter().find(is_wrong) {
        None => Ok(()),
        Some(&ty) => Err(format!(
            "`{}` works on arrays of i32 of rank 1, found {}",
            view.def.mnemonic(),
            view.ctx.type_text(ty)
        )),
    }
}

fn verify_map(view: &InstView<'_>) -> Result<(), String> {
    let name = match view.attr("function") {
        Some(Constant::Sym(name)) => view.ctx.str(name),
        _ => "",
    };
    let Some(forms) = Forms::named(name) else {
        return Err(format!("`mem.map` knows no function `{name}` for strips"));
    };
    let (sources, rest) = view.types[3..].as_chunks::<2>();
    if sources.len() != forms.args || !rest.is_empty() {
        let (args, found) = (2 * forms.args, view.types.len() - 3);
        return Err(format!(
            "`mem.map` of `{name}` takes {args} operands of sources, found {found}"
        ));
    }
    let is_array =
        |ty: Type| array_parts(view, ty).is_some_and(|(element, _)| element == Type::F64);
    let fits = sources.iter().all(|&[array, index]| is_array(array) && index == Type::I64)
        && (is_array(view.types[0]) || array_parts(view, view.types[0]).is_none());
    match fits {
        true => Ok(()),
        false => {
            Err("`mem.map` works on arrays of f64, each with an index of type i64 behind it"
                .to_owned())
        }
    }
}

fn shape_type(view: &InstView<'_>) -> Result<Type, String> {
    Ok(match array_parts(view, view.types[0]) {
        Some((_, rank)) => view.ctx.tuple_type(&vec![Type::I64; rank]),
        None => Type::ANY,
    })
}

fn copy_type(view: &InstView<'_>) -> Result<Type, String> {
    Ok(view.types[0])
}

/// `mem.rank` of a known type.
fn fold_rank(view: &InstView<'_>) -> Option<Fold> {
    let (_, rank) = array_parts(view, view.types[0])?;
    Some(Fold::Constant(Constant::I64(rank as i64)))
}
