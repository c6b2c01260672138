//! Better code for what runs long: LLVM's, made while Cranelift's runs.
//!
//! # Method
//! Runs are asked at intervals to look up ([`ticker`]); they do so where a loop goes back and where a function begins. Each look
//! counts for the unit of the function at work. When a unit has taken as long as LLVM is expected to take for it, its code is
//! ordered from [another thread](Order): whatever a program does, this costs at most twice what would have been best (the
//! ski rental problem; Karlin, Manasse, Rudolph and Sleator, "Competitive Snoopy Caching", 1988). Once it is there, calls go
//! to it, and a loop at work goes on in it at its header, if it is one that was seen.
//!
//! Both codes are made of the same compact code, so results are the same.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use rustc_hash::FxHashMap;

use super::code::Code;
use super::inst::Pc;
use super::machine::runtime;
use super::native::Member;
use super::world::World;
use crate::engine::{EngineKind, Tiers};
use crate::native::{Delivery, Entry, MachineCode, Native, Order, Unit, is_at_hand};

/// The looks, a millisecond each, that loading the library takes, and beginning with a unit.
const LOADING: usize = 40;
const BEGINNING: usize = 20;

/// The instructions of compact code that LLVM compiles in a millisecond.
const PACE: usize = 2;

/// A loop, by its function and its header.
type Loop = (u32, Pc);

/// The state of the units that better code may be made for.
pub(super) struct Tiering {
    when: Tiers,
    /// By the number of the unit.
    units: RefCell<FxHashMap<u64, Heat>>,
    sender: Sender<Delivery>,
    deliveries: Receiver<Delivery>,
    /// The number of orders that are not delivered.
    pending: Cell<usize>,
    is_cancelled: Arc<AtomicBool>,
    /// True if there is no LLVM.
    is_over: Cell<bool>,
}

impl Drop for Tiering {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        (0..self.pending.get()).try_for_each(|_| self.deliveries.recv().map(drop)).unwrap_or(());
    }
}

/// The looks at a unit.
#[derive(Default)]
struct Heat {
    looks: usize,
    loops: FxHashMap<Loop, usize>,
    /// What was ordered: the loop that it can begin at.
    ordered: Option<Option<Loop>>,
    has_best: bool,
}

impl Tiering {
    pub(super) fn new(when: Tiers) -> Self {
        let (sender, deliveries) = channel();
        Self {
            when,
            units: RefCell::default(),
            sender,
            deliveries,
            pending: Cell::new(0),
            is_cancelled: Arc::default(),
            is_over: Cell::new(false),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Returns whether runs look up whenever they can.
    pub(super) fn is_at_once(&self) -> bool {
        self.when == Tiers::AtOnce
    }

    pub(super) fn forget(&mut self, unit: u64) {
        self.units.get_mut().remove(&unit);
    }

    /// Counts a look at a unit of that size. Returns whether better code is to be ordered.
    fn count(&self, unit: u64, size: usize, at: Option<Loop>) -> bool {
        let mut units = self.units.borrow_mut();
        let heat = units.entry(unit).or_default();
        let loading = if is_at_hand() { 0 } else { LOADING };
        let cost = if self.is_at_once() { 0 } else { loading + BEGINNING + size / PACE };
        heat.looks += 1;
        let looks = match (at, heat.has_best) {
            (Some(at), true) => {
                let looks = heat.loops.entry(at).or_default();
                *looks += 1;
                *looks
            }
            (None, true) => 0,
            (_, false) => heat.looks,
        };
        let is_due = looks > cost && heat.ordered.is_none();
        if is_due {
            heat.ordered = Some(at);
        }
        is_due
    }
}

impl World {
    /// Looks up from code at work, at the header of a loop or where a function begins. Gives the way into better
    /// code at the header.
    #[cold]
    pub(super) fn look_up(&self, code: &Code, header: Option<Pc>) -> Option<Entry> {
        let tiering = self.natives.tiering.as_ref().filter(|tiering| !tiering.is_over())?;
        tiering.deliveries.try_iter().for_each(|delivery| self.install(tiering, delivery));
        let at = header.map(|header| (code.slot, header));
        let found = at.and_then(|at| self.entry_at(at));
        if found.is_some() {
            return found;
        }
        let (number, size) = {
            let units = self.natives.units.borrow();
            let unit = units.iter().find(|unit| unit.members.contains(&code.slot))?;
            (unit.number, unit.size)
        };
        if !tiering.count(number, size, at) {
            return None;
        }
        // A unit that cannot be ordered counts as ordered, and stays as it is.
        let order = self.order(tiering, number, at)?;
        if !order.place() {
            tiering.is_over.set(true);
            return None;
        }
        tiering.pending.update(|pending| pending + 1);
        if tiering.is_at_once()
            && let Ok(delivery) = tiering.deliveries.recv()
        {
            self.install(tiering, delivery);
        }
        at.and_then(|at| self.entry_at(at))
    }

    fn entry_at(&self, at: Loop) -> Option<Entry> {
        let units = self.natives.units.borrow();
        units
            .iter()
            .find_map(|unit| unit.at_loop.filter(|&(there, _)| there == at).map(|(_, entry)| entry))
    }

    /// An order of better code for a unit, which can begin at a loop as well.
    fn order(&self, tiering: &Tiering, number: u64, at: Option<Loop>) -> Option<Order> {
        let members = self.members_of(number)?;
        let (callee, runtime) = (self.callees(&members, false), runtime());
        let mut sources = self.sources(&members, &callee, &runtime, false);
        if let Some((slot, header)) = at {
            let member = members.iter().position(|member| member.code.slot == slot)?;
            let mut source = sources[member];
            source.start = Some(header);
            sources.push(source);
        }
        Some(Order::new(number, &sources, &tiering.sender, &tiering.is_cancelled))
    }

    /// The members of a unit that there is code for.
    fn members_of(&self, number: u64) -> Option<Vec<Member<'_>>> {
        let units = self.natives.units.borrow();
        let unit = units.iter().find(|unit| unit.number == number)?;
        let member = |&slot: &u32| self.optimized(self.slot(slot).code.get()?);
        unit.members.iter().map(member).collect()
    }

    /// Lets calls run the code of a delivery. It is of no use if the unit is gone.
    fn install(&self, tiering: &Tiering, Delivery { unit, code }: Delivery) {
        tiering.pending.update(|pending| pending - 1);
        let mut heats = tiering.units.borrow_mut();
        let Some(heat) = heats.get_mut(&unit) else { return };
        let at = heat.ordered.take().flatten();
        heat.has_best = true;
        let Some((code, compiled)) = code else {
            // It would be refused again.
            heat.ordered = Some(None);
            tiering.is_over.set(!is_at_hand());
            return;
        };
        let code: Rc<dyn MachineCode> = Rc::from(code as Box<dyn MachineCode>);
        let mut units = self.natives.units.borrow_mut();
        let Some(before) = units.iter().find(|before| before.number == unit) else { return };
        let (members, callees) = (before.members.clone(), before.callees.clone());
        for (&slot, &compiled) in members.iter().zip(&compiled) {
            if let Some(code) = self.slot(slot).code.get() {
                code.native.set(Native::Ready(compiled));
                code.body.set(compiled.body);
            }
        }
        let at_loop = at.zip(compiled.get(members.len()).map(|compiled| compiled.entry));
        let (number, size) = (self.natives.next_unit(), before.size);
        let by = EngineKind::Llvm;
        units.push(Unit { number, members, callees, by, size, at_loop, _code: code });
    }
}
