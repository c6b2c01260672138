//! Makes code while other code runs.
//!
//! One thread of the process does it, from the first order on. It loads the library first, so nobody else waits for that.
//! LLVM must not be taken down beneath it when the process ends: whoever has ordered code waits for it before it goes, unless
//! nobody has begun with it. Who ends the process meanwhile waits too, but for the time in which the library is loaded: a program that
//! keeps its sessions to the end says before that nobody wants code any more ([`allow_background_code`]).

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use super::super::context::Compiled;
use super::super::source::Source;
use super::super::unit::MachineCode;
use super::Llvm;
use super::shared::Style;
use super::text::{UnitText, write_unit};

/// A unit that code is wanted for.
pub(crate) struct Order {
    unit: u64,
    text: UnitText,
    reply: Sender<Delivery>,
    /// True if nobody waits for it any more.
    is_cancelled: Arc<AtomicBool>,
}

// SAFETY: what keeps it from being one are the addresses of functions of ours, which every thread may call.
unsafe impl Send for Order {}

/// The code of a unit, in the order of its sources.
pub(crate) struct Delivery {
    /// The number that the unit was ordered by.
    pub(crate) unit: u64,
    /// Nothing if LLVM is not there, or refuses the unit.
    pub(crate) code: Option<(Box<dyn MachineCode + Send>, Vec<Compiled>)>,
}

/// The number of the next unit of all.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// True once the library is loaded.
static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// Held while LLVM is at work.
static AT_WORK: Mutex<()> = Mutex::new(());

/// True while nobody wants code.
static IS_PAUSED: AtomicBool = AtomicBool::new(false);

/// Lets better code be made while other code runs, as it is at first, or keeps it from being made: then nobody is at work with
/// LLVM when this returns. A process that ends while LLVM is loaded in the background may crash, so that a program which does not
/// drop its sessions calls this before it ends.
pub fn allow_background_code(is_allowed: bool) {
    IS_PAUSED.store(!is_allowed, Ordering::Relaxed);
    drop(lock());
}

/// Returns whether code can be made without loading the library first.
pub(crate) fn is_at_hand() -> bool {
    IS_LOADED.load(Ordering::Relaxed)
}

impl Order {
    pub(crate) fn new(
        unit: u64,
        members: &[Source<'_>],
        reply: &Sender<Delivery>,
        is_cancelled: &Arc<AtomicBool>,
    ) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let text = write_unit(members, Style { unit: Some(number), ..Style::default() });
        Self { unit, text, reply: reply.clone(), is_cancelled: Arc::clone(is_cancelled) }
    }

    /// Has another thread fill it. Returns whether there is one.
    pub(crate) fn place(self) -> bool {
        static ORDERS: OnceLock<Option<Sender<Order>>> = OnceLock::new();
        let orders = ORDERS.get_or_init(|| {
            let (sender, receiver) = channel();
            let thread = thread::Builder::new().name("regraft-llvm".to_owned());
            thread.spawn(move || fill_all(&receiver)).is_ok().then_some(sender)
        });
        orders.as_ref().is_some_and(|orders| orders.send(self).is_ok())
    }
}

/// Fills orders as long as any can come.
fn fill_all(orders: &Receiver<Order>) {
    let mut llvm = None;
    for Order { unit, text, reply, is_cancelled } in orders {
        let at_work = lock();
        let is_wanted = !is_cancelled.load(Ordering::Relaxed) && !IS_PAUSED.load(Ordering::Relaxed);
        if is_wanted && llvm.is_none() {
            let loaded = llvm.insert(Llvm::new().ok());
            IS_LOADED.store(loaded.is_some(), Ordering::Relaxed);
        }
        let wanted = llvm.as_ref().and_then(Option::as_ref).filter(|_| is_wanted);
        // Whoever waits gets an answer in any case.
        let make = |llvm: &Llvm| catch_unwind(AssertUnwindSafe(|| llvm.make(&text).ok()));
        let made = wanted.and_then(|llvm| make(llvm).ok().flatten());
        if wanted.is_some() {
            // SAFETY: the function may be called when the process ends. What LLVM has registered so far is called
            // after it.
            unsafe { atexit(wait_for_the_last) };
        }
        let code = made.map(|(memory, compiled)| {
            let memory: Box<dyn MachineCode + Send> = Box::new(memory);
            (memory, compiled)
        });
        // Whoever has ordered it may be gone; then the code goes here, while LLVM is there.
        let _ = reply.send(Delivery { unit, code });
        drop(at_work);
    }
}

fn lock() -> MutexGuard<'static, ()> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" {
    /// C's own.
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// Waits for the code that is being made, and keeps any more from being begun.
extern "C" fn wait_for_the_last() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    if !IS_OVER.swap(true, Ordering::Relaxed) {
        std::mem::forget(lock());
    }
}
