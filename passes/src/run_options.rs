//! The options of a run of a pipeline.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use regraft_ir::Symbol;

use crate::instrument::{Observer, Verify};

/// More threads than that gain nothing, and a system can refuse them by ending the process.
const MAX_THREADS: usize = 256;

/// The options of a run of a pipeline. The default verifies after every pass, uses all threads
/// there are, prints nothing and writes no file.
///
/// ```
/// use regraft_passes::{PrintAfter, PrintWhat, RunOptions};
///
/// let options = RunOptions::default().observe(PrintAfter::new(PrintWhat::Diff));
/// ```
pub struct RunOptions {
    /// True if the input and the changes of each pass are verified.
    pub verify: bool,
    /// The number of threads; `None` for those of the present rayon pool.
    pub threads: Option<usize>,
    /// The folder for the reproducer of a failure; `None` to write none. It is in the
    /// [`Failure`](crate::Failure) in any case.
    pub reproducer_folder: Option<PathBuf>,
    /// The command that the head of a reproducer names.
    pub tool: String,
    /// Takes the output of observers and passes while it is printed; `None` to collect it
    /// in [`Report::text`](crate::Report).
    pub writer: Option<Mutex<Box<dyn Write + Send>>>,
    /// The only function that is needed in the end; `None` if all are.
    pub(crate) needed: Option<Symbol>,
    /// True if passes are to say why they replace values, in
    /// [`Report::explanations`](crate::Report).
    pub explain: bool,
    verifier: Verify,
    observers: Vec<Box<dyn Observer>>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            verify: true,
            threads: None,
            reproducer_folder: None,
            tool: "regraft".to_owned(),
            writer: None,
            needed: None,
            explain: false,
            verifier: Verify::default(),
            observers: Vec::new(),
        }
    }
}

impl RunOptions {
    /// Adds an observer. Observers are called in the order in which they were added.
    #[must_use]
    pub fn observe(mut self, observer: impl Observer + 'static) -> Self {
        self.observers.push(Box::new(observer));
        self
    }

    /// Says that only this function is needed in the end. Behind the last pass of the pipeline that works on the module
    /// as a whole, such as `inline`, the others stay as they are.
    #[must_use]
    pub fn only(mut self, function: Symbol) -> Self {
        self.needed = Some(function);
        self
    }

    /// Limits the number of threads. There are never more than 256.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.clamp(1, MAX_THREADS));
        self
    }

    /// Writes the reproducer of a failure into `folder`.
    #[must_use]
    pub fn reproducer_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.reproducer_folder = Some(folder.into());
        self
    }

    /// Names the command in the head of a reproducer, `regraft` at first.
    #[must_use]
    pub fn tool(mut self, name: &str) -> Self {
        name.clone_into(&mut self.tool);
        self
    }

    /// Says whether to verify.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Asks passes to say why they replace values.
    #[must_use]
    pub fn explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// Writes what is printed to `writer` while the pipeline runs.
    #[must_use]
    pub fn writer(mut self, writer: impl Write + Send + 'static) -> Self {
        self.writer = Some(Mutex::new(Box::new(writer)));
        self
    }

    /// The observers in the order of their calls: those that look at anything, the verifier,
    /// those that need what is valid.
    pub(crate) fn observers_in_order(&self) -> Vec<&dyn Observer> {
        let (valid, any): (Vec<&dyn Observer>, Vec<&dyn Observer>) =
            self.observers.iter().map(|o| &**o).partition(|o| o.needs_valid());
        let verifier = self.verify.then_some(&self.verifier as &dyn Observer);
        any.into_iter().chain(verifier).chain(valid).collect()
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("verify", &self.verify)
            .field("threads", &self.threads)
            .field("reproducer_folder", &self.reproducer_folder)
            .field("tool", &self.tool)
            .field("writer", &self.writer.as_ref().map(|_| ".."))
            .field("explain", &self.explain)
            .field("observers", &self.observers)
            .finish_non_exhaustive()
    }
}
