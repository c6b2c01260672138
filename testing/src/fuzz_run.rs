//! Many cases of a [`Fuzzer`], on several threads.
//!
//! Cases run in batches of a fixed size. Each case of a batch knows what the batches before have
//! found, and what a batch finds is put together in the order of the cases. So finds and tally
//! are the same for any number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::fuzz::{Find, Fuzzer, Tally};

/// The number of cases in a batch.
const BATCH: u64 = 64;
/// The bytes of stack of a thread; pages are taken only if they are used.
const STACK: usize = 256 << 20;

/// A run of a [`Fuzzer`] from one case on.
#[derive(Debug)]
pub struct FuzzRun {
    fuzzer: Fuzzer,
    pool: ThreadPool,
    next: u64,
    tally: Tally,
    finds: Vec<Find>,
}

impl FuzzRun {
    /// A run of the cases from number `from` on, on `threads` threads (0 for as many as the
    /// machine runs at once).
    ///
    /// # Errors
    /// If the system refuses the threads.
    pub fn new(fuzzer: Fuzzer, from: u64, threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build()?;
        Ok(Self { fuzzer, pool, next: from, tally: Tally::default(), finds: Vec::new() })
    }

    /// Returns the counts of the cases so far that found nothing wrong; the others are counted as cases.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the finds, in the order of the cases.
    pub fn finds(&self) -> &[Find] {
        &self.finds
    }

    /// The number of the next case.
    pub fn next_case(&self) -> u64 {
        self.next
    }

    /// Runs the next cases, up to the one before `end`, and gives what they found that was not
    /// found before. Cases after the one that is find number `most` are left out. When somebody
    /// sets `stop`, cases that have not begun are left for later.
    pub fn batch(&mut self, end: u64, most: usize, stop: &AtomicBool) -> &[Find] {
        let numbers = self.next..end.min(self.next.saturating_add(BATCH));
        let (fuzzer, known) = (&self.fuzzer, &self.finds[..]);
        let run = |number: u64| match stop.load(Ordering::Relaxed) {
            true => None,
            false => Some(fuzzer.case(number, known)),
        };
        let results: Vec<_> = self.pool.install(|| numbers.into_par_iter().map(run).collect());
        let before = self.finds.len();
        for result in results {
            let Some(result) = result.filter(|_| self.finds.len() < most) else { break };
            self.next += 1;
            match result {
                Ok(tally) => self.tally.add(tally),
                Err(find) => {
                    let repeated = self.finds.iter().any(|known| find.is_like(known));
                    let counts = Tally { cases: 1, repeated: repeated.into(), ..Tally::default() };
                    self.tally.add(counts);
                    if !repeated {
                        self.finds.push(*find);
                    }
                }
            }
        }
        &self.finds[before..]
    }
}
