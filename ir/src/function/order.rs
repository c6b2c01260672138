//! Order maintenance in a linked list: labels that grow along the list, so that "a before b" is
//! a comparison of two numbers.
//!
//! A new element gets a label between those of its neighbours. When there is none left, the
//! smallest enclosing range of labels that is sparse enough is spread out evenly (Bender, Cole,
//! Demaine, Farach-Colton, Zito: "Two simplified algorithms for maintaining order in a list",
//! ESA 2002, section 2). That makes O(log n) amortised per insertion, wherever the insertions are.

/// The distance that appended elements keep.
const GAP: u32 = 64;
/// A range of `2^i` labels is sparse if it holds at most `(2 / OVERFLOW)^i` elements. 1.2 leaves room for
/// ten million elements in the 32-bit label space before the last resort (an even spread of all).
const OVERFLOW: f64 = 1.2;

/// A doubly linked list whose elements carry labels.
pub(super) trait Labelled {
    type Id: Copy + Eq;
    fn label(&self, id: Self::Id) -> u32;
    fn set_label(&mut self, id: Self::Id, label: u32);
    fn before(&self, id: Self::Id) -> Option<Self::Id>;
    fn after(&self, id: Self::Id) -> Option<Self::Id>;
}

/// A label for a new element between `prev` and `next`, which are neighbours (or the ends).
#[inline]
pub(super) fn label_between<L: Labelled>(
    list: &mut L,
    prev: Option<L::Id>,
    next: Option<L::Id>,
) -> u32 {
    match (prev, next) {
        (None, None) => 1 << 31,
        (Some(prev), None) if list.label(prev) < u32::MAX - GAP => list.label(prev) + GAP,
        (None, Some(next)) if list.label(next) > GAP => list.label(next) - GAP,
        _ => label_in_gap(list, prev, next),
    }
}

#[cold]
fn label_in_gap<L: Labelled>(list: &mut L, prev: Option<L::Id>, next: Option<L::Id>) -> u32 {
    loop {
        let low = prev.map_or(0, |id| list.label(id));
        let high = next.map_or(u32::MAX, |id| list.label(id));
        if high - low >= 2 {
            return low + (high - low) / 2;
        }
        let pivot = prev.or(next).expect("an empty list has gaps");
        spread(list, pivot);
    }
}

/// Spreads out the labels around `pivot`.
fn spread<L: Labelled>(list: &mut L, pivot: L::Id) {
    let label = u64::from(list.label(pivot));
    let (mut first, mut last, mut count) = (pivot, pivot, 1u64);
    for bits in 1..=32u32 {
        let size = 1u64 << bits;
        let low = label & !(size - 1);
        let high = low + size - 1;
        while let Some(id) = list.before(first).filter(|&id| u64::from(list.label(id)) >= low) {
            (first, count) = (id, count + 1);
        }
        while let Some(id) = list.after(last).filter(|&id| u64::from(list.label(id)) <= high) {
            (last, count) = (id, count + 1);
        }
        // Every gap of the result has to take a new element, also those at the ends.
        let roomy = size / (count + 1) >= 3;
        let sparse = count as f64 <= (2.0 / OVERFLOW).powi(bits as i32);
        if roomy && (sparse || bits == 32) {
            let step = size / (count + 1);
            let (mut id, mut at) = (first, low);
            loop {
                at += step;
                list.set_label(id, at as u32);
                if id == last {
                    return;
                }
                id = list.after(id).expect("`last` follows `first`");
            }
        }
    }
    unreachable!("2^25 elements always fit into 2^32 labels");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list in vectors: label, previous, next.
    #[derive(Default)]
    struct List {
        labels: Vec<u32>,
        prev: Vec<Option<usize>>,
        next: Vec<Option<usize>>,
        relabelled: usize,
    }

    impl Labelled for List {
        type Id = usize;
        fn label(&self, id: usize) -> u32 {
            self.labels[id]
        }
        fn set_label(&mut self, id: usize, label: u32) {
            self.relabelled += 1;
            self.labels[id] = label;
        }
        fn before(&self, id: usize) -> Option<usize> {
            self.prev[id]
        }
        fn after(&self, id: usize) -> Option<usize> {
            self.next[id]
        }
    }

    impl List {
        fn insert(&mut self, prev: Option<usize>, next: Option<usize>) -> usize {
            let label = label_between(self, prev, next);
            let id = self.labels.len();
            self.labels.push(label);
            self.prev.push(prev);
            self.next.push(next);
            if let Some(prev) = prev {
                self.next[prev] = Some(id);
            }
            if let Some(next) = next {
                self.prev[next] = Some(id);
            }
            id
        }

        fn check(&self) {
            for id in 0..self.labels.len() {
                if let Some(next) = self.next[id] {
                    assert!(self.labels[id] < self.labels[next]);
                }
            }
        }
    }

    #[test]
    fn insertion_always_at_one_place_keeps_order_at_logarithmic_cost() {
        for before in [false, true] {
            let mut list = List::default();
            let a = list.insert(None, None);
            let b = list.insert(Some(a), None);
            let mut last = if before { b } else { a };
            let n = 50_000;
            for _ in 0..n {
                last = if before {
                    list.insert(Some(a), Some(last))
                } else {
                    list.insert(Some(last), Some(b))
                };
            }
            list.check();
            assert!(list.relabelled < n * 40, "{} relabellings", list.relabelled);
        }
    }

    #[test]
    fn appending_and_prepending_keep_order() {
        let mut list = List::default();
        let (mut first, mut last) = (list.insert(None, None), 0);
        for i in 0..10_000 {
            if i % 3 == 0 {
                first = list.insert(None, Some(first));
            } else {
                last = list.insert(Some(last), None);
            }
        }
        list.check();
    }

    #[test]
    fn labels_at_the_ends_of_the_space_are_spread() {
        let mut list = List::default();
        let mut last = list.insert(None, None);
        list.labels[last] = u32::MAX - 1;
        for _ in 0..1000 {
            last = list.insert(Some(last), None);
        }
        list.check();
    }
}
