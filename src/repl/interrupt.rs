//! Ctrl-C while something runs: the signal sets the flag of what runs, and kills nobody.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;
use signal_hook::{SigId, flag, low_level};

/// Sets a flag when the user presses Ctrl-C, as long as it lives.
#[derive(Debug)]
pub(crate) struct Interruptible(Option<SigId>);

impl Interruptible {
    /// If the signal cannot be caught, it ends the process, as it does by default.
    pub(crate) fn new(flag: Arc<AtomicBool>) -> Self {
        Self(flag::register(SIGINT, flag).ok())
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            low_level::unregister(id);
        }
    }
}
