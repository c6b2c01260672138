//! Values on their way to another thread.
//!
//! Values are counted without locks, so they never leave their thread. A parcel is a description of values and of all
//! that can be reached from them, which another thread makes values of its own from; what is one object there
//! is one object here. Elements of arrays that are scalars are not copied on the way there: they are *lent*, so that
//! both threads read and write the same memory. On the way back, new arrays take their elements with them,
//! and what came with the parcel is named by its number.
//!
//! # Why it is right
//! A lent array is one of [`Loan`]: it neither moves nor frees its elements. The thread that lends
//! them waits until the other one is done, and changes no length meanwhile. Which elements are read
//! and written by whom is up to the program, which says that the two do not meet.
//!
//! Objects that hold other values are copied. What the other thread has put into one of them comes back as
//! a [`Change`].
//!
//! # Cost
//! O(values and elements that are no scalars), each way.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use regraft_ir::{Constant, Context, Type};
use rustc_hash::FxHashMap;

use super::element_type::ElementType;
use super::loan::Loan;
use super::shared::Shared;
use super::unboxed::Unboxed;
use super::unboxed_type::UnboxedType;
use super::val::{Array, Element, Storage, Val, with_storage};

/// The most values of a parcel that is no answer, their parts, and how deep they are nested.
const MAX_NODES: usize = 1 << 14;
const MAX_PARTS: usize = 1 << 16;
const MAX_DEPTH: usize = 100;

/// The bytes of stack below which a new piece is taken.
const RED_ZONE: usize = 64 << 10;
const STACK_PIECE: usize = 1 << 20;

/// A description of values, which may go to another thread.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    nodes: Vec<Node>,
    roots: Vec<Part>,
    changes: Vec<(u32, u32, Part)>,
}

/// A value that is a part of another one.
#[derive(Clone, Copy, Debug)]
enum Part {
    Plain(Constant),
    /// An element that is not defined.
    Undefined,
    Node(u32),
    /// One that came with the parcel that is answered.
    Given(u32),
}

#[derive(Debug)]
enum Node {
    Text(Box<str>),
    Tuple(Vec<Part>),
    Named(Type, Vec<Part>),
    Struct(Type, Vec<Part>),
    Object(Type, Vec<Part>),
    Ref(Type, Part),
    Array(Type, Vec<usize>, Elements),
}

#[derive(Debug)]
enum Elements {
    Lent(Address),
    Bools(Vec<bool>),
    I8s(Vec<i8>),
    I16s(Vec<i16>),
    I32s(Vec<i32>),
    I64s(Vec<i64>),
    F32s(Vec<f32>),
    F64s(Vec<f64>),
    Unboxed(UnboxedType, Vec<u64>),
    Parts(Vec<Part>),
}

/// The place of elements that are lent.
#[derive(Clone, Copy, Debug)]
struct Address(NonNull<u8>);

// SAFETY: whoever unpacks a parcel promises that the elements are there for as long as it uses them.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

/// The values that came with a parcel, by number, and those that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    pub(crate) roots: Vec<Val>,
    nodes: Vec<Option<Val>>,
    loans: Vec<Loan>,
}

/// A part of an object that is another one now.
#[derive(Debug)]
pub(crate) struct Change {
    object: Val,
    at: usize,
    value: Option<Val>,
}

impl Change {
    /// Makes it.
    pub(crate) fn apply(self) {
        let Self { object, at, value } = self;
        match (&object, value) {
            (Val::Object(object), Some(value)) => drop(object.set(at, value)),
            (Val::Ref(cell), Some(value)) => drop(cell.set(value)),
            (Val::Array(array), Some(value)) => drop(array.set(at, value)),
            (Val::Array(array), None) => array.unset(at),
            _ => {}
        }
    }
}

/// The state of packing.
struct Packer<'a> {
    ctx: &'a Context,
    /// By the address of a value.
    numbers: FxHashMap<*const (), Part>,
    nodes: Vec<Option<Node>>,
    /// The values that the nodes describe, if elements are lent.
    values: Option<Vec<Val>>,
    parts: usize,
}

impl Packer<'_> {
    fn value(&mut self, value: &Val, depth: usize) -> Option<Part> {
        if let Val::Str(text) = value {
            return self.node(value, Node::Text(text.as_str().into()));
        }
        let Some(address) = value.address() else {
            return value.as_constant(self.ctx).map(Part::Plain);
        };
        if let Some(&known) = self.numbers.get(&address) {
            return Some(known);
        }
        if depth == MAX_DEPTH && self.values.is_some() {
            return None;
        }
        let number = self.reserve(value)?;
        self.numbers.insert(address, Part::Node(number));
        let node = stacker::maybe_grow(RED_ZONE, STACK_PIECE, || self.described(value, depth))?;
        self.nodes[number as usize] = Some(node);
        Some(Part::Node(number))
    }

    fn described(&mut self, value: &Val, depth: usize) -> Option<Node> {
        Some(match value {
            Val::Tuple(fields) => Node::Tuple(self.items(fields.items(), depth)?),
            Val::Named(fields) => Node::Named(fields.ty(), self.items(fields.items(), depth)?),
            Val::Struct(fields) => Node::Struct(fields.ty(), self.items(fields.items(), depth)?),
            Val::Object(object) => {
                let fields: Vec<Val> = object.fields().collect();
                Node::Object(object.ty(), self.items(&fields, depth)?)
            }
            Val::Ref(cell) => Node::Ref(cell.element(), self.value(&cell.get(), depth + 1)?),
            Val::Array(array) => {
                // Before the elements are taken.
                let dims = array.dims().to_vec();
                Node::Array(array.element(), dims, self.elements(array, depth)?)
            }
            _ => return None,
        })
    }

    /// A new number, for what `value` is.
    fn reserve(&mut self, value: &Val) -> Option<u32> {
        let number = self.nodes.len();
        self.nodes.push(None);
        self.values.as_mut().into_iter().for_each(|values| values.push(value.clone()));
        (number < MAX_NODES || self.values.is_none()).then_some(number as u32)
    }

    fn node(&mut self, value: &Val, node: Node) -> Option<Part> {
        let number = self.reserve(value)?;
        self.nodes[number as usize] = Some(node);
        Some(Part::Node(number))
    }

    /// Counts parts; `None` if there are too many to be passed on.
    fn count_parts(&mut self, count: usize) -> Option<()> {
        self.parts += count;
        (self.parts <= MAX_PARTS || self.values.is_none()).then_some(())
    }

    fn items(&mut self, items: &[Val], depth: usize) -> Option<Vec<Part>> {
        self.count_parts(items.len())?;
        items.iter().map(|item| self.value(item, depth + 1)).collect()
    }

    fn elements(&mut self, array: &Shared<Array>, depth: usize) -> Option<Elements> {
        let lends = self.values.is_some();
        let is_last = Shared::strong_count(array) == 1 && !array.is_lent;
        with_storage!(array.storage(), buffer => Some(match lends {
            true => Elements::Lent(Address(buffer.0.data.get().cast())),
            false if is_last => Owned::elements(buffer.0.take()),
            false => Owned::elements(buffer.to_vec()),
        }), all => Some(match lends {
            true => Elements::Lent(Address(all.address())),
            false => Elements::Unboxed(all.element(), all.words().to_vec()),
        }), slots => {
            let items = slots.borrow();
            self.count_parts(items.len())?;
            let part = |item: &Option<Val>| match item {
                Some(item) => self.value(item, depth + 1),
                None => Some(Part::Undefined),
            };
            Some(Elements::Parts(items.iter().map(part).collect::<Option<_>>()?))
        })
    }
}

impl Parcel {
    /// Packs values, whose elements are lent. The second result is what the numbers of an answer stand for. `None`
    /// if there is too much of it.
    pub(crate) fn pack(ctx: &Context, values: &[Val]) -> Option<(Self, Vec<Val>)> {
        let (numbers, nodes) = (FxHashMap::default(), Vec::new());
        let mut packer = Packer { ctx, numbers, nodes, values: Some(Vec::new()), parts: 0 };
        let roots = values.iter().map(|value| packer.value(value, 0)).collect::<Option<_>>()?;
        let nodes = packer.nodes.into_iter().collect::<Option<_>>()?;
        Some((Self { nodes, roots, changes: Vec::new() }, packer.values.unwrap_or_default()))
    }

    /// Makes values of this thread.
    ///
    /// # Safety
    /// What the elements were lent of stays as it is until the result is dropped, and nobody else reads or writes
    /// an element that is written here, or writes one that is read here.
    pub(crate) unsafe fn unpack(&self, ctx: &Context) -> Option<Unpacked> {
        self.unpacked(ctx, &[])
    }

    /// The answer to this parcel, of which the other thread has `unpacked`: results, and what has changed.
    pub(crate) fn answer(
        &self,
        ctx: &Context,
        unpacked: &Unpacked,
        results: &[Val],
    ) -> Option<Self> {
        let mut numbers = FxHashMap::default();
        for (number, value) in (0..).zip(&unpacked.nodes) {
            if let Some(address) = value.as_ref().and_then(Val::address) {
                numbers.insert(address, Part::Given(number));
            }
        }
        let mut packer = Packer { ctx, numbers, nodes: Vec::new(), values: None, parts: 0 };
        let roots = results.iter().map(|value| packer.value(value, 0)).collect::<Option<_>>()?;
        let mut changes = Vec::new();
        for (number, (node, value)) in (0..).zip(self.nodes.iter().zip(&unpacked.nodes)) {
            let (parts, now): (&[Part], Vec<Option<Val>>) = match (node, value) {
                (Node::Object(_, parts), Some(Val::Object(object))) => {
                    (parts, object.fields().map(Some).collect())
                }
                (Node::Ref(_, part), Some(Val::Ref(cell))) => {
                    (std::slice::from_ref(part), vec![Some(cell.get())])
                }
                (Node::Array(_, _, Elements::Parts(parts)), Some(Val::Array(array))) => {
                    (parts, (0..array.len()).map(|at| array.get(at)).collect())
                }
                _ => continue,
            };
            for (at, (&part, now)) in (0..).zip(parts.iter().zip(&now)) {
                if !is_same(ctx, part, now.as_ref(), unpacked) {
                    let part = match now {
                        Some(now) => packer.value(now, 0)?,
                        None => Part::Undefined,
                    };
                    changes.push((number, at, part));
                }
            }
        }
        Some(Self { nodes: packer.nodes.into_iter().collect::<Option<_>>()?, roots, changes })
    }

    /// Makes the values of an answer, whose numbers stand for `given`: the results, and what has changed.
    pub(crate) fn open(&self, ctx: &Context, given: &[Val]) -> Option<(Vec<Val>, Vec<Change>)> {
        let mut unpacked = self.unpacked(ctx, given)?;
        let mut changes = Vec::with_capacity(self.changes.len());
        for &(number, at, part) in &self.changes {
            let object = given.get(number as usize)?.clone();
            let value = match part {
                Part::Undefined => None,
                part => Some(self.value(ctx, part, &mut unpacked, given)?),
            };
            changes.push(Change { object, at: at as usize, value });
        }
        Some((std::mem::take(&mut unpacked.roots), changes))
    }

    fn unpacked(&self, ctx: &Context, given: &[Val]) -> Option<Unpacked> {
        let nodes = vec![None; self.nodes.len()];
        let mut unpacked = Unpacked { nodes, ..Unpacked::default() };
        for &root in &self.roots {
            let value = self.value(ctx, root, &mut unpacked, given)?;
            unpacked.roots.push(value);
        }
        Some(unpacked)
    }

    fn value(&self, ctx: &Context, part: Part, to: &mut Unpacked, given: &[Val]) -> Option<Val> {
        let number = match part {
            Part::Plain(constant) => return Some(Val::constant(ctx, constant)),
            Part::Undefined => return None,
            Part::Given(number) => return given.get(number as usize).cloned(),
            Part::Node(number) => number as usize,
        };
        if let Some(known) = to.nodes.get(number)? {
            return Some(known.clone());
        }
        stacker::maybe_grow(RED_ZONE, STACK_PIECE, || self.node_value(ctx, number, to, given))
    }

    fn node_value(
        &self,
        ctx: &Context,
        number: usize,
        to: &mut Unpacked,
        given: &[Val],
    ) -> Option<Val> {
        let parts = |parts: &[Part], to: &mut Unpacked| -> Option<Vec<Val>> {
            parts.iter().map(|&part| self.value(ctx, part, to, given)).collect()
        };
        let value = match self.nodes.get(number)? {
            Node::Text(text) => Val::str(text.clone()),
            Node::Tuple(of) => Val::tuple(parts(of, to)?),
            &Node::Named(shape, ref of) => Val::named_of(shape, parts(of, to)?.into()),
            &Node::Struct(ty, ref of) => Val::structure(ty, parts(of, to)?),
            &Node::Object(ty, ref of) => {
                let object = Val::object(ty, vec![Val::Unit; of.len()]);
                to.nodes[number] = Some(object.clone());
                let Val::Object(fields) = &object else { return None };
                for (at, value) in parts(of, to)?.into_iter().enumerate() {
                    fields.set(at, value);
                }
                object
            }
            &Node::Ref(element, of) => {
                let cell = Val::reference(element, Val::Unit);
                to.nodes[number] = Some(cell.clone());
                let Val::Ref(place) = &cell else { return None };
                place.set(self.value(ctx, of, to, given)?);
                cell
            }
            Node::Array(element, dims, elements) => {
                return self.array(ctx, (*element, dims, elements), number, to, given);
            }
        };
        to.nodes[number] = Some(value.clone());
        Some(value)
    }

    fn array(
        &self,
        ctx: &Context,
        (element, dims, elements): (Type, &[usize], &Elements),
        number: usize,
        to: &mut Unpacked,
        given: &[Val],
    ) -> Option<Val> {
        let value = match elements {
            &Elements::Lent(at) => {
                let element = ElementType::of(ctx, element);
                let mut loan = Loan::new(element, u8::try_from(dims.len()).ok()?);
                // SAFETY: the caller of `unpack` says so; an answer lends nothing.
                let lent = Val::Array(unsafe { loan.begin_at(at.0, dims) }?);
                to.loans.push(loan);
                lent
            }
            Elements::Parts(parts) => {
                let array = Val::from(Array::new(ElementType::of(ctx, element), dims).ok()?);
                to.nodes[number] = Some(array.clone());
                let Val::Array(places) = &array else { return None };
                for (at, &part) in parts.iter().enumerate() {
                    if !matches!(part, Part::Undefined) {
                        places.set(at, self.value(ctx, part, to, given)?);
                    }
                }
                array
            }
            Elements::Bools(items) => Array::of(items, dims).ok()?.into(),
            Elements::I8s(items) => Array::of(items, dims).ok()?.into(),
            Elements::I16s(items) => Array::of(items, dims).ok()?.into(),
            Elements::I32s(items) => Array::of(items, dims).ok()?.into(),
            Elements::I64s(items) => Array::of(items, dims).ok()?.into(),
            Elements::F32s(items) => Array::of(items, dims).ok()?.into(),
            Elements::F64s(items) => Array::of(items, dims).ok()?.into(),
            &Elements::Unboxed(of, ref words) => {
                let storage = Storage::Unboxed(Unboxed::of_words(of, words));
                let element = ElementType::new(element, Some(of));
                Array::of_storage(element, dims, storage).ok()?.into()
            }
        };
        to.nodes[number] = Some(value.clone());
        Some(value)
    }
}

/// Returns whether a part of an object is still the one that came with the parcel.
fn is_same(ctx: &Context, part: Part, now: Option<&Val>, unpacked: &Unpacked) -> bool {
    match (part, now) {
        (Part::Undefined, None) => true,
        (Part::Plain(_), Some(Val::Str(_))) => false,
        (Part::Plain(constant), Some(now)) => now.as_constant(ctx) == Some(constant),
        (Part::Node(number), Some(now)) => {
            match (unpacked.nodes.get(number as usize).and_then(Option::as_ref), now) {
                (Some(Val::Str(before)), Val::Str(now)) => before.as_str() == now.as_str(),
                (Some(before), now) => {
                    before.address().is_some() && before.address() == now.address()
                }
                (None, _) => false,
            }
        }
        _ => false,
    }
}

/// A type of elements that are no values of other threads.
trait Owned: Element {
    fn elements(items: Vec<Self>) -> Elements;
}

macro_rules! owned {
    ($($ty:ty => $variant:ident),*) => {
        $(impl Owned for $ty {
            fn elements(items: Vec<Self>) -> Elements {
                Elements::$variant(items)
            }
        })*
    };
}
owned!(bool => Bools, i8 => I8s, i16 => I16s, i32 => I32s, i64 => I64s, f32 => F32s, f64 => F64s);

#[cfg(test)]
mod tests {
    use super::*;

    /// What another thread answers, which does `work` to what it gets.
    fn answered(
        values: &[Val],
        work: impl FnOnce(&[Val]) -> Vec<Val> + Send,
    ) -> (Vec<Val>, Vec<Change>) {
        let ctx = regraft_dialects::context();
        let (parcel, given) = Parcel::pack(&ctx, values).expect("it is small");
        let answer = std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                // SAFETY: this thread waits, and the values stay until it goes on.
                let unpacked = unsafe { parcel.unpack(&ctx) }.expect("it is a parcel");
                let results = work(&unpacked.roots);
                parcel.answer(&ctx, &unpacked, &results).expect("answers may be large")
            });
            worker.join().expect("it does not panic")
        });
        answer.open(&ctx, &given).expect("it is an answer")
    }

    #[test]
    fn elements_are_shared_and_new_arrays_come_back() {
        let array = Val::from(Array::vector(&[1.0, 2.0]));
        let (results, changes) = answered(std::slice::from_ref(&array), |values| {
            let of = values[0].as_array().expect("it is an array");
            of.set(1, Val::F64(7.0));
            let new = Val::from(Array::vector(&[3i64, 4]));
            vec![values[0].clone(), Val::tuple([new.clone(), new, Val::str("text")])]
        });
        assert_eq!(array.as_array().and_then(Array::to_vec), Some(vec![1.0, 7.0]));
        assert_eq!(results[0].address(), array.address());
        let fields = results[1].as_fields().expect("it is a tuple");
        assert_eq!(fields[0].as_array().and_then(Array::to_vec), Some(vec![3i64, 4]));
        assert_eq!(fields[0].address(), fields[1].address());
        assert_eq!((fields[2].as_str(), changes.len()), (Some("text"), 0));
    }

    #[test]
    fn what_is_put_into_objects_comes_back_as_a_change() {
        let cell = Val::reference(Type::ANY, Val::Unit);
        let items = Array::new(ElementType::ANY, &[3]).expect("it is small");
        items.set(0, cell.clone());
        let items = Val::from(items);
        if let Val::Ref(cell) = &cell {
            // A circle.
            cell.set(items.clone());
        }
        let (_, changes) = answered(std::slice::from_ref(&items), |values| {
            let items = values[0].as_array().expect("it is an array");
            let Some(Val::Ref(cell)) = items.get(0) else { panic!("it is a ref") };
            assert_eq!(cell.get().address(), values[0].address());
            items.set(2, Val::tuple([Val::I64(5)]));
            items.unset(0);
            Vec::new()
        });
        assert_eq!(changes.len(), 2);
        changes.into_iter().for_each(Change::apply);
        let now = items.as_array().expect("it is an array");
        assert!(now.get(0).is_none() && now.get(1).is_none());
        let last = now.get(2).and_then(|last| last.as_fields()?[0].as_i64());
        assert_eq!(last, Some(5));
        if let Val::Ref(cell) = &cell {
            cell.set(Val::Unit);
        }
    }
}
