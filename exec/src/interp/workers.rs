//! Threads that run chunks for a program on another thread.
//!
//! # Method
//! A worker has an interpreter of its own for each [`Kernel`], made from a module of the function and all that
//! it calls, so that it shares no code, no values and no caches with the program; only the elements of arrays
//! are the same memory ([`Parcel`]). Workers stay for the next time, each with the interpreters that it used last.
//!
//! # Why it is right
//! A [`Job`] is open from when it is offered until [`OpenJob::close`] or the drop of that, which wait for the workers
//! that have begun it. A worker that comes later finds it closed and does not look at it. So what was lent is there
//! for as long as anybody uses it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use regraft_ir::{Module, Symbol};

use super::Interpreter;
use crate::engine::{Engine, EngineKind, Limits};
use crate::error::ErrorKind;
use crate::value::{Parcel, Val};

/// The interpreters that a worker keeps.
const KEPT: usize = 16;
/// The stack of a worker, in bytes.
const STACK: usize = 16 << 20;

/// A function that workers run, with all that it calls.
#[derive(Debug)]
pub(super) struct Kernel {
    number: usize,
    module: Module,
    name: Symbol,
    engine: EngineKind,
}

impl Kernel {
    /// The function of that name of a module that calls no other functions.
    pub(super) fn new(module: Module, name: Symbol, engine: EngineKind) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), module, name, engine }
    }
}

/// Chunks that threads share.
#[derive(Debug)]
pub(super) struct Job {
    kernel: Arc<Kernel>,
    args: Parcel,
    count: usize,
    next: AtomicUsize,
    has_failed: AtomicBool,
    limits: Limits,
    interrupt: Arc<AtomicBool>,
    state: Mutex<JobState>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct JobState {
    is_closed: bool,
    /// The workers that are at work on it.
    active: usize,
    answers: Vec<Answer>,
}

/// The end of a chunk that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) chunk: usize,
    pub(super) kind: ErrorKind,
    pub(super) message: String,
}

/// The results of a worker.
#[derive(Debug)]
pub(super) struct Answer {
    /// The chunks that it ran, counted from 0, in the order of the results.
    pub(super) chunks: Vec<usize>,
    pub(super) parcel: Parcel,
    /// The chunk that failed, and why.
    pub(super) failed: Option<Failure>,
}

impl Job {
    /// The chunks of a kernel from 1 to `count`, with these arguments before the number. Each worker keeps the
    /// limits, and stops when `interrupt` is set.
    pub(super) fn new(
        kernel: Arc<Kernel>,
        args: Parcel,
        count: usize,
        limits: Limits,
        interrupt: Arc<AtomicBool>,
    ) -> Self {
        let next = AtomicUsize::new(0);
        let (has_failed, state, left) = (AtomicBool::new(false), Mutex::default(), Condvar::new());
        Self { kernel, args, count, next, has_failed, limits, interrupt, state, left }
    }

    /// The next chunk that nobody has taken, counted from 0; none after a failure.
    pub(super) fn take(&self) -> Option<usize> {
        if self.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        let chunk = self.next.fetch_add(1, Ordering::Relaxed);
        (chunk < self.count).then_some(chunk)
    }

    /// No more chunks are taken.
    pub(super) fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker begins; `false` if it comes too late.
    fn enter(&self) -> bool {
        let mut state = self.state();
        if state.is_closed || self.next.load(Ordering::Relaxed) >= self.count {
            return false;
        }
        state.active += 1;
        true
    }

    fn leave(&self, answer: Option<Answer>) {
        let mut state = self.state();
        state.active -= 1;
        state.answers.extend(answer);
        drop(state);
        self.left.notify_all();
    }

    fn close(&self) -> Vec<Answer> {
        let mut state = self.state();
        state.is_closed = true;
        while state.active > 0 {
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut state.answers)
    }
}

/// A job that workers may be at work on.
pub(super) struct OpenJob(Arc<Job>);

impl OpenJob {
    /// Offers a job to so many workers.
    pub(super) fn new(job: Job, workers: usize) -> Self {
        let job = Arc::new(job);
        offer(&job, workers);
        Self(job)
    }

    /// Waits for the workers that have begun; no other begins.
    pub(super) fn close(self) -> Vec<Answer> {
        self.0.close()
    }
}

impl std::ops::Deref for OpenJob {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.0
    }
}

impl Drop for OpenJob {
    fn drop(&mut self) {
        self.0.fail();
        self.0.close();
    }
}

static WORKERS: Mutex<Vec<Sender<Arc<Job>>>> = Mutex::new(Vec::new());

/// Offers a job to the first so many workers, which are made if they are not there. With fewer, the others have
/// more to do.
fn offer(job: &Arc<Job>, count: usize) {
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    while workers.len() < count {
        let (sender, receiver) = channel();
        let builder = std::thread::Builder::new().name("regraft worker".to_owned());
        if builder.stack_size(STACK).spawn(move || work(&receiver)).is_err() {
            break;
        }
        workers.push(sender);
    }
    for worker in workers.iter().take(count) {
        // A worker never ends while somebody may send to it.
        let _ = worker.send(Arc::clone(job));
    }
}

fn work(jobs: &Receiver<Arc<Job>>) {
    let kept = RefCell::new(Vec::new());
    while let Ok(job) = jobs.recv() {
        if !job.enter() {
            continue;
        }
        let mut taken = None;
        let answer = catch_unwind(AssertUnwindSafe(|| run(&job, &kept, &mut taken)));
        let answer = answer.unwrap_or_else(|_| {
            job.fail();
            let message = "a worker has stopped".to_owned();
            let failed = taken.map(|chunk| Failure { chunk, kind: ErrorKind::Thrown, message });
            Some(Answer { chunks: Vec::new(), parcel: Parcel::default(), failed })
        });
        job.leave(answer);
    }
}

/// An interpreter for the kernel of that number.
struct Kept {
    number: usize,
    interpreter: Interpreter,
    slot: u32,
}

/// Runs chunks of a job until there are no more. `taken` is the chunk at work.
fn run(job: &Job, kept: &RefCell<Vec<Kept>>, taken: &mut Option<usize>) -> Option<Answer> {
    let mut it = take_interpreter(job, kept)?;
    let ctx = Arc::clone(it.interpreter.ctx());
    it.interpreter.set_limits(job.limits);
    it.interpreter.set_interrupt_flag(Arc::clone(&job.interrupt));
    // SAFETY: the job is open until this worker has left it, and whoever offers it waits; the program says
    // that chunks do not meet.
    #[allow(unsafe_code)]
    let unpacked = unsafe { job.args.unpack(&ctx) }?;
    let (mut chunks, mut results, mut failed) = (Vec::new(), Vec::new(), None);
    let mut args = unpacked.roots.clone();
    args.push(Val::Unit);
    while let Some(chunk) = job.take() {
        *taken = Some(chunk);
        if let Some(last) = args.last_mut() {
            *last = Val::I64(chunk as i64 + 1);
        }
        match it.interpreter.call_part(it.slot, &args) {
            Ok(value) => {
                chunks.push(chunk);
                results.push(value);
            }
            Err(error) => {
                job.fail();
                let (kind, message) = (error.kind().clone(), error.message());
                failed = Some(Failure { chunk, kind, message });
            }
        }
    }
    drop(args);
    let parcel = job.args.answer(&ctx, &unpacked, &results).unwrap_or_default();
    drop(results);
    drop(unpacked);
    let mut kept = kept.borrow_mut();
    kept.push(it);
    if kept.len() > KEPT {
        kept.remove(0);
    }
    Some(Answer { chunks, parcel, failed })
}

/// Takes the interpreter for the kernel of a job, which is made if there is none.
fn take_interpreter(job: &Job, kept: &RefCell<Vec<Kept>>) -> Option<Kept> {
    let kernel = &job.kernel;
    let mut kept = kept.borrow_mut();
    if let Some(at) = kept.iter().position(|it| it.number == kernel.number) {
        return Some(kept.remove(at));
    }
    let mut interpreter = Interpreter::new(&kernel.module);
    interpreter.set_engine(kernel.engine).ok()?;
    let slot = interpreter.prepare(kernel.name).ok()?;
    Some(Kept { number: kernel.number, interpreter, slot })
}
