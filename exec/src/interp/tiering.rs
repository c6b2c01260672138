//! The looks at units of native code, and the orders of better code for them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use rustc_hash::FxHashMap;

use crate::engine::Tiers;
use crate::native::{Delivery, Loop, Order, is_at_hand};

/// The looks, a millisecond each, that loading the library takes, and beginning with a unit.
const LOADING: usize = 40;
const BEGINNING: usize = 20;

/// The instructions of compact code that LLVM compiles in a millisecond.
const PACE: usize = 2;

/// The state of the units that better code may be made for.
pub(super) struct Tiering {
    when: Tiers,
    /// By the number of the unit.
    units: RefCell<FxHashMap<u64, Heat>>,
    pub(super) sender: Sender<Delivery>,
    deliveries: Receiver<Delivery>,
    /// The number of orders that are not delivered.
    pending: Cell<usize>,
    pub(super) is_cancelled: Arc<AtomicBool>,
    /// True if there is no LLVM.
    is_over: Cell<bool>,
}

impl Drop for Tiering {
    /// Waits for what was ordered, if somebody has begun with it.
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
    /// The loop that code on order can begin at; `Some` if code is on order.
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
    pub(super) fn count(&self, unit: u64, size: usize, at: Option<Loop>) -> bool {
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

    /// Places an order. Nobody fills any more if that fails.
    pub(super) fn place(&self, order: Order) -> bool {
        let is_placed = order.place();
        self.pending.update(|pending| pending + usize::from(is_placed));
        self.is_over.set(!is_placed);
        is_placed
    }

    /// Takes the deliveries since the last call. If better code is to be taken at once, it waits for all that are on order.
    pub(super) fn delivered(&self) -> Vec<Delivery> {
        let mut delivered: Vec<Delivery> = self.deliveries.try_iter().collect();
        while self.is_at_once()
            && self.pending.get() > delivered.len()
            && let Ok(delivery) = self.deliveries.recv()
        {
            delivered.push(delivery);
        }
        self.pending.update(|pending| pending - delivered.len());
        delivered
    }

    /// Notes that the order for a unit is filled, or refused. Gives the loop that the code can begin at; nothing if the
    /// unit is gone.
    pub(super) fn settle(&self, unit: u64, is_filled: bool) -> Option<Option<Loop>> {
        let mut units = self.units.borrow_mut();
        let heat = units.get_mut(&unit)?;
        heat.has_best = true;
        if is_filled {
            return Some(heat.ordered.take().flatten());
        }
        // It stays ordered, as it would be refused again.
        self.is_over.set(!is_at_hand());
        Some(None)
    }
}
