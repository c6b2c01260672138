//! Memory that one run leaves to the next.
//!
//! ```text
//! let mut pool = Pool::default();
//! pool.run(|| interpreter.call("f", &args));     // what dies in here is kept
//! pool.run(|| interpreter.call("f", &args));     // and serves again: nothing is allocated
//! ```
//!
//! # Method
//! Free lists (D. Knuth, "The Art of Computer Programming", volume 1, section 2.5): of the boxes of
//! values, one for each kind, and of the buffers of elements and fields, by powers of two. While a
//! pool is at work, the last pointer to a value does not free it but hands it over; it is taken
//! apart when memory is next asked for, one value after the other, so that those which are nested
//! deep need no stack. Arrays of floats stay whole until their parts are wanted (`floats`). Objects that the search for cycles knows stay known to it, and serve again as
//! objects of the same type.
//!
//! Boxes of values of a few parts come from lists of the thread first, whether a pool is at work or not (`boxes`).
//!
//! # Why it is right
//! Only what nobody points to any more gets here, so that nothing which outlives a run can be given
//! away. Since every buffer of a class serves every request of that class, a run that asks
//! for no more at once than an earlier one finds all that it needs, in whatever order it asks.
//!
//! # Cost
//! O(1) for each value. Strings, and what is only known by its type when it is called with more than
//! eight arguments, are allocated as ever. A pool keeps what the largest run had at once, with buffers of up to twice
//! the length that was asked for, until it is dropped; what is kept does not count as live.

mod boxes;
mod buffer;
mod floats;
pub(super) mod list;
mod unboxed;

use std::cell::{Cell, RefCell};
use std::fmt;

use regraft_dialects::semantics::MOST_UNBOXED;
use regraft_ir::Type;
use rustc_hash::FxHashMap;

use self::boxes::Kept;
use self::floats::Floats;
pub(super) use self::floats::floats;
use self::list::{Classes, List, Scalars, class_of, class_with};
use super::layout::{Counted, HeapSlice};
use super::shared::Recycle;
use super::unboxed::Unboxed;
use super::val::{
    Array, Dims, Element, Fields, INLINE_FIELDS, Items, Object, Pairs, RefCellObject, Storage, Val,
    with_storage,
};

/// The number of runs between two looks at what has not come back.
const BALANCE_AFTER: u32 = 64;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static LISTS: RefCell<Option<Box<Lists>>> = const { RefCell::new(None) };
}

/// Memory for values, used again and again.
#[derive(Default)]
pub struct Pool(Option<Box<Lists>>);

/// A value that nobody points to.
enum Recycled {
    /// Of a tuple, named tuple or immutable struct.
    Fields(Counted<Fields>),
    /// A mutable struct.
    Object(Counted<Object>),
    /// An array.
    Array(Counted<Array>),
    /// A ref.
    Ref(Counted<RefCellObject>),
}

/// Free memory, by kind.
#[derive(Default)]
pub(super) struct Lists {
    /// Values that are still to be taken apart.
    recycled: Vec<Recycled>,
    boxes: usize,
    runs: u32,
    fields: List<Counted<Fields>>,
    arrays: List<Counted<Array>>,
    /// Arrays that are taken apart only when a box or a buffer is wanted.
    floats: Floats,
    /// Arrays that the search for cycles knows: by the type of the elements, and the lengths if
    /// there are several.
    containers: FxHashMap<(Type, Dims), List<Counted<Array>>>,
    /// Mutable structs: by their type, and the number of fields.
    objects: FxHashMap<(Type, usize), List<Counted<Object>>>,
    refs: FxHashMap<Type, List<Counted<RefCellObject>>>,
    dims: Classes<HeapSlice<usize>>,
    items: Classes<Vec<Val>>,
    pairs: Classes<Pairs>,
    vals: Classes<Vec<Option<Val>>>,
    scalars: Scalars,
    /// Of unboxed elements, by the number of their parts.
    unboxed: [Classes<Unboxed>; MOST_UNBOXED],
}

impl Pool {
    /// Runs `f` on the memory of this pool. Values that are made meanwhile are like others, and
    /// may outlive it.
    pub fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _at_work = self.begin();
        f()
    }

    /// Puts the pool to work until the result is dropped.
    pub(crate) fn begin(&mut self) -> AtWork<'_> {
        self.0.get_or_insert_default();
        LISTS.with_borrow_mut(|lists| std::mem::swap(lists, &mut self.0));
        AtWork { pool: self, before: ACTIVE.replace(true) }
    }
}

/// The time in which a pool is at work; it ends when this is dropped.
pub(crate) struct AtWork<'a> {
    /// The place of the lists: meanwhile, it holds those that were at work before.
    pool: &'a mut Pool,
    before: bool,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        settle();
        LISTS.with_borrow_mut(|lists| std::mem::swap(lists, &mut self.pool.0));
        ACTIVE.set(self.before);
        if let Some(lists) = &mut self.pool.0 {
            lists.end_of_run();
        }
    }
}

impl Lists {
    /// Notes that a box was made: there is room for all of them among the recycled.
    fn note_box(&mut self) {
        self.boxes += 1;
        let more = self.boxes.saturating_sub(self.recycled.len());
        self.recycled.reserve(more);
    }

    fn end_of_run(&mut self) {
        self.floats.make_room(self.arrays.made());
        self.runs += 1;
        if self.runs < BALANCE_AFTER {
            return;
        }
        self.runs = 0;
        self.boxes = self.fields.balance() + self.arrays.balance();
        self.boxes += self.containers.values_mut().map(List::balance).sum::<usize>();
        self.boxes += self.objects.values_mut().map(List::balance).sum::<usize>();
        self.boxes += self.refs.values_mut().map(List::balance).sum::<usize>();
        self.dims.balance();
        self.items.balance();
        self.pairs.balance();
        self.vals.balance();
        let Scalars { bools, i8s, i16s, i32s, i64s, f32s, f64s } = &mut self.scalars;
        bools.0.balance();
        i8s.0.balance();
        i16s.0.balance();
        i32s.0.balance();
        i64s.0.balance();
        f32s.0.balance();
        f64s.0.balance();
        self.unboxed.iter_mut().for_each(Classes::balance);
    }
}

/// Returns whether a pool is at work on this thread.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Nothing is dropped while the lists are borrowed: dropping comes back here.
fn with<R>(f: impl FnOnce(&mut Lists) -> R) -> Option<R> {
    LISTS.try_with(|lists| lists.borrow_mut().as_deref_mut().map(f)).ok().flatten()
}

/// Takes over a box that nobody else points to, or frees it.
#[inline(never)]
fn recycle<T: Kept>(last: Counted<T>, recycled: impl FnOnce(Counted<T>) -> Recycled) {
    if let Some(last) = boxes::keep(last)
        && is_active()
    {
        with(|lists| lists.recycled.push(recycled(last)));
    }
}

/// Takes recycled values apart.
fn settle() {
    while let Some(value) = with(|lists| lists.recycled.pop()).flatten() {
        match value {
            Recycled::Fields(mut rc) => {
                if let Some(fields) = Counted::get_mut(&mut rc) {
                    give_items(fields.strip());
                    drop(with(|lists| lists.fields.keep(rc)));
                }
            }
            Recycled::Object(rc) => {
                rc.strip();
                let key = (rc.ty(), rc.len());
                drop(with(|lists| keep_in(lists.objects.get_mut(&key), rc)));
            }
            Recycled::Ref(rc) => {
                drop(rc.strip());
                let element = rc.element();
                drop(with(|lists| keep_in(lists.refs.get_mut(&element), rc)));
            }
            Recycled::Array(rc) => take_apart(rc),
        }
    }
}

/// Keeps a box in a list, if there is one; otherwise it comes back, to be dropped when the lists are not borrowed any more.
fn keep_in<T>(list: Option<&mut List<T>>, rc: T) -> Option<T> {
    match list {
        Some(list) => list.keep(rc),
        None => Some(rc),
    }
}

/// Takes an array apart, and keeps its box and the room for its elements.
fn take_apart(mut rc: Counted<Array>) {
    rc.strip();
    if let Some(array) = Counted::get_mut(&mut rc) {
        array.strip_dims();
        drop(with(|lists| lists.arrays.keep(rc)));
    } else {
        let key = container_key(&rc);
        drop(with(|lists| keep_in(lists.containers.get_mut(&key), rc)));
    }
}

/// Takes an array apart that is kept whole, if what is wanted is there in no other way.
fn unpack(wanted: impl FnOnce(&mut Lists) -> Option<Counted<Array>>) {
    settle();
    with(wanted).flatten().into_iter().for_each(take_apart);
}

fn container_key(array: &Array) -> (Type, Dims) {
    let dims = if array.rank() == 1 { Dims::new() } else { array.dims() };
    (array.element(), dims)
}

/// A box, if a pool is at work and has one.
fn take_box<T>(take: impl FnOnce(&mut Lists) -> Option<T>) -> Option<T> {
    if !is_active() {
        return None;
    }
    settle();
    with(|lists| {
        let found = take(lists);
        if found.is_none() {
            lists.note_box();
        }
        found
    })
    .flatten()
}

/// A box for so many fields, which hold nothing that is counted.
#[inline]
pub(super) fn fields(count: usize) -> Option<Counted<Fields>> {
    boxes::take(count).or_else(|| take_box(|lists| lists.fields.take()))
}

/// A box for an array that the search for cycles need not know.
#[inline]
pub(super) fn array(array: &Array) -> Option<Counted<Array>> {
    if !is_active() {
        return None;
    }
    unpack(|lists| (lists.arrays.free() == 0).then(|| lists.floats.take_any()).flatten());
    let found = take_box(|lists| lists.arrays.take());
    with(|lists| floats::expect(lists, array));
    found
}

/// An array like this one, without its elements, that the search for cycles knows.
pub(super) fn container(like: &Array) -> Option<Counted<Array>> {
    take_box(|lists| lists.containers.entry(container_key(like)).or_default().take())
}

/// A mutable struct of that type with so many fields, which are to be set.
pub(super) fn object(ty: Type, fields: usize) -> Option<Counted<Object>> {
    if let Some(mut free) = boxes::take::<Object>(fields)
        && let Some(object) = Counted::get_mut(&mut free)
    {
        object.ty = ty;
        return Some(free);
    }
    take_box(|lists| lists.objects.entry((ty, fields)).or_default().take())
}

/// A ref to what is of that type.
pub(super) fn reference(element: Type) -> Option<Counted<RefCellObject>> {
    if let Some(mut free) = boxes::take::<RefCellObject>(1)
        && let Some(cell) = Counted::get_mut(&mut free)
    {
        cell.element = element;
        return Some(free);
    }
    take_box(|lists| lists.refs.entry(element).or_default().take())
}

/// Room for so many things, from a free list if a pool is at work.
fn room_of<T>(
    count: usize,
    take: impl FnOnce(&mut Lists, usize) -> Option<T>,
    make: impl FnOnce(usize) -> T,
) -> T {
    if count == 0 || !is_active() {
        return make(count);
    }
    settle();
    let class = class_of(count);
    let free = with(|lists| take(lists, class)).flatten();
    free.unwrap_or_else(|| make(1 << class))
}

/// Empty room for fields.
pub(super) fn items(count: usize) -> Vec<Val> {
    room_of(count, |lists, class| lists.items.take(class), Vec::with_capacity)
}

/// Drops fields and keeps their room.
pub(super) fn give_items(items: Items) {
    if let Some(mut room) = items.into_heap() {
        room.clear();
        drop(with(|lists| lists.items.keep(class_with(room.capacity()), room)));
    }
}

/// Empty room for pairs of values.
pub(crate) fn pairs(count: usize) -> Pairs {
    if count <= INLINE_FIELDS {
        return Pairs::new();
    }
    room_of(count, |lists, class| lists.pairs.take(class), Pairs::with_capacity)
}

/// Drops pairs and keeps their room.
pub(crate) fn give_pairs(mut pairs: Pairs) {
    pairs.clear();
    if pairs.spilled() && is_active() {
        drop(with(|lists| lists.pairs.keep(class_with(pairs.capacity()), pairs)));
    }
}

/// A place for the lengths of an array.
pub(super) fn dims(dims: &[usize]) -> HeapSlice<usize> {
    if is_active() {
        let rank = dims.len();
        unpack(|lists| {
            lists.dims.is_empty(rank).then(|| lists.floats.take_of_rank(rank)).flatten()
        });
        if let Some(mut free) = with(|lists| lists.dims.take(dims.len())).flatten() {
            free.copy_from_slice(dims);
            return free;
        }
    }
    Box::<[usize]>::from(dims).into()
}

/// Takes that place back.
pub(super) fn give_dims(dims: HeapSlice<usize>) {
    if !dims.is_empty() && is_active() {
        drop(with(|lists| lists.dims.keep(dims.len(), dims)));
    }
}

/// Empty room for elements that are scalars. That of a small array of floats may serve again for as many as it holds.
pub(super) fn room<T: Element>(count: usize) -> Vec<T> {
    if !is_active() && floats::is_small::<T>(count) {
        return Vec::with_capacity(count.next_power_of_two());
    }
    if T::TYPE == Type::F64 && count > 0 && is_active() {
        let class = class_of(count);
        unpack(|lists| {
            let is_short = lists.scalars.f64s.0.is_empty(class);
            is_short.then(|| lists.floats.take_with_room(class)).flatten()
        });
    }
    let take = |lists: &mut Lists, class| T::buffers(&mut lists.scalars).0.take(class);
    room_of(count, take, Vec::with_capacity)
}

/// Takes that room back.
pub(super) fn give_room<T: Element>(mut items: Vec<T>) {
    if items.capacity() > 0 && is_active() {
        items.clear();
        let class = class_with(items.capacity());
        drop(with(|lists| T::buffers(&mut lists.scalars).0.keep(class, items)));
    }
}

/// Empty room for elements of any type.
pub(super) fn room_for_vals(count: usize) -> Vec<Option<Val>> {
    room_of(count, |lists, class| lists.vals.take(class), Vec::with_capacity)
}

/// Drops elements and keeps their room.
pub(super) fn give_vals(mut items: Vec<Option<Val>>) {
    items.clear();
    if items.capacity() > 0 && is_active() {
        drop(with(|lists| lists.vals.keep(class_with(items.capacity()), items)));
    }
}

impl Fields {
    /// Takes everything out.
    fn strip(&mut self) -> Items {
        self.charge.set(0);
        std::mem::take(&mut self.items)
    }
}

impl Object {
    /// Takes everything out.
    fn strip(&self) {
        self.charge.set(0);
        self.clear();
    }
}

impl RefCellObject {
    /// Takes everything out.
    fn strip(&self) -> Val {
        self.charge.set(0);
        self.value.replace(Val::Unit)
    }
}

impl Array {
    /// Takes the elements out, and keeps their room.
    pub(super) fn strip(&self) {
        self.charge.set(0);
        with_storage!(
            &self.storage,
            buffer => buffer.strip(),
            all => all.strip(),
            cell => give_vals(cell.take())
        );
    }

    /// Takes the lengths out as well.
    pub(super) fn strip_dims(&mut self) {
        give_dims(std::mem::take(&mut self.dims));
    }
}

macro_rules! recycled {
    ($($ty:ident, $variant:ident;)*) => {
        $(impl Recycle for $ty {
            #[inline]
            fn recycle(last: Counted<Self>) {
                recycle(last, Recycled::$variant);
            }
        })*
    };
}

recycled! {
    Fields, Fields;
    Object, Object;
    RefCellObject, Ref;
}

impl Recycle for Array {
    #[inline(never)]
    fn recycle(last: Counted<Self>) {
        if !is_active() {
            drop(floats::keep_without_pool(last));
            return;
        }
        with(|lists| {
            if let Some(last) = floats::keep(lists, last) {
                lists.recycled.push(Recycled::Array(last));
            }
        });
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl fmt::Debug for Recycled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recycled").finish_non_exhaustive()
    }
}
