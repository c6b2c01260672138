//! The functions of a program: taken over from a module, asked of the call resolver, dropped again.
//!
//! While a program runs it holds on to code, so a run may only add functions. Code is dropped by
//! those that have the interpreter to themselves; they reset every place that remembers code.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use regraft_ir::{Context, Function, Module, Stamp, Symbol, Type, suggest};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::code::{Code, CodeCell};
use super::inst::Pc;
use super::link::{Link, LinkKey};
use super::natives::Natives;
use super::register::Dst;
use crate::call_resolver::CallResolver;
use crate::error::{ErrorKind, Trap};
use crate::host::Host;
use crate::native::Compiled;

/// The functions of a program. While it runs, some may be added; none changes or goes.
pub(super) struct World {
    pub(super) ctx: Arc<Context>,

    /// By name, and never removed: compact code names callees by their slots.
    pub(super) slots: boxcar::Vec<Slot>,
    pub(super) by_name: RefCell<FxHashMap<Symbol, u32>>,
    /// Slots that are free for functions that are run once.
    pub(super) spare: Vec<u32>,
    /// Slots of functions that were redefined while a program ran, which may be at work on them.
    pub(super) outdated: RefCell<Vec<u32>>,
    pub(super) resolver: RefCell<Option<Box<dyn CallResolver>>>,
    /// The answers of the call resolver.
    pub(super) links: RefCell<FxHashMap<LinkKey, Link>>,
    /// The types of tuples that were passed to calls of values, by those of their parts.
    pub(super) tuple_types: RefCell<FxHashMap<SmallVec<[Type; 6]>, Type>>,
    /// The number of times that all answers were forgotten.
    pub(super) links_since: u64,
    pub(super) natives: Natives,
}

pub(super) struct Slot {
    pub(super) name: Symbol,
    pub(super) function: OnceCell<Held>,
    pub(super) code: OnceCell<Box<Code>>,
    /// The form that native code is made of, if it is another one; once that was asked for.
    pub(super) optimized: OnceCell<Option<Optimized>>,
    /// The functions that calls of it which are at work can go on in.
    pub(super) continuations: RefCell<Vec<Continuation>>,
}

/// A function as native code is made of it.
pub(super) struct Optimized {
    pub(super) function: Rc<Function>,
    pub(super) code: Box<Code>,
}

/// The function that goes on from a position of another one.
pub(super) struct Continuation {
    pub(super) from: Pc,
    /// `None` if there is none.
    pub(super) rest: Option<Rc<Rest>>,
}

/// A function that takes what is live at that position.
pub(super) struct Rest {
    pub(super) slot: u32,
    /// The places where its arguments stand in the frame of the other one, in order.
    pub(super) args: Box<[Dst]>,
}

/// The code that a loop at work goes on in.
pub(super) enum Way {
    /// Native code, in the frame that is there.
    Native(Compiled),
    /// The rest of its function, in a frame of its own.
    Rest(Rc<Rest>),
}

/// A function of the module, or of the call resolver.
pub(super) struct Held {
    /// The state of the original that it is a copy of.
    pub(super) stamp: Stamp,
    pub(super) function: Rc<Function>,
    pub(super) params: Vec<Type>,
    /// True if it is the call resolver's, which may have another form of it.
    pub(super) is_resolved: bool,
}

impl Held {
    pub(super) fn new(function: Rc<Function>) -> Self {
        let params = function.param_types();
        Self { stamp: function.stamp(), params, function, is_resolved: false }
    }

    fn resolved(function: Rc<Function>) -> Self {
        Self { is_resolved: true, ..Self::new(function) }
    }
}

impl Slot {
    fn new(name: Symbol) -> Self {
        Self::of(name, OnceCell::new())
    }

    pub(super) fn of(name: Symbol, function: OnceCell<Held>) -> Self {
        let continuations = RefCell::default();
        Self { name, function, code: OnceCell::new(), optimized: OnceCell::new(), continuations }
    }

    /// The code that there is for the function.
    fn codes(&self) -> impl Iterator<Item = &Code> {
        let optimized = self.optimized.get().and_then(Option::as_ref);
        self.code.get().into_iter().chain(optimized.map(|form| &form.code)).map(|code| &**code)
    }

    fn drop_code(&mut self) {
        self.code.take();
        self.optimized.take();
    }

    /// The slots of the functions that calls of this one can go on in.
    pub(super) fn rests(&self) -> Vec<u32> {
        let continuations = self.continuations.borrow();
        continuations.iter().filter_map(|of| Some(of.rest.as_ref()?.slot)).collect()
    }

    pub(super) fn signature(&self) -> Option<(&[Type], Type)> {
        self.function.get().map(|held| (&*held.params, held.function.ret_type()))
    }
}

impl World {
    /// The code that a cell of this world holds.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn code_in(&self, cell: &CodeCell) -> Option<&Code> {
        // SAFETY: what was set is code of this world, on the heap. Code is dropped only by those
        // who hold the world mutably, and they clear all cells first (`World::unlink`).
        cell.0.get().map(|code| unsafe { &*code })
    }

    #[inline]
    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// The slot of the function of that name, if there is one here or with the call resolver.
    ///
    /// # Errors
    /// The errors of the call resolver.
    pub(super) fn lookup(
        &self,
        name: Symbol,
        host: Option<&mut Host>,
    ) -> Result<Option<u32>, Trap> {
        if let Some(slot) = self.find(name) {
            return Ok(Some(slot));
        }
        let function = match &mut *self.resolver.borrow_mut() {
            Some(resolver) => resolver.function(name, host)?,
            None => None,
        };
        Ok(function.map(|function| self.add(name, function)))
    }

    /// The slot of the function of that name, if it is here.
    pub(super) fn find(&self, name: Symbol) -> Option<u32> {
        let slot = *self.by_name.borrow().get(&name)?;
        self.slot(slot).function.get().map(|_| slot)
    }

    fn add(&self, name: Symbol, function: Rc<Function>) -> u32 {
        let index = self.slot_of(name);
        // The resolver cannot have come back here, so the place is free.
        let _ = self.slot(index).function.set(Held::resolved(function));
        index
    }

    fn slot_of(&self, name: Symbol) -> u32 {
        let slots = &self.slots;
        let mut by_name = self.by_name.borrow_mut();
        *by_name.entry(name).or_insert_with(|| slots.push(Slot::new(name)) as u32)
    }

    /// A slot for a function that no other code finds.
    pub(super) fn lend_slot(&mut self, function: Rc<Function>) -> u32 {
        let (name, function) = (function.name(), OnceCell::from(Held::new(function)));
        let slot = Slot::of(name, function);
        match self.spare.pop().and_then(|index| Some((index, self.slots.get_mut(index as usize)?)))
        {
            Some((index, spare)) => {
                *spare = slot;
                index
            }
            None => self.slots.push(slot) as u32,
        }
    }

    /// Drops the function that the slot was lent to.
    pub(super) fn take_slot_back(&mut self, index: u32) {
        self.drop_natives(|slot| slot == index);
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = Slot::new(slot.name);
            self.spare.push(index);
        }
    }

    /// Takes over the functions of a module in place of those that are here.
    pub(super) fn take_over(&mut self, module: &Module) {
        let mut signatures_changed = false;
        self.unlink();
        if self.natives.has_code() {
            let is_other = |&index: &u32| {
                let slot = self.slot(index);
                let new = module.find(slot.name).and_then(|f| module.get(f)).map(Function::stamp);
                slot.function.get().is_some_and(|held| Some(held.stamp) != new)
            };
            let others: FxHashSet<u32> = (0..self.slots.count() as u32).filter(is_other).collect();
            self.drop_natives(|slot| others.contains(&slot));
        }
        self.for_each_slot(|_, slot| {
            if slot.function.get().is_some() && module.find(slot.name).is_none() {
                slot.function.take();
                signatures_changed = true;
            }
        });
        for function in module.functions() {
            let index = self.slot_of(function.name()) as usize;
            let Some(slot) = self.slots.get_mut(index) else { continue };
            if slot.function.get().is_some_and(|held| held.stamp == function.stamp()) {
                continue;
            }
            let held = Held::new(Rc::new(function.clone()));
            signatures_changed |=
                slot.signature() != Some((&held.params, held.function.ret_type()));
            slot.function = held.into();
            slot.drop_code();
        }
        if signatures_changed {
            // Callers are compiled against signatures. They change rarely, so all are dropped
            // rather than kept track of.
            self.drop_natives(|_| true);
            self.for_each_slot(|_, slot| slot.drop_code());
        }
    }

    /// Looks functions up anew, and whatever calls of values run, while a program runs: what is at
    /// work, and direct calls in it, go on with what they had.
    #[cold]
    pub(super) fn detach(&self, names: &[Symbol]) {
        self.forget_links();
        let mut by_name = self.by_name.borrow_mut();
        let gone = names.iter().filter_map(|name| by_name.remove(name));
        self.outdated.borrow_mut().extend(gone);
    }

    /// Drops functions, the code of what calls them, and all links.
    pub(super) fn forget(&mut self, names: &[Symbol]) {
        self.unlink();
        let outdated = std::mem::take(self.outdated.get_mut());
        let gone: FxHashSet<u32> = {
            let by_name = self.by_name.borrow();
            let named = names.iter().filter_map(|name| by_name.get(name).copied());
            named.chain(outdated.iter().copied()).collect()
        };
        if gone.is_empty() {
            return;
        }
        self.drop_natives(|slot| gone.contains(&slot));
        self.for_each_slot(|index, slot| {
            if gone.contains(&index) {
                slot.function.take();
                slot.drop_code();
            }
            // Callers are compiled against the signature of what they call.
            let calls = |code: &Code| code.calls.iter().any(|site| gone.contains(&site.callee));
            if slot.codes().any(calls) {
                slot.drop_code();
            }
        });
        outdated.into_iter().for_each(|index| self.take_slot_back(index));
    }

    fn for_each_slot(&mut self, mut visit: impl FnMut(u32, &mut Slot)) {
        for index in 0..self.slots.count() {
            if let Some(slot) = self.slots.get_mut(index) {
                visit(index as u32, slot);
            }
        }
    }

    /// Makes everything forget which code it calls, and drops what calls at work have gone on in.
    fn unlink(&mut self) {
        self.drop_continuations();
        self.forget_links();
        self.links_since += 1;
        for (_, slot) in &self.slots {
            let calls = slot.codes().flat_map(|code| &code.calls);
            calls.for_each(|site| site.code.clear());
        }
    }

    /// Drops the answers of the call resolver, and what call sites remember of them.
    fn forget_links(&self) {
        self.links.borrow_mut().clear();
        for (_, slot) in &self.slots {
            let applies = slot.codes().flat_map(|code| &code.applies);
            applies.for_each(|site| site.cache.clear());
        }
    }

    #[cold]
    pub(super) fn unknown_name(&self, name: &str) -> Trap {
        let trap =
            Trap::of_kind(ErrorKind::UnknownFunction, format!("there is no function @{name}"));
        let known = self.slots.iter().filter(|(_, slot)| slot.function.get().is_some());
        match suggest(name, known.map(|(_, slot)| self.ctx.str(slot.name))) {
            Some(near) => trap.help(format!("did you mean @{near}?")),
            None => trap,
        }
    }
}
