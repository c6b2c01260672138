//! Turns a panic of a pass into a value, with its message and place.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// A panic that was caught.
#[derive(Clone, Debug)]
pub struct Caught {
    /// The message of the panic.
    pub message: String,
    /// The line of Rust that panicked, if it is known.
    pub place: Option<String>,
}

thread_local! {
    /// The number of guards that this thread is inside of.
    static GUARDS: Cell<u32> = const { Cell::new(0) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`, and gives back its panic instead of letting it through.
///
/// The first call wraps the panic hook of the process, so that panics inside of a guard are
/// not printed: they become an error message. All other panics go to the hook that was there.
pub fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, Caught> {
    install_hook();
    GUARDS.with(|guards| guards.set(guards.get() + 1));
    // What `work` touched is restored from a copy, or thrown away, by the caller.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDS.with(|guards| guards.set(guards.get() - 1));
    result.map_err(|payload| Caught {
        message: message_of(&*payload),
        place: PLACE.with(|place| place.borrow_mut().take()),
    })
}

fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let outer = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // Reading a thread local while its thread is torn down must not panic again.
            if GUARDS.try_with(Cell::get).unwrap_or(0) == 0 {
                outer(info);
                return;
            }
            let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
            let _ = PLACE.try_with(|slot| *slot.borrow_mut() = place);
        }));
    });
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_its_message_and_place() {
        let caught = guarded(|| panic!("out of {}", "luck")).expect_err("it panics");
        assert_eq!(caught.message, "out of luck");
        assert!(caught.place.expect("there is a place").contains("panic_guard.rs:"));
    }

    #[test]
    fn without_a_panic_the_result_comes_through() {
        assert_eq!(guarded(|| 7).expect("no panic"), 7);
    }
}
