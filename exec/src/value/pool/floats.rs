//! Arrays of floats that are kept whole, with the room for their elements and the place of their lengths: most temporary
//! arrays are such, and serve again at once. Those that are not large are kept while no pool is at work, too: small ones
//! are made with the room of their class, others serve where there is room enough in them, as a rule for as many elements.

use std::cell::RefCell;

use regraft_ir::Type;

use super::list::{class_of, class_with};
use super::{Lists, is_active, with};
use crate::value::Array;
use crate::value::layout::Counted;
use crate::value::val::{Element, Storage};

/// The highest rank of arrays that are kept whole.
const RANKS: usize = 3;

/// The room of a small array, a power of two.
const SMALL: usize = 64;

/// The room of the largest array that is kept while no pool is at work.
const LARGEST: usize = 4096;

/// The most arrays of a rank and class that are kept while no pool is at work, and the most floats that there is room for in
/// them: a tape holds an array for each iteration, and lets go of all at once.
const MOST_ARRAYS: usize = 2048;
const MOST_ROOM: usize = 1 << 14;

/// The most arrays that are looked at for one with room enough.
const LOOKS: usize = 8;

thread_local! {
    static KEPT: RefCell<Floats> = RefCell::default();
}

/// Free arrays.
#[derive(Default)]
pub(super) struct Floats {
    /// By rank, from 1, and by the power of two that they have room for.
    classes: [Vec<Vec<Counted<Array>>>; RANKS],
    count: usize,
    /// The number of arrays that there is room for in each place.
    room: usize,
}

impl Floats {
    fn take(&mut self, rank: usize, class: usize) -> Option<Counted<Array>> {
        let array = self.classes.get_mut(rank.checked_sub(1)?)?.get_mut(class)?.pop()?;
        self.count -= 1;
        Some(array)
    }

    /// One of the last that were kept, if it has room for so many floats, which are more than those of a small array.
    fn take_larger(&mut self, rank: usize, count: usize) -> Option<Counted<Array>> {
        let kept = self.classes.get_mut(rank.checked_sub(1)?)?.get_mut(class_with(count))?;
        let first = kept.len().saturating_sub(LOOKS);
        let fits = |array: &Counted<Array>| array.storage().capacity() >= count;
        let array = kept.swap_remove(first + kept[first..].iter().rposition(fits)?);
        self.count -= 1;
        Some(array)
    }

    /// One of a class.
    pub(super) fn take_with_room(&mut self, class: usize) -> Option<Counted<Array>> {
        (1..=RANKS).find_map(|rank| self.take(rank, class))
    }

    /// One of a rank.
    pub(super) fn take_of_rank(&mut self, rank: usize) -> Option<Counted<Array>> {
        let classes = self.classes.get(rank.checked_sub(1)?)?;
        let class = classes.iter().position(|kept| !kept.is_empty())?;
        self.take(rank, class)
    }

    /// One of any class and rank.
    pub(super) fn take_any(&mut self) -> Option<Counted<Array>> {
        (1..=RANKS).find_map(|rank| self.take_of_rank(rank))
    }

    /// The place for those of a rank and class.
    fn place(&mut self, rank: usize, class: usize) -> &mut Vec<Counted<Array>> {
        let classes = &mut self.classes[rank - 1];
        if classes.len() <= class {
            classes.resize_with(class + 1, Vec::new);
        }
        &mut classes[class]
    }

    /// Makes room to keep so many of each rank and class that was met, so that keeping them allocates nothing.
    pub(super) fn make_room(&mut self, count: usize) {
        if count > self.room {
            self.room = count;
            let met = self.classes.iter_mut().flatten().filter(|kept| kept.capacity() > 0);
            met.for_each(|kept| kept.reserve(count.saturating_sub(kept.len())));
        }
    }

    /// Keeps one, of a rank that such are kept of; it comes back if there are `most` of its rank and class.
    fn keep(&mut self, array: Counted<Array>, most: usize) -> Option<Counted<Array>> {
        let class = class_with(array.storage().capacity());
        let kept = self.place(array.rank().into(), class);
        if kept.len() >= most {
            return Some(array);
        }
        array.charge.set(0);
        kept.push(array);
        self.count += 1;
        None
    }
}

/// The number of floats that an array has room for, if it is one that may be kept whole.
#[inline]
fn room_of(array: &Array) -> Option<usize> {
    let Storage::F64(floats) = array.storage() else { return None };
    let may_be_kept = !array.is_lent && usize::from(array.rank()) <= RANKS;
    (may_be_kept && floats.capacity() > 0).then_some(floats.capacity())
}

/// Returns whether an array of so many elements of this type is one that is kept while no pool is at work.
pub(super) fn is_small<T: Element>(count: usize) -> bool {
    T::TYPE == Type::F64 && (1..=SMALL).contains(&count)
}

/// Notes an array that is made while a pool is at work: it may be kept later.
pub(super) fn expect(lists: &mut Lists, array: &Array) {
    if let Some(room) = room_of(array) {
        let count = lists.floats.room.max(1);
        let place = lists.floats.place(array.rank().into(), class_with(room));
        place.reserve(count.saturating_sub(place.len()));
    }
}

/// Keeps an array that nobody else points to, if it is one that is kept whole. Otherwise, it comes back.
pub(super) fn keep(lists: &mut Lists, array: Counted<Array>) -> Option<Counted<Array>> {
    // Boxes that were made for values which are out for good are no more needed.
    let is_needed = lists.arrays.free() + lists.floats.count < lists.arrays.made();
    if !is_needed || room_of(&array).is_none() {
        return Some(array);
    }
    lists.floats.keep(array, usize::MAX)
}

/// Keeps an array that nobody else points to while no pool is at work, if it is not large. Otherwise, it comes back.
pub(super) fn keep_without_pool(array: Counted<Array>) -> Option<Counted<Array>> {
    let Some(room) = room_of(&array).filter(|&room| room <= LARGEST) else { return Some(array) };
    let most = (MOST_ROOM / room).min(MOST_ARRAYS);
    let mut array = Some(array);
    let _ = KEPT.try_with(|kept| {
        if let Ok(mut kept) = kept.try_borrow_mut() {
            array = array.take().and_then(|array| kept.keep(array, most));
        }
    });
    array
}

/// An array of that rank with room for so many floats, with lengths and floats in it that it had before.
pub(in crate::value) fn floats(rank: usize, count: usize) -> Option<Counted<Array>> {
    let class = class_of(count);
    if count > 0 && is_active() {
        return with(|lists| lists.floats.take(rank, class)).flatten();
    }
    if !(1..=LARGEST).contains(&count) {
        return None;
    }
    let take = |kept: &mut Floats| match is_small::<f64>(count) {
        true => kept.take(rank, class),
        false => kept.take_larger(rank, count),
    };
    KEPT.try_with(|kept| take(&mut *kept.try_borrow_mut().ok()?)).ok().flatten()
}

#[cfg(test)]
mod tests {
    use regraft_ir::Type;

    use super::super::Pool;
    use crate::value::{Array, ElementType, Val};

    fn floats(lengths: &[usize]) -> Val {
        Val::unset(ElementType::builtin(Type::F64), lengths, false).expect("it is small")
    }

    fn items(value: &Val) -> Vec<f64> {
        value.as_array().and_then(Array::to_vec).expect("it is an array of floats")
    }

    #[test]
    fn an_array_serves_again_and_is_zero_then() {
        for (first, second, larger) in [(&[5][..], &[7][..], &[9][..]), (&[2, 3], &[7, 1], &[3, 3])]
        {
            let mut pool = Pool::default();
            let address = pool.run(|| {
                let array = floats(first);
                array.as_array().expect("it is one").fill(&Val::F64(2.0)).expect("a float");
                array.address()
            });
            // The box is the same for the larger one too, the room is not.
            for lengths in [second, larger] {
                pool.run(|| {
                    let array = floats(lengths);
                    let zeros = vec![0.0; lengths.iter().product()];
                    assert_eq!((array.address(), items(&array)), (address, zeros));
                    assert_eq!(*array.as_array().expect("it is one").dims(), *lengths);
                });
            }
        }
    }

    #[test]
    fn an_array_serves_again_without_a_pool() {
        let cases =
            [(&[3][..], &[4][..]), (&[2, 3], &[7, 1]), (&[100], &[100]), (&[40, 30], &[30, 35])];
        for (first, second) in cases {
            let array = floats(first);
            let address = array.address();
            array.as_array().expect("it is one").fill(&Val::F64(2.0)).expect("a float");
            drop(array);
            let array = floats(second);
            assert_eq!(
                (array.address(), items(&array)),
                (address, vec![0.0; second.iter().product()])
            );
        }
    }

    #[test]
    fn the_parts_of_an_array_serve_one_of_another_rank() {
        let parts = |value: &Val| {
            let array = value.as_array().expect("it is one");
            (value.address(), array.buffer::<f64>().map(|floats| floats.0.items().as_ptr()))
        };
        for [before, after] in [[&[6][..], &[2, 4][..]], [&[2, 3], &[8]], [&[2, 3], &[2, 2, 2]]] {
            let mut pool = Pool::default();
            let first = pool.run(|| parts(&floats(before)));
            let second = pool.run(|| {
                let array = floats(after);
                assert_eq!(items(&array), [0.0; 8]);
                parts(&array)
            });
            assert_eq!(first, second);
        }
    }
}
