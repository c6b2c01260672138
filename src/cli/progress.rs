//! The progress of a long command, on the terminal, and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use signal_hook::consts::SIGINT;
use signal_hook::{SigId, flag, low_level};

use super::output::report;
use regraft_ir::Diagnostic;

/// A bar on the standard error, if that is a terminal. While it lives, Ctrl-C asks the command to
/// come to an end; a second one ends the process.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
    signals: Vec<SigId>,
}

impl Progress {
    /// Of `total` things to be done, which `what` names; of an unknown number if there is none.
    pub(super) fn new(total: Option<u64>, what: &str) -> Self {
        let template = match total {
            Some(_) => "{elapsed} {wide_bar} {pos}/{len} WHAT {msg}",
            None => "{elapsed} {spinner} {pos} WHAT {wide_msg}",
        };
        let style = ProgressStyle::with_template(&template.replace("WHAT", what));
        let bar = ProgressBar::no_length().with_style(style.expect("the template is right"));
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        let stop = Arc::new(AtomicBool::new(false));
        // The second signal finds the flag set, and does what it does by default. Where signals
        // cannot be caught, the first one does.
        let again = flag::register_conditional_default(SIGINT, Arc::clone(&stop));
        let first = flag::register(SIGINT, Arc::clone(&stop));
        Self { bar, stop, signals: again.into_iter().chain(first).collect() }
    }

    /// Shows that so much is done.
    pub(super) fn set(&self, done: u64, message: String) {
        self.bar.set_position(done);
        self.bar.set_message(message);
    }

    /// The flag that Ctrl-C sets.
    pub(super) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Returns whether Ctrl-C was pressed.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A handle for what shows progress elsewhere.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Writes diagnostics above the bar.
    pub(super) fn report(&self, diagnostics: &[Diagnostic]) {
        self.bar.suspend(|| report(diagnostics));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        for &id in &self.signals {
            low_level::unregister(id);
        }
    }
}
