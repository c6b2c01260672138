//! The decisions of a generator as a sequence of small numbers.
//!
//! A generator that draws every decision from a [`Choices`] can be run again from the numbers
//! that were drawn, and a *simpler* case comes out of a shorter or smaller sequence: this is
//! how cases shrink without the generator knowing about it (the idea of Hypothesis; MacIver and
//! Donaldson, "Test-case reduction via test-case generation", ECOOP 2020). So that it works
//! well, zero stands for the simplest decision everywhere, lists are drawn as "one more?"
//! flags, and what belongs together is marked as a [span](Choices::span).
//!
//! ```
//! use regraft_testing::choices::Choices;
//!
//! let mut drawn = Choices::from_seed(1);
//! let numbers: Vec<usize> = (0..5).map(|_| drawn.below(10)).collect();
//! let mut again = Choices::replay(drawn.taken().to_vec());
//! assert_eq!(numbers, (0..5).map(|_| again.below(10)).collect::<Vec<_>>());
//! ```

/// A source of decisions, which remembers what it gave.
#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    taken: Vec<u32>,
    spans: Vec<Span>,
}

#[derive(Clone, Debug)]
enum Source {
    Random(SplitMix),
    Replay { numbers: Vec<u32>, at: usize },
}

/// A part of a sequence that belongs together, as positions `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The position of its first number.
    pub start: u32,
    /// The position after its last number.
    pub end: u32,
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): seeds of stored cases must mean the same in
/// every version, so the generator of random numbers is not left to a dependency.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// 64 arbitrary bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Choices {
    /// Decisions drawn at random; the same seed gives the same ones everywhere.
    pub fn from_seed(seed: u64) -> Self {
        // Seeds are small numbers in a row; the first step of the generator spreads them.
        let mut mix = SplitMix(seed);
        let state = mix.next();
        Self::new(Source::Random(SplitMix(state)))
    }

    /// Decisions that were drawn before. When they are used up, every further one is zero.
    pub fn replay(numbers: Vec<u32>) -> Self {
        Self::new(Source::Replay { numbers, at: 0 })
    }

    fn new(source: Source) -> Self {
        Self { source, taken: Vec::with_capacity(256), spans: Vec::with_capacity(64) }
    }

    /// Returns the choices that were drawn so far.
    pub fn taken(&self) -> &[u32] {
        &self.taken
    }

    /// The spans that were marked so far, inner ones before the ones around them.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Returns the choices that were drawn, without the zeros at the end (which replaying gives anyway), and the
    /// spans.
    pub fn into_parts(mut self) -> (Vec<u32>, Vec<Span>) {
        while self.taken.last() == Some(&0) {
            self.taken.pop();
        }
        (self.taken, self.spans)
    }

    #[inline]
    fn draw(&mut self, random: impl FnOnce(u64) -> u32, replay: impl FnOnce(u32) -> u32) -> u32 {
        let number = match &mut self.source {
            Source::Random(mix) => random(mix.next()),
            Source::Replay { numbers, at } => {
                let number = numbers.get(*at).copied().unwrap_or(0);
                *at += 1;
                replay(number)
            }
        };
        self.taken.push(number);
        number
    }

    /// A number below `limit`, all equally likely; zero if `limit` is zero or one (then nothing
    /// is drawn).
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        if limit <= 1 {
            return 0;
        }
        let limit = u64::try_from(limit).map_or(u32::MAX, |l| u32::try_from(l).unwrap_or(u32::MAX));
        let random = |bits: u64| (((bits >> 32) * u64::from(limit)) >> 32) as u32;
        self.draw(random, |number| number % limit) as usize
    }

    /// Returns true `percent` times in 100: if something rarer or more complicated is to happen.
    #[inline]
    pub fn chance(&mut self, percent: u32) -> bool {
        let random = |bits: u64| u32::from(((bits >> 32) * 100) >> 32 < u64::from(percent));
        self.draw(random, |number| number & 1) == 1
    }

    /// `None` in `100 - percent` of 100 cases, else a number below `limit`. Both are one
    /// decision, so that what is drawn afterwards does not depend on the number.
    #[inline]
    pub fn maybe(&mut self, percent: u32, limit: u32) -> Option<u32> {
        let random = |bits: u64| {
            let some = ((bits >> 32) * 100) >> 32 < u64::from(percent);
            let number = ((bits & 0xffff_ffff) * u64::from(limit)) >> 32;
            if some { number as u32 + 1 } else { 0 }
        };
        self.draw(random, |number| number % (limit + 1)).checked_sub(1)
    }

    /// 32 arbitrary bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.draw(|bits| (bits >> 32) as u32, |number| number)
    }

    /// One of `items`, the first being the simplest.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    #[inline]
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Marks what `make` draws as belonging together, and as worth leaving out as a whole.
    #[inline]
    pub fn span<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let start = self.open();
        let made = make(self);
        self.close(start);
        made
    }

    /// Begins a span, for where a closure is in the way; [`Choices::close`] takes the result.
    #[inline]
    pub fn open(&self) -> usize {
        self.taken.len()
    }

    /// Ends the span that began at `start`.
    #[inline]
    pub fn close(&mut self, start: usize) {
        let end = self.taken.len();
        if end > start {
            self.spans.push(Span { start: start as u32, end: end as u32 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_gives_what_was_drawn() {
        let mut first = Choices::from_seed(7);
        let drawn: Vec<usize> =
            (1..200).map(|n| first.below(n) + usize::from(first.chance(30))).collect();
        let mut second = Choices::replay(first.taken().to_vec());
        let again: Vec<usize> =
            (1..200).map(|n| second.below(n) + usize::from(second.chance(30))).collect();
        assert_eq!(drawn, again);
        assert_eq!(first.taken(), second.taken());
    }

    #[test]
    fn an_exhausted_replay_gives_zeros() {
        let mut choices = Choices::replay(vec![5]);
        assert_eq!(choices.below(4), 1);
        assert_eq!((choices.below(9), choices.chance(99), choices.bits()), (0, false, 0));
        assert_eq!(choices.into_parts().0, [1]);
    }

    #[test]
    fn chances_are_as_likely_as_asked() {
        let mut choices = Choices::from_seed(1);
        let hits = (0..20_000).filter(|_| choices.chance(25)).count();
        // The standard deviation is 61.
        assert!((4_700..5_300).contains(&hits), "{hits}");
    }

    #[test]
    fn spans_nest() {
        let mut choices = Choices::from_seed(1);
        choices.span(|c| {
            c.below(10);
            c.span(|c| c.below(10));
        });
        assert_eq!(choices.spans(), [Span { start: 1, end: 2 }, Span { start: 0, end: 2 }]);
    }
}
