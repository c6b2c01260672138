//! Frees values, and the cycles among them.
//!
//! Values are counted pointers, so they are freed as soon as the last one goes. Two things need
//! care. A value can be nested a million deep, so dropping one must not recurse
//! ([`dismantle`]). And objects can refer to each other in a cycle, which counting never frees.
//! What is made refers to older values only, so each cycle has an object that was changed: such objects are
//! registered weakly when they come to refer to another one ([`note_change`]), and arrays of values when
//! they are made. [`collect_cycles`] starts at them and finds cycles that nothing
//! outside refers to by trial deletion, as CPython does (D. Bacon and V. Rajan, "Concurrent Cycle
//! Collection in Reference Counted Systems", ECOOP 2001, section 3, give the idea). It needs no
//! list of roots: whatever holds a value, a register or Rust code, holds a count.

use std::cell::{Cell, RefCell};

use regraft_ir::Type;
use rustc_hash::FxHashMap;

use super::layout::Weak;
use super::pool;
use super::shared::{Recycle, Shared};
use super::val::{Array, Fields, Object, RefCellObject, Storage, Val};

/// Below this number of registered objects no collection starts by itself.
const LEAST_THRESHOLD: usize = 4096;

thread_local! {
    static PENDING: RefCell<Vec<Val>> = const { RefCell::new(Vec::new()) };
    static DISMANTLING: Cell<bool> = const { Cell::new(false) };
    static REGISTRY: RefCell<Registry> = const { RefCell::new(Registry::new()) };
}

/// Drops the parts of a value that is being dropped, without recursing: parts that nobody else
/// holds, and that have such parts themselves, wait in a list, and the outermost call works it off.
#[inline]
fn dismantle<'a>(parts: impl Iterator<Item = &'a mut Val>) {
    let mut waiting = false;
    for part in parts {
        if part.is_plain() {
            continue;
        }
        let part = std::mem::replace(part, Val::Unit);
        if strong_count(&part) == 1 && !is_flat(&part) {
            waiting |= PENDING.try_with(|pending| pending.borrow_mut().push(part)).is_ok();
        }
    }
    if !waiting || DISMANTLING.get() {
        return;
    }
    DISMANTLING.set(true);
    while let Some(part) = PENDING.with_borrow_mut(Vec::pop) {
        drop(part);
    }
    DISMANTLING.set(false);
}

/// Drops the parts that are counted of a type of values, without recursing.
macro_rules! let_go {
    ($($ty:ident: $value:ident => $parts:expr;)*) => {
        $(impl $ty {
            /// Drops the parts that are counted; `nothing` is in their place.
            #[inline]
            pub(super) fn let_go(&mut self) {
                let $value = self;
                dismantle($parts);
            }
        }

        impl Drop for $ty {
            fn drop(&mut self) {
                self.let_go();
            }
        })*
    };
}
let_go! {
    Fields: fields => fields.items.iter_mut();
    Object: object => object.fields.iter_mut().map(Cell::get_mut);
    RefCellObject: cell => std::iter::once(cell.value.get_mut());
}

/// Returns whether a value is a tuple or struct of parts that are not counted.
#[inline]
fn is_flat(value: &Val) -> bool {
    value.as_fields().is_some_and(|fields| fields.iter().all(Val::is_plain))
}

impl Drop for Array {
    fn drop(&mut self) {
        if pool::is_active() {
            self.strip();
            self.strip_dims();
        } else if let Storage::Val(items) = &mut self.storage {
            dismantle(items.take().iter_mut().flatten());
        }
    }
}

/// An object that may close a cycle.
#[derive(Debug)]
pub(crate) enum Registered {
    Object(Weak<Object>),
    Ref(Weak<RefCellObject>),
    Array(Weak<Array>),
}

impl Registered {
    fn is_alive(&self) -> bool {
        match self {
            Self::Object(x) => x.strong_count() > 0,
            Self::Ref(x) => x.strong_count() > 0,
            Self::Array(x) => x.strong_count() > 0,
        }
    }

    fn upgrade(&self) -> Option<Val> {
        match self {
            Self::Object(x) => x.upgrade().map(|x| Val::Object(Shared::new(x))),
            Self::Ref(x) => x.upgrade().map(|x| Val::Ref(Shared::new(x))),
            Self::Array(x) => x.upgrade().map(|x| Val::Array(Shared::new(x))),
        }
    }
}

#[derive(Debug)]
struct Registry {
    objects: Vec<Registered>,
    threshold: usize,
}

impl Registry {
    const fn new() -> Self {
        Self { objects: Vec::new(), threshold: LEAST_THRESHOLD }
    }
}

/// Returns whether an object that holds values of type `element` can be part of a cycle. Scalars,
/// strings and the like refer to nothing.
pub(crate) fn may_close_a_cycle(element: Type) -> bool {
    !(element.is_scalar() || matches!(element, Type::UNIT | Type::SYM | Type::STR | Type::NEVER))
}

impl From<&Shared<Object>> for Registered {
    fn from(object: &Shared<Object>) -> Self {
        Self::Object(Shared::downgrade(object))
    }
}

impl From<&Shared<RefCellObject>> for Registered {
    fn from(cell: &Shared<RefCellObject>) -> Self {
        Self::Ref(Shared::downgrade(cell))
    }
}

/// Notes that an object refers to a value from now on.
#[inline]
pub(crate) fn note_change<'a, T: Recycle>(object: &'a Shared<T>, value: &Val)
where
    Registered: From<&'a Shared<T>>,
{
    if refers(value) && !Shared::is_watched(object) {
        register(object.into());
    }
}

impl Shared<Object> {
    /// Sets a field; `false` if there is none at `index`.
    #[inline]
    pub fn set(&self, index: usize, value: Val) -> bool {
        let Some(field) = self.place(index) else { return false };
        note_change(self, &value);
        field.replace(value).discard();
        true
    }
}

impl Shared<RefCellObject> {
    /// Changes what it holds, and returns what it held.
    #[inline]
    pub fn set(&self, value: Val) -> Val {
        note_change(self, &value);
        self.place().replace(value)
    }
}

/// Returns whether a value may lead to other values.
fn refers(value: &Val) -> bool {
    match value {
        Val::Array(array) => matches!(array.storage(), Storage::Val(_)),
        value => value.address().is_some(),
    }
}

pub(crate) fn register_array(array: &Shared<Array>) {
    register(Registered::Array(Shared::downgrade(array)));
}

fn register(object: Registered) {
    let full = REGISTRY.with_borrow_mut(|registry| {
        registry.objects.push(object);
        registry.objects.len() > registry.threshold
    });
    if full {
        // Most objects die by their counts; only if that leaves many is it worth a search.
        let many = REGISTRY.with_borrow_mut(|registry| {
            registry.objects.retain(Registered::is_alive);
            registry.objects.len() > registry.threshold / 2
        });
        if many {
            collect_cycles();
        }
    }
}

/// The number of objects of this thread that could close a cycle and are alive: those that were changed to refer
/// to others, and arrays of values.
pub fn live_containers() -> usize {
    REGISTRY.with_borrow(|registry| registry.objects.iter().filter(|x| x.is_alive()).count())
}

/// A value during a collection, with what is known of who holds it.
struct Node {
    value: Val,
    /// References from other nodes.
    internal: usize,
    reachable: bool,
}

/// Frees objects that refer to each other in a cycle and that nothing else refers to. Returns how
/// many there were. O(objects that could close a cycle, and what they lead to); runs by
/// itself when as many were added as the last search has visited, so that each one costs O(1).
pub fn collect_cycles() -> usize {
    let registered = REGISTRY.with_borrow_mut(|registry| std::mem::take(&mut registry.objects));
    let mut nodes: Vec<Node> = Vec::new();
    let mut by_address: FxHashMap<*const (), usize> = FxHashMap::default();
    for value in registered.iter().filter_map(Registered::upgrade) {
        add_node(&mut nodes, &mut by_address, &value);
    }
    let mut next = 0;
    while next < nodes.len() {
        let value = nodes[next].value.clone();
        for_each_part(&value, |part| {
            if let Some(index) = add_node(&mut nodes, &mut by_address, part) {
                nodes[index].internal += 1;
            }
        });
        next += 1;
    }
    let mut work: Vec<usize> = Vec::new();
    for (index, node) in nodes.iter_mut().enumerate() {
        // One count is the node's own.
        if strong_count(&node.value) > node.internal + 1 {
            node.reachable = true;
            work.push(index);
        }
    }
    while let Some(index) = work.pop() {
        let value = nodes[index].value.clone();
        for_each_part(&value, |part| {
            if let Some(&index) = part.address().and_then(|address| by_address.get(&address))
                && !nodes[index].reachable
            {
                nodes[index].reachable = true;
                work.push(index);
            }
        });
    }
    let mut freed = 0;
    for node in nodes.iter().filter(|node| !node.reachable) {
        freed += usize::from(clear(&node.value));
    }
    let visited = nodes.len();
    drop(nodes);
    REGISTRY.with_borrow_mut(|registry| {
        // Dropping what was freed may not change objects, but be safe against it.
        let newer = std::mem::replace(&mut registry.objects, registered);
        registry.objects.extend(newer);
        registry.objects.retain(Registered::is_alive);
        // As many have to come as were visited now, so that each one that comes costs O(1).
        registry.threshold = (registry.objects.len() + visited).max(LEAST_THRESHOLD);
    });
    freed
}

/// The node of a value, made if there is none; `None` for what holds no references.
fn add_node(
    nodes: &mut Vec<Node>,
    by_address: &mut FxHashMap<*const (), usize>,
    value: &Val,
) -> Option<usize> {
    let address = value.address()?;
    Some(*by_address.entry(address).or_insert_with(|| {
        nodes.push(Node { value: value.clone(), internal: 0, reachable: false });
        nodes.len() - 1
    }))
}

fn strong_count(value: &Val) -> usize {
    match value {
        Val::Tuple(x) | Val::Named(x) | Val::Struct(x) => Shared::strong_count(x),
        Val::Object(x) => Shared::strong_count(x),
        Val::Ref(x) => Shared::strong_count(x),
        Val::Array(x) => Shared::strong_count(x),
        _ => usize::MAX,
    }
}

fn for_each_part(value: &Val, mut visit: impl FnMut(&Val)) {
    match value {
        Val::Tuple(x) | Val::Named(x) | Val::Struct(x) => x.items.iter().for_each(visit),
        Val::Object(x) => x.fields().for_each(|field| visit(&field)),
        Val::Ref(x) => visit(&x.get()),
        Val::Array(x) => {
            if let Storage::Val(items) = x.storage() {
                items.borrow().iter().flatten().for_each(visit);
            }
        }
        _ => {}
    }
}

/// Cuts what an unreachable object refers to; whether it was an object.
fn clear(value: &Val) -> bool {
    match value {
        Val::Object(x) => x.clear(),
        Val::Ref(x) => drop(x.set(Val::Unit)),
        Val::Array(x) => {
            if let Storage::Val(items) = x.storage() {
                drop(items.take());
            }
        }
        _ => return false,
    }
    true
}
