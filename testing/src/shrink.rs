//! Makes a sequence of choices simpler as long as what it stands for keeps failing.
//!
//! The search is one of passes over the sequence: leave out a span, put a span in place of the
//! one around it, leave out a few numbers, turn a span to zeros, make one number smaller. A
//! success is kept and the pass goes on from there; the search ends when a whole round of
//! passes finds nothing, or after a number of attempts. Every step leaves fewer numbers that
//! are not zero, or as many in a shorter sequence, or in one that is as long and smaller, so
//! that the search always ends.
//!
//! ```
//! use regraft_testing::shrink::Shrinker;
//!
//! // A sequence fails if it holds a number of at least 10.
//! let mut search = Shrinker::new(vec![3, 40, 7], Vec::new(), 1_000);
//! while let Some(numbers) = search.candidate() {
//!     if numbers.iter().any(|&number| number >= 10) {
//!         search.accept(numbers, Vec::new());
//!     }
//! }
//! assert_eq!(search.best(), [10]);
//! ```

use crate::choices::Span;

/// The search, as a machine that proposes candidates and is told how they fared.
#[derive(Clone, Debug)]
pub struct Shrinker {
    best: Vec<u32>,
    spans: Vec<Span>,
    pass: Pass,
    /// The position of the pass; its meaning depends on the pass. Passes walk from the end to the
    /// start: what is late in the sequence depends on less.
    at: usize,
    /// True if this round of passes has found anything.
    improved: bool,
    attempts_left: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pass {
    DropSpan,
    /// A span is replaced by one that lies in it.
    Hoist,
    DropRun(usize),
    ZeroSpan,
    Zero,
    Halve,
    Decrement,
    Done,
}

/// The number of spans in a span that are tried in its place.
const HOISTED: usize = 6;

impl Pass {
    const FIRST: Self = Self::DropSpan;

    fn next(self) -> Option<Self> {
        Some(match self {
            Self::DropSpan => Self::Hoist,
            Self::Hoist => Self::DropRun(8),
            Self::DropRun(1) => Self::ZeroSpan,
            Self::DropRun(length) => Self::DropRun(length / 2),
            Self::ZeroSpan => Self::Zero,
            Self::Zero => Self::Halve,
            Self::Halve => Self::Decrement,
            Self::Decrement | Self::Done => return None,
        })
    }
}

impl Shrinker {
    /// A search from a failing sequence, of at most `attempts` candidates.
    pub fn new(numbers: Vec<u32>, spans: Vec<Span>, attempts: u32) -> Self {
        let mut shrinker = Self {
            best: numbers,
            spans,
            pass: Pass::FIRST,
            at: 0,
            improved: false,
            attempts_left: attempts,
        };
        shrinker.normalise();
        shrinker.start(Pass::FIRST);
        shrinker
    }

    /// The simplest sequence so far.
    pub fn best(&self) -> &[u32] {
        &self.best
    }

    /// Something simpler than the best so far, if there is anything left to try.
    pub fn candidate(&mut self) -> Option<Vec<u32>> {
        loop {
            if self.pass == Pass::Done || self.attempts_left == 0 {
                self.pass = Pass::Done;
                return None;
            }
            if self.at == 0 {
                self.next_pass();
                continue;
            }
            self.at -= 1;
            if let Some(candidate) = self.propose() {
                self.attempts_left -= 1;
                return Some(candidate);
            }
        }
    }

    /// The last candidate fails too: it is the best from now on. `numbers` and `spans` are what
    /// was drawn from it, which may be less than it had.
    pub fn accept(&mut self, numbers: Vec<u32>, spans: Vec<Span>) {
        fn key(numbers: &[u32]) -> (usize, usize, &[u32]) {
            (numbers.iter().filter(|&&number| number != 0).count(), numbers.len(), numbers)
        }
        if key(&numbers) >= key(&self.best) {
            return;
        }
        self.best = numbers;
        self.spans = spans;
        self.normalise();
        self.improved = true;
        // The same place again for what can be taken more than once.
        let again = match self.pass {
            Pass::Halve | Pass::Decrement => self.at + 1,
            _ => self.at,
        };
        self.at = again.min(self.places());
    }

    fn normalise(&mut self) {
        while self.best.last() == Some(&0) {
            self.best.pop();
        }
        let len = self.best.len() as u32;
        self.spans.retain(|span| span.start < len);
        for span in &mut self.spans {
            span.end = span.end.min(len);
        }
        // The walk is from the end of this list: the longest spans come first.
        self.spans.sort_unstable_by_key(|span| (span.end - span.start, span.start));
        self.spans.dedup();
    }

    fn places(&self) -> usize {
        match self.pass {
            Pass::DropSpan | Pass::ZeroSpan => self.spans.len(),
            Pass::Hoist => self.spans.len() * HOISTED,
            _ => self.best.len(),
        }
    }

    fn start(&mut self, pass: Pass) {
        self.pass = pass;
        self.at = self.places();
    }

    fn next_pass(&mut self) {
        match self.pass.next() {
            Some(pass) => self.start(pass),
            None if self.improved => {
                self.improved = false;
                self.start(Pass::FIRST);
            }
            None => self.pass = Pass::Done,
        }
    }

    /// Returns the choices that the pass proposes at this place, if they are new.
    fn propose(&self) -> Option<Vec<u32>> {
        let at = self.at;
        let mut new = self.best.clone();
        match self.pass {
            Pass::DropSpan => {
                let span = self.spans[at];
                new.drain(span.start as usize..span.end as usize);
            }
            Pass::Hoist => {
                let outer = self.spans[at / HOISTED];
                // Spans are ordered by length: the largest inside are the nearest before.
                let inside = |span: &&Span| {
                    span.start >= outer.start && span.end <= outer.end && **span != outer
                };
                let inner = self.spans[..at / HOISTED].iter().rev().filter(inside);
                let inner = *inner.clone().nth(at % HOISTED)?;
                new.drain(inner.end as usize..outer.end as usize);
                new.drain(outer.start as usize..inner.start as usize);
            }
            Pass::DropRun(length) => {
                if at + length > new.len() {
                    return None;
                }
                new.drain(at..at + length);
            }
            Pass::ZeroSpan => {
                let span = self.spans[at];
                let part = &mut new[span.start as usize..span.end as usize];
                if part.iter().filter(|&&number| number != 0).count() < 2 {
                    return None;
                }
                part.fill(0);
            }
            Pass::Zero | Pass::Halve | Pass::Decrement => {
                let number = new[at];
                let least = match self.pass {
                    Pass::Zero => 1,
                    Pass::Halve => 4,
                    _ => 2,
                };
                // Wide numbers would be counted down for ever; halving has done what it can.
                let counted_down = self.pass == Pass::Decrement && number > 64;
                if number < least || counted_down {
                    return None;
                }
                new[at] = match self.pass {
                    Pass::Zero => 0,
                    Pass::Halve => number / 2,
                    _ => number - 1,
                };
            }
            Pass::Done => return None,
        }
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrink(start: Vec<u32>, fails: impl Fn(&[u32]) -> bool) -> Vec<u32> {
        assert!(fails(&start));
        let mut shrinker = Shrinker::new(start, Vec::new(), 100_000);
        while let Some(candidate) = shrinker.candidate() {
            if fails(&candidate) {
                shrinker.accept(candidate, Vec::new());
            }
        }
        shrinker.best().to_vec()
    }

    #[test]
    fn finds_the_shortest_and_smallest() {
        let start: Vec<u32> = (0..300).map(|i| i * 7919 % 1000).collect();
        assert_eq!(shrink(start.clone(), |s| s.iter().any(|&n| n >= 37)), [37]);
        assert_eq!(shrink(start, |s| s.iter().filter(|&&n| n >= 5).count() >= 3), [5, 5, 5]);
    }

    #[test]
    fn ends_when_everything_fails() {
        assert!(shrink(vec![9; 50], |_| true).is_empty());
    }

    #[test]
    fn ends_when_nothing_simpler_fails() {
        let start = vec![3, 1, 4, 1, 5];
        assert_eq!(shrink(start.clone(), |s| s == start), start);
    }

    #[test]
    fn a_span_goes_as_a_whole() {
        let spans = vec![Span { start: 1, end: 41 }];
        let mut shrinker = Shrinker::new(vec![1; 42], spans, 1);
        // Of 40 numbers only all or none can go, and there is one attempt.
        let candidate = shrinker.candidate().unwrap();
        assert_eq!(candidate, [1, 1]);
        shrinker.accept(candidate, Vec::new());
        assert_eq!(shrinker.best(), [1, 1]);
        assert_eq!(shrinker.candidate(), None);
    }
}
