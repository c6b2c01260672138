//! Asks runs of native code to look up, a thousand times a second.
//!
//! One thread of the process does it. It sleeps while nothing runs, until a run wakes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::Duration;

use super::context::NativeContext;

/// The time between two ticks.
const PERIOD: Duration = Duration::from_millis(1);

/// After so many ticks without a run the thread sleeps.
const IDLE: u32 = 50;

/// The contexts of the runs that are asked.
static WATCHED: Mutex<Vec<Weak<NativeContext>>> = Mutex::new(Vec::new());

static IS_ASLEEP: AtomicBool = AtomicBool::new(false);

/// Has runs on a context be asked from now on, as long as it exists.
pub(crate) fn watch(context: &Arc<NativeContext>) {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(context));
    wake();
}

/// Wakes the thread for a run that begins. A look at a flag, if it is awake.
#[inline]
pub(crate) fn note_run() {
    if IS_ASLEEP.load(Ordering::Relaxed) {
        wake();
    }
}

#[cold]
fn wake() {
    static TICKER: OnceLock<Option<Thread>> = OnceLock::new();
    let ticker = TICKER.get_or_init(|| {
        let ticker = thread::Builder::new().name("regraft-ticker".to_owned()).spawn(tick);
        // Without it programs run as well, in the code that they have.
        ticker.ok().map(|ticker| ticker.thread().clone())
    });
    IS_ASLEEP.store(false, Ordering::Relaxed);
    if let Some(ticker) = ticker {
        ticker.unpark();
    }
}

fn tick() {
    let mut idle = 0;
    loop {
        thread::sleep(PERIOD);
        idle += 1;
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|context| {
            let Some(context) = context.upgrade() else { return false };
            if context.ask() {
                idle = 0;
            }
            context.is_watched.load(Ordering::Relaxed)
        });
        drop(watched);
        if idle > IDLE {
            idle = 0;
            IS_ASLEEP.store(true, Ordering::Relaxed);
            thread::park();
            IS_ASLEEP.store(false, Ordering::Relaxed);
        }
    }
}
